"""Claims set against figures: whether a claim can be understood, and whether bounds prove or refute it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import isinf
from typing import Literal

from tdsl.fabric.claims import ResolvedClaim
from tdsl.semantics.quantity import (
    LENGTH,
    MASS,
    MONEY,
    NONE,
    POWER,
    RATE,
    SIZE,
    TIME,
    Quantity,
    byte_rate_text,
    decimal_text,
    kind_name,
    quantity_text,
)
from tdsl.semantics.values import integer_if_whole
from tdsl.syntax.requirement_slips import WORDS as COMPARISON_WORDS
from tdsl.system.similar import closest_name
from tdsl.verify.check import Check, Judgement, checks_by_name
from tdsl.verify.result import Value
from tdsl.verify.reworded import claim_with_any, help_for_unknown_metric

UNKNOWN, MALFORMED, REVERSED, NO_LIMIT = "E0490", "E0492", "E0493", "E0134"
"""Codes of findings about claims themselves; their pages are files."""

Verdict = Literal["proved", "refuted", "bounded"]


PORTS = re.compile(r"\.\w+(?:\[[^\[\]]*\])*$")
"""The end of a path that names ports of a device: `.p`, `.p[33..64]`."""


def unknown_metric_error(claim: ResolvedClaim, known: Mapping[str, Check]) -> tuple[str, str, str]:
    """Code, message and help for a metric that no check computes."""
    span = claim.origin.span
    before = span.file.text[max(span.start - 200, 0) : span.start]
    if claim.given is not None and re.search(r"\bany \d+ [^;\n]*\band\s+$", before):
        message = f"`and` begins another requirement, and `{claim.metric}` is not a metric"
        return UNKNOWN, message, f"write `, {claim.metric}` where it fails with what is before"
    return UNKNOWN, f"there is no metric `{claim.metric}`", help_for_unknown_metric(claim, known)


_WHICH_WAY = {"better": "<=", "less": "<=", "lower": "<=", "fewer": "<=", "more": ">=", "higher": ">="}
"""What people write behind `or` for a comparison."""


def _why_or_is_wrong(text: str) -> tuple[str, str]:
    """Why ``bisection 100% or better`` and ``reachability or bisection >= 50%`` cannot be judged, and what to
    write."""
    first, _, second = text.partition(" or ")
    if second in _WHICH_WAY:
        metric, _, value = first.rpartition(" ")
        return f"`or {second}` compares nothing", f"write `{metric} {_WHICH_WAY[second]} {value}`"
    return (
        "`or` does not join requirements: every one that is stated must hold",
        f"write `{first}`, or `{second}`; `report {second}` asks without requiring",
    )


def _why_if_is_wrong(claim: ResolvedClaim) -> tuple[str, str]:
    """Why ``bisection >= 100% if units == 4 else bisection >= 50%`` cannot be judged, and what to write."""
    before, _, condition = claim.text.partition(" if ")
    stated = "report" if claim.report else "require"
    condition, _, other = condition.partition(" else ")
    otherwise = f" else {{ {stated} {other} }}" if other else ""
    written = f"if {condition} {{ {stated} {before} }}{otherwise}"
    return "a requirement has no condition; a block of `if` has", f"write `{written}`"


def why_claim_is_malformed(claim: ResolvedClaim, check: Check) -> tuple[str, str] | None:
    """Why a claim cannot be judged and the fix; None if it can."""
    if " or " in claim.text and "or" in map(str, claim.args):
        return _why_or_is_wrong(claim.text)
    if " if " in claim.text and "if" in map(str, claim.args):
        return _why_if_is_wrong(claim)
    wrong = _why_clauses_are_wrong(claim, check) or _why_sets_or_layer_are_wrong(claim, check)
    if wrong is not None:
        return wrong
    if claim.given is not None:
        wrong = (
            _why_word_is_wrong(claim.given, check)
            if check.conditions
            else _why_condition_is_wrong(claim.given)
        )
        if wrong is not None:
            return wrong
    if claim.any_count is not None and claim.any_count < 1:
        return f"`any {claim.any_count}` fails nothing", "write `any 1` or more"
    return _why_comparison_is_wrong(claim, check)


WRITTEN_CLAUSES = {
    "ports": "of ports",
    "args": "argument",
    "any": "any",
    "intact": "of intact",
    "active": "of active",
    "share": "of network",
    "job": "of JOB",
    "over": "over N tokens",
}
"""How a clause is written, where not as its name."""


def _clause_not_taken(claim: ResolvedClaim, check: Check, clause: str) -> tuple[str, str]:
    """What to say and advise of a claim with a clause that its check does not take."""
    if clause == "args" and (bare := _claim_with_sign(claim, check)):
        return f"`{check.name}` is compared with a number by a sign", f"write `{bare}`"
    if clause == "args" and claim.args:
        return _words_not_taken(claim, check)
    word = WRITTEN_CLAUSES.get(clause, clause)
    takes = [f"`{WRITTEN_CLAUSES.get(t, t)}`" for t in sorted(check.takes)]
    return f"`{check.name}` takes no `{word}`", f"it takes {', '.join(takes)}" if takes else "leave it out"


def _words_not_taken(claim: ResolvedClaim, check: Check) -> tuple[str, str]:
    """The same of words behind a metric that takes none."""
    said = " ".join(str(a) for a in claim.args)
    if str(claim.args[0]) in checks_by_name():
        joined = claim.text.replace(f" {said}", f" and {said}", 1)
        return f"`and` is missing between `{check.name}` and `{claim.args[0]}`", f"write `{joined}`"
    if said in ("full", "complete", "total") and check.kind == "fraction":
        return f"`{check.name}` is compared with a number by a sign", f"write `{check.name} >= 100%`"
    taken = [c for c in ("of", "at", "among") if c in check.takes and f" {c} " not in claim.text]
    clauses = " or ".join(f"`{c} {said}`" for c in taken)
    plain = claim.text.replace(f" {said}", "", 1)
    help = f"write {clauses}" if said.isidentifier() and clauses else f"write `{plain}`"
    return f"`{check.name}` takes nothing like `{said}` behind it", help


def _why_clauses_are_wrong(claim: ResolvedClaim, check: Check) -> tuple[str, str] | None:
    """Which clause or argument a check needs and does not have, or has and does not take."""
    clauses = _clauses_of_claim(claim)
    for clause in sorted(check.needs):
        if not clauses[clause]:
            word = {"any": "`any K`", "args": "an argument"}.get(
                clause, f"`{WRITTEN_CLAUSES.get(clause, clause)}`"
            )
            if clause == "any" and (better := claim_with_any(claim.text)):
                return f"`{check.name}` needs {word}", f"write `{better}`"
            return f"`{check.name}` needs {word}", _help_for_missing_clause(claim, check, clause)
    for clause, present in clauses.items():
        if present and clause not in check.takes:
            return _clause_not_taken(claim, check, clause)
    strange = [str(a) for a in claim.args if str(a) not in check.words] if check.words else []
    signs = {
        "le": "<=",
        "ge": ">=",
        "lt": "<",
        "gt": ">",
        "eq": "==",
        "under": "<",
        "below": "<",
        "above": ">",
    }
    if strange and strange[0] in signs:
        return f"`{strange[0]}` does not compare; `{signs[strange[0]]}` does", f"write `{signs[strange[0]]}`"
    by_what = f"{strange[1]}_{check.name}" if strange[:1] == ["per"] and len(strange) > 1 else ""
    if by_what in checks_by_name():
        return f"`{check.name}` takes no argument `per`", f"write `{by_what}`"
    if strange[:1] == ["network"]:
        whole = " of total" if claim.text.endswith("%") else ""
        new = claim.text.replace(" network ", " of network ", 1) + whole
        return f"`network` is what `{check.name}` is about, and follows `of`", f"write `{new}`"
    if strange:
        return (
            f"`{check.name}` takes no argument `{strange[0]}`",
            f"it takes {', '.join(f'`{w}`' for w in sorted(check.words))}",
        )
    return None


def _help_for_missing_clause(claim: ResolvedClaim, check: Check, clause: str) -> str:
    """What to write for a claim that lacks a clause: its own text with the clause, or the check's example."""
    name, _, behind = claim.text.partition(" ")
    if clause == "job" and re.match(r"[A-Za-z_]\w* [<>=!]", behind):
        return f"write `{name} of {behind}`"
    if clause == "job":
        return f"write `{name} of JOB{' ' + behind if behind else ''}`, with the name of the job"
    other = re.match(r"(?:with|of|by|using|via|in|at|for|among|under|to|on) (?=\w)", behind)
    if clause in ("under", "of", "to") and other is not None:
        said = behind[other.end() :]
        return f"write `{name} {clause} {said.split()[0] if clause == 'under' else said}`"
    if clause == "of" and re.match(r"[a-z_]\w*(\[[^\]]*\])?( [<>=!]|$)", behind):
        return f"write `{name} of {behind}`"
    return f"`{check.example}`"


