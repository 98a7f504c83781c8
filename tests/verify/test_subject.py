"""What a requirement is about: in the block of a group the instance, of `of all` every member, of a device all that is in it.

Designs are drawn with groups in groups, uneven extents, `extend` of one instance, omitted devices, trays with wired chips and
chassis with wired switches. A figure asked in a block is compared with the same one by its full path, and counts with those made
from the rows of `fabric.json` by paths as text.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

import tdsl
from tdsl.compile.compilation import Compilation, Options, UsageError
from tests.harness import written

PARTS = """
model chip G { port nv[2]: 100Gbps }
model chip N { port l: 100Gbps }
model host H { port nic[2]: 100Gbps; chip gpu: N; power 3kW max 4kW; price $9k }
model host TRAY { chip gpu[2]: G; power 2kW max 3kW; price $7k }
model switch SW { port p[1..64]: 100Gbps; power 100W; price $50 }
model switch LINE { port q[1..16]: 100Gbps }
model switch CHASSIS { switch line[2]: LINE; port p[1..16]: 100Gbps; power 1kW; price $900 }
model cable AOC { rate 100Gbps; medium aoc; power 3W; price $40; form QSFP }
"""
BODY = (
    "links", "ports", "cables", "switches", "power", "cost", "optics_power", "oversubscription", "edge_redundancy", "diameter",
    "bisection",
)  # fmt: skip
"""Figures of devices and groups, and of an instance that names nothing."""


def drawn(rng: Random) -> tuple[str, list[str], dict[str, list[str]]]:
    """A design without requirements, with `@INNER@` and `@WHOLE@` where they go; what the block of the inner group may name; and
    the full paths of that group's instances by those of the group around."""
    outer, inner = rng.randint(1, 3), rng.randint(1, 3)
    nodes, leaves, trays = rng.randint(1, 4), rng.randint(1, 3), rng.randint(0, 2)
    nested, chassis = rng.random() < 0.6, rng.random() < 0.5
    low = rng.choice([0, 1])
    lines = [f"group su[{low}..{low + outer - 1}] {{", f"  switch agg[{rng.randint(1, 2)}]: SW"]
    if nested:
        lines.append(f"  group row[{inner}] {{")
    lines += [f"  host node[{nodes}]: H", f"  switch leaf[{leaves}]: SW", "  connect node[n].nic[i] to leaf[(n + i) % LEAVES]"]
    if trays:
        lines += [f"  host tray[{trays}]: TRAY", "  connect tray[t].gpu[g].nv[k] to leaf[(t + g) % LEAVES]"]
    if chassis:
        lines += ["  switch box: CHASSIS", "  connect leaf[*] to box.line[*] each"]
    lines += [
        "  connect leaf[*] to agg[*] each x 2 { cable AOC }" if rng.random() < 0.5 else "  connect leaf[*] to agg[*] each",
        "@INNER@",
    ]
    if nested:
        lines.append("  }")
    lines += ["}", "switch spine[2]: SW", "connect su[*].agg[*] to spine[*] each"]
    place = ".row[0]" if nested else ""
    if rng.random() < 0.6:
        lines.append(f"extend su[{low}]{place} {{ host more[{rng.randint(1, 2)}]: H; connect more[n].nic[i] to leaf[0] }}")
    if rng.random() < 0.5:
        lines.append(f"omit su[{low}]{place}.node[0]")
    if rng.random() < 0.3 and leaves > 1:
        lines.append(f"omit su[{low}]{place}.leaf[1]")
    text = "fabric f {\n" + "\n".join(lines).replace("LEAVES", str(leaves)) + "\n@WHOLE@\n}\n" + PARTS
    names = ["node", "leaf", "node[0]", "leaf[0]", f"leaf[0..{leaves - 1}]", *(["tray", "tray[0]"] if trays else [])]
    names += ["box"] * chassis
    every = {f"su[{s}]": [f"su[{s}].row[{r}]" for r in range(inner)] if nested else [f"su[{s}]"] for s in range(low, low + outer)}
    return text, names, every


