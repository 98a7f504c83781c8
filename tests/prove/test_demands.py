"""Traffic patterns and files of demands: what is read, what is left after failures, what is refused."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.prove.demands import TrafficDemand, UnfitDemand, demand_of, unreachable_pair
from tdsl.prove.view import View
from tdsl.semantics.values import BareWord
from tests.fabrics import claim, superpod, torus
from tests.prove.networks import wired

LIMIT = "is not an amount: from 0 to 1,000,000,000,000, with 6 decimal places at most"
LONG = "7" * 29
SHIFT, RING, RAILS, PAIRS = (BareWord(x) for x in ("shift", "ring", "rail_allreduce", "permutation"))
NOBODY = "nobody sends to anybody else"
NONE = "is none of the ends of this fabric"
MILLION = 10**6


def asked(folder: Path | str, f: Fabric, *args: object) -> ResolvedClaim:
    """A requirement written in a file of that folder."""
    name = folder if isinstance(folder, str) else str(folder / "design.fab")
    return replace(claim(f, "throughput", args=args), origin=Origin(SourceSpan(SourceFile(name, "require"), 0, 7)))


def hosts(count: int) -> Fabric:
    return superpod(1, count, 2, 1, omit_last=False, manager=False).build()


def read(folder: Path, view: View, *args: object, text: str = "") -> list[tuple[int, int, int]]:
    """What each sends to each; a text is that of the last argument's file."""
    if text:
        (folder / str(args[-1])).write_text(text, encoding="utf-8-sig" if text.startswith("From") else "utf-8")
    demand = demand_of(view, asked(folder, view.fabric, *args))
    assert args[0] == RING or not demand.ring
    return [*zip(demand.source.tolist(), demand.target.tolist(), demand.amount.tolist(), strict=True)]


def why(folder: Path | str, f: Fabric, *args: object, view: View | None = None) -> str:
    """Why a pattern says nothing about this fabric."""
    with pytest.raises(UnfitDemand) as found:
        demand_of(view or View.whole(f), asked(folder, f, *args))
    return str(found.value)


@pytest.mark.parametrize("by", [1, 2, 3, 5, -1, 4 * 10**30 + 3])
def test_shifts_go_round(by: int, tmp_path: Path) -> None:
    assert read(tmp_path, View.whole(hosts(4)), SHIFT, by) == [(i, (i + by) % 4, 1) for i in range(4)]


def test_words_that_do_not_fit(tmp_path: Path) -> None:
    f, chips = hosts(3), torus(4).build()
    for args in ((SHIFT,), (SHIFT, 1, 2), (SHIFT, True), (SHIFT, "1"), (SHIFT, 1.0)):
        assert why(tmp_path, f, *args) == "`shift` takes how far: write `throughput shift 1`"
    assert why(tmp_path, f, SHIFT, -6) == "a shift by -6 sends all 3 hosts to themselves"
    assert why(tmp_path, f, RING, 1) == why(tmp_path, f, RAILS, 1) == "`ring` takes nothing more"
    assert why(tmp_path, chips, RAILS) == "endpoints that forward have no rails: ask for `ring`"
    assert read(tmp_path, View.whole(chips), RING)[3] == (3, 0, 1)
    needs = '`permutation` takes a file of lines `from,to`: write `throughput permutation "pairs.csv"`'
    for args in ((PAIRS,), (PAIRS, 3), (PAIRS, "p.csv", "p.csv")):
        assert why(tmp_path, f, *args) == needs
    for args, name in (((BareWord("rings"),), "rings"), (("m.csv", 1), "m.csv"), (("matrix",), "matrix")):
        told = why(tmp_path, f, *args)
        assert told.startswith(f"there is no pattern `{name}`; ") and 'and files such as "matrix.csv"' in told
        assert ("did you mean `ring`?" in told) == (name == "rings")


