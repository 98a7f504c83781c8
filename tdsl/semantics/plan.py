"""The semantic model of one fabric: its groups and device sets, and its statements with the names in their
paths resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.model import Axis, DeviceModel, DeviceSet, PathComponent
from tdsl.semantics.scope import Scope
from tdsl.semantics.supply import Supply
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.semantics.addressing import AddressRule
    from tdsl.semantics.autoplace import AutoPlacing
    from tdsl.semantics.failure_rates import RiskStatement
    from tdsl.semantics.feeds import FeedStatement
    from tdsl.semantics.jobs import PlannedJob
    from tdsl.semantics.partitions import Members, PartitionRule
    from tdsl.semantics.place_statements import Distance, Hall, Placing
    from tdsl.semantics.routing import Roce, RoutingSettings


@dataclass(slots=True, eq=False)
class Group:
    """A block that holds members: the fabric itself, or what ``group``, ``pod``, ``plane``, ``rack`` …
    declare.

    ``absent`` are names whose declaration is broken: paths through them are excused.
    """

    name: str
    kind: str
    axes: tuple[Axis, ...]
    parent: Group | None
    span: SourceSpan
    scope: Scope
    members: dict[str, Group | DeviceSet] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    extents: tuple[tree.Extent, ...] = ()  # as written; their names are those of the scope around

    def sets(self) -> Iterator[DeviceSet]:
        """All device sets below, in order of declaration."""
        for m in self.members.values():
            if isinstance(m, Group):
                yield from m.sets()
            else:
                yield m


@dataclass(frozen=True, slots=True)
class Context:
    """Where a statement stands: its groups from the fabric inward, and the axes of each over which it is
    repeated."""

    groups: tuple[Group, ...]
    parts: tuple[PathComponent, ...]  # of groups[1:]; an ``extend su[0]`` narrows an axis to one index

    @property
    def group(self) -> Group:
        """The innermost group."""
        return self.groups[-1]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes over which the statement is repeated."""
        return tuple(a for p in self.parts for a in p.axes)

    def inner(self, group: Group) -> Context:
        """The context of a group's own block."""
        return Context(
            (*self.groups, group), (*self.parts, PathComponent(group.name, group.kind, group.axes))
        )


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One dimension of a path: what is written in the brackets (None: nothing, the whole population)."""

    axis: Axis
    expr: tree.Expr | None
    span: SourceSpan
    name: str  # the part it belongs to


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """A path with its names resolved. ``shared`` leading axes are those of the statement's own groups.

    Exactly one of ``group`` and ``device`` is set. ``port_class`` is "" where the path ends at the device.
    """

    path: tree.PathExpr
    group: Group | None
    device: DeviceSet | None
    shared: int
    entries: tuple[IndexEntry, ...]
    port_class: str
    ports: tuple[IndexEntry, ...] | None
    group_parts: tuple[PathComponent, ...] = ()
    offset: int = 0  # of the first port that ``ports`` counts from, where a part of the class is split

    @property
    def span(self) -> SourceSpan:
        """Where it stands."""
        return self.path.span


@dataclass(frozen=True, slots=True)
class ResolvedConnect:
    """A connect or circuit with resolved ends. ``inside`` are the devices whose model wrote it, None where
    the fabric did."""

    node: tree.Connect
    scope: Scope
    context: Context
    a: tuple[ResolvedPath, ...]
    b: tuple[ResolvedPath, ...]
    via: ResolvedPath | None
    settings: Mapping[str, object]
    origin: Origin
    inside: DeviceSet | None = None


@dataclass(frozen=True, slots=True)
class Pathed:
    """An omit, naming or override: one path, and what it does."""

    node: tree.Omit | tree.Naming | tree.Override
    target: ResolvedPath
    scope: Scope
    context: Context
    origin: Origin
    model: DeviceModel | None = None


@dataclass(frozen=True, slots=True)
class Required:
    """A require or report, where it stands. ``lent``: in the block of the cluster, whose other fabrics may
    have what it names."""

    node: tree.Require
    scope: Scope
    context: Context
    origin: Origin
    lent: bool = False


@dataclass(frozen=True, slots=True)
class Unfolded:
    """What a statement of the intent stands for, as text."""

    span: SourceSpan
    text: str


@dataclass(slots=True, eq=False)
class FabricPlan:
    """Everything one fabric says. ``broken`` means that some statement was refused, so absences prove
    nothing."""

    name: str
    title: str
    origin: Origin
    root: Group
    evaluator: Evaluator
    layer: str = ""
    cluster: str = ""  # the cluster it stands in
    around: Origin | None = None  # and where that is declared
    member: int = 0  # the place of the fabric among those of the cluster
    phase: int = 0  # the phase that it is, 0 where the fabric has none
    needed: str = ""  # the day by which that is needed
    parameters: dict[str, object] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)  # names of all its parameters, well or not
    sets: list[DeviceSet] = field(default_factory=list)
    wires: list[ResolvedConnect] = field(default_factory=list)
    omits: list[Pathed] = field(default_factory=list)
    namings: list[Pathed] = field(default_factory=list)
    overrides: list[Pathed] = field(default_factory=list)
    requires: list[Required] = field(default_factory=list)
    of_cluster: list[Required] = field(
        default_factory=list
    )  # those of the cluster's block that are about all its fabrics
    left_out: set[tuple[int, int]] = field(
        default_factory=set
    )  # begin and end of claims of the cluster's block of which this fabric has not all that they name
    jobs: list[PlannedJob] = field(default_factory=list)
    names_of_jobs: set[str] = field(default_factory=set)  # names of all jobs, well declared or not
    rules: list[AddressRule] = field(default_factory=list)  # addresses and ASNs
    routing: RoutingSettings | None = None
    roce: Roce | None = None
    roce_stated: frozenset[str] = frozenset()  # the settings of that block that are written
    partitions: list[PartitionRule] = field(default_factory=list)
    managers: list[Members] = field(default_factory=list)  # hosts that run subnet managers
    risks: list[RiskStatement] = field(default_factory=list)  # groups of what fails together
    feeds: list[FeedStatement] = field(default_factory=list)  # the power tree above the racks
    halls: list[Hall] = field(default_factory=list)
    absent_halls: set[str] = field(default_factory=set)  # names whose declaration is broken
    distances: list[Distance] = field(default_factory=list)  # between halls
    placings: list[Placing] = field(default_factory=list)
    auto: AutoPlacing | None = None
    auto_of_cluster: AutoPlacing | None = None  # that of the cluster's block, for devices of all its fabrics
    prices: Mapping[str, Fraction] = field(default_factory=dict)  # by model, as the user states them
    supply: Supply = field(
        default_factory=Supply
    )  # spares, lead times and alternatives, as the user states them
    parts: tuple[DeviceModel, ...] = ()  # cables and optics to choose from, where something has a place
    is_job: Callable[[str], bool] = lambda name: False  # whether a job at the top of a file has this name
    catalogue: Callable[[], tuple[DeviceModel, ...]] = (
        tuple  # those of the library, read when they are asked for
    )
    insides: dict[tuple[int, str], DeviceSet] = field(default_factory=dict)
    numbered: bool = False  # whether its sets have their rows, so that none is added
    touched: set[int] = field(default_factory=set)  # id() of sets that a connect names, understood or not
    excused: set[str] = field(default_factory=set)  # names that a refused connect mentions
    holes: dict[SourceSpan, int] = field(default_factory=dict)  # what was found for each
    tier_sizes: dict[SourceSpan, int] = field(default_factory=dict)  # what was found where a tier says `of ?`
    unfolded: list[Unfolded] = field(default_factory=list)  # the intent's statements and what they stand for
    idle: list[tree.Omit | tree.Naming] = field(default_factory=list)  # statements whose guard leaves nothing
    unread: dict[SourceSpan, list[int]] = field(
        default_factory=dict
    )  # index variables read by nothing; their values, ascending
    nos: tuple[str, SourceSpan] | None = None  # the operating system of switches, and where that is written
    transport: tuple[str, SourceSpan] | None = None  # what its links speak, and where that is written
    purpose: tuple[str, SourceSpan] | None = None  # what it is for in a cluster, and where that is written
    minimize: tree.Setting | None = None  # what several holes make the least of
    broken: bool = False
