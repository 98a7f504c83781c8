"""Every regular expression of the package, how it is called, and texts on which it backtracks most."""

import ast
import importlib
import math
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as regular  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import tdsl
from tests.sources import MODULES, parsed, with_words

#: How a pattern meets a text. A repetition that begins anywhere costs more than one that begins at the start.
CALLS: dict[str, Callable[[Any, Any], object]] = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: sum(1 for _ in pattern.finditer(text)),
}
EXPONENT = 1.6
SAME_AS_SEARCH = ("finditer", "findall", "sub", "subn", "split", "search")


class Used(NamedTuple):
    """A pattern, where it is written, and the ways in which it is called."""

    place: str
    pattern: "re.Pattern[Any]"
    ways: tuple[str, ...]


def find_all_patterns() -> list[Used]:
    """Every pattern of the package, once: those that modules hold, in whatever container, and those that calls write out."""
    trees = {path: parsed(path) for path in with_words(MODULES, rf"re|[A-Z_]+\.(?:{'|'.join((*SAME_AS_SEARCH, *CALLS))})")}
    ways = _ways_by_name(trees)
    found: dict[tuple[str | bytes, int], Used] = {}
    uncalled: list[Used] = []
    for name in sorted(m.name for m in pkgutil.walk_packages(tdsl.__path__, "tdsl.") if not m.name.endswith("__main__")):
        module = importlib.import_module(name)
        for key, value in sorted(vars(module).items()):
            for pattern in _patterns_within(value, 0):
                called = ways.get((name.rpartition(".")[2], key), ()) if pattern is value else ()
                used = Used(f"{name}.{key}", pattern, tuple(sorted(called)))
                _note(found, used) if called else uncalled.append(used)
    for path, tree in trees.items():
        for used in _written_in_calls(path, tree):
            _note(found, used)
    for used in uncalled:  # handed on: it may meet a text in any way
        if (used.pattern.pattern, used.pattern.flags) not in found:
            _note(found, used._replace(ways=tuple(CALLS)))
    return list(found.values())


def _note(found: "dict[tuple[str | bytes, int], Used]", used: Used) -> None:
    key = (used.pattern.pattern, used.pattern.flags)
    known = found.get(key)
    found[key] = used if known is None else known._replace(ways=tuple(sorted({*known.ways, *used.ways})))


