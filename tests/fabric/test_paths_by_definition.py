"""Devices and ports that a path means: for each assignment exactly those that Python's own loops over its indices give."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from tdsl.fabric import resolve
from tdsl.fabric.resolve import Mismatch, Resolver, bare_variable, index_variable_axes, strides_of, variable_assignments
from tdsl.fabric.vector import Assignments
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault
from tdsl.semantics.model import Axis, DeviceModel, DeviceSet, PathComponent
from tdsl.semantics.plan import Context, Group, IndexEntry, ResolvedPath
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_expression

HERE = SourceSpan(SourceFile("x.fab", "the statement"), 4, 13)
MODEL = DeviceModel("M", "switch", "", (), (), (), (), {}, Origin(HERE))


def path(text: str) -> tree.PathExpr:
    """A path as the parser reads it."""
    found = Diagnostics()
    e = parse_expression(text, "x.fab", found)
    assert isinstance(e, tree.PathExpr) and not found.items, text
    return e


def entries(text: str, axes: tuple[Axis, ...], name: str = "d") -> tuple[IndexEntry, ...]:
    """The entries of ``[…]``, written without the brackets; "" gives one without text for each axis."""
    if not text:
        return tuple(IndexEntry(a, None, HERE, name) for a in axes)
    last = path(f"{name}[{text}]").parts[-1]
    assert isinstance(last, tree.IndexPart)
    return tuple(IndexEntry(a, e, e.span, name) for a, e in zip(axes, last.entries, strict=True))


def devices_of(axes: tuple[Axis, ...], first: int = 0, outer: int = 0) -> DeviceSet:
    """A set of devices whose first axes are those of a group around."""
    parts = (
        (PathComponent("g", "group", axes[:outer]), PathComponent("d", "switch", axes[outer:]))
        if outer
        else (PathComponent("d", "switch", axes),)
    )
    return DeviceSet(0, parts, MODEL, "", Origin(HERE), first)


def target(device: DeviceSet, text: str = "", shared: int = 0, **more: Any) -> ResolvedPath:
    facts = {"port_class": "", "ports": None} | more
    return ResolvedPath(path("d"), None, device, shared, entries(text, device.axes[shared:]), **facts)


def over_of(**ranges: range) -> Assignments:
    """All assignments of some variables; ``g0`` is the first index of the statement's groups."""
    names = [f"${k[1:]}" if k.startswith("g") else k for k in ranges]
    rows = list(product(*ranges.values()))
    columns = {k: np.array([r[i] for r in rows], dtype=np.int64) for i, k in enumerate(names)}
    return Assignments(columns, len(rows), dict.fromkeys(names, HERE))


def resolver(over: Assignments) -> Resolver:
    scope = Scope()
    scope.set("three", 3, HERE)
    return Resolver(scope, Evaluator(), over)


def meant(text: str, axis: Axis, values: dict[str, int]) -> tuple[list[int], bool]:
    """Indices that one entry means for one assignment, and whether it is a set."""
    if text == "*":
        return [axis.low + k for k in range(axis.size)], True
    names = {"three": 3, **values}
    if text.startswith("["):
        return list(eval(text, {}, names)), True
    if ".." in text:
        low, high = (eval(x, {}, names) for x in text.split(".."))
        return list(range(low, high + 1)), True
    return [eval(text, {}, names)], False


def position(index: tuple[int, ...], axes: tuple[Axis, ...]) -> int:
    """Row-major place of an element."""
    shape = [a.size for a in axes]
    grid = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
    return int(grid[tuple(i - a.low for i, a in zip(index, axes, strict=True))])


def written(rng: Random, axis: Axis) -> str:
    """An entry that is inside its axis for all assignments, whose variable ``i`` is 0 or 1."""
    inside = list(range(axis.low, axis.high + 1))
    low = rng.choice(inside)
    forms = ["*", str(low), f"[{', '.join(str(rng.choice(inside)) for _ in range(rng.randint(1, 3)))}]"]
    forms.append(f"{low}..{rng.choice([x for x in inside if x >= low])}")
    if axis.size > 1:
        forms += [f"i + {axis.low}", f"{axis.high} - i", f"i + {axis.low}..i + {axis.low}", f"[{axis.high}, i + {axis.low}]"]
    if axis.size > 2:
        forms.append(f"i + {axis.low}..i + {axis.low + 1}")
    return rng.choice(forms)


