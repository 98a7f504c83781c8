"""Holes of a fabric: where ``?`` stands as an extent or as the value of a ``let``, in order of the text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from tdsl.findings.source import SourceSpan
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Opening:
    """A hole: what it sizes, and its place, which is its key in the evaluator."""

    name: str
    span: SourceSpan

    @property
    def key(self) -> tuple[int, int]:
        """Its place, as the evaluator knows it."""
        return hole_key(self.span)


def hole_key(span: SourceSpan) -> tuple[int, int]:
    """A place in a text as the key of a hole: the file and the offset."""
    return (id(span.file), span.start)


def holes_in_block(body: Iterable[tree.Stmt]) -> Iterator[Opening]:
    """All holes in a block and the blocks inside it."""
    for s in body:
        if isinstance(s, tree.Let) and isinstance(s.value, tree.Hole):
            yield Opening(s.name.name, s.value.span)
        elif isinstance(s, tree.Decl):
            for extent in s.shape or ():
                if isinstance(extent.value, tree.Hole):
                    yield Opening(s.name.name, extent.value.span)
            yield from holes_in_block(s.body or ())
        elif isinstance(s, tree.If):
            for _, branch in s.branches:
                yield from holes_in_block(branch)
            yield from holes_in_block(s.other)
        elif isinstance(s, (tree.For, tree.Broken)):
            yield from holes_in_block(s.body)


WORD = re.compile(r"[A-Za-z_]\w*")


class NameDependencies:
    """What the names of a block are made of, by their text alone.

    Alike names of other blocks count together, so that what is said to rest on nothing surely does.
    """

    def __init__(self, body: Iterable[tree.Stmt]) -> None:
        self.made: dict[str, set[str]] = defaultdict(set)
        self._read(body)

    def _read(self, body: Iterable[tree.Stmt]) -> None:
        for s in body:
            if isinstance(s, (tree.Let, tree.Def)):
                self.made[s.name.name].update(WORD.findall(s.span.text))
            elif isinstance(s, tree.Decl):
                for extent in s.shape or ():
                    self.made[s.name.name].update(WORD.findall(extent.span.text))
                self._read(s.body or ())
            elif isinstance(s, tree.If):
                for _, branch in s.branches:
                    self._read(branch)
                self._read(s.other)
            elif isinstance(s, (tree.For, tree.Broken)):
                self._read(s.body)

    def rests(self, text: str, on: Iterable[str]) -> bool:
        """Whether a text names one of these, or what is made of one."""
        known, left = set(on), WORD.findall(text)
        seen = set(left)
        while left:
            name = left.pop()
            if name in known:
                return True
            new = self.made.get(name, set()) - seen
            seen |= new
            left += new
        return False


def structure_rests_on_holes(body: Iterable[tree.Stmt]) -> bool:
    """Whether which statements there are may rest on a hole: one is a let's value, and a block has an ``if``
    or ``for``."""
    body = tuple(body)
    return any(_matching_statements(body, tree.Let)) and any(_matching_statements(body, (tree.If, tree.For)))


def _matching_statements(body: Iterable[tree.Stmt], kind: type | tuple[type, ...]) -> Iterator[bool]:
    for s in body:
        yield isinstance(s, kind) and (not isinstance(s, tree.Let) or isinstance(s.value, tree.Hole))
        if isinstance(s, tree.Decl):
            yield from _matching_statements(s.body or (), kind)
        elif isinstance(s, tree.If):
            yield from _matching_statements([x for _, b in s.branches for x in b] + list(s.other), kind)
        elif isinstance(s, tree.For):
            yield from _matching_statements(s.body, kind)
