"""The records of a comparison: what ``tdsl diff`` prints and what its JSON holds."""

from __future__ import annotations

from dataclasses import field

from tdsl.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class End:
    """One end of a cable: the device as the design writes it, its name, its port as the design writes it and as the faceplate
    has it."""

    device: str
    name: str
    port: str
    label: str

    @property
    def key(self) -> tuple[str, str]:
        """What an end is known by, whatever it is called."""
        return self.device, self.port

    @property
    def text(self) -> str:
        """As a technician reads it: ``leaf0 IB1/17/1``."""
        return f"{self.name} {self.label}"


@dataclass(frozen=True, slots=True)
class Cable:
    """A leg of a cable, lower end first, and what it is: class, part, medium, length, rate in Gb/s and number of links.

    ``places`` are hall, rack and unit of both ends, "" where they have none.
    """

    a: End
    b: End
    link_class: str
    facts: tuple[tuple[str, str], ...]
    links: tuple[int, ...] = ()  # rows of the links that run through it
    id: str = ""
    places: tuple[tuple[str, str, str], tuple[str, str, str]] = (("", "", ""), ("", "", ""))


@dataclass(frozen=True, slots=True)
class Moved:
    """A cable of which one end stays and the other goes elsewhere."""

    stays: End
    before: End
    after: End
    link_class: str
    old: Cable
    new: Cable


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that has another value."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure before and after: as people read it, with its status; numbers where it has one."""

    name: str
    before: str
    after: str
    value_before: float | None
    value_after: float | None
    verdicts: tuple[str, str]


@dataclass(slots=True)
class Changes:
    """All that differs between two fabrics of one name. Devices are as the design writes them, with their model."""

    fabric: str
    devices_added: list[tuple[str, str]] = field(default_factory=list)
    devices_removed: list[tuple[str, str]] = field(default_factory=list)
    models: list[Change] = field(default_factory=list)
    renamed: list[Change] = field(default_factory=list)  # declarations that another path names, and how many devices
    names: list[Change] = field(default_factory=list)
    ports: list[Change] = field(default_factory=list)
    added: list[Cable] = field(default_factory=list)
    removed: list[Cable] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    replaced: list[tuple[Cable, Cable]] = field(default_factory=list)  # both ends stay; another part or length is needed
    relocated: list[Moved] = field(default_factory=list)  # both ends stay, at a device that is mounted elsewhere now
    places: list[Change] = field(default_factory=list)  # hall, rack and unit of devices
    cables: list[Change] = field(default_factory=list)
    addresses: list[Change] = field(default_factory=list)
    parameters: list[Change] = field(default_factory=list)
    figures: list[Change] = field(default_factory=list)
    metrics: list[Metric] = field(default_factory=list)

    @property
    def none(self) -> bool:
        """Whether nothing that anybody could see differs."""
        lists = (
            self.devices_added, self.devices_removed, self.models, self.renamed, self.names, self.ports, self.added, self.removed,
            self.moved, self.places, self.cables, self.addresses, self.figures, self.metrics,
        )  # fmt: skip
        return not any(lists)
