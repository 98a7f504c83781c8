"""Grammar rules to tree nodes: one method a rule, called by the parser as it reduces."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tdsl.findings.source import SourceSpan
from tdsl.syntax import tree
from tdsl.syntax.keywords import KINDS
from tdsl.syntax.patterns import owns_number
from tdsl.syntax.scanner import Token
from tdsl.system.lazy_dataclass import dataclass

Kids = list[Any]


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a statement on its way into the statement's node: which rule, and what it holds."""

    kind: str
    value: Any
    span: SourceSpan


def span_of(kids: Kids) -> SourceSpan:
    """From the first child to the last."""
    first, last = kids[0], kids[-1]
    head, tail = first.span, last.span
    return SourceSpan(head.file, head.start, tail.end)


def name_node(token: Token) -> tree.Identifier:
    """A name and its place."""
    return tree.Identifier(token.text, token.span)


def number_from_digits(text: str) -> int | Fraction:
    """The exact value of digits with an optional fraction; whole ones are int. ``0x1f`` is in base 16."""
    if text.startswith("0x"):
        return int(text, 16)
    digits = text.replace("_", "")
    if "." not in digits:
        return int(digits)
    value = Fraction(digits)
    return value.numerator if value.denominator == 1 else value


def literal_node(token: Token) -> tree.Expr:
    """The node of a literal's token."""
    text, span = token.text, token.span
    match token.type:
        case "NUMBER":
            return tree.Number(number_from_digits(text), span)
        case "STRING":
            assert isinstance(token.node, tree.Str)
            return token.node
        case "QUANTITY":
            size = len(text)
            while not text[size - 1].isdigit() or not _has_number_digits(text[:size]):
                size -= 1
            return tree.Measure(number_from_digits(text[:size]), text[size:], span)
        case "PERCENT":
            return tree.Measure(number_from_digits(text[:-1]), "%", span)
        case "MONEY":
            return tree.Measure(_amount_of_money(text), "$", span)
        case "RATIO":
            left, right = text.split(":")
            return tree.RatioLit(number_from_digits(left), number_from_digits(right), span)
        case "DIMS":
            return tree.DimsLit(tuple(int(part) for part in text.split("x")), span)
        case _:
            return tree.NetworkLit(text, span)


def _amount_of_money(text: str) -> int | Fraction:
    """The exact value of ``$1.5k``."""
    scale = {"k": 1_000, "M": 1_000_000}.get(text[-1], 1)
    value = number_from_digits(text[1:] if scale == 1 else text[1:-1]) * scale
    return value.numerator if value.denominator == 1 else value


def _has_number_digits(text: str) -> bool:
    return all(c.isdigit() or c in "_." for c in text)


def _clause_value(kids: Kids, kind: str) -> Any:
    return next((k.value for k in kids if type(k) is Clause and k.kind == kind), None)


def _name_tokens(kids: Kids) -> list[Token]:
    return [k for k in kids if type(k) is Token and k.type == "NAME"]


def _nodes_among(kids: Kids) -> tuple[Any, ...]:
    return tuple(k for k in kids if type(k) is not Token)


def as_settings(body: tuple[tree.Stmt, ...]) -> tuple[tree.Stmt, ...]:
    """In a setting's or a tier's block ``switch M`` and ``switch M { … }`` name a model: each is a setting,
    no declaration."""
    return tuple(_as_setting(s) if type(s) is tree.Decl else s for s in body)


def _as_setting(d: tree.Decl) -> tree.Stmt:
    if d.shape is not None or d.title is not None or d.of is not None:
        return d
    if d.body is not None and d.kind.name not in KINDS["device"]:
        return d
    item = tree.SettingItem(tree.PathExpr((d.name,), d.name.span), (), d.name.span)
    return tree.Setting(d.kind, (item,), d.body, d.span)


