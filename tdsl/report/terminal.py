"""The report for people: findings with their source, a verdict a line, a summary and a closing line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tdsl.explain import catalogue
from tdsl.findings.diagnostic import OF_READING, Diagnostic, Severity
from tdsl.report.formats import Report
from tdsl.report.paint import Paint, terminal_safe_text, text_columns, wrap_text
from tdsl.semantics.values import text_of
from tdsl.verify.result import INCOMPLETE

if TYPE_CHECKING:
    from tdsl.compile.compiler import Design
    from tdsl.compile.sweep import Sweep
    from tdsl.report.excerpt import Remark
    from tdsl.verify.result import Result

FORMAT = "full"
VERDICTS = {"proved": "good", "refuted": "bad", "bounded": "middling", "modelled": "second", "skipped": "dim"}
FAR = 7
"""Lines of a finding from which on its first one is said again at the end."""
SCALE = (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))


def render(report: Report) -> str:
    """The whole report: notes first, answers, and last, nearest to the prompt, what fails."""
    paint = Paint(report.colour)
    blocks: list[str] = []
    for compilation in report.compilations:
        found = report.unprinted(compilation)
        blocks += [finding_block(d, f, paint, report.width) for f, d in found if d.severity < report.grave]
        if compilation.of_several_cases:
            from tdsl.compile.sweep import Sweep

            assert isinstance(compilation, Sweep)
            blocks.append(sweep_outcome(compilation, paint, report.width))
        else:
            blocks += [
                design_outcome(design, paint, report.width, report.verbose)
                for design in _designs_shown(compilation.judged, report.verbose)
                if design.consists() is not None
            ]
        blocks += [finding_block(d, f, paint, report.width) for f, d in found if d.severity >= report.grave]
    if report.allowed:
        blocks.append(
            "\n".join(
                line
                for file, d in report.allowed
                for line in allowed_finding_lines(d, file, paint, report.width)
            )
        )
    blocks.append(closing_lines(report, paint))
    return "\n\n".join(blocks) + "\n"


def _designs_shown(judged: Sequence[Design], verbose: bool) -> Sequence[Design]:
    """The designs whose answers are printed: of a cluster whose wiring has errors the whole alone, as nothing
    is said of its fabrics that it does not say."""
    refused = all(any(r.reason == INCOMPLETE for r in design.results) for design in judged)
    return judged[-1:] if refused and judged and judged[-1].members and not verbose else judged


def render_early_findings(report: Report) -> str:
    """The findings alone, as the report would begin."""
    paint = Paint(report.colour)
    found = [
        finding_block(d, file, paint, report.width)
        for c in report.compilations
        for file, d in report.unprinted(c)
    ]
    return "".join(f"{block}\n\n" for block in found)


def allowed_finding_lines(d: Diagnostic, file: str, paint: Paint, width: int) -> list[str]:
    """What a design allows, and why, in a line or two."""
    at = (
        f"{terminal_safe_text(d.span.file.name)}:{d.span.begin[0]}"
        if d.span is not None
        else terminal_safe_text(file)
    )
    text = (
        f"{catalogue.finding_name(d.code)} at {at}: {terminal_safe_text(d.allowed)} "
        f"({terminal_safe_text(d.message)})"
    )
    first, *rest = wrap_text(text, max(width - 10, 40))
    return [f"{paint('dim', 'allowed')}   {first}", *(f"          {line}" for line in rest)]


def finding_blocks(design: Design, paint: Paint, width: int) -> list[str]:
    """Every finding of a design that it does not allow, a block each."""
    return [
        finding_block(d, design.file, paint, width)
        for d in design.findings
        if d.severity is not Severity.ALLOWED
    ]


def finding_block(d: Diagnostic, file: str, paint: Paint, width: int) -> str:
    """One finding: title, place, source with remarks, numbers, and what would mend it."""
    word = d.severity.word
    title = catalogue.finding_title(d.code)
    head = paint(word, f"{word}[{d.code}]") + paint("bold", f": {terminal_safe_text(title or d.message)}")
    gutter = " " * (_line_number_digits(d) + 1)
    if d.span is None:
        lines = [head, f"{paint('frame', gutter[:-1] + '-->')} {terminal_safe_text(file)}"]
        if title:
            lines += _note_lines(gutter, "", d.message, paint, width)
    else:
        lines = [head, *_source_excerpts(d, d.message if title else "", paint, width)]
    if d.span is not None and (d.notes or d.help or d.others_in_words):
        lines.append(paint("frame", f"{gutter}|"))
    for note in d.notes:
        lines += _note_lines(gutter, paint("bold", "note") + ": ", note, paint, width)
    if d.help:
        lines += _note_lines(gutter, paint("help", "help") + ": ", d.help, paint, width)
    if d.others_in_words:
        lines += _note_lines(gutter, "", f"({d.others_in_words})", paint, width)
    return "\n".join(lines)


def _line_number_digits(d: Diagnostic) -> int:
    """Digits of the highest line number shown."""
    spans = [x.span for x in d.labels] + ([d.span] if d.span else [])
    return max((len(str(s.finish[0])) for s in spans), default=1)


def _source_excerpts(d: Diagnostic, message: str, paint: Paint, width: int) -> list[str]:
    """The excerpts: of the finding's own file first, then of others that explain it."""
    from tdsl.report.excerpt import Remark, source_excerpt

    assert d.span is not None
    files: dict[int, list[Remark]] = {id(d.span.file): [Remark(d.span, message, d.severity.word, "^")]}
    for label in d.labels:
        files.setdefault(id(label.span.file), []).append(Remark(label.span, label.message, "second", "-"))
    gutter = _line_number_digits(d)
    out: list[str] = []
    for at, remarks in enumerate(files.values()):
        row, column = remarks[0].span.begin
        if at:
            out.append(paint("frame", " " * gutter + " |"))
        arrow = paint("frame", " " * gutter + (":::" if at else "-->"))
        out.append(f"{arrow} {terminal_safe_text(remarks[0].span.file.name)}:{row}:{column}")
        out += source_excerpt(remarks, gutter, paint, width)
    return out


