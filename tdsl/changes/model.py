"""The records of a comparison: what ``tdsl diff`` prints and what its JSON holds."""

from __future__ import annotations

from dataclasses import field, fields

from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CableEnd:
    """One end of a cable: the device as the design writes it, its name, its port as the design writes it and
    as the faceplate has it."""

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
class CableLeg:
    """A leg of a cable, lower end first, and what it is: class, part, medium, length, rate in Gb/s and number
    of links.

    ``places`` are hall, rack and unit of both ends, "" where they have none.
    """

    a: CableEnd
    b: CableEnd
    link_class: str
    facts: tuple[tuple[str, str], ...]
    links: tuple[int, ...] = ()  # rows of the links that run through it
    id: str = ""
    places: tuple[tuple[str, str, str], tuple[str, str, str]] = (("", "", ""), ("", "", ""))


@dataclass(frozen=True, slots=True)
class CableGroup:
    """Cables of one class between two declarations that are new, removed or moved: ``a`` and ``b`` are the
    declarations, with ranges of indices where not all of their devices are meant, ``count`` the legs."""

    change: str
    a: str
    b: str
    link_class: str
    count: int

    @property
    def text(self) -> str:
        """As a reviewer reads it: ``node[8..15] to leaf: 64 new``."""
        return f"{self.a} to {self.b}: {self.count:,} {self.change}"


@dataclass(frozen=True, slots=True)
class MovedCable:
    """A cable of which one end stays and the other goes elsewhere."""

    stays: CableEnd
    before: CableEnd
    after: CableEnd
    link_class: str
    old: CableLeg
    new: CableLeg


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


PARTS = (
    "requirement",
    "waiver",
    "severity",
    "setting",
    "parameter",
    "lock",
    "file",
    "statement",
    "model",
    "design",
)
"""What a contract consists of, in the order in which differences are shown."""


@dataclass(frozen=True, slots=True)
class ContractChange:
    """One difference of what a design promises or rests on, beside its fabric. ``part`` is one of ``PARTS``.

    ``change`` is added, removed, changed, or of a requirement or severity weaker or stronger; a design is
    also renamed. ``what`` names it: a metric, a finding, a parameter, a file. ``before`` and ``after`` are as
    people read them, "" where there is none; ``note`` is "" or what a reviewer should know beside.
    """

    part: str
    change: str
    what: str
    before: str
    after: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class JobCost:
    """What a change costs a job: in words, and as plain JSON values."""

    job: str
    text: str
    facts: dict[str, object]


@dataclass(slots=True)
class Changes:
    """All that differs between two fabrics of one name. Devices are as the design writes them, with their
    model."""

    fabric: str
    contract: list[ContractChange] = field(default_factory=list)
    devices_added: list[tuple[str, str]] = field(default_factory=list)
    devices_removed: list[tuple[str, str]] = field(default_factory=list)
    models: list[Change] = field(default_factory=list)
    renamed: list[Change] = field(
        default_factory=list
    )  # declarations that another path names, and how many devices
    names: list[Change] = field(default_factory=list)
    ports: list[Change] = field(default_factory=list)
    added: list[CableLeg] = field(default_factory=list)
    removed: list[CableLeg] = field(default_factory=list)
    moved: list[MovedCable] = field(default_factory=list)
    cable_groups: list[CableGroup] = field(default_factory=list)  # added, removed and moved by declaration
    replaced: list[tuple[CableLeg, CableLeg]] = field(
        default_factory=list
    )  # both ends stay; another part or length is needed
    relocated: list[MovedCable] = field(
        default_factory=list
    )  # both ends stay, at a device that is mounted elsewhere now
    circuits: list[Change] = field(
        default_factory=list
    )  # of each optical switch: the pairs of ports that are taken down, and those that are set up
    places: list[Change] = field(default_factory=list)  # hall, rack and unit of devices
    cables: list[Change] = field(default_factory=list)
    addresses: list[Change] = field(default_factory=list)
    settings: list[Change] = field(
        default_factory=list
    )  # of declarations, links, the fabric, and what is planned
    parameters: list[Change] = field(default_factory=list)
    figures: list[Change] = field(default_factory=list)
    metrics: list[Metric] = field(default_factory=list)
    job_costs: list[JobCost] = field(default_factory=list)  # of the jobs that a call asks for

    @property
    def touches_cables(self) -> bool:
        """Whether a cable comes, goes, moves, or is another one."""
        return bool(self.added or self.removed or self.moved or self.replaced or self.relocated)

    @property
    def none(self) -> bool:
        """Whether nothing that anybody could see differs."""
        return not any(getattr(self, f.name) for f in fields(self) if f.name not in ("fabric", "job_costs"))


@dataclass(slots=True)
class Revisions:
    """What became of the designs of two revisions: how many are the same, byte for byte, with all that they
    use; how many were compared, and of those differ; which were added, removed and renamed, and which cannot
    be compared, with the cause."""

    span: str
    before: str
    after: str
    same: int = 0
    compared: int = 0
    differing: int = 0
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    @property
    def judged(self) -> int:
        """Designs of which it is known whether they differ."""
        return self.same + self.compared

    @property
    def of(self) -> int:
        """All designs."""
        return self.judged + len(self.failed)
