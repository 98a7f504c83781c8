"""What the page of `tdsl view` holds of a fabric: marks, models, cables, pools and places, read back from its packed data."""

from __future__ import annotations

import re
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl import __version__
from tdsl.viewer import fabric_page
from tdsl.viewer.fabric_page import ViewerMark, rows_of_mask, viewer_page
from tests.fabrics import GBPS, Builder
from tests.targets.test_viewer import unpacked


def small() -> Builder:
    b = Builder("small")
    host = b.devices("node", b.model("host", "H", {"p": 4}, 1), 3)
    leaf = b.devices("plane pl.leaf", b.model("switch", "L", {"p": {"shape": 8, "rate": None}}), 2, 2)
    for h in range(3):
        for k in range(4):
            b.link(b.free(host, h), b.free(leaf, k), rate=(400 if k % 2 else 100) * GBPS, cls=f"rail{k % 3}")
    b.omit(2)
    return b


def packs(html: str) -> list[str]:
    return re.findall(r'<script type="application/octet-stream" class="pack">([^<]*)</script>', html)


def test_marks_and_facts_of_a_page() -> None:
    fabric = small().build()
    marks = [
        ViewerMark("cut", "A cut", "text", np.array([1, 2]), np.array([0, 3, 5])),
        ViewerMark("finding", "W1", "more", devices=np.array([4]), severity="warning"),
    ]
    html = viewer_page([(fabric, marks, {"claims": [1], "name": "other"}), (fabric, [], {})], "<A & B>")
    first, second = packs(html)
    assert "<title>&lt;A &amp; B&gt;" in html and "@@" not in re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    header, columns = unpacked(first)
    assert header["marks"] == [
        {"kind": "cut", "title": "A cut", "text": "text", "severity": ""},
        {"kind": "finding", "title": "W1", "text": "more", "severity": "warning"},
    ]
    assert (header["claims"], header["name"], header["title"], header["tdsl"]) == ([1], "other", "small", __version__)
    assert [columns[f"mark{k}_{w}"] for k in (0, 1) for w in ("devices", "links")] == [[1, 2], [0, 3, 5], [4], []]
    header, columns = unpacked(second)
    assert header["marks"] == [] and not [c for c in columns if c.startswith("mark")] and header["name"] == "small"


def test_columns_of_a_page() -> None:
    fabric = small().build()
    header, columns = unpacked(packs(viewer_page([(fabric, [], {})], ""))[0])
    assert (columns["unbuilt"], columns["tier"], columns["plane"]) == ([2], [0, 0, 0, 1, 1, 1, 1], [-1, -1, -1, 0, 0, 1, 1])
    assert (columns["below"], columns["asn"], columns["device_model"]) == ([0] * 7, [], [0, 0, 0, 1, 1, 1, 1])
    assert (header["rates"], header["classes"]) == ([100 * GBPS, 400 * GBPS], list(fabric.classes))
    assert columns["link_rate"] == [0, 1] * 4 and columns["link_a"] == fabric.link_a.tolist()
    assert columns["link_b"] == fabric.link_b.tolist() and columns["link_class"] == fabric.link_class.tolist()
    assert "via_a" not in columns and "link_leg_b" not in columns and header["pools"] == [] and header["places"] is None
    assert header["facts"] == {} and header["names"] == {}
    node, leaf = header["sets"]
    assert node == {
        "parts": [["node", "host", [[0, 3]]]], "prefix": "", "kind": "host", "role": "accelerator", "first": 0, "count": 3,
        "inside": -1, "shape": {},
    }  # fmt: skip
    assert (leaf["parts"], leaf["first"], leaf["count"]) == ([["pl", "plane", [[0, 2]]], ["leaf", "switch", [[0, 2]]]], 3, 4)
    host, switch = header["models"]
    assert (host["name"], host["ports"], host["height"], host["accelerators"], host["rate"]) == ("H", 4, 0, 1, [400 * GBPS] * 4)
    assert (switch["rate"], switch["ports"], switch["accelerators"]) == ([0] * 8, 8, 0)
    assert host["path"] == [f"p{n}" for n in range(4)] or host["path"] == [f"p[{n}]" for n in range(4)]
    assert switch["path"][7].replace("[", "").replace("]", "") == "p7"
    # every leg carries the link of its row
    order = [columns["leg_a"].index(a) for a in columns["link_a"]]
    assert columns["link_leg"] == order and sorted(order) == list(range(8))
    assert [columns["leg_b"][n] for n in order] == columns["link_b"]


def test_links_through_a_panel() -> None:
    """The ports at which a link enters and leaves it, for all links if one crosses any."""
    fabric = small().build()
    fabric.link_via_a[2], fabric.link_via_b[2] = 13, 14
    columns = fabric_page._packed_fabric(fabric, [], {})[1]
    assert columns["via_a"].tolist() == [-1, -1, 13, *[-1] * 5] and columns["via_b"].tolist() == [-1, -1, 14, *[-1] * 5]


