"""How a statement writes the ends of hosts: its expressions, computed for every index, count hosts and ends row by row."""

from __future__ import annotations

import re
from itertools import product
from math import prod
from typing import Any, NamedTuple

import pytest

from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.ends import EndSet, HostEnds, assign_rails_and_planes
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault
from tdsl.semantics.model import Axis, PortClass
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tests.fabrics import Builder

TEXT = SourceFile("ends.fab", "abcdefgh")
AT = SourceSpan(TEXT, 0, 1)
BUILDER = Builder()
MODEL = BUILDER.model("host", "M", {"nic": 1})

Axes = tuple[Axis, ...]


def ports(*axes: Axis, rate: int | None = 400) -> PortClass:
    size = prod(a.size for a in axes)
    blank = ("",) * size
    return PortClass(
        "nic", axes, 0, rate, (), (0,) * size, "", tuple(range(size)), blank, blank, (), 1, Origin(SourceSpan(TEXT, 2, 3))
    )


class Case(NamedTuple):
    """Hosts with the names on the way to them, the axes of their ports, and what the intent says."""

    parts: tuple[tuple[str, Axes], ...]
    ends: Axes
    rails: int = 0
    planes: int = 0
    first: int = 0
    path: str = ""


CASES = [
    Case((("host", (Axis(0, 5),)),), (Axis(0, 3),), path="host[h].nic[i]"),
    Case((("host", (Axis(2, 5),)),), (Axis(1, 3),), rails=3, first=7, path="host[h].nic[r]"),
    Case((("host", (Axis(0, 4),)),), (Axis(1, 2), Axis(3, 4)), rails=2, planes=4, path="host[h].nic[r, p]"),
    Case((("host", (Axis(0, 4),)),), (Axis(0, 2), Axis(1, 3), Axis(0, 4)), planes=4, path="host[h].nic[i, j, p]"),
    Case((("host", (Axis(0, 4),)),), (Axis(0, 2), Axis(1, 3), Axis(2, 2)), rails=2, path="host[h].nic[r, j, k]"),
    Case((("host", (Axis(0, 1),)),), (), first=3, path="host[h].nic"),
    Case((("host", ()),), (Axis(0, 2),), first=4, path="host.nic[i]"),
    Case((("g", (Axis(1, 3),)), ("k", ()), ("host", (Axis(0, 2), Axis(5, 4)))),
         (Axis(0, 2),), path="g[h0].k.host[h1, h2].nic[i]"),
    Case((("g", (Axis(0, 1),)), ("host", (Axis(3, 4),))),
         (Axis(0, 1), Axis(0, 3)), rails=1, first=2, path="g[h0].host[h1].nic[r, j]"),
    Case((("g", (Axis(0, 2),)), ("host", (Axis(0, 1),))),
         (Axis(0, 3), Axis(2, 1)), rails=3, planes=1, path="g[h0].host[h1].nic[r, p]"),
]  # fmt: skip


def made(c: Case) -> tuple[HostEnds, EndSet]:
    ends = EndSet(c.parts, MODEL, ports(*c.ends), AT, c.first)
    return HostEnds((ends,), AT, c.rails, c.planes), ends


def value(text: str, **names: int) -> Any:
    return eval(text, {}, names)  # the same operators as in the language


@pytest.mark.parametrize("case", CASES)
def test_expressions_for_every_index(case: Case) -> None:
    ends, own = made(case)
    names = ends.variables(own, lambda base: base)
    assert names.path == case.path
    inner = re.findall(r"\w+", names.path.partition(".nic")[2])
    assert len(inner) == len(case.ends)
    in_plane = case.ends[:-1] if case.planes else case.ends
    behind = in_plane[1:]
    for position, index in enumerate(product(*(range(a.low, a.low + a.size) for a in case.ends))):
        at = dict(zip(inner, index, strict=True))
        zero = [i - a.low for i, a in zip(index, case.ends, strict=True)]
        expected = position // (case.ends[-1].size if case.planes else 1)
        assert value(names.flat, **at) == expected, names
        assert value(names.rail, **at) == (zero[0] if zero else 0)
        assert value(names.plane, **at) == (zero[-1] if zero else 0)
        size = prod(a.size for a in behind)
        assert value(names.inner, **at) == expected % size if size > 1 else names.inner == ""
    for position, index in enumerate(product(*(range(a.low, a.low + a.size) for a in own.axes))):
        flat = ends.flat_host(own, names)
        assert value(flat, **dict(zip(names.hosts, index, strict=True))) == position + case.first
        assert flat.isidentifier() or flat.isdigit() or (flat[0], flat[-1]) == ("(", ")")


