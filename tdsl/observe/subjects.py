"""What an audit compares with captures: each network by itself, and the networks of a cluster as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.select import select_devices
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.compile.compilation import Compilation, Design


@dataclass(frozen=True, slots=True)
class AuditSubject:
    """A network by itself, or a cluster as one with the designs of its networks."""

    design: Design
    networks: tuple[Design, ...] = ()

    @property
    def fabric(self) -> Fabric:
        """What is compared with the captures."""
        assert self.design.fabric is not None
        return self.design.fabric

    def failed_links(self) -> Mapping[str, Ints]:
        """The links of each element that the call names as failed."""
        if not self.networks:
            return _failed_links_of_network(self.design)
        out: dict[str, list[Ints]] = {}
        for network, links in zip(self.networks, self.fabric.member_links, strict=True):
            for name, rows in _failed_links_of_network(network).items():
                out.setdefault(name, []).append(links[rows])
        return {name: np.unique(np.concatenate(rows)) for name, rows in out.items()}

    def selected_devices(self, patterns: Iterable[str]) -> Bools:
        """The devices that any of the patterns means, of a cluster in any of its networks. Raises ValueError
        for a pattern that means none."""
        out = np.zeros(self.fabric.device_count, dtype=np.bool_)
        for pattern in patterns:
            hit = np.zeros_like(out)
            for member, rows in zip(self.fabric.members, self.fabric.member_rows, strict=True):
                hit[rows[_selected_or_none(member, pattern)]] = True
            if hit.any():
                out |= hit | _selected_or_none(self.fabric, pattern)
            else:
                out |= select_devices(self.fabric, [pattern])
        return out


def audit_subjects(compilation: Compilation) -> list[AuditSubject] | None:
    """What is compared, in the order of the text; None where the design has errors."""
    out: list[AuditSubject] = []
    met: set[str] = set()
    for design in compilation.designs:
        if not design.cluster:
            out.append(AuditSubject(design))
        elif design.cluster not in met:
            met.add(design.cluster)
            for whole in compilation.clusters:
                if whole.cluster == design.cluster:
                    out.append(AuditSubject(whole, _networks_of_cluster(whole, compilation.designs)))
    fabrics = [d.fabric for d in (*compilation.designs, *(s.design for s in out))]
    return out if fabrics and all(f is not None and f.complete for f in fabrics) else None


def _networks_of_cluster(whole: Design, designs: Sequence[Design]) -> tuple[Design, ...]:
    """The designs of a cluster's networks, of several phases the last that is there by the cluster's."""
    latest = {d.name: d for d in designs if d.cluster == whole.cluster and d.phase <= whole.phase}
    return tuple(latest[name] for name in whole.members)


def _failed_links_of_network(design: Design) -> dict[str, Ints]:
    if design.failed is None:
        return {}
    return dict(zip(design.failed.names, design.failed.rows, strict=True))


def _selected_or_none(fabric: Fabric, pattern: str) -> Bools:
    """The devices that a pattern means; none is no fault."""
    try:
        return select_devices(fabric, [pattern])
    except ValueError:
        return np.zeros(fabric.device_count, dtype=np.bool_)