def _ways_by_name(trees: "dict[Path, ast.Module]") -> "dict[tuple[str, str], set[str]]":
    """By the last part of a module's name and the name of a pattern in it: how the package calls that pattern."""
    ways: dict[tuple[str, str], set[str]] = {}
    for path, tree in trees.items():
        own = path.parent.name if path.stem == "__init__" else path.stem
        lent = {
            alias.asname or alias.name: (node.module.rpartition(".")[2], alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and (way := _way_of(node.attr)) is not None:
                if isinstance(node.value, ast.Name):
                    ways.setdefault(lent.get(node.value.id, (own, node.value.id)), set()).add(way)
                elif isinstance(node.value, ast.Attribute) and isinstance(node.value.value, ast.Name):
                    module = lent.get(node.value.value.id, ("", node.value.value.id))[1]
                    ways.setdefault((module, node.value.attr), set()).add(way)
    return ways


def _way_of(method: str) -> str | None:
    return "search" if method in SAME_AS_SEARCH else method if method in CALLS else None


def _patterns_within(value: object, depth: int) -> "Iterator[re.Pattern[Any]]":
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict) and depth < 3:
        for part in (*value.keys(), *value.values()):
            yield from _patterns_within(part, depth + 1)
    elif isinstance(value, tuple | list | set | frozenset) and depth < 3:
        for part in value:
            yield from _patterns_within(part, depth + 1)


def _written_in_calls(path: Path, tree: ast.Module) -> Iterator[Used]:
    """Patterns that a call of `re` writes out: `re.sub(r"...", ...)`, and `re.compile(r"...").match(...)` inside a function."""
    held = {id(n.value) for n in tree.body if isinstance(n, ast.Assign | ast.AnnAssign)}
    applied = {id(n.value): _way_of(n.attr) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args) or id(node) in held:
            continue
        owner, literal = node.func.value, node.args[0]
        if not (isinstance(owner, ast.Name) and owner.id == "re" and isinstance(literal, ast.Constant)):
            continue
        if isinstance(literal.value, str | bytes) and node.func.attr != "escape":
            way = _way_of(node.func.attr) or applied.get(id(node))
            yield Used(f"{path.name}:{node.lineno}", re.compile(literal.value), (way,) if way else tuple(CALLS))


class Attack(NamedTuple):
    """A text that leads to a repetition, the body that it takes again and again, and an end at which it fails."""

    before: str
    body: str
    end: str
    binary: bool

    def text_of(self, size: int) -> str | bytes:
        text = self.before + self.body * (size // len(self.body)) + self.end
        return text.encode("latin-1", "replace") if self.binary else text


def attacks_on(pattern: "re.Pattern[Any]") -> Iterator[Attack]:
    """An attack on each unbounded repetition of the pattern, with each typical character that it takes."""
    source = pattern.pattern
    tree = regular.parse(source, pattern.flags & ~re.UNICODE if isinstance(source, bytes) else pattern.flags)
    seen: set[Attack] = set()
    for before, body in _repetitions(list(tree), ""):
        for pump in sorted({body, body[:1]} - {""}):
            for end in ("", "\x01", "\n!"):
                attack = Attack(before, pump, end, isinstance(source, bytes))
                if attack not in seen:
                    seen.add(attack)
                    yield attack


def _repetitions(items: list[Any], before: str) -> Iterator[tuple[str, str]]:
    """For each unbounded repetition, a text that leads to it and the texts that its body takes."""
    for code, argument in items:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, most, body = argument
            if most > 64:
                yield from ((before, sample) for sample in _samples(list(body)))
            yield from _repetitions(list(body), before)
        elif code is codes.SUBPATTERN:
            yield from _repetitions(list(argument[3]), before)
        elif code is codes.BRANCH:
            for branch in argument[1]:
                yield from _repetitions(list(branch), before)
        elif code is codes.ATOMIC_GROUP:
            yield from _repetitions(list(argument), before)
        before += next(iter(_samples([(code, argument)])), "")


#: Characters that stand for a class: those in which the parts of one line meet.
TYPICAL = " \ta1-_.:,;/\"'([#@=\\\n"


def _samples(items: list[Any]) -> list[str]:
    """A few texts that the items match, each class by every typical character that it holds."""
    texts = [""]
    for code, argument in items:
        texts = [text + more for text in texts for more in _samples_of(code, argument)][:12]
    return texts


def _samples_of(code: Any, argument: Any) -> list[str]:
    if code is codes.LITERAL:
        return [chr(argument)]
    if code is codes.NOT_LITERAL:
        return [c for c in TYPICAL if ord(c) != argument][:12]
    if code is codes.ANY:
        return [c for c in TYPICAL if c != "\n"][:12]
    if code is codes.IN:
        return _of_class(argument)
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return [text * max(1, argument[0]) for text in _samples(list(argument[2]))]
    if code is codes.SUBPATTERN:
        return _samples(list(argument[3]))
    if code is codes.ATOMIC_GROUP:
        return _samples(list(argument))
    if code is codes.BRANCH:
        return [text for branch in argument[1] for text in _samples(list(branch))[:3]]
    return [""]


def _of_class(items: list[Any]) -> list[str]:
    pattern = regular.SubPattern(regular.State(), [(codes.IN, items)])
    try:
        matcher = re._compiler.compile(pattern, 0)  # type: ignore[attr-defined]
    except (AttributeError, TypeError, ValueError):
        matcher = None
    if matcher is not None:
        if typical := [c for c in TYPICAL if matcher.match(c)]:
            return typical
        return [c for c in map(chr, (*range(32, 127), *range(160, 0x2100))) if matcher.match(c)][:1]
    return ["a"]


def slowest_growth(used: Used, step: int = 1) -> "tuple[float, str, str | bytes] | None":
    """The exponent by which the time of a call grows with its text, for the first attack above `EXPONENT`, else none.

    The sizes grow slowly, so that a pattern of exponential time is found out at twenty characters. Of the attacks, those on
    one repetition beside each other, one in ``step`` is tried.
    """
    for attack in islice(attacks_on(used.pattern), 0, None, step):
        for way in used.ways:
            for size in (20, 200, 2000):
                if _seconds(used, way, attack.text_of(size)) > 0.002:
                    times = [min(_seconds(used, way, attack.text_of(n)) for _ in range(3)) for n in (size // 2, size)]
                    exponent = math.log2(times[1] / max(times[0], 1e-7))
                    if exponent > EXPONENT:
                        return exponent, way, attack.text_of(20)
                    break
    return None


def _seconds(used: Used, way: str, text: str | bytes) -> float:
    begun = time.process_time()
    CALLS[way](used.pattern, text)
    return time.process_time() - begun
