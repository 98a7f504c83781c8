"""Each form of statement and expression, and the tree it makes; bytes to text."""

from fractions import Fraction

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.syntax import tree
from tdsl.syntax.parser import MAX_BYTES, decode_source_file, parse_expression
from tests.syntax.programs import ALL
from tests.syntax.shown import clean, one, show

FORMS = {
    "use a.b (X, Y as Z)": "Use(module=[a b] names=[UsedName(name=X) UsedName(name=Y alias=Z)])",
    "param n: int = 4 where n > 1": "Param(name=n type=int default=4 guard=(n > 1))",
    "let n = ?": "Let(name=n value=?)",
    "let r: range = 0..7": "Let(name=r type=range value=Range(low=0 high=7))",
    "def f(n: int, m: int = 2): int = n*m": (
        "Def(name=f formals=[Formal(name=n type=int) Formal(name=m type=int default=2)] type=int body=(n * m))"
    ),
    "host node[32]: DGX": "Decl(kind=host name=node shape=[Extent(value=32)] of=DGX)",
    "chip chip[4x4x4]: T": "Decl(kind=chip name=chip shape=[Extent(value=DimsLit(sizes=[4 4 4]))] of=T)",
    "group su[n of 4] { }": "Decl(kind=group name=su shape=[Extent(value=n of=4)])",
    "switch s[?]: Q": "Decl(kind=switch name=s shape=[Extent(value=?)] of=Q)",
    "port nic[8, 2]: 400Gbps": "Decl(kind=port name=nic shape=[Extent(value=8) Extent(value=2)] of=400Gbps)",
    "port p[1..136]: any": "Decl(kind=port name=p shape=[Extent(value=Range(low=1 high=136))] of=any)",
    "pcie gpu { on plx[i] }": "Decl(kind=pcie name=gpu body=[Setting(name=on items=[SettingItem(value=plx[i])])])",
    "numa cpu[2] { cores 56 }": (
        "Decl(kind=numa name=cpu shape=[Extent(value=2)] body=[Setting(name=cores items=[SettingItem(value=56)])])"
    ),
    "rack r { height 48U }": "Decl(kind=rack name=r body=[Setting(name=height items=[SettingItem(value=48U)])])",
    "connect a[n].nic[r] to b[r]": "Connect(a=[a[n].nic[r]] b=[b[r]])",
    "connect a, b to c spread x 3 uneven": "Connect(a=[a b] b=[c] pattern=PatternRef(name=spread args=[[x 3] [uneven None]]))",
    "connect a[*] each x 2": "Connect(a=[a[*]] pattern=PatternRef(name=each) copies=2)",
    "connect a to b x lanes[s]": "Connect(a=[a] b=[b] copies=lanes[s])",
    "connect a[*] random degree 3 seed 5": "Connect(a=[a[*]] pattern=PatternRef(name=random args=[[degree 3] [seed 5]]))",
    "connect a to b pairs shift 1": "Connect(a=[a] b=[b] pattern=PatternRef(name=pairs args=[[shift 1]]))",
    "connect a to b fancy": "Connect(a=[a] b=[b] pattern=PatternRef(name=fancy))",
    "connect a to b via p[0, 4*y] where i < j": "Connect(a=[a] b=[b] via=p[0, (4 * y)] guard=(i < j))",
    "connect a to b where i < j via p": "Connect(a=[a] b=[b] via=p guard=(i < j))",
    "circuit block[*] spread": "Connect(circuit=True a=[block[*]] pattern=PatternRef(name=spread))",
    "omit a[3], b where n > 1": "Omit(paths=[a[3] b] guard=(n > 1))",
    'naming a[i] "x{i:02}"': "Naming(path=a[i] template=Str(parts=['x' Placeholder(value=i format='02')]))",
    "extend f.su[0] { }": "Extend(path=f.su[0])",
    "override f.su[1]: Q { a }": "Override(path=f.su[1] model=Q body=[Setting(name=a)])",
    "place a[n] in h.A[1] stacked from 30U": "PlaceStmt(path=a[n] into=h.A[1] words=[stacked] anchor=from value=30U)",
    "place auto in h1, h2 { hosts 4 per rack }": (
        "PlaceStmt(path=auto into=h1 more=[h2] body=[Setting(name=hosts items=[SettingItem(value=4 args=[['' per] ['' rack]])])])"
    ),
    "place a in b at 2U + 1U": "PlaceStmt(path=a into=b anchor=at value=(2U + 1U))",
    "phase 2 { units 4 }": "PhaseBlock(number=2 body=[Setting(name=units items=[SettingItem(value=4)])])",
    "for s in 0..n-1 { }": "For(var=s over=Range(low=0 high=(n - 1)))",
    "if a { x 1 } else if b { y } else { z }": (
        "If(branches=[[a [Setting(name=x items=[SettingItem(value=1)])]] [b [Setting(name=y)]]] other=[Setting(name=z)])"
    ),
    "topology t(switch: model) { }": "TopologyDecl(name=t formals=[Formal(name=switch type=model)])",
    "tier pod of 192 rack { switch C x 16 }": (
        "TierDecl(name=pod count=192 child=rack body=[Setting(name=switch items=[SettingItem(value=C args=[['x' 16]])])])"
    ),
    "tier pod of 4 su { switch C }": (
        "TierDecl(name=pod count=4 child=su body=[Setting(name=switch items=[SettingItem(value=C)])])"
    ),
    "power 747W max 1720W": "Setting(name=power items=[SettingItem(value=747W args=[['max' 1720W]])])",
    "cage 2 OSFP": "Setting(name=cage items=[SettingItem(value=2 args=[['' OSFP]])])",
    "hosts n of 2048 x M": "Setting(name=hosts items=[SettingItem(value=n args=[['of' 2048] ['x' M]])])",
    "split nic 8": "Setting(name=split items=[SettingItem(value=nic args=[['' 8]])])",
    "type NDR, GE400": "Setting(name=type items=[SettingItem(value=NDR) SettingItem(value=GE400)])",
    "wrap via ocs P": "Setting(name=wrap items=[SettingItem(value=via args=[['' ocs] ['' P]])])",
    "oversubscription at most 7:1": (
        "Setting(name=oversubscription items=[SettingItem(value=at args=[['most' RatioLit(left=7 right=1)]])])"
    ),
    "distance dc[0] to dc[1] 100km": "Setting(name=distance items=[SettingItem(value=dc[0] args=[['to' dc[1]] ['' 100km]])])",
    "cube 4x4x4": "Setting(name=cube items=[SettingItem(value=DimsLit(sizes=[4 4 4]))])",
    "row A..D { }": "Setting(name=row items=[SettingItem(value=Range(low=A high=D))])",
    "rack 1..16 { }": "Setting(name=rack items=[SettingItem(value=Range(low=1 high=16))])",
    "require survives any 2 of a[*], b with bisection >= 50% of intact": (
        "Require(claims=[Claim(metric=survives any_count=2 of=[a[*] b]"
        " given=Claim(metric=bisection op='>=' value=50% of_intact=True))])"
    ),
    "require throughput of a to b >= 12Tbps and diameter <= 4": (
        "Require(claims=[Claim(metric=throughput of=[a] of_to=[b] op='>=' value=12Tbps) Claim(metric=diameter op='<=' value=4)])"
    ),
    "require deadlock_free under updn": "Require(claims=[Claim(metric=deadlock_free under=updn)])",
    "require reachability through scaleup": "Require(claims=[Claim(metric=reachability through=scaleup)])",
    "require oversubscription at leaf <= 2:1": (
        "Require(claims=[Claim(metric=oversubscription at=[leaf] op='<=' value=RatioLit(left=2 right=1))])"
    ),
    'require throughput "m.csv" >= 50%': (
        "Require(claims=[Claim(metric=throughput args=[Str(parts=['m.csv'])] op='>=' value=50%)])"
    ),
    "require diameter of all a, b <= 4": "Require(claims=[Claim(metric=diameter of=[a b] op='<=' value=4 of_all=True)])",
    "require diameter of all <= 4": "Require(claims=[Claim(metric=diameter of=[all] op='<=' value=4)])",
    "require throughput of all[0], b to all.c": "Require(claims=[Claim(metric=throughput of=[all[0] b] of_to=[all.c])])",
    "require diameter of all at leaf": "Require(claims=[Claim(metric=diameter of=[all] at=[leaf])])",
    "report power <= 30% of network": "Require(report=True claims=[Claim(metric=power op='<=' value=30% share_of='network')])",
    "require allreduce 140GB <= 250ms": "Require(claims=[Claim(metric=allreduce args=[140GB] op='<=' value=250ms)])",
    "report cost": "Require(report=True claims=[Claim(metric=cost)])",
}