class ExpressionBuilder:
    """Rules of expressions."""

    def expression(self, kids: Kids) -> Any:
        return kids[0]

    def literal(self, kids: Kids) -> Any:
        return literal_node(kids[0])

    def hole(self, kids: Kids) -> Any:
        return tree.Hole(kids[0].span)

    def star(self, kids: Kids) -> Any:
        return tree.Star(kids[0].span)

    def range(self, kids: Kids) -> Any:
        return tree.Range(kids[0], kids[2], span_of(kids))

    def cond(self, kids: Kids) -> Any:
        return tree.Cond(kids[0], kids[2], kids[4], span_of(kids))

    def chain(self, kids: Kids) -> Any:
        """Operators of one rank."""
        rest = tuple((kids[i].text, kids[i + 1]) for i in range(1, len(kids), 2))
        return tree.Chain(kids[0], rest, span_of(kids))

    or_ = and_ = comparison = sum = product = chain

    def unary(self, kids: Kids) -> Any:
        return tree.Unary(kids[0].text, kids[1], span_of(kids))

    def power(self, kids: Kids) -> Any:
        return tree.PowerExpr(kids[0], kids[2], span_of(kids))

    def list(self, kids: Kids) -> Any:
        return tree.ListExpr(_nodes_among(kids), span_of(kids))

    def comprehension(self, kids: Kids) -> Any:
        return tree.Comprehension(kids[1], name_node(kids[3]), kids[5], span_of(kids))

    def at(self, kids: Kids) -> Any:
        return tree.At(kids[0], _nodes_among(kids[1:]), span_of(kids))

    def paren(self, kids: Kids) -> Any:
        return tree.Paren(kids[1], span_of(kids))

    def tuple(self, kids: Kids) -> Any:
        return tree.TupleExpr(_nodes_among(kids), span_of(kids))

    def path(self, kids: Kids) -> Any:
        return tree.PathExpr((name_node(kids[0]), *kids[1:]), span_of(kids))

    def dot(self, kids: Kids) -> Any:
        return name_node(kids[1])

    def index(self, kids: Kids) -> Any:
        return tree.IndexPart(_nodes_among(kids), span_of(kids))

    def call(self, kids: Kids) -> Any:
        return tree.Call(_nodes_among(kids), span_of(kids))


