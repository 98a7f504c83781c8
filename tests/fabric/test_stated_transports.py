"""Transports that a design states or implies: the exact words of what is found, and links that alone are there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tdsl.fabric.components import component_labels, joined_groups
from tests.harness import compile_text

TEXT = """fabric f {{ {}
  host h[3]: H
  switch s[2]: S
  {}
  {}
}}
model host H {{ port a: 400Gbps {{ type NDR, GE400 }}; port b: 400Gbps {{ type NDR }} }}
model switch S {{ port p[1..16]: 400Gbps {{ type NDR, GE400 }} }}
"""
A, B, S = "connect h[k].a to s[0]", "connect h[k].b to s[0]", "connect s[0] to s[1]"
OPEN = "of this link can be ethernet or infiniband, and the fabric does not say which:"
STATE = "write `transport ethernet` or `transport infiniband` in the fabric's block"
HOST, SWITCH, ONE = "type NDR, GE400", "type NDR, GE400", "type NDR"


@pytest.mark.parametrize(
    ("stated", "connects", "transport", "found"),
    [
        ("", (A, S), "", ("E0212", f"the ports {OPEN} h[0].a to s[0].p[1]", STATE, 3, [HOST, SWITCH])),
        ("", (S, ""), "", ("E0212", f"the ports {OPEN} s[0].p[1] to s[1].p[1]", STATE, 1, [SWITCH])),  # one class, one label
        ("", (S, B), "infiniband", None),
        ("transport nvlink", (A, S), "nvlink",
         ("E0213", "h[0].a to s[0].p[1] share no type that carries nvlink: they are ethernet or infiniband",
          "write `transport ethernet`, or connect ports of another type", 3, ["stated here", HOST, SWITCH])),
        ("transport roce", (B, S), "roce",
         ("E0213", "h[0].b to s[0].p[1] share no type that carries roce: they are infiniband",
          "write `transport infiniband`, or connect ports of another type", 3, ["stated here", ONE, SWITCH])),
        ("transport ethernet", (S, B), "ethernet",
         ("E0213", "h[0].b to s[0].p[2] share no type that carries ethernet: they are infiniband",
          "write `transport infiniband`, or connect ports of another type", 3, ["stated here", ONE, SWITCH])),
        # implied by a block: ports that cannot speak it are no error of this kind
        ("routing bgp { unnumbered }", (B, S), "ethernet", None),
        ("roce { dscp 26; priority 3 }", (B, S), "roce", None),
        ("partition x 1 { full h[(0)].b }", (B, S), "infiniband", None),
        ("partition x 1 { full h[(0)].b }; routing bgp { unnumbered }", (B, S), "ethernet", None),
        ("roce { dscp 26; priority 3 }; routing bgp { unnumbered }", (A, S), "roce", None),
    ],
)  # fmt: skip
def test_words_about_transports(
    stated: str, connects: tuple[str, str], transport: str, found: tuple[str, str, str, int, list[str]] | None, tmp_path: Path
) -> None:  # fmt: skip
    """The first link in the order of the text, with the number of those of its connect and ports."""
    text = TEXT.format(stated.replace("}; ", "}\n  "), *connects)
    result = compile_text(text, tmp_path, models=False, verify=False)
    said = [(d.code, d.message, d.help, d.count, [x.message for x in d.labels])
            for d in result.findings if d.code in ("E0212", "E0213")]  # fmt: skip
    assert said == ([found] if found else [])
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.transport == transport and fabric.transport_stated == stated.startswith("transport")


def test_scale_up_links_whose_network_is_not_built(tmp_path: Path) -> None:
    """No link of the network is there, so theirs is the transport."""
    text = """fabric f {
  host h[2]: T; switch v: V; switch s: S
  connect h[i].gpu[j].nv to v { layer scaleup }
  connect h[i].a to s
  omit s
}
model chip G { port nv: 200Gbps { type NVLINK } }
model host T { port a: 400Gbps { type NDR }; chip gpu[2]: G }
model switch V { port p[8]: 200Gbps { type NVLINK } }
model switch S { port p[8]: 400Gbps { type NDR } }
"""
    for body, transport in ((text, "nvlink"), (text.replace("  omit s\n", ""), "infiniband")):
        fabric = compile_text(body, tmp_path, models=False, verify=False).designs[0].fabric
        assert fabric is not None and (fabric.transport, fabric.layer) == (transport, "")


# ------------------------------------------------------------ components


def test_no_nodes_are_no_components() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert component_labels(0, none, none).tolist() == [] and joined_groups(none, none, none).tolist() == []


@pytest.mark.parametrize("seed", range(20))
def test_components_of_groups(seed: int) -> None:
    """Nodes of one group are joined already; a label is the rank of the lowest group of a component."""
    rng = np.random.default_rng(seed)
    nodes, links = int(rng.integers(1, 12)), int(rng.integers(0, 10)) * (1 + 9 * (seed % 2))
    group = rng.integers(0, 5, nodes) * 3 + 2
    a, b = rng.integers(0, nodes, links), rng.integers(0, nodes, links)
    known = sorted(set(group.tolist()))
    label = [known.index(g) for g in group.tolist()]
    for _ in range(nodes):
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            low, gone = sorted((label[x], label[y]))
            label = [low if n == gone else n for n in label]
    assert joined_groups(a, b, group).tolist() == label
