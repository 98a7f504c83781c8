"""The syntax tree: what was written, and where. No meaning is attached here.

Every node holds its span. Sequences are tuples, chains of operators are flat, so a long line cannot make a
deep tree.
"""

from __future__ import annotations

from tdsl.findings.source import SourceSpan
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
    Identifier as Identifier,
)
from tdsl.syntax.expressions import (
    IndexPart as IndexPart,
)
from tdsl.syntax.expressions import (
    ListExpr as ListExpr,
)
from tdsl.syntax.expressions import (
    Measure as Measure,
)
from tdsl.syntax.expressions import (
    NetworkLit as NetworkLit,
)
from tdsl.syntax.expressions import (
    Number as Number,
)
from tdsl.syntax.expressions import (
    Paren as Paren,
)
from tdsl.syntax.expressions import (
    PathExpr as PathExpr,
)
from tdsl.syntax.expressions import (
    Placeholder as Placeholder,
)
from tdsl.syntax.expressions import (
    PowerExpr as PowerExpr,
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
class UsedName:
    """``NAME [as ALIAS]`` of a use."""

    name: Identifier
    alias: Identifier | None


@dataclass(frozen=True, slots=True)
class Use:
    """``use a.b (X, Y as Z)``."""

    module: tuple[Identifier, ...]
    names: tuple[UsedName, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Param:
    """``param NAME: TYPE = DEFAULT where GUARD``."""

    name: Identifier
    type: Identifier | None
    default: Expr
    guard: Expr | None
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Let:
    """``let NAME[: TYPE] = EXPR [where GUARD]``; the value may be a Hole."""

    name: Identifier
    type: Identifier | None
    value: Expr
    guard: Expr | None
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Formal:
    """A parameter of a def or topology."""

    name: Identifier
    type: Identifier
    default: Expr | None


@dataclass(frozen=True, slots=True)
class Def:
    """``def f(n: int): int = EXPR``."""

    name: Identifier
    formals: tuple[Formal, ...]
    type: Identifier | None
    body: Expr
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Extent:
    """One entry of a declaration's shape: ``8``, ``1..16``, ``4x4x4``, ``?``; with ``of``: ``n of m``."""

    value: Expr
    of: Expr | None
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Decl:
    """``KIND NAME[extent, …] "title": MODEL { body }``.

    Kinds: fabric cluster, group pod plane rack site cube cell hall row, host chip switch ocs panel, port numa
    pcie. ``of`` is the model's name (a Path) or a port's rate. ``body`` is None where no braces stand.
    """

    kind: Identifier
    name: Identifier
    shape: tuple[Extent, ...] | None
    title: Str | None
    of: Expr | None
    body: tuple[Stmt, ...] | None
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class ModelDecl:
    """``model KIND NAME "title" { body }``."""

    kind: Identifier
    name: Identifier
    title: Str | None
    body: tuple[Stmt, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class TopologyDecl:
    """``topology NAME(formals) { body }``."""

    name: Identifier
    formals: tuple[Formal, ...]
    body: tuple[Stmt, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class JobDecl:
    """``job NAME "title": OTHER { settings }``: ``of`` names the job whose settings hold where the block says
    nothing else."""

    name: Identifier
    title: Str | None
    of: Expr | None
    body: tuple[Stmt, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class PatternRef:
    """A pattern after the ends of a connect, such as ``pairs [shift K]``: one of ``tdsl/syntax/patterns.py``.

    ``args`` holds ``(word, expression)``: words ``x``, ``shift``, ``degree``, ``seed``; flags such as
    ``uneven`` have None.
    """

    name: Identifier
    args: tuple[tuple[Identifier, Expr | None], ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Connect:
    """``connect A [to B] [pattern] [x N] [via P] [where GUARD] { settings }``, or ``circuit`` in the same
    form.

    An ``x N`` directly behind ``spread`` belongs to the pattern; ``each x 2`` and a bare ``x 2`` are
    ``copies``.
    """

    circuit: bool
    a: tuple[PathExpr, ...]
    b: tuple[PathExpr, ...]
    pattern: PatternRef | None
    copies: Expr | None
    via: PathExpr | None
    guard: Expr | None
    body: tuple[Stmt, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Omit:
    """``omit PATH, … [where GUARD]``."""

    paths: tuple[PathExpr, ...]
    guard: Expr | None
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Naming:
    """``naming PATH "template" [where GUARD]``."""

    path: PathExpr
    template: Str
    guard: Expr | None
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Extend:
    """``extend PATH { body }``."""

    path: PathExpr
    body: tuple[Stmt, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Override:
    """``override PATH[: MODEL] [{ settings }]``."""

    path: PathExpr
    model: PathExpr | None
    body: tuple[Stmt, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Claim:
    """``METRIC [argument …] [any K [links | ports | cables | cages | bundles]] [of [all] S [to T]] [at S]
    [among S, S …] [over N [tokens]] [under ENGINE] [through LAYER] [CMP VALUE [of intact | of active |
    of network | of total]] [with CLAIM]``; ``share_of`` is ``network`` or ``total``."""

    metric: Identifier
    args: tuple[Expr, ...]
    any_count: Expr | None
    any_of: Identifier | None
    of: tuple[PathExpr, ...]
    of_to: tuple[PathExpr, ...]
    at: tuple[PathExpr, ...]
    under: Identifier | None
    through: Identifier | None
    op: str | None
    value: Expr | None
    of_intact: bool
    of_active: bool
    given: Claim | None
    span: SourceSpan
    share_of: str = ""
    of_all: bool = False  # `of all S`: the set that S names, judged as one
    among: bool = False  # `among S, T`: each of the sets for itself, all at once
    over: tuple[Expr, Identifier | None] | None = None  # `over 15T tokens`: how much, and of what


@dataclass(frozen=True, slots=True)
class Require:
    """``require CLAIM and CLAIM …`` or ``report METRIC``."""

    report: bool
    claims: tuple[Claim, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class If:
    """``if c { … } else if d { … } else { … }``: branches in order, then the rest."""

    branches: tuple[tuple[Expr, tuple[Stmt, ...]], ...]
    other: tuple[Stmt, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class For:
    """``for NAME in OVER { … }``."""

    var: Identifier
    over: Expr
    body: tuple[Stmt, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class PhaseBlock:
    """``phase 1 { … }``."""

    number: int
    body: tuple[Stmt, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class PlaceStmt:
    """``place PATH in PATH [words] [at|from EXPR]``; ``anchor`` is the ``at`` or ``from``.

    ``place auto in HALL, HALL { settings }`` has ``more`` halls and a ``body``.
    """

    path: PathExpr
    into: PathExpr
    words: tuple[Identifier, ...]
    anchor: Identifier | None
    value: Expr | None
    span: SourceSpan
    more: tuple[PathExpr, ...] = ()
    body: tuple[Stmt, ...] | None = None


@dataclass(frozen=True, slots=True)
class SettingItem:
    """One item of a setting: its value and the words after it, such as ``max 1720W`` or ``x 16``.

    ``args`` holds ``(word, value)``; a value that follows without a word has the word ``""``.
    """

    value: Expr
    args: tuple[tuple[str, Expr], ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Setting:
    """``NAME item, item … [{ body }]``: what it means depends on where it stands."""

    name: Identifier
    items: tuple[SettingItem, ...]
    body: tuple[Stmt, ...] | None
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class TierDecl:
    """``tier T of N CHILD [by rail] { … }`` of an intent."""

    name: Identifier
    count: Expr
    child: Identifier
    by: Identifier | None
    body: tuple[Stmt, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Broken:
    """A statement that did not parse: the names in its text (so that nothing is said about their absence),
    and the statements of its block, which parsed."""

    names: tuple[str, ...]
    body: tuple[Stmt, ...]
    span: SourceSpan


Stmt = (
    Use | Param | Let | Def | Decl | ModelDecl | TopologyDecl | JobDecl | Connect | Omit | Naming | Extend
    | Override | Require | If | For | PhaseBlock | PlaceStmt | Setting | TierDecl | Broken
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Module:
    """A whole file."""

    body: tuple[Stmt, ...]
    span: SourceSpan
