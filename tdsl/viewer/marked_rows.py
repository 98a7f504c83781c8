"""Which devices and links a finding is about: those that the witness of its answer names, else those of the
statements that it points at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.findings.source import SourceSpan

MOST_OF_STATEMENT = 4_096
"""Links of a statement that are marked: of more nothing would stand out."""
BETWEEN_ENDS = (" - ", " – ", " to ")


class NamedRows:
    """Devices and links of a fabric by what findings call them: paths and names of devices, paths of
    ports."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        rows = range(fabric.device_count)
        self.device: dict[str, int] = {fabric.device_name(d): d for d in rows}
        self.device |= {fabric.device_path(d): d for d in rows}
        self._links: dict[int, dict[int, list[int]]] | None = None

    def rows_of_witness(self, witness: Mapping[str, object]) -> tuple[Ints, Ints]:
        """Rows of the devices and links that a witness names. Of a ``path`` the links between its devices
        are of it; what a figure is about besides (``sides`` of a split) is not marked."""
        devices: set[int] = set()
        links: set[int] = set()
        for key, value in _entries_of_witness(witness):
            found = [self.rows_of_text(text) for text in value]
            links |= {i for _, mine in found for i in mine}
            devices |= {d for mine, _ in found for d in mine}
            if key == "path":
                steps = [mine[0] for mine, _ in found if mine]
                links |= {i for a, b in pairwise(steps) for i in self.links_between(a, b)[:1]}
        return _sorted_rows(devices), _sorted_rows(links)

    def rows_of_text(self, text: str) -> tuple[list[int], list[int]]:
        """The device that a text names, or the links at the ports that it names."""
        if text in self.device:
            return [self.device[text]], []
        for sign in BETWEEN_ENDS:
            ends = text.split(sign)
            if len(ends) == 2:
                return [], self._links_at_ports(ends)
        return [], self._links_at_ports([text])

    def links_between(self, a: int, b: int) -> list[int]:
        """Rows of the links between two devices."""
        if self._links is None:
            self._links = {}
            ends = zip(self.fabric.device_a.tolist(), self.fabric.device_b.tolist(), strict=True)
            for i, (x, y) in enumerate(ends):
                self._links.setdefault(min(x, y), {}).setdefault(max(x, y), []).append(i)
        return self._links.get(min(a, b), {}).get(max(a, b), [])

    def _links_at_ports(self, ports: list[str]) -> list[int]:
        """Rows of the links at a port, or between two ports or devices."""
        if len(ports) == 2 and all(p in self.device for p in ports):
            return self.links_between(*(self.device[p] for p in ports))
        out = []
        for text in ports:
            device, dot, _ = text.rpartition(".")
            d = self.device.get(device) if dot else None
            if d is None:
                continue
            first, last = int(self.fabric.port_base[d]), int(self.fabric.port_base[d + 1])
            port = next((p for p in range(first, last) if self.fabric.port_path(p) == text), -1)
            if port >= 0 and self.fabric.port_link[port] >= 0:
                out.append(int(self.fabric.port_link[port]))
        return out

    def rows_of_spans(self, spans: Iterable[SourceSpan]) -> tuple[Ints, Ints]:
        """Rows of the devices and links that the statements at some places of the text make."""
        devices: set[int] = set()
        links: set[int] = set()
        for span in spans:
            for number, statement in enumerate(self.fabric.statements):
                if _is_within(span, statement.origin.span):
                    mine = np.flatnonzero(self.fabric.link_statement == number)
                    links |= {*mine[:MOST_OF_STATEMENT].tolist()}
            for s in self.fabric.sets:
                if _is_within(span, s.origin.span):
                    devices |= {*range(s.first, s.first + min(s.count, MOST_OF_STATEMENT))}
        return _sorted_rows(devices), _sorted_rows(links)


def _is_within(span: SourceSpan, whole: SourceSpan) -> bool:
    return span.file is whole.file and whole.start <= span.start < whole.end


def _sorted_rows(rows: Iterable[int]) -> Ints:
    return np.array(sorted(rows), dtype=np.int64)


def _entries_of_witness(witness: Mapping[str, object]) -> Iterator[tuple[str, list[str]]]:
    """The texts of a witness by their keys, those of what is left after a failure too."""
    for key, value in witness.items():
        if isinstance(value, Mapping):
            yield from _entries_of_witness(value)
        elif isinstance(value, str):
            yield key, [value]
        elif isinstance(value, (list, tuple)) and key != "sides":
            yield (
                key,
                [
                    text
                    for x in value
                    for text in (x if isinstance(x, (list, tuple)) else [x])
                    if isinstance(text, str)
                ],
            )


__all__ = ["NamedRows"]
