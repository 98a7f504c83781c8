"""What links can speak: families of types, which links decide, and the words, places and numbers of what is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.fabric.transports import common_families, port_type_family
from tests.fabrics import Builder
from tests.harness import compile_text


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("NDR", "infiniband"), ("NDR200", "infiniband"), ("HDR100", "infiniband"), ("FDR10", "infiniband"), ("GDR", "infiniband"),
        ("GE400", "ethernet"), ("GE", "ethernet"), ("BASE_T", "ethernet"), ("NVLINK5", "nvlink"), ("UALINK", "ualink"),
        ("UB", "ub"), ("UB2", "ub"), ("ICI3", "ici"), ("EFA", "efa"), ("SLINGSHOT11", "slingshot"),
        ("NEW7", "new"), ("NDR900", "ndr"), ("OTHER_9_B", "other_9_b"),
    ],
)  # fmt: skip
def test_family_of_a_type(kind: str, name: str) -> None:
    assert port_type_family(kind) == name


@pytest.mark.parametrize(
    ("one", "two", "found"),
    [
        ((), ("NDR",), set()),
        (("NDR",), (), set()),
        (("any",), ("NDR",), set()),
        (("NDR",), ("any",), set()),
        (("NDR", "any"), ("NDR",), set()),
        (("NDR",), ("NDR",), {"infiniband"}),
        (("NDR", "HDR"), ("HDR", "NDR"), {"infiniband"}),
        (("NDR", "GE400"), ("GE400", "NDR"), {"infiniband", "ethernet"}),
        (("NDR", "GE400"), ("GE400", "HDR"), {"ethernet"}),
        (("NDR", "GE200"), ("GE400", "HDR"), set()),  # of one family, but no type in common
    ],
)
def test_families_in_common(one: tuple[str, ...], two: tuple[str, ...], found: set[str]) -> None:
    b = Builder()
    (a,) = b.model("host", "H", {"p": {"shape": 1, "types": one}}).classes
    (c,) = b.model("host", "K", {"p": {"shape": 1, "types": two}}).classes
    assert common_families(a, c) == found


TEXT = """fabric f {{ {}
  host h[3]: H
  host e: E
  switch s: S
  connect h[k].a to s
  {}
}}
model host H {{ port a: 400Gbps {{ type NDR, GE400 }}; port b: 400Gbps {{ type NDR }} }}
model host E {{ port a: 400Gbps {{ type GE400 }} }}
model switch S {{ port p[1..16]: 400Gbps {{ type NDR, GE400 }} }}
"""
OPEN = ("E0212", "the ports of this link can be ethernet or infiniband, and the fabric does not say which: h[0].a to s.p[1]")


@pytest.mark.parametrize(
    ("stated", "more", "transport", "found"),
    [
        ("", "", "", [OPEN]),
        ("", "connect h[k].b to s", "infiniband", []),  # those that can speak one only decide for the others
        ("", "connect e to s", "ethernet", []),
        ("", "connect h[0].b to s\n connect e to s", "", [OPEN]),  # they do not agree
        ("transport ethernet", "", "ethernet", []),
        ("transport infiniband", "connect h[0].b to s", "infiniband", []),
        ("transport roce", "connect e to s", "roce", []),
        ("roce { dscp 26; priority 3 }", "", "roce", []),
        ("routing bgp { unnumbered }", "", "ethernet", []),
        ("subnet_manager h[(0)]", "", "infiniband", []),
        ("transport infiniband", "connect e to s", "infiniband",
         [("E0213", "e.a to s.p[4] share no type that carries infiniband: they are ethernet")]),
        ("transport ethernet", "connect h[k].b to s", "ethernet",
         [("E0213", "h[0].b to s.p[4] share no type that carries ethernet: they are infiniband")]),
        ("transport nvlink", "", "nvlink",
         [("E0213", "h[0].a to s.p[1] share no type that carries nvlink: they are ethernet or infiniband")]),
    ],
)  # fmt: skip
def test_which_links_decide(stated: str, more: str, transport: str, found: list[tuple[str, str]], tmp_path: Path) -> None:
    """The first link that leaves it open, or cannot speak it, is named with the number of those of its statement and ports."""
    result = compile_text(TEXT.format(stated, more), tmp_path, models=False, verify=False)
    errors = [d for d in result.findings if d.code in ("E0212", "E0213")]
    single = any(m.startswith("e.a") for _, m in found)
    assert [(d.code, d.message, d.count) for d in errors] == [(c, m, 1 if single else 3) for c, m in found]
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.transport == transport
    mine = "type GE400" if single else "type NDR" if any(".b to" in m for _, m in found) else "type NDR, GE400"
    for d in errors:
        assert [x.message for x in d.labels] == [*(["stated here"] if stated else []), mine, "type NDR, GE400"]
        assert d.help is not None and d.help.startswith("write `transport ")


CHIPS = """fabric f {{
  host h[2]: T
  switch v: V
  {}
  connect h[i].gpu[j].nv to v {{ layer scaleup }}
}}
model chip G {{ port nv: 200Gbps {{ type NVLINK }} }}
model host T {{ port a: 400Gbps {{ type NDR }}; chip gpu[2]: G }}
model switch V {{ port p[8]: 200Gbps {{ type NVLINK }} }}
model switch S {{ port p[8]: 400Gbps {{ type NDR, GE400 }} }}
"""


@pytest.mark.parametrize(("network", "transport"), [("", "nvlink"), ("switch s: S; connect h[i].a to s", "infiniband")])
def test_scale_up_links_decide_only_where_there_are_no_others(network: str, transport: str, tmp_path: Path) -> None:
    result = compile_text(CHIPS.format(network), tmp_path, models=False, verify=False)
    assert not [d for d in result.findings if d.severity.word == "error"]
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.link_count == (4 if not network else 6)
    assert fabric.transport == transport