def test_files_name_units_in_three_ways(tmp_path: Path) -> None:
    """By path, by name and by number; a header may be the first line, and some units may be left out or send to themselves. An
    amount is a line or a place in a square, in a subfolder, too."""
    f = hosts(5)
    view, three = View.whole(f), View.whole(hosts(3))
    path, name = f.device_path(int(view.units[0])), f.device_name(int(view.units[3]))
    pairs = f"From, TO\n{path},3\n\n# 1,1\n 2 , {path}\n{name},2\n1,1\n"
    assert read(tmp_path, view, PAIRS, "p.csv", text=pairs) == [(0, 3, 1), (2, 0, 1), (3, 2, 1)]
    assert read(tmp_path, view, PAIRS, "p.csv", text="4,1\n") == [(4, 1, 1)]
    name = three.fabric.device_name(int(three.units[1]))
    amounts = f"FROM,to,Amount\n2,0,1.5\n{name},2,0\n1,1,7\n\n2,{name},3\n2,0,0.25\n0,1,0.000001\n"
    assert read(tmp_path, three, "t.csv", text=amounts) == [(2, 0, 1_750_000), (2, 1, 3_000_000), (0, 1, 1)]
    square = [(0, 2, 2 * MILLION), (1, 0, MILLION), (2, 1, 3 * MILLION)]
    assert read(tmp_path, three, "m.csv", text="9,0,2\n# two\n,,\n1,9,0\n0,3,9\n") == square
    (tmp_path / "sub").mkdir()
    assert read(tmp_path, three, "sub/m.csv", text="0,1,0\n0,0,0\n0,0,0\n") == [(0, 1, MILLION)]


UNFIT = [
    ("p", "0,1,2\n", ":1: a line is `from,to`, and this has 3 fields"),
    ("p", "0,1\n2\n", ":2: a line is `from,to`, and this has 1 field"),
    ("p", "0,1\nfrom,to\n", f":2: 'from' {NONE}"), ("p", "from,from\n", f":1: 'from' {NONE}"),
    ("p", "0,5\n", f":1: '5' {NONE}; numbers go from 0 to 4"),
    ("p", "-1,2\n", f":1: '-1' {NONE}"), ("p", f"0,{'x' * 70}\n", f":1: '{'x' * 60}' {NONE}"),
    ("p", "0,1\n0,2\n", ":2: 0 occurs twice"), ("p", "0,1\n2,1\n", ":2: 1 occurs twice"),
    ("p", "0,1\n\n0,1\n", ":3: 0 occurs twice"), ("p", "0,0\n1,1\n", f": {NOBODY}"), ("p", "from,to\n", f": {NOBODY}"),
    ("m", "from,to,amount\n0,1\n", ":2: a line is `from,to,amount`, and this has 2 fields"),
    ("m", "from,to,amount\n\n0,1,1,1\n", ":3: a line is `from,to,amount`, and this has 4 fields"),
    ("m", "from,to,amount\n0,3,1\n", f":2: '3' {NONE}; numbers go from 0 to 2"),
    ("m", "from,to,amount\nx,1,1\n", f":2: 'x' {NONE}"),
    ("m", "from,to,amount\n0,1,-1\n", f":2: -1 {LIMIT}"), ("m", "from,to,amount\n", f": {NOBODY}"),
    ("m", "from,to,amount\n1,1,3\n0,2,0\n", f": {NOBODY}"), ("m", "", ": 0 lines, and there are 3 hosts"),
    ("m", "0,1,1\n1,0,1\n", ": 2 lines, and there are 3 hosts"),
    ("m", "0,1,1\n1,0,1\n1,1,0\n1,1,1\n", ": 4 lines, and there are 3 hosts"),
    ("m", "0,1,1\n1,0\n1,1,0\n", ":2: 2 fields, and there are 3 hosts"),
    ("m", "0,1,1\n1,0,1,1\n1,1,0\n", ":2: 4 fields, and there are 3 hosts"),
    ("m", "0,1,1\n1,0,1\n1,x,0\n", ":3: 'x' is not a number"), ("m", "0,,1\n1,0,1\n1,1,0\n", ":1: '' is not a number"),
    ("m", "0,nan,1\n1,0,1\n1,1,0\n", f":1: nan {LIMIT}"), ("m", "0,1,-inf\n1,0,1\n1,1,0\n", f":1: -inf {LIMIT}"),
    ("m", "0,1,1\n1,0,1\n1e54,1,0\n", f":3: 1e54 {LIMIT}"),
    ("m", "0,1,1\n1,0,1\n1,1000000000000.000001,0\n", f":3: 1000000000000.000001 {LIMIT}"),
    ("m", "4,0,0\n0,5,0\n0,0,6\n", f": {NOBODY}"),
    ("m", f"0,{'y' * 50},1\n1,0,1\n1,1,0\n", f":1: '{'y' * 40}' is not a number"),
    ("m", f"0,{LONG},1\n1,0,1\n1,1,0\n", f":1: '{LONG}' is not a number"),
    ("m", f"0,{LONG[1:]},1\n1,0,1\n1,1,0\n", f":1: {LONG[1:]} {LIMIT}"),
    ("m", f"0,1,{'0' * 44}.0000001\n1,0,1\n1,1,0\n", f":1: {'0' * 40} {LIMIT}"),
]  # fmt: skip
"""Of pairs and of a matrix: the text, and why it says nothing about five hosts, or three."""


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    for kind, text, reason in UNFIT:
        (tmp_path / f"{kind}.csv").write_text(text)
        args, count = ((PAIRS, "p.csv"), 5) if kind == "p" else (("m.csv",), 3)
        assert why(tmp_path, hosts(count), *args) == f"{kind}.csv{reason}", text


