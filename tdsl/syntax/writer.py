"""Trees to text again, for statements that a program made; the formatter lays out what people wrote."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from tdsl.syntax import tree

STEP = "  "


def expression(e: tree.Expr) -> str:
    """An expression as text. Brackets stand where the tree has them."""
    match e:
        case tree.Number():
            return _number(e.value)
        case tree.Measure():
            return f"${_number(e.value)}" if e.unit == "$" else f"{_number(e.value)}{e.unit}"
        case tree.RatioLit():
            return f"{_number(e.left)}:{_number(e.right)}"
        case tree.DimsLit():
            return "x".join(map(str, e.sizes))
        case tree.Net():
            return e.text
        case tree.Hole():
            return "?"
        case tree.Star():
            return "*"
        case tree.Str():
            return '"' + "".join(map(_piece, e.parts)) + '"'
        case tree.Path():
            return path(e)
        case tree.Unary():
            return f"{e.op} {expression(e.operand)}" if e.op == "not" else f"{e.op}{expression(e.operand)}"
        case tree.Chain():
            return expression(e.first) + "".join(f" {op} {expression(x)}" for op, x in e.rest)
        case tree.Power():
            return f"{expression(e.base)} ** {expression(e.exponent)}"
        case tree.Cond():
            return f"{expression(e.then)} if {expression(e.test)} else {expression(e.other)}"
        case tree.Paren():
            return f"({expression(e.inner)})"
        case tree.TupleExpr():
            return f"({_list(e.items)})"
        case tree.ListExpr():
            return f"[{_list(e.items)}]"
        case tree.Comprehension():
            return f"[{expression(e.item)} for {e.var.name} in {expression(e.over)}]"
        case tree.At():
            return f"{expression(e.base)}[{_list(e.index)}]"
        case tree.Range():
            return f"{expression(e.low)}..{expression(e.high)}"
    raise AssertionError(e)


def path(p: tree.Path) -> str:
    """A path as text."""
    out: list[str] = []
    for part in p.parts:
        if isinstance(part, tree.Member):
            out.append(f".{part.name}" if out else part.name)
        elif isinstance(part, tree.Index):
            out.append(f"[{_list(part.entries)}]")
        else:
            out.append(f"({_list(part.args)})")
    return "".join(out)


def _number(value: int | Fraction) -> str:
    if isinstance(value, int):
        return str(value)
    text = f"{float(value):.12f}".rstrip("0")
    return text if Fraction(text) == value else f"{value.numerator}/{value.denominator}"


def _list(items: Iterable[tree.Expr]) -> str:
    return ", ".join(map(expression, items))


def inside_quotes(text: str) -> str:
    """A text as it is written between the quotes of a string."""
    return text.replace("{", "{{").replace("}", "}}").replace('"', "{34:c}")


def _piece(part: str | tree.Placeholder) -> str:
    if isinstance(part, str):
        return inside_quotes(part)
    inner = expression(part.value)
    return f"{{{inner}:{part.format}}}" if part.format else f"{{{inner}}}"


def statement(s: tree.Stmt, depth: int = 0) -> str:
    """A statement as text, a line or a block; blocks of settings stand on one line."""
    match s:
        case tree.Decl():
            title = f" {expression(s.title)}" if s.title else ""
            of = f": {expression(s.of)}" if s.of is not None else ""
            return f"{s.kind.name} {s.name.name}{_shape(s.shape)}{title}{of}{_body(s.body, depth)}"
        case tree.Connect():
            return _connect(s, depth)
        case tree.Omit():
            return f"omit {_paths(s.paths)}{_guard(s.guard)}"
        case tree.Naming():
            return f"naming {path(s.path)} {expression(s.template)}{_guard(s.guard)}"
        case tree.If():
            parts = [f"if {expression(test)}{_body(body, depth)}" for test, body in s.branches]
            rest = f" else{_body(s.other, depth)}" if s.other else ""
            return " else ".join(parts) + rest
        case tree.For():
            return f"for {s.var.name} in {expression(s.over)}{_body(s.body, depth)}"
        case tree.Setting():
            items = ", ".join(map(_item, s.items))
            return f"{s.name.name}{' ' if items else ''}{items}{_body(s.body, depth)}"
        case tree.Let():
            typed = f": {s.type.name}" if s.type else ""
            return f"let {s.name.name}{typed} = {expression(s.value)}{_guard(s.guard)}"
        case tree.Require():
            return ("report " if s.report else "require ") + " ".join(s.span.text.split()[1:])
    return " ".join(s.span.text.split())  # no topology writes such a statement: as it is, and its reader says what is wrong


def _shape(shape: tuple[tree.Extent, ...] | None) -> str:
    if shape is None:
        return ""
    return "[" + ", ".join(expression(x.value) + (f" of {expression(x.of)}" if x.of is not None else "") for x in shape) + "]"


def _body(body: tuple[tree.Stmt, ...] | None, depth: int) -> str:
    if body is None:
        return ""
    if all(isinstance(s, tree.Setting) and s.body is None for s in body):
        return " { " + "; ".join(statement(s) for s in body) + " }"
    inner = "".join(f"{STEP * (depth + 1)}{statement(s, depth + 1)}\n" for s in body)
    return f" {{\n{inner}{STEP * depth}}}"


def _connect(s: tree.Connect, depth: int) -> str:
    out = [("circuit " if s.circuit else "connect ") + _paths(s.a)]
    if s.b:
        out.append("to " + _paths(s.b))
    if s.pattern is not None:
        words = [s.pattern.name.name, *(m.name if e is None else f"{m.name} {expression(e)}" for m, e in s.pattern.args)]
        out.append(" ".join(words))
    if s.copies is not None:
        out.append("x " + expression(s.copies))
    if s.via is not None:
        out.append("via " + path(s.via))
    if s.guard is not None:
        out.append("where " + expression(s.guard))
    return " ".join(out) + (_body(s.body, depth) if s.body else "")


def _paths(paths: tuple[tree.Path, ...]) -> str:
    return ", ".join(map(path, paths))


def _guard(guard: tree.Expr | None) -> str:
    return "" if guard is None else f" where {expression(guard)}"


def _item(item: tree.Item) -> str:
    words = [expression(item.value)]
    for word, value in item.args:
        words.append(f"{word} {expression(value)}" if word else expression(value))
    return " ".join(words)
