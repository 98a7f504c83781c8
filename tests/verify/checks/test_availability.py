"""Failures over time: intervals against all states one by one and against a simulation, rates and groups as they are stated."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.findings.source import SourceFile
from tests.harness import compile_text, sampled
from tests.tables import sections

MODELS = """
model host H { port nic[2]: 100Gbps; chip gpu: G }
model chip G { port lane: 400Gbps }
model switch SW { port p[1..64]: 100Gbps }
"""


def answer(text: str, folder: Path, **options: object):
    """The first answer, and the codes of all findings."""
    made = compile_text(MODELS + text, folder, models=False, **options)
    return next(r for r in made.designs[0].results if r.requirement), {d.code for d in made.findings}


def holds(hosts: set[str], links: list[tuple[str, str]]) -> bool | None:
    """By definition: all hosts with a link reach each other over switches; None where fewer than two have one."""
    linked = {x for pair in links for x in pair if x in hosts}
    if len(linked) < 2:
        return None
    graph = nx.Graph((a, b) for a, b in links if not {a, b} & hosts)
    at = {h: {b if a == h else a for a, b in links if h in (a, b)} for h in linked}
    graph.add_nodes_from(x for near in at.values() for x in near)
    part = {x: k for k, c in enumerate(nx.connected_components(graph)) for x in c}
    reached = [{part[x] for x in near} for near in at.values()]
    return all(one & other for one in reached for other in reached)


@pytest.mark.parametrize("seed", sampled(range(10), 2))
def test_the_interval_holds_all_states_one_by_one(seed: int, tmp_path: Path) -> None:
    """Random designs whose hosts, switches, some links and a group fail: every state is judged by networkx."""
    rng = Random(seed)
    odds = [Fraction(rng.randint(1, 9), 100) for _ in range(4)]
    wires = [(f"h{k}", f"s{rng.randrange(2)}") for k in (0, 1, 2) for _ in range(rng.choice((1, 2)))]
    trunks = [(f"s{a}", f"s{b}") for a, b in ((0, 2), (1, 2), (0, 3), (1, 3)) if rng.random() < 0.8]
    shared = rng.random() < 0.5
    text = ["fabric f {"]
    text += [f"  host h{k}: H {{ fails {odds[0]}/1h; repair 1h }}" for k in range(3)]
    text += [f"  switch s{k}: SW {{ fails {odds[1]}/1h; repair 1h }}" for k in range(4)]
    text += [f"  connect {a}.nic to {b} {{ fails {odds[2]}/1h; repair 1h }}" for a, b in dict.fromkeys(wires)]
    text += [f"  connect {a} to {b} x 1 {{ fails never }}" for a, b in trunks]
    text += [f"  risk feed {{ members s2, s3; fails {odds[3]}/1h; repair 1h }}"] if shared else []
    text = [line.replace(".nic to", ".nic[0] to") for line in text]
    wires = list(dict.fromkeys(wires))
    seen: dict[str, int] = {}
    for k, line in enumerate(text):
        if ".nic[0] to" in line:
            host = line.split()[1].split(".")[0]
            text[k] = line.replace("[0]", f"[{seen.setdefault(host, 0)}]")
            seen[host] += 1
    got, _ = answer("\n".join([*text, "  report availability with reachability", "}"]), tmp_path)
    parts = [({f"h{k}"}, None, odds[0]) for k in range(3)] + [({f"s{k}"}, None, odds[1]) for k in range(4)]
    parts += [(set(), wire, odds[2]) for wire in wires] + ([({"s2", "s3"}, None, odds[3])] if shared else [])
    sure = open_ = rest = Fraction(0)
    for state in product((False, True), repeat=len(parts)):
        chance = Fraction(1)
        for failed, (_, _, o) in zip(state, parts, strict=True):
            chance *= o / (1 + o) if failed else 1 / (1 + o)
        gone = {x for failed, (named, _, _) in zip(state, parts, strict=True) if failed for x in named}
        cut = {wire for failed, (_, wire, _) in zip(state, parts, strict=True) if failed}
        left = [w for w in [*wires, *trunks] if w not in cut and not gone & set(w)]
        found = holds({"h0", "h1", "h2"} - gone, left)
        sure += chance if found is True else 0
        open_ += chance if found is None else 0
        rest += chance if sum(state) > 3 else 0
    assert got.lower <= sure <= sure + open_ <= got.upper, got.text
    assert got.upper - got.lower <= rest + open_ + Fraction(1, 10**12), got.text
    assert got.status == "bounded"


SPINES = sections(__file__)["spines"]


def test_a_million_draws_are_within_four_standard_errors(tmp_path: Path) -> None:
    """Eight spines that are down a tenth of the time, two of which share a feed: 75% is left where two at most are down."""
    got, _ = answer(SPINES.replace("REQUIRED", "report availability with bisection >= 75% of intact"), tmp_path)
    draws = np.random.default_rng(7).random((1_000_000, 9))
    down = draws[:, :8] < 0.1 / 1.1
    down[:, :2] |= (draws[:, 8] < 0.02 / 1.02)[:, None]
    share = float((down.sum(axis=1) <= 2).mean())
    error = 4 * (share * (1 - share) / len(draws)) ** 0.5
    assert float(got.lower) - error <= share <= float(got.upper) + error, got.text
    about = got.witness["sampled"]
    assert about["lower"] <= share <= about["upper"] and about["seed"] == 1 and about["confidence"] == 0.99
    assert float(got.lower) <= about["lower"] + 1e-7 and "random states" in got.text
    again, _ = answer(SPINES.replace("REQUIRED", "report availability with bisection >= 75% of intact"), tmp_path)
    assert again.text == got.text


@pytest.mark.parametrize(
    ("required", "status", "code"),
    [
        ("availability >= 90% with bisection >= 75% of intact", "proved", ""),
        ("availability >= 99.9% with bisection >= 100% of intact", "refuted", "E0428"),
        ("availability >= 96.5% with bisection >= 75% of intact", "bounded", "E0428"),
        ("survives any 1 of risk.pdu with bisection >= 75% of intact", "proved", ""),
        ("survives any 1 of risk with bisection >= 76% of intact", "refuted", "E0409"),
        ("fatal_set of spine >= 3 with bisection >= 75% of intact", "proved", ""),
        ("fatal_set of spine >= 4 with bisection >= 75% of intact", "refuted", "E0484"),
    ],
)
def test_a_status_is_that_of_the_interval_alone(required: str, status: str, code: str, tmp_path: Path) -> None:
    got, codes = answer(SPINES.replace("REQUIRED", f"require {required}"), tmp_path)
    assert (got.status, codes) == (status, {code} - {""}), got.text


def test_what_states_no_rate_is_named_and_proves_nothing(tmp_path: Path) -> None:
    """Until it is said that it never fails."""
    text = SPINES.replace("REQUIRED", "require availability >= 90% with bisection >= 75% of intact")
    got, codes = answer(text.replace("leaf[2]: SW { fails never }", "leaf[2]: SW"), tmp_path)
    assert (got.status, got.lower, got.upper, codes) == ("bounded", 0, 1, {"E0428"})
    assert got.text.startswith("no rate of failures is stated for 2 × leaf (SW); if these never fail, between")
    got, _ = answer(text.replace("spine[8]: SW { fails 1/20day; repair 2day }", "spine[8]: SW { fit 780 }"), tmp_path)
    assert got.status == "bounded" and "no time of repair is stated for 8 × spine (SW)" in got.text
    ways = ("mtbf 1year", "fails 1/year", "fails 100%/365.25day", "fit 1000000000/8766")
    day = "host x: H { fails never }; switch y[9]: SW { RATE }; connect x.nic to y[0..1] each { fails never }"
    both = [answer(f"fabric f {{ {day.replace('RATE', way)}; report failures_per_day }}", tmp_path)[0] for way in ways]
    assert {r.value for r in both} == {Fraction(9) / Fraction("365.25")}


def test_a_file_of_prices_states_rates(tmp_path: Path) -> None:
    """Before the model does, behind what the design states."""
    text = """
    model cable DAC { medium dac; rate 100Gbps; fails 1%/year; repair 1h }
    fabric f {
      host x[2]: H { fails never }
      switch y[2]: SW
      connect x[k].nic[0] to y[k] { cable DAC }
      connect x[0].nic[1] to y[1] { fails 3%/year }
      report failures_per_day of network
    }
    """
    prices = SourceFile("prices.toml", '[fails]\nSW = "2%/year"\n[repair]\nSW = "4 h"\n')
    got, codes = answer(text, tmp_path, prices=prices)
    assert got.value * Fraction("365.25") == Fraction(2 * 1 + 3 + 2 * 2, 100) and not codes, got.text
    assert "rates stated in the design, from the file of prices and of the catalogue" in got.text.replace(" and from", ", from")
    wrong = SourceFile("prices.toml", '[fails]\nSW = "often"\n')
    assert answer(text, tmp_path, prices=wrong)[1] == {"E0208"}


def test_places_give_racks_and_trays_as_groups(tmp_path: Path) -> None:
    """One rack holds both spines; one stretch of the tray has all cables to them."""
    text = """
    fabric f {
      hall h { row A { rack 1..3 { height 42U } }; pitch rack 0.6m, row 3m; tray above 2.6m; slack 1m }
      host x[2]: H
      switch leaf[2]: SW
      switch spine[2]: SW
      connect x[k].nic[r] to leaf[k]
      connect leaf[*] to spine[*] spread x 4
      place x[*] in h.A[1] stacked from 1U
      place leaf[*] in h.A[2] stacked from 1U
      place spine[*] in h.A[3] stacked from 1U
      REPORT
    }
    """
    models = MODELS.replace("chip gpu: G", "chip gpu: G; height 1U").replace("p[1..64]: 100Gbps", "p[1..64]: 100Gbps; height 1U")
    found = {}
    for one in ("risk.racks", "risk.trays", "risk", "risk.stated"):
        made = compile_text(models + text.replace("REPORT", f"report survives any 1 of {one}"), tmp_path, models=False)
        found[one] = [r.text for d in made.designs for r in d.results if r.requirement] or {d.code for d in made.findings}
    assert found["risk.stated"] == {"E0101"}
    assert found["risk.racks"][0].startswith("without rack A03, `reachability` does not hold")
    assert "without tray row A from rack 2 to 3" in found["risk.trays"][0]
    assert "does not hold" in found["risk"][0]
