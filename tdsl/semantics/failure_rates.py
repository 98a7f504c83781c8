"""How often things fail and how long their repair takes: the facts `mtbf`, `fit`, `fails` and `repair` of
models, and the same settings of devices, connects and risk groups; and the ``risk`` groups of what fails
together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import Origin
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.paths import paths_in_one_fault
from tdsl.semantics.plan import Context, FabricPlan
from tdsl.semantics.quantity import FREQUENCY, HOUR, TIME, UNIT_TABLE, Quantity
from tdsl.semantics.scope import Scope
from tdsl.semantics.settings import require_plain_setting
from tdsl.semantics.values import BareWord
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.semantics.evaluate import Evaluator

FACTS = ("mtbf", "fit", "fails", "repair")
"""Words that say a rate of failures or a time of repair. The first three say the same in other units."""
EXAMPLES = {
    "mtbf": "mtbf 146year",
    "fit": "fit 780",
    "fails": "fails 0.057%/month",
    "repair": "repair 4h",
}
PERIODS = ("h", "day", "week", "month", "year")
"""What may stand behind the stroke of a rate without a number."""
FIT_HOURS = 10**9
"""One FIT is one failure in so many hours of service (IEC 61709)."""
RISK_SETTINGS = ("members", *FACTS)
RESERVED = ("feeds", "racks", "stated", "trays")
"""Kinds of risk groups, which therefore name no group."""
EXAMPLE = "the form is `risk feed_a { members spine[0], spine[2] }`"
_WRITTEN_RATE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,12})?)(%?) ?/ ?(h|day|week|month|year)")
_WRITTEN_TIME = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(min|h|day|week|month|year)")


@dataclass(frozen=True, slots=True)
class FailureRate:
    """Failures a second of one thing in service, and the seconds from a failure until it works again; None
    where neither the design nor the model says it."""

    per_second: Fraction | None = None
    repair: Fraction | None = None

    def filled_by(self, other: FailureRate) -> FailureRate:
        """This, and what it does not say as the other does."""
        rate = other.per_second if self.per_second is None else self.per_second
        return FailureRate(rate, other.repair if self.repair is None else self.repair)


@dataclass(frozen=True, slots=True)
class RiskStatement:
    """``risk NAME { members …; fails …; repair … }``: what fails together, with the rate of that."""

    name: str
    members: tuple[tree.PathExpr, ...]
    rate: FailureRate
    scope: Scope
    context: Context
    origin: Origin


def rate_from_settings(settings: Mapping[str, object]) -> FailureRate:
    """What facts of a model, or settings, say of failures."""
    fails, repair = settings.get("fails"), settings.get("repair")
    return FailureRate(
        fails.amount if isinstance(fails, Quantity) and fails.dim == FREQUENCY else None,
        repair.amount if isinstance(repair, Quantity) and repair.dim == TIME else None,
    )


def read_failure_setting(s: tree.Setting, scope: Scope, evaluator: Evaluator) -> tuple[str, Quantity]:
    """The rate of failures as ``fails``, or the time of ``repair``. Raises Fault for what is neither.

    ``mtbf T`` is a rate of 1/T; ``fit N`` of N failures in 10^9 hours (IEC 61709); ``fails 0.05%/month`` a
    share of what is in service, ``fails 419/54day`` a number in a time, ``fails never`` none.
    """
    name = s.name.name
    if name == "fails" and (meant := _rate_in_words(s.span.text)):
        fix = Fix(f"write `{meant}`", ((s.span, meant),), safe=False)
        message = "`fails` is failures in a time, joined by `/`, or `never`"
        raise Fault("E0103", s.span, message, help=f"write `{meant}`", fix=fix)
    require_plain_setting(s, EXAMPLES[name])
    if not s.items:
        raise Fault("E0120", s.span, f"`{name}` needs a value", help=f"write `{EXAMPLES[name]}`")
    written = s.items[0].value
    value: object = _rate_over_period(written, scope, evaluator) if name == "fails" else None
    if value is None:
        value = evaluator.evaluate(written, scope, words=True)
    amount = _amount_of_setting(name, value)
    if amount is None:
        what = {
            "mtbf": "one time above zero",
            "fit": "a number of failures in 10^9 hours",
            "fails": "failures in a time, or `never`",
            "repair": "one time, not negative",
        }[name]
        plain = name == "mtbf" and re.fullmatch(r"[\d_]+", s.items[0].span.text) is not None
        shown = f"mtbf {s.items[0].span.text}h`, or another unit" if plain else f"{EXAMPLES[name]}`"
        raise Fault("E0103", s.items[0].span, f"`{name}` is {what}", help=f"write `{shown}")
    return ("repair" if name == "repair" else "fails"), amount


def _rate_in_words(text: str) -> str:
    """``fails 1/5year`` of ``fails every 5 years`` and ``fails 2% per year``; "" of other texts."""
    found = re.fullmatch(r"fails (?:once )?every (\d*) ?(day|week|month|year)s?", text)
    if found is not None:
        return f"fails 1/{found[1] or 1}{found[2]}"
    found = re.fullmatch(
        r"fails (\d[\d.]*%?) ?(?:per|a|each|in|every) ?(?:1 )?(\d*) ?(day|week|month|year)s?", text
    )
    if found is not None:
        return f"fails {found[1]}/{found[2]}{found[3]}"
    return "fails never" if text == "fails 0" else ""


def _amount_of_setting(name: str, value: object) -> Quantity | None:
    """The value of one of ``FACTS`` as a rate, or of ``repair`` as a time; None where it is none."""
    if name == "fails" and isinstance(value, BareWord) and value == "never":
        return Quantity(Fraction(0), FREQUENCY)
    if isinstance(value, bool):
        return None
    if name == "fit":
        rate = _rate_of_fit(value)
        return None if rate is None else Quantity(rate, FREQUENCY)
    if not isinstance(value, Quantity) or value.amount < 0:
        return None
    if name == "mtbf":
        return Quantity(1 / value.amount, FREQUENCY) if value.dim == TIME and value.amount else None
    return value if value.dim == (TIME if name == "repair" else FREQUENCY) else None


def _rate_of_fit(value: object) -> Fraction | None:
    """Failures a second of a number of failures in 10^9 hours, None where it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)) or value < 0:
        return None
    return Fraction(value) / (FIT_HOURS * HOUR)


