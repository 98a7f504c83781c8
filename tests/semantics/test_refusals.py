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
    "fabric f { switch a[2]: SW; connect a[*] each { layer scaleup } }": "E0118",
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
    "fabric f { switch a[?]: SW; connect a[*] each }": "E0117",
    "switch a: SW\nfabric f { switch a[2]: SW; connect a[*] each }": "E0118",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused_once(text: str, tmp_path: Path) -> None:
    codes = [d.code for d in compile_text(text, tmp_path, verify=False).findings]
    assert codes == [REFUSED[text]]


def test_a_guard_may_leave_nothing(tmp_path: Path) -> None:
    text = "fabric f { switch a[2]: SW; connect a[*] each; connect a[i] to a[j] where i > 5; omit a[i] where i > 5 }"
    assert fabric_of(text, tmp_path).link_count == 1


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
