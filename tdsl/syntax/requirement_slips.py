"""Slips in requirements: comparisons the wrong way round, in words, or without their sign."""

from __future__ import annotations

import re

from tdsl.findings.diagnostic import Diagnostic, Fix
from tdsl.findings.source import SourceSpan
from tdsl.syntax.declaration_slips import is_in_settings
from tdsl.syntax.repairs import is_whole
from tdsl.syntax.scanner import Token
from tdsl.syntax.scene import VALUES, Scene, rewriting_finding

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
LESS_IS_BETTER = frozenset(
    ("diameter", "mean_hops", "blast_radius", "links", "cables", "switches", "ports", "loss_budget")
)
"""Metrics that are numbers and bounded from above as a rule."""
WORDS = {
    ("at", "least"): ">=",
    ("at", "most"): "<=",
    ("more", "than"): ">",
    ("less", "than"): "<",
    ("greater", "than"): ">",
    ("is",): "==",
    ("equals",): "==",
    ("equal", "to"): "==",
    ("up", "to"): "<=",
    ("min",): ">=",
    ("max",): "<=",
    ("minimum",): ">=",
    ("maximum",): "<=",
    ("below",): "<",
    ("above",): ">",
    ("gte",): ">=",
    ("ge",): ">=",
    ("lte",): "<=",
    ("le",): "<=",
    ("gt",): ">",
    ("lt",): "<",
    ("eq",): "==",
}
"""Comparisons in words, and their signs."""


def _claim_from(s: Scene) -> list[Token]:
    """The tokens of the claim that begins at the fault."""
    out: list[Token] = []
    for token in s.rest:
        if token.text in ("and", "with") and out:
            break
        out.append(token)
    return out


def _reversed_comparison(s: Scene) -> Diagnostic | None:
    """``require 8 <= edge_redundancy``."""
    if s.first not in ("require", "report") or s.before is None or s.before.text not in (s.first, "and"):
        return None
    claim = _claim_from(s)
    signs = [i for i, t in enumerate(claim) if t.text in MIRRORED]
    if not claim or claim[0].type not in VALUES or len(signs) != 1 or signs[0] + 1 >= len(claim):
        return None
    value, sign, rest = claim[: signs[0]], claim[signs[0]], claim[signs[0] + 1 :]
    if rest[0].type != "NAME":
        return None
    text = s.run.file.text
    value_text = text[value[0].start : value[-1].end]
    new = f"{text[rest[0].start : rest[-1].end]} {MIRRORED[sign.text]} {value_text}"
    whole = SourceSpan(s.run.file, claim[0].start, claim[-1].end)
    return rewriting_finding(
        f"a requirement begins with a metric, not with the value `{value_text}`", whole, whole, new, safe=True
    )


def _swapped_sign(s: Scene) -> Diagnostic | None:
    """``edge_redundancy => 8`` and ``=< 8``."""
    t, following = s.token, s.rest[1:2]
    if t is None or t.type != "EQUAL" or not following or following[0].start != t.end:
        return None
    new = {">": ">=", "<": "<="}.get(following[0].text)
    if new is None or "CMP" not in s.expected:
        return None
    both = t.span.to(following[0].span)
    return rewriting_finding(f"`{both.text}` is not an operator of the language", both, both, new, safe=True)


def _comparison_in_words(s: Scene) -> Diagnostic | None:
    """``edge_redundancy at least 8``."""
    if s.first not in ("require", "report") or s.token is None:
        return None
    tokens = [*s.statement, *s.rest]
    for i in range(2, len(tokens)):
        for words, sign in WORDS.items():
            here = tokens[i : i + len(words)]
            if tuple(t.text for t in here) != words or i + len(words) >= len(tokens):
                continue
            value = tokens[i + len(words)]
            if value.type not in VALUES or value.start > s.token.start:
                continue
            span = here[0].span.to(here[-1].span)
            return rewriting_finding(
                f"`{span.text}` does not compare; `{sign}` does", span, span, sign, safe=True
            )
    return None