def _rate_over_period(e: tree.Expr, scope: Scope, evaluator: Evaluator) -> Quantity | None:
    """``0.057%/month``: a number over a period named without one. None for any other expression."""
    if not isinstance(e, tree.Chain) or len(e.rest) != 1 or e.rest[0][0] != "/":
        return None
    period = e.rest[0][1]
    word = period.bare if isinstance(period, tree.PathExpr) else None
    if word not in PERIODS or scope.find(word, period.span) is not None:
        return None
    number = evaluator.evaluate(e.first, scope)
    if isinstance(number, bool) or not isinstance(number, (int, Fraction)):
        return None
    return Quantity(Fraction(number) / UNIT_TABLE[word][0], FREQUENCY)


def enter_failure_setting(
    s: tree.Setting, scope: Scope, evaluator: Evaluator, into: dict[str, object]
) -> None:
    """Put what a setting says of failures where ``rate_from_settings`` finds it. Raises Fault for what is
    neither a rate nor a time, and for a rate that is stated twice."""
    key, amount = read_failure_setting(s, scope, evaluator)
    if key in into:
        message = f"`{key}` is set twice" if s.name.name == key else "a rate of failures is stated already"
        raise Fault("E0104", s.span, message, help="state it once, as `mtbf`, `fit` or `fails`")
    into[key] = amount


def written_rate(text: str) -> Fraction | None:
    """``0.051%/month`` in failures a second; None for anything else."""
    found = _WRITTEN_RATE.fullmatch(text.strip())
    if found is None:
        return None
    return Fraction(found[1]) / (100 if found[2] else 1) / UNIT_TABLE[found[3]][0]


def written_time(text: str) -> Fraction | None:
    """``4h`` in seconds; None for anything else."""
    found = _WRITTEN_TIME.fullmatch(text.strip())
    return None if found is None else Fraction(found[1]) * UNIT_TABLE[found[2]][0]


