"""Times of collective operations and transfers by the second opinion, on fabrics whose best trees and flows are known."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.semantics.quantity import LENGTH, SIZE, TIME, Quantity
from tdsl.verify.second import collectives
from tdsl.verify.second.answer import Limits, MethodTooLarge, SecondAnswer
from tdsl.verify.second.judge import SecondOpinionJudge, results_with_claims
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import GBPS, Builder, claim, selector, torus
from tests.harness import compile_text
from tests.tables import sections
from tests.verify.second.made import judged_result

WIDE = 400 * GBPS
METHODS = {
    "allreduce": collectives.all_reduce_time_by_highs,
    "all_gather_time": collectives.all_gather_time_by_highs,
    "all_to_all_time": collectives.all_to_all_time_by_highs,
    "transfer": collectives.transfer_time_by_networkx,
}


def hosts(*gpus: int, leaves: int = 1, trunk: int = 0, filers: int = 0, seconds: Fraction | None = Fraction(0)) -> Fabric:
    """Hosts with so many accelerators and one link of 400 Gbit/s each, shared out to leaves of a latency."""
    b = Builder("hosts")
    models = {n: b.model("host", f"NODE{n}", {"nic": 1}, accelerators=n) for n in sorted({*gpus})}
    made = b.model("switch", "SW", {"p": 16})
    if seconds is not None:
        made = b.models[-1] = replace(made, facts={"latency": Quantity(seconds, TIME)})
    nodes = [b.devices(f"node{i}", models[n], 1) for i, n in enumerate(gpus)]
    leaf = b.devices("leaf", made, leaves)
    store = b.devices("store", b.model("host", "STORE", {"nic": 1}), filers, role="storage") if filers else None
    b.connect("connect", length=Quantity(Fraction(0), LENGTH))
    for i, node in enumerate(nodes):
        b.link(b.port(node, 0), b.free(leaf, leaves * i // len(gpus)), WIDE)
    for k in range(filers):
        b.link(b.port(store, k), b.free(leaf, 0), WIDE)
    for _ in range(trunk):
        b.link(b.free(leaf, 0), b.free(leaf, 1), WIDE)
    return b.build()


def asked(fabric: Fabric, metric: str, *words: str, **names: tuple[str, ...]) -> Any:
    """A question about data that takes 1 s over a link."""
    paths: dict[str, Any] = {clause: tuple(selector(fabric, n) for n in several) for clause, several in names.items()}
    return claim(fabric, metric, args=(Quantity(Fraction(WIDE), SIZE), *words), report=True, **paths)


def answer(fabric: Fabric, metric: str, *words: str, **names: tuple[str, ...]) -> SecondAnswer:
    """What the second method says, and that it does not contradict the check."""
    one = asked(fabric, metric, *words, **names)
    opinion = SecondOpinionJudge(fabric).opinion(judged_result(fabric, one), one)
    assert opinion is not None and opinion.verdict != "disagrees", opinion
    return METHODS[metric](WiringGraph.whole(fabric), one, Limits())


@pytest.mark.parametrize(
    ("made", "metric", "lower", "upper"),
    [
        (hosts(1, 1, 1, 1), "all_gather_time", 3 / 4, 3 / 4),
        (hosts(1, 1, 1, 1), "all_to_all_time", 3 / 4, 3 / 4),
        (hosts(1, 1, 1, 1), "allreduce", 3 / 2, 3 / 2),
        # A trunk of one link: half of the data crosses it to gather, all of it to add up.
        (hosts(1, 1, 1, 1, 1, 1, leaves=2, trunk=1), "all_gather_time", 5 / 6, 5 / 6),
        (hosts(1, 1, 1, 1, 1, 1, leaves=2, trunk=1), "allreduce", 5 / 3, 5 / 3),
        (hosts(1, 1, 1, 1, 1, 1, leaves=2, trunk=1), "all_to_all_time", 3 / 2, 3 / 2),
        # Accelerators of one host: what they exchange inside is not described.
        (hosts(2, 2), "all_gather_time", 1 / 2, inf),
        (hosts(2, 2), "all_to_all_time", 1, inf),
        (hosts(2, 2), "allreduce", 1, inf),
        # Four filers add up, too: 2 x 3 s over eight links; without them trees take 3/2 s.
        (hosts(1, 1, 1, 1, filers=4), "allreduce", 1, 3 / 2),
        # Where no latency is stated there is no upper bound.
        (hosts(1, 1, 1, 1, seconds=None), "all_gather_time", 3 / 4, inf),
        # Four chips in a ring, each with 800 Gbit/s.
        (torus(4).build(), "allreduce", 3 / 4, inf),
    ],
)
def test_operations(made: Fabric, metric: str, lower: float, upper: float) -> None:
    found = answer(made, metric)
    assert (float(found.lower), float(found.upper)) == pytest.approx((lower, upper), rel=1e-6)


def test_delays() -> None:
    """A second of latency at the one switch: at least one, and at most one for each of the trips."""
    found = answer(hosts(1, 1, 1, 1, seconds=Fraction(10)), "all_gather_time")
    assert found.lower == 10 and 10 < found.upper < inf
    found = answer(hosts(1, 1, seconds=Fraction(10)), "transfer", of=("node0",), of_to=("node1",))
    assert (found.lower, found.upper) == (11, 11)


TWO_SETS = sections(__file__)["two sets"]


def test_sets_share_the_links(tmp_path: Path) -> None:
    """What both sets do crosses one trunk: 1 GB takes 20 ms there, and half as long where one set is alone."""
    (made,) = compile_text(TWO_SETS, tmp_path, models=False).designs
    assert made.fabric is not None
    judge = SecondOpinionJudge(made.fabric)
    asked = [(r, c) for r, c in results_with_claims(made.claims, made.results) if c is not None]
    opinions = [judge.opinion(r, c) for r, c in asked]
    told = "proved refuted proved refuted refuted proved proved refuted proved"
    assert [r.status for r, _ in asked] == told.split()
    assert [o and o.verdict for o in opinions] == ["confirmed"] * 9


def test_transfers() -> None:
    made = hosts(1, 1, 1, leaves=2, trunk=1)
    assert answer(made, "transfer", of=("node0", "node1"), of_to=("node2",)).lower == 1
    each = answer(made, "transfer", "each", of=("node0", "node1"), of_to=("node2",))
    assert (float(each.lower), float(each.upper)) == pytest.approx((2, 2))


def test_verdicts() -> None:
    """What is below every algorithm, or above one, is contradicted; what is decided by both is confirmed."""
    made = hosts(1, 1, 1, 1)
    one = asked(made, "all_gather_time")
    result = judged_result(made, one)
    judge = SecondOpinionJudge(made)
    right = judge.opinion(result, one)
    assert right is not None and right.verdict == "confirmed"

    def between(low: float, high: float) -> str:
        changed = {"lower": Quantity(Fraction(low), TIME), "upper": Quantity(Fraction(high), TIME)}
        found = judge.opinion(replace(result, **changed), one)
        assert found is not None
        return found.verdict

    assert (between(0.5, 0.7), between(0.8, 0.9), between(0.7, 0.8)) == ("disagrees", "disagrees", "confirmed")
    filers = hosts(1, 1, 1, 1, filers=4)
    for limit, status, verdict in ((2, "proved", "confirmed"), (Fraction(9, 10), "refuted", "confirmed")):
        limited = replace(asked(filers, "allreduce"), op="<=", value=Quantity(Fraction(limit), TIME), report=False)
        changed = {"status": status, "lower": Quantity(Fraction(1), TIME), "upper": Quantity(Fraction(1), TIME)}
        found = SecondOpinionJudge(filers).opinion(replace(judged_result(filers, limited), **changed), limited)
        assert found is not None and found.verdict == verdict, (limit, found)


def test_what_is_too_large_is_not_asked() -> None:
    made = hosts(*[1] * 8)
    with pytest.raises(MethodTooLarge, match="columns"):
        collectives.all_gather_time_by_highs(WiringGraph.whole(made), asked(made, "all_gather_time"), Limits(columns=10))