def _note_lines(gutter: str, head: str, text: str, paint: Paint, width: int) -> list[str]:
    """A line ``= note: …`` under the source, wrapped."""
    indent = 6 if head else 0
    first, *rest = wrap_text(text, max(width - len(gutter) - 2 - indent, 40))
    return [
        f"{gutter}{paint('frame', '=')} {head}{first}",
        *(f"{gutter}  {' ' * indent}{line}" for line in rest),
    ]


# ---------------------------------------------------------------- verdicts and summary


def design_outcome(design: Design, paint: Paint, width: int, verbose: bool = False) -> str:
    """What was proved of a design, and what it consists of; all of it where that is asked for."""
    parts = [*_outcome_title(design, paint, width), *_lost_lines(design, width)]
    summary = design.consists() or {}
    incomplete = any(r.reason == INCOMPLETE for r in design.results)
    if verbose:
        verdicts = verdict_lines(design.results, paint, width)
        counts = [] if incomplete else summary_lines(summary, paint, not design.members)
    elif incomplete:
        verdicts, counts = [f"  {paint('dim', _not_judged_text(design.results))}"], []
    else:
        failing = any(d.severity is Severity.ERROR for d in design.findings)
        verdicts = brief_verdict_lines(design.results, failing, paint, width)
        counts = [f"  {line}" for line in wrap_text(counts_text(summary), max(width - 2, 40))]
    parts += ["", *verdicts] if verdicts else []
    return "\n".join([*parts, "", *counts] if counts else parts)


def _not_judged_text(results: Iterable[Result]) -> str:
    """That no requirement of a design is judged, whose fabric is not complete."""
    count = sum(r.requirement is not None for r in results)
    what = _number_with_noun(count, "requirement") if count else "nothing"
    verb = "are not" if count > 1 else "is not" if count else "is"
    return f"{what} {verb} judged: {INCOMPLETE}"


def _outcome_title(design: Design, paint: Paint, width: int) -> list[str]:
    """The name of a design, its parameters, and what it is of: a line, or more of a narrow terminal."""
    parameters = ", ".join(f"{k} = {text_of(v)}" for k, v in design.parameters.items())
    needed = f", needed {design.needed}" if design.needed else ""
    pieces = (
        ("bold", "", design.name),
        ("", " ", f"({parameters})" if parameters else ""),
        ("", "  ", f"all fabrics of the cluster: {', '.join(design.members)}" if design.members else ""),
        ("", "  ", f"phase {design.phase}{needed}" if design.phase else ""),
        ("dim", "  ", design.file),
    )
    lines, used = [""], 0
    for style, gap, text in pieces:
        parts = wrap_text(terminal_safe_text(text), max(width - 2, 40)) if text else []
        for n, part in enumerate(parts):
            shown, columns = paint(style, part) if style else part, text_columns(part)
            if lines == [""] or (not n and used + len(gap) + columns <= width):
                lines[-1] += f"{gap}{shown}"
                used += len(gap) + columns
            else:
                lines.append(f"  {shown}")
                used = 2 + columns
    return lines