def _claim_with_sign(claim: ResolvedClaim, check: Check) -> str:
    """``edge_redundancy 8`` with the sign that it lacks, "" where something else is wrong."""
    found = re.fullmatch(r"\w+ (.+) (\S+)", claim.text)
    sign = COMPARISON_WORDS.get(tuple(found[1].split())) if found is not None else None
    if found is not None and sign is not None and not claim.op:
        return f"{check.name} {sign} {found[2]}"
    amount = re.fullmatch(r"\w+ (\d[\w.:%]*)((?: (?:of|at|under|through) .*)?)", claim.text)
    if claim.op or amount is None or check.kind == "yes_no":
        return ""
    return f"{check.name}{amount[2]} {'>=' if check.scarce else '<='} {amount[1]}"


def _clauses_of_claim(claim: ResolvedClaim) -> dict[str, bool]:
    """Whether a claim has each clause."""
    return {
        "of": any(s.elements or s.text != "ports" for s in claim.of),
        "ports": any(not s.elements and s.text == "ports" for s in claim.of),
        "among": claim.among,
        "to": bool(claim.of_to),
        "at": bool(claim.at),
        "under": bool(claim.under),
        "through": bool(claim.through),
        "any": claim.any_count is not None,
        "with": claim.given is not None,
        "args": bool(claim.args),
        "intact": claim.of_intact,
        "active": claim.of_active,
        "share": bool(claim.share_of),
        "job": claim.job is not None,
        "over": claim.over is not None,
    }