def test_rows_of_devices() -> None:
    """Every assignment has the rows of its own indices, last axis fastest, behind those of its groups."""
    rng = Random(1)
    for _ in range(150):
        axes = tuple(Axis(rng.randint(0, 2), rng.randint(1, 4)) for _ in range(rng.randint(1, 3)))
        shared = rng.randint(0, len(axes) - 1)
        own = axes[shared:]
        text = [written(rng, a) for a in own]
        over = over_of(**{f"g{k}": range(a.low, a.high + 1) for k, a in enumerate(axes[:shared])}, i=range(2))
        first = rng.choice([0, 7])
        rows, shape, many = resolver(over).devices(target(devices_of(axes, first, shared), ", ".join(text), shared))
        expected = []
        for at in range(over.count):
            group = [int(over.values[f"${k}"][at]) for k in range(shared)]
            named = [meant(t, a, {"i": int(over.values["i"][at])})[0] for t, a in zip(text, own, strict=True)]
            expected.append([first + position((*group, *rest), axes) for rest in product(*named)])
        assert rows.tolist() == expected, (axes, shared, text)
        sizes = [len(meant(t, a, {"i": 0})[0]) for t, a in zip(text, own, strict=True) if meant(t, a, {"i": 0})[1]]
        assert shape == tuple(sizes) and many == bool(sizes)


def test_rows_of_a_path_without_brackets() -> None:
    """All devices, of one assignment and of none."""
    axes = (Axis(1, 2), Axis(0, 3))
    rows, shape, many = resolver(over_of()).devices(target(devices_of(axes, 5)))
    assert (rows.tolist(), shape, many) == ([[5, 6, 7, 8, 9, 10]], (2, 3), True)
    none = over_of(i=range(0))
    rows, shape, many = resolver(none).devices(target(devices_of(axes, 5)))
    assert rows.shape == (0, 6) and (shape, many) == ((2, 3), True)
    rows, shape, many = resolver(none).devices(target(devices_of(axes, 5), "i..i + 1, 5"))
    assert rows.shape == (0, 1) and (shape, many) == ((1,), True)
    rows, shape, many = resolver(over_of()).devices(target(devices_of((), 4)))
    assert (rows.tolist(), shape, many) == ([[4]], (), False)