def _lost_lines(design: Design, width: int) -> list[str]:
    """What is judged as failed; no line where all stands."""
    lost = design.losses()
    if lost is None:
        return []
    names, devices, links = lost
    said = (
        f"failed: {', '.join(names)} ({_number_with_noun(devices, 'device')}, "
        f"{_number_with_noun(links, 'link')})"
    )
    return [f"  {line}" for line in wrap_text(terminal_safe_text(said), max(width - 2, 40))]


def brief_verdict_lines(results: Iterable[Result], failing: bool, paint: Paint, width: int) -> list[str]:
    """The answers that people want first. Where all holds, those to what the design states, or the figures of
    one that states nothing; where something ``failing`` is found, what does not hold, last. A line counts the
    rest."""
    judged = [r for r in results if r.requirement is not None or r.status != "skipped"]
    shown = _answers_shown_first(judged, failing)
    those = {id(r) for r in shown}
    rest = _rest_of_answers([r for r in judged if id(r) not in those])
    lines = verdict_lines(shown, paint, width) if shown else []
    if not rest:
        return lines
    counted = [f"  {paint('dim', line)}" for line in wrap_text(f"{rest} (-v)", max(width - 2, 40))]
    return [*counted, *lines] if failing else [*lines, *counted]


def _answers_shown_first(judged: list[Result], failing: bool) -> list[Result]:
    """What does not hold, refuted answers last, where something is ``failing``; else the answers to what the
    design states, or the figures of one that states nothing."""
    stated = [r for r in judged if r.requirement is not None]
    if not failing:
        return stated or [r for r in judged if not isinstance(r.value, bool)]
    shown = [r for r in judged if r.status == "refuted" or (r.requirement and r.status != "proved")]
    return sorted(shown, key=lambda r: r.status == "refuted")


def _rest_of_answers(hidden: Sequence[Result]) -> str:
    """A summary of the answers that are not shown: requirements that hold, checks that found nothing, and
    checks that are not settled."""
    held = sum(r.requirement is not None for r in hidden)
    proved = sum(r.requirement is None and r.status == "proved" for r in hidden)
    unsettled = dict.fromkeys(r.check for r in hidden if r.status not in ("proved", "refuted"))
    pieces = (
        f"{held} other {'requirements hold' if held > 1 else 'requirement holds'}" if held else "",
        f"also checked: {proved}, nothing found" if proved else "",
        f"not settled: {', '.join(unsettled)}" if unsettled else "",
    )
    return "; ".join(filter(None, pieces))


def counts_text(summary: Mapping[str, object]) -> str:
    """What a design consists of, in a line."""

    def total(what: str) -> object:
        given = summary.get(what)
        return given.get("total") if isinstance(given, Mapping) else given

    others = _others_text(summary.get("other_hosts"))
    tiers = _named_counts_text(summary.get("tiers"))
    behind = {"host": f" {others}" if others else "", "switch": f" ({tiers})" if tiers else ""}
    pieces = []
    least_hosts = 1 if total("accelerators") else 0
    for noun in ("host", "accelerator", "switch", "plane", "rail", "link", "cable", "circuit"):
        plural = f"{noun}es" if noun == "switch" else f"{noun}s"
        number = total(plural)
        least = {"host": least_hosts, "plane": 2, "rail": 2}.get(noun, 1)
        if isinstance(number, int) and number >= least:
            pieces.append(f"{number:,} {noun if number == 1 else plural}{behind.get(noun, '')}")
    injection = summary.get("injection_bps")
    if isinstance(injection, (int, float)) and injection:
        pieces.append(f"injection {rate_in_bps_text(injection)}")
    return ", ".join(pieces)


def sweep_outcome(sweep: Sweep, paint: Paint, width: int) -> str:
    """What was proved of a file's fabrics for all values of their parameters."""
    blocks = []
    for name, verdicts in sweep.verdicts().items():
        head = f"{paint('bold', terminal_safe_text(name))}  {paint('dim', terminal_safe_text(sweep.file))}"
        over = Counter(v.answer for v in verdicts if v.bare and v.status == "skipped")
        rows = [
            (
                v.status,
                f"{over[v.answer]} checks" if passed else terminal_safe_text(v.what),
                terminal_safe_text(v.answer),
                "" if v.bare else "report" if v.report else "require",
            )
            for v in verdicts
            for passed in [v.bare and v.status == "skipped" and over[v.answer] > 2]
        ]
        rows = list(dict.fromkeys(rows))  # one line for all of one reason
        blocks.append(
            "\n".join(
                [
                    head,
                    *wrap_text(terminal_safe_text(sweep.extent), width),
                    "",
                    *verdict_columns(rows, paint, width),
                ]
            )
        )
    return "\n\n".join(blocks or [terminal_safe_text(sweep.extent)])