def _why_sets_or_layer_are_wrong(claim: ResolvedClaim, check: Check) -> tuple[str, str] | None:
    """Why a check is not about a set of endpoints, about ports or about a layer, where a claim names such."""
    if claim.of_all and not claim.among and not check.of_ends:
        return (
            f"`{check.name}` is not about a set of endpoints",
            "leave `all` out: each element is then judged",
        )
    ports = [s.text for s in (*claim.of, *claim.of_to, *claim.at) if s.ports]
    if ports and not check.of_ports:
        return (
            f"`{check.name}` is about devices and groups, and `{ports[0]}` names ports",
            f"write `{PORTS.sub('', ports[0])}`",
        )
    if claim.through and claim.through != "scaleup":
        return (
            f"there is no layer `{claim.through}` to go through",
            "figures are of the network unless they say `through scaleup`: leave it out, or write that",
        )
    return None


SHARES = frozenset({"availability", "cable_share", "goodput", "mfu", "network_share_of_failures"})
"""Figures that are a share of a whole: more than all of it is nothing."""


def limit_of_every_design(claim: ResolvedClaim) -> str:
    """Why every figure satisfies the comparison of a claim, "" where one may not: no figure is below zero,
    and no share of a total above 100%. A zero that the design computes is none: it follows its parameters."""
    value = claim.value.amount if isinstance(claim.value, Quantity) else claim.value
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        return ""
    if (claim.share_of or claim.metric in SHARES) and claim.op in ("<", "<=") and value > 1:
        return "no share of a whole is above 100%"
    written = claim.text.rpartition(f"{claim.op} ")[2][:1]
    below = value < 0 or (value == 0 and claim.op == ">=" and written.isdigit())
    return "no figure is below zero" if below and claim.op in (">", ">=", "!=") else ""


def _why_comparison_is_wrong(claim: ResolvedClaim, check: Check) -> tuple[str, str] | None:
    """Why a check is not compared, or not so."""
    if check.kind == "yes_no":
        if claim.op:
            return f"`{check.name}` is yes or no and takes no comparison", f"write `{check.name}` alone"
        return None
    if not claim.op:
        if claim.report:
            return None
        return f"`{check.name}` is {ARTICLES[check.kind]}: say what it must be", f"`{_example_claim(check)}`"
    return _why_unit_is_wrong(claim, check)


