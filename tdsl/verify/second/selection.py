"""What a requirement names, found a second time: from the text of its paths, the instance of the group in
whose block it is, and the paths of devices and ports as `fabric.json` has them. Nothing here comes from the
resolver of the compiler.

A path is read part by part: a name, and in brackets a number, a range, a list, `*` or an index variable. Its
first name is looked up in the instance, then in the groups around it, and last in the fabric. What cannot be
read so (an index that a `let` gives) has no second opinion.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from tdsl.fabric.graph import Fabric
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.second.answer import NoOpinion

Names = tuple[str, ...]
Indices = tuple[tuple[int, ...], ...]
Parts = list[tuple[str, str | None]]
"""Of a written path each name with what is in its brackets, None without brackets."""

WORDS = ("ports", "network")
OPEN, CLOSED = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What one path names: elements as sets of device rows; whether each is a device rather than a group; and
    the ports, where the path ends in some."""

    elements: tuple[frozenset[int], ...]
    alone: bool
    ports: frozenset[int] | None = None


def elements_named_by_paths(fabric: Fabric, texts: Collection[str], scope: str) -> list[Chosen]:
    """What paths name in an instance (its path; "" is the fabric). Words that are no paths are left out."""
    index = _path_index_of_fabric(fabric)
    return [index.read(text, scope) for text in texts if text not in WORDS or index.declares(text, scope)]


def asks_all_ports(fabric: Fabric, texts: Collection[str], scope: str) -> bool:
    """Whether one of these is the word `ports` rather than the path of something that is called so."""
    return "ports" in texts and not _path_index_of_fabric(fabric).declares("ports", scope)


def devices_of_instance(fabric: Fabric, scope: str) -> frozenset[int]:
    """The devices below an instance of a group."""
    names, indices = _path_parts_of_device(scope)
    depth = len(names)
    found = _path_index_of_fabric(fabric).devices
    return frozenset(
        d
        for known, rows in found.items()
        if known[:depth] == names
        for at, d in rows
        if at[:depth] == indices
    )


@lru_cache(maxsize=2)
def _path_index_of_fabric(fabric: Fabric) -> _Index:
    return _Index(fabric)


