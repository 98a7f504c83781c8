"""Each form of statement and expression, and the tree it makes; bytes to text."""

from fractions import Fraction

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.syntax import tree
from tdsl.syntax.keywords import GRAMMAR_WORDS
from tdsl.syntax.parser import MAX_BYTES, decode_source_file, parse_expression
from tests.syntax.shown import ALL, clean, one, show
from tests.tables import table


@pytest.mark.parametrize(("text", "wanted"), table(__file__, "statements"))
def test_statement(text: str, wanted: str) -> None:
    statement = one(text)
    assert (show(statement), statement.span.text) == (wanted, text)


@pytest.mark.parametrize(("text", "wanted"), table(__file__, "values"))
def test_value(text: str, wanted: str) -> None:
    let = one(f"let v = {text}")
    assert isinstance(let, tree.Let)
    shown = repr(let.value.value) if text == "9.5" and isinstance(let.value, tree.Number) else show(let.value)
    assert (shown, let.value.span.text) == (wanted, text)


def test_programs() -> None:
    assert all(clean(text) for text in ALL.values())


def test_exact_numbers() -> None:
    assert one("length 0.6m").items[0].value.value == Fraction(3, 5)  # type: ignore[union-attr]
    whole = one("length 3.0m").items[0].value.value  # type: ignore[union-attr]
    assert whole == 3 and isinstance(whole, int)


def test_every_word_may_be_a_name() -> None:
    for word in sorted(GRAMMAR_WORDS):
        host = one(f"host {word}: M")
        assert isinstance(host, tree.Decl) and host.name.name == word
        path = one(f"omit a.{word}[0]").paths[0]  # type: ignore[union-attr]
        assert path.parts[1].name == word  # type: ignore[union-attr]
        if word not in ("not", "if", "for"):
            assert show(one(f"omit {word}[{word}, 2]")) == f"Omit(paths=[{word}[{word}, 2]])"


def test_lines_that_continue_and_end() -> None:
    text = "connect a\n    # why\n\n  to b\n  where i < j\nrequire a\n  and b"
    assert show(clean(text)) == ("[Connect(a=[a] b=[b] guard=(i < j)) Require(claims=[Claim(metric=a) Claim(metric=b)])]")
    text = "let a = [1,\n  2 # two\n,\n 3]\nuse lib (\n  A as B,\n  C,\n)\nlet b = [e\n  for e in 0..3]"
    assert len(clean(text)) == 3  # brackets hide line ends
    assert show(one("if a { }\nelse { b }")) == "If(branches=[[a []]] other=[Setting(name=b)])"
    settings = ["a items=[SettingItem(value=1)]", "b items=[SettingItem(value=2)]", "c body=[Setting(name=d) Setting(name=e)]"]
    found = [show(s) for s in clean(";;\n a 1;; b 2 ;\r\n\r\n c { d; e; };")]
    assert found == [f"Setting(name={words})" for words in settings]


def test_places_in_strings() -> None:
    text = 'name "a{b + 1}{{c}}"'
    placeholder = one(text).items[0].value.parts[1]  # type: ignore[union-attr]
    assert placeholder.span.text == "{b + 1}"  # type: ignore[union-attr]
    assert placeholder.value.span.text == "b + 1"  # type: ignore[union-attr]
    assert one(text).items[0].value.parts[2] == "{c}"  # type: ignore[union-attr]


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
    diagnostics = Diagnostics()
    file = decode_source_file(data, "t.fab", diagnostics)
    (finding,) = diagnostics
    assert finding.code == code and finding.span is not None and finding.span.begin == at
    assert (file is None) == (code != "E0010")


def test_a_byte_order_mark_is_left_out() -> None:
    diagnostics = Diagnostics()
    file = decode_source_file(b"\xef\xbb\xbflet a = 1\n", "t.fab", diagnostics)
    assert file is not None and file.text == "let a = 1\n" and not list(diagnostics)


def test_an_expression_alone() -> None:
    diagnostics = Diagnostics()
    assert show(parse_expression("2*n + 1", "--set", diagnostics)) == "((2 * n) + 1)"
    assert show(parse_expression("0..3", "--set", diagnostics)) == "Range(low=0 high=3)"
    assert not list(diagnostics)
    assert parse_expression("2 *", "--set", diagnostics) is None
    assert parse_expression("", "--set", diagnostics) is None
    assert [d.code for d in diagnostics] == ["E0001", "E0001"]
