"""Designs that are written and recorded at once: every statement is a line of text and what that line means.

A statement can be left out, and both the text and the records follow: that is how a design that shows a fault is made small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tests.soundness.inventory import Inventory, Model
from tests.soundness.judges import Claim

Recording = Callable[[Inventory], None]


def nothing_recorded(_: Inventory) -> None:
    """The meaning of a line that adds no device and no link."""


@dataclass(frozen=True)
class Line:
    """A statement and what it means."""

    text: str
    record: Recording = nothing_recorded


@dataclass(frozen=True)
class Block:
    """A group, or a fabric of a cluster: the statement that opens it, and what it contains. ``name`` is how requirements in it
    are found: the name of the group."""

    header: str
    lines: tuple[Line | Block, ...]
    name: str = ""


Statement = Line | Block


@dataclass(frozen=True)
class Asked:
    """A requirement, and the block in which it stands ("" for the fabric itself): ``su`` or ``su.cell``. ``options`` say how far
    the answer is fixed: "always" where it must be proved or refuted."""

    claim: Claim
    block: str = ""
    always: bool = False


@dataclass(frozen=True)
class Blueprint:
    """A design. ``cluster`` says that the blocks are fabrics of a cluster. ``requirements`` are written where they are asked."""

    family: str
    seed: int
    statements: tuple[Statement, ...]
    models: tuple[Model, ...] = ()
    asked: tuple[Asked, ...] = ()
    cluster: bool = False
    fail: tuple[str, ...] = ()
    title: str = ""
    notes: tuple[str, ...] = field(default=())

    def inventory(self) -> Inventory:
        """What the design means. Raises KeyError where a statement that is left out leaves another without its devices."""
        out = Inventory()
        ordered = list(walk_lines(self.statements))
        for line in ordered:  # devices first: a text may name what it declares later
            if is_declaration(line.text):
                line.record(out)
        for line in ordered:
            if not is_declaration(line.text) and not line.text.startswith("omit "):
                line.record(out)
        for line in ordered:
            if line.text.startswith("omit "):
                line.record(out)
        return out

    def text(self) -> str:
        """The design as .fab text."""
        used = {m.name: m.text for m in self.models if m.text}
        head = "cluster f {" if self.cluster else "fabric f {"
        return "\n".join([*used.values(), head, *self._lines(self.statements, "", 1), "}", ""])

    def _lines(self, statements: Sequence[Statement], path: str, depth: int) -> Iterator[str]:
        pad = "  " * depth
        for one in statements:
            if isinstance(one, Line):
                yield pad + one.text
            else:
                inner = f"{path}.{one.name}".strip(".")
                yield f"{pad}{one.header} {{"
                yield from self._lines(one.lines, inner, depth + 1)
                yield pad + "}"
        yield from dict.fromkeys(f"{pad}require {a.claim.text()}" for a in self.asked if a.block == path)

    def smaller(self) -> Iterator[Blueprint]:
        """The design with one statement less, in every way."""
        for statements in fewer_statements(self.statements):
            yield replace(self, statements=statements)


DECLARING = ("host ", "switch ", "chip ", "extend ", "panel ", "ocs ")


def is_declaration(text: str) -> bool:
    """Whether a line declares devices."""
    return text.startswith(DECLARING)


def walk_lines(statements: Sequence[Statement]) -> Iterator[Line]:
    """All lines, those of blocks included."""
    for one in statements:
        if isinstance(one, Line):
            yield one
        else:
            yield from walk_lines(one.lines)


def fewer_statements(statements: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    """These statements with one left out, here or in a block."""
    for i in range(len(statements) - 1, -1, -1):
        yield statements[:i] + statements[i + 1 :]
    for i, one in enumerate(statements):
        if isinstance(one, Block):
            for lines in fewer_statements(one.lines):
                yield (*statements[:i], replace(one, lines=lines), *statements[i + 1 :])
