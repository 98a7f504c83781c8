"""What tdsl says of random designs of every kind, as goldens: the fabric, the answers, and which certificates are left out.

Judges say whether an answer is true; a golden also notices one that is true and weaker than it was, and other names in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from tdsl.certificates.write import verified_certificates
from tdsl.verify.result import Result
from tests.conftest import Golden
from tests.harness import sampled
from tests.soundness import arena
from tests.soundness.arena import fraction_of
from tests.soundness.generate import KINDS, Draft, draft, questions
from tests.soundness.judges import Claim

SEEDS = range(7000, 7001)


def figure(result: Result) -> Fraction | None:
    """What is reported, or the bound from below; None where nothing is, or what is has no bound."""
    if result.value is not None:
        return fraction_of(result.value)
    if result.ratio is not None:
        return Fraction(*result.ratio) if result.ratio[1] else None
    return fraction_of(result.lower)


def asked(made: Draft, folder: Path) -> list[Claim] | str:
    """Questions with thresholds at what tdsl itself reports, a little above it, and at parts of it under failures."""
    every = list(dict.fromkeys(questions(made)))
    plain = {replace(c.given or c, intact=False) for c in every if c.metric != "survives" or c.given}
    found = arena.checked(made, folder, sorted(plain, key=str), report=True)
    if isinstance(found, str):
        return found
    values = {(r.requirement, r.check): figure(r) for r in found.results}
    out: list[Claim] = []
    for c in every:
        inner = c.given or c
        value = values.get((replace(inner, intact=False).text(), inner.metric))
        if inner.metric in ("reachability", "plane_isolation") or (c.metric == "survives" and c.given is None):
            out.append(c)
            continue
        if value is None:
            continue
        unit = "s" if inner.metric in ("latency", "allreduce") else ""
        if c.given is None:
            out += [replace(c, cmp=">=", value=v, unit=unit) for v in (value, value + Fraction(1, 997))]
        else:
            part = made.rng.choice((Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1)))
            cmp = "<=" if inner.metric in ("diameter", "mean_hops", "latency", "allreduce") else ">="
            part = 2 - part if cmp == "<=" else part
            out.append(replace(c, given=replace(inner, cmp=cmp, value=value * part, unit=unit)))
    return list(dict.fromkeys(out))


def told(kind: str, seed: int, folder: Path) -> Iterator[str]:
    made = draft(seed, kind)
    yield f"## {seed}\n"
    claims = asked(made, folder)
    design = claims if isinstance(claims, str) else arena.checked(made, folder, claims)
    if isinstance(design, str):
        yield design + "\n"
        return
    assert design.fabric is not None
    yield f"{design.fabric.device_count} devices, {design.fabric.link_count} links\n"
    for before, r in pairwise([None, *design.results]):
        if before is None or r is None or before.text != r.text or not r.text:  # of one figure once: it is asked twice
            yield f"{r.status} {r.requirement or r.check}: {r.text or r.reason}\n"  # type: ignore[union-attr]
    proofs = verified_certificates(design.fabric, design.claims, design.results)
    yield f"{len(proofs.texts)} certificates\n"
    yield from (f"no certificate {name}: {why}\n" for name, why in sorted({**proofs.rejected, **proofs.left_out}.items()))


@pytest.mark.parametrize("kind", sampled(sorted(KINDS), 2))
def test_every_kind(kind: str, golden: Golden, tmp_path: Path) -> None:
    golden(f"answers/{kind}.txt", "".join(line for seed in SEEDS for line in told(kind, seed, tmp_path)))