class ClauseBuilder(ExpressionBuilder):
    """Rules of parts of statements."""

    def block(self, kids: Kids) -> Any:
        return Clause("block", tuple(kids[1:-1]), span_of(kids))

    def dotted(self, kids: Kids) -> Any:
        return Clause("dotted", tuple(name_node(k) for k in kids[::2]), span_of(kids))

    def used(self, kids: Kids) -> Any:
        return tree.UsedName(name_node(kids[0]), name_node(kids[2]) if len(kids) > 1 else None)

    def formals(self, kids: Kids) -> Any:
        return Clause("formals", _nodes_among(kids), kids[0].name.span)

    def formal(self, kids: Kids) -> Any:
        return tree.Formal(name_node(kids[0]), _clause_value(kids, "typed"), _clause_value(kids, "default"))

    def typed(self, kids: Kids) -> Any:
        return Clause("typed", name_node(kids[1]), span_of(kids))

    def default(self, kids: Kids) -> Any:
        return Clause("default", kids[1], span_of(kids))

    def guard(self, kids: Kids) -> Any:
        return Clause("guard", kids[1], span_of(kids))

    def kind(self, kids: Kids) -> Any:
        return name_node(kids[0])

    def shape(self, kids: Kids) -> Any:
        return Clause("shape", _nodes_among(kids), span_of(kids))

    def extent(self, kids: Kids) -> Any:
        return tree.Extent(kids[0], kids[2] if len(kids) > 1 else None, span_of(kids))

    def of(self, kids: Kids) -> Any:
        return Clause("of", kids[1], span_of(kids))

    def ends(self, kids: Kids) -> Any:
        return Clause("ends", tuple(kids[::2]), span_of(kids))

    def to(self, kids: Kids) -> Any:
        return Clause("to", kids[1].value, span_of(kids))

    def pattern(self, kids: Kids) -> Any:
        return Clause("pattern", (name_node(kids[0]), tuple(k.value for k in kids[1:])), span_of(kids))

    def detail(self, kids: Kids) -> Any:
        return Clause("detail", (name_node(kids[0]), kids[1] if len(kids) > 1 else None), span_of(kids))

    def copies(self, kids: Kids) -> Any:
        return Clause("copies", kids[1], span_of(kids))

    def by(self, kids: Kids) -> Any:
        return Clause("by", name_node(kids[1]), span_of(kids))

    def via(self, kids: Kids) -> Any:
        return Clause("via", kids[1], span_of(kids))

    def qualifier(self, kids: Kids) -> Any:
        word = kids[0].text
        if word in ("any", "over"):
            return Clause(word, (kids[1], name_node(kids[2]) if len(kids) > 2 else None), span_of(kids))
        if word in ("under", "through"):
            return Clause(word, name_node(kids[1]), span_of(kids))
        if len(kids) > 2 and type(kids[1]) is not Clause:
            return Clause("of", (kids[2].value, (), True), span_of(kids))
        return Clause(word, (kids[1].value, _clause_value(kids, "to") or (), False), span_of(kids))

    def compare(self, kids: Kids) -> Any:
        return Clause(
            "compare", (kids[0].text, kids[1], kids[3].text if len(kids) > 3 else ""), span_of(kids)
        )

    def given(self, kids: Kids) -> Any:
        return Clause("given", kids[1], span_of(kids))

    def claim(self, kids: Kids) -> Any:
        op, value, whole = _clause_value(kids, "compare") or (None, None, "")
        of, of_to, of_all = _clause_value(kids, "of") or ((), (), False)
        among = _clause_value(kids, "among")
        if among and not of:
            of, of_all = among[0], True
        at = _clause_value(kids, "at")[0] if _clause_value(kids, "at") else ()
        count, any_of = _clause_value(kids, "any") or (None, None)
        args = tuple(k for k in kids[1:] if type(k) is not Clause)
        return tree.Claim(
            name_node(kids[0]), args, count, any_of, of, of_to, at, _clause_value(kids, "under"),
            _clause_value(kids, "through"), op, value, whole == "intact", whole == "active",
            _clause_value(kids, "given"), span_of(kids), whole if whole in ("network", "total") else "",
            of_all, bool(among), _clause_value(kids, "over"),
        )  # fmt: skip

    bare_claim = claim

    def else_(self, kids: Kids) -> Any:
        return Clause("else", kids[1], span_of(kids))

    def worded(self, kids: Kids) -> Any:
        return Clause("worded", (kids[0].text, kids[1]), span_of(kids))

    def item(self, kids: Kids) -> Any:
        args: list[tuple[str, tree.Expr]] = []
        for kid in kids[1:]:
            if type(kid) is Clause:
                args.append(kid.value)
                continue
            before = args[-1] if args else None
            word = (
                before[1].bare if before and not before[0] and isinstance(before[1], tree.PathExpr) else None
            )
            if word is not None and not isinstance(kid, tree.PathExpr):
                args[-1] = (word, kid)
            else:
                args.append(("", kid))
        return tree.SettingItem(kids[0], tuple(args), span_of(kids))


