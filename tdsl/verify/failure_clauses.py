"""What checks of failures over time share: the parts that may fail, the words of what states no rate, and the
words and amounts of a claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from tdsl.fabric.claims import ResolvedClaim
from tdsl.semantics.quantity import TIME, Quantity
from tdsl.semantics.values import BareWord
from tdsl.verify.failing_parts import BASES, FailingPart, FailingParts, missing_text

DAY = 86_400
HELP = "write `fails 0.057%/month; repair 4h` where it is declared or behind its `connect`, or `fails never`"
_SAID = {"design": "stated in the design", "file": "from the file of prices", "model": "of the catalogue"}


def bases_of_rates(parts: Sequence[FailingPart]) -> str:
    """Where the rates are from: ``rates stated in the design and of the catalogue``."""
    used = [_SAID[b] for b in BASES if any(b in p.bases for p in parts)]
    return f"rates {' and '.join(used)}" if used else "nothing is stated to fail"


def missing_of_parts(found: FailingParts, repairs: bool) -> str:
    """What states no rate of failures or, where ``repairs`` are read, no time of repair; "" if all do."""
    out = [f"no rate of failures is stated for {missing_text(found.unrated)}"] if found.unrated else []
    if repairs and found.unrepaired:
        out.append(f"no time of repair is stated for {missing_text(found.unrepaired)}")
    return "; ".join(out)


def words_and_amounts(claim: ResolvedClaim, words: Mapping[str, str]) -> tuple[dict[str, Fraction], str]:
    """The arguments of a claim as pairs of a word and an amount, and "" or what is wrong with them.

    ``words`` gives of each what it takes: "time" (in seconds), "time above zero" or "count above zero".
    """
    out: dict[str, Fraction] = {}
    args = list(claim.args)
    while args:
        word = str(args.pop(0)) if isinstance(args[0], (BareWord, str)) else ""
        if word not in words:
            known = ", ".join(f"`{w}`" for w in words)
            return {}, f"`{claim.metric}` takes a word and an amount each, of {known}"
        amount = _amount_of_kind(words[word], args.pop(0) if args else None)
        if amount is None or word in out:
            return {}, f"`{word}` of `{claim.metric}` takes one {words[word]}"
        out[word] = amount
    return out, ""


def _amount_of_kind(kind: str, value: object) -> Fraction | None:
    """An argument as a number of its kind, None where it is none."""
    if kind.startswith("time"):
        if not isinstance(value, Quantity) or value.dim != TIME:
            return None
        amount = value.amount
    elif isinstance(value, bool) or not isinstance(value, (int, Fraction)) or Fraction(value).denominator > 1:
        return None
    else:
        amount = Fraction(value)
    return None if amount < 0 or (kind.endswith("above zero") and not amount) else amount


def share_text(value: Fraction, digits: int = 6) -> str:
    """A probability in percent, with as many digits as tell it from 100%."""
    short = f"{float(value * 100):.{digits}g}%"
    if value < 1 and short == "100%" and digits < 15:
        return share_text(value, digits + 2)
    if value < 1 and short == "100%":
        return "nearly 100%"
    return short


def time_in_words(seconds: Fraction) -> str:
    """A long time in the unit that people use: ``3.09 h``, ``13.6 min``, ``146 years``."""
    for unit, size in (("years", 31_557_600), ("days", DAY), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{float(seconds / size):.4g} {unit}"
    return f"{float(seconds):.4g} s"