def test_files_that_are_not_read(tmp_path: Path) -> None:
    f = hosts(2)
    for name in ("m.csv", "m.txt"):
        (tmp_path / name).write_text("0,1\n1,0\n")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe")
    (tmp_path / "wide.csv").write_text('0,1\n"' + "x" * 131_073 + '",0\n')
    (tmp_path / "large.csv").write_text("0" * (2**25 + 1))
    place = "the file must be in the folder of the design"
    for name, reason in (
        *((name, f"{name}: {place}") for name in (str(tmp_path / "m.csv"), "../m.csv", "sub/../m.csv", "sub\\m.csv")),
        ("m.txt", "m.txt: a file of demands ends in `.csv`"),
        ("no.csv", f"{tmp_path / 'no.csv'}: {os.strerror(errno.ENOENT)}"),
        ("folder.csv", f"{tmp_path / 'folder.csv'}: {os.strerror(errno.EISDIR)}"),
        ("bytes.csv", "bytes.csv: this is not a text file"),
        ("wide.csv", "wide.csv:2: field larger than field limit (131072)"),
        ("large.csv", "large.csv: larger than 32 MiB"),
    ):
        assert why(tmp_path, f, name) == reason
    assert why("stdlib:design.fab", f, "m.csv") == "m.csv: a design of the standard library has no files beside it"


def after(view: View, *units: int) -> View:
    """The view after these of its units failed."""
    failed = np.zeros(view.fabric.device_count, dtype=np.bool_)
    failed[view.units[list(units)]] = True
    return view.without(failed)


def test_what_lost_units_send_or_receive_is_left_out(tmp_path: Path) -> None:
    """Files name the units of the intact fabric, patterns go over those that are left."""
    f = hosts(4)
    view = after(View.whole(f), 1)
    ring, square = "0,3\n3,2\n2,1\n1,0\n", "0,1,2,3\n4,0,5,6\n7,8,0,9\n10,11,12,0\n"
    assert read(tmp_path, view, PAIRS, "p.csv", text=ring) == [(0, 2, 1), (2, 1, 1)]
    assert read(tmp_path, after(view, 0), PAIRS, "p.csv", text=ring) == [(1, 0, 1)]
    left = ((0, 1, 2), (0, 2, 3), (1, 0, 7), (1, 2, 9), (2, 0, 10), (2, 1, 12))
    assert read(tmp_path, view, "m.csv", text=square) == [(a, b, n * MILLION) for a, b, n in left]
    assert read(tmp_path, view, SHIFT, 2) == [(0, 2, 1), (1, 0, 1), (2, 1, 1)]
    assert why(tmp_path, f, SHIFT, 3, view=view) == "a shift by 3 sends all 3 hosts to themselves"
    (tmp_path / "p.csv").write_text("1,0\n2,1\n")
    assert why(tmp_path, f, PAIRS, "p.csv", view=view) == "no two that exchange traffic are left"


@pytest.mark.parametrize("linked", [(), (1,), (0, 1), (0, 2)])
def test_hosts_without_links_reach_nobody(linked: tuple[int, ...]) -> None:
    view = View.whole(wired("h2 s0 " + " ".join(f"h{h}-s0" for h in linked)))
    order = [(2, 0), (0, 1)]
    demand = TrafficDemand(np.array([2, 0]), np.array([0, 1]), np.array([1, 1]))
    assert unreachable_pair(view, None) is not None
    assert unreachable_pair(view, demand) == next(pair for pair in order if not set(pair) <= set(linked))