@pytest.mark.parametrize("case", CASES)
def test_the_path_of_a_host_by_its_number(case: Case) -> None:
    ends, own = made(case)
    path = ends.host(own, tree.PathExpr((tree.Identifier("n", AT),), AT))
    assert [p.name for p in path if isinstance(p, tree.Identifier)] == [name for name, _ in case.parts]
    expressions = [e for p in path if isinstance(p, tree.IndexPart) for e in p.entries]
    for number, index in enumerate(product(*(range(a.low, a.low + a.size) for a in own.axes))):
        scope = Scope()
        scope.set("n", number, AT, "let")
        assert tuple(Evaluator().evaluate(e, scope) for e in expressions) == index


def test_variables_that_mean_something_else_are_not_taken() -> None:
    ends, own = made(CASES[2])
    names = ends.variables(own, lambda base: base + "_")
    assert (names.path, names.hosts) == ("host[h_].nic[r_, p_]", ("h_",))
    assert (names.rail, names.plane, names.flat) == ("(r_ - 1)", "(p_ - 3)", "(r_ - 1)")
    assert ends.flat_host(own, names) == "h_"


def test_figures_of_several_sets() -> None:
    a = EndSet((("a", (Axis(0, 3), Axis(0, 2))),), MODEL, ports(Axis(0, 8), rate=100), AT)
    b = EndSet((("b", (Axis(0, 5),)),), MODEL, ports(Axis(0, 3), Axis(0, 4), rate=None), AT, 6)
    assert (a.hosts, b.hosts, a.axes) == (6, 5, (Axis(0, 3), Axis(0, 2)))
    for planes, per in ((0, (8, 12)), (1, (8, 12)), (4, (2, 3))):
        ends = HostEnds((a, b), AT, 0, planes)
        assert (ends.hosts, ends.per_host, ends.rate) == (11, max(per), 100)
        assert (a.per_host(ends), b.per_host(ends)) == per
    assert HostEnds((b,), AT).rate == 0


RAILS, PLANES = SourceSpan(TEXT, 4, 5), SourceSpan(TEXT, 6, 7)


@pytest.mark.parametrize(
    ("axes", "rails", "planes", "message", "help", "at"),
    [
        ((4,), 4, 0, "", "", None),
        ((4,), 0, 4, "", "", None),
        ((4, 2), 4, 2, "", "", None),
        ((4, 3, 2), 4, 2, "", "", None),
        ((4,), 4, 4, "`nic` of M has one index, of 4, so it has rails or planes, not both", "", PLANES),
        ((), 4, 0, "rails are the first index of the ends, and `nic` of M has no index: 4 is not its extent", "leave `rails` out",
         RAILS),
        ((4, 2), 2, 0, "rails are the first index of the ends, and `nic` of M has the indices of 4 and of 2: 2 is not its extent",
         "write `rails 4`", RAILS),
        ((4, 2), 0, 4, "planes are the last index of the ends, and `nic` of M has the indices of 4 and of 2: 4 is not its extent",
         "write `planes 2`", PLANES),
        ((4, 2), 4, 3, "planes are the last index of the ends, and `nic` of M has the indices of 4 and of 2: 3 is not its extent",
         "write `planes 2`", PLANES),
    ],
)  # fmt: skip
def test_rails_and_planes_are_extents(
    axes: tuple[int, ...], rails: int, planes: int, message: str, help: str, at: SourceSpan | None
) -> None:
    ends = HostEnds((EndSet((("a", (Axis(0, 3),)),), MODEL, ports(*(Axis(0, n) for n in axes)), AT),), AT)
    given = ((rails, RAILS) if rails else None, (planes, PLANES) if planes else None)
    if not message:
        found = assign_rails_and_planes(ends, *given)
        assert (found.rails, found.planes, found.rails_span) == (rails, planes, RAILS if rails else None)
        assert found.sets == ends.sets
        return
    with pytest.raises(Fault) as fault:
        assign_rails_and_planes(ends, *given)
    d = fault.value.diagnostic
    assert (d.code, d.message, d.help, d.span) == ("E0120", message, help, at)
    labels = [(label.span.text, label.message) for label in d.labels]
    assert labels == [("c", "declared here"), *([("e", "the rails")] if "not both" in message else [])]