def _colon_in_requirement(s: Scene) -> Diagnostic | None:
    """``edge_redundancy: 8``."""
    t, b, following = s.token, s.before, s.rest[1:2]
    if t is None or b is None or t.type != "COLON" or s.first not in ("require", "report"):
        return None
    if len(s.statement) < 2 or b.type != "NAME" or not following or following[0].type not in VALUES:
        return None
    whole = b.span.to(following[0].span)
    value = following[0].text
    finding = rewriting_finding(
        "a requirement compares with `>=`, `<=` or `==`, not with `:`",
        t.span,
        SourceSpan(s.run.file, b.end, following[0].end),
        f" == {value}",
        safe=False,
    )
    return Diagnostic(
        "E0001",
        finding.message,
        whole,
        help=f"write `{b.text} == {value}`, or `>=` for at least and `<=` for at most",
        fix=Fix(f"write `{b.text} == {value}`", finding.fix.edits if finding.fix else (), safe=False),
    )


def _words_of_statement(s: Scene) -> set[str]:
    """The words of the statement before the fault."""
    return {t.text for t in s.statement}


def _money_after_number(s: Scene) -> Diagnostic | None:
    """``cost <= 2M USD`` and ``2 million USD``."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "NAME" or b.type not in ("NUMBER", "QUANTITY"):
        return None
    if (
        t.text.lower() in ("million", "mio", "mln")
        and b.type == "NUMBER"
        and "cost" in _words_of_statement(s)
    ):
        return rewriting_finding(
            "millions are written `M`", t.span, b.span.to(t.span), f"${b.text}M", safe=True
        )
    if t.text.lower() not in ("usd", "dollar", "dollars"):
        return None
    return rewriting_finding(
        f"an amount of money begins with `$`, and `{t.text}` does not follow it",
        t.span,
        b.span.to(t.span),
        f"${b.text}",
        safe=True,
    )


def _setting_compared(s: Scene) -> Diagnostic | None:
    """``oversubscription <= 1:1`` as a setting, without ``require``."""
    t, following = s.token, s.rest[1:2]
    if t is None or t.type != "CMP" or len(s.statement) != 1 or s.statement[0].type != "NAME":
        return None
    if not following or following[0].type not in VALUES:
        return None
    name, value = s.first, following[0].text
    whole = s.statement[0].span.to(following[0].span)
    return Diagnostic(
        "E0001",
        f"`{name}` is a setting here, which has a value and no comparison"
        if is_in_settings(s)
        else f"`require` is missing before `{name}`",
        t.span,
        help=f"write `{name} {value}`, or `require {name} {t.text} {value}` for a requirement of the fabric"
        if is_in_settings(s)
        else f"write `require {name} {t.text} {value}`",
        fix=Fix(f"write `{name} {value}`", ((whole, f"{name} {value}"),), safe=False)
        if is_in_settings(s)
        else None,
    )


def _sign_before_clause(before: list[Token], behind: list[Token]) -> int:
    """Where the sign of the comparison is that ends before a clause or an argument; 0 where none does."""
    argument = behind[:1] != [] and behind[0].text in ("typical", "per_feed", "feed_lost", "in_service")
    if not argument and [x.type for x in behind[1:2]] != ["NAME"]:
        return 0  # `2 to 1` is a ratio
    if not (argument or behind[0].text in ("at", "of", "to", "among", "through", "under")):
        return 0
    sign = next((k for k in range(len(before) - 1, 0, -1) if before[k].type == "CMP"), 0)
    return 0 if any(x.text in ("and", "with") for x in before[sign:]) else sign


def _clause_behind_comparison(s: Scene) -> Diagnostic | None:
    """``oversubscription <= 2:1 at leaf`` and ``links == 16 of leaf to spine``."""
    text, tokens, at = s.run.file.text, [*s.statement, *s.rest], len(s.statement)
    at -= s.before is not None and s.before.text == "of"  # `of active` may be there
    before, behind = tokens[:at], tokens[at:]
    sign = _sign_before_clause(before, behind) if s.first in ("require", "report") else 0
    if not sign:
        return None
    end = next((k for k, x in enumerate(behind) if x.text in ("and", "with")), len(behind))
    clause = SourceSpan(s.run.file, behind[0].start, behind[end - 1].end)
    compared = SourceSpan(s.run.file, before[sign].start, before[-1].end)
    whole = compared.to(clause)
    new = f"{clause.text} {compared.text}"
    begin, last = tokens[0].start, tokens[-1].end
    if "\n" in whole.text or not is_whole(s, text[begin : whole.start] + new + text[whole.end : last]):
        return None
    return rewriting_finding(f"`{clause.text}` comes before the comparison", clause, whole, new)


def _requirement_in_brackets(s: Scene) -> Diagnostic | None:
    """``require (reachability)`` and ``require { reachability }``."""
    t = s.token
    if t is None or s.first not in ("require", "report") or len(s.statement) != 1:
        return None
    if t.type == "LBRACE" and s.rest[-1].type != "RBRACE":
        message = f"a `{s.first}` has no braces around it, and `and` joins several"
        return Diagnostic("E0001", message, t.span, help=f"write `{s.first} … and …`, without braces")
    closing = {"LPAR": "RPAR", "LBRACE": "RBRACE"}.get(t.type)
    last = s.rest[-1] if s.rest else None
    if closing is None or last is None or last.type != closing or len(s.rest) < 3:
        return None
    whole = t.span.to(last.span)
    inner = whole.text[1:-1].strip()
    if "\n" in inner:
        return None
    return rewriting_finding(f"a `{s.first}` has no brackets around it", whole, whole, inner, safe=True)


def _arguments_in_brackets(s: Scene) -> Diagnostic | None:
    """``edge_redundancy(leaf) >= 8``."""
    t, b = s.token, s.before
    if t is None or b is None or s.first not in ("require", "report") or t.type != "LPAR" or b.end != t.start:
        return None
    inner: list[Token] = []
    for x in s.rest[1:]:
        if x.type == "RPAR":
            whole = SourceSpan(s.run.file, b.start, x.end)
            if len(inner) == 1 and inner[0].type == "QUANTITY":
                new = f"{b.text} {inner[0].text}"
                return rewriting_finding("a size follows the metric, without brackets", whole, whole, new)
            text = SourceSpan(s.run.file, inner[0].start, inner[-1].end).text if inner else ""
            new = f"{b.text} of {text.replace(',', ' to')}" if text else b.text
            if b.text in ("max", "min", "avg", "average", "mean", "sum", "total", "count", "abs") and text:
                return rewriting_finding("a requirement has no functions around it", whole, whole, text)
            message = "what a requirement is about follows `of`, without brackets"
            return rewriting_finding(message, whole, whole, new, safe=False)
        inner.append(x)
    return None


def _split_sign(s: Scene) -> Diagnostic | None:
    """``> = 8``."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "EQUAL" or b.text not in ("<", ">", "=", "!"):
        return None
    both = b.span.to(t.span)
    return rewriting_finding("a comparison is one sign, without a space", both, both, f"{b.text}=", safe=True)


