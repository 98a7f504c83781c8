"""Names that two devices share: in one fabric and between the fabrics of a cluster, against a search over all pairs."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.cluster import join_fabrics
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, checks_by_name
from tests.fabrics import Builder
from tests.harness import each

SHAPES = {"leaf": (3,), "leaf1": (None,), "spine": (2,), "leaf2": (2,), "pod.leaf": (2, 2), "pod0": (None,), "Spine": (2,)}
GIVEN = ["leaf0", "leaf1", "LEAF1", "Leaf2", "spine0", "straße", "STRASSE", "café", "café", "CAFÉ", "x1", "pod0-leaf1"]
RULES = SourceFile("rules.fab", "".join(f"naming {i}\n" for i in range(9)))


def rule(number: int) -> Origin:
    start = RULES.text.index(f"naming {number}\n")
    return Origin(SourceSpan(RULES, start, start + len(f"naming {number}")))


def drawn(rng: Random, name: str) -> Fabric:
    """A fabric of up to four declarations, some devices of which have given names, some of these by a rule."""
    b = Builder(name, file=SourceFile(f"{name}.fab", ""))
    model = b.model("switch", "SW", {"p": 2})
    for path, sizes in rng.sample([*SHAPES.items()], rng.randint(1, 4)):
        b.devices(path, model, *sizes)
    count = len(b.port_base) - 1
    for d in rng.sample(range(count), rng.randint(0, min(4, count))):
        b.names[d] = rng.choice(GIVEN)
    named_by = {d: rule(rng.randint(0, 4)) for d in b.names if rng.random() < 0.7}
    return replace(b.build(), named_by=named_by)


def folded(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def within(f: Fabric, devices: list[int], about: set[int] | None = None) -> list[tuple[Any, ...]]:
    """The clashes of some devices of one fabric: each later one with the first of its name, by their declarations; those that are
    ``about`` one of some devices."""
    first: dict[str, int] = {}
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for d in devices:
        one = first.setdefault(folded(f.device_name(d)), d)
        if one != d and (about is None or about & {one, d}):
            found.setdefault((int(f.device_set[one]), int(f.device_set[d])), []).append((one, d))
    out = []
    for pairs in found.values():
        one, two = pairs[0]
        place = next((f.named_by[d] for d in (two, one) if d in f.named_by), f.set_of(two).origin).span.text
        out.append((place, f.device_path(one), f.device_path(two), len(pairs)))
    return out


def agrees_with(found: Judgement, expected: list[tuple[Any, ...]]) -> None:
    """A judgement holds these faults, each with both paths, and shows the first."""
    assert [(x.at and x.at.span.text, x.count) for x in found.faults] == [(place, count) for place, *_, count in expected]
    for fault, (_, one, two, _) in zip(found.faults, expected, strict=True):
        assert one in fault.message and two in fault.message
    assert (found.status, found.value) == (("refuted", False) if expected else ("proved", True))
    assert not expected or found.witness["devices"] == list(expected[0][1:3])


def judge(view: View) -> Judgement:
    return checks_by_name()["name_collision"].judge(view, None)


def agrees(seed: int) -> None:
    """One fabric, one part of it, and it beside one or two others, of which one repeats a declaration."""
    rng = Random(seed)
    f = drawn(rng, "f")
    everything = list(range(f.device_count))
    agrees_with(judge(View.whole(f)), within(f, everything))
    part = FabricElement("part", np.array(sorted(rng.sample(everything, rng.randint(1, len(everything))))))
    agrees_with(judge(View.part(f, part, True)), within(f, part.devices.tolist()))
    others = [drawn(rng, name) for name in rng.choice((("g",), ("g", "h")))]
    members = [
        replace(x, sets=tuple(replace(s, prefix=x.name if rng.random() < 0.8 else "") for s in x.sets)) for x in (f, *others)
    ]
    whole = join_fabrics("all", members, f.origin, Diagnostics())
    if whole is None:  # what is declared once has one size
        return
    every = list(range(whole.device_count))
    agrees_with(judge(View.whole(whole)), within(whole, every))
    mine = set(whole.member_rows[0].tolist())
    core = np.isin(np.arange(whole.device_count), list(mine))
    agrees_with(judge(View(whole, core, core, np.arange(whole.link_count), "f")), within(whole, every, mine))


def test_names_drawn_at_random() -> None:
    each(range(100), agrees)


def test_a_fabric_beside_its_like() -> None:
    """What is declared once for several fabrics is one device, and has one name."""
    several = (drawn(Random(seed), "f") for seed in range(20))
    f = next(x for x in several if not within(x, list(range(x.device_count))))
    whole = join_fabrics("all", [f, replace(f, name="g")], f.origin, Diagnostics())
    assert whole is not None and whole.device_count == f.device_count
    found = judge(View.whole(whole))
    assert (found.status, found.text) == (
        "proved",
        "every device has a name of its own, in all fabrics of the cluster",
    )
