"""Requirements that are misspelt, in words of other tools, or the wrong way round: how they are written."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tdsl.fabric.claims import ResolvedClaim
from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.system.similar import closest_name
from tdsl.verify.check import Check

CUTOFF = 0.7
"""How like a metric a word is, at least, that is taken for it: `hosts` and `cost` have 0.67."""
MEANT = {
    **dict.fromkeys(
        ("non_blocking", "nonblocking", "blocking", "blocking_factor", "contention", "oversub"),
        "oversubscription <= 1:1",
    ),
    **dict.fromkeys(
        ("cross_section", "full_bisection", "bisection_bandwidth", "full_bandwidth"), "bisection >= 100%"
    ),
    **dict.fromkeys(
        (
            "ecmp",
            "redundancy",
            "paths",
            "multipath",
            "link_redundancy",
            "edge_disjoint_paths",
            "disjoint_paths",
            "min_cut",
        ),
        "edge_redundancy >= 2",
    ),
    **dict.fromkeys(
        ("spof", "no_spof", "single_point_of_failure", "switch_redundancy"), "node_redundancy >= 2"
    ),
    **dict.fromkeys(("hops", "hop_count", "max_hops"), "diameter <= 4"),
    **dict.fromkeys(("training", "training_time", "time_to_train"), "days of JOB over 1T tokens"),
    **dict.fromkeys(("uptime", "sla"), "availability >= 99.9%"),
    **dict.fromkeys(("connected", "connectivity", "reachable"), "reachability"),
    **dict.fromkeys(("rails", "rail", "rail_optimized", "rail_optimised", "rail_aligned"), "rail_alignment"),
    **dict.fromkeys(("planes", "plane"), "plane_isolation"),
    **dict.fromkeys(("delay", "rtt"), "latency <= 2us"),
    **dict.fromkeys(("price", "capex", "budget"), "cost <= $12M"),
    **dict.fromkeys(
        ("watts", "consumption", "total_power", "power_total", "max_power", "it_power"), "power <= 44kW"
    ),
    **dict.fromkeys(("fault_tolerance", "failures", "resilience"), "survives any 1 of SWITCHES"),
}
"""Words that people use for a requirement, in small letters, and how it is written."""
FILLERS = (
    "number",
    "count",
    "amount",
    "total",
    "all",
    "no",
    "full",
    "max",
    "mean",
    "average",
    "avg",
    "median",
    "worst",
    "min",
    "that",
    "the",
    "a",
    "every",
)
"""Words before a requirement that are no part of it."""
DECLARED = frozenset({"hosts", "nodes", "gpus", "accelerators", "servers", "endpoints"})
"""Words for what a design declares, which no requirement counts."""
GOOD_BY_NAME_OF_BAD = {
    "isolated": "no device is without a link",
    "name_collision": "no two devices have one name",
    "address_overlap": "no address is given twice",
}
"""Requirements that are named after the fault that they exclude, and when they hold."""
NEARLY_SAME = 0.9
"""Difflib's ratio from which on a word is a metric that is misspelt, whatever it may mean else."""
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NUMBERS = re.compile(r"\d(?:[\d_.]*\d)?")
_FILLED_IN = re.compile(r"…|\bJOB\b|\b[A-Z]{1}\b|\b[A-Z]{4,}\b|matrix\.csv")
"""Words of an example that somebody has to replace."""


def _help_for_negation(text: str, known: Mapping[str, Check]) -> str:
    """What to write for a requirement that begins with `not`."""
    after = text.split(" ")[1:2]
    if after and after[0] in GOOD_BY_NAME_OF_BAD:
        return f"write `{after[0]}`: it holds where {GOOD_BY_NAME_OF_BAD[after[0]]}"
    return _opposite_claim(text, known) or "a requirement has no `not`: write the opposite comparison"


def help_for_unknown_metric(claim: ResolvedClaim, known: Mapping[str, Check]) -> str:
    """What to write for a requirement whose first word is no metric."""
    metric, text = claim.metric, claim.text
    if metric == "not":
        return _help_for_negation(text, known)
    phrase = "_".join(re.findall(r"[A-Za-z_]+", text))
    whole = next((k for k in MEANT if "_" in k and phrase.startswith(k)), "")
    if whole:
        return f"write `{_with_comparison_of(text, MEANT[whole], known)}`"
    reordered = _reordered_claim(metric, text, known)
    if reordered:
        return reordered
    if metric.lower() not in (*MEANT, *FILLERS) and closest_name(metric, known, NEARLY_SAME):
        return _help_by_nearest_metric(metric, text, known)
    said = [metric, *re.findall(r"[A-Za-z_]+", text)[1:]] if metric in FILLERS else [metric]
    for word in (*(k for k in MEANT if len(k) > 8 and k in phrase), *said):
        meant = MEANT.get(word.lower()) or (word if word in known and word != metric else "")
        if meant:
            return f"write `{_with_comparison_of(text, meant, known)}`"
    if metric.lower() in DECLARED:
        return (
            f"the design declares how many there are, and no requirement counts them; bound a parameter: "
            f"`param {metric.lower()}: int = 16 where {metric.lower()} <= 32`"
        )
    return _help_by_nearest_metric(metric, text, known)


def _help_by_nearest_metric(metric: str, text: str, known: Mapping[str, Check]) -> str:
    """What to write for a word that may be misspelt; all metrics where it is like none."""
    near = closest_name(metric, known, CUTOFF)
    if not near or metric in ("all", "no"):
        parts = set(metric.lower().split("_"))
        akin = sorted(name for name in known if parts & set(name.split("_")))
        return f"metrics like it: {', '.join(akin)}" if akin else f"metrics: {', '.join(sorted(known))}"
    if known[near].kind == "yes_no":
        return f"did you mean `{near}`?"
    rest = text.removeprefix(metric)
    return (
        f"did you mean `{near}`? Write `{near}{rest}`" if rest and rest != text else f"did you mean `{near}`?"
    )


