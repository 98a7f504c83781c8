"""What ``diff`` and ``plan`` say of many pairs of small designs: words, steps, tables, Markdown, JSON, pictures, as goldens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.run import tdsl, write
from tests.conftest import Golden

POD = """\
model host H { port n[2]: 100Gbps { type X; os "eth{i}" }; height 2U; power 1kW; price $10 }
model host H2 { port n[2]: 100Gbps { type X; os "en{i}" }; height 2U; power 1.5kW; price $12 }
model switch S { port p[1..12]: 100Gbps { type X; name "P{i}" }; height 1U; power 200W; price $50 }
model cable SHORT { rate 100Gbps; medium dac; lengths 1m, 3m; reach 5m }
model cable LONG { rate 100Gbps; medium fibre; lengths 5m, 20m; reach 100m }
fabric pod {
  param hosts: int = 4
  param up: int = 2
  host h[hosts]: H
  switch leaf[2]: S
  switch spine[2]: S
  connect h[i].n[r] to leaf[r] { LOW }
  connect leaf[*] to spine[*] each x up { HIGH }
  address leaf, spine loopback from 10.0.0.0/24
  address h[i].n[r] links from 172.16.0.0/24
  MORE
  require bisection >= 50%
}
"""
RINGS = """\
model host H { port n[2]: 100Gbps { type X } }
model switch S { port p[8]: 100Gbps { type X } }
fabric f {
  host h[4]: H
  switch leaf[4]: S
  switch spine[2]: S
  connect h[i].n[0] to leaf[i].p[0]
  connect h[i].n[1] to leaf[(i + 1) % 4].p[1]
  UP
}
"""
PLACED = """
  hall room { row A, B { rack 1..3 { height 20U } }; pitch rack 0.6m, row 2m; tray above 2.5m; slack 0.5m }
  place h[i] in room.A[i % 2 + 1] at 1U + 3U*(i // 2)
  place leaf[k] in room.B[k + 1] at 18U
  place spine[*] in room.A[3] stacked from 10U
"""
OWN = {"LOW": "", "HIGH": "", "MORE": "", "UP": ""}
UP_BY_INDEX = "connect leaf[k].p[2 + s] to spine[s].p[(k)]"
STRAIGHT = "connect leaf[*] to spine[*] each x 2"
Side = tuple[tuple[str, str], ...]
"""What is replaced in a text, one after the other."""
PAIRS: dict[str, tuple[str, Side, Side]] = {
    # of the pod: what is added, what goes, what is called otherwise
    "nothing": (POD, (), (("fabric pod", "# as before\nfabric pod"),)),
    "one host more": (POD, (), (("hosts: int = 4", "hosts: int = 5"),)),
    "two hosts less": (POD, (), (("hosts: int = 4", "hosts: int = 2"),)),
    "three spines": (POD, (), (("spine[2]", "spine[3]"),)),
    "one spine": (POD, (), (("spine[2]", "spine[1]"), ("require bisection >= 50%", "require bisection >= 75%"))),
    "more links up": (POD, (), (("up: int = 2", "up: int = 3"),)),
    "fewer links up": (POD, (("up: int = 2", "up: int = 3"),), (("up: int = 2", "up: int = 1"),)),
    "spread": (POD, (), (("each x up", "spread x 4"),)),
    "another model": (POD, (), (("host h[hosts]: H\n", "host h[hosts]: H2\n"),)),
    "renamed leaves": (POD, (), (("leaf", "edge"),)),
    "renamed hosts": (POD, (), (("host h[hosts]", "host node[hosts]"), ("h[i]", "node[i]"))),
    "other names": (POD, (), (("MORE", 'naming leaf[i] "rail{i}"'),)),
    "rails exchanged": (POD, (), (("leaf[r] {", "leaf[1 - r] {"),)),
    "one cable to the other leaf": (POD, (), (("leaf[r] {", "leaf[(r + i // 3) % 2] {"),)),
    "other addresses": (POD, (), (("10.0.0.0/24", "10.0.0.128/25"), ("172.16.0.0/24", "172.17.0.0/23"))),
    "no addresses": (POD, (), (("  address leaf, spine loopback from 10.0.0.0/24\n", ""),)),
    "numbers of BGP": (POD, (), (("MORE", "routing bgp { asn leaf[*] from 65001; asn spine[*] 65100 }"),)),
    "another part": (POD, (("HIGH", "cable SHORT; length 3m"),), (("HIGH", "cable LONG; length 5m; colour red"),)),
    "another length": (POD, (("HIGH", "cable LONG; length 5m"),), (("HIGH", "cable LONG; length 20m; class trunk"),)),
    "no part": (POD, (("LOW", "cable SHORT; length 1m"),), (("LOW", "medium fibre"),)),
    "places": (POD, (), (("MORE", PLACED),)),
    "moved to another rack": (POD, (("MORE", PLACED),), (("MORE", PLACED), ("room.B[k + 1] at 18U", "room.B[3 - k] at 18U"))),
    "moved with other parts": (
        POD, (("MORE", PLACED), ("HIGH", "cable LONG")), (("MORE", PLACED), ("HIGH", "cable LONG"), ("at 18U", "at 12U"))
    ),
    "a host more in a rack": (POD, (("MORE", PLACED),), (("MORE", PLACED), ("hosts: int = 4", "hosts: int = 6"))),
    "a requirement fails": (POD, (), (("bisection >= 50%", "bisection >= 50%; require oversubscription <= 1:2"),)),
    "another fabric": (POD, (), (("fabric pod", "fabric cell"),)),
    # of four leaves: orders of moves
    "ports exchanged": (
        RINGS, (("UP", UP_BY_INDEX),), (("UP", "connect leaf[k].p[2 + s] to spine[s].p[3 - k]"),)
    ),
    "spines exchanged": (
        RINGS, (("UP", UP_BY_INDEX),),
        (("UP", "connect leaf[k].p[2] to spine[1].p[(k)]; connect leaf[k].p[3] to spine[0].p[(k)]"),),
    ),
    "half as many": (
        RINGS, (("UP", STRAIGHT),), (("UP", "connect leaf[*] to spine[*] each"),)
    ),
    "from a ring to a tree": (
        RINGS, (("UP", "connect leaf[k].p[2] to leaf[(k + 1) % 4].p[3] x 1; connect spine[0] to spine[1]"),), (("UP", STRAIGHT),)
    ),
    "hosts exchanged": (
        RINGS, (("UP", STRAIGHT),),
        (("UP", STRAIGHT), ("h[i].n[0] to leaf[i].p[0]", "h[i].n[0] to leaf[3 - i].p[0]")),
    ),
    "one spine for the other": (
        RINGS, (("UP", "connect leaf[*] to spine[0] each x 2"),), (("UP", "connect leaf[*] to spine[1] each x 2"),)
    ),
    "another way through the same ports": (
        RINGS, (("UP", UP_BY_INDEX),),
        (("UP", "connect leaf[k].p[2] to spine[k % 2].p[(k)]; connect leaf[k].p[3] to spine[(k + 1) % 2].p[(k)]"),),
    ),
}  # fmt: skip
CASES = list(PAIRS)


def text_of(base: str, changes: Side) -> str:
    out = base
    for before, after in changes:
        assert before in out, before
        out = out.replace(before, after)
    for word, value in OWN.items():
        out = out.replace(word, value)
    return out


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """The designs `old.fab` and `new.fab` of a pair in the folder that is current; the pair's name."""
    monkeypatch.chdir(tmp_path)
    base, old, new = PAIRS[request.param]
    write(tmp_path, text_of(base, old), "old.fab")
    write(tmp_path, text_of(base, new), "new.fab")
    return str(request.param)


def call(*args: str) -> str:
    """What a call prints, and its status where it is not 0."""
    done = tdsl(*args)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    out = f"$ {' '.join(args)}\n{done.stdout}" + "".join(f"stderr: {x}\n" for x in done.stderr.splitlines())
    return out + (f"status {done.exit_code}\n" if done.exit_code else "")


def file_name(name: str) -> str:
    return name.replace(" ", "_")


@pytest.mark.parametrize("pair", CASES, indirect=True)
def test_words_and_steps(pair: str, golden: Golden) -> None:
    both = ("old.fab", "new.fab", "--floor", "50%")
    out = call("diff", *both, "--steps", "--cables", "moves.csv", "--full", "--detailed-exitcode")
    out += Path("moves.csv").read_bytes().decode().replace("\r\n", "\n").partition("\n")[2]
    out += call("plan", *both, "--no-lock", "--format", "csv").replace(
        "step,action,hall,row,rack,u,device,port,from,to,length,part,bisection\n", ""
    )
    golden(f"changes/{file_name(pair)}.txt", out)


@pytest.mark.parametrize("pair", ["one host more", "moved with other parts", "another part", "ports exchanged"], indirect=True)
def test_short_lists_markdown_and_json(pair: str, golden: Golden) -> None:
    """Lists of more than twelve rows are cut; Markdown folds them; JSON has all."""
    out = call("diff", "old.fab", "new.fab", "--steps", "--no-checks") + call("plan", "old.fab", "new.fab", "--no-lock")
    out += call("diff", "old.fab", "new.fab", "--format", "markdown")
    document = call("diff", "old.fab", "new.fab", "--format", "json", "--steps", "--no-checks").partition("\n")[2]
    plan = call("plan", "old.fab", "new.fab", "--no-lock", "--format", "json").partition("\n")[2]
    for name, text in (("diff", document), ("plan", plan)):
        rows = json.loads(text.rpartition("}")[0] + "}")["fabrics"]
        out += "".join(f"{name} {line}\n" for x in rows for line in flat("", x))
    golden(f"changes/forms_{file_name(pair)}.txt", out)


@pytest.mark.parametrize("pair", ["one spine", "a requirement fails", "rails exchanged", "other addresses"], indirect=True)
def test_colours_and_widths(pair: str, golden: Golden) -> None:
    """What is drawn in colour, and how lines break in a narrow terminal."""
    out = ""
    for columns in ("60", "140"):
        env = {"FORCE_COLOR": "1", "COLUMNS": columns}
        for args in (("diff", "old.fab", "new.fab", "--steps"), ("diff", "new.fab", "old.fab"), ("plan", "new.fab", "old.fab")):
            out += f"## {columns} {' '.join(args)}\n{tdsl(*args, env=env).stdout}"
    golden(f"changes/colours_{file_name(pair)}.txt", out.replace("\x1b", "^"))


def flat(name: str, value: object) -> Iterator[str]:
    """A document as lines: what has no parts in one, of lists the first entry."""
    if isinstance(value, dict) and any(isinstance(x, (dict, list)) for x in value.values()):
        for key, x in value.items():
            yield from flat(f"{name}.{key}" if name else key, x)
    elif isinstance(value, list) and any(isinstance(x, (dict, list)) for x in value):
        yield f"{name}: {len(value)}"
        for k, x in enumerate(value[:1]):
            yield from flat(f"{name}[{k}]", x)
    else:
        yield f"{name}: {json.dumps(value)}"


ORDERS = [
    "ports exchanged", "spines exchanged", "another way through the same ports", "half as many", "one spine for the other",
    "hosts exchanged", "fewer links up", "one cable to the other leaf",
]  # fmt: skip


@pytest.mark.parametrize("pair", ORDERS, indirect=True)
def test_floors(pair: str, golden: Golden) -> None:
    """Orders that keep more and more of the bisection, or why there is none."""
    out = ""
    for floor in ("25%", "51%", "75%", "100%"):
        said = call("diff", "old.fab", "new.fab", "--no-checks", "--full", "--steps", "--floor", floor)
        out += said[said.index("order of moves") :]
    golden(f"changes/floors_{file_name(pair)}.txt", out)


@pytest.mark.parametrize("pair", ["one host more", "renamed hosts", "another part", "nothing"], indirect=True)
def test_pictures(pair: str, golden: Golden) -> None:
    """Texts of a picture with their places, its extent, and where each drawing stands."""
    call("diff", "old.fab", "new.fab", "--picture", "change.svg")
    drawn = Path("change.svg").read_text(encoding="utf-8")
    nested = re.findall(r'<svg [^>]*x="[^>]*>', drawn)
    texts = re.findall(r'<text x="[^"]*" y="[^"]*" fill="#1b2733" font-size[^>]*>[^<]*', drawn)
    lines = [drawn.partition(">")[0], *(re.sub(r" (viewBox|role|font-family|xmlns)=.*", "", x) for x in nested), *texts]
    golden(f"changes/picture_{file_name(pair)}.txt", "".join(f"{x}\n" for x in lines))


PHASES = """\
model host H { port n[2]: 100Gbps { type X } }
model switch S { port p[1..8]: 100Gbps { type X } }
fabric grown {
  param n = 1
  phase 1 { n 1; needed "2027-01-15" }
  phase 2 { n 2; needed "2027-05-01" }
  phase 3 { n 4 }
  host h[n]: H
  switch leaf[2]: S
  connect h[i].n[r] to leaf[r]
  connect leaf[0] to leaf[1] x 2
}
"""


def test_phases(golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each phase against the next, two of them, and what two files hold of different fabrics."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, PHASES, "p.fab")
    write(tmp_path, PHASES.replace("fabric grown", "fabric two") + PHASES[PHASES.index("fabric") :], "q.fab")
    out = call("diff", "p.fab", "--steps", "--cables", "moves.csv")
    out += Path("moves.csv").read_bytes().decode().replace("\r\n", "\n")
    out += call("diff", "p.fab", "p.fab", "--set-old", "n=1", "--set-new", "n=3", "--no-checks")
    out += call("diff", "p.fab", "--phase", "2") + call("diff", "p.fab", "q.fab") + call("diff", "p.fab", "none.fab")
    out += call("plan", "p.fab", "q.fab") + call("plan", "p.fab", "p.fab", "--keep", "bisection")
    golden("changes/phases.txt", out)
