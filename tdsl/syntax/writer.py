"""Trees to text again, for statements that a program made; the formatter lays out what people wrote."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from tdsl.syntax import tree

STEP = "  "


# One case for each kind of expression, in the order of the classes of the tree.
def expression_text(e: tree.Expr) -> str:
    """An expression as text. Brackets stand where the tree has them."""
    match e:
        case tree.Number():
            return _number_text(e.value)
        case tree.Measure():
            return f"${_number_text(e.value)}" if e.unit == "$" else f"{_number_text(e.value)}{e.unit}"
        case tree.RatioLit():
            return f"{_number_text(e.left)}:{_number_text(e.right)}"
        case tree.DimsLit():
            return "x".join(map(str, e.sizes))
        case tree.NetworkLit():
            return e.text
        case tree.Hole():
            return "?"
        case tree.Star():
            return "*"
        case tree.Str():
            return '"' + "".join(map(_string_part_text, e.parts)) + '"'
        case tree.PathExpr():
            return path_text(e)
        case tree.Unary():
            return (
                f"{e.op} {expression_text(e.operand)}"
                if e.op == "not"
                else f"{e.op}{expression_text(e.operand)}"
            )
        case tree.Chain():
            return expression_text(e.first) + "".join(f" {op} {expression_text(x)}" for op, x in e.rest)
        case tree.PowerExpr():
            return f"{expression_text(e.base)} ** {expression_text(e.exponent)}"
        case tree.Cond():
            return f"{expression_text(e.then)} if {expression_text(e.test)} else {expression_text(e.other)}"
        case tree.Paren():
            return f"({expression_text(e.inner)})"
        case tree.TupleExpr():
            return f"({_comma_separated(e.items)})"
        case tree.ListExpr():
            return f"[{_comma_separated(e.items)}]"
        case tree.Comprehension():
            return f"[{expression_text(e.item)} for {e.var.name} in {expression_text(e.over)}]"
        case tree.At():
            return f"{expression_text(e.base)}[{_comma_separated(e.index)}]"
        case tree.Range():
            return f"{expression_text(e.low)}..{expression_text(e.high)}"
    raise AssertionError(e)


def path_text(p: tree.PathExpr) -> str:
    """A path as text."""
    out: list[str] = []
    for part in p.parts:
        if isinstance(part, tree.Identifier):
            out.append(f".{part.name}" if out else part.name)
        elif isinstance(part, tree.IndexPart):
            out.append(f"[{_comma_separated(part.entries)}]")
        else:
            out.append(f"({_comma_separated(part.args)})")
    return "".join(out)


def _number_text(value: int | Fraction) -> str:
    if isinstance(value, int):
        return str(value)
    text = f"{float(value):.12f}".rstrip("0")
    return text if Fraction(text) == value else f"{value.numerator}/{value.denominator}"


def _comma_separated(items: Iterable[tree.Expr]) -> str:
    return ", ".join(map(expression_text, items))


def inside_quotes(text: str) -> str:
    """A text as it is written between the quotes of a string."""
    return text.replace("{", "{{").replace("}", "}}").replace('"', "{34:c}")


def _string_part_text(part: str | tree.Placeholder) -> str:
    if isinstance(part, str):
        return inside_quotes(part)
    inner = expression_text(part.value)
    return f"{{{inner}:{part.format}}}" if part.format else f"{{{inner}}}"


def statement_text(s: tree.Stmt, depth: int = 0) -> str:
    """A statement as text, a line or a block; blocks of settings stand on one line."""
    match s:
        case tree.Decl():
            return _declaration_text(s, depth)
        case tree.Connect():
            return _connect_text(s, depth)
        case tree.Omit():
            return f"omit {_paths_text(s.paths)}{_guard_text(s.guard)}"
        case tree.Naming():
            return f"naming {path_text(s.path)} {expression_text(s.template)}{_guard_text(s.guard)}"
        case tree.If():
            parts = [f"if {expression_text(test)}{_block_text(body, depth)}" for test, body in s.branches]
            rest = f" else{_block_text(s.other, depth)}" if s.other else ""
            return " else ".join(parts) + rest
        case tree.For():
            return f"for {s.var.name} in {expression_text(s.over)}{_block_text(s.body, depth)}"
        case tree.Setting():
            return f"{_setting_line(s)}{_block_text(s.body, depth)}"
        case tree.Let():
            return f"let {s.name.name}{_type_text(s.type)} = {expression_text(s.value)}{_guard_text(s.guard)}"
        case tree.Require():
            return ("report " if s.report else "require ") + " ".join(s.span.text.split()[1:])
    return " ".join(
        s.span.text.split()
    )  # no topology writes such a statement: as it is, and its reader says what is wrong


def _declaration_text(s: tree.Decl, depth: int) -> str:
    title = f" {expression_text(s.title)}" if s.title else ""
    of = f": {expression_text(s.of)}" if s.of is not None else ""
    return f"{s.kind.name} {s.name.name}{_extents_text(s.shape)}{title}{of}{_block_text(s.body, depth)}"


def _setting_line(s: tree.Setting) -> str:
    items = ", ".join(map(_setting_item_text, s.items))
    return f"{s.name.name} {items}" if items else s.name.name


def _type_text(type: tree.Identifier | None) -> str:
    return "" if type is None else f": {type.name}"


def _extents_text(shape: tuple[tree.Extent, ...] | None) -> str:
    if shape is None:
        return ""
    return (
        "["
        + ", ".join(
            expression_text(x.value) + (f" of {expression_text(x.of)}" if x.of is not None else "")
            for x in shape
        )
        + "]"
    )


def _block_text(body: tuple[tree.Stmt, ...] | None, depth: int) -> str:
    if body is None:
        return ""
    if all(isinstance(s, tree.Setting) and s.body is None for s in body):
        return " { " + "; ".join(statement_text(s) for s in body) + " }"
    inner = "".join(f"{STEP * (depth + 1)}{statement_text(s, depth + 1)}\n" for s in body)
    return f" {{\n{inner}{STEP * depth}}}"


def _connect_text(s: tree.Connect, depth: int) -> str:
    out = [("circuit " if s.circuit else "connect ") + _paths_text(s.a)]
    if s.b:
        out.append("to " + _paths_text(s.b))
    if s.pattern is not None:
        words = [
            s.pattern.name.name,
            *(m.name if e is None else f"{m.name} {expression_text(e)}" for m, e in s.pattern.args),
        ]
        out.append(" ".join(words))
    if s.copies is not None:
        out.append("x " + expression_text(s.copies))
    if s.via is not None:
        out.append("via " + path_text(s.via))
    if s.guard is not None:
        out.append("where " + expression_text(s.guard))
    return " ".join(out) + (_block_text(s.body, depth) if s.body else "")


def _paths_text(paths: tuple[tree.PathExpr, ...]) -> str:
    return ", ".join(map(path_text, paths))


def _guard_text(guard: tree.Expr | None) -> str:
    return "" if guard is None else f" where {expression_text(guard)}"


def _setting_item_text(item: tree.SettingItem) -> str:
    words = [expression_text(item.value)]
    for word, value in item.args:
        words.append(f"{word} {expression_text(value)}" if word else expression_text(value))
    return " ".join(words)
