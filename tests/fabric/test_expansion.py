"""Random connects against an independent reading: plain loops over indices, guards, ranges, lists, groups, loops and patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Severity
from tests.harness import compile_text, links_of, sampled, sections

SETS = {"g.s": [(2, 2), (0, 3)], "g.t": [(2, 2), (0, 2), (1, 2)], "a": [(1, 4)], "b": [(0, 3), (0, 2)], "c": [(0, 3)]}
"""Of each set the lowest index and the number along each axis; the first axis of those in ``g`` is that of the group."""
TEXTS = sections(Path(__file__).parent / "expansion.txt")
TEXT = f"{TEXTS['TEXT']}\n"
Values = dict[str, int]


@dataclass
class Statement:
    """A connect in the making: its variables with their extents, and the values that are fixed around it."""

    chance: Random
    number: int
    fixed: Values
    extents: dict[str, tuple[int, int]] = field(default_factory=dict)

    def single(self, low: int, size: int) -> str:
        """An entry that means one index for each assignment, whatever the variables are."""
        free = [v for v in "ijk" if self.extents.get(v, (low, size)) == (low, size)]
        form = self.chance.random()
        if free and form < 0.5:
            self.extents.setdefault(free[0], (low, size))
            return free[0]
        known = [*self.extents, *self.fixed]
        if known and form < 0.85:
            return f"({self.chance.choice(known)} + {self.chance.randrange(4)}) % {size} + {low}"
        return f"({low + self.chance.randrange(size)})"

    def several(self, low: int, size: int) -> str:
        """An entry that means a set of indices, or one."""
        every = list(range(low, low + size))
        some = self.chance.sample(every, self.chance.randint(1, size))
        forms = ["*", "*", f"{every[0]}..{every[-1]}", f"[{', '.join(map(str, some))}]", ""]
        return self.chance.choice(forms) or self.single(low, size)

    def end(self, name: str, population: bool, inside: bool) -> tuple[str, list[str]]:
        """A path, and its entries with that of the group."""
        axes = SETS[name]
        entries = [(self.several if population else self.single)(*axis) for axis in axes[inside:]]
        if inside:
            return f"{name[2:]}[{', '.join(entries)}]", ["$g", *entries]
        if name.startswith("g."):
            return f"g[{entries[0]}].{name[2:]}[{', '.join(entries[1:])}]", entries
        return f"{name}[{', '.join(entries)}]", entries


def indices(entry: str, axis: tuple[int, int], values: Values) -> list[int]:
    """What an entry means for one assignment."""
    if entry == "*":
        return list(range(axis[0], axis[0] + axis[1]))
    if ".." in entry:
        low, high = map(int, entry.split(".."))
        return list(range(low, high + 1))
    found = eval(entry.replace("$g", "group"), {}, values)
    return found if isinstance(found, list) else [found]


def devices(name: str, entries: list[str], values: Values) -> list[str]:
    """The paths of the devices of an end, the last index fastest."""
    out = []
    for index in product(*(indices(e, axis, values) for e, axis in zip(entries, SETS[name], strict=True))):
        own = ", ".join(map(str, index[name.startswith("g.") :]))
        out.append(f"g[{index[0]}].{name[2:]}[{own}]" if name.startswith("g.") else f"{name}[{own}]")
    return out


def pattern(word: str, a: list[str], b: list[str]) -> list[tuple[str, str]]:
    """Pairs of a pattern, by its definition."""
    n, times = len(a), int(word.rpartition(" x ")[2]) if " x " in word else 1
    if word.startswith("each"):
        return [(x, y) for x in a for y in b] * times
    if word.startswith("pairs"):
        shift = int(word.split()[2]) if "shift" in word else 0
        return [(a[k], b[(k + shift) % n]) for k in range(n)]
    if word.startswith("ring"):
        return [(a[k], a[(k + 1) % n]) for k in range(n)] * times if n > 1 else []
    if word.startswith("mesh"):
        return [(a[k], a[k + 1]) for k in range(n - 1)]
    return [(x, y) for x in a for y in b] * (times // len(b))  # spread, of a number that divides


def statement(chance: Random, number: int, inside: bool, fixed: Values) -> tuple[str, Iterator[tuple[str, str]]]:
    """A random connect of two different sets or of one, and its links by loops; those with a written port begin with it."""
    s = Statement(chance, number, fixed)
    one, two = chance.sample(["g.s", "g.t"] if inside else list(SETS), 2)
    word = chance.choice(["", "", "each", "each x 2", "pairs", "pairs shift 1", "ring", "ring x 2", "spread x {}"])
    near, first = s.end(one, bool(word), inside)
    alone = word.startswith("ring")
    far, second = s.end(two, bool(word), inside) if not alone else ("", [])
    names = sorted({v for v in "ijk" if v in s.extents})
    guard = (
        chance.choice(["", f"{names[0]} != {chance.randrange(3)}", f"{names[-1]} + {number} >= {names[0]} * 2"]) if names else ""
    )
    around = {"group": (2, 2)} if inside else {}
    spaces = {**around, **s.extents}

    def assignments() -> Iterator[Values]:
        for row in product(*(range(low, low + size) for low, size in spaces.values())):
            values = {**dict(zip(spaces, row, strict=True)), **fixed}
            if not guard or eval(guard, {}, values):
                yield values

    sizes = [(len(devices(one, first, v)), len(devices(two, second, v)) if second else 0) for v in assignments()]
    if not sizes:
        return statement(chance, number, inside, fixed)
    if word.startswith("pairs") and sizes[0][0] != sizes[0][1]:
        word = "each"
    if "{}" in word:
        word = word.format(sizes[0][1] * chance.randint(1, 2))
    port = ""
    if not word and all(v in first for v in s.extents):  # each assignment has a device of its own
        port = f"{9 * number} + " + (f"({names[0]} + 1) % 5 + 1" if names else "1")
    text = (
        f"connect {near}{f'.w[{port}]' if port else ''}{f' to {far}' if far else ''} {word}{f' where {guard}' if guard else ''}"
    )

    def links() -> Iterator[tuple[str, str]]:
        for values in assignments():
            a, b = devices(one, first, values), devices(two, second, values) if second else []
            for x, y in pattern(word, a, b) if word else [(a[0], b[0])]:
                yield (f"{x}.w[{eval(port, {}, values)}]" if port else x), y

    return text, links()


@pytest.mark.parametrize("seed", sampled(range(40), 2))
def test_links_by_plain_loops(seed: int, tmp_path: Path) -> None:
    """A dozen connects at once, some in a group, in a loop or in a branch; a device that is omitted has none of its links."""
    chance = Random(seed)
    expected: Counter[frozenset[str]] = Counter()
    lines: dict[bool, list[str]] = {False: [], True: []}
    written: set[str] = set()
    omitted = set(chance.sample(["a[2]", "b[1, 1]", "g[3].s[0]"], chance.randrange(3)))
    for number in range(12):
        inside = chance.random() < 0.3
        around = chance.choice(["", "", "for", "if"])
        rounds: list[Values] = [{"n": k} for k in range(2)] if around == "for" else [{}]
        state = chance.getstate()
        for fixed in rounds:
            chance.setstate(state)
            text, links = statement(chance, number, inside, fixed)
            if around == "for" and ".w[" in text:
                around, rounds = "", [{}]  # a written port is taken once
                text, links = statement(chance, number, inside, {})
            for x, y in links:
                ends = (x.partition(".w[")[0], y)
                if not omitted & set(ends):
                    expected[frozenset(ends)] += 1
                    if ".w[" in x:
                        written.add(x)
            if around == "":
                break
        wrapped = {"for": f"for n in 0..1 {{ {text} }}", "if": f"if {number} > 3 or true {{ {text} }}"}.get(around, text)
        lines[inside].append(wrapped)
    lines[False] += [f"omit {x.replace('[', '[(').replace(']', ')]').replace(', ', '), (')}" for x in sorted(omitted)]
    text = TEXT.format(inside="\n    ".join(lines[True]), outside="\n  ".join(lines[False]))
    result = compile_text(text, tmp_path, verify=False, models=False)
    wrong = [f"{d.span.begin if d.span else ''} {d.code} {d.message}" for d in result.findings if d.severity.word == "error"]
    assert not wrong, (text, wrong)
    f = result.designs[0].fabric
    assert f is not None
    ports = [(f.port_path(int(a)), f.port_path(int(b))) for a, b in zip(f.link_a, f.link_b, strict=True)]
    assert Counter(frozenset(p.rpartition(".")[0] for p in pair) for pair in ports) == expected, text
    assert written <= {p for pair in ports for p in pair}, text


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(a=st.integers(1, 6), b=st.integers(1, 6), limit=st.integers(0, 7), low=st.integers(0, 2))
def test_a_guard_narrows_before_extents_are_compared(a: int, b: int, limit: int, low: int, tmp_path: Path) -> None:
    text = f"fabric f {{ switch a[{low}..{low + a - 1}]: SW\n switch b[{b}]: SW\n connect a[i] to b[i] where i < {limit} }}"
    result = compile_text(text, tmp_path, verify=False)
    codes = {d.code for d in result.findings if d.severity is Severity.ERROR}
    inside_a, inside_b = set(range(low, low + a)), set(range(b))
    left = {i for i in range(min(low, 0), max(low + a, b)) if i < limit}
    if inside_a != inside_b and not left <= inside_a & inside_b:
        assert codes == {"E0107"}
        return
    assert codes <= {"E0123"}
    fabric = result.designs[0].fabric
    assert fabric is not None
    assert links_of(fabric) == {(f"a[{i}].p[1]", f"b[{i}].p[1]") for i in left & inside_a}
