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
from tests.fabrics import Builder, claim, superpod, torus

LIMIT = "is not an amount: from 0 to 1,000,000,000,000, with 6 decimal places at most"
LONG = "7" * 29


def asked(folder: Path | str, f: Fabric, *args: object) -> ResolvedClaim:
    """A requirement written in a file of that folder."""
    name = folder if isinstance(folder, str) else str(folder / "design.fab")
    return replace(claim(f, "throughput", args=args), origin=Origin(SourceSpan(SourceFile(name, "require"), 0, 7)))


def hosts(count: int) -> Fabric:
    return superpod(1, count, 2, 1, omit_last=False, manager=False).build()


def rows(demand: TrafficDemand) -> list[tuple[int, int, int]]:
    return [*zip(demand.source.tolist(), demand.target.tolist(), demand.amount.tolist(), strict=True)]


@pytest.mark.parametrize("by", [1, 2, 3, 5, -1, 9, 4 * 10**30 + 3])
def test_shifts_go_round(by: int, tmp_path: Path) -> None:
    f = hosts(4)
    found = demand_of(View.whole(f), asked(tmp_path, f, BareWord("shift"), by))
    assert rows(found) == [(i, (i + by) % 4, 1) for i in range(4)] and not found.ring


def why(folder: Path | str, f: Fabric, *args: object, view: View | None = None) -> str:
    """Why a pattern says nothing about this fabric."""
    with pytest.raises(UnfitDemand) as found:
        demand_of(view or View.whole(f), asked(folder, f, *args))
    return str(found.value)


def test_words_that_do_not_fit(tmp_path: Path) -> None:
    f = hosts(3)
    shift, ring, rails, file = (BareWord(x) for x in ("shift", "ring", "rail_allreduce", "permutation"))
    takes = "`shift` takes how far: write `throughput shift 1`"
    for args in ((shift,), (shift, 1, 2), (shift, True), (shift, "1"), (shift, 1.0)):
        assert why(tmp_path, f, *args) == takes
    assert why(tmp_path, f, shift, -6) == "a shift by -6 sends all 3 hosts to themselves"
    assert why(tmp_path, f, ring, 1) == why(tmp_path, f, rails, 1) == "`ring` takes nothing more"
    chips = torus(4).build()
    assert why(tmp_path, chips, rails) == "endpoints that forward have no rails: ask for `ring`"
    assert rows(demand_of(View.whole(chips), asked(tmp_path, chips, ring)))[3] == (3, 0, 1)
    needs = '`permutation` takes a file of lines `from,to`: write `throughput permutation "pairs.csv"`'
    for args in ((file,), (file, 3), (file, "p.csv", "p.csv")):
        assert why(tmp_path, f, *args) == needs
    others = 'there are permutation, rail_allreduce, ring, shift, and files such as "matrix.csv"'
    for args, name in (((BareWord("rings"),), "rings"), (("m.csv", 1), "m.csv"), (("matrix",), "matrix")):
        assert why(tmp_path, f, *args) == f"there is no pattern `{name}`; {others}"


def test_permutations_name_units_in_three_ways(tmp_path: Path) -> None:
    """By path, by name and by number; a header may be the first line, and some units may be left out or send to themselves."""
    f = hosts(5)
    view = View.whole(f)
    path, name = f.device_path(int(view.units[0])), f.device_name(int(view.units[3]))
    (tmp_path / "p.csv").write_text(f"From, TO\n{path},3\n\n# 1,1\n 2 , {path}\n{name},2\n1,1\n", encoding="utf-8-sig")
    found = demand_of(view, asked(tmp_path, f, BareWord("permutation"), "p.csv"))
    assert rows(found) == [(0, 3, 1), (2, 0, 1), (3, 2, 1)] and not found.ring
    (tmp_path / "p.csv").write_text("4,1\n")
    assert rows(demand_of(view, asked(tmp_path, f, BareWord("permutation"), "p.csv"))) == [(4, 1, 1)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0,1,2\n", "p.csv:1: a line is `from,to`, and this has 3 fields"),
        ("0,1\n2\n", "p.csv:2: a line is `from,to`, and this has 1 field"),
        ("0,1\nfrom,to\n", "p.csv:2: 'from' is none of the ends of this fabric"),
        ("from,from\n", "p.csv:1: 'from' is none of the ends of this fabric"),
        ("0,5\n", "p.csv:1: '5' is none of the ends of this fabric"),
        ("-1,2\n", "p.csv:1: '-1' is none of the ends of this fabric"),
        (f"0,{'x' * 70}\n", f"p.csv:1: '{'x' * 60}' is none of the ends of this fabric"),
        ("0,1\n0,2\n", "p.csv:2: 0 occurs twice"),
        ("0,1\n2,1\n", "p.csv:2: 1 occurs twice"),
        ("0,1\n\n0,1\n", "p.csv:3: 0 occurs twice"),
        ("0,0\n1,1\n", "p.csv: nobody sends to anybody else"),
        ("from,to\n", "p.csv: nobody sends to anybody else"),
    ],
)
def test_permutations_that_are_none(tmp_path: Path, text: str, reason: str) -> None:
    f = hosts(5)
    (tmp_path / "p.csv").write_text(text)
    assert why(tmp_path, f, BareWord("permutation"), "p.csv") == reason