class Builder(ClauseBuilder):
    """Rules of statements. Stateless: every place comes from the tokens."""

    def module(self, kids: Kids) -> Any:
        return tuple(kids)

    def stmt(self, kids: Kids) -> Any:
        return kids[0]

    def broken(self, kids: Kids) -> Any:
        names, bodies = kids[0].node
        return tree.Broken(names, bodies + (kids[1].value if len(kids) > 1 else ()), span_of(kids))

    def use(self, kids: Kids) -> Any:
        return tree.Use(kids[1].value, tuple(k for k in kids if type(k) is tree.UsedName), span_of(kids))

    def param(self, kids: Kids) -> Any:
        equal = next(i for i, k in enumerate(kids) if type(k) is Token and k.type == "EQUAL")
        return tree.Param(
            name_node(kids[1]),
            _clause_value(kids, "typed"),
            kids[equal + 1],
            _clause_value(kids, "guard"),
            span_of(kids),
        )

    def let(self, kids: Kids) -> Any:
        p = self.param(kids)
        return tree.Let(p.name, p.type, p.default, p.guard, p.span)

    def def_(self, kids: Kids) -> Any:
        formals = _clause_value(kids, "formals") or ()
        return tree.Def(name_node(kids[1]), formals, _clause_value(kids, "typed"), kids[-1], span_of(kids))

    def decl(self, kids: Kids) -> Any:
        title = next((k.node for k in kids if type(k) is Token and k.type == "STRING"), None)
        return tree.Decl(
            kids[0],
            name_node(kids[1]),
            _clause_value(kids, "shape"),
            title,
            _clause_value(kids, "of"),
            _clause_value(kids, "block"),
            span_of(kids),
        )

    def model(self, kids: Kids) -> Any:
        kind = kids[1] if isinstance(kids[1], tree.Identifier) else name_node(kids[1])
        title = kids[3].node if type(kids[3]) is Token else None
        return tree.ModelDecl(kind, name_node(kids[2]), title, kids[-1].value, span_of(kids))

    def topology(self, kids: Kids) -> Any:
        return tree.TopologyDecl(
            name_node(kids[1]), _clause_value(kids, "formals") or (), kids[-1].value, span_of(kids)
        )

    def job(self, kids: Kids) -> Any:
        title = next((k.node for k in kids if type(k) is Token and k.type == "STRING"), None)
        return tree.JobDecl(
            name_node(kids[1]), title, _clause_value(kids, "of"), kids[-1].value, span_of(kids)
        )

    def tier(self, kids: Kids) -> Any:
        body = as_settings(kids[-1].value)
        return tree.TierDecl(
            name_node(kids[1]), kids[3], name_node(kids[4]), _clause_value(kids, "by"), body, span_of(kids)
        )

    def phase(self, kids: Kids) -> Any:
        value = number_from_digits(kids[1].text)
        return tree.PhaseBlock(int(value), kids[2].value, span_of(kids))

    def connect(self, kids: Kids) -> Any:
        copies = _clause_value(kids, "copies")
        pattern = next((k for k in kids if type(k) is Clause and k.kind == "pattern"), None)
        ref = None
        if pattern is not None:
            name, args = pattern.value
            if not owns_number(name.name):
                first = next((a for a in args if a[0].name == "x"), None)
                copies = first and first[1]
                args = tuple(
                    a for a in args if a is not first
                )  # a second one is refused with the other words
            ref = tree.PatternRef(name, args, pattern.span)
        return tree.Connect(
            kids[0].text == "circuit",
            kids[1].value,
            _clause_value(kids, "to") or (),
            ref,
            copies,
            _clause_value(kids, "via"),
            _clause_value(kids, "guard"),
            _clause_value(kids, "block") or (),
            span_of(kids),
        )

    def omit(self, kids: Kids) -> Any:
        return tree.Omit(kids[1].value, _clause_value(kids, "guard"), span_of(kids))

    def naming(self, kids: Kids) -> Any:
        return tree.Naming(kids[1], kids[2].node, _clause_value(kids, "guard"), span_of(kids))

    def extend(self, kids: Kids) -> Any:
        return tree.Extend(kids[1], kids[2].value, span_of(kids))

    def override(self, kids: Kids) -> Any:
        typed = _clause_value(kids, "typed")
        model = tree.PathExpr((typed,), typed.span) if typed else None
        return tree.Override(kids[1], model, _clause_value(kids, "block") or (), span_of(kids))

    def place(self, kids: Kids) -> Any:
        words = tuple(name_node(t) for t in _name_tokens(kids))
        into = _clause_value(kids, "ends")
        body = _clause_value(kids, "block")
        said = kids if body is None else kids[:-1]
        anchor = name_node(said[-2]) if len(said) > 4 else None
        value = said[-1] if anchor else None
        return tree.PlaceStmt(
            kids[1],
            into[0],
            words,
            anchor,
            value,
            span_of(kids),
            into[1:],
            None if body is None else as_settings(body),
        )

    def require(self, kids: Kids) -> Any:
        return tree.Require(kids[0].text == "report", tuple(kids[1::2]), span_of(kids))

    def if_(self, kids: Kids) -> Any:
        branch = (kids[1], kids[2].value)
        rest = _clause_value(kids, "else")
        if isinstance(rest, tree.If):
            return tree.If((branch, *rest.branches), rest.other, span_of(kids))
        return tree.If((branch,), rest.value if rest else (), span_of(kids))

    def for_(self, kids: Kids) -> Any:
        return tree.For(name_node(kids[1]), kids[3], kids[4].value, span_of(kids))

    def setting(self, kids: Kids) -> Any:
        items = tuple(k for k in kids if type(k) is tree.SettingItem)
        block = _clause_value(kids, "block")
        return tree.Setting(
            name_node(kids[0]), items, None if block is None else as_settings(block), span_of(kids)
        )


setattr(Builder, "def", Builder.def_)  # the rule's name is a word of Python
