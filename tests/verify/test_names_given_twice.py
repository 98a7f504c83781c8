"""Names that two devices share: in one fabric and between the fabrics of a cluster, against a search over all pairs."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from tdsl.fabric.claims import Element
from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.source import Origin, SourceFile, Span
from tdsl.verify.check import Judgement, catalogue
from tests.fabrics import Builder
from tests.harness import each

SETS = (
    ("leaf", (3,)),
    ("leaf1", (None,)),
    ("spine", (2,)),
    ("leaf2", (2,)),
    ("pod.leaf", (2, 2)),
    ("pod0", (None,)),
    ("Spine", (2,)),
)
GIVEN = (
    "leaf0",
    "leaf1",
    "LEAF1",
    "Leaf2",
    "spine0",
    "stra\u00dfe",
    "STRASSE",
    "caf\u00e9",
    "cafe\u0301",
    "CAFE\u0301",
    "x1",
    "pod0-leaf1",
)
RULES = SourceFile("rules.fab", "".join(f"naming {i}\n" for i in range(9)))


def rule(number: int) -> Origin:
    start = RULES.text.index(f"naming {number}\n")
    return Origin(Span(RULES, start, start + len(f"naming {number}")))


def drawn(rng: Random, name: str) -> Fabric:
    """A fabric of up to four declarations, some devices of which have given names, some of these by a rule."""
    b = Builder(name, file=SourceFile(f"{name}.fab", ""))
    model = b.model("switch", "SW", {"p": 2})
    for path, sizes in rng.sample(SETS, rng.randint(1, 4)):
        b.devices(path, model, *sizes)
    count = len(b.port_base) - 1
    for d in rng.sample(range(count), rng.randint(0, min(4, count))):
        b.names[d] = rng.choice(GIVEN)
    named_by = {d: rule(rng.randint(0, 4)) for d in b.names if rng.random() < 0.7}
    return replace(b.build(), named_by=named_by)


def folded(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def more(found: list[Any]) -> str:
    return f" (and {len(found) - 1} more)" if len(found) > 1 else ""


def place(f: Fabric, *devices: int) -> str:
    """The text of the first rule that names one of these devices, else of the declaration of the first."""
    by = next((f.named_by[d] for d in devices if d in f.named_by), None)
    return (by or f.set_of(devices[0]).origin).span.text


def within(f: Fabric, devices: list[int]) -> list[tuple[Any, ...]]:
    """The clashes of some devices of one fabric: each later one with the first of its name, by their declarations."""
    first: dict[str, int] = {}
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for d in devices:
        one = first.setdefault(folded(f.device_name(d)), d)
        if one != d:
            found.setdefault((int(f.device_set[one]), int(f.device_set[d])), []).append((one, d))
    out = []
    for (a, b), pairs in found.items():
        one, two = pairs[0]
        names, paths = (f.device_name(one), f.device_name(two)), (f.device_path(one), f.device_path(two))
        if names[0] == names[1]:
            text = f'{paths[0]} and {paths[1]} are both named "{names[0]}"{more(pairs)}'
        else:
            how = "case" if names[0].casefold() == names[1].casefold() else "how one text is encoded"
            text = f'{paths[0]} is named "{names[0]}" and {paths[1]} "{names[1]}", which differ in {how} only{more(pairs)}'
        labels = [(f.sets[a].origin.span.text, "the first is declared here")] if a != b else []
        shown = {"devices": list(paths), "name": names[0]}
        out.append((place(f, two, one), text, len(pairs), labels, "give them different names with `naming`", shown))
    return out


def between(f: Fabric, others: list[Fabric]) -> list[tuple[Any, ...]]:
    """The clashes of a fabric's devices with those of others, but for declarations that both have."""
    found: dict[tuple[int, str, int], list[tuple[int, Fabric, int]]] = {}
    for g in others:
        shared = {s.origin.span for s in f.sets} & {s.origin.span for s in g.sets}
        mine, theirs = ([d for d in range(x.device_count) if x.set_of(d).origin.span not in shared] for x in (f, g))
        for d in mine:
            same = [e for e in theirs if folded(g.device_name(e)) == folded(f.device_name(d))]
            if same:
                found.setdefault((int(f.device_set[d]), g.name, int(g.device_set[same[-1]])), []).append((d, g, same[-1]))
    out = []
    for pairs in found.values():
        one, g, two = pairs[0]
        paths = f"{f.device_path(one)} and {g.device_path(two)} of fabric `{g.name}`"
        text = f'{paths} are both named "{f.device_name(one)}"{more(pairs)}'
        labels = [(place(g, two), f"in `{g.name}` the name is given here")]
        help = 'give them different names with `naming`, such as "{fabric}-leaf{i}"'
        shown = {
            "devices": [f"{f.name}.{f.device_path(one)}", f"{g.name}.{g.device_path(two)}"],
            "name": f.device_name(one),
        }
        out.append((place(f, one), text, len(pairs), labels, help, shown))
    return out


def agrees_with(found: Judgement, expected: list[tuple[Any, ...]], beside: bool) -> None:
    """A judgement holds these faults and shows the first."""
    said = [
        (x.at and x.at.span.text, x.message, x.count, [(s.text, words) for s, words in x.labels], x.help) for x in found.faults
    ]
    assert said == [fault[:-1] for fault in expected]
    if expected:
        assert (found.status, found.value, found.text, found.witness) == ("refuted", False, expected[0][1], expected[0][-1])
    else:
        text = "every device has a name of its own" + (", in all fabrics of the cluster" if beside else "")
        assert (found.status, found.value, found.text, found.witness) == ("proved", True, text, {})


def judge(view: View) -> Judgement:
    return catalogue()["name_collision"].judge(view, None)


def agrees(seed: int) -> None:
    """One fabric, one part of it, and it beside one or two others, of which one repeats a declaration."""
    rng = Random(seed)
    f = drawn(rng, "f")
    everything = list(range(f.device_count))
    agrees_with(judge(View.whole(f)), within(f, everything), False)
    part = Element("part", np.array(sorted(rng.sample(everything, rng.randint(1, len(everything))))))
    agrees_with(judge(View.part(f, part, True)), within(f, part.devices.tolist()), False)
    others = [drawn(rng, name) for name in rng.choice((("g",), ("g", "h")))]
    if rng.random() < 0.4:
        number = rng.randrange(len(others[0].sets))
        same = replace(others[0].sets[number], origin=rng.choice(f.sets).origin)
        others[0] = replace(others[0], sets=tuple(same if i == number else s for i, s in enumerate(others[0].sets)))
    beside = replace(f, siblings=tuple(others))
    agrees_with(judge(View.whole(beside)), within(f, everything) + between(f, others), True)
    agrees_with(judge(View.part(beside, part, True)), within(f, part.devices.tolist()), True)


def test_names_drawn_at_random() -> None:
    each(range(160), agrees)


def test_a_fabric_beside_its_like() -> None:
    """What is declared once for several fabrics is one device, and has one name."""
    several = (drawn(Random(seed), "f") for seed in range(20))
    f = next(x for x in several if not within(x, list(range(x.device_count))))
    found = judge(View.whole(replace(f, siblings=(replace(f, name="g"),))))
    assert (found.status, found.text) == ("proved", "every device has a name of its own, in all fabrics of the cluster")
