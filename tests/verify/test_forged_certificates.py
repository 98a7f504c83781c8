"""Certificates that state what is not so, one for each way to cheat: each is rejected, and the honest one beside it verifies."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.verify.test_checker import body, design, judged

MODELS_USED = """fabric f {
  host node[8]: N
  switch leaf[4]: SW
  switch spine[2]: SW
  connect node[n].nic to leaf[n//2]
  connect leaf[*] to spine[*] spread x 2
  report bisection
  report reachability
  report diameter
  report mean_hops
  report edge_redundancy
  report node_redundancy
  report oversubscription
  report blast_radius of leaf
  report throughput all_to_all
  report throughput ring
  report throughput of node[0..3] to node[4..7]
  report survives any 1 of spine with bisection >= 30%
}"""
NARROW = """fabric f {
  host node[8]: N
  switch leaf[2]: SW
  switch spine[2]: SW
  connect node[n].nic to leaf[n//4]
  connect leaf[*] to spine[*] spread x 2
  report throughput all_to_all
}"""
TORUS = """fabric f {
  chip c[4, 4]: C4
  connect c[*, *] torus
  report bisection
  report diameter
  report mean_hops
  report edge_redundancy
  report node_redundancy
  report throughput all_to_all
}
model chip C4 { port p[4]: 400Gbps }"""
PATH = """fabric f {
  chip c[6]: C2
  connect c[*] mesh
  report node_redundancy
  report edge_redundancy
}
model chip C2 { port p[0..1]: 400Gbps }"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forged")


def forged(text: str, name: str, folder: Path, **change: Any) -> tuple[int, str]:
    """The answer about a certificate with other fields; those whose value is None are left out."""
    fabric, made = design(text, folder)
    assert not made.rejected and not made.left_out
    honest = body(made, name)
    assert judged(honest, fabric)[0] == 0
    return judged({k: v for k, v in (honest | change).items() if v is not None}, fabric)


@pytest.mark.parametrize("text", [MODELS_USED, TORUS])
def test_every_field_is_needed_and_no_other_is_taken(text: str, folder: Path) -> None:
    fabric, made = design(text, folder)
    for name in made.texts:
        honest = body(made, name)
        assert judged(honest, fabric)[0] == 0
        assert "not known" in judged(honest | {"note": "trusted"}, fabric)[1]
        for key in honest:
            status, line = judged({k: v for k, v in honest.items() if k != key}, fabric)
            assert status == 1 or key in ("symmetries", "to", "what"), (name, key, line)


@pytest.mark.parametrize(
    ("text", "name"), [(MODELS_USED, "throughput-all_to_all"), (MODELS_USED, "bisection"), (TORUS, "bisection")]
)
def test_bounds_that_are_swapped_or_apart(text: str, name: str, folder: Path) -> None:
    _, made = design(text, folder)
    low, high = (body(made, f"{name}.json")[end] for end in ("lower_bps", "upper_bps"))
    double = f"{2 * int(str(low).partition('/')[0])}/{str(low).partition('/')[2] or 1}" if isinstance(low, str) else 2 * low
    half = "1" if isinstance(high, str) else high // 2
    assert forged(text, f"{name}.json", folder, lower_bps=double)[0] == 1
    assert forged(text, f"{name}.json", folder, upper_bps=half)[0] == 1
    assert forged(text, f"{name}.json", folder, lower_bps=double, upper_bps=double)[0] == 1
    assert forged(text, f"{name}.json", folder, lower_bps=-1)[0] == 1


@pytest.mark.parametrize("value", [0, 1, 3, 5])
@pytest.mark.parametrize("name", ["node_redundancy", "edge_redundancy"])
def test_redundancy_of_a_torus_by_symmetry(name: str, value: int, folder: Path) -> None:
    """Four paths, with the symmetries that are stated, with none, and with less than the group."""
    assert forged(TORUS, f"{name}.json", folder, value=value)[0] == 1
    assert forged(TORUS, f"{name}.json", folder, symmetries=[])[0] == 0
    assert forged(TORUS, f"{name}.json", folder, symmetries=None)[0] == 0


@pytest.mark.parametrize(
    "name", ["node_redundancy", "edge_redundancy", "diameter", "mean_hops", "bisection", "throughput-all_to_all"]
)
def test_a_symmetry_that_is_none(name: str, folder: Path) -> None:
    """Chips that are exchanged without their neighbours; a map of two chips to one; a name that is no device."""
    fabric, made = design(TORUS, folder)
    honest = body(made, f"{name}.json")
    chips = [row[0] for row in json.loads(fabric)["devices"]["rows"]]
    for image in (
        {chips[0]: chips[1], chips[1]: chips[0]},
        {chips[0]: chips[1]},
        {chips[0]: chips[1], chips[1]: chips[1]},
        {"x": "x"},
    ):
        wrong: Any = deepcopy(honest)
        for holder in (wrong, wrong.get("lower", {}), wrong.get("upper", {})):
            if "symmetries" in holder:
                holder["symmetries"] = [image]
        if json.dumps(wrong) != json.dumps(honest):
            assert judged(wrong, fabric)[0] == 1, image


def test_redundancy_of_a_path_is_not_that_of_its_middle(folder: Path) -> None:
    """A claim that all chips are equivalent would compare those in the middle only."""
    fabric, made = design(PATH, folder)
    chips = [row[0] for row in json.loads(fabric)["devices"]["rows"]]
    turned = dict(zip(chips, reversed(chips), strict=True))
    shifted = dict(zip(chips, [*chips[1:], chips[0]], strict=True))
    for name in ("node_redundancy", "edge_redundancy"):
        honest = body(made, f"{name}.json") | {"symmetries": []}
        assert honest["value"] == 1 and judged(honest, fabric)[0] == 0
        assert judged(honest | {"symmetries": [turned]}, fabric)[0] == 0
        assert judged(honest | {"symmetries": [shifted]}, fabric)[0] == 1
        for value in (0, 2):
            assert judged(honest | {"value": value, "symmetries": [turned]}, fabric)[0] == 1


@pytest.mark.parametrize("name", ["bisection", "throughput-all_to_all", "diameter", "mean_hops", "reachability"])
def test_another_fabric_with_an_honest_head(name: str, folder: Path) -> None:
    """One spine less, and the certificate is stated of the new file."""
    fabric, made = design(MODELS_USED, folder)
    data = json.loads(fabric)
    if name != "reachability":
        data["links"]["rows"] = [row for row in data["links"]["rows"] if "spine0" not in row[:6]]
    else:
        data["links"]["rows"] = [row for row in data["links"]["rows"] if "node0" not in row[:6]]
    honest = body(made, f"{name}.json")
    if name == "throughput-all_to_all":
        honest["lower_bps"] = str(int(str(honest["lower_bps"]).partition("/")[0]) * 2)
    assert judged(honest, json.dumps(data))[0] == (0 if name in ("diameter", "mean_hops") else 1)


def test_lists_name_nothing_twice(folder: Path) -> None:
    fabric, made = design(MODELS_USED, folder)
    between = next(b for name in made.texts if (b := body(made, name)).get("pattern") == "between")
    assert judged(between, fabric)[0] == 0
    one = between["from"]
    assert isinstance(one, list)
    assert judged(between | {"from": [*one, one[0]]}, fabric)[0] == 1
    assert judged(between | {"from": [*one, "leaf0"]}, fabric)[0] == 1
    assert judged(between | {"to": [*one]}, fabric)[0] == 1
    cut = body(made, "bisection.json")
    assert judged(cut | {"cut": [*cut["cut"], cut["cut"][0]]}, fabric)[0] == 1  # type: ignore[index, misc]
    survives = body(made, "survives-1.json")
    assert judged(survives, fabric)[0] == 0
    assert judged(survives | {"cases": survives["cases"] * 2}, fabric)[0] == 0  # type: ignore[operator]
    assert judged(survives | {"of": ["spine", "spine"]}, fabric)[0] == 1
    assert judged(survives | {"cases": []}, fabric)[0] == 1


def test_routes_that_use_what_is_not_there(folder: Path) -> None:
    """Hubs that do not forward, trees without links, lengths of no link, different lengths in one orbit."""
    fabric, made = design(MODELS_USED, folder)
    honest = body(made, "throughput-all_to_all.json")

    def answer(route: dict[str, object], **more: object) -> int:
        lower = {"quotient": True, "routes": [{"share": 1, "parts": 5040} | route]} | more
        return judged(honest | {"lower_bps": "1", "lower": lower}, fabric)[0]

    assert answer({"by": "lengths", "lengths": []}) == 0
    assert answer({"by": "lengths", "lengths": []}, symmetries=[]) == 0
    assert answer({"by": "hubs", "hubs": {"spine0": 1}}) == 0
    assert answer({"by": "hubs", "hubs": {"node0": 1}}) == 1
    assert answer({"by": "hubs", "hubs": {"spine0": 0}}) == 1
    assert answer({"by": "lengths", "lengths": [["node0", "spine0", 1]]}) == 1
    assert answer({"by": "lengths", "lengths": [["node0", "leaf0", 0]]}) == 1
    assert answer({"by": "lengths", "lengths": [["leaf0", "spine0", 1], ["leaf0", "spine1", 2]]}) == 1
    assert answer({"by": "lengths", "lengths": [["leaf0", "spine0", 1], ["leaf0", "spine1", 2]]}, quotient=False) == 0
    assert answer({"by": "hubs", "hubs": {"spine0": 1, "spine1": 2}, "parts": 5041}) == 1
    assert answer({"by": "trees", "trees": []}) == 1
    assert answer({"by": "lengths", "lengths": [], "parts": 0}) == 1
    assert answer({"by": "lengths", "lengths": [], "share": -1}) == 1


@pytest.mark.parametrize("upper", [{"cut": ["spine0"]}, {"lengths": []}, {"lengths": [["leaf0", "spine0", 0]]}, {"lengths": None},
                                   {"lengths": [["node0", "node1", 1]]}, {"lengths": [["spine0", "leaf0", 1]]}, {}])  # fmt: skip
def test_an_upper_bound_of_nothing(upper: dict[str, object], folder: Path) -> None:
    """Of a fabric whose links between switches are the limit."""
    assert forged(NARROW, "throughput-all_to_all.json", folder, upper=upper)[0] == 1


def test_two_ports_whose_paths_are_one_text(folder: Path) -> None:
    """Device `a` with port `b.p` and device `a.b` with port `p` would be one port."""
    fabric, made = design(MODELS_USED, folder)
    data = json.loads(fabric)
    columns = data["links"]["columns"]
    a, p = columns.index("a_device"), columns.index("a_port")
    first, second = data["links"]["rows"][:2]
    paths = {row[0]: row for row in data["devices"]["rows"]}
    paths[first[a]][1], paths[second[a]][1] = "x", "x.y"
    paths[second[a]][data["devices"]["columns"].index("inside")] = first[a]
    first[p], second[p] = "y.p", "p"
    assert "one port" in judged(body(made, "reachability.json"), json.dumps(data))[1]
