"""The table of links, what is absent and what is crossed, as random designs with written ports say it themselves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.fabric.graph import HOLE, MEDIA, USED, Fabric
from tests.fabric.test_tiers import by_definition
from tests.harness import compile_text, sections

TEXTS = sections(Path(__file__).parent / "assemble.txt")
MODELS = f"\n{TEXTS['MODELS']}\n"


Ends = tuple[tuple[str, str], tuple[str, str]]
"""Device and port of either end."""


@dataclass
class Row:
    """A planned link: its ends as (device, port), what its connect says, and what it crosses."""

    a: tuple[str, str]
    b: tuple[str, str]
    rate: int
    name: str
    medium: str
    colour: str
    statement: int
    via: str


@dataclass
class Design:
    """A text, the devices of each declaration, its planned links and the paths that are omitted."""

    text: str
    kinds: list[str] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    sets: list[list[str]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    omitted: set[str] = field(default_factory=set)
    panels_first: bool = False


def design(seed: int) -> Design:
    """Declarations in a random order, then connects between two of them with written ports, the far end's from its own row of
    ports; some cross a panel or an optical switch."""
    rng = Random(seed)
    out = Design("")
    body = []
    for name, kind, model, role in rng.sample(
        [("h", "host", "H", "accelerator"), ("d", "host", "D", "storage"), ("c", "chip", "C", ""), ("l", "switch", "S", ""),
         ("m", "switch", "S", ""), ("t", "switch", "S", "")], rng.randint(4, 6),
    ):  # fmt: skip
        count = rng.randint(2, 4)
        body.append(f"{kind} {name}[{count}]: {model}" + (" { role storage }" if role == "storage" else ""))
        out.sets.append([f"{name}[{i}]" for i in range(count)])
        out.kinds.append(kind)
        out.roles.append("accelerator" if kind == "chip" else role)
        out.names.append("host" if kind == "host" else name)
    out.panels_first = rng.random() < 0.5
    panels = ["panel z[2]: PATCH", "ocs o[2]: OPTIC"]
    body = [*panels, *body] if out.panels_first else [*body, *panels]
    out.omitted = {rng.choice(rng.choice(out.sets)) for _ in range(rng.randint(0, 2))}
    for k in range(rng.randint(3, 7)):
        x, y = rng.sample(range(len(out.sets)), 2)
        one, two = out.sets[x], out.sets[y]
        rate = rng.choice([100, 200, 400])
        word, medium = rng.choice(["", "", "class up", "class up", 'class "k{i % 2}"']), rng.choice(["", "copper", *MEDIA])
        colour = rng.choice(["", "", "colour aqua", 'colour "c{i % 3}"', "colour red"])
        via = rng.choice(["", "", "", "z", "o"]) if medium in ("", "copper", "cable") else ""
        near, far = f"{one[0][0]}[i].p[{k + 1}]", f"{two[0][0]}[i % {len(two)}].q[{k}, i // {len(two)}]"
        ends = [near, far] if rng.random() < 0.5 else [far, near]
        settings = "; ".join(x for x in (f"rate {rate}Gbps", word, medium and f"medium {medium}", colour) if x)
        body.append(f"connect {ends[0]} to {ends[1]}{f' via {via}[i % 2]' if via else ''} {{ {settings} }}")
        for i in range(len(one)):
            name = "up" if word == "class up" else f"k{i % 2}" if word else ""
            shade = f"c{i % 3}" if "{" in colour else colour.removeprefix("colour ")
            ports = (one[i], f"p[{k + 1}]"), (two[i % len(two)], f"q[{k}, {i // len(two)}]")
            laid = medium if medium in MEDIA else "cable"
            out.rows.append(Row(*ports, rate * 10**9, name, laid, shade, k, f"{via}[{i % 2}]" if via else ""))
    body += [f"omit {d.replace('[', '[(').replace(']', ')]')}" for d in sorted(out.omitted)]
    out.text = "fabric f {\n  " + "\n  ".join(body) + "\n}\n" + MODELS
    return out


def oriented(d: Design) -> list[tuple[Row, int]]:
    """The planned links, the end of the lower declaration first (those at no tier last; of two at one tier the first device);
    and -1 for those that are omitted, else 0."""
    devices = [path for s in d.sets for path in s] + ["z[0]", "z[1]", "o[0]", "o[1]"]
    owner = [k for k, s in enumerate(d.sets) for _ in s] + [len(d.sets)] * 2 + [len(d.sets) + 1] * 2
    at = {path: k - 99 * (d.panels_first and path[0] in "zo") for k, path in enumerate(devices)}
    kinds, roles = [*d.kinds, "panel", "ocs"], [*d.roles, "", ""]
    tier = by_definition(kinds, roles, owner, [(at[r.a[0]], at[r.b[0]]) for r in d.rows])  # no link ends at a panel
    known = [[t for t, o in zip(tier, owner, strict=True) if o == s and t >= 0] for s in range(len(kinds))]
    least = [0 if kind in ("host", "chip") else min(ts, default=99) for kind, ts in zip(kinds, known, strict=True)]
    out = []
    for r in d.rows:
        rank = [(least[owner[at[e[0]]]], at[e[0]]) for e in (r.a, r.b)]
        a, b = (r.a, r.b) if rank[0] < rank[1] else (r.b, r.a)
        name = r.name or "-".join(d.names[owner[at[e[0]]]] for e in (a, b))
        out.append((replace(r, a=a, b=b, name=name), -1 if d.omitted & {a[0], b[0]} else 0))
    return out


def path(f: Fabric, port: int) -> tuple[str, str]:
    """Device and port."""
    whole = f.port_path(port)
    device = f.device_path(int(f.port_device[port]))
    return device, whole.removeprefix(device + ".")


@pytest.mark.parametrize("part", range(3))
def test_links_as_the_design_has_them(part: int, tmp_path: Path) -> None:
    """Every column of links that are built and of those that are absent."""
    for seed in range(part * 5, part * 5 + 5):
        d = design(seed)
        made = compile_text(d.text, tmp_path, verify=False, models=False)
        assert not [x for x in made.findings if x.severity.word == "error"], (d.text, made.findings)
        f = made.designs[0].fabric
        assert f is not None
        planned = oriented(d)
        built = {(r.a, r.b): r for r, gone in planned if not gone}
        found = [(path(f, int(a)), path(f, int(b))) for a, b in zip(f.link_a, f.link_b, strict=True)]
        assert sorted(found) == sorted(built) and (np.diff(f.link_a) > 0).all(), d.text
        for i, ends in enumerate(found):
            r = built[ends]
            said = (int(f.link_rate[i]), f.classes[f.link_class[i]], MEDIA[f.link_medium[i]], int(f.link_statement[i]))
            assert said == (r.rate, r.name, r.medium, r.statement), (ends, d.text)
            assert (f.colours[f.link_colour[i]] if f.link_colour[i] >= 0 else "") == r.colour
            vias = [path(f, int(v)) if v >= 0 else ("", "") for v in (f.link_via_a[i], f.link_via_b[i])]
            assert {v[0] for v in vias} == {r.via}, d.text
            if r.via.startswith("z"):
                first = next(x for x in d.rows if {x.a, x.b} == {r.a, r.b})
                swapped = d.text.splitlines()[1 + len(d.sets) + 2 + r.statement].split()[1].startswith(first.b[0][0])
                front = first.b if swapped else first.a  # the end that the connect names first is at the front
                assert [v[1][:5] for v in vias] == ["front", "back["][:: 1 if front == r.a else -1]
            assert all(f.port_link[p] == i for p in (f.link_a[i], f.link_b[i]))
            assert all(f.port_link[v] == i for v in (f.link_via_a[i], f.link_via_b[i]) if v >= 0)
        used = {int(p) for column in (f.link_a, f.link_b, f.link_via_a, f.link_via_b) for p in column if p >= 0}
        assert {int(p) for p in np.flatnonzero(f.port_link != -1)} == used
        assert {int(p) for p in np.flatnonzero(f.port_state == USED)} == used
        assert sorted(f.classes) == sorted(f.classes[c] for c in {*f.link_class.tolist(), *f.cable_class.tolist()})
        assert len(set(f.colours)) == len(f.colours)
        absent = [(r.a[0], r.b[0], r.rate, r.statement) for r, gone in planned if gone]
        rows = zip(f.absent_a.tolist(), f.absent_b.tolist(), f.absent_rate.tolist(), f.absent_statement.tolist(), strict=True)
        assert [(f.device_path(a), f.device_path(b), rate, s) for a, b, rate, s in rows] == absent
        assert f.absent_reserved.tolist() == [True] * len(absent)
        held = {p for r, gone in planned if gone for p in (r.a, r.b)}
        holes = {path(f, int(p)) for p in np.flatnonzero(f.port_state == HOLE)}
        assert {x for x in holes if x[0][0] not in "zo"} == held
        circuits = [i for i in range(f.link_count) if built[found[i]].via.startswith("o")]
        assert f.circuit_link.tolist() == circuits
        assert f.circuit_a.tolist() == f.link_via_a[circuits].tolist() and f.circuit_b.tolist() == f.link_via_b[circuits].tolist()
        cables(f, found, built)


def cables(f: Fabric, found: list[Ends], built: dict[Ends, Row]) -> None:
    """Every link over cables has one, or two where it crosses something, of the class of its two ends."""
    expected = []
    for i, ends in enumerate(found):
        r = built[ends]
        if r.medium != "cable":
            continue
        if not r.via:
            expected.append((int(f.link_a[i]), int(f.link_b[i]), r.name, r.statement))
            continue
        for near, far, end in ((f.link_a[i], f.link_via_a[i], ends[0][0]), (f.link_b[i], f.link_via_b[i], ends[1][0])):
            name = "host" if end[0] in "hd" else end[0]
            expected.append((int(near), int(far), f"{name}-{r.via[0]}", r.statement))
    rows = zip(f.cable_a.tolist(), f.cable_b.tolist(), f.cable_class.tolist(), f.cable_statement.tolist(), strict=True)
    assert [(a, b, f.classes[c], s) for a, b, c, s in rows] == sorted(expected)
    assert f.cable_links.tolist() == [1] * len(expected) and f.cable_leg.tolist() == [0] * len(expected)


LAYERS = TEXTS["LAYERS"]


@pytest.mark.parametrize(
    ("one", "two", "gone", "layer"),
    [
        ("; layer scaleup", "; layer scaleup", "a[3]", "scaleup"),
        ("; layer scaleup", "", "a[3]", ""),
        ("", "; layer scaleup", "a[3]", ""),
        ("", "", "a[3]", ""),
    ],
)
def test_the_layer_of_a_fabric_is_that_of_all_planned_links(one: str, two: str, gone: str, layer: str, tmp_path: Path) -> None:
    made = compile_text(LAYERS.format(one, two, gone) + MODELS, tmp_path, verify=False, models=False)
    f = made.designs[0].fabric
    assert f is not None and f.layer == layer and f.link_count == 1