def _missing_with(s: Scene) -> Diagnostic | None:
    """``survives any 1 of spine bisection >= 20%``."""
    t, following = s.token, s.rest[1:2]
    if t is None or s.first != "require" or t.type != "NAME" or not following:
        return None
    compared = any(x.type == "CMP" for x in s.rest) and "WITH" in s.expected and s.before is not None
    compared = compared and (following[0].type == "CMP" or following[0].text in ("of", "at", "through"))
    if not compared or not any(x.text == "any" for x in s.statement):
        return None
    at = SourceSpan(s.run.file, t.start, t.start)
    return Diagnostic(
        "E0001",
        f"what must hold after the failures follows `with`, found `{t.text}`",
        t.span,
        help=f"write `with {t.text}`",
        fix=Fix(f"put `with` before `{t.text}`", ((at, "with "),)),
    )


_KEPT = frozenset(("then", "keeps", "keep", "keeping", "still", "has", "having", "leaves", "leaving"))
"""Words for what must hold after failures."""


def _other_word_for_with(s: Scene) -> Diagnostic | None:
    """``survives any 1 of spine then bisection >= 20%``."""
    t, following = s.token, s.rest[1:3]
    if t is None or s.first != "require" or t.text not in _KEPT or len(following) < 2:
        return None
    if "WITH" not in s.expected or following[0].type != "NAME" or s.statement[1].text != "survives":
        return None
    message = f"what must hold after the failures follows `with`, found `{t.text}`"
    return rewriting_finding(message, t.span, t.span, "with", safe=False)


