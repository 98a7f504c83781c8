"""Mutants of designs end in findings: a fixed set of them in each run of the tests, many more with ``scripts/fuzz-front-end``."""

from __future__ import annotations

import pytest

from tests.soundness.text_mutants import Run, corpus, mutant


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return corpus()


def broken(run: Run) -> str:
    """What broke the compiler, with the shortest text of each kind."""
    kinds: dict[str, list[str]] = {}
    for what, text in run.broken:
        kinds.setdefault(what, []).append(text)
    return "\n".join(f"=== {what}\n{min(found, key=len)}" for what, found in kinds.items())


@pytest.mark.parametrize("seed", range(1))
def test_mutants_elaborate_or_are_refused(seed: int, texts: list[str]) -> None:
    run = Run(verify=False)
    assert len(texts) > 150
    for number in range(120):
        run.judge(mutant(texts, seed, number))
    assert not run.broken, broken(run)
    assert run.sound and len(run.codes) > 20, "mutants of texts that mean nothing would show nothing"


def test_mutants_are_checked_or_refused(texts: list[str]) -> None:
    run = Run(verify=True)
    for number in range(25):
        run.judge(mutant(texts, 100, number))
    assert not run.broken, broken(run)


def test_a_seed_and_a_number_give_one_text(texts: list[str]) -> None:
    assert mutant(texts, 7, 3) == mutant(texts, 7, 3) != mutant(texts, 7, 4)


FOUND = {
    "connectors that the ports of a panel do not fill": """
model panel SHUF { port front[16]: any { connector 8 }; port back[12]: any { connector 5 } }
fabric f {
  host h[1]: DGX_H100
  switch leaf[8]: QM9700
  panel s: SHUF
  connect h[n].nic[r] to leaf[r] via s
}
""",
    "a title that names what an unread statement declares": """
fabric f "no-{n}"
  host node[4node[4]: DGX_H100
  naming node[n] {
}
""",
    "more racks than distances between them can be kept": """
fabric f {
  host node[32]: DGX_H100
  switch leaf[8]: QM9700
  connect node[n].nic[r] to leaf[r]
  hall h1 {
    row A, B { rack 1..65536 { height 48U; power 2 x 44kW; mass 1400kg } }
    pitch rack 0.6m, row 3m
    tray above 2.6m
    slack 1m
  }
  place auto in h1 { hosts 4 per rack; switches middle of row; minimize length }
}
""",
}
"""Texts that once ended in a traceback, or took all memory."""


@pytest.mark.parametrize("name", FOUND)
def test_what_mutants_found(name: str) -> None:
    run = Run(verify=False)
    run.judge(FOUND[name])
    assert run.count == 1 and not run.broken, broken(run)
