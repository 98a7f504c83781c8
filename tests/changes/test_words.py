"""What ``diff`` and ``plan`` say of pairs of small designs: words, steps, tables, Markdown, JSON, as goldens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.run import tdsl, write
from tests.conftest import Golden
from tests.harness import sampled
from tests.tables import sections

POD = sections(__file__)["pod"]
RINGS = sections(__file__)["rings"]
PLACED = """
  hall room { row A, B { rack 1..3 { height 20U } }; pitch rack 0.6m, row 2m; tray above 2.5m; slack 0.5m }
  place h[i] in room.A[i % 2 + 1] at 1U + 3U*(i // 2)
  place leaf[k] in room.B[k + 1] at 18U
  place spine[*] in room.A[3] stacked from 10U
"""
SPARE = "switch spare: S  # tdsl: allow(isolated) a spare"
OWN = {"LOW": "", "HIGH": "", "MORE": "", "UP": ""}
UP_BY_INDEX = "connect leaf[k].p[2 + s] to spine[s].p[(k)]"
STRAIGHT = "connect leaf[*] to spine[*] each x 2"
Side = tuple[tuple[str, str], ...]
"""What is replaced in a text, one after the other."""
PAIRS: dict[str, tuple[str, Side, Side]] = {
    "one host more": (POD, (), (("hosts: int = 4", "hosts: int = 5"),)),
    "one spine": (POD, (), (("spine[2]", "spine[1]"), ("require bisection >= 50%", "require bisection >= 75%"))),
    "another model": (POD, (), (("host h[hosts]: H\n", "host h[hosts]: H2\n"),)),
    "renamed hosts": (POD, (), (("host h[hosts]", "host node[hosts]"), ("h[i]", "node[i]"))),
    "other names": (POD, (), (("MORE", 'naming leaf[i] "rail{i}"'),)),
    "rails exchanged": (POD, (), (("leaf[r] {", "leaf[1 - r] {"),)),
    "other addresses": (POD, (), (("10.0.0.0/24", "10.0.0.128/25"), ("172.16.0.0/24", "172.17.0.0/23"))),
    "another part": (POD, (("HIGH", "cable SHORT; length 3m"),), (("HIGH", "cable LONG; length 5m; colour red"),)),
    "moved with other parts": (
        POD, (("MORE", PLACED), ("HIGH", "cable LONG")), (("MORE", PLACED), ("HIGH", "cable LONG"), ("at 18U", "at 12U"))
    ),
    "a requirement fails": (POD, (), (("bisection >= 50%", "bisection >= 50%; require oversubscription <= 1:2"),)),
    "weaker and waived": (
        POD, (("MORE", SPARE), ("bisection >= 50%", "reachability; require links of h >= 2")),
        (("MORE", SPARE.replace("a spare", "for later")), ("bisection >= 50%", "links of h >= 1")),
    ),
    "ports exchanged": (
        RINGS, (("UP", UP_BY_INDEX),), (("UP", "connect leaf[k].p[2 + s] to spine[s].p[3 - k]"),)
    ),
    "from a ring to a tree": (
        RINGS, (("UP", "connect leaf[k].p[2] to leaf[(k + 1) % 4].p[3] x 1; connect spine[0] to spine[1]"),), (("UP", STRAIGHT),)
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


@pytest.mark.parametrize("pair", sampled(CASES, 4), indirect=True)
def test_every_pair_is_drawn(pair: str) -> None:
    """As SVG and as a page, both ways; and each new or removed cable is counted once by declarations."""
    for old, new in (("old.fab", "new.fab"), ("new.fab", "old.fab")):
        done = tdsl("diff", old, new, "--no-checks", "--picture", "change.svg", "--format", "json")
        assert done.exit_code in (0, 1), done.output
        root = ElementTree.parse("change.svg").getroot()
        assert root.tag.endswith("svg")
        longest = max(len(t.text or "") for t in root.iter("{http://www.w3.org/2000/svg}text"))
        assert float(root.get("width", "0")) > 6.5 * longest, "the line below the title is cut off"
        for found in json.loads(done.stdout)["fabrics"]:
            for word, key in (("new", "added"), ("removed", "removed"), ("moved", "moved")):
                counted = sum(g["count"] for g in found["cable_groups"] if g["change"] == word)
                assert counted == len(found[key]), (pair, word)
        done = tdsl("view", new, "--diff", old, "--no-check", "--no-open", "-o", "change.html")
        assert done.exit_code in (0, 1) and Path("change.html").is_file(), done.output


FORMS = ["one host more", "weaker and waived", "another model", "other addresses", "rails exchanged", "moved with other parts"]


@pytest.mark.parametrize("pair", FORMS, indirect=True)
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


PHASES = sections(__file__)["phases"]


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