def _why_word_is_wrong(given: ResolvedClaim, check: Check) -> tuple[str, str] | None:
    """Why what follows `with` is none of the words that a check knows there, or says more than the word."""
    listed = ", ".join(f"`with {word}`" for word in sorted(check.conditions))
    if given.metric not in check.conditions:
        return f"`{check.name}` takes no `with {given.metric}`", f"it takes {listed}"
    if given.op:
        return (
            f"`{given.metric}` is not compared",
            f"write the comparison first: `{check.example} with {given.metric}`",
        )
    if any(_clauses_of_claim(given).values()):
        return f"`{given.metric}` takes nothing more", f"write {listed} at the end"
    return None


def _why_condition_is_wrong(given: ResolvedClaim) -> tuple[str, str] | None:
    """Why a claim cannot follow `with`."""
    fit = {name: check for name, check in checks_by_name().items() if check.after_failures}
    listed = f"metrics that can be asked after failures: {', '.join(sorted(fit))}"
    if given.metric not in fit:
        near = closest_name(given.metric, fit, 0.7)
        if near and given.metric not in checks_by_name():
            return f"there is no metric `{given.metric}`", f"did you mean `with {near}`?"
        return f"`{given.metric}` cannot be asked after failures", listed
    if not given.of_to and any(s.elements or s.text != "ports" for s in given.of):
        return (
            f"`{given.metric} of …` cannot be asked after failures: it is asked of all that is left",
            "leave out `of`",
        )
    return why_claim_is_malformed(given, fit[given.metric])


ARTICLES = {
    "number": "a number",
    "ratio": "a ratio",
    "fraction": "a fraction of full, or a rate",
    "quantity": "a quantity",
}
EXAMPLES = {"number": "<= 4", "ratio": "<= 1:1", "fraction": ">= 100%"}
TOO_FULL = 10
"""A share of full from which on its author thought of a percentage."""
AMOUNTS = {TIME: "2us", LENGTH: "30m", POWER: "44kW", MASS: "1000kg", MONEY: "$12M"}


def _example_claim(check: Check) -> str:
    """A claim that can be asked, for who wrote another."""
    return check.example or f"{check.name} {EXAMPLES.get(check.kind) or f'<= {AMOUNTS[check.dim]}'}"


def _claim_of_right_kind(claim: ResolvedClaim, check: Check) -> str:
    """The claim as it is written, with the value of the example in the place of one of another kind."""
    value = _example_claim(check).split(" ")[-1]
    number = re.search(r"(?<![\d_.])\d[\d_]*+(?:\.\d++)?+(?=[A-Za-z]*+$)", claim.text)
    if check.kind == "number" and number is not None:
        value = number[0]
    sign = claim.text.rfind(f" {claim.op} ")
    return f"{claim.text[:sign]} {claim.op} {value}" if sign > 0 else _example_claim(check)


def _why_unit_is_wrong(claim: ResolvedClaim, check: Check) -> tuple[str, str] | None:
    value = claim.value
    if claim.share_of:
        return _why_share_is_wrong(claim, check)
    if isinstance(value, Quantity):
        of_kind = value.dim == (check.dim if check.kind == "quantity" else NONE)
        if of_kind or _is_rate_claim(claim, check):
            return None
        said = f"{quantity_text(value)} is a {kind_name(value.dim)}"
        rates = _rates_for_size(claim, value)
        if check.kind == "fraction" and rates:
            return f"`{check.name}` is {_kind_of_figure(check)}, and {said}", rates
    elif isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        said = f"{value!r} is none"
    elif check.kind == "quantity":
        return (
            f"`{check.name}` is {_kind_of_figure(check)}, and {value} has no unit",
            f"`{_claim_with_unit(claim, check)}`",
        )
    elif check.kind == "fraction" and value >= TOO_FULL:
        return _why_share_is_too_full(claim, check, value)
    else:
        return None
    return f"`{check.name}` is {_kind_of_figure(check)}, and {said}", _help_of_right_kind(claim, check)


def _help_of_right_kind(claim: ResolvedClaim, check: Check) -> str:
    """What to write for a value of another kind, or an example where that has other numbers."""
    better = _claim_of_right_kind(claim, check)
    same = re.findall(r"\d+", better) == re.findall(r"\d+", claim.text) != []
    return f"write `{better}`" if same else f"such as `{better}`"