def asked(rng: Random, names: list[str]) -> str:
    """A figure with `@` before each path that is of the instance."""
    one, two = (f"@{rng.choice(names)}" for _ in "ab")
    far = rng.choice([two, "spine", "agg-"])
    choice = rng.randrange(8)
    if choice == 0:
        return f"{rng.choice(('links', 'cables', 'cable_length'))} of {one} to {far}"
    if choice == 1:
        return f"{rng.choice(('blast_radius', 'taper'))} of {one}"
    if choice == 2:
        return f"throughput of {one} to {far}"
    if choice == 3:
        return f"oversubscription at {one}"
    if choice == 4:
        members = ", ".join(f"@{x}" for x in rng.sample(names, min(2, len(names))) if x.startswith(("node", "tray")))
        return f"{rng.choice(('reachability', 'bisection', 'edge_redundancy', 'diameter'))} of all {members or '@node'}"
    if choice == 5:
        return f"{rng.choice(('links', 'ports', 'cables'))} of {one}"
    return f"{rng.choice(BODY)} of {one}"


def figures(path: Path, text: str, metrics: set[str]) -> tuple[dict[tuple[str, str], tuple[Any, ...]], Compilation]:
    """The answers by text and instance. Of each design only what is asked is judged."""
    found = tdsl.check(written(path, text), Options(select=tuple(sorted(metrics))))
    errors = {d.code for d in found.findings if d.severity.name == "ERROR"}
    assert not errors & {"E0901", "E0101", "E0108", "E0492"}, text
    results = [r for d in found.designs for r in d.results if r.requirement]
    return {(r.requirement or "", r.scope): (r.status, r.value, r.lower, r.upper, r.ratio) for r in results}, found


@pytest.mark.parametrize("seed", range(10))
def test_a_figure_in_a_block_is_that_of_the_full_path(seed: int, tmp_path: Path) -> None:
    """`M of S` in the block of a group is `M of G[i].S` in that of the fabric, for each instance i; `M` alone is `M of G[i]`."""
    rng = Random(seed)
    text, names, every = drawn(rng)
    instances = [x for below in every.values() for x in below]
    claims, pairs = [f"report {m}" for m in BODY], [(m, at, f"{m} of {at}") for m in BODY for at in instances]
    for one in sorted({asked(rng, names) for _ in range(24)}):
        here = one.replace("@", "").replace("agg-", "agg")
        claims.append(f"report {here}")
        for at in instances:
            pairs.append((here, at, one.replace("@", f"{at}.").replace("agg-", f"{at.partition('.')[0]}.agg")))
    whole = "\n".join(f"report {x}" for x in dict.fromkeys(outside for *_, outside in pairs))
    design = text.replace("@INNER@", "\n".join(claims)).replace("@WHOLE@", whole)
    found, _ = figures(tmp_path / "d.fab", design, {x.split()[0] for *_, x in pairs})
    wrong = [(h, at, found[h, at], found[o, ""]) for h, at, o in pairs if found[h, at] != found[o, ""]]
    assert not wrong, f"{wrong[:3]}\n{design}"
    assert sum(found[h, at][0] == "proved" for h, at, _ in pairs) > len(pairs) // 3