BIG = 1 << 61
WRONG = {
    "5": ("E0108", "5", "`d[5]` is outside 1..4", "`d` has indices 1..4"),
    "0": ("E0108", "0", "`d[0]` is outside 1..4", "`d` has indices 1..4"),
    "i + 3": ("E0108", "i + 3", "`d[5]` is outside 1..4, for i = 2", "`d` has indices 1..4"),
    "i": ("E0108", "i", "`d[0]` is outside 1..4, for i = 0", "`d` has indices 1..4"),
    "i + 4": ("E0108", "i + 4", "`d[5]` is outside 1..4, for i = 1 (and for 1 more assignments)", "`d` has indices 1..4"),
    "7 - i": ("E0108", "7 - i", "`d[7]` is outside 1..4, for i = 0 (and for 2 more assignments)", "`d` has indices 1..4"),
    "0..2": ("E0108", "0..2", "`d[0]` is outside 1..4", "`d` has indices 1..4"),
    "3..5": ("E0108", "3..5", "`d[5]` is outside 1..4", "`d` has indices 1..4"),
    "i..i + 1": ("E0108", "i..i + 1", "`d[0]` is outside 1..4, for i = 0", "`d` has indices 1..4"),
    "1..i + 1": ("E0120", "1..i + 1", "this range is empty, or not of one size for all assignments", ""),
    "4 - i..4": ("E0120", "4 - i..4", "this range is empty, or not of one size for all assignments", ""),
    "3..2": ("E0120", "3..2", "this range is empty, or not of one size for all assignments", ""),
    "9..2": ("E0120", "9..2", "this range is empty, or not of one size for all assignments", ""),
    f"{BIG}..2": ("E0108", f"{BIG}..2", f"`d[{BIG}]` is outside 1..4", "`d` has indices 1..4"),
    f"2..{BIG}": ("E0108", f"2..{BIG}", f"`d[{BIG}]` is outside 1..4", "`d` has indices 1..4"),
    f"2..-{BIG}": ("E0108", f"2..-{BIG}", f"`d[-{BIG}]` is outside 1..4", "`d` has indices 1..4"),
    f"{BIG - 1}..2": ("E0120", f"{BIG - 1}..2", "this range is empty, or not of one size for all assignments", ""),
    f"2..-{BIG - 1}": ("E0120", f"2..-{BIG - 1}", "this range is empty, or not of one size for all assignments", ""),
    f"-{2 * BIG}..{2 * BIG}": ("E0108", f"-{2 * BIG}..{2 * BIG}", f"`d[-{2 * BIG}]` is outside 1..4", "`d` has indices 1..4"),
    "[1, 5]": ("E0108", "[1, 5]", "`d[5]` is outside 1..4", "`d` has indices 1..4"),
    "[0, 1]": ("E0108", "[0, 1]", "`d[0]` is outside 1..4", "`d` has indices 1..4"),
    "[]": ("E0120", "[]", "this list names no element", ""),
    "1": None, "4": None, "1..4": None, "2..2": None, "i + 2": None, "i + 1..i + 2": None, "[4, 1]": None,
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_indices_outside(text: str) -> None:
    """The first assignment that is outside is named, and how many more are."""
    axis = Axis(1, 4)
    over = over_of(i=range(3)) if "i" in text else over_of()
    case = WRONG[text]
    if case is None:
        resolver(over).devices(target(devices_of((axis,)), text))
        return
    with pytest.raises(Fault) as refused:
        resolver(over).devices(target(devices_of((axis,)), text))
    found = refused.value.diagnostic
    assert (found.code, found.span.text if found.span else "", found.message, found.help) == case


def test_groups_outside() -> None:
    """An index of the statement's own group that the set does not have; without variables there is nothing more to say."""
    axes = (Axis(1, 2), Axis(0, 3))
    with pytest.raises(Fault) as refused:
        resolver(over_of(g0=range(1, 5))).devices(target(devices_of(axes, outer=1), "0", 1))
    found = refused.value.diagnostic
    assert (found.code, found.message, found.help) == ("E0108", "`g[3]` is outside 1..2", "`g` has indices 1..2")
    with pytest.raises(Fault) as refused:
        resolver(over_of(g0=range(4), i=range(2))).devices(target(devices_of(axes, outer=1), "i", 1))
    assert refused.value.diagnostic.message == "`g[0]` is outside 1..2, for i = 0 (and for 3 more assignments)"


def test_too_many_devices_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit itself is allowed, for assignments times devices."""
    over, device = over_of(i=range(3)), devices_of((Axis(0, 2), Axis(0, 5)))
    monkeypatch.setattr(resolve, "ASSIGNMENT_LIMIT", 30)
    assert resolver(over).devices(target(device))[0].shape == (3, 10)
    monkeypatch.setattr(resolve, "ASSIGNMENT_LIMIT", 29)
    with pytest.raises(Fault) as refused:
        resolver(over).devices(target(device))
    assert (refused.value.diagnostic.code, refused.value.diagnostic.message) == ("E0116", "this names too many devices at once")


def test_members_of_a_group() -> None:
    """Rows of a set below a group; where the set has fewer indices than its group, -1 for those that it does not have."""
    rng = Random(2)
    for _ in range(150):
        outer = tuple(Axis(rng.randint(0, 2), rng.randint(1, 3)) for _ in range(rng.randint(1, 3)))
        shared = rng.randint(0, len(outer) - 1)
        narrow = []
        for k, a in enumerate(outer):
            low = rng.randint(a.low, a.high)
            narrow.append(Axis(low, rng.randint(1, a.high - low + 1)) if k >= shared or rng.random() < 0.3 else a)
        own = tuple(Axis(rng.randint(0, 2), rng.randint(1, 3)) for _ in range(rng.randint(0, 2)))
        device = devices_of((*narrow, *own), rng.choice([0, 11]), len(outer))
        text = [written(rng, a) for a in outer[shared:]]
        over = over_of(**{f"g{k}": range(a.low, a.high + 1) for k, a in enumerate(narrow[:shared])}, i=range(2))
        group = Group("g", "group", outer, None, HERE, Scope())
        of = ResolvedPath(path("g"), group, None, shared, entries(", ".join(text), outer[shared:]), "", None)
        expected = []
        for at in range(over.count):
            before = [int(over.values[f"${k}"][at]) for k in range(shared)]
            named = [meant(t, a, {"i": int(over.values["i"][at])})[0] for t, a in zip(text, outer[shared:], strict=True)]
            named += [list(range(a.low, a.high + 1)) for a in own]
            row = []
            for rest in product(*named):
                index = (*before, *rest)
                inside = all(a.low <= x <= a.high for x, a in zip(index, device.axes, strict=True))
                row.append(device.first + position(index, device.axes) if inside else -1)
            expected.append(row)
        # a group's own index is inside the set here: a statement in a block means members of that block
        assert resolver(over).members(of, device).tolist() == expected, (outer, narrow, own, shared, text)


def test_ports_of_a_path() -> None:
    """No port, a whole class, some places of it, and one written port."""
    over, device = over_of(i=range(2)), devices_of((Axis(0, 2),))
    axes = (Axis(1, 2), Axis(0, 3))
    plain = resolver(over).choice(target(device, "i"))
    assert (plain.name, plain.local, plain.exact) == ("", None, False)
    whole = resolver(over).choice(target(device, "i", port_class="p", ports=entries("", axes)))
    assert (whole.name, whole.local, whole.exact) == ("p", None, False)
    for offset in (0, 10):
        more: dict[str, Any] = {"port_class": "p", "offset": offset}
        one = resolver(over).choice(target(device, "i", ports=entries("i + 1, 2", axes), **more))
        assert one.local is not None and one.local.tolist() == [[offset + 2], [offset + 5]] and one.exact and one.name == "p"
        some = resolver(over).choice(target(device, "i", ports=entries("2, *", axes), **more))
        assert some.local is not None and some.local.tolist() == [[offset + x for x in (3, 4, 5)]] * 2 and not some.exact
        mixed = (entries("", axes)[0], entries("*, i", axes)[1])
        half = resolver(over).choice(target(device, "i", ports=mixed, **more))
        assert half.local is not None and half.local.tolist() == [[offset + i, offset + 3 + i] for i in (0, 1)] and not half.exact
        single = resolver(over).choice(target(device, "i", ports=(), **more))
        assert single.local is not None and single.local.tolist() == [[offset], [offset]] and single.exact


def test_one_side_of_a_connect() -> None:
    """Paths one after the other: rows, the ports of each column, the shape of one path and the number of several."""
    over = over_of(i=range(2))
    a, b = devices_of((Axis(0, 2), Axis(0, 3))), devices_of((Axis(0, 4),), 6)
    one = resolver(over).side((target(a, "i, *"),))
    assert (one.rows.tolist(), one.column_choice.tolist(), one.shape, one.populous, one.size) == (
        [[0, 1, 2], [3, 4, 5]], [0, 0, 0], (3,), True, 3,
    )  # fmt: skip
    grid = resolver(over).side((target(a, "*, *"),))
    assert (grid.shape, grid.populous, grid.size) == ((2, 3), True, 6)
    exact = resolver(over).side((target(b, "i"),))
    assert (exact.rows.tolist(), exact.shape, exact.populous, exact.size) == ([[6], [7]], (), False, 1)
    two = resolver(over).side((target(b, "i + 2"), target(a, "0, *"), target(b, "[0, 1]")))
    assert (two.rows.tolist(), two.column_choice.tolist(), two.shape, two.populous, two.size) == (
        [[8, 0, 1, 2, 6, 7], [9, 0, 1, 2, 6, 7]], [0, 1, 1, 1, 2, 2], (6,), True, 6,
    )  # fmt: skip
    assert [c.exact for c in two.choices] == [False] * 3
    pair = resolver(over).side((target(b, "i"), target(b, "3")))
    assert (pair.rows.tolist(), pair.shape, pair.populous) == ([[6, 3 + 6], [7, 9]], (2,), True)
    for wrong in (
        (target(b, "i"), target(b, "1")),
        (target(b, "[2, 0, 2]"),),
        (target(a, "[1, 0, 1], *"),),
        (target(a, "i, *"), target(a, "1, [0, 2]")),
    ):
        with pytest.raises(Fault) as refused:
            resolver(over).side(wrong)
        found = refused.value.diagnostic
        assert (found.code, found.message) == ("E0120", "this names a device twice")
        assert found.help == "name each device once; `x 2` makes two links"


@pytest.mark.parametrize(("sizes", "strides"), [((), []), ((4,), [1]), ((4, 3), [3, 1]), ((2, 4, 3, 5), [60, 15, 5, 1])])
def test_strides(sizes: tuple[int, ...], strides: list[int]) -> None:
    assert strides_of(tuple(Axis(1, n) for n in sizes)) == strides


# ------------------------------------------------------------ index variables and their assignments
def context(*axes: Axis) -> Context:
    root = Group("f", "fabric", (), None, HERE, Scope())
    return Context((root, root), (PathComponent("g", "group", axes),)) if axes else Context((root,), ())


def guard(text: str) -> tree.Expr:
    found = Diagnostics()
    e = parse_expression(text, "x.fab", found)
    assert e is not None and not found.items
    return e


def test_assignments_are_all_of_groups_and_then_of_variables() -> None:
    """The last variable runs fastest; a variable is where it first stands alone; a guard keeps those for which it holds."""
    rng = Random(3)
    for _ in range(60):
        groups = tuple(Axis(rng.randint(0, 2), rng.randint(1, 3)) for _ in range(rng.randint(0, 2)))
        axes = [Axis(rng.randint(0, 2), rng.randint(1, 3)) for _ in range(3)]
        a = target(devices_of((axes[0], axes[1], axes[0])), "x, y, x")
        b = target(devices_of((axes[2], axes[1])), "z, y", port_class="p", ports=entries("x, y + 1, *", (axes[0],) * 3))
        text = rng.choice([None, "x <= z", "x + y == z", "y > 1 and x != z"])
        over = variable_assignments(context(*groups), (a, b), guard(text) if text else None, Scope(), Evaluator(), HERE)
        names = [*(f"${k}" for k in range(len(groups))), "x", "y", "z"]
        rows = product(*(range(q.low, q.high + 1) for q in (*groups, *axes)))
        kept = [r for r in rows if text is None or eval(text, {}, dict(zip(names, r, strict=True)))]
        assert list(over.values) == names and over.count == len(kept)
        assert list(zip(*(over.values[n].tolist() for n in names), strict=True)) == kept
        assert {n: s.text for n, s in over.spans.items()} == {"x": "x", "y": "y", "z": "z"}


def test_a_statement_without_variables_has_one_assignment() -> None:
    over = variable_assignments(context(), (target(devices_of((Axis(0, 3),)), "1"),), None, Scope(), Evaluator(), HERE)
    assert (dict(over.values), over.count) == ({}, 1)
    for text, count in (("1 == 1", 1), ("1 == 2", 0)):
        assert variable_assignments(context(), (), guard(text), Scope(), Evaluator(), HERE).count == count


def test_too_many_assignments(monkeypatch: pytest.MonkeyPatch) -> None:
    targets = (target(devices_of((Axis(0, 5), Axis(0, 6))), "i, j"),)
    monkeypatch.setattr(resolve, "ASSIGNMENT_LIMIT", 90)
    assert variable_assignments(context(Axis(0, 3)), targets, None, Scope(), Evaluator(), HERE).count == 90
    monkeypatch.setattr(resolve, "ASSIGNMENT_LIMIT", 89)
    with pytest.raises(Fault) as refused:
        variable_assignments(context(Axis(0, 3)), targets, None, Scope(), Evaluator(), HERE)
    found = refused.value.diagnostic
    assert (found.code, found.span) == ("E0116", HERE)
    assert found.message == "this has 90 assignments of its index variables; the limit is 89"
    assert resolve.ASSIGNMENT_LIMIT == 89


def test_the_limit_of_assignments() -> None:
    assert resolve.ASSIGNMENT_LIMIT == 2**26


EXTENTS = [
    ((0, 2), (0, 3), "`where i <= 1`"), ((0, 3), (0, 2), "`where i <= 1`"), ((0, 3), (1, 3), "`where 1 <= i <= 2`"),
    ((1, 4), (0, 2), "`where 1 <= i <= 1`"), ((2, 2), (2, 5), "`where i <= 3`"), ((1, 2), (0, 9), "`where 1 <= i <= 2`"),
    ((0, 4), (1, 4), "`where 1 <= i <= 3`"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "only"), EXTENTS)
def test_two_extents_of_one_variable(first: tuple[int, int], second: tuple[int, int], only: str) -> None:
    """Refused without a guard, and with one that leaves a value outside either; a guard of what is in both is enough."""
    one, two = Axis(*first), Axis(*second)
    targets = (target(devices_of((one,)), "i"), target(devices_of((two,)), "i"))
    low, high = max(one.low, two.low), min(one.high, two.high)
    said = f"`i` runs over {two.low}..{two.high} here and over {one.low}..{one.high} before"
    help = f"write {only} if only those in both are meant, `[(i)]` in one of the places, or use two variables"

    def found(text: str | None) -> Any:
        with pytest.raises(Fault) as refused:
            variable_assignments(context(), targets, guard(text) if text else None, Scope(), Evaluator(), HERE)
        return refused.value.diagnostic

    bare = found(None)
    assert (bare.code, bare.message, bare.help, bare.notes) == ("E0107", said, help, ())
    assert [x.message for x in bare.labels] == [f"here it is {one.low}..{one.high}"]
    within = variable_assignments(context(), targets, guard(f"i >= {low} and i <= {high}"), Scope(), Evaluator(), HERE)
    assert within.values["i"].tolist() == list(range(low, high + 1))
    for beyond in {x for axis in (one, two) for x in range(axis.low, axis.high + 1)} - set(range(low, high + 1)):
        loose = found(f"i == {beyond}")
        assert (loose.code, loose.message, loose.help) == ("E0107", said, help)
        assert loose.notes == ("the guard leaves values that are not in both",)


def test_the_extent_of_a_variable_holds_all_its_extents() -> None:
    """Three places: each is compared with the first, and the range covers all."""
    axes = [Axis(2, 3), Axis(4, 4), Axis(1, 2), Axis(2, 3)]
    mismatches: list[Mismatch] = []
    every = tuple(target(devices_of((a,)), "i") for a in axes)
    found, spans = index_variable_axes(every, Scope(), mismatches)
    assert found == {"i": Axis(1, 7)} and list(spans) == ["i"]
    assert [(m.name, m.first, m.other) for m in mismatches] == [("i", axes[0], axes[1]), ("i", axes[0], axes[2])]
    assert all(m.before is spans["i"] for m in mismatches)
    none: list[Mismatch] = []
    same = tuple(target(devices_of((Axis(0, 3, built),)), "i") for built in (-1, 2, 3))
    assert index_variable_axes(same, Scope(), none) == ({"i": Axis(0, 3, -1)}, {"i": same[0].entries[0].span}) and none == []


@pytest.mark.parametrize("what", ["param", "let", "def", "use", "index"])
def test_a_name_that_is_defined_is_no_variable(what: str) -> None:
    scope = Scope()
    scope.set("k", 2, HERE, what)
    entry = path("k")
    if what == "index":
        assert bare_variable(entry, scope) is None
        return
    with pytest.raises(Fault) as refused:
        bare_variable(entry, scope)
    found = refused.value.diagnostic
    assert (found.code, found.message) == ("E0106", f"`k` is a {what} here, and would be an index variable without it")
    assert found.help == "write `[(k)]` for its value, or rename the variable"
    assert [(x.span, x.message) for x in found.labels] == [(HERE, "defined here")]


def test_what_is_an_index_variable() -> None:
    """A name alone; not an expression, a path of several parts, or nothing."""
    named = bare_variable(path("k"), Scope())
    assert named is not None and named.name == "k"
    others = [None, guard("k + 1"), guard("(k)"), guard("3"), path("k.x"), path("k[1]")]
    assert [bare_variable(e, Scope()) for e in others] == [None] * 6
