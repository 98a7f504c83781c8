"""Statements that would be easy to pass over in silence are refused, and odd ones that mean something are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text, fabric_of, places

REFUSED = {
    "fabric f { switch a[3]: SW; connect a[*] ring degree 3 }": "E0457",
    "fabric f { switch a[3]: SW; switch b[3]: SW; connect a[*] to b[*] each shift 3 }": "E0457",
    "fabric f { switch a[4]: SW; connect a[*] random degree 3 }": "E0457",
    "fabric f { switch a[2]: SW { split nci 2 }; connect a[*] each }": "E0101",
    "fabric f { switch a[2]: SW { split p 0 }; connect a[*] each }": "E0120",
    "fabric f { switch a[2]: SW { split p 2 }; connect a[*] each }": "E0120",
    'fabric f { switch a[2] "Leaf": SW; connect a[*] each }': "E0120",
    "fabric f { switch a[2]: SW; connect a[*] each { rate 3m } }": "E0103",
    "fabric f { switch a[2]: SW; connect a[*] each { medium wool } }": "E0101",
    'fabric f { switch a[2]: SW; connect a[*] each { length "3m" } }': "E0103",
    "model switch X { port p[1..4]: 400Gbps; powr 700W }\nfabric f { switch a[2]: X; connect a[*] each }": "E0118",
    "model switch X { port p[1..4]: 400Gbps; heigt 1U }\nfabric f { switch a[2]: X; connect a[*] each }": "E0118",
    "model host H { port nic[2]: 1Gbps; numa cpu { arch x }; pcie plx[2] { on cpu[i] } }\n"
    "fabric f { host h: H; switch s[2]: SW; connect s[*] each }": "E0109",
    "fabric f { switch a[2]: SW; connect a[*] each; omit a[9] }": "E0108",
    'fabric f { switch a[2]: SW; connect a[*] each; naming a[i] "x"; naming a[(0)] "y" }': "E0104",
    "fabric f { switch a[2]: SW; connect a[*] each; override a[(0)]: NODE }": "E0102",
    "fabric f { switch a[2]: NODE; connect a[*] each }": "E0102",
    "fabric f { let x: int = 1.5; switch a[2]: SW; connect a[*] each }": "E0103",
    "fabric f { let x = 1 where x > 2; switch a[2]: SW; connect a[*] each }": "E0110",
    "fabric f { let x = gf_root(6); switch a[2]: SW; connect a[*] each }": "E0115",
    "fabric f { switch a[2]: SW { role manager }; connect a[*] each }": "E0118",
    "fabric f { host a[2]: BOX { role manager; role storage }; connect a[*] each }": "E0104",
    "fabric f { switch a[2]: SW { split p 1 }; connect a[*] each }": "E0120",
    "fabric f { switch a[2]: SW; connect a[*] each x 0 }": "E0111",
    "fabric f { switch a[2]: SW; connect a[0] to a[1] x 0 }": "E0120",
    "fabric f { }": "E0123",
    "fabric f { switch a[2]: SW; connect a[*] each; omit a }": "E0123",
    "fabric f { switch a[3]: SW; connect a[[0, 0, 1]] each }": "E0120",
    "fabric f { switch a[3]: SW; connect a[0..2], a[0..1] each }": "E0120",
    "fabric f { switch a[3]: SW; connect a[*] ring { class x, y } }": "E0120",
    "fabric f { chip a[3x3]: GPU; connect a[*] torus { class x, y, z } }": "E0120",
    "fabric f { switch a[2]: SW; connect a[*] each; omit a[i] where i > 5 }": "E0124",
    "fabric f { switch a[2]: SW; connect a[*] each; connect a[i] to a[j] where i > 5 }": "E0124",
    'fabric f { switch a[2]: SW; connect a[*] each; naming a[i] "x" where i > 5 }': "E0124",
    "def g(n: int): int = g(n - 1) + 1\nfabric f { switch a[g(2)]: SW; connect a[*] each }": "E0114",
    "fabric f { switch a[60000]: SW; connect a[*] each }": "E0116",
    'fabric f { switch a[2]: SW; connect a[*] each; naming a[i] "{i:0999999999}" }': "E0116",
    "model switch Q { port p[60000]: 10Gbps }\nfabric f { switch a[4000]: Q; connect a[*] ring }": "E0116",
    "fabric f { switch leaf[2]: SW; connect leef[*] ring }": "E0101",
    "fabric f { switch a[4]: SW; for i in range(4) { connect a[(i)] to a[(i + 1) % 4] } }": "E0101",
    "switch a: SW\nfabric f { switch a[2]: SW; connect a[*] each }": "E0118",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused_once(text: str, tmp_path: Path) -> None:
    codes = [d.code for d in compile_text(text, tmp_path, verify=False).findings]
    assert codes == [REFUSED[text]]


def test_a_guard_that_leaves_nothing_is_a_warning(tmp_path: Path) -> None:
    text = "fabric f { switch a[2]: SW; connect a[*] each; omit a[i] where i > 5 }"
    (finding,) = compile_text(text, tmp_path).findings
    assert finding.severity.word == "warning" and finding.span is not None and finding.span.text == "i > 5"


def test_circuits_in_copies(tmp_path: Path) -> None:
    text = """fabric f {
      switch a[3]: SW
      ocs o: OPTIC
      connect a[i].p[q] to o
      circuit a[i] to a[(i + 1) % 3] x 2
    }"""
    assert fabric_of(text, tmp_path).link_count == 6


def test_a_param_at_the_top_of_a_file(tmp_path: Path) -> None:
    text = "param n: int = 2 where n <= 4\nfabric f { switch a[n]: SW; connect a[*] each }"
    assert fabric_of(text, tmp_path).link_count == 1
    result = compile_text(text, tmp_path, verify=False, set={"n": 4})
    assert result.designs[0].parameters == {"n": 4}
    assert places(compile_text(text, tmp_path, verify=False, set={"n": 5}).findings) == [("E0110", 1)]


def test_values_in_a_model_stand_in_any_order(tmp_path: Path) -> None:
    text = "model switch X { port p[1..n]: 400Gbps; let n = 4 }\nfabric f { switch a[2]: X; connect a[*] each }"
    assert fabric_of(text, tmp_path).port_base.tolist() == [0, 4, 8]


def test_an_article_before_a_vowel(tmp_path: Path) -> None:
    (finding,) = compile_text("fabric f { let x = 3m + 2; switch a[2]: SW; connect a[*] each }", tmp_path, verify=False).findings
    assert "an int (2) cannot be added to a length (3m)" in finding.message


def test_a_torus_in_copies_keeps_its_directions(tmp_path: Path) -> None:
    text = "model chip K { port p[12]: 100Gbps }\nfabric f { chip c[3x3]: K; connect c[*] torus x 2 }"
    f = fabric_of(text, tmp_path)
    assert f.link_count == 36
    ends = {(f.port_path(int(a)), f.port_path(int(b))) for a, b in zip(f.link_a, f.link_b, strict=True)}
    assert {("c[0, 0].p[0]", "c[1, 0].p[1]"), ("c[0, 0].p[6]", "c[1, 0].p[7]"), ("c[0, 0].p[8]", "c[0, 1].p[9]")} <= ends


def test_planes_declared_apart_are_two(tmp_path: Path) -> None:
    text = """fabric f {
      host h[2]: BOX
      plane red { switch leaf: SW }
      plane blue { switch leaf: SW }
      connect h[i].nic[(0)] to red.leaf
      connect h[i].nic[(1)] to blue.leaf
      connect red.leaf to blue.leaf
    }"""
    assert places(compile_text(text, tmp_path).findings) == [("E0402", 7)]


@pytest.mark.parametrize("degree", [10, 11])
def test_dense_random_graphs_exist(degree: int, tmp_path: Path) -> None:
    text = f"model switch R {{ port p[16]: 1Gbps }}\nfabric f {{ switch r[12]: R; connect r[*] random degree {degree} seed 1 }}"
    assert fabric_of(text, tmp_path).link_count == 12 * degree // 2


def test_managers_do_not_set_the_figures(tmp_path: Path) -> None:
    """Where no host has accelerators, hosts without a written role are what the fabric is for."""
    text = """model host PC { port nic[2]: 400Gbps { type NDR } }
    fabric f {
      host pc[4]: PC
      host boss: PC { role manager }
      switch leaf[2]: SW
      connect pc[h].nic[i] to leaf[i]
      connect boss.nic[0] to leaf[0]
      connect leaf[*] each
      require edge_redundancy == 2
    }"""
    assert places(compile_text(text, tmp_path).findings) == []
