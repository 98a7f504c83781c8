"""Names of devices in captures: what is a name, which device of a design it means, and names given at the
factory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tdsl.system.lazy_dataclass import dataclass

FACTORY = re.compile(
    r"MT\d{3,6}\b.*|.*\bMellanox Technologies\b.*|.*\bInfini(?:scale|Host|Band "
    r"HCA)\b.*|(?:Quantum|SwitchX|SwitchIB|ConnectX)\b.*"
    r"|localhost(?:\.localdomain)?(?:\s.*)?|\(none\)(?:\s.*)?"
    r"|(?:sonic|cumulus|switch|localhost|ubuntu|arista|eos|nvos)"
    r"|Node Description.*|0x[0-9a-f]+|\[[^]]*\]|",
    re.IGNORECASE,
)
"""Descriptions that a device has before anyone names it, or because its host has not sent one yet."""
AGGREGATION = re.compile(r".*\bAggregation Node\b.*", re.IGNORECASE)
MANAGED = re.compile(r"MF0;([^:]+):([^/:]+)/(.+)")
"""Description of a managed switch: host name, model, chip."""


@dataclass(frozen=True, slots=True)
class NameMapRule:
    """``--map``: descriptions that match become the template with its groups filled in."""

    pattern: re.Pattern[str]
    template: str

    @staticmethod
    def parse(text: str) -> NameMapRule:
        """``REGEX=TEMPLATE``, split at the last ``=``. Raises ValueError with the reason."""
        left, equals, right = text.rpartition("=")
        if not equals or not left:
            raise ValueError(f"{text!r} is not of the form REGEX=TEMPLATE, such as 'MF0;(.*):.*=\\1'")
        try:
            pattern = re.compile(left)
            re.compile(f"(?:{left})|").match("").expand(right)  # type: ignore[union-attr]
        except (re.error, IndexError) as wrong:
            raise ValueError(f"{text!r}: {wrong}") from None
        return NameMapRule(pattern, right)

    def applied(self, text: str) -> str | None:
        """The name of a description, None where the rule does not apply."""
        found = self.pattern.fullmatch(text)
        return found.expand(self.template) if found else None


def is_factory_description(description: str) -> bool:
    """Whether a description names no particular device."""
    return FACTORY.fullmatch(description.strip()) is not None


def device_name_readings(description: str, rules: Sequence[NameMapRule] = ()) -> Iterator[tuple[str, str]]:
    """Names of the device that a description may mean, the surest first, each with the adapter or port of it
    or ""."""
    text = description.strip()
    for rule in rules:
        made = rule.applied(text)
        if made:
            yield from _host_name_parts(made)
            return
    managed = MANAGED.fullmatch(text)
    if managed:
        yield managed[1], ""
        yield f"{managed[1]}/{managed[3]}", ""
        return
    if not is_factory_description(text):
        yield from _host_name_parts(text)


def _host_name_parts(text: str) -> Iterator[tuple[str, str]]:
    yield text, ""
    host, _, unit = text.partition(" ")
    if unit:
        yield host, unit.strip()
    short = host.partition(".")[0]
    if short != host and not short.isdigit():
        yield short, unit.strip()


def node_name_shown(description: str, ids: Iterable[str]) -> str:
    """How a message calls a node: its description, or its first identifier where it has none."""
    return description or next(iter(ids), "a device without a name")
