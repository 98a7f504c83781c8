"""Random fabrics and designs of the library by the checks and by the second opinion: nothing is contradicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.compile.second_opinion import add_second_opinions
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.verify.result import Result
from tdsl.verify.runner import judge_requirements
from tdsl.verify.second.answer import Limits
from tdsl.verify.second.judge import Opinion, SecondOpinionJudge, results_with_claims
from tests.cli.run import report, write
from tests.fabrics import (
    Builder,
    Selector,
    claim,
    multiplane,
    rail_only,
    random_chips,
    random_fabric,
    random_layers,
    random_planes,
    scale_up,
    selector,
    superpod,
    torus,
)
from tests.prove.mixed_fabrics import mixed
from tests.tables import sections

LIBRARY = Request(lock=False, check_seconds=2)
SMALL_LIMITS = Limits(links=25_000, steps=1_000_000, work=8_000_000, columns=12_000, iterations=40_000, checked=2_000_000)
"""For every design of the library: what takes longer is refused, and says so."""
LONG = {
    "aurora", "deepseek_dragonfly", "frontier", "fugaku", "jupiter_dragonfly_plus", "llama3_24k", "llama3_pod_racks", "lumi",
    "megascale",
}  # fmt: skip
"""Designs of which a check takes seconds. `gpu131k`, which is beyond the limits, is left in."""
DESIGNS = sorted(p.stem for p in (Path(__file__).parents[2] / "stdlib" / "designs").glob("*.fab") if p.stem not in LONG)
GENERATORS: dict[str, Callable[[int], Any]] = {
    "hosts": lambda seed: random_fabric(seed, switches=3 + seed % 6, hosts=2 + seed % 5, loose=seed % 3),
    "layers": random_layers,
    "chips": lambda seed: random_chips(seed, chips=4 + seed % 6, cables=6 + seed % 9),
    "planes": random_planes,
    "mixed": lambda seed: replace(mixed(seed), link_via_a=np.full(mixed(seed).link_count, -1)),
}


def everything(fabric: Fabric, *more: Any) -> list[tuple[Result, Opinion | None]]:
    """Every figure that has a second method, with its second opinion."""
    asked = [claim(fabric, name, report=True) for name in ("mean_hops", "node_redundancy", "links", "switches")]
    asked += [claim(fabric, "throughput", args=args, report=True, text=f"throughput {args}") for args in PATTERNS]
    asked += more
    results = judge_requirements(fabric, asked, Diagnostics())
    judge = SecondOpinionJudge(fabric)
    return [(r, judge.opinion(r, c)) for r, c in results_with_claims(asked, results)]


PATTERNS = (("all_to_all",), ("ring",), ("shift", 2), ("rail_allreduce",))


def after_failures(fabric: Fabric, path: str) -> list[Any]:
    """Claims about failures of a set of devices."""
    of = (selector(fabric, path),)
    half = Fraction(1, 2)
    given = [None, claim(fabric, "bisection", ">=", half), claim(fabric, "edge_redundancy", ">=", 2)]
    given += [claim(fabric, "bisection", ">=", half, of_intact=True), claim(fabric, "diameter", "<=", 2)]
    out = [claim(fabric, "blast_radius", of=of, report=True)]
    for count in (1, 2):
        for at, asked in enumerate(given):
            out.append(claim(fabric, "survives", of=of, any_count=count, given=asked, text=f"survives {count} {at}"))
    return out


def agreed(found: Iterable[tuple[Result, Opinion | None]]) -> Counter[str]:
    """How many results are confirmed by whom, and that none is contradicted."""
    count: Counter[str] = Counter()
    for result, opinion in found:
        if opinion is not None:
            assert opinion.verdict != "disagrees", (result, opinion.facts())
            count[opinion.by or "none"] += 1
    return count


@pytest.mark.parametrize("kind", GENERATORS)
def test_random_fabrics_are_not_contradicted(kind: str) -> None:
    total: Counter[str] = Counter()
    first = {"chips": "chip", "planes": "core", "layers": "leaf", "mixed": "spine"}.get(kind, "sw")
    for seed in range(12 if kind == "mixed" else 4):
        made = GENERATORS[kind](seed)
        fabric = made.build() if isinstance(made, Builder) else made
        ports = claim(fabric, "reachability", of=(Selector("ports", "", ()),))
        total += agreed(everything(fabric, ports, *(after_failures(fabric, first) if kind != "mixed" else ())))
    assert total["networkx"] > 30 and (total["z3"] > 1 or kind == "mixed")  # of mixed hosts no share has a second method
    assert kind == "planes" or kind == "mixed" or total["HiGHS"] > 5


@pytest.mark.parametrize(
    "made",
    [
        torus(4, 3), torus(2, 2, 2), multiplane(2, 8), rail_only(6, 3), rail_only(4, 2, scaleup=False), scale_up(),
        superpod(1, 4, 4, 2, manager=False), superpod(2, 3, 2, 1, radix=16),
    ],
    ids=lambda b: b.name,
)  # fmt: skip
def test_small_fabrics_of_every_form_are_confirmed(made: Builder) -> None:
    fabric = made.build()
    count = agreed(everything(fabric))
    assert count["networkx"] >= 5 and count["z3"] >= 1 and count["HiGHS"] >= 1


def test_flows_between_two_sets_and_parts_of_a_fabric() -> None:
    fabric = superpod(2, 3, 2, 1, radix=16).build()
    su, leaf = selector(fabric, "su"), selector(fabric, "su.leaf")
    one, two = (replace(su, elements=(e,), text=e.name) for e in su.elements)
    asked = [
        claim(fabric, "throughput", of=(one,), of_to=(two,), report=True),
        claim(fabric, "links", of=(one,), of_to=(two,), report=True),
        claim(fabric, "oversubscription", "<=", Fraction(1), of=(su,)),
        claim(fabric, "oversubscription", "<=", Fraction(1), at=(leaf,)),
        claim(fabric, "diameter", "<=", 2, of=(su,)),
        claim(fabric, "bisection", ">=", Fraction(1, 2), of=(su,)),
        claim(fabric, "reachability", of=(replace(su, elements=(), text="ports"),)),
        claim(fabric, "edge_redundancy", ">=", 2, scope=su.elements[0]),
    ]
    found = everything(fabric, *asked)
    assert all(o is not None and o.verdict == "confirmed" for r, o in found if r.requirement and o and r.check != "throughput")
    assert agreed(found)["networkx"] > 8


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_designs_of_the_library_are_not_contradicted(part: int) -> None:
    """Figures are confirmed or the tool says why not, and certificates verify; what is too large is refused by stated limits."""
    wrong: list[str] = []
    for name in DESIGNS[part::4]:
        compilation = compiler.compile_and_verify(name, LIBRARY)
        wrong += [f"{name}: {file.name}" for file in add_second_opinions(compilation, name, LIBRARY, SMALL_LIMITS)]
        for design in compilation.designs:
            given = [r.second_opinion for r in design.results if r.second_opinion]
            wrong += [f"{name}: no reason" for x in given if x["verdict"] == "unconfirmed" and not x["reason"]]
            if not given or any(d.code == "E0905" for d in design.findings):
                wrong.append(f"{name}: {len(given)} opinions")
    assert wrong == []


FAILURES = sections(__file__)["failures"]


def test_failures_of_links_ports_cables_and_cages(tmp_path: Path) -> None:
    (design,) = report(write(tmp_path, FAILURES), "--second-opinion")["designs"]
    found = [(r["requirement"], r["status"], r.get("second_opinion")) for r in design["results"] if r["check"] == "survives"]
    assert len(found) == 12
    for text, status, opinion in found:
        assert status in ("skipped", "bounded") or opinion["verdict"] == "confirmed", (text, status, opinion)
    answers = Counter(status for _, status, opinion in found if opinion)
    assert answers["proved"] >= 4 and answers["refuted"] >= 2