def _reordered_claim(metric: str, text: str, known: Mapping[str, Check]) -> str:
    """The help for ``edge redundancy >= 8``, ``max oversubscription 1:1`` and ``and and reachability``, ""
    for others."""
    words = text.split(" ")
    three = "_".join(words[:3])
    if len(words) > 2 and three in known:
        return f"write `{' '.join([three, *words[3:]])}`"
    joined = f"{metric}_{words[1]}" if len(words) > 1 else ""
    if words[1:2] == ["per"] and f"{words[2]}_{metric}" in known:
        return f"write `{' '.join([f'{words[2]}_{metric}', *words[3:]])}`"
    if joined in known:
        return f"write `{' '.join([joined, *words[2:]])}`"
    if metric in FILLERS and metric not in known and words[1:2] and words[1] in known and len(words) < 3:
        return f"write `{words[1]}`"
    bound = re.fullmatch(r"(max|min|maximum|minimum) (\w+) (\S+)", text)
    if bound is not None and bound[2] in known:
        return f"write `{bound[2]} {'<=' if bound[1].startswith('ma') else '>='} {bound[3]}`"
    return f"remove `{metric}`: one `and` joins two requirements" if metric in ("and", "or", "with") else ""


def _opposite_claim(text: str, known: Mapping[str, Check]) -> str:
    """The claim that `not CLAIM` asks for, "" where it has no comparison."""
    found = re.fullmatch(r"not (\w++)(.*?) (<=|>=|==|!=|<|>) (.+)", text)
    if found is None or found[1] not in known:
        return ""
    return f"write `{found[1]}{found[2]} {OPPOSITE[found[3]]} {found[4]}`"


def _with_comparison_of(text: str, meant: str, known: Mapping[str, Check]) -> str:
    """A claim with the comparison of the one that was written, where it has one of that kind."""
    compared = re.search(r" (<=|>=|==|!=|<|>) (.+)$", text)
    name = meant.partition(" ")[0]
    bare = re.fullmatch(r"\w++ (\d[\w.:%]*+)", text)
    sign = re.search(r" (<=|>=) ", meant)
    if compared is None and bare is not None and sign is not None:  # `redundancy 6`
        return _with_comparison_of(f"x {sign[1]} {bare[1]}", meant, known)
    check = known.get(name)
    if check is None or compared is None or check.kind == "yes_no":
        return meant
    ratio, share = ":" in compared[2], compared[2].endswith("%")
    fits = {
        "ratio": ratio,
        "fraction": share,
        "number": compared[2].isdigit(),
        "quantity": not (ratio or share),
    }[check.kind]
    return f"{name} {compared[1]} {compared[2]}" if fits else meant


def claim_with_any(text: str) -> str:
    """``survives 2 link failures`` and ``survives one of spine`` with the `any` that they lack, "" where
    something else is wrong."""
    found = re.fullmatch(
        r"survives (?:any[a-z]+ |(?:loss|failure) of )?(\d++|one|two|three|a|single|)"
        r"(?: of)? ?([a-z_]\w*+)"
        r"(?: failures?| failing| fails?| loss| lost| down)?( of (?!all)[^<>=]+?)?( with .+)?",
        text,
    )
    if found is None or found[2] in ("of", "any"):
        return ""
    count = {"one": "1", "two": "2", "three": "3", "a": "1", "single": "1", "": "1"}.get(found[1], found[1])
    what = f"{found[2].removesuffix('s')}s"
    counted = what in ("links", "cables", "cages", "ports", "bundles")
    if found[3] and not counted:
        return ""
    fails = f"{what}{found[3] or ' of …'}" if counted else f"of {found[2]}"
    return f"survives any {count} {fails}{found[4] or ''}"


def _devices_of_example_only(example: str, written: str) -> set[str]:
    """The devices of an example that a claim does not name: a design may call its own otherwise."""
    return set(re.findall(r"\b(?:spine|leaf|node|tor)\b", example)) - set(re.findall(r"\w+", written))


def fix_for_claim(span: SourceSpan, help: str, known: Mapping[str, Check]) -> Fix | None:
    """The edit that a help line such as "write `bisection >= 50%`" describes; None where it leaves something
    open."""
    quoted = [q for q in re.findall(r"`([^`]+)`", help) if q.split()[0] in known]
    compared = quoted and known[quoted[-1].split()[0]].kind != "yes_no"
    if compared and set(_NUMBERS.findall(span.text)) - set(_NUMBERS.findall(quoted[-1])):
        return None
    if (
        not quoted
        or (" with " in span.text and " with " not in quoted[-1])
        or _FILLED_IN.search(quoted[-1])
        or _devices_of_example_only(quoted[-1], span.text)
        or ", or " in help
        or help.startswith(("metrics", "it takes", "the design"))
    ):
        return None
    return Fix(f"write `{quoted[-1]}`", ((span, quoted[-1]),), safe=False)


def reversed_claim(claim: ResolvedClaim, check: Check) -> str:
    """The comparison that is meant by one that a worse network satisfies, too, such as
    `oversubscription >= 1:1`; "" where it may be meant as it is."""
    wrong = "<" if check.scarce else ">" if check.less_is_better else ""
    plain = claim.op[:1] == wrong and claim.given is None and not claim.report
    return MIRROR[claim.op] if wrong and plain else ""