def written_failure_fact(name: str, value: object) -> Fraction | None:
    """The value of one of ``FACTS`` as a file states it: failures a second, or seconds; None for anything
    else."""
    if name == "fit":
        return _rate_of_fit(value)
    if not isinstance(value, str):
        return None
    if name == "fails":
        return Fraction(0) if value.strip() == "never" else written_rate(value)
    time = written_time(value)
    if name == "mtbf":
        return 1 / time if time else None
    return time


def exact_rate_text(settings: Mapping[str, object]) -> list[str]:
    """Rate and time of repair as settings that can be written into a design, exactly."""
    rate = rate_from_settings(settings)
    out = []
    if rate.per_second is not None:
        p = rate.per_second
        out.append(f"fails {p.numerator}/{p.denominator}s" if p else "fails never")
    if rate.repair is not None:
        r = rate.repair
        out.append(
            f"repair {r.numerator}s" if r.denominator == 1 else f"repair 1s*{r.numerator}/{r.denominator}"
        )
    return out


def plan_risk_group(
    plan: FabricPlan, s: tree.Setting, scope: Scope, context: Context, origin: Origin
) -> None:
    """``risk NAME { members PATH, …; fails RATE; repair TIME }``. Raises Fault for what has no meaning."""
    name, body = _name_and_body_of_risk(s)
    members: list[tree.PathExpr] = []
    said: dict[str, object] = {}
    for inner in body:
        if isinstance(inner, tree.Broken):
            raise Excused
        if not isinstance(inner, tree.Setting):
            raise Fault("E0118", inner.span, "the braces of a risk group hold its members", help=EXAMPLE)
        word = inner.name.name
        if word == "members":
            members += _member_paths(inner)
        elif word in FACTS:
            enter_failure_setting(inner, scope, plan.evaluator, said)
        else:
            raise unknown_name_fault("E0118", inner.name.span, "setting of a risk group", word, RISK_SETTINGS)
    if not members:
        raise Fault("E0120", s.span, f"risk group `{name}` has no members", help=EXAMPLE)
    for other in plan.risks:
        if other.name == name and other.context.parts == context.parts:
            where = [(other.origin.span, "first here")]
            raise Fault("E0104", s.span, f"risk group `{name}` is stated twice", labels=where)
    plan.risks.append(RiskStatement(name, tuple(members), rate_from_settings(said), scope, context, origin))


def _name_and_body_of_risk(s: tree.Setting) -> tuple[str, tuple[tree.Stmt, ...]]:
    """The name of a risk group and what is between its braces. Raises Fault where it lacks one of them."""
    item = s.items[0] if len(s.items) == 1 and not s.items[0].args else None
    name = item.value.bare if item is not None and isinstance(item.value, tree.PathExpr) else None
    if item is not None and re.fullmatch(r"[A-Za-z]\w*(?:-\w+)+", item.span.text):
        new = item.span.text.replace("-", "_")
        fix = Fix(f"write `{new}`", ((item.span, new),), safe=False)
        raise Fault("E0120", item.span, "a name has `_` and no `-`", help=f"write `{new}`", fix=fix)
    if name is None or s.body is None:
        raise Fault("E0120", s.span, "a risk group has a name and members", help=EXAMPLE)
    if name in RESERVED:
        raise Fault(
            "E0120", s.items[0].span, f"`{name}` is a kind of risk groups", help="choose another name"
        )
    return name, s.body


def _member_paths(s: tree.Setting) -> list[tree.PathExpr]:
    """The paths of ``members``. Raises Fault for what is no path."""
    out = []
    for item in s.items:
        if not isinstance(item.value, tree.PathExpr) or item.args:
            raise paths_in_one_fault(item.span) or Fault(
                "E0120", item.span, "expected a path to devices or groups", help=EXAMPLE
            )
        out.append(item.value)
    if not out or s.body is not None:
        raise Fault("E0120", s.span, "`members` takes paths to devices and groups", help=EXAMPLE)
    return out
