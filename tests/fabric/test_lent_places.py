"""A place is said once, wherever: in the cluster's block, or in any fabric that has the device."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from tdsl.compile.compiler import Compilation
from tests.harness import compile_text, places

MODELS = """
model switch SW { port p[1..64]: 400Gbps { type NDR }; height 1U; power 2kW max 2kW }
model host N { port a: 400Gbps { type NDR }; port b: 400Gbps { type NDR }; height 2U; power 1kW max 1kW }
"""
HALLS = (
    "hall h { row A { rack 1..3 { height 42U; power 2 x 50kW } }; pitch rack 0.6m; tray above 2.6m; slack 1m }",
    "hall g { row B { rack 1..3 { height 42U; power 2 x 50kW } }; pitch rack 0.6m; tray above 2.6m; slack 1m }",
    "distance h to g 30m",
)
SAID = {  # a place, and the fabrics in whose block it may be said
    "place node[n] in h.A[n % 2 + 1] at 1U + 2U*(n // 2)": ("one", "two"),
    "place spare[*] in g.B[1] stacked from 1U": ("one", "two"),
    "place {one}leaf[i] in h.A[i + 1] at 30U": ("one",),
    "for k in 0..1 {{ place {two}top[(k)] in g.B[k + 1] at 30U }}": ("two",),
    "place {two}su[0].edge in h.A[3] at 5U": ("two",),
}
BODY = {
    "one": "switch leaf[2]: SW; connect node[n].a to leaf[n % 2]; connect spare[n].a to leaf[n]; connect leaf[0] to leaf[1]",
    "two": "group su[1] { switch edge: SW }; switch top[2]: SW; connect node[n].b to top[n % 2]\n"
    "connect spare[n].b to su[0].edge; connect su[0].edge to top[*] each",
}


def cluster(said: dict[str, str]) -> str:
    """The cluster with each place in the block of a fabric, or, where this is "", in that of the cluster."""
    inside = {"": [], "one": [], "two": []}
    for text, block in said.items():
        head = {name: "" if block else f"{name}." for name in BODY}
        inside[block].append(text.format(**head))
    fabrics = [f"fabric {name} {{\n" + "\n".join([body, *inside[name]]) + "\n}" for name, body in BODY.items()]
    return "\n".join(["cluster k {", "host node[4]: N; host spare[2]: N", *HALLS, *inside[""], *fabrics, "}"]) + MODELS


def told(c: Compilation) -> list[object]:
    """Where everything is and how long cables are, in each fabric and in the cluster."""
    assert [d for d in c.findings if d.code != "E0210"] == []
    out: list[object] = []
    for design in (*c.designs, *c.clusters):
        f = design.fabric
        assert f is not None and f.places is not None
        for d in range(f.device_count):
            rack = int(f.places.device_rack[d])
            where = f.places.hall_name(rack), f.places.rack_name(rack), int(f.places.device_unit[d])
            out.append((design.name, f.device_name(d), where))
        out.append(sorted(zip(f.link_a.tolist(), f.link_b.tolist(), f.link_run.tolist(), strict=True)))
    return out


def test_wherever_a_place_is_said_it_is_the_same_design(tmp_path: Path) -> None:
    rng = Random(4)
    wanted = told(compile_text(cluster(dict.fromkeys(SAID, "")), tmp_path, models=False, verify=False))
    assert ("k", "two-su0-edge", ("h", "A03", 5)) in wanted and ("one", "spare1", ("g", "B01", 3)) in wanted
    for _ in range(6):
        said = {text: rng.choice(("", *blocks)) for text, blocks in SAID.items()}
        assert told(compile_text(cluster(said), tmp_path, models=False, verify=False)) == wanted, said


def test_a_place_that_two_fabrics_say(tmp_path: Path) -> None:
    """Said alike it is accepted; said differently it is one finding with both places."""
    once = cluster(dict.fromkeys(SAID, ""))
    node = "place node[n] in h.A[n % 2 + 1] at 1U + 2U*(n // 2)"
    both = once.replace(node, "").replace("connect node[n].a", f"{node}; connect node[n].a")
    alike = both.replace("connect node[n].b", f"{node}; connect node[n].b")
    assert told(compile_text(alike, tmp_path, models=False, verify=False)) == told(
        compile_text(once, tmp_path, models=False, verify=False)
    )
    other = both.replace("connect node[n].b", "place node[n] in h.A[3] at 10U + 2U*n; connect node[n].b")
    (found,) = compile_text(other, tmp_path, models=False, verify=False).findings
    assert found.code == "E0206" and found.message == (
        "node[0] is placed in rack A03 of hall h at 10U here, and in rack A01 of hall h at 1U by another fabric (and 3 more)"
    )


def test_automatic_places_of_a_cluster(tmp_path: Path) -> None:
    """All devices get a place, once; the same in each fabric; and no rack is too full."""
    text = re.sub(r"(?m)^(place|for).*$", "", cluster(dict.fromkeys(SAID, "")))
    c = compile_text(text.replace(HALLS[2], "place auto in h, g { hosts 3 per rack }"), tmp_path, models=False)
    assert [d.code for d in c.findings] == ["E0210"] and "puts 11 devices" in c.findings[0].message
    whole, *members = (d.fabric for d in (*c.clusters, *c.designs))
    assert whole is not None and whole.places is not None and (whole.places.device_rack >= 0).all()
    for k, f in enumerate(members):
        assert f is not None and f.places is not None
        rows = whole.member_rows[k]
        assert f.places.device_rack.tolist() == whole.places.device_rack[rows].tolist()
        assert f.places.device_unit.tolist() == whole.places.device_unit[rows].tolist()
    assert {r.status for r in c.clusters[0].results if r.check == "rack_space"} == {"proved"}


@pytest.mark.parametrize(
    ("statement", "code", "said"),
    [
        ("place lef[*] in h.A[1]", "E0101", "there is no device or group `lef` here"),
        ("place one.lef[*] in h.A[1]", "E0101", "there is no device or group `lef` here"),
        ("place three.leaf[*] in h.A[1]", "E0101", "there is no device or group `three` here"),
        ("omit one", "E0120", "`one` is a fabric, and this is about devices"),
        ("for i in 0..1 { naming two.tp[i] \"x\" }", "E0101", "there is no device or group `tp` here"),
        ("place one.leaf[*] in hh.A[1]", "E0101", "there is no hall `hh` here"),
    ],
)  # fmt: skip
def test_nothing_said_of_no_fabric_is_dropped(statement: str, code: str, said: str, tmp_path: Path) -> None:
    text = cluster({}).replace("cluster k {", f"cluster k {{ {statement}")
    found = [d for d in compile_text(text, tmp_path, models=False, verify=False).findings if d.code not in ("E0404", "E0001")]
    assert places(found) == [(code, 1)] and found[0].message.startswith(said), [d.message for d in found]