VALUES = {
    "1_024": "1024", "9.5": "Fraction(19, 2)", "50%": "50%", "$2.5M": "2500000$", "$1200": "1200$",
    "7:1": "RatioLit(left=7 right=1)",
    "4x4": "DimsLit(sizes=[4 4])", "10.0.0.0/16": "NetworkLit(text='10.0.0.0/16')", "50GB/s": "50GB/s", "5ns/m": "5ns/m",
    "a % b": "(a % b)", "n%4": "(n % 4)", "8%b": "(8 % b)", "50% + 1": "(50% + 1)", "(50%)": "Paren(inner=50%)",
    "-a ** -2": "Unary(op='-' operand=PowerExpr(base=a exponent=Unary(op='-' operand=2)))",
    "a + b - c*d": "(a + b - (c * d))",
    "not a or b and c": "(Unary(op='not' operand=a) or (b and c))",
    "1 <= a < 3": "(1 <= a < 3)",
    "a in 0..3": "(a in Range(low=0 high=3))",
    "x if a else y if b else z": "Cond(then=x test=a other=Cond(then=y test=b other=z))",
    "[1, 2][i][j]": "At(base=At(base=ListExpr(items=[1 2]) index=[i]) index=[j])",
    "[x for x in 0..3]": "Comprehension(item=x var=x over=Range(low=0 high=3))",
    "(k, k, 2*k)": "TupleExpr(items=[k k (2 * k)])",
    "max(a, 3) + su[s].leaf[*, 0..3]": "(max(a, 3) + su[s].leaf[*, Range(low=0 high=3)])",
    "rack + x + host": "(rack + x + host)",
    "0..units-1": "Range(low=0 high=(units - 1))",
}  # fmt: skip