_UNDER_FAILURE = re.compile(
    r"(?P<claim>[^\n;#]{1,200}?)[ \t]++(?:when|if|after|under|despite)[ \t]++"
    r"(?:any[ \t]++)?(?:(?P<count>\d++)[ \t]++)?(?:(?:of|one|a|an)[ \t]++){0,2}"
    r"(?P<set>\w[\w.\[\]*]*+)[ \t]++(?:fails?|failed|failures?|"
    r"(?:is|are|goes|go)[ \t]++(?:down|lost|out|dead)|down|lost|dies|die)[ \t]*+(?=[;#\n]|$)"
)


def _claim_under_failure(s: Scene) -> Diagnostic | None:
    """``bisection >= 40% when spine[0] fails``."""
    t = s.token
    if t is None or s.first != "require" or len(s.statement) < 2:
        return None
    begin = s.statement[1].start
    found = _UNDER_FAILURE.match(s.run.file.text, begin)
    if found is None or not found.start() < t.start < found.end():
        return None
    new = f"survives any {found['count'] or 1} of {found['set']} with {found['claim']}"
    whole = SourceSpan(s.run.file, begin, found.end())
    return rewriting_finding(
        "what must hold after failures follows `survives … with`", whole, whole, new, safe=False
    )


def _second_with(s: Scene) -> Diagnostic | None:
    """``survives any 1 of spine with allreduce 1GB <= 70ms with in_network``."""
    words = s.statement
    if s.token is None or s.token.text != "with" or s.first not in ("require", "report"):
        return None
    at = max((i for i, x in enumerate(words) if x.text in ("with", "and")), default=0)
    if words[at].text != "with" or at + 1 >= len(words):
        return None
    alone = SourceSpan(s.run.file, words[at + 1].start, s.rest[-1].end).text
    help = f"write `{s.first} {alone}`, and check it with `--fail ELEMENT`"
    return Diagnostic("E0001", "a requirement has one `with`", s.token.span, help=help)