class Counted:
    """Counts from the rows of `fabric.json`: what a path names is found in the paths of devices as text."""

    def __init__(self, compilation: Compilation) -> None:
        fabric = compilation.designs[0].fabric
        assert fabric is not None
        body = json.loads(tdsl.build(fabric, ["json"])["fabric.json"])
        devices, links, cables = (self.rows(body[table]) for table in ("devices", "links", "cables"))
        self.path = {d["name"]: d["path"] for d in devices}
        self.kind = {d["path"]: d["kind"] for d in devices}
        self.links = [(self.path[x["a_device"]], self.path[x["b_device"]]) for x in links]
        self.cables = [(self.path[x["a_device"]], self.path[x["b_device"]], x["cable_id"]) for x in cables]

    @staticmethod
    def rows(table: dict[str, Any]) -> list[dict[str, Any]]:
        return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]

    def elements(self, path: str) -> list[set[str]]:
        """Of each element that a path names the paths of its devices and of all in them."""
        texts = [path] if ".." not in path else [re.sub(r"\d+\.\.\d+", str(n), path) for n in range(int(path[-2]) + 1)]
        out: dict[str, set[str]] = {}
        for text in texts:
            form = r"\.".join(re.escape(p) + ("" if p.endswith("]") else r"(?:\[\d+\])?") for p in text.split("."))
            for device in self.kind:
                if found := re.match(form + r"(?=\.|$)", device):
                    out.setdefault(found[0], set()).add(device)
        return list(out.values())

    def figure(self, asked: str) -> int | None:
        """`links`, `ports`, `cables` or `switches` of a path, or of one to another; the most of several elements."""
        metric, _, rest = asked.partition(" of ")
        one, _, two = rest.partition(" to ")
        mine = self.elements(one)
        if two:
            here, there = (set().union(*self.elements(x)) for x in (one, two))
            table = self.links if metric == "links" else self.cables
            between = [x for x in table if (x[0] in here and x[1] in there) or (x[1] in here and x[0] in there)]
            return len(between) if metric == "links" else len({x[2] for x in between if len(x) > 2})
        return max((self.of_element(metric, e) for e in mine), default=None)

    def of_element(self, metric: str, devices: set[str]) -> int:
        if metric == "switches":
            return sum(self.kind[d] == "switch" for d in devices)
        if metric == "ports":
            return sum((a in devices) + (b in devices) for a, b in self.links)
        if metric == "cables":
            return len({name for a, b, name in self.cables if a in devices or b in devices})
        return sum(a in devices or b in devices for a, b in self.links)


@pytest.mark.parametrize("seed", range(10, 20))
def test_counts_are_those_of_the_rows(seed: int, tmp_path: Path) -> None:
    """Links, ports, cables and switches of devices with all that is in them, and between two sets, for each instance."""
    rng = Random(seed)
    text, names, every = drawn(rng)
    instances = [x for below in every.values() for x in below]
    some = sorted({f"{m} of {n}" for m in ("links", "ports", "cables", "switches") for n in rng.sample(names, 3)})
    some += [f"{m} of {a} to {b}" for m in ("links", "cables") for a, b in zip(names, reversed(names), strict=True) if a != b]
    found, compilation = figures(
        tmp_path / "d.fab", text.replace("@INNER@", "\n".join(f"report {x}" for x in some)).replace("@WHOLE@", ""),
        {"links", "ports", "cables", "switches"},
    )  # fmt: skip
    counted = Counted(compilation)
    for one in some:
        for at in instances:
            full = re.sub(r"( of | to )", lambda m, at=at: f"{m[0]}{at}.", one)  # type: ignore[misc]
            status, value, *_ = found[one, at]
            assert (value if status == "proved" else None) == counted.figure(full), (one, at, text)


def answers(path: Path, text: str, **options: Any) -> dict[str, tuple[str, Any]]:
    """Status and figure of each requirement and report, the instance behind its text."""
    found = tdsl.check(written(path, text + PARTS), Options(**options))
    assert not [d for d in found.findings if d.code in ("E0901", "E0905")]
    results = [r for d in found.designs for r in d.results if r.requirement]
    return {f"{r.requirement} {r.scope}".strip(): (r.status, r.value) for r in results}


MEMBERS = """fabric f {
  host job[4]: H
  host head: H
  switch leaf: SW
  connect job[n].nic[i] to leaf where n < 2
  connect job[3].nic[0] to head.nic[1]
  connect head.nic[(0)] to leaf
  WHAT
}"""


