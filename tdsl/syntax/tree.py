"""The syntax tree: what was written, and where. No meaning is attached here.

Every node holds its span. Sequences are tuples, chains of operators are flat, so a long line cannot make a deep tree.
"""

from __future__ import annotations

from tdsl.findings.source import Span
from tdsl.syntax.expressions import (
    At as At,
)
from tdsl.syntax.expressions import (
    Call as Call,
)
from tdsl.syntax.expressions import (
    Chain as Chain,
)
from tdsl.syntax.expressions import (
    Comprehension as Comprehension,
)
from tdsl.syntax.expressions import (
    Cond as Cond,
)
from tdsl.syntax.expressions import (
    DimsLit as DimsLit,
)
from tdsl.syntax.expressions import (
    Expr as Expr,
)
from tdsl.syntax.expressions import (
    Hole as Hole,
)
from tdsl.syntax.expressions import (
    Index as Index,
)
from tdsl.syntax.expressions import (
    ListExpr as ListExpr,
)
from tdsl.syntax.expressions import (
    Measure as Measure,
)
from tdsl.syntax.expressions import (
    Member as Member,
)
from tdsl.syntax.expressions import (
    Net as Net,
)
from tdsl.syntax.expressions import (
    Number as Number,
)
from tdsl.syntax.expressions import (
    Paren as Paren,
)
from tdsl.syntax.expressions import (
    Path as Path,
)
from tdsl.syntax.expressions import (
    Placeholder as Placeholder,
)
from tdsl.syntax.expressions import (
    Power as Power,
)
from tdsl.syntax.expressions import (
    Range as Range,
)
from tdsl.syntax.expressions import (
    RatioLit as RatioLit,
)
from tdsl.syntax.expressions import (
    Star as Star,
)
from tdsl.syntax.expressions import (
    Str as Str,
)
from tdsl.syntax.expressions import (
    TupleExpr as TupleExpr,
)
from tdsl.syntax.expressions import (
    Unary as Unary,
)
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Used:
    """``NAME [as ALIAS]`` of a use."""

    name: Member
    alias: Member | None


