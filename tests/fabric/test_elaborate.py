"""Paths, groups, extend, override, split, via, circuits, chips inside hosts."""

from __future__ import annotations

from pathlib import Path

from tests.harness import compile_text, fabric_of, places


def test_a_breakout_needs_its_part(tmp_path: Path) -> None:
    text = """
    model switch LANES { port p[1..2]: 800Gbps { split 2 } }
    model switch ONE { port p[1..4]: 400Gbps }
    fabric f {
      switch a: LANES { split p 2 }
      switch b[4]: ONE
      connect a.p[q, lane] to b[2*(q - 1) + lane]
    }"""
    assert places(compile_text(text, tmp_path).findings) == [("E0202", 7)]
    for setting, codes in (("cable TWO", []), ("cable ONE_LEG", ["E0202"]), ('cable "X"', ["E0202"]), ("cable SLOW", ["E0203"]),
                           ("cable TOW", ["E0102"])):  # fmt: skip
        facts = {"TWO": "rate 800Gbps; legs 2", "ONE_LEG": "rate 800Gbps", "SLOW": "rate 400Gbps; legs 2"}
        parts = "".join(f"\nmodel cable {name} {{ {fact} }}" for name, fact in facts.items())
        wired = text.replace("+ lane]", "+ lane] { " + setting + " }") + parts
        assert [d.code for d in compile_text(wired, tmp_path).findings] == codes


def test_uses_an_alias_and_a_folder(tmp_path: Path) -> None:
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "one.fab").write_text("model switch ONE { port p[1..4]: 100Gbps }")
    (tmp_path / "house" / "two.fab").write_text("model switch TWO { port p[1..4]: 100Gbps }")
    text = "use house (ONE as EDGE, TWO)\nfabric f { switch a: EDGE; switch b: TWO; connect a to b }"
    assert fabric_of(text, tmp_path).link_count == 1