def verdict_lines(results: Iterable[Result], paint: Paint, width: int) -> list[str]:
    """A line a check or requirement; instances of one requirement with one answer share a line."""
    results = list(results)
    passed_over = Counter(r.reason for r in results if r.status == "skipped" and r.requirement is None)
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    second: dict[tuple[str, str, str, str], str] = {}
    for r in results:
        if (
            r.status == "skipped" and r.requirement is None and passed_over[r.reason] > 2
        ):  # one line for all of one reason
            rows[r.status, f"{passed_over[r.reason]} checks", terminal_safe_text(r.reason), ""] = [""]
            continue
        key = _verdict_row(r)
        rows.setdefault(key, []).append(r.scope)
        if r.second_opinion.get("verdict") == "unconfirmed":
            second[key] = f"; not confirmed: {terminal_safe_text(str(r.second_opinion.get('reason', '')))}"
    shown = []
    for (status, what, answer, asked), scopes in rows.items():
        where = f" in {terminal_safe_text(scopes[0])}" if scopes[0] else ""
        where += f" and {len(scopes) - 1} more" if len(scopes) > 1 else ""
        shown.append(
            (status, what, f"{answer}{where}{second.get((status, what, answer, asked), '')}".strip(), asked)
        )
    return verdict_columns(shown, paint, width)


def _verdict_row(r: Result) -> tuple[str, str, str, str]:
    """The status of an answer, what it is to, its text, and what asks for it ("" where nothing does)."""
    return (
        _status_with_opinion(r),
        terminal_safe_text(r.requirement or r.check),
        terminal_safe_text(f"{r.text or r.reason}{_judged_part_text(r)}"),
        "" if r.requirement is None else "report" if r.report else "require",
    )


def _judged_part_text(result: Result) -> str:
    """How much was judged, where that is a part; what is skipped says why."""
    if not result.partial or not result.judged or f"{result.judged} of {result.of} " in result.text:
        return ""
    return f"; {result.judged:,} of {result.of:,} judged"


def _status_with_opinion(result: Result) -> str:
    """The status, and by whom it is confirmed or contradicted, where a second opinion was asked for."""
    given = result.second_opinion
    by = given.get("by")
    names = " and ".join(str(x) for x in by) if isinstance(by, list) else ""
    words = {"confirmed": f", confirmed by {names}", "disagrees": f", but not so by {names}"}
    return result.status + words.get(str(given.get("verdict")), "")


def _status_style(status: str, asked: str) -> str:
    """The style of a status, that of a second opinion with it."""
    word, _, opinion = status.partition(", ")
    if opinion.startswith("but"):
        return "bad"
    return VERDICTS[word] if asked == "require" or word != "proved" else "dim"