def _sets_in_brackets(s: Scene) -> Diagnostic | None:
    """``allreduce 1GB among [a, b]``."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "LSQB" or b.text not in ("among", "of", "at", "to"):
        return None
    if s.first not in ("require", "report"):
        return None
    depth = 0
    for x in s.rest:
        depth += (x.type == "LSQB") - (x.type == "RSQB")
        if not depth:
            whole = t.span.to(x.span)
            inner = whole.text[1:-1].strip()
            message = f"what follows `{b.text}` has no brackets around it"
            return rewriting_finding(message, whole, whole, inner, safe=True) if inner else None
    return None


def _of_before_amount(s: Scene) -> Diagnostic | None:
    """``allreduce of 1GB <= 10ms`` and ``oversubscription of 1:1``."""
    t, b = s.token, s.before
    if t is None or b is None or s.first not in ("require", "report") or b.text != "of":
        return None
    if len(s.statement) != 3:
        return None
    both = b.span.to(t.span)
    if t.type in ("RATIO", "PERCENT", "NUMBER"):
        sign = "<=" if t.type == "RATIO" or s.statement[1].text in LESS_IS_BETTER else ">="
        return rewriting_finding("a requirement compares", b.span, both, f"{sign} {t.text}", safe=False)
    if t.type != "QUANTITY":
        return None
    return rewriting_finding(
        f"an amount follows the metric, without `{b.text}`", b.span, both, t.text, safe=True
    )


def _hyphen_in_metric(s: Scene) -> Diagnostic | None:
    """``require edge-redundancy >= 8``."""
    t, b, following = s.token, s.before, s.rest[1:2]
    if t is None or b is None or t.type != "MINUS" or s.first not in ("require", "report") or not following:
        return None
    if b.type != "NAME" or following[0].type != "NAME" or len(s.statement) != 2:
        return None
    whole = b.span.to(following[0].span)
    return rewriting_finding("a name has no `-`", whole, whole, f"{b.text}_{following[0].text}", safe=True)


def _between_two(s: Scene) -> Diagnostic | None:
    """``oversubscription between 1:1 and 2:1``."""
    words, t = s.statement, s.token
    at = next((i for i, x in enumerate(words) if x.text == "between"), -1)
    if t is None or at < 1 or len(words) != at + 3 or words[-1].text != "and" or t.type not in VALUES:
        return None
    metric = SourceSpan(s.run.file, words[1].start, words[at - 1].end).text
    new = f"{metric} >= {words[at + 1].text} and {metric} <= {t.text}"
    whole = words[1].span.to(t.span)
    return rewriting_finding("two limits are two requirements", whole, whole, new, safe=True)


def _power_per_rack(s: Scene) -> Diagnostic | None:
    """``require power <= 80 kW per rack``."""
    if s.first not in ("require", "report"):
        return None
    found = _POWER_PER_RACK.match(s.run.file.text, s.statement[0].span.end)
    if found is None:
        return None
    whole = SourceSpan(s.run.file, found.start(1), found.end())
    new = f"rack_power {found[2]} {found[3]}{found[4]}"
    return rewriting_finding("the power of each rack is `rack_power`", whole, whole, new)


_POWER_PER_RACK = re.compile(
    r"[ \t]++(power)[ \t]*+(<=?|>=?)[ \t]*+(\d[\d.]*+)[ \t]*+(k?W)[ \t]*+(?:per|/)[ \t]*+rack\b"
)


def _spares_required(s: Scene) -> Diagnostic | None:
    """``require n+1 spine``."""
    if s.first != "require":
        return None
    found = _SPARES.match(s.run.file.text, s.statement[0].span.end)
    if found is None:
        return None
    whole = SourceSpan(s.run.file, found.start(1), found.end())
    new = f"survives any {found[2]} of {found[3]}"
    return rewriting_finding("what may fail is said with `survives`", whole, whole, new)


_SPARES = re.compile(
    r"[ \t]++([nN][ \t]?\+[ \t]?(\d{1,2})(?:[ \t]++of)?[ \t]++([a-z_]\w*+(?:\[[^\]\n]*+\])?))"
)


def _metric_behind_path(s: Scene) -> Diagnostic | None:
    """``require small.step_time <= 4s`` and ``require su[*].leaf.oversubscription <= 1:1``."""
    if s.first not in ("require", "report"):
        return None
    found = _PATH_AND_METRIC.match(s.run.file.text, s.statement[0].span.end)
    if found is None or not found.start() < s.span.start < found.end():
        return None
    whole = SourceSpan(s.run.file, found.start(1), found.end(2))
    new = f"{found[2]} of {found[1].removesuffix('.')}"
    message = f"what is asked, `{found[2]}`, comes first, and what it is asked of follows `of`"
    return rewriting_finding(message, whole, whole, new)


_PATH_AND_METRIC = re.compile(
    r"[ \t]++((?:[A-Za-z_]\w*+(?:\[[^\]\n]*+\])?\.)++)([a-z]++(?:_[a-z]++)++|mfu|days|cost|power|links"
    r"|ports|cables|taper|latency|diameter|bisection|switches|throughput|bandwidth|availability"
    r"|oversubscription)\b(?![.\[(])"
)
"""A path, and the name of a metric behind it, as other languages ask for a member."""
TRIALS = (
    _metric_behind_path,
    _power_per_rack,
    _spares_required,
    _clause_behind_comparison,
    _requirement_in_brackets,
    _arguments_in_brackets,
    _split_sign,
    _missing_with,
    _other_word_for_with,
    _claim_under_failure,
    _second_with,
    _sets_in_brackets,
    _of_before_amount,
    _hyphen_in_metric,
    _between_two,
    _reversed_comparison,
    _swapped_sign,
    _comparison_in_words,
    _colon_in_requirement,
    _money_after_number,
    _setting_compared,
)