def test_matrices_by_lines_and_by_squares(tmp_path: Path) -> None:
    f = hosts(3)
    view = View.whole(f)
    name = f.device_name(int(view.units[1]))
    (tmp_path / "t.csv").write_text(f"FROM,to,Amount\n2,0,1.5\n{name},2,0\n1,1,7\n\n2,{name},3\n2,0,0.25\n0,1,0.000001\n")
    found = demand_of(view, asked(tmp_path, f, "t.csv"))
    assert rows(found) == [(2, 0, 1_750_000), (2, 1, 3_000_000), (0, 1, 1)]
    (tmp_path / "m.csv").write_text("9,0,2\n# two\n,,\n1,9,0\n0,3,9\n")
    assert rows(demand_of(view, asked(tmp_path, f, "m.csv"))) == [
        (0, 2, 2 * 10**6),
        (1, 0, 10**6),
        (2, 1, 3 * 10**6),
    ]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "m.csv").write_text("0,1,0\n0,0,0\n0,0,0\n")
    assert rows(demand_of(view, asked(tmp_path, f, "sub/m.csv"))) == [(0, 1, 10**6)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("from,to,amount\n0,1\n", "m.csv:2: a line is `from,to,amount`, and this has 2 fields"),
        ("from,to,amount\n\n0,1,1,1\n", "m.csv:3: a line is `from,to,amount`, and this has 4 fields"),
        ("from,to,amount\n0,3,1\n", "m.csv:2: '3' is none of the ends of this fabric"),
        ("from,to,amount\nx,1,1\n", "m.csv:2: 'x' is none of the ends of this fabric"),
        ("from,to,amount\n0,1,-1\n", "m.csv:2: -1 is not an amount: from 0 to 1,000,000,000,000, with 6 decimal places at most"),
        ("from,to,amount\n", "m.csv: nobody sends to anybody else"),
        ("from,to,amount\n1,1,3\n0,2,0\n", "m.csv: nobody sends to anybody else"),
        ("", "m.csv: 0 lines, and there are 3 hosts"),
        ("0,1,1\n1,0,1\n", "m.csv: 2 lines, and there are 3 hosts"),
        ("0,1,1\n1,0,1\n1,1,0\n1,1,1\n", "m.csv: 4 lines, and there are 3 hosts"),
        ("0,1,1\n1,0\n1,1,0\n", "m.csv:2: 2 fields, and there are 3 hosts"),
        ("0,1,1\n1,0,1,1\n1,1,0\n", "m.csv:2: 4 fields, and there are 3 hosts"),
        ("0,1,1\n1,0,1\n1,x,0\n", "m.csv:3: 'x' is not a number"),
        ("0,,1\n1,0,1\n1,1,0\n", "m.csv:1: '' is not a number"),
        ("0,nan,1\n1,0,1\n1,1,0\n", f"m.csv:1: nan {LIMIT}"),
        ("0,1,-inf\n1,0,1\n1,1,0\n", f"m.csv:1: -inf {LIMIT}"),
        ("0,1,1\n1,0,1\n1e54,1,0\n", f"m.csv:3: 1e54 {LIMIT}"),
        ("0,1,1\n1,0,1\n1,1000000000000.000001,0\n", f"m.csv:3: 1000000000000.000001 {LIMIT}"),
        ("4,0,0\n0,5,0\n0,0,6\n", "m.csv: nobody sends to anybody else"),
        (f"0,{'y' * 50},1\n1,0,1\n1,1,0\n", f"m.csv:1: '{'y' * 40}' is not a number"),
        (f"0,{LONG},1\n1,0,1\n1,1,0\n", f"m.csv:1: '{LONG}' is not a number"),
        (f"0,{LONG[1:]},1\n1,0,1\n1,1,0\n",
         f"m.csv:1: {LONG[1:]} is not an amount: from 0 to 1,000,000,000,000, with 6 decimal places at most"),
        (f"0,1,{'0' * 44}.0000001\n1,0,1\n1,1,0\n",
         f"m.csv:1: {'0' * 40} is not an amount: from 0 to 1,000,000,000,000, with 6 decimal places at most"),
    ],
)  # fmt: skip
def test_matrices_that_are_none(tmp_path: Path, text: str, reason: str) -> None:
    f = hosts(3)
    (tmp_path / "m.csv").write_text(text)
    assert why(tmp_path, f, "m.csv") == reason


