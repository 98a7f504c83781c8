"""How much more a network needs where a claim is not satisfied: numbers for the help of a finding."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from tdsl.fabric.claims import ResolvedClaim
from tdsl.semantics.quantity import RATE, Quantity
from tdsl.system.nouns import counted_noun
from tdsl.verify.check import Judgement
from tdsl.verify.ports import gbps_text

AT_LEAST, AT_MOST = (">", ">=", "=="), ("<", "<=", "==")
"""Signs of claims that more satisfies, and of those that less does."""


def greatest_ratio(claim: ResolvedClaim, judged: Judgement) -> Fraction | None:
    """The greatest ratio of a claim that a greater one refutes; None of other claims, and of a ratio below
    1:1, by which more above than below would be asked for."""
    value = claim.value
    whole = isinstance(value, (int, Fraction)) and claim.op in AT_MOST and judged.status == "refuted"
    return Fraction(value) if whole and isinstance(value, (int, Fraction)) and value >= 1 else None


def count_missing(claim: ResolvedClaim, judged: Judgement) -> int:
    """How many more of a number a claim needs at least; 0 where it is satisfied, or by another sign."""
    if claim.op not in AT_LEAST or not isinstance(claim.value, (int, Fraction)) or judged.upper is None:
        return 0
    if not isinstance(judged.upper, (int, Fraction)) or isinstance(judged.upper, bool):
        return 0
    least = floor(claim.value) + 1 if claim.op == ">" else ceil(claim.value)
    return max(ceil(least - judged.upper), 0)


def capacity_missing(claim: ResolvedClaim, judged: Judgement) -> str:
    """What has to be added at least to a cut so that as much crosses it as a claim requires, in links where
    all have one rate, else in bit/s: ``64 more links of 400Gbps``. "" where the cut is not known to carry too
    little."""
    carried, share = judged.measures.get("upper_bps"), judged.upper
    if claim.op not in AT_LEAST or not carried or not isinstance(share, Fraction) or share <= 0:
        return ""
    if isinstance(claim.value, Quantity) and claim.value.dim == RATE:
        needed = Fraction(claim.value.amount)
    elif isinstance(claim.value, (int, Fraction)) and claim.value <= 1:
        needed = carried / share * claim.value
    else:
        return ""
    if needed <= carried or needed > carried / share:
        return ""
    links = judged.measures.get("upper_links")
    if not links:
        return f"{gbps_text(ceil(needed - carried))} more"
    count = counted_noun(ceil((needed - carried) * links / carried), "more link")
    return f"{count} of {gbps_text(round(Fraction(carried) / links))}"