def _rates_for_size(claim: ResolvedClaim, value: Quantity) -> str:
    """What to write for ``bisection >= 51.2TB``: the number as a rate in bytes or in bits, "" for others."""
    amount = re.search(r"(?<![0-9_.])([0-9_.]++)([kMGTPE]?)(i?)B$", claim.text)
    if value.dim != SIZE or amount is None or amount[3]:
        return ""
    before, number = claim.text[: amount.start()], f"{amount[1]}{amount[2]}"
    return f"write `{before}{number}B/s`, or in bits `{before}{number}bps`"


def _claim_with_unit(claim: ResolvedClaim, check: Check) -> str:
    """A claim whose number has no unit, with the one of the check's example."""
    unit = re.fullmatch(r"(\$?)[0-9.]+([A-Za-z/]*)", _example_claim(check).split(" ")[-1])
    number = re.search(r"(?<![0-9_.])[0-9_.]++$", claim.text)
    if unit is None or number is None:
        return _example_claim(check)
    large = unit[2] == "kW" and len(number[0]) > 3  # who writes 40000 means watts
    after = "" if unit[1] else "W" if large else unit[2]
    return f"{claim.text[: number.start()]}{unit[1]}{number[0]}{after}"


def _why_share_is_wrong(claim: ResolvedClaim, check: Check) -> tuple[str, str] | None:
    """Why a share of the network is compared with something else."""
    value = claim.value
    share = isinstance(value, (int, Fraction)) and not isinstance(value, bool)
    if share or (isinstance(value, Quantity) and value.dim == NONE):
        return None
    return (
        f"a share of the {claim.share_of} is a percentage",
        f"`{check.name} <= 30% of {claim.share_of}`",
    )


def _kind_of_figure(check: Check) -> str:
    """What a check's figure is, with its unit if it has one."""
    if check.unit and check.kind in ("number", "quantity"):
        return f"a number of {check.unit}" if check.kind == "number" else f"a {kind_name(check.dim)}"
    return ARTICLES[check.kind]


def _why_share_is_too_full(claim: ResolvedClaim, check: Check, value: int | Fraction) -> tuple[str, str]:
    """What a share of full is in percent, for who thought of a percentage."""
    full = integer_if_whole(value * 100)
    per_cent = f"{full:,}" if isinstance(full, int) else decimal_text(Fraction(value) * 100)
    also = ", or a rate," if check.in_rates else ","
    return (
        f"`{check.name}` is a share of full{also} and {decimal_text(Fraction(value))} is {per_cent}%",
        f"`{check.name} {claim.op} {decimal_text(Fraction(value))}%`",
    )


def _comparable_amount(value: object) -> Fraction | float:
    if isinstance(value, Quantity):
        return value.amount
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    if isinstance(value, float) and isinf(
        value
    ):  # the only float that a figure may be; Python compares it exactly
        return value
    raise TypeError(f"{value!r} is not an exact figure")


def judgement_for_claim(claim: ResolvedClaim, check: Check, judged: Judgement) -> Judgement:
    """The judgement of a figure turned into the answer to a claim about it."""
    if judged.status == "skipped":
        return (
            replace(judged, status="refuted", judged=judged.of)
            if judged.faults and not claim.report
            else judged
        )
    if check.kind == "yes_no" or not claim.op or judged.lower is None or judged.upper is None:
        return judged
    judged_as = judgement_in_claim_unit(claim, check, judged)
    verdict = verdict_of_bounds(claim.op, judged_as.lower, judged_as.upper, claim.value)
    by_formula = verdict == "proved" and (judged.status == "modelled" or judged.estimated or check.by_formula)
    unmet = verdict == "refuted" and (check.by_model or judged.estimated)
    judged = replace(judged, status="modelled" if by_formula or unmet else verdict, satisfied=not unmet)
    judged = replace(judged, text=f"not satisfied: {judged.text}") if unmet else judged
    return _judgement_in_rates(claim, judged) if _is_rate_claim(claim, check) else judged


def _is_rate_claim(claim: ResolvedClaim, check: Check) -> bool:
    """Whether a share is asked for as a rate."""
    return check.in_rates and isinstance(claim.value, Quantity) and claim.value.dim == RATE