@pytest.mark.parametrize(
    ("lost", "left_out"),
    [
        ("", "job[2]"),  # has no link
        ("", "job[3]"),  # has a link to an endpoint outside of the set alone
        ("omit job[1]", "job[1]"),
        ("--fail job[1]", "job[1]"),
        ("--fail leaf", "job[1]"),
    ],
)
def test_every_member_of_a_set_counts(lost: str, left_out: str, tmp_path: Path) -> None:
    """A member that has no link, is planned only or failed is reached by none."""
    members = f"job[0], {left_out}"
    asked = [
        f"reachability of all {members}",
        *(f"{m} of all {members}" for m in ("bisection", "edge_redundancy", "node_redundancy")),
    ]
    text = MEMBERS.replace("WHAT", "\n".join(f"report {x}" for x in asked) + ("\n" + lost if lost.startswith("omit") else ""))
    fail = (lost.removeprefix("--fail "),) if lost.startswith("--fail") else ()
    found = answers(tmp_path / "d.fab", text, fail=fail)
    assert found[asked[0]][0] == "refuted"
    assert [found[x] for x in asked[1:]] == [("proved", 0)] * 3


def test_members_that_are_all_linked_are_a_network_of_their_own(tmp_path: Path) -> None:
    asked = ["reachability of all job[0..1]", "bisection of all job[0..1]", "edge_redundancy of all job[0..1]"]
    found = answers(tmp_path / "d.fab", MEMBERS.replace("WHAT", "\n".join(f"report {x}" for x in asked)))
    assert [found[x] for x in asked] == [("proved", True), ("proved", 1), ("proved", 2)]


def test_a_group_that_one_instance_extends(tmp_path: Path) -> None:
    """What an `extend` gives to one instance is not divided by the instances, and what its block requires is of that one."""
    text = """fabric f {
      group su[3] { host node[2]: H
        switch leaf: SW
        connect node[n].nic[i] to leaf
        report links
        report ports of leaf }
      switch spine: SW
      connect su[*].leaf to spine each
      extend su[1] { host more[3]: H
        connect more[n].nic[i] to leaf
        report links
        report links of more to leaf
        report blast_radius of leaf }
      report blast_radius of su
      report survives any 1 of su
      report survives any 1 of leaf with bisection >= 1%
    }"""
    found = answers(tmp_path / "d.fab", text)
    assert {k: v for k, v in found.items() if "survives" not in k} == {
        "links su[0]": ("proved", 4), "links su[1]": ("proved", 10), "links su[2]": ("proved", 4),
        "ports of leaf su[0]": ("proved", 5), "ports of leaf su[1]": ("proved", 11), "ports of leaf su[2]": ("proved", 5),
        "links of more to leaf su[1]": ("proved", 6), "blast_radius of leaf su[1]": ("proved", 10),
        "blast_radius of su": ("proved", 10),
    }  # fmt: skip
    assert {v[0] for k, v in found.items() if "survives" in k} == {"proved"}


def test_a_bare_name_means_the_devices_of_the_instance(tmp_path: Path) -> None:
    """`leaf` in the block of a pod stands for the leaves of its units, and a name from outside is the same in each pod."""
    text = """fabric f {
      group pod[2] { group su[2] { host node[1]: H
          switch leaf: SW
          connect node[n].nic[i] to leaf }
        switch agg: SW
        connect su[*].leaf to agg each
        report oversubscription at leaf
        report links of agg to spine
        report survives any 1 of spine }
      switch spine: SW
      connect pod[(0)].agg to spine x 3
      connect pod[(1)].agg to spine x 5
      connect pod[(1)].su[*].leaf to spine each }"""
    found = answers(tmp_path / "d.fab", text)
    assert found["oversubscription at leaf pod[0]"][1] == 2 and found["oversubscription at leaf pod[1]"][1] == 1
    assert [found[f"links of agg to spine pod[{i}]"] for i in (0, 1)] == [("proved", 3), ("proved", 5)]
    assert {found[f"survives any 1 of spine pod[{i}]"][0] for i in (0, 1)} == {"skipped"}  # the pods are judged without it


