"""Small faults that can be put into a module: each changes one operator, number, condition or statement of its text."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

COMPARED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in",
    ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
COMPUTED = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "//", ast.BitAnd: "|", ast.BitOr: "&",
    ast.Pow: "*",
}  # fmt: skip
NAMED = {"min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor", "floor": "ceil"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: the line of its place (from 1), what is changed there, which one of that line it is where several are alike
    (from 1), and the bytes that another text takes."""

    line: int
    what: str
    nth: int
    data: bytes
    start: int
    end: int
    new: str

    @property
    def text(self) -> str:
        """The whole text with the fault."""
        return (self.data[: self.start] + self.new.encode() + self.data[self.end :]).decode()

    def parses(self) -> bool:
        """Whether that is a module: a bracket or a ``not`` may stand where no other word may."""
        try:
            ast.parse(self.text)
        except SyntaxError:
            return False
        return True


def mutants(text: str) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its text. Annotations, decorators, docstrings and other strings stay."""
    lines = text.encode().split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    data = text.encode()
    alike: Counter[tuple[int, str]] = Counter()

    def place(node: ast.AST) -> tuple[int, int]:
        at = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        return at, starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def changed(node: ast.AST, start: int, end: int, new: str) -> Iterator[Mutant]:
        old = data[start:end].decode()
        what = f"`{' '.join(old.split())[:60]}` is `{' '.join(new.split())[:60]}`"
        alike[node.lineno, what] += 1  # type: ignore[attr-defined]
        yield Mutant(node.lineno, what, alike[node.lineno, what], data, start, end, new)  # type: ignore[attr-defined]

    def between(left: ast.AST, right: ast.AST, node: ast.AST, new: str) -> Iterator[Mutant]:
        """The operator between two operands; brackets around them stay where they are."""
        start, end = place(left)[1], place(right)[0]
        gap = data[start:end].decode()
        word = gap.strip("() \n\t\\")
        if word and "#" not in gap and gap.count(word) == 1:
            at = start + len(gap.partition(word)[0].encode())
            yield from changed(node, at, at + len(word.encode()), new)

    for node in sorted(_code(ast.parse(text)), key=lambda n: (getattr(n, "lineno", 0), getattr(n, "col_offset", 0))):
        if isinstance(node, ast.Compare):
            for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                yield from between(left, right, node, COMPARED[type(op)])
        elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED and not isinstance(node.left, (ast.JoinedStr, ast.List)):
            yield from between(node.left, node.right, node, COMPUTED[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from between(left, right, node, "or" if isinstance(node.op, ast.And) else "and")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            start, end = place(node)
            yield from changed(node, start, end, f"bool({data[slice(*place(node.operand))].decode()})")
        elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int)):
            new = str(not node.value) if isinstance(node.value, bool) else str(node.value + 1)
            yield from changed(node, *place(node), new)
        elif isinstance(node, ast.Name) and node.id in NAMED and isinstance(node.ctx, ast.Load):
            yield from changed(node, *place(node), NAMED[node.id])
        elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
            start, end = place(node.test)
            yield from changed(node.test, start, end, f"(not ({data[start:end].decode()}))")
        elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
            yield from changed(node, *place(node.value), "None")
        elif isinstance(node, (ast.Expr, ast.AugAssign, ast.Raise, ast.Continue, ast.Break)):
            yield from changed(node, *place(node), "pass")


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes whose change can change what a program does."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            yield child
            yield from _code(child)
