"""Links inside of models: those of the network are the same as written in the fabric, and all take their ports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.fabric.graph import INSIDE
from tests.harness import compile_text, fabric_of, links_of, refused, sampled

LEAVES = "model host N { port nic[2]: 100Gbps }\nmodel switch A { port p[1..16]: 100Gbps; port q[4]: 200Gbps }\n"
CARDS = "switch lc[4]: A; switch fc[2]: A"
CASES = (
    "connect lc[0] to lc[1]",
    "connect lc[i] to fc[j] x 2 { medium backplane }",
    "connect lc[i].q[0] to fc[i // 2].q[i % 2]",
    "connect lc[*] to fc[*] spread x 4 { medium trace }",
    "connect lc[*] each { rate 50Gbps }",
    "connect lc[*] ring x 2; connect fc[0] to fc[1] x 3",
    "connect lc[*] torus; connect lc[i] to fc[i // 2]",
    "let m = 3; connect lc[i] to lc[(i + 1) % 4] where i < m",
    "connect lc[*].p[1..6] to fc[*] each",
)
PLACES = (
    ("switch ch: CH", "ch", "", "connect node[n].nic[r] to ch.lc[(n + r) % 4]"),
    ("switch ch[3]: CH", "ch[k]", "", "connect node[n].nic[r] to ch[n % 3].lc[(r)]"),
    ("pod pod[2] { switch ch[2]: CH }", "pod[g].ch[k]", "", "connect node[n].nic[r] to pod[r].ch[n % 2].lc[n % 4]"),
    ("switch ch[3]: CH", "ch[k]", "omit ch[2]", "connect node[n].nic[r] to ch[n % 2].lc[(r)]"),
    ("switch ch[2 of 3]: CH", "ch[k]", "", "connect node[n].nic[r] to ch[n % 2].lc[(r)]"),
)


def inside_and_written(case: str, place: tuple[str, str, str, str]) -> tuple[str, str]:
    """A design whose model joins its cards, and one whose fabric does."""
    declared, path, more, uses = place
    rest = f"  {more}\n  {uses}\n}}\n"
    values = case[: case.find("connect")]
    connects = [c for c in case[len(values) :].split("; ") if c]
    outside = "\n".join("  " + c.replace(" lc[", f" {path}.lc[").replace(" fc[", f" {path}.fc[") for c in connects)
    head = f"{LEAVES}model switch CH {{ {CARDS}"
    fabric = f"fabric f {{\n  host node[6]: N\n  {declared}\n"
    return f"{head}; {case} }}\n{fabric}{rest}", f"{head} }}\n{fabric}  {values}\n{outside}\n{rest}"


@pytest.mark.parametrize("place", sampled(PLACES, 2), ids=lambda p: f"{p[0]} {p[2]}".strip())
@pytest.mark.parametrize("case", CASES)
def test_they_are_those_of_a_fabric_that_writes_them(case: str, place: tuple[str, str, str, str], tmp_path: Path) -> None:
    one, two = (compile_text(text, tmp_path, models=False) for text in inside_and_written(case, place))
    f, g = one.designs[0].fabric, two.designs[0].fabric
    assert f is not None and g is not None and f.complete and g.complete
    assert links_of(f) == links_of(g) and f.link_count
    assert f.port_state.tolist() == g.port_state.tolist() and f.link_medium.tolist() == g.link_medium.tolist()
    assert sorted(f.link_rate.tolist()) == sorted(g.link_rate.tolist()) and len(f.cable_a) == len(g.cable_a)
    assert [(r.check, r.status, r.lower, r.upper) for r in one.designs[0].results] == [
        (r.check, r.status, r.lower, r.upper) for r in two.designs[0].results
    ]


NESTED = """
model host N { port nic: 100Gbps }
model switch A { port p[1..8]: 100Gbps }
model switch CARD { switch asic[2]: A; connect asic[0] to asic[1] }
model switch CH { switch lc[3]: CARD; connect lc[i].asic[0] to lc[j].asic[1] where i < j }
fabric f { host node[6]: N; switch ch[2]: CH; connect node[n].nic to ch[n % 2].lc[n // 2].asic[0] }
"""


def test_models_inside_of_models(tmp_path: Path) -> None:
    f = fabric_of(NESTED, tmp_path, models=False)
    assert f.link_count == 6 + 2 * 3 + 2 * 3
    assert ("ch[1].lc[0].asic[0].p[1]", "ch[1].lc[1].asic[1].p[1]") in links_of(f)


def test_the_devices_inside_count_for_the_limit(tmp_path: Path) -> None:
    found = compile_text(NESTED, tmp_path, models=False, max_devices=20).findings
    assert [d.code for d in found] == ["E0116"]


SCALEUP = """
model chip G { port l[4]: 100Gbps }
model host S { port nic: 100Gbps; chip gpu[2]: G; connect gpu[0].l[1] to gpu[1].l[2] { layer scaleup; medium trace } }
"""


def test_ports_of_scaleup_links_inside_are_taken(tmp_path: Path) -> None:
    text = (
        f"{SCALEUP}fabric f {{ host s[2]: S; switch leaf: SW; switch nv: SW; connect s[i].nic to leaf\n"
        "connect s[i].gpu[g] to nv x 2 { layer scaleup } }\nmodel switch SW { port p[1..8]: any }"
    )
    f = fabric_of(text, tmp_path, models=False)
    inside = {f.port_path(p) for p in range(len(f.port_state)) if f.port_state[p] == INSIDE}
    assert inside == {f"s[{i}].gpu[{g}].l[{1 + g}]" for i in range(2) for g in range(2)}
    assert not inside & {end for link in links_of(f) for end in link}


def test_an_override_decides_which_ports_are_taken(tmp_path: Path) -> None:
    text = (
        f"{SCALEUP}model host T {{ port nic: 100Gbps; chip gpu[2]: G }}\n"
        "fabric f { host s[2]: S; switch leaf: SW; switch nv: SW; connect s[i].nic to leaf; override s[1]: T\n"
        "connect s[i].gpu[g] to nv { layer scaleup } }\nmodel switch SW { port p[1..8]: any }"
    )
    f = fabric_of(text, tmp_path, models=False)
    inside = {f.port_path(p) for p in range(len(f.port_state)) if f.port_state[p] == INSIDE}
    assert inside == {"s[0].gpu[0].l[1]", "s[0].gpu[1].l[2]"}


CHASSIS = """
model host N { port nic[2]: 100Gbps }
model switch A { port p[1..16]: 100Gbps }
model switch FLAT { port p[1..16]: 100Gbps }
model switch CH { port p[1..4]: 100Gbps; switch lc[2]: A; connect lc[0] to lc[1] }
"""
OVERRIDE = (
    "CH joins devices inside it by its own connects, so an override can neither replace it nor put it in the place of another "
    "model"
)
REFUSALS = (
    (
        "host node[4]: N; switch ch[2]: CH; connect node[n].nic[r] to ch[r].lc[0]; override ch[1]: FLAT",
        "E0102",
        "override ch[1]: FLAT",
        OVERRIDE,
        "declare these devices by themselves, with the model that they have",
    ),
    (
        "host node[4]: N; switch ch[2]: FLAT; connect node[n].nic[r] to ch[r]; override ch[1]: CH",
        "E0102",
        "override ch[1]: CH",
        OVERRIDE,
        "declare these devices by themselves, with the model that they have",
    ),
    (
        "host node[4]: N; switch ch: CH; connect node[(0)].nic[0] to ch.lc[0].p[1]; connect node[(1)].nic to ch.lc[1].p[2]",
        "E0451",
        "ch.lc[0].p[1]",
        "port ch.lc[0].p[1] already has a link",
        "write `ch.lc[0].p`, which takes the lowest free port, or name a free one",
    ),
)


@pytest.mark.parametrize("case", REFUSALS, ids=lambda c: c[0])
def test_what_is_refused(case: tuple[str, str, str, str, str], tmp_path: Path) -> None:
    refused(f"fabric f {{ {case[0]} }}{CHASSIS}", case, tmp_path)


def test_two_fabrics_cannot_share_such_a_device(tmp_path: Path) -> None:
    text = (
        f"{CHASSIS}cluster c {{ host node[2]: N; switch ch: CH\n"
        "fabric one { connect node[n].nic[0] to ch.lc[0] }\nfabric two { connect node[n].nic[1] to ch.lc[0] } }"
    )
    found = [d for d in compile_text(text, tmp_path, models=False).findings if d.severity.name == "ERROR"]
    assert {d.code for d in found} == {"E0451"} and "declare them in it" in found[0].help


def test_unknowns_are_sized_with_the_links_inside(tmp_path: Path) -> None:
    text = (
        "model host N { port nic: 100Gbps }\nmodel switch A { port p[1..16]: 100Gbps }\n"
        "model switch CH { switch lc[2]: A; switch fc: A; connect lc[*] to fc spread x 4 }\n"
        "fabric f { host node[48]: N; switch ch[?]: CH; switch core[2]: A; connect node[*].nic to ch[*].lc[*] spread\n"
        "connect ch[*].fc to core[*] spread; require reachability of ports }"
    )
    found = compile_text(text, tmp_path, models=False)
    f = found.designs[0].fabric
    assert f is not None and int((f.kind == "host").sum()) == 48
    assert [s.count for s in f.sets if s.name == "ch"] == [2]
