"""A design at every value of its parameters: each combination is compiled and checked, and what was found is
put together.

The combinations are finite, so what holds for each of them is proved for the whole range. They are in
row-major order of the parameters as declared: the first that fails is the least. Where they are more than a
limit, the ends of the ranges are checked first and then the rest in order; what holds for those is not proved
for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import chain, islice
from math import prod
from typing import TYPE_CHECKING

from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Design, Request, Session
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, merge_equal_findings
from tdsl.semantics.ranges import Domain
from tdsl.semantics.values import Value, text_of
from tdsl.system import progress
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.workers import Workers

if TYPE_CHECKING:
    from tdsl.verify.result import Result

LIMIT = 1000
RANKS = ("refuted", "skipped", "bounded", "modelled", "proved")
BARE_RANKS = ("refuted", "bounded", "modelled", "proved", "skipped")
"""Statuses, worst first; a check that nobody asks for may well be skipped."""

GOOD = ("modelled", "proved")

RULED_OUT = "E0110"
SHOWN = 4
PIECES = 64
"""Groups of combinations that are given out: files are read once for each."""
ALONE = Workers(1)
Chosen = Mapping[str, Value]
Place = tuple[int, ...]
"""Which of its values each parameter has: combinations are ordered by it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One combination of parameters, and what was found with it."""

    values: Chosen
    compilation: Compilation

    @property
    def text(self) -> str:
        """``units = 3, mode = a``."""
        return ", ".join(f"{name} = {text_of(v)}" for name, v in self.values.items())


@dataclass(frozen=True, slots=True)
class SweepVerdict:
    """What is known of one requirement or check over all combinations.

    ``first`` is the least combination with this status, None where it is good. ``count`` is how many have the
    status, ``asked`` for how many there is the requirement, and ``judged`` for how many it is answered.
    ``bare``: no statement names it; ``report``: one asks for it and requires nothing.
    """

    check: str
    what: str
    bare: bool
    status: str
    answer: str
    first: Case | None
    count: int
    asked: int
    judged: int
    report: bool = False


@dataclass(slots=True)
class Sweep(Compilation):
    """All combinations of a file's parameters. ``designs`` are those of all of them.

    ``total`` is how many combinations there are, None if they are too many to count; ``varied`` are the
    values of each parameter, ``kept`` parameters without a finite range: they have their default. ``decided``
    are requirements, by fabric, that arithmetic proves for all combinations.
    """

    cases: list[Case] = field(default_factory=list)
    total: int | None = 1
    varied: dict[str, Sequence[Value]] = field(default_factory=dict)
    kept: dict[str, Domain] = field(default_factory=dict)
    decided: set[tuple[str, str]] = field(default_factory=set)

    @property
    def of_several_cases(self) -> bool:
        """Whether there are several combinations."""
        return len(self.cases) > 1

    @property
    def whole(self) -> bool:
        """Whether no value of any parameter is left out."""
        return self.total == len(self.cases) and not self.kept

    def collect_designs(self) -> None:
        """Take the designs and clusters of all combinations, in their order."""
        self.designs = [design for case in self.cases for design in case.compilation.designs]
        self.clusters = [design for case in self.cases for design in case.compilation.clusters]

    def findings_with_files(self) -> list[tuple[str, Diagnostic]]:
        """The findings, each once."""
        return [(self.file, d) for d in self.findings]

    # ------------------------------------------------------------ words
    @property
    def extent(self) -> str:
        """``4 combinations: units = 1..4``."""
        many = f"{len(self.cases):,}"
        if self.total != len(self.cases):
            many += f" of {self.total:,}" if self.total is not None else f" of more than {len(self.cases):,}"
        values = " and ".join(f"{name} = {values_as_ranges(values)}" for name, values in self.varied.items())
        return f"{many} combination{'s' if many != '1' else ''}" + (f": {values}" if values else "")

    def which(self, cases: Sequence[Case]) -> str:
        """Some of the combinations by their values, as short as they can be written."""
        values = {
            name: tuple(dict.fromkeys(c.values[name] for c in cases if name in c.values))
            for name in self.varied
        }
        if len(cases) > 1 and prod(map(len, values.values())) == len(cases):  # a full product
            return " and ".join(f"{name} = {values_as_ranges(each)}" for name, each in values.items())
        return "; ".join(c.text for c in cases[:SHOWN]) + (
            f" and {len(cases) - SHOWN:,} more" if len(cases) > SHOWN else ""
        )

    # ------------------------------------------------------------ verdicts
    def verdicts(self) -> dict[str, list[SweepVerdict]]:
        """For each fabric what is known of its requirements, and then of the checks that none asks for."""
        rows: dict[tuple[str, bool, str], dict[int, Result]] = {}
        wired: dict[str, set[int]] = {}
        for at, case in enumerate(self.cases):
            for design in case.compilation.judged:
                name = _qualified_design_name(design)
                if design.fabric is not None or design.summary is not None:
                    wired.setdefault(name, set()).add(at)
                for r in design.results:
                    row = rows.setdefault((name, r.requirement is None, r.requirement or r.check), {})
                    if at not in row or RANKS.index(r.status) < RANKS.index(row[at].status):
                        row[at] = r
        out: dict[str, list[SweepVerdict]] = {}
        for (name, bare, what), row in sorted(rows.items(), key=lambda item: item[0][1]):
            lost = {at for at in range(len(self.cases)) if at not in wired[name]}
            verdict = self._verdict(what, bare, row, lost)
            if (name, what) in self.decided and not bare:
                verdict = replace(
                    verdict,
                    status="proved",
                    answer=f"holds for all {self.total:,} combinations, by arithmetic",
                )
            out.setdefault(name, []).append(verdict)
        return out

    def _verdict(self, what: str, bare: bool, row: Mapping[int, Result], lost: set[int]) -> SweepVerdict:
        """The worst answer speaks. ``lost`` are combinations whose design has no wiring that could be
        judged."""
        ranks = BARE_RANKS if bare else RANKS
        statuses = {at: r.status for at, r in row.items()} | ({} if bare else dict.fromkeys(lost, "skipped"))
        worst = min(statuses.values(), key=lambda status: ranks.index(status))
        having = [at for at in sorted(statuses) if statuses[at] == worst]
        check, answered = next(iter(row.values())).check, sum(r.judged > 0 for r in row.values())
        first = row.get(having[0])
        text = _result_text_with_scope(first)
        idle = bare and worst == "skipped"
        same_text = self._is_same_everywhere(row, len(having), idle)
        case: Case | None = self.cases[having[0]]
        if worst in GOOD:
            case = None
            answer = self._where_it_holds(statuses, text if same_text else "", bare, first)
        elif same_text:
            answer = text if idle else f"{text}, for {self._each(len(having))}"
        else:
            share = self._share_with_status(list(statuses.values()), worst)
            answer = f"with {self.cases[having[0]].text} ({share}): {text}"
        status = "bounded" if worst in GOOD and not self.whole else worst
        report = next(iter(row.values())).report
        return SweepVerdict(
            check, what, bare, status, answer, case, len(having), len(statuses), answered, report
        )

    def _is_same_everywhere(self, row: Mapping[int, Result], having: int, idle: bool) -> bool:
        """Whether all combinations have one answer; of a check that is ``idle`` all that it is about."""
        every = having == len(self.cases) or (idle and having == len(row))
        return every and len({_result_text_with_scope(r) for r in row.values()}) == 1

    def _where_it_holds(
        self, statuses: Mapping[int, str], text: str, bare: bool, first: Result | None
    ) -> str:
        """The combinations for which a check holds; ``text`` is the answer that all of them have, empty where
        they differ. ``first`` is the result of one of them."""
        judged = [at for at in sorted(statuses) if statuses[at] in GOOD]
        begin = "for" if bare or (first is not None and first.report) else "holds for"
        if len(judged) == len(self.cases):
            return f"{begin} {self._each(len(judged))}" + (f": {text}" if text and not bare else "")
        why = "can be judged" if bare else "is asked"
        return (
            f"{begin} the {len(judged):,} of {len(self.cases):,} where it {why}: "
            f"{self.which([self.cases[a] for a in judged])}"
        )

    def _share_with_status(self, statuses: Sequence[str], worst: str) -> str:
        """How many combinations have the worst status, and what is known of the others."""
        count, proved = statuses.count(worst), set(statuses) == {worst, "proved"}
        share = f"{count:,} of {len(statuses):,}"
        if self.whole:
            return f"{share}; proved for the rest" if proved else share
        others = f"; proved for {len(statuses) - count:,}" if proved else ""
        return f"{share} checked{others}; {self._unchecked()}"

    def _unchecked(self) -> str:
        """What is not known, because it was not checked."""
        left = self.total - len(self.cases) if self.total is not None else 0
        return f"{left:,} not checked" if left else "other values not checked"

    def _each(self, count: int) -> str:
        if self.whole:
            return f"all {count:,} combinations" if count > 1 else "the one combination"
        return (
            f"the {count:,} combinations that were checked"
            if count > 1
            else "the one combination that was checked"
        )


def values_as_ranges(values: Sequence[Value]) -> str:
    """Values in a row: whole numbers that follow each other as ``1..4``."""
    if isinstance(values, range) and len(values) > 2:
        return f"{values[0]}..{values[-1]}"
    runs: list[list[Value]] = []
    for v in values:
        last = runs[-1][-1] if runs else None
        if type(v) is int and type(last) is int and v == last + 1:
            runs[-1].append(v)
        else:
            runs.append([v])
    parts = [
        p for run in runs for p in ([f"{run[0]}..{run[-1]}"] if len(run) > 2 else [text_of(v) for v in run])
    ]
    return ", ".join(parts[:8]) + (", …" if len(parts) > 8 else "")


def _result_text_with_scope(r: Result | None) -> str:
    """What a result says and where; None is that of a design that was not judged."""
    if r is None:
        return "the design has errors"
    text = r.text or r.reason
    return f"{text} in {r.scope}" if r.scope and r.scope not in text else text


def _qualified_design_name(design: Design) -> str:
    return f"{design.cluster}.{design.name}" if design.cluster and not design.members else design.name


# ---------------------------------------------------------------- the combinations


def _intersect_domains(domains: Iterable[Domain]) -> list[Domain]:
    """One domain a parameter, in order of the first: what all its guards allow."""
    found: dict[str, Domain] = {}
    for d in domains:
        found[d.name] = found[d.name].also(d) if d.name in found else d
    return list(found.values())


def _values_of_parameters(combinations: Sequence[Chosen]) -> dict[str, Sequence[Value]]:
    """The values of each parameter in some combinations, each once: in order where all are whole numbers."""
    names = dict.fromkeys(name for c in combinations for name in c)
    varied: dict[str, Sequence[Value]] = {
        name: tuple(dict.fromkeys(c[name] for c in combinations if name in c)) for name in names
    }
    if all(type(v) is int for values in varied.values() for v in values):
        return {name: sorted(values) for name, values in varied.items()}  # type: ignore[type-var]
    return varied


@dataclass(slots=True)
class _Walk:
    """Goes through the combinations, asking the design for the range of a parameter once those before it are
    chosen."""

    source: str
    request: Request
    session: Session
    kept: dict[str, Domain] = field(default_factory=dict)
    spans: dict[str, Domain] = field(default_factory=dict)
    total: int | None = None
    varied: dict[str, Sequence[Value]] = field(default_factory=dict)
    parses: bool = True
    defaults: list[Diagnostic] = field(default_factory=list)  # what a guard rules out with the defaults
    settled: bool = False  # no choice changes the range of another parameter

    def ask(self, chosen: Chosen) -> tuple[list[Domain], bool]:
        """The finite domains that are still open, in order of the text, and whether no choice changes
        them."""
        settings, found = compiler.parameter_settings(
            self.source, replace(self.request, values=dict(chosen)), self.session
        )
        self._note_faults(found, with_defaults=not chosen)
        given = {name for name, _ in self.request.set} | set(chosen)
        open_ = [d for d in _intersect_domains(settings.domains or ()) if d.name not in given]
        settled = not settings.varying and not found.has_errors and all(d.alone for d in open_)
        finite: list[Domain] = []
        for d in open_:
            if d.choices is not None and d.name not in self.kept:
                finite.append(d)
            elif settled or not finite:  # else it may rest on one before it that is not chosen yet
                self.kept.setdefault(d.name, d)
        self.spans = {d.name: d for d in finite} | self.spans
        return finite, settled

    def _note_faults(self, found: Iterable[Diagnostic], with_defaults: bool) -> None:
        """Keep whether the text parses, and what a guard refuses with the defaults."""
        if with_defaults:
            self.defaults = [d for d in found if d.code == RULED_OUT]
        self.parses &= not any(d.code.startswith("E00") for d in found)

    def combinations(self, limit: int) -> list[Chosen]:
        """All of them in order; where there are more than the limit, the ends of all ranges and the first
        others, in order."""
        finite, settled = self.ask({})
        if not self.parses:
            return []
        self.settled = settled
        known = finite if settled else None
        if settled:
            self.varied = {d.name: d.choices or () for d in finite}
            self.total = prod(len(c) for c in self.varied.values())
        found = dict(islice(self.walk({}, (), known), limit + 1))
        if len(found) > limit:
            chosen = dict(islice(self.walk({}, (), known, ends=True), limit))
            others = (place for place in found if place not in chosen)
            chosen |= {place: found[place] for place in islice(others, limit - len(chosen))}
            found = chosen
        elif not settled:
            self.total = len(found)
        out = [found[place] for place in sorted(found)]
        if not settled:
            self.varied = _values_of_parameters(out)
        return out

    def walk(
        self, chosen: Chosen, at: Place, known: list[Domain] | None, ends: bool = False
    ) -> Iterator[tuple[Place, Chosen]]:
        """The combinations that go on from some choices, with their places."""
        finite = known if known is not None else self.ask(chosen)[0]
        if not finite:
            yield at, chosen
            return
        choices = finite[0].choices or ()
        steps: Iterable[int] = (
            range(len(choices)) if not ends else sorted({0, len(choices) - 1}) if choices else ()
        )
        for i in steps:
            yield from self.walk(
                {**chosen, finite[0].name: choices[i]},
                (*at, i),
                known[1:] if known is not None else None,
                ends,
            )


def sweep_parameters(
    source: str, request: Request | None = None, limit: int = LIMIT, workers: Workers = ALONE
) -> Sweep:
    """Check a design at every combination of its parameters, at ``limit`` of them at most. Raises UsageError
    and WorkersEnded."""
    request, session = request or Request(), Session()
    walk = _Walk(source, request, session)
    chosen = walk.combinations(limit)
    if (
        not chosen
    ):  # a text that does not parse, or no value that the guards allow: the design as it stands says why
        alone = compiler.compile_and_verify(source, request, session)
        findings = alone.findings
        if walk.spans and not Diagnostics(list(findings)).has_errors:
            findings = [*findings, _no_common_value_finding(walk.spans)]
        return _sweep_of_cases([Case({}, alone)], merge_equal_findings(findings), 0)
    result = _sweep_of_cases(_compile_combinations(source, request, session, chosen, workers), [], walk.total)
    result.varied, result.kept = walk.varied, walk.kept
    if walk.settled and not result.whole and not result.kept:
        _prove_unchecked_combinations(result, walk)
    merged = list(_merged_sweep_findings(result))
    said = {(d.code, d.span) for d in merged}
    defaults = [
        replace(d, notes=(*d.notes, "with the defaults"))
        for d in walk.defaults
        if (d.code, d.span) not in said
    ]
    result.findings = merge_equal_findings(
        [*merged, *defaults, *_unchecked_range_findings(result, walk.spans)]
    )
    return result


def _sweep_of_cases(cases: list[Case], findings: Sequence[Diagnostic], total: int | None) -> Sweep:
    """Combinations as one, with the designs and clusters of each."""
    result = Sweep(cases[0].compilation.file, [], findings, cases, total)
    result.collect_designs()
    return result


def _compile_combinations(
    source: str, request: Request, session: Session, chosen: Sequence[Chosen], workers: Workers
) -> list[Case]:
    """All combinations compiled: the first here, and the rest, if it is worth it, by several processes."""
    lean = len(chosen) > 1
    first, rest = _compile_combination(source, request, session, chosen[0], lean), chosen[1:]
    if not workers.worth(sum(d.elapsed_s for d in first.compilation.designs) * len(rest)):
        one_by_one = (_compile_combination(source, request, session, values, lean) for values in rest)
        return [first, *progress.items_as_phase(one_by_one, f"check {source}", len(rest), "combinations")]
    size = -(-len(rest) // PIECES)
    pieces = [rest[at : at + size] for at in range(0, len(rest), size)]
    found = workers.results(partial(_compile_piece, source, request), pieces)
    return [
        first,
        *progress.items_as_phase(chain.from_iterable(found), f"check {source}", len(rest), "combinations"),
    ]


def _compile_piece(source: str, request: Request, chosen: Sequence[Chosen]) -> list[Case]:
    """Some combinations, compiled where nothing was read yet."""
    session = Session()
    return [_compile_combination(source, request, session, values, True) for values in chosen]


def _compile_combination(source: str, request: Request, session: Session, values: Chosen, lean: bool) -> Case:
    """Compile one combination. Where there are many, the fabric is given up for its figures."""
    done = compiler.compile_and_verify(source, replace(request, values=dict(values)), session)
    for design in done.judged:
        if lean and design.fabric is not None:
            from tdsl.verify.summary import fabric_summary

            design.summary = fabric_summary(design.fabric)
            design.fabric, design.failing, design.claims = None, None, []
    return Case(values, done)


def _open_requirements(result: Sweep, check: str) -> Iterator[tuple[str, str]]:
    """Fabric and text of the requirements of a check that hold for all cases that were checked, and are not
    known for the others."""
    for name, verdicts in result.verdicts().items():
        for v in verdicts:
            bounded = v.status == "bounded" and v.first is None
            if v.check == check and not v.bare and bounded and v.asked == len(result.cases):
                yield name, v.what


def _counts_of_cases(
    cases: Iterable[Case], name: str, requirement: str
) -> tuple[list[tuple[Chosen, int]], dict[str, Value]]:
    """What a requirement of a fabric counts in each case, and the parameters that no case varies."""
    measured: list[tuple[Chosen, int]] = []
    fixed: dict[str, Value] = {}
    for case in cases:
        for design in case.compilation.judged:
            if _qualified_design_name(design) == name:
                fixed = {k: v for k, v in design.parameters.items() if k not in case.values}
                values = [r.value for r in design.results if r.requirement == requirement]
                measured += [(case.values, n) for n in values if isinstance(n, int)]
    return measured, fixed


def _prove_unchecked_combinations(result: Sweep, walk: _Walk) -> None:
    """Prove what arithmetic can of the combinations that were not checked, or check the one that it says is
    wrong."""
    module = next((parsed for parsed, _ in walk.session.parsed.values()), None)
    sought = list(_open_requirements(result, "switches"))
    if module is None or not sought:
        return
    from tdsl.sizing.all_parameters import prove_switch_count

    domains = [walk.spans[name] for name in walk.varied]
    for name, what in sought:
        measured, fixed = _counts_of_cases(result.cases, name, what)
        answer = prove_switch_count(module.body, name, what, domains, fixed, measured)
        if answer == "proved":
            result.decided.add((name, what))
        elif isinstance(answer, Mapping) and all(dict(case.values) != dict(answer) for case in result.cases):
            result.cases.append(_compile_combination(walk.source, walk.request, walk.session, answer, True))
    places = {d.name: d.choices or () for d in domains}
    result.cases.sort(key=lambda case: [places[name].index(v) for name, v in case.values.items()])
    result.collect_designs()


# ---------------------------------------------------------------- findings
IDLE = "E0015"


def _merged_sweep_findings(result: Sweep) -> Iterator[Diagnostic]:
    """The findings of all combinations: one for each code and place, with a note of where it is."""
    groups: dict[tuple[object, ...], list[tuple[Case, Diagnostic]]] = {}
    for case in result.cases:
        for d in case.compilation.findings:
            place = (id(d.span.file), d.span.start, d.span.end) if d.span else (d.message,)
            groups.setdefault((d.code, d.severity, *place), []).append((case, d))
    for found in groups.values():
        if found[0][1].code == IDLE and len(found) < len(result.cases):
            continue  # it allows something elsewhere
        (first, d), cases = found[0], [case for case, _ in found]
        if len(result.cases) == 1:
            yield d
            continue
        everywhere = len(cases) == len(result.cases)
        checked = "" if result.whole else " checked"
        few = f"with {result.which(cases)} ({len(cases):,} of {len(result.cases):,} combinations{checked})"
        note = f"with all {len(cases):,} combinations{checked}" if everywhere else few
        others = _other_messages(result, d, found)
        notes = [note if not others else f"{note}; reported here with {first.text}"]
        yield replace(d, notes=(*d.notes, *notes, *others))


def _other_messages(
    result: Sweep, reported: Diagnostic, found: Iterable[tuple[Case, Diagnostic]]
) -> list[str]:
    """Notes of the messages that a finding has with other combinations: a few of them, and how many more."""
    cases: dict[str, list[Case]] = {}
    for case, each in found:
        cases.setdefault(each.message, []).append(case)
    others = [
        f"with {result.which(c)}: {message}" for message, c in cases.items() if message != reported.message
    ]
    return others[:SHOWN] + ([f"and {len(others) - SHOWN:,} more"] if len(others) > SHOWN else [])


def _unchecked_range_findings(result: Sweep, spans: Mapping[str, Domain]) -> Iterator[Diagnostic]:
    """What stands between the combinations that were checked and the whole range."""
    for name, d in result.kept.items():
        yield Diagnostic(
            "E0125",
            f"`{name}` keeps its default, {text_of(d.default)}: {d.missing}",
            d.span,
            help=d.help,
        )
    if result.total != len(result.cases):
        widest = max(spans.values(), key=lambda d: len(d.choices or ()))
        total = "many more" if result.total is None else f"{result.total:,}"
        yield Diagnostic(
            "E0126",
            f"{len(result.cases):,} of {total} combinations were checked, and what they show is not "
            "proved for the rest",
            widest.span,
            help="raise `--limit-params`, give a parameter with `--set`, or narrow a range in its guard",
        )


def _no_common_value_finding(spans: Mapping[str, Domain]) -> Diagnostic:
    d = next(iter(spans.values()))
    return Diagnostic(
        "E0125",
        f"no value of `{d.name}` suits all that declare it",
        d.span,
        help="give each a name of its own",
    )
