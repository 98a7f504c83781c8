"""What a check is: a class in a file of its own under ``checks/``, found by being there.

The class says what it is in attributes, which are examined when the class is made; its docstring is its page
of the documentation. A check judges a view and gives a Judgement; words for the reader are made here and in
the runner.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import ClassVar, Literal

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric, Ints
from tdsl.findings.diagnostic import Severity
from tdsl.findings.source import Origin, SourceSpan
from tdsl.prove.symmetry import READS, Reads
from tdsl.prove.view import View
from tdsl.semantics.quantity import NONE, Dim, Quantity
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.result import Status, Value

Kind = Literal["yes_no", "number", "ratio", "fraction", "quantity"]

NO_WITNESS: Mapping[str, object] = {}
KINDS = ("yes_no", "number", "ratio", "fraction", "quantity")
TAKES = (
    "of",
    "to",
    "among",
    "at",
    "under",
    "through",
    "any",
    "with",
    "args",
    "ports",
    "intact",
    "active",
    "share",
    "job",
    "over",
)


@dataclass(frozen=True, slots=True)
class PropertyFault:
    """Something wrong at one place of the text, with how many such places. ``unless`` names a check that
    reports it, too: where that one runs, this is said of requirements alone."""

    at: Origin | None
    message: str
    count: int = 1
    labels: tuple[tuple[SourceSpan, str], ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    severity: Severity = Severity.ERROR
    unless: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a check found about a view.

    A yes-or-no check is ``proved`` or ``refuted``; a figure is ``proved`` where ``lower`` equals ``upper``,
    else ``bounded``. ``text`` is one line for a terminal. ``witness`` holds plain JSON values, devices and
    ports by name. ``measures`` are the same bounds in other units, exactly: ``lower_bps``, ``upper_links`` …
    ``ratio`` is a pair (down, up) of whole numbers and ``link_class`` the links it is about. ``faults`` are
    the places to blame, ``labels`` and ``help`` go with the finding of a claim that is not met. ``of`` is
    what was asked and ``judged`` how much of it this is about: elements, failures, or the view as one. Of a
    ``modelled`` one ``satisfied`` is whether it satisfies the requirement. ``estimated``: terms of it are
    estimates, so that a requirement is ``modelled`` where it holds and where it does not.
    """

    status: Status
    text: str = ""
    value: Value = None
    lower: Value = None
    upper: Value = None
    ratio: tuple[int, int] | None = None
    link_class: str = ""
    witness: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""
    faults: tuple[PropertyFault, ...] = ()
    labels: tuple[tuple[SourceSpan, str], ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    measures: Mapping[str, int | Fraction] = field(default_factory=dict)
    judged: int = 1
    of: int = 1
    satisfied: bool = True
    estimated: bool = False


def property_holds(text: str, witness: Mapping[str, object] = NO_WITNESS) -> Judgement:
    """The property holds."""
    return Judgement("proved", text, True, witness=dict(witness))


def property_fails(
    text: str, faults: tuple[PropertyFault, ...], witness: Mapping[str, object] = NO_WITNESS
) -> Judgement:
    """The property does not hold, because of these."""
    return Judgement("refuted", text, False, witness=dict(witness), faults=faults)


def exactly(
    value: int | Fraction | Quantity, text: str, witness: Mapping[str, object] = NO_WITNESS
) -> Judgement:
    """A figure that is known."""
    return Judgement("proved", text, value, value, value, witness=dict(witness))


def skipped(reason: str) -> Judgement:
    """Not judged."""
    return Judgement("skipped", reason=reason, judged=0)


class Check(ABC):
    """Base of all checks.

    ``code`` is the finding's code and ``name`` the check's name, both taken once; ``wrong`` titles its
    findings. ``dim`` is the dimension of a quantity. ``fails_by_default``: a refuted one is an error even if
    nothing requires it, and a warning where it is ``mild``. ``monotone``: a violation found in a part of the
    wiring stays whatever is added, so it is judged although some wiring was refused. ``on_demand``: judged
    only where a claim asks. ``takes`` lists the clauses that its claims may have, ``needs`` those they must;
    ``of`` and group instances restrict the view, unless ``reads_of``; the others are read by the check
    itself. ``example`` is a claim with all it needs. ``after_failures``: `survives` may ask for it.
    ``of_design``: it judges what is designed, whatever failed of it. ``reads``: what it reads beyond devices,
    their contents and the capacities between them, as words of ``prove.symmetry.READS``; None where no
    symmetry is known to keep its answer. ``of_network``: where a fabric has scale-up links beside its
    network, it judges the network alone; what is of the design judges both, unless a check says otherwise.
    ``joins``: of `of A to B` it judges the links and cables that join A and B, and the view has these alone;
    other checks that take `to` read the two sets in the whole network. ``of_ends``: it is about endpoints, so
    `of all S` may ask it of some of them. ``of_ports``: its paths may name ports of devices. ``scarce``: of
    several figures the least is the worst, where a claim does not say. ``less_is_better``: a requirement that
    it is at least something is the wrong way round. ``in_rates``: its share may be asked in bit/s, too; its
    judgements have the measures ``lower_bps`` and ``upper_bps``. ``together``: how it
    judges the fabrics of a cluster. "added": figures add up, so what the cluster's block requires is judged
    of all of them, and what a fabric's block requires is of that fabric alone. "shared": about places, names
    and addresses, which all fabrics of the cluster take, so that a fabric is judged with what the others put
    there. "": about one fabric's own links. ``crosses``: it is about paths, and what the cluster's block
    requires of devices that no fabric has all of is judged over the links of all fabrics. ``cost``: what it
    takes on a large fabric, 0 (sums of columns) to 3 (flows for many failures): cheap ones are judged first.
    ``reads_halves``: its figures rest on the bisection, which is searched for longer where they are required.
    ``by_formula``: its bounds are of a formula with stated assumptions, so that a requirement that holds by
    them is ``modelled`` and not ``proved``. ``by_model``: they are ends of a model, so that a requirement
    that they rule out is ``modelled``, too, and not satisfied.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    wrong: ClassVar[str]
    kind: ClassVar[Kind]
    unit: ClassVar[str] = ""
    dim: ClassVar[Dim] = NONE
    fails_by_default: ClassVar[bool] = False
    mild: ClassVar[bool] = False
    monotone: ClassVar[bool] = False
    on_demand: ClassVar[bool] = False
    takes: ClassVar[frozenset[str]] = frozenset({"of"})
    conditions: ClassVar[frozenset[str]] = (
        frozenset()
    )  # words that may follow `with`; empty where a claim does
    words: ClassVar[frozenset[str]] = frozenset()  # the arguments it knows; empty where it reads them itself
    needs: ClassVar[frozenset[str]] = frozenset()
    reads_of: ClassVar[bool] = False
    after_failures: ClassVar[bool] = False
    reads: ClassVar[Reads | None] = None
    of_design: ClassVar[bool] = False
    of_network: ClassVar[bool] = True
    together: ClassVar[Literal["", "added", "shared"]] = ""
    crosses: ClassVar[bool] = False
    scarce: ClassVar[bool] = False
    less_is_better: ClassVar[bool] = False
    in_rates: ClassVar[bool] = False
    joins: ClassVar[bool] = False
    cost: ClassVar[int] = 1
    reads_halves: ClassVar[bool] = False
    by_formula: ClassVar[bool] = False
    by_model: ClassVar[bool] = False
    of_ends: ClassVar[bool] = False
    of_ports: ClassVar[bool] = False
    example: ClassVar[str] = ""

    _codes: ClassVar[dict[str, type[Check]]] = {}
    _names: ClassVar[dict[str, type[Check]]] = {}

    def __init_subclass__(cls) -> None:
        if "of_network" not in vars(cls):
            cls.of_network = not cls.of_design
        where = f"{cls.__module__}.{cls.__qualname__}"
        cls._refuse_wrong_attributes(where)
        for table, key in ((Check._codes, cls.code), (Check._names, cls.name)):
            other = table.get(key)
            if other is not None and (other.__module__, other.__qualname__) != (
                cls.__module__,
                cls.__qualname__,
            ):
                raise TypeError(f"{where}: {key} is taken by {other.__module__}.{other.__qualname__}")
        Check._codes[cls.code] = Check._names[cls.name] = cls

    @classmethod
    def _refuse_wrong_attributes(cls, where: str) -> None:
        """Raise TypeError unless the attributes of a new check are of their forms."""
        for attribute in ("code", "name", "wrong", "kind"):
            if not hasattr(cls, attribute):
                raise TypeError(f"{where}: a check needs `{attribute}`")
        if not re.fullmatch(r"E0[24]\d\d", cls.code):
            raise TypeError(f"{where}: code {cls.code!r} is not of the families E02 and E04")
        if not re.fullmatch(r"[a-z]+(_[a-z]+)*", cls.name):
            raise TypeError(f"{where}: name {cls.name!r} is not snake_case")
        if cls.kind not in KINDS:
            raise TypeError(f"{where}: kind {cls.kind!r} is none of {', '.join(KINDS)}")
        if not cls.takes <= set(TAKES):
            raise TypeError(f"{where}: takes holds {sorted(cls.takes - set(TAKES))}")
        if cls.cost not in range(4):
            raise TypeError(f"{where}: cost {cls.cost!r} is none of 0, 1, 2, 3")
        if cls.reads is not None and not cls.reads <= READS:
            raise TypeError(f"{where}: reads holds {sorted(cls.reads - READS)}")
        if not (cls.__doc__ or "").strip():
            raise TypeError(f"{where}: the docstring is the check's page and must not be empty")

    @classmethod
    def page(cls) -> str:
        """The check's page, in Markdown; its first line is the title."""
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def title(cls) -> str:
        """What it says in plain words."""
        return cls.page().splitlines()[0].rstrip(".")

    def applies_to(self, fabric: Fabric) -> bool:
        """Whether a check that no requirement asks for has something to judge; one of places has not without
        places."""
        return True

    def reads_for(self, claim: ResolvedClaim) -> Reads | None:
        """What the answer to one requirement reads; see ``reads``."""
        return self.reads

    def help_for_unmet(self, claim: ResolvedClaim, judged: Judgement) -> str:
        """What would satisfy a claim that is not satisfied, with numbers where they are known."""
        return judged.help

    def links_at_fault(self, view: View) -> Ints:
        """Rows of the links that break a property of links, for pictures; none of other checks, whose answers
        name what they are about."""
        return view.rows[:0]

    @abstractmethod
    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        """Judge a view; the claim is read for clauses beyond ``of``, and is None where nothing is
        required."""


@cache
def checks_by_name() -> Mapping[str, Check]:
    """All checks by name, in order of their codes."""
    package = import_module("tdsl.verify.checks")
    found = {}
    for module in iter_modules(package.__path__):
        for made in vars(import_module(f"{package.__name__}.{module.name}")).values():
            if (
                inspect.isclass(made)
                and issubclass(made, Check)
                and made.__module__ == f"{package.__name__}.{module.name}"
            ):
                found[made.name] = made()
    return dict(sorted(found.items(), key=lambda item: item[1].code))


def percent_text(value: Fraction, digits: int = 4) -> str:
    """``93.75%``; so many digits, more where what is no whole would read as 100%."""
    said = f"{float(value * 100):.{digits}g}%"
    return percent_text(value, digits + 1) if said == "100%" and value != 1 and digits < 15 else said


def percent_range(lower: Fraction, upper: Fraction, digits: int = 4) -> str:
    """``between 62.49% and 62.5%``; as many digits as tell the two apart."""
    low, high = percent_text(lower, digits), percent_text(upper, digits)
    return (
        percent_range(lower, upper, digits + 1)
        if low == high and digits < 15
        else f"between {low} and {high}"
    )