def verdict_columns(rows: Sequence[tuple[str, str, str, str]], paint: Paint, width: int) -> list[str]:
    """Verdicts under each other within the width: status, what was asked, the answer. The last of a row is
    who asked: ``require``, ``report``, or "" of a check that nobody asked for; requirements alone are
    green."""
    first = max((len(status) for status, *_ in rows), default=0)
    first = max(first, 8)
    left = max(width - 6 - first, 24)
    most = min(width // 2, max(left - 30, 12))
    broad = max((n for _, what, *_ in rows if (n := text_columns(what)) <= most), default=min(most, 24))
    gap, out = " " * (6 + first + broad), []
    for status, what, answer, asked in rows:
        head = f"  {paint(_status_style(status, asked), f'{status:<{first}}')}  "
        lines = wrap_text(answer, left - broad)
        beside = text_columns(what) <= broad
        whats = [what.ljust(len(what) + broad - text_columns(what))] if beside else wrap_text(what, left)
        if asked:
            whats = [paint("bold", w) for w in whats]
        first_line = f"{head}{whats[0]}" + (f"  {lines[0]}" if beside else "")
        out += [first_line.rstrip(), *(f"{' ' * (4 + first)}{w}" for w in whats[1:])]
        out += [f"{gap}{line}" for line in lines[beside:]]
    return out


def summary_lines(summary: Mapping[str, object], paint: Paint, endpoints: bool = True) -> list[str]:
    """The summary as a small table: what, how many, and of which kinds. A cluster has no ``endpoints`` of its
    own."""
    rows = [
        ("hosts", _grouped_number(summary.get("hosts")), _others_text(summary.get("other_hosts"))),
        ("accelerators", _grouped_number(summary.get("accelerators")), ""),
    ]
    if endpoints:
        rows.append(
            (
                "endpoints",
                _grouped_number(summary.get("endpoints")),
                _others_text(summary.get("other_endpoints")),
            )
        )
    rows.append(
        ("switches", _grouped_number(summary.get("switches")), _named_counts_text(summary.get("tiers")))
    )
    rows += [
        (w, _grouped_number(summary.get(w)), "")
        for w in ("planes", "rails")
        if _integer_or_zero(summary.get(w)) > 1
    ]
    for what in ("links", "cables"):
        given = summary.get(what)
        if isinstance(given, Mapping):
            rows.append((what, _grouped_number(given.get("total")), _named_counts_text(given.get("classes"))))
    if _integer_or_zero(summary.get("circuits")):
        rows.append(("circuits", _grouped_number(summary.get("circuits")), ""))
    injection = summary.get("injection_bps")
    if isinstance(injection, (int, float)) and injection:
        rows.append(("injection", rate_in_bps_text(injection), ""))
    broad = max(len(r[1]) for r in rows)
    return [f"  {what:<12}  {number:>{broad}}  {paint('dim', rest)}".rstrip() for what, number, rest in rows]


def _number_with_noun(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _integer_or_zero(value: object) -> int:
    return value if isinstance(value, int) else 0


def _grouped_number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "-" if value is None else str(value)


def _others_text(value: object) -> str:
    return f"and {value:,} other" if isinstance(value, int) and value else ""


def _named_counts_text(value: object) -> str:
    if not isinstance(value, Mapping) or not value:
        return ""
    return ", ".join(f"{terminal_safe_text(str(k))} {_grouped_number(v)}" for k, v in value.items())


def rate_in_bps_text(bps: float) -> str:
    """A rate as people say it: ``406.4 Tbps``."""
    for prefix, size in SCALE:
        if bps >= size:
            return f"{bps / size:,.4g} {prefix}bps"
    return f"{bps:g} bps"


def closing_lines(report: Report, paint: Paint) -> str:
    """How many findings there are, how long it took, where the first of several is, and where to read on."""
    found = report.findings
    judged, asked = report.coverage
    refused = any(r.reason == INCOMPLETE for c in report.compilations for d in c.judged for r in d.results)
    part = f", {judged:,} of {asked:,} requirements judged in full" if judged < asked and not refused else ""
    lines = [paint("bold", f"{severity_tally(found, paint)}{part} in {report.elapsed_s:.1f} s")]
    lines += _first_grave_finding(report)
    codes = sorted({d.code for d in found if d.severity > Severity.NOTE and catalogue.page_of_code(d.code)})
    if codes:
        more = f"; also {', '.join(codes[1:6])}" if codes[1:] else ""
        lines.append(paint("dim", f"tdsl explain {codes[0]} says more{more}"))
    return "\n".join(lines)


def _first_grave_finding(report: Report) -> list[str]:
    """Place and text of the first finding that fails the design, where its lines are far above the end."""
    grave = [(file, d) for file, d in report.reported_findings if d.severity >= report.grave]
    if not grave:
        return []
    file, first = grave[0]
    if len(grave) == 1 and finding_block(first, "", Paint(False), report.width).count("\n") <= FAR:
        return []
    at = f"{first.span.file.name}:{first.span.begin[0]}" if first.span is not None else file
    text = terminal_safe_text(f"{'first: ' if len(grave) > 1 else ''}{at}: {first.message}")
    return wrap_text(text, max(report.width, 40))[:2]


def severity_tally(found: Iterable[Diagnostic], paint: Paint) -> str:
    """``3 errors, 1 warning``."""
    counts = Counter[Severity]()
    for d in found:
        counts[d.severity] += d.count if d.code.startswith(OF_READING) else 1
    words = [
        paint(s.word, f"{counts[s]:,} {s.word}{'s' if counts[s] > 1 else ''}")
        for s in sorted(Severity, reverse=True)
        if counts[s]
    ]
    if not counts[Severity.ERROR]:
        words.insert(0, paint("good", "no errors"))
    return ", ".join(words)