@pytest.mark.parametrize("seed", range(40))
def test_legs_of_links(seed: int) -> None:
    """In the order of the plan: the first leg of a link, and the last one where it crosses two; -1 for none."""
    random = Random(seed)
    count, legs = random.randint(1, 5), random.randint(1, 8)
    order = list(range(legs))
    random.shuffle(order)
    pairs = sorted((random.randrange(count), leg) for leg in range(legs))
    cable_a, cable_b, group, number, cls = (np.array([random.randrange(9) for _ in range(legs)]) for _ in range(5))
    fabric: Any = SimpleNamespace(
        link_count=count, device_model=np.array([3]), cable_a=cable_a, cable_b=cable_b, cable_group=group, cable_leg=number,
        cable_class=cls,
    )  # fmt: skip
    wires: Any = SimpleNamespace(
        cable_order=(np.array(order), None), crossings=tuple(np.array([p[i] for p in pairs]) for i in (0, 1)),
        identity=SimpleNamespace(lead=cable_b),
    )  # fmt: skip
    found = fabric_page._viewer_cable_legs(fabric, wires)
    mine = [[order.index(leg) for link, leg in pairs if link == k] for k in range(count)]
    near, far = ([m[at] if m else -1 for m in mine] for at in (0, -1))
    assert found["link_leg"].tolist() == near
    assert ("link_leg_b" in found) == (near != far) and found.get("link_leg_b", found["link_leg"]).tolist() == far
    for name, column in (
        ("leg_a", cable_a),
        ("leg_b", cable_b),
        ("leg_cable", group),
        ("leg_number", number),
        ("leg_class", cls),
    ):
        assert found[name].tolist() == column[order].tolist()
    assert found["leg_lead"].tolist() == cable_b[order].tolist()


def test_no_legs() -> None:
    none = np.zeros(0, np.int64)
    fabric: Any = SimpleNamespace(
        link_count=2, device_model=none, cable_a=none, cable_b=none, cable_group=none, cable_leg=none, cable_class=none
    )
    wires: Any = SimpleNamespace(cable_order=(none, none), crossings=(none, none), identity=SimpleNamespace(lead=np.array([7])))
    found = fabric_page._viewer_cable_legs(fabric, wires)
    assert found["link_leg"].tolist() == [-1, -1] and "link_leg_b" not in found and found["leg_lead"].tolist() == []


def test_facts_of_cables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of the plan that say something, where statements or chosen parts do; values in the order in which they come."""
    table = {
        "part": ["", "B", "A", "B"], "length_m": [3, "", 3, 3], "medium": [""] * 4, "a_optic": ["x"] * 4, "b_optic": [""] * 4,
        "colour": ["", "", "", ""],
    }  # fmt: skip
    wires: Any = SimpleNamespace(cables=SimpleNamespace(column=table.__getitem__))
    wanted = {"part": ["", "B", "A"], "length_m": [3, ""], "a_optic": ["x"]}
    numbers = {"fact_part": [0, 1, 2, 1], "fact_length_m": [0, 1, 0, 0], "fact_a_optic": [0] * 4}
    for chosen, names, shown in ((None, ("rate",), False), ("x", (), True), *((None, (n, "z"), True) for n in
                                 ("cable", "length", "medium", "colour", "optics"))):  # fmt: skip
        monkeypatch.setattr(fabric_page, "physical_of", lambda f, chosen=chosen: chosen)
        columns: dict[str, Any] = {}
        fabric: Any = SimpleNamespace(statements=[SimpleNamespace(settings={}), SimpleNamespace(settings=dict.fromkeys(names))])
        assert fabric_page._viewer_cable_facts(fabric, wires, columns) == (wanted if shown else {})
        assert {k: v.tolist() for k, v in columns.items()} == (numbers if shown else {})


def test_pools_and_places() -> None:
    columns: dict[str, Any] = {}
    dealt = SimpleNamespace(pool="the pools", rank="the ranks")
    pool = SimpleNamespace(
        kind="links", version=4, first=5, step=2, prefix=31, vrf="", network="10.0.0.0/24", interface="", gateway="no"
    )
    fabric: Any = SimpleNamespace(addressing=SimpleNamespace(dealt={("links", 4): dealt}, pools=(pool,)), places=None)
    assert fabric_page._viewer_address_pools(fabric, columns) == [
        {
            "kind": "links",
            "version": 4,
            "first": "5",
            "step": 2,
            "prefix": 31,
            "vrf": "",
            "network": "10.0.0.0/24",
            "interface": "",
        }
    ]
    assert columns == {"pool_links_4": "the pools", "rank_links_4": "the ranks"}
    assert fabric_page._viewer_racks(fabric, columns) is None
    names = ("device_rack", "device_unit", "rack_hall", "rack_row", "rack_x", "rack_y", "rack_number")
    fabric.places = SimpleNamespace(
        **{n: n.upper() for n in names}, halls=[SimpleNamespace(name="h1", rows=[SimpleNamespace(name=n) for n in "AB"])],
        rack_names=["A01", "B01"], rack_kind=[SimpleNamespace(height=48), SimpleNamespace(height=None)],
    )  # fmt: skip
    columns = {}
    assert fabric_page._viewer_racks(fabric, columns) == {
        "halls": [{"name": "h1", "rows": ["A", "B"]}], "racks": ["A01", "B01"], "height": [48, 0],
    }  # fmt: skip
    assert columns == {n: n.upper() for n in names}
    fabric.addressing = None
    assert fabric_page._viewer_address_pools(fabric, columns) == [] and len(columns) == len(names)


def test_rows_of_a_mask() -> None:
    assert rows_of_mask(np.array([False, True, False, True])).tolist() == [1, 3]
