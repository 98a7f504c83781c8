"""The advice of findings about cables and rates, followed as it is written: the design then compiles."""

from __future__ import annotations

import re
from pathlib import Path

from tests.harness import compile_text
from tests.tables import sections

TANGLED, BREAKOUT, RATES = sections(__file__).values()


def refused(text: str, code: str, folder: Path) -> list[str]:
    """What the help of the one finding has in backquotes."""
    (finding,) = [d for d in compile_text(text, folder, models=False).findings if d.severity.word == "error"]
    assert finding.code == code, finding
    return re.findall(r"`([^`]*)`", finding.help)


def stands(text: str, folder: Path) -> None:
    result = compile_text(text, folder, models=False)
    assert not [d for d in result.findings if d.severity.word == "error"], [(d.code, d.message) for d in result.findings]
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.link_count


def test_many_connectors_to_many(tmp_path: Path) -> None:
    via, panel, model = refused(TANGLED, "E0201", tmp_path)
    mended = TANGLED.replace("i % 2]\n", f"i % 2] {via}\n").replace("  connect", f"  {panel}\n  connect")
    stands(f"{model}\n{mended}", tmp_path)


def test_a_break_out(tmp_path: Path) -> None:
    cable, model = refused(BREAKOUT, "E0202", tmp_path)
    assert "legs 2" in model and "rate 800Gbps" in model
    stands(f"{model}\n" + BREAKOUT.replace("+ lane]\n", f"+ lane] {cable}\n"), tmp_path)


def test_two_rates(tmp_path: Path) -> None:
    (rate,) = refused(RATES.replace("SPLIT", ""), "E0220", tmp_path)
    stands(RATES.replace("SPLIT", "").replace("i < 5\n", f"i < 5 {rate}\n"), tmp_path)


def test_two_rates_where_the_port_splits(tmp_path: Path) -> None:
    text = RATES.replace("SPLIT", " { split 2; sockets 2 }")
    rate, split = refused(text, "E0220", tmp_path)
    stands(text.replace("i < 5\n", f"i < 5 {rate}\n"), tmp_path)
    stands(
        text.replace("a: FAST", f"a: FAST {split}").replace(
            "a.p[i] to b.p[i] where i < 5", "a.p[i, l] to b.p[2*(i - 1) + l + 1]"
        ),
        tmp_path,
    )