@pytest.mark.parametrize("text", FORMS)
def test_statement(text: str) -> None:
    statement = one(text)
    assert show(statement) == FORMS[text]
    assert statement.span.text == text


@pytest.mark.parametrize("text", VALUES)
def test_value(text: str) -> None:
    let = one(f"let v = {text}")
    assert isinstance(let, tree.Let)
    shown = repr(let.value.value) if text == "9.5" and isinstance(let.value, tree.Number) else show(let.value)
    assert shown == VALUES[text]
    assert let.value.span.text == text


@pytest.mark.parametrize("name", ALL)
def test_program(name: str) -> None:
    assert clean(ALL[name])


def test_exact_numbers() -> None:
    assert one("length 0.6m").items[0].value.value == Fraction(3, 5)  # type: ignore[union-attr]
    whole = one("length 3.0m").items[0].value.value  # type: ignore[union-attr]
    assert whole == 3 and isinstance(whole, int)


def test_every_word_may_be_a_name() -> None:
    from tdsl.syntax.keywords import GRAMMAR_WORDS

    for word in sorted(GRAMMAR_WORDS):
        host = one(f"host {word}: M")
        assert isinstance(host, tree.Decl) and host.name.name == word
        path = one(f"omit a.{word}[0]").paths[0]  # type: ignore[union-attr]
        assert path.parts[1].name == word  # type: ignore[union-attr]
        if word not in ("not", "if", "for"):
            assert show(one(f"omit {word}[{word}, 2]")) == f"Omit(paths=[{word}[{word}, 2]])"


def test_lines_that_continue() -> None:
    text = "connect a\n    # why\n\n  to b\n  where i < j\nrequire a\n  and b"
    assert show(clean(text)) == ("[Connect(a=[a] b=[b] guard=(i < j)) Require(claims=[Claim(metric=a) Claim(metric=b)])]")


def test_brackets_hide_line_ends() -> None:
    text = "let a = [1,\n  2 # two\n,\n 3]\nuse lib (\n  A as B,\n  C,\n)\nlet b = [e\n  for e in 0..3]"
    assert len(clean(text)) == 3


def test_else_on_its_own_line() -> None:
    assert show(one("if a { }\nelse { b }")) == "If(branches=[[a []]] other=[Setting(name=b)])"


def test_separators() -> None:
    assert [show(s) for s in clean(";;\n a 1;; b 2 ;\r\n\r\n c { d; e; };")] == [
        "Setting(name=a items=[SettingItem(value=1)])", "Setting(name=b items=[SettingItem(value=2)])",
        "Setting(name=c body=[Setting(name=d) Setting(name=e)])",
    ]  # fmt: skip


def test_places_in_strings() -> None:
    text = 'name "a{b + 1}{{c}}"'
    placeholder = one(text).items[0].value.parts[1]  # type: ignore[union-attr]
    assert placeholder.span.text == "{b + 1}"  # type: ignore[union-attr]
    assert placeholder.value.span.text == "b + 1"  # type: ignore[union-attr]
    assert one(text).items[0].value.parts[2] == "{c}"  # type: ignore[union-attr]


def attempt(data: bytes) -> tuple[SourceFile | None, Diagnostics]:
    diagnostics = Diagnostics()
    return decode_source_file(data, "t.fab", diagnostics), diagnostics


@pytest.mark.parametrize(
    ("data", "code", "at"),
    [
        (b"let a = 1\nlet \xff = 2\n", "E0011", (2, 5)),
        ("é\n".encode() + b"a\0", "E0011", (2, 2)),
        (b"", "E0010", (1, 1)),
        (b"  \n# nothing\n", "E0010", (1, 1)),
        (b"#" * (MAX_BYTES + 1), "E0012", (1, 1)),
    ],
)
def test_bytes_that_are_no_text(data: bytes, code: str, at: tuple[int, int]) -> None:
    file, diagnostics = attempt(data)
    (finding,) = diagnostics
    assert finding.code == code and finding.span is not None and finding.span.begin == at
    assert (file is None) == (code != "E0010")


def test_a_byte_order_mark_is_left_out() -> None:
    file, diagnostics = attempt(b"\xef\xbb\xbflet a = 1\n")
    assert file is not None and file.text == "let a = 1\n" and not list(diagnostics)


def test_an_expression_alone() -> None:
    diagnostics = Diagnostics()
    assert show(parse_expression("2*n + 1", "--set", diagnostics)) == "((2 * n) + 1)"
    assert show(parse_expression("0..3", "--set", diagnostics)) == "Range(low=0 high=3)"
    assert not list(diagnostics)
    assert parse_expression("2 *", "--set", diagnostics) is None
    assert parse_expression("", "--set", diagnostics) is None
    assert [d.code for d in diagnostics] == ["E0001", "E0001"]
