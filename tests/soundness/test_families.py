"""Families of designs against judges that read the generator's own records. ``make soundness`` runs more of them.

``python -m tests.soundness.run --family NAME --only SEED`` shows one.
"""

from __future__ import annotations

from typing import Any

import pytest

from tdsl.observe.readers import capture_readers
from tests.harness import none
from tests.soundness.families.empty_commands import empty_calls
from tests.soundness.families.planted_captures import FORMATS
from tests.soundness.families.planted_facts import FACT_FORMATS
from tests.soundness.registry import FAMILIES, judged_seed
from tests.soundness.verdicts import Difference

DESIGNS = 30
"""Of each family, a fifth of them in each run and the others in the daily one."""

FEWER = {"collective_times": 3, "scale_up_failures": 18}
"""Families of which each design takes long."""

CHUNK = 6
OPEN: frozenset[tuple[str, str]] = frozenset()
"""Differences that are known and being worked on: the family and the kind. Nothing else may differ."""


def chunks_of_families() -> list[Any]:
    """Every family with the first seed of each chunk; all chunks but the first are for the daily run."""
    names = [name for name in FAMILIES if name != "empty_commands"]
    return [
        pytest.param(name, first, marks=[pytest.mark.daily] if first else [])
        for name in names
        for first in range(0, FEWER.get(name, DESIGNS), CHUNK)
    ]


@pytest.mark.parametrize(("family", "first"), chunks_of_families())
def test_designs_of_a_family(family: str, first: int) -> None:
    found: list[Difference] = []
    figures = refused = 0
    count = min(CHUNK, FEWER.get(family, DESIGNS) - first)
    for seed in range(first, first + count):
        compared = judged_seed(family, seed, shrink=False)
        found += [d for d in compared.found if (d.family, d.kind) not in OPEN]
        figures, refused = figures + compared.figures, refused + compared.refused
    assert not found, "\n\n".join(d.report() for d in found[:3])
    assert figures >= count
    assert refused <= max(count // 5, 1), "too many of the random designs do not compile"


def test_commands_with_nothing_to_judge() -> None:
    found = [d for n in range(len(empty_calls())) for d in judged_seed("empty_commands", n).found]
    assert not [d for d in found if (d.family, d.kind) not in OPEN], "\n\n".join(d.report() for d in found)


def test_every_reader_of_captures_has_a_planted_set() -> None:
    """Written by code that shares nothing with the readers and with `tests/observe/captures.py`."""
    written = {*FORMATS, *FACT_FORMATS}
    captures = (n for n, r in capture_readers().items() if r.OPTION != "import")
    none(f"{n}: no writer in planted_captures or planted_facts" for n in captures if n not in written)