ACTIVE = """fabric f {
  switch a[2]: PLAIN
  switch b: FULL
  connect a[*] each x 4 { cable WIRE }
  connect a[(0)] to b { cable WIRE }
  report power
  report power of a
  report optics_power
  report power of b
}
model switch PLAIN { port p[1..8]: 100Gbps { cage 1 QSFP }; power 100W }
model switch FULL { port p[1..8]: 100Gbps { cage 1 QSFP }; power 90W max 150W }
model cable WIRE { rate 100Gbps; medium MEDIUM; form QSFP; WATTS }
"""


@pytest.mark.parametrize("medium", ["aoc", "acc", "aec", "dac"])
def test_active_cables_take_power(medium: str, tmp_path: Path) -> None:
    """Half at each end; a published maximum includes its own plugs. An active cable without a figure leaves the sum open."""
    text = ACTIVE.replace("MEDIUM", medium)
    found = answers(tmp_path / "d.fab", text.replace("WATTS", "power 12W"))
    watts = {k: (status, value.amount) for k, (status, value) in found.items()}
    assert watts == {
        "power": ("proved", 350 + 4 * 12 + 6), "power of a": ("proved", 100 + 4 * 6 + 6), "optics_power": ("proved", 60),
        "power of b": ("proved", 150),
    }  # fmt: skip
    unknown = answers(tmp_path / "d.fab", text.replace("; WATTS", ""))
    assert {unknown[k][0] for k in ("power", "optics_power")} == {"proved" if medium == "dac" else "bounded"}


def test_cables_on_the_way_through_a_panel(tmp_path: Path) -> None:
    """Those between two sets are all that their links run through: loss and length are of these."""
    text = """fabric f {
      switch leaf[2]: SW
      switch spine: SW
      panel pan: PAN
      connect leaf[(0)] to spine via pan
      connect leaf[(1)] to spine
      report cables of leaf to spine
      report cables of leaf[0] to spine
      report cables of leaf to pan
      report links of leaf to spine
      report loss_budget of leaf to spine
      report loss_budget of leaf[1] to spine
    }
    model panel PAN { port front[8]: any; port back[8]: any; ferrules 2 }
    """
    found = answers(tmp_path / "d.fab", text)
    assert [v for _, v in found.values()][:4] == [3, 2, 1, 2]
    assert found["loss_budget of leaf[1] to spine"] == ("proved", 0)
    assert found["loss_budget of leaf to spine"] != ("proved", 0)


def test_what_is_in_a_device_has_no_power_of_its_own(tmp_path: Path) -> None:
    text = """fabric f { host tray[2]: TRAY
      switch leaf: SW
      connect tray[t].gpu[g].nv[k] to leaf
      report power of tray[0].gpu[1]
      report cost of tray[0].gpu
      report power of tray[0] }"""
    found = answers(tmp_path / "d.fab", text)
    assert [status for status, _ in found.values()] == ["skipped", "skipped", "proved"]


def test_chips_that_no_statement_names_are_no_devices(tmp_path: Path) -> None:
    """They have no rows of their own, so neither a requirement nor a failure is about them, whatever is in those rows."""
    text = """fabric f { host tray[4]: TRAY
      switch leaf[2]: SW
      connect leaf[0] to leaf[1]
      require links of tray.gpu >= 0
      report blast_radius of tray.gpu }"""
    path = written(tmp_path / "d.fab", text + PARTS)
    found = [d for d in tdsl.check(path).findings if d.code != "E0404"]
    assert [d.code for d in found] == ["E0101", "E0101"] and all("is not a device of this fabric" in d.message for d in found)
    written(path, text.replace("require links of tray.gpu >= 0", "").replace("report blast_radius of tray.gpu", "") + PARTS)
    with pytest.raises(UsageError, match="is not a device of this fabric"):
        tdsl.check(path, Options(fail=("tray[0].gpu[1]",)))