def test_files_that_are_not_read(tmp_path: Path) -> None:
    f = hosts(2)
    (tmp_path / "m.csv").write_text("0,1\n1,0\n")
    (tmp_path / "m.txt").write_text("0,1\n1,0\n")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe")
    (tmp_path / "wide.csv").write_text('0,1\n"' + "x" * 131_073 + '",0\n')
    place = "the file must be in the folder of the design"
    for name in (str(tmp_path / "m.csv"), "../m.csv", "sub/../m.csv", "sub\\m.csv"):
        assert why(tmp_path, f, name) == f"{name}: {place}"
    assert why(tmp_path, f, "m.txt") == "m.txt: a file of demands ends in `.csv`"
    assert why("stdlib:design.fab", f, "m.csv") == "m.csv: a design of the standard library has no files beside it"
    assert why(tmp_path, f, "no.csv") == f"{tmp_path / 'no.csv'}: {os.strerror(errno.ENOENT)}"
    assert why(tmp_path, f, "folder.csv") == f"{tmp_path / 'folder.csv'}: {os.strerror(errno.EISDIR)}"
    assert why(tmp_path, f, "bytes.csv") == "bytes.csv: this is not a text file"
    assert why(tmp_path, f, "wide.csv") == "wide.csv:2: field larger than field limit (131072)"
    (tmp_path / "large.csv").write_text("0" * (2**25 + 1))
    assert why(tmp_path, f, "large.csv") == "large.csv: larger than 32 MiB"


def after(view: View, *units: int) -> View:
    """The view after these of its units failed."""
    failed = np.zeros(view.fabric.device_count, dtype=np.bool_)
    failed[view.units[list(units)]] = True
    return view.without(failed)


def test_what_lost_units_send_or_receive_is_left_out(tmp_path: Path) -> None:
    """Files name the units of the intact fabric, patterns go over those that are left."""
    f = hosts(4)
    view = after(View.whole(f), 1)
    (tmp_path / "p.csv").write_text("0,3\n3,2\n2,1\n1,0\n")
    found = demand_of(view, asked(tmp_path, f, BareWord("permutation"), "p.csv"))
    assert rows(found) == [(0, 2, 1), (2, 1, 1)]
    (tmp_path / "m.csv").write_text("0,1,2,3\n4,0,5,6\n7,8,0,9\n10,11,12,0\n")
    found = demand_of(view, asked(tmp_path, f, "m.csv"))
    assert rows(found) == [(a, b, n * 10**6) for a, b, n in ((0, 1, 2), (0, 2, 3), (1, 0, 7), (1, 2, 9), (2, 0, 10), (2, 1, 12))]
    assert rows(demand_of(view, asked(tmp_path, f, BareWord("shift"), 2))) == [(0, 2, 1), (1, 0, 1), (2, 1, 1)]
    assert why(tmp_path, f, BareWord("shift"), 3, view=view) == "a shift by 3 sends all 3 hosts to themselves"
    (tmp_path / "p.csv").write_text("1,0\n2,1\n")
    assert why(tmp_path, f, BareWord("permutation"), "p.csv", view=view) == "no two that exchange traffic are left"
    again = after(view, 0)
    (tmp_path / "p.csv").write_text("0,3\n3,2\n2,1\n1,0\n")
    assert rows(demand_of(again, asked(tmp_path, f, BareWord("permutation"), "p.csv"))) == [(1, 0, 1)]


@pytest.mark.parametrize("linked", [(), (1,), (0, 1), (0, 2)])
def test_hosts_without_links_reach_nobody(linked: tuple[int, ...]) -> None:
    b = Builder("none")
    node = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), 3)
    sw = b.devices("s", b.model("switch", "S", {"p": 2}), 1)
    for h in linked:
        b.link(b.free(node, h), b.free(sw, 0))
    view = View.whole(b.build())
    assert unreachable_pair(view, None) is not None
    order = [(2, 0), (0, 1)]
    demand = TrafficDemand(np.array([2, 0]), np.array([0, 1]), np.array([1, 1]))
    assert unreachable_pair(view, demand) == next(pair for pair in order if not set(pair) <= set(linked))
