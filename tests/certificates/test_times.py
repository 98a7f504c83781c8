"""Certificates of times: what they say, what is refused, and what an accepted one means after any change."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tdsl.certificates import checker
from tests.certificates.made import design
from tests.soundness.judges import Unjudged, World
from tests.soundness.mutate import is_true, mutations
from tests.tables import sections

TABLE = sections(__file__)
NAMES = {"transfer": "transfer-1.json", "exchange": "all_to_all_time-1.json", "each": "transfer-1.json"}
GATHERED = ("allreduce-1.json", "all_gather_time-2.json", "reduce_scatter_time-3.json")
EXCHANGED = "all_to_all_time-4.json"
COLLECTIVES = [(name, file) for name in ("one switch", "two sites", "circle", "torus", "trees") for file in GATHERED]
COLLECTIVES += [(name, file) for name in ("sets", "boxes", "racks", "ports") for file in (*GATHERED, EXCHANGED)]
COLLECTIVES.append(("sets", "allreduce-5.json"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


def written(name: str, folder: Path, file: str = "") -> tuple[str, str]:
    """The text of the certificate of a design and its fabric.json."""
    fabric, made = design(TABLE[name] + TABLE["models"], folder)
    file = file or NAMES[name]
    assert not made.rejected and file in made.texts, (made.rejected, made.left_out)
    return made.texts[file], fabric


def test_what_is_stated_is_all_of_it(folder: Path) -> None:
    asked = [*NAMES.items(), *COLLECTIVES]
    said = [checker.check(*written(name, folder, file))[1] for name, file in asked]
    assert said == [f"verified: {words}" for words in TABLE["statements"].splitlines()]


GIVEN = {
    "59849c260dbc12d6": ("exchange", ""),
    "37eb35a1acf20b16": ("each", ""),
    "37b7e161a265f4b6": ("sets", "allreduce-1.json"),
}


@pytest.mark.parametrize("line", TABLE["expected"].splitlines())
def test_a_gate_names_size_sets_and_what_is_given(line: str, folder: Path) -> None:
    status, text = line.split(None, 1)
    name, file = GIVEN.get(text.split("given ")[-1].split()[0], ("transfer", ""))
    certificate, fabric = written(name, folder, file)
    assert checker.judge([certificate], fabric, [text])[1][0] == int(status)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("transfer", {"at_least": "14/1000"}, "the proofs show"),
    ("transfer", {"at_most": "13/1000"}, "the proofs show"),
    ("transfer", {"bits": 16 * 10**9}, "the proofs show"),
    ("transfer", {"from": ["a0"]}, "the proofs show"),
    ("transfer", {"given": {"links": []}}, "delays are of other links"),
    ("transfer", {"given": {"devices": {"x": 1}}}, "a delay is of an unknown device"),
    ("transfer", {"upper": {"lengths": [["s0", "s1", 1]]}}, "the proofs show"),
    ("transfer", {"lower": {"routes": []}}, "one flow"),
    ("exchange", {"units": 11}, "the number of units is another"),
    ("exchange", {"at_least": "27/1000"}, "the proofs show"),
    ("exchange", {"at_most": "26/1000"}, "the proofs show"),
    ("exchange", {"given": {"ranks": 8}}, "the proofs show"),
    ("exchange", {"apart": ["n0", "leaf0"]}, "these are not two units"),
    ("exchange", {"upper": {"lengths": []}, "cut": ["n0"]}, "the proofs show"),
    ("each", {"at_least": "81/1000"}, "the proofs show"),
    ("each", {"at_most": "80/1000"}, "the proofs show"),
    ("each", {"from": ["a0", "a1"]}, "more than a link has"),
    ("each", {"each": {"cut": ["a0"]}}, "the proofs show"),
    ("each", {"each": {"cut": ["s0"]}}, "a cut has no sender behind it"),
    ("each", {"each": {"cut": ["a1", "b0"]}}, "a cut has no sender behind it"),
    ("each", {"each": {"flow": [["a1", "s0", "1"]]}}, "not conserved"),
    ("each", {"each": {"flow": [["a0", "all to", "1"], ["a1", "all to", "1"], ["a2", "all to", "1"]]}}, "than a link has"),
    ("each", {"each": {"flow": []}}, "as much as each other"),
]


@pytest.mark.parametrize(("name", "change", "why"), REFUSED)
def test_a_forged_one_is_refused(name: str, change: dict[str, Any], why: str, folder: Path) -> None:
    certificate, fabric = written(name, folder)
    forged = json.loads(certificate)
    for key, value in change.items():
        forged[key] = forged[key] | value if isinstance(value, dict) else value
    with pytest.raises(checker.Rejected, match=why):
        checker.verify(forged, json.loads(fabric))


def test_a_flow_in_a_circle_and_a_shorter_delay_are_refused(folder: Path) -> None:
    """What goes in a circle has no longest path; a longest cable that is shorter than the shortest is none."""
    certificate, fabric = written("transfer", folder)
    forged = json.loads(certificate)
    flows = forged["lower"]["routes"][0]["flows"]["all from"]
    flows += [["s0", "t", 1], ["t", "s0", 1]]
    with pytest.raises(checker.Rejected, match="a flow goes in a circle"):
        checker.verify(forged, json.loads(fabric))
    forged = json.loads(certificate)
    forged["given"]["links"][0][2] += 1
    with pytest.raises(checker.Rejected, match="at least more than at most"):
        checker.verify(forged, json.loads(fabric))


@pytest.mark.parametrize("line", TABLE["left out"].splitlines())
def test_what_has_no_certificate_is_named_with_the_reason(line: str, folder: Path) -> None:
    _, old, new, why = (x.strip() for x in line.split("  ") if x.strip())
    name = "transfer" if "of a" in old or "switch t" in old else "exchange"
    text = TABLE[name].replace(old, new)
    models = TABLE["models"].replace("port nic:", "port nic[2]:") if "nic[k]" in new else TABLE["models"]
    _, made = design(text + models, folder)
    assert made.left_out[NAMES[name]] == why


def first_send(stated: dict[str, Any]) -> dict[str, Any]:
    send: dict[str, Any] = stated["stages"][0]["steps"][0][0]
    return send


def way(stated: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = stated["stages"][0]["channels"][0]["ways"][0]
    return found


FORGERIES: list[tuple[str, Callable[[dict[str, Any]], Any], str]] = [
    ("a send less", lambda x: x["stages"][0]["steps"][0].pop(), "does not end up with all"),
    ("a stage less", lambda x: x["stages"].pop(), "does not end up with all"),
    ("a send twice", lambda x: x["stages"][0]["steps"].append([first_send(x)]), "counts twice|the proofs show"),
    ("a part that is none", lambda x: first_send(x).update(parts=[[0, 10**6]]), "no such part"),
    ("no parts", lambda x: first_send(x).update(parts=[]), "does not have"),
    ("twice the rate", lambda x: way(x).update(rate_bps="900000000000"), "more than a link has"),
    ("half the rate", lambda x: way(x).update(rate_bps="1000000000"), "the proofs show"),
    ("no rate", lambda x: way(x).update(rate_bps="0"), "has no rate"),
    ("a way without links", lambda x: way(x).update(devices=["n0", "n1"]), "a way has no link|between two units"),
    ("a way through a host", lambda x: way(x).update(devices=["n0", "s", "n1", "s", "n2"]), "does not forward"),
    ("a way back", lambda x: way(x).update(devices=["n0", "s", "n0"]), "not between two units"),
    ("another channel", lambda x: first_send(x).update(channel=99), "malformed"),
    ("fewer parts", lambda x: x.update(parts=2), "no equal shares"),
    ("too many parts", lambda x: x.update(parts=10**9), "too many parts"),
    ("chunks that share nothing", lambda x: x.update(chunks=4000), "more than a link has"),
    ("a cut with nothing inside", lambda x: x.update(cut=["s"]), "a cut has no unit on a side"),
    ("a block left out", lambda x: x["blocks"].pop(), "no division"),
    ("a unit in two blocks", lambda x: x["blocks"][0].append(x["blocks"][1][0]), "no division"),
    ("a block of a switch", lambda x: x["blocks"].append(["s"]), "a block has no unit"),
    ("ranks inside", lambda x: x["given"].update(ranks=2), "no equal shares"),
    ("a quicker way", lambda x: x.update(at_most="2999/1000000"), "the proofs show"),
    ("a later floor", lambda x: x.update(at_least="31/1000"), "the proofs show"),
]


@pytest.mark.parametrize(("what", "change", "why"), FORGERIES, ids=[x[0] for x in FORGERIES])
def test_a_forged_schedule_is_refused(what: str, change: Callable[[dict[str, Any]], Any], why: str, folder: Path) -> None:
    certificate, fabric = written("one switch", folder, GATHERED[0])
    forged = json.loads(certificate)
    change(forged)
    with pytest.raises(checker.Rejected, match=why):
        checker.verify(forged, json.loads(fabric))


def domain(stated: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = stated["given"]["domains"][0]
    return found


def move_to_first_set(stated: dict[str, Any]) -> None:
    stated["sets"][0].append(stated["sets"][1].pop())


OF_RANKS: list[tuple[str, str, Callable[[dict[str, Any]], Any], str]] = [
    # sets that share all links
    ("sets", "a set left out", lambda x: x["sets"].pop(), "the number of units is another"),
    ("sets", "a set left out and said so", lambda x: x.update(sets=x["sets"][:1], units=4), "not between two units"),
    ("sets", "both sets as one", lambda x: x.update(sets=[[*x["sets"][0], *x["sets"][1]]]),
     "does not end up|no equal shares|the proofs"),
    ("sets", "a unit of another set", move_to_first_set, "equal shares|two sets|the proofs"),
    ("sets", "a unit in both sets", lambda x: x["sets"][0].append("n4"), "a unit is in two sets"),
    ("sets", "a switch in a set", lambda x: x["sets"][0].append("s0"), "a set is of hosts and chips"),
    ("sets", "twice the rates", lambda x: [w.update(rate_bps=str(2 * Fraction(w["rate_bps"])))
                                           for stage in x["stages"] for c in stage["channels"] for w in c["ways"]],
     "than a link has"),
    ("sets", "a send to the other set", lambda x: way(x).update(devices=["n0", "s0", "n4"]), "between two sets|two units"),
    ("sets", "half of the time", lambda x: x.update(at_most="41/1000"), "the proofs show"),
    ("sets", "twice the floor", lambda x: x.update(at_least="81/1000"), "the proofs show"),
    ("sets", "a cut of one set's hosts", lambda x: x.update(cut=["n0"], blocks=[]), "the proofs show"),
    ("sets", "two units of two sets", lambda x: x.update(apart=["n0", "n4"]), "these are not two units"),
    # several ranks of a host
    ("boxes", "another number of ranks", lambda x: x["given"].update(ranks=5), "equal shares|the proofs"),
    ("boxes", "one rank of a host", lambda x: x["given"].update(several={"n0": 1}), "no ranks of a set|equal shares"),
    ("boxes", "no domains", lambda x: x["given"].update(domains=[]), "a block is no domain"),
    ("boxes", "no domains and no blocks", lambda x: (x["given"].update(domains=[]), x.update(blocks=[])), "the proofs show"),
    ("boxes", "a domain less", lambda x: domain(x)["units"].pop(), "the proofs show|a block is no domain"),
    ("boxes", "a domain twice", lambda x: domain(x)["units"].append(["n0"]), "in two domains"),
    ("boxes", "a slow domain", lambda x: domain(x).update(rate_bps="1000000000"), "the proofs show"),
    ("boxes", "equal parts alone", lambda x: domain(x).update(rate_bps="200000000000", any=False), "the proofs show"),
    ("boxes", "a divided block that is none", lambda x: x.update(divided=[7]), "no such block"),
    ("boxes", "ranks as blocks at no rate", lambda x: (domain(x).update(most_bps=None), x.update(divided=[0, 1, 2])),
     "malformed"),
    ("boxes", "a later floor", lambda x: x.update(at_least="15/1000"), "the proofs show"),
    ("boxes", "a quicker way", lambda x: x.update(at_most="15/1000"), "the proofs show"),
    # scale-up domains of several hosts
    ("racks", "domains that are one", lambda x: domain(x).update(units=[[u for one in domain(x)["units"] for u in one]]),
     "the proofs|on both sides|keep one part|other"),
    ("racks", "a tray alone", lambda x: domain(x)["units"][0].pop(), "could carry more|no ranks of a set"),
    ("racks", "nothing beside", lambda x: x["given"].pop("domains"), "could carry more"),
    ("racks", "a cut through a domain", lambda x: x.update(cut=["rack0-tray0"]), "a domain is on both sides"),
    ("racks", "a block through a domain", lambda x: x.update(blocks=[["rack0-tray0"], ["rack0-tray1", "rack1-tray0",
                                                                                   "rack1-tray1"]], divided=[]), "both sides"),
    ("racks", "what one keeps, kept twice", lambda x: x["begin"].update({"rack0-tray0": [[0, x["parts"] - 1]]}), "keep one part"),
    ("racks", "what nobody keeps", lambda x: x["begin"].update({"rack0-tray0": []}), "no unit keeps"),
    ("racks", "no parts kept", lambda x: x.pop("begin"), "others begin with parts"),
    ("racks", "two units with a way beside", lambda x: x.update(apart=["rack0-tray0", "rack1-tray0"]), "a shorter way"),
    # ranks that exchange over the ports of their host
    ("ports", "more ranks", lambda x: x["given"].update(ranks=3), "no equal shares"),
    ("ports", "one rank of a host more", lambda x: x["given"].update(several={"n0": 3}), "no equal shares"),
    ("ports", "a domain of nothing", lambda x: x["given"].update(domains=[{"units": [["n0"]], "rate_bps": 0, "any": True,
                                                                         "delay": 0}]), "no ranks of a set"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "what", "change", "why"), OF_RANKS, ids=[f"{x[0]}: {x[1]}" for x in OF_RANKS])
def test_forged_sets_ranks_and_domains_are_refused(
    name: str, what: str, change: Callable[[dict[str, Any]], Any], why: str, folder: Path
) -> None:
    certificate, fabric = written(name, folder, GATHERED[0])
    forged = json.loads(certificate)
    change(forged)
    with pytest.raises(checker.Rejected, match=why):
        checker.verify(forged, json.loads(fabric))


CHANGED = [*NAMES.items(), *COLLECTIVES[:4], *COLLECTIVES[12:]]
LONG = [("trees", file) for file in GATHERED[:2]]
"""Times of listed trees, which take as long to judge as all others: those of one operation in each run."""


@pytest.mark.parametrize(("name", "file"), [pytest.param(*c, marks=[pytest.mark.daily] if c in LONG else []) for c in CHANGED])
def test_whatever_is_changed_what_is_accepted_is_true(name: str, file: str, folder: Path) -> None:
    certificate, fabric = written(name, folder, file)
    rng, accepted = Random(20261127), 0
    for number, (text, wiring, said) in enumerate(mutations(rng, json.loads(certificate), fabric, 30)):
        if accepted and number >= 12:
            break
        status, _ = checker.check(text, wiring)
        if status == 0:
            accepted += 1
            try:
                assert is_true(json.loads(text), World(json.loads(wiring))), said
            except Unjudged:
                continue
    assert accepted
