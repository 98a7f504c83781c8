"""What failures cost a job: how often it is interrupted, how often to write a checkpoint, what share of the
time it makes progress, and how many spares keep its size. Formulas of published models, each with its
source."""

from __future__ import annotations

from fractions import Fraction
from math import comb, isqrt


def square_root(value: Fraction) -> Fraction:
    """The square root, rounded down to a multiple of 2^-64 or finer."""
    scale = 1 << 64
    return Fraction(isqrt(value.numerator * value.denominator * scale * scale), value.denominator * scale)


def young_interval(write: Fraction, mtbf: Fraction) -> Fraction:
    """Seconds of work between two checkpoints, √(2·write·mtbf): Young, "A first order approximation to the
    optimum checkpoint interval", Communications of the ACM 17 (9), 1974."""
    return square_root(2 * write * mtbf)


def daly_interval(write: Fraction, mtbf: Fraction) -> Fraction:
    """The same to a higher order: √(2δM)·(1 + √(δ/2M)/3 + (δ/2M)/9) − δ for δ < 2M, else M. Daly, "A higher
    order estimate of the optimum checkpoint interval for restart dumps", Future Generation Computer Systems
    22 (3), 2006, equation 37."""
    if write >= 2 * mtbf:
        return mtbf
    part = write / (2 * mtbf)
    return young_interval(write, mtbf) * (1 + square_root(part) / 3 + part / 9) - write


def expected_training_time_ratio(
    failures: Fraction, restart: Fraction, interval: Fraction, write: Fraction
) -> Fraction:
    """The share of its time in which a job makes progress that is kept: (1 − f·(u + Δ/2)) / (1 + w/Δ), with f
    failures of the job a second, u seconds to restart, Δ between checkpoints and w to write one; 0 where it
    is below. Kokolis and others, "Revisiting reliability in large-scale machine learning research clusters"
    (HPCA 2025, arXiv 2410.21680), where f is N nodes times r failures a node and second."""
    return max((1 - failures * (restart + interval / 2)) / (1 + write / interval), Fraction(0))


def spares_for_confidence(
    needed: int, down: Fraction, confidence: Fraction, most: int
) -> tuple[int, Fraction] | None:
    """How many spares are needed beside ``needed`` so that with this confidence at least ``needed`` work at
    a time, and with what probability they do; None above ``most``. ``down`` is the probability that one does
    not work, rounded up to a multiple of 2^-64: P(at most s of needed + s are down) of the binomial
    distribution, which grows with s."""
    parts = -((-down.numerator << 64) // down.denominator)
    high = 0
    while (held := _share_that_holds(needed, high, parts)) < confidence:
        if high >= most:
            return None
        high = min(max(2 * high, 1), most)
    low = high // 2 if high > 1 else high - 1
    while high - low > 1:
        middle = (low + high) // 2
        share = _share_that_holds(needed, middle, parts)
        low, high, held = (low, middle, share) if share >= confidence else (middle, high, held)
    return high, held


def _share_that_holds(needed: int, spares: int, down: int) -> Fraction:
    """P(at most ``spares`` of ``needed + spares`` are down), exactly; ``down`` is in units of 2^-64."""
    total, one = needed + spares, 1 << 64
    up = one - down
    held, term = 0, up**total  # of each number of failures, in units of 2^(-64 * total)
    for k in range(spares + 1):
        held += comb(total, k) * term
        term = term // up * down if up else 0
    return Fraction(held, one**total)
