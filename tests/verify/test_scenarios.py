"""Many failures of one fabric: those judged together get the answers that each gets alone."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.fabric.failed import FailedElements
from tdsl.findings.diagnostic import Diagnostics
from tdsl.verify.runner import judge_requirements
from tdsl.verify.scenarios import outcomes_of_failures
from tests.harness import sampled
from tests.tables import sections

RACKS = sections(__file__)["racks"]
TORUS = sections(__file__)["torus"]
PANELS = sections(__file__)["panels"]


def design(rng: random.Random) -> str:
    """A text with requirements that failures may or may not break."""
    kind = rng.random()
    if kind < 0.15:
        return PANELS.format(n=rng.randint(3, 5))
    if kind < 0.3:
        return TORUS.format(x=rng.randint(2, 4), y=rng.randint(3, 4))
    racks = rng.randint(2, 4)
    return RACKS.format(
        racks=racks, nodes=rng.randint(1, 4), spines=rng.randint(1, 3), copies=rng.randint(1, 3),
        at=rng.choice(["rack[0].leaf[0].p[32]", "spine[0].p[32]"]), share=rng.choice([0, 50, 90, 100]),
        omit=rng.choice(["", "", f"omit rack[{racks - 1}].node[0]", "omit rack[0].leaf[1]"]),
    )  # fmt: skip


def failures(fabric, rng: random.Random, count: int) -> list[FailedElements]:
    """Few and many failed devices and links."""
    out = []
    for i in range(count):
        devices = np.zeros(fabric.device_count, dtype=np.bool_)
        links = np.zeros(fabric.link_count, dtype=np.bool_)
        share = rng.choice([0, 0.02, 0.1, 0.4, 1])
        devices[[d for d in range(fabric.device_count) if rng.random() < share * rng.random()]] = True
        links[[d for d in range(fabric.link_count) if rng.random() < share * rng.random()]] = True
        out.append(FailedElements((f"scenario {i}",), devices & fabric.built, links))
    return out


def compiled(tmp_path, text: str):
    path = tmp_path / "f.fab"
    path.write_text(text)
    (one,) = compiler.compile_without_checks(str(path), Request()).designs
    assert one.fabric is not None and one.fabric.complete and len(one.claims) > 0, one.findings
    return one


def told(answers):
    """What is said of each requirement; results and answers of scenarios have the same facts."""
    return [(a.check, a.requirement, a.status, a.lower, a.upper, a.unit, a.reason) for a in answers if a.requirement]


@pytest.mark.parametrize("seed", sampled(range(10), 3))
def test_together_as_alone(tmp_path, seed):
    """Many scenarios at once get the answers that the checks give to each by itself."""
    one = compiled(tmp_path, design(random.Random(seed)))
    f = one.fabric
    cases = failures(f, random.Random(seed), 50)
    together = [told(outcome.answers) for outcome in outcomes_of_failures(f, one.claims, cases)]
    alone = [told(judge_requirements(f, one.claims, Diagnostics(), failed=case)) for case in cases]
    differ = [(case.names, got, want) for case, got, want in zip(cases, together, alone, strict=True) if got != want]
    assert not differ
