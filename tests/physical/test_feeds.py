"""The power tree above the racks, against a judge that follows every watt from its rack to the top."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import networkx as nx
import pytest

from tdsl.compile import compiler
from tdsl.compile.request import Request
from tdsl.fabric.feeds import feed_elements
from tests.cli.run import tdsl, write

HEAD = """model switch SW { port p[1..64]: 400Gbps; power 1kW max 1kW; height 1U }
fabric f {
"""


def random_tree(random: Random) -> tuple[str, nx.DiGraph, dict[str, int], dict[int, int]]:
    """A design with feeds in any order of text; the tree from a root above all, down to racks by number; the
    limits in kW; and the kW of each rack, one a switch."""
    racks = random.randint(2, 5)
    kw = {r: random.randint(0, 4) for r in range(1, racks + 1)}
    kw[1] = max(kw[1], 2)
    count = random.randint(2, 6)
    tree: nx.DiGraph = nx.DiGraph()
    lines, limits = [], {}
    for k in range(count):
        name, parents = f"x{k}", random.sample(range(k), min(k, random.choice([0, 0, 1, 1, 2])))
        mine = sorted(random.sample(range(1, racks + 1), random.randint(0, racks)))
        tree.add_edges_from((f"x{p}", name) for p in parents)
        tree.add_edges_from([("root", name)] if not parents else [])
        tree.add_edges_from((name, r) for r in mine)
        text = [f"from {', '.join(f'x{p}' for p in parents)}"] if parents else []
        if random.random() < 0.8 or k == 0:
            limits[name] = random.randint(2, 12)
            text.append(f"power {limits[name]}kW")
        text += [f"racks {', '.join(f'h.A[{r}]' for r in mine)}"] if mine else []
        lines.append(f"  feed {name} {{ {'; '.join(text)} }}\n")
    random.shuffle(lines)
    switches = [r for r, n in kw.items() for _ in range(n)]
    text = f"{HEAD}  switch s[{len(switches)}]: SW\n  connect s[*] each\n"
    text += f"  hall h {{ row A {{ rack 1..{racks} {{ height 48U }} }} }}\n"
    text += "".join(f"  place s[{i}] in h.A[{r}] at {i + 1}U\n" for i, r in enumerate(switches))
    return f"{text}{''.join(lines)}  report feed_load and feed_load in_service\n}}\n", tree, limits, kw


def powered(tree: nx.DiGraph, lost: str) -> set[object]:
    """What has power once a feed is lost."""
    left = tree.subgraph([n for n in tree if n != lost])
    return {"root", *nx.descendants(left, "root")}


def loads(tree: nx.DiGraph, kw: dict[int, int], lost: str) -> dict[object, Fraction]:
    """kW of every feed: what each rack takes is followed up all ways to the top."""
    live, out = powered(tree, lost), dict.fromkeys(tree, Fraction(0))

    def follow(node: object, amount: Fraction) -> None:
        out[node] += amount
        above = [p for p in tree.predecessors(node) if p in live]
        for p in above:
            follow(p, amount / len(above))

    for rack, amount in kw.items():
        if rack in tree and rack in live:
            follow(rack, Fraction(amount))
    return out


@pytest.mark.parametrize("seed", range(12))
def test_loads_and_losses_of_random_feeds(seed: int, tmp_path: Path) -> None:
    text, tree, limits, kw = random_tree(Random(seed))
    made = compiler.compile_and_verify(str(write(tmp_path, text)), Request())
    (design,) = made.designs
    assert design.fabric is not None and design.fabric.places is not None
    feeds = [n for n in tree if isinstance(n, str) and n != "root"]
    place = design.fabric.places
    numbers = [int(place.rack_number[r]) for r in place.device_rack.tolist()]
    taken = {e.name: {numbers[d] for d in e.devices.tolist()} for e in feed_elements(design.fabric)}
    fed = {r for r in kw if r in tree and kw[r]}
    assert taken == {f"feed {x}": {r for r in fed if r not in powered(tree, x)} for x in feeds}
    if not fed:  # nothing judged is no pass
        assert {r.status for r in design.results if r.check == "feed_load"} == {"skipped"}
        return
    shares = {
        lost: max(Fraction(loads(tree, kw, lost)[x], n) for x, n in limits.items() if x != lost)
        for lost in ("", *feeds)
        if set(limits) - {lost}
    }
    found = {r.requirement: r.value for r in design.results if r.check == "feed_load" and r.requirement}
    assert found == {"feed_load": max(shares.values()), "feed_load in_service": shares[""]}
    over = {x for x, n in limits.items() for lost in ("", *feeds) if x != lost and loads(tree, kw, lost)[x] > n}
    said = {d.message.partition("at feed ")[2].split()[0] for d in made.findings if d.code == "E0235"}
    assert said == over


@pytest.mark.parametrize(
    ("feeds", "code", "said"),
    [
        ("feed a { from b }; feed b { from a }", "E0236", "from each other: `a`, `b`"),
        ("feed a { racks h.A }; feed b { racks h.A[1] }", "E0236", "rack A01 has 1 power feed, and is plugged into 2"),
        ("feed a { from c }", "E0101", "`c`"),
        ("feed a { racks g.A }", "E0101", "`g`"),
        ("feed a { racks h.B }", "E0101", "`B`"),
        ("feed a { racks h.A[1..3] }", "E0205", "row A has no rack 3"),
        ("feed a { power 3 }", "E0103", "power"),
        ("feed a { volts 3 }", "E0118", "`volts`"),
        ("feed a { power 1kW; power 2kW }", "E0104", "`power` is set twice"),
        ("feed a { }; feed a { }", "E0104", "feed `a` is declared twice"),
        ("feed a", "E0120", "a feed has a name and a block"),
        ("group g[2] { feed a { } }", "E0118", "`feed` belongs in the fabric's own block"),
    ],
)
def test_feeds_that_mean_nothing(feeds: str, code: str, said: str, tmp_path: Path) -> None:
    text = f"{HEAD}  switch s[2]: SW\n  connect s[*] each\n  {feeds.replace('; feed', chr(10) + '  feed')}\n"
    text += "  hall h { row A { rack 1..2 { height 48U; power 5kW } } }\n}\n"
    found = compiler.compile_and_verify(str(write(tmp_path, text)), Request()).findings
    assert [(d.code, said in d.message) for d in found if d.severity.word == "error"] == [(code, True)]


def test_several_feeds_that_back_each_other_are_not_judged_as_one_by_one(tmp_path: Path) -> None:
    """Each alone takes nothing, and both together all: `any 2` must not be proved."""
    text = f"{HEAD}  switch s[3]: SW\n  connect s[*] each\n  hall h {{ row A {{ rack 1 {{ height 48U }} }} }}\n"
    text += "  place s[i] in h.A[1] at 1U + 1U*i\n  feed a { racks h.A }\n  feed b { racks h.A }\n"
    text += (
        "  require survives any 1 of risk.feeds\n  require survives any 2 of risk.feeds\n  report fatal_set of risk.feeds\n}\n"
    )
    path = write(tmp_path, text)
    done = compiler.compile_and_verify(str(path), Request()).designs[0].results
    status = {r.requirement: r.status for r in done if r.requirement}
    assert list(status.values()) == ["proved", "skipped", "skipped"]
    assert "E0905" not in tdsl("check", path, "--second-opinion").stdout