def judgement_in_claim_unit(claim: ResolvedClaim, check: Check, judged: Judgement) -> Judgement:
    """The judgement with its bounds in what the claim is written in: a fraction in bit/s, where a rate is
    asked."""
    if not _is_rate_claim(claim, check) or judged.lower is None:
        return judged
    lower, upper = (Fraction(judged.measures[end]) for end in ("lower_bps", "upper_bps"))
    return replace(judged, value=lower, lower=lower, upper=upper)


PERCENT = re.compile(r"(?:between [\d.]++% and )?(?<![\d.])[\d.]++%")
"""The figure with which the text of a share begins."""


def _judgement_in_rates(claim: ResolvedClaim, judged: Judgement) -> Judgement:
    """A judgement whose text answers in bit/s, or in bytes where the claim does, with the share of the
    injection behind; and whose help says what can be asked at most, where more is asked than the ports
    carry."""
    lower, upper = (Fraction(judged.measures[end]) for end in ("lower_bps", "upper_bps"))
    in_bytes = claim.text.endswith("B/s")
    low, high = (_rate_text(x, in_bytes) for x in (lower, upper))
    figure = low if lower == upper else f"between {low} and {high}"
    share = PERCENT.sub(lambda found: f"{found[0]} of injection", judged.text, count=1)
    asked = _rate_text(claim.value.amount, in_bytes) if isinstance(claim.value, Quantity) else ""
    said = (
        figure
        if judged.status == "proved"
        else f"{asked} asked, {figure} {'proved' if lower == upper else 'known'}"
    )
    judged = replace(judged, text=f"{said} ({share})" if share else said)
    if judged.upper is None or not _comparable_amount(judged.upper) or claim.op not in (">", ">=", "=="):
        return judged
    full = upper / Fraction(_comparable_amount(judged.upper))
    if _comparable_amount(claim.value) <= full:
        return judged
    most = _rate_text(full, in_bytes)
    return replace(
        judged, help=f"the ports carry {most} at most: ask for `{most}`, or add ports or faster ones"
    )


def _rate_text(bps: Fraction, in_bytes: bool) -> str:
    return byte_rate_text(bps) if in_bytes else quantity_text(Quantity(bps, RATE))


def verdict_of_bounds(op: str, lower: Value, upper: Value, asked: object) -> Verdict:
    """Whether every figure between the bounds satisfies the comparison, none does, or it stays open."""
    low, high, wanted = _comparable_amount(lower), _comparable_amount(upper), _comparable_amount(asked)
    if op in ("<", "<="):
        return _verdict_of_comparison(
            high < wanted or (op == "<=" and high == wanted), low > wanted or (op == "<" and low == wanted)
        )
    if op in (">", ">="):
        return _verdict_of_comparison(
            low > wanted or (op == ">=" and low == wanted), high < wanted or (op == ">" and high == wanted)
        )
    same, apart = low == high == wanted, wanted < low or wanted > high
    return _verdict_of_comparison(same, apart) if op == "==" else _verdict_of_comparison(apart, same)


def _verdict_of_comparison(always: bool, never: bool) -> Verdict:
    return "proved" if always else "refuted" if never else "bounded"


def index_of_worst_judgement(
    op: str, asked: object, judgements: list[Judgement], scarce: bool = False
) -> int:
    """Which of several judged elements speaks for all: a refuted one first, then an open one, then the
    nearest to the limit. Without a limit the greatest figure speaks, or the least of what is ``scarce``."""
    rank = {"refuted": 0, "skipped": 1, "bounded": 2, "modelled": 3, "proved": 4}

    def key(at: int) -> tuple[int, Fraction | float]:
        j = judgements[at]
        if j.value is None or j.lower is None or j.upper is None or isinstance(j.value, bool):
            return rank[j.status], 0
        verdict = verdict_of_bounds(op, j.lower, j.upper, asked) if op else j.status
        low, high = _comparable_amount(j.lower), _comparable_amount(j.upper)
        wanted = _comparable_amount(asked) if op else low
        if op in ("==", "!="):
            return rank[verdict], min(low - wanted, wanted - low)
        return rank[verdict], low if op.startswith(">") or (scarce and not op) else -high

    return min(range(len(judgements)), key=key)