@dataclass(frozen=True, slots=True)
class Use:
    """``use a.b (X, Y as Z)``."""

    module: tuple[Member, ...]
    names: tuple[Used, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Param:
    """``param NAME: TYPE = DEFAULT where GUARD``."""

    name: Member
    type: Member | None
    default: Expr
    guard: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Let:
    """``let NAME[: TYPE] = EXPR [where GUARD]``; the value may be a Hole."""

    name: Member
    type: Member | None
    value: Expr
    guard: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Formal:
    """A parameter of a def or topology."""

    name: Member
    type: Member
    default: Expr | None


@dataclass(frozen=True, slots=True)
class Def:
    """``def f(n: int): int = EXPR``."""

    name: Member
    formals: tuple[Formal, ...]
    type: Member | None
    body: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Extent:
    """One entry of a declaration's shape: ``8``, ``1..16``, ``4x4x4``, ``?``; with ``of``: ``n of m``."""

    value: Expr
    of: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Decl:
    """``KIND NAME[extent, …] "title": MODEL { body }``.

    Kinds: fabric cluster, group pod plane rack site cube cell hall row, host chip switch ocs panel, port numa pcie.
    ``of`` is the model's name (a Path) or a port's rate. ``body`` is None where no braces stand.
    """

    kind: Member
    name: Member
    shape: tuple[Extent, ...] | None
    title: Str | None
    of: Expr | None
    body: tuple[Stmt, ...] | None
    span: Span


@dataclass(frozen=True, slots=True)
class ModelDecl:
    """``model KIND NAME "title" { body }``."""

    kind: Member
    name: Member
    title: Str | None
    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TopologyDecl:
    """``topology NAME(formals) { body }``."""

    name: Member
    formals: tuple[Formal, ...]
    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class PatternRef:
    """A pattern after the ends of a connect.

    ``each``, ``spread [x K] [uneven | any]``, ``pairs [shift K]``, ``ring``, ``mesh``, ``torus``, ``random degree D seed S``.
    ``args`` holds ``(word, expression)``: words ``x``, ``shift``, ``degree``, ``seed``; flags such as ``uneven`` have None.
    """

    name: Member
    args: tuple[tuple[Member, Expr | None], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Connect:
    """``connect A [to B] [pattern] [x N] [via P] [where GUARD] { settings }``, or ``circuit`` alike.

    An ``x N`` directly behind ``spread`` belongs to the pattern; ``each x 2`` and a bare ``x 2`` are ``copies``.
    """

    circuit: bool
    a: tuple[Path, ...]
    b: tuple[Path, ...]
    pattern: PatternRef | None
    copies: Expr | None
    via: Path | None
    guard: Expr | None
    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Omit:
    """``omit PATH, … [where GUARD]``."""

    paths: tuple[Path, ...]
    guard: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Naming:
    """``naming PATH "template" [where GUARD]``."""

    path: Path
    template: Str
    guard: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Extend:
    """``extend PATH { body }``."""

    path: Path
    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Override:
    """``override PATH[: MODEL] [{ settings }]``."""

    path: Path
    model: Path | None
    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Claim:
    """``METRIC [argument …] [any K [links | ports | cables | cages | bundles]] [of [all] S [to T]] [at S] [under ENGINE]
    [through LAYER] [CMP VALUE [of intact | of active | of network | of total]] [with CLAIM]``; ``share_of`` is ``network`` or
    ``total``."""

    metric: Member
    args: tuple[Expr, ...]
    any_count: Expr | None
    any_of: Member | None
    of: tuple[Path, ...]
    of_to: tuple[Path, ...]
    at: tuple[Path, ...]
    under: Member | None
    through: Member | None
    op: str | None
    value: Expr | None
    of_intact: bool
    of_active: bool
    given: Claim | None
    span: Span
    share_of: str = ""
    of_all: bool = False  # `of all S`: the set that S names, judged as one


@dataclass(frozen=True, slots=True)
class Require:
    """``require CLAIM and CLAIM …`` or ``report METRIC``."""

    report: bool
    claims: tuple[Claim, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class If:
    """``if c { … } else if d { … } else { … }``: branches in order, then the rest."""

    branches: tuple[tuple[Expr, tuple[Stmt, ...]], ...]
    other: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class For:
    """``for NAME in OVER { … }``."""

    var: Member
    over: Expr
    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Phase:
    """``phase 1 { … }``."""

    number: int
    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Place:
    """``place PATH in PATH [words] [at|from EXPR]``; ``anchor`` is the ``at`` or ``from``.

    ``place auto in HALL, HALL { settings }`` has ``more`` halls and a ``body``.
    """

    path: Path
    into: Path
    words: tuple[Member, ...]
    anchor: Member | None
    value: Expr | None
    span: Span
    more: tuple[Path, ...] = ()
    body: tuple[Stmt, ...] | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a setting: its value and the words after it, such as ``max 1720W`` or ``x 16``.

    ``args`` holds ``(word, value)``; a value that follows without a word has the word ``""``.
    """

    value: Expr
    args: tuple[tuple[str, Expr], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Setting:
    """``NAME item, item … [{ body }]``: what it means depends on where it stands."""

    name: Member
    items: tuple[Item, ...]
    body: tuple[Stmt, ...] | None
    span: Span


@dataclass(frozen=True, slots=True)
class Tier:
    """``tier T of N CHILD [by rail] { … }`` of an intent."""

    name: Member
    count: Expr
    child: Member
    by: Member | None
    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Broken:
    """A statement that did not parse: the names in its text (so that nothing is said about their absence), and the
    statements of its block, which parsed."""

    names: tuple[str, ...]
    body: tuple[Stmt, ...]
    span: Span


Stmt = (
    Use | Param | Let | Def | Decl | ModelDecl | TopologyDecl | Connect | Omit | Naming | Extend | Override | Require | If | For
    | Phase | Place | Setting | Tier | Broken
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Module:
    """A whole file."""

    body: tuple[Stmt, ...]
    span: Span