class _Index:
    """The paths of a fabric's devices by their names without indices."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.devices: dict[Names, list[tuple[Indices, int]]] = {}
        for d in range(fabric.device_count):
            names, indices = _path_parts_of_device(fabric.device_path(d))
            self.devices.setdefault(names, []).append((indices, d))
        self.known = {names[:k] for names in self.devices for k in range(1, len(names) + 1)}
        self.values = {
            k: v for k, v in fabric.parameters.items() if isinstance(v, int) and not isinstance(v, bool)
        }

    def declares(self, name: str, scope: str) -> bool:
        """Whether a name is one of a device or group where the requirement is."""
        around, _ = _path_parts_of_device(scope)
        return any((*around[:k], name) in self.known for k in range(len(around) + 1))

    def read(self, text: str, scope: str) -> Chosen:
        """What a path names."""
        parts = _path_parts_of_text(text)
        around, at = _path_parts_of_device(scope)
        for depth in range(len(around), -1, -1):
            outer = around[:depth], at[:depth]
            if (*around[:depth], parts[0][0]) in self.known:
                return self._named(outer, parts, text)
        if len(parts) == 1 and (parts[0][1] or "*").strip() == "*":
            return self._everywhere(parts[0][0], around, at)
        raise NoOpinion(f"`{text}` is not read a second time")

    def _everywhere(self, name: str, around: Names, at: Indices) -> Chosen:
        """All devices of a name, whichever group they are in, of the innermost group around that has some."""
        for depth in range(len(around), -1, -1):
            named = [
                x for x in self.devices if x[-1] == name and len(x) > depth and x[:depth] == around[:depth]
            ]
            if named:
                rows = [d for x in named for indices, d in self.devices[x] if indices[:depth] == at[:depth]]
                return Chosen(tuple(frozenset([d]) for d in rows), alone=True)
        raise NoOpinion(f"`{name}` is not read a second time")

    def _named(self, outer: tuple[Names, Indices], parts: Parts, text: str) -> Chosen:
        names = (*outer[0], *(name for name, _ in parts))
        if names in self.devices:
            return Chosen(tuple(frozenset([d]) for d in self._rows(names, outer, parts)), alone=True)
        if names in self.known:
            return self._instances_of_group(names, outer, parts)
        if names[:-1] in self.devices and len(parts) > 1:
            rows = self._rows(names[:-1], outer, parts[:-1])
            ports = frozenset(p for d in rows for p in self._ports(d, *parts[-1]))
            return Chosen(tuple(frozenset([d]) for d in rows), alone=True, ports=ports)
        raise NoOpinion(f"`{text}` is not read a second time")

    def _instances_of_group(self, names: Names, outer: tuple[Names, Indices], parts: Parts) -> Chosen:
        """The instances of a group with all that is in them."""
        found: dict[Indices, set[int]] = {}
        for below in self.devices:
            if below[: len(names)] == names:
                rest: Parts = [(name, None) for name in below[len(names) :]]
                for d, at in self._matches(below, outer, [*parts, *rest]):
                    found.setdefault(at[: len(names)], set()).add(d)
        return Chosen(tuple(frozenset(x) for x in found.values()), alone=False)

    def _rows(self, names: Names, outer: tuple[Names, Indices], parts: Parts) -> list[int]:
        return [d for d, _ in self._matches(names, outer, parts)]

    def _matches(
        self, names: Names, outer: tuple[Names, Indices], parts: Parts
    ) -> Iterator[tuple[int, Indices]]:
        depth = len(outer[0])
        tests = [self._test(index) for _, index in parts]
        for at, d in self.devices[names]:
            variables: dict[str, int] = {}
            if at[:depth] == outer[1] and all(
                test(own, variables) for test, own in zip(tests, at[depth:], strict=True)
            ):
                yield d, at

    def _ports(self, device: int, name: str, index: str | None) -> Iterator[int]:
        f = self.fabric
        test = self._test(index)
        lanes = index is not None and len(_split_outside_brackets(index, ",")) == 1
        for p in range(int(f.port_base[device]), int(f.port_base[device + 1])):
            names, indices = _path_parts_of_device(f.port_path(p))
            at = (
                indices[-1][:1] if lanes and len(indices[-1]) == 2 else indices[-1]
            )  # all lanes of a port that is split
            if names[-1] == name and test(at, {}):
                yield p

    def _test(self, index: str | None) -> Callable[[tuple[int, ...], dict[str, int]], bool]:
        """Whether the indices of a part are among those that are written."""
        if index is None or index.strip() == "*":
            return lambda at, variables: True
        tests = [self._entry(entry.strip()) for entry in _split_outside_brackets(index, ",")]
        return lambda at, variables: (
            len(at) == len(tests)
            and all(test(number, variables) for test, number in zip(tests, at, strict=True))
        )

    def _entry(self, entry: str) -> Callable[[int, dict[str, int]], bool]:
        if entry == "*":
            return lambda number, variables: True
        if re.fullmatch(r"[A-Za-z_]\w*", entry):  # an index variable: all values, the same wherever it is
            return lambda number, variables: variables.setdefault(entry, number) == number
        ends = _split_outside_brackets(entry, "..")
        if len(ends) == 2:
            low, high = (self._number(x) for x in ends)
            return lambda number, variables: low <= number <= high
        if entry.startswith("[") and entry.endswith("]"):
            values = {self._number(x) for x in _split_outside_brackets(entry[1:-1], ",")}
            return lambda number, variables: number in values
        value = self._number(entry)
        return lambda number, variables: number == value

    def _number(self, text: str) -> int:
        """A whole number written with parameters, `+`, `-`, `*`, `//` and `%`."""
        try:
            value = _index_expression_value(ast.parse(text.strip(), mode="eval").body, self.values)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
            raise NoOpinion(f"the index `{text.strip()}` is not read a second time") from None
        if value.denominator != 1:
            raise NoOpinion(f"the index `{text.strip()}` is not read a second time")
        return int(value)


def _index_expression_value(node: ast.expr, values: Mapping[str, int]) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Fraction(node.value)
    if isinstance(node, ast.Name) and node.id in values:
        return Fraction(values[node.id])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_index_expression_value(node.operand, values)
    if isinstance(node, ast.BinOp):
        a, b = _index_expression_value(node.left, values), _index_expression_value(node.right, values)
        for kind, done in _OPERATORS.items():
            if isinstance(node.op, kind):
                return Fraction(done(a, b))
    raise ValueError("not a number")


_OPERATORS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction | int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}


def _path_parts_of_device(path: str) -> tuple[Names, Indices]:
    """Names and indices of a path as the fabric writes it: ``su[0].leaf[3, 1]``."""
    parts = _path_parts_of_text(path) if path else []
    return tuple(n for n, _ in parts), tuple(
        tuple(int(x) for x in _split_outside_brackets(i, ",")) if i else () for _, i in parts
    )


def _path_parts_of_text(text: str) -> Parts:
    out: Parts = []
    for part in _split_outside_brackets(text, "."):
        name, bracket, rest = part.strip().partition("[")
        if bracket and not rest.rstrip().endswith("]"):
            raise NoOpinion(f"`{text}` is not read a second time")
        out.append((name.strip(), rest.rstrip()[:-1] if bracket else None))
    return out


def _split_outside_brackets(text: str, sign: str) -> Sequence[str]:
    """The pieces of a text between signs that no bracket encloses. A dot between names is not one of `..`."""
    out, depth, last, at = [], 0, 0, 0
    while at < len(text):
        c = text[at]
        depth += (c in OPEN) - (c in CLOSED)
        if not depth and text.startswith(sign, at) and c not in OPEN:
            out.append(text[last:at])
            at = last = at + len(sign)
            continue
        at += 1
    return [*out, text[last:]]
