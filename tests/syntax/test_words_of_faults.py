"""How a fault is described: what was found, the nearest word, characters that mean nothing, and texts of other languages."""

from __future__ import annotations

import pytest

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.syntax.characters import latin_names, report_misleading_characters
from tdsl.syntax.scanner import END, Token
from tdsl.syntax.scene import Scene, closest_keyword, found_words
from tests.syntax.shown import read


class Run:
    """A parse that stops at the token after those of its text."""

    def __init__(self, text: str) -> None:
        self.file, self.head = SourceFile("t.fab", text), 0
        self.tokens: list[Token] = []

    def expected(self) -> set[str]:
        return set()

    def word(self, terminal: str) -> str:
        return terminal


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("NAME", "a" * 40, f"found `{'a' * 40}`"),
        ("NAME", "a" * 41, f"found `{'a' * 37}…`"),
        ("STRING", '"abc"', 'found the string "abc"'),
        ("STRING", '"' + "a" * 40 + '"', 'found the string "' + "a" * 36 + "…"),
        (END, ";", "found `;`"),
        (END, "\n", "found the end of the line"),
        ("$END", "", "found the end"),
        ("RBRACE", "", "found the end of the file"),
        ("RBRACE", "}", "found `}`"),
    ],
)
def test_what_is_found(kind: str, text: str, words: str) -> None:
    run = Run("let a")
    token = Token(kind, text, run.file, 5)
    assert found_words(Scene(run, 0, token, set())) == words
    assert found_words(Scene(run, 0, None, set())) == "found the end of the file"


@pytest.mark.parametrize(
    ("word", "known", "guess"),
    [
        ("abc", ["abcxy"], None),  # three of eight letters twice: 0.75, too little for a word of three letters
        ("abcd", ["abcx"], "abcx"),  # 0.75
        ("abcd", ["abxy"], None),
        ("abc", ["abcx"], "abcx"),  # 6 / 7
        ("SPREAD", ["Spread", "ring"], "Spread"),
        ("spred", ["spread", "spreads"], "spread"),
        ("host", [], None),
    ],
)
def test_nearest_word(word: str, known: list[str], guess: str | None) -> None:
    assert closest_keyword(word, known) == guess


def test_place_of_a_fault() -> None:
    """The token's; at an end, the character after what was written, or nothing at the end of the file."""
    run = Run("let a = 4")
    first = Token("NAME", "let", run.file, 0)
    run.tokens = [first, Token("NAME", "a", run.file, 4)]
    end = Token(END, "\n", run.file, 5)

    def place(i: int, token: Token | None) -> tuple[int, int]:
        span = Scene(run, i, token, set()).span
        return span.start, span.end

    assert place(0, first) == (0, 3) and place(1, run.tokens[1]) == (4, 5)
    assert place(2, end) == (5, 6) and place(2, None) == (5, 6) and place(0, end) == (0, 1)
    run.tokens.append(Token("NUMBER", "4", run.file, 8))
    assert place(3, None) == (9, 9)
    scene = Scene(run, 0, first, set())
    assert scene.before is None and scene.first == "" and scene.statement == []
    scene = Scene(run, 1, None, set())
    assert scene.before is first and scene.first == "let" and scene.statement == [first]


def test_rest_of_a_statement() -> None:
    """Up to its end, blocks included, or to the brace that ends what is around it."""
    run = Run("")
    run.tokens = [
        Token(k, k[0], run.file, i) for i, k in enumerate(["NAME", "LBRACE", "NAME", "RBRACE", "NAME", "RBRACE", "NAME"])
    ]
    assert [t.start for t in Scene(run, 1, None, set()).rest] == [1, 2, 3, 4]
    assert [t.start for t in Scene(run, 2, None, set()).rest] == [2]
    run.tokens[2] = Token(END, "\n", run.file, 2)
    assert [t.start for t in Scene(run, 0, None, set()).rest] == [0, 1]


CHARACTERS = [
    ("let a = ''", "''", "`''` means nothing here", "a string is written in double quotes", 'let a = ""'),
    ("let a = '", "'", "`'` means nothing here", "", ""),
    ("let a = 5μs", "μ", "`μ` means nothing here", "`μ` is written `u` in units: `5us`", "let a = 5us"),
    ("let a = µs", "µ", "`µ` means nothing here", "", ""),
    ("let a = b ≤≥ c", "≤≥", "`≤` means nothing here", "write `<=`", "let a = b <=≥ c"),
    ("let аb = 4", "а", "`а` means nothing here", "it is the Cyrillic small letter a; write the Latin `a`", "let ab = 4"),
    ("let n\u00a0= 4", "\u00a0", "the character U+00A0 (no-break space) means nothing here", "write a blank", "let n = 4"),
    (
        "let n = \u200b\u200b4",
        "\u200b\u200b",
        "the character U+200B (zero width space) means nothing here",
        "remove it: it is not seen",
        "let n = \u200b4",
    ),
    (
        "let n = 4\x01",
        "\x01",
        "the character U+0001 (a control character) means nothing here",
        "remove it: it is not seen",
        "let n = 4",
    ),
    ("let n = " + "日" * 30, "日" * 30, f"`{'日' * 30}` means nothing here", "", ""),
    ("let n = " + "日" * 31, "日" * 31, f"`{'日' * 27}…` means nothing here", "", ""),
    ("let n = a &| b", "&", "`&` means nothing here", "write `and`", "let n = a and| b"),
    ("let n = a && b", "&&", "`&&` means nothing here", "write `and`", "let n = a and b"),
    ("let n = 1…8", "…", "`…` means nothing here", "write `..`", "let n = 1..8"),
]
GENERAL = "names are letters, digits and `_`; other text belongs in a string or after `#`"


@pytest.mark.parametrize(("text", "under", "message", "help", "fixed"), CHARACTERS, ids=[c[0] for c in CHARACTERS])
def test_characters(text: str, under: str, message: str, help: str, fixed: str) -> None:
    """Underlined text, message, help, and the text as the fix makes it."""
    first = next(iter(read(text)[1]))
    assert first.span is not None
    mended = ""
    if first.fix is not None:
        ((span, new),) = first.fix.edits
        mended = text[: span.start] + new + text[span.end :]
    assert (first.code, first.span.text, first.message, first.help, mended) == ("E0006", under, message, help or GENERAL, fixed)


MIXED = "mixes Latin letters with"
HIDDEN_TEXT = "this is the character U+200B (zero width space), which is not seen or turns the order of the text"
STRINGS = [
    (
        'name "аbc"',
        [("аbc", f"`аbc` {MIXED} Cyrillic small letter a, which looks like one", "write it in one script: `abc`", "abc")],
    ),
    ('name "аbд"', [("аbд", f"`аbд` {MIXED} Cyrillic small letter a, which looks like one", "write it in one script", "")]),
    (
        'name "abc дbа xе"',
        [
            ("дbа", f"`дbа` {MIXED} Cyrillic small letter de, which looks like one", "write it in one script", ""),
            ("xе", f"`xе` {MIXED} Cyrillic small letter ie, which looks like one", "write it in one script: `xe`", "xe"),
        ],
    ),
    ('name "абв"', []),  # one script, and it shows
    (
        'name "ab сое"',
        [("с", "`с` is Cyrillic small letter es, which looks like a Latin letter", "write the text in one script", "")],
    ),
    ('name "сод"', []),
    ('name "éa"', []),
    ('name "éо"', [("éо", f"`éо` {MIXED} Cyrillic small letter o, which looks like one", "write it in one script", "")]),
    ('name "γ"', []),
    (
        'name "Α"',
        [("Α", "`Α` is Greek capital letter alpha, which looks like a Latin letter", "write the text in one script", "")],
    ),
    (
        'name "é с"',
        [("с", "`с` is Cyrillic small letter es, which looks like a Latin letter", "write the text in one script", "")],
    ),
    ("# аbc\nlet b = 1", []),
    ('# а\nname "abc"', []),
    ('name "a"  # \u200b', [("\u200b", HIDDEN_TEXT, "leave it out", "")]),
    (
        'name "аb" # \u200b',
        [
            ("\u200b", HIDDEN_TEXT, "leave it out", ""),
            ("аb", f"`аb` {MIXED} Cyrillic small letter a, which looks like one", "write it in one script: `ab`", "ab"),
        ],
    ),
]


@pytest.mark.parametrize(("text", "wanted"), STRINGS, ids=[c[0] for c in STRINGS])
def test_text_that_reads_otherwise(text: str, wanted: list[tuple[str, str, str, str]]) -> None:
    """Underlined text, message, help and new text of every warning."""
    found = Diagnostics()
    report_misleading_characters(SourceFile("t.fab", text), found)
    said = []
    for d in found:
        assert d.code == "E0497" and d.severity is Severity.WARNING and d.span is not None
        edits = d.fix.edits if d.fix else ()
        assert all(span == d.span for span, _ in edits)
        said.append((d.span.text, d.message, d.help, "".join(new for _, new in edits)))
        if d.fix is not None:
            assert d.fix.safe is (d.help == "leave it out")
            assert d.fix.title == (f"write `{said[-1][3]}`" if said[-1][3] else "leave it out")
    assert said == wanted


def test_names_of_another_script() -> None:
    """Those that are Latin once their letters are."""
    assert latin_names("аb + cd + дb + Х1 + ё") == ["ab", "X1"]


SLIPS = [
    ("let a = 1 + )", "E0005", ")", "this `)` closes nothing", "remove it, or open it before"),
    ("let a = [1]]", "E0005", "]", "this `]` closes nothing", "remove it, or open it before"),
    ("let a = (1)) + (2", "E0005", ")", "this `)` closes nothing", "remove it, or open it before"),
    ("let a = (1 + )", "E0001", ")", "expected a value, found `)`", "put a value here"),
    ("let a = (// x", "E0001", "//", "expected a value, found `//`", "put a value here"),
    (
        f'rate: "{"x" * 38}"',
        "E0001",
        ":",
        "expected a value, found `:` after `rate`",
        f'a setting has no `:`; write `rate "{"x" * 38}"`',
    ),
    (f'rate: "{"x" * 39}"', "E0001", ":", "expected a value, found `:` after `rate`", "a setting has no `:`; write `rate …`"),
    ("rate:", "E0001", ":", "expected a value, found `:` after `rate`", "a setting has no `:`; write `rate …`"),
    (
        "let n: a + " + "b" * 36,
        "E0001",
        ":",
        "`:` gives the type of `n`; its value follows `=`",
        f"write `let n = a + {'b' * 36}`",
    ),
    ("let n: a + " + "b" * 37, "E0001", ":", "`:` gives the type of `n`; its value follows `=`", "write `let n = …`"),
    ("host a(8: M", "E0001", "(", "how many `a` there are is written in brackets, not in `( )`", "write `host a[N]`"),
    ("host a{8}: M", "E0001", "{", "how many `a` there are is written in brackets, not in `{ }`", "write `host a[8]`"),
    ("host a[8, 2: M", "E0001", "[", "this `[` is not closed before the `:`", "write `host a[8, 2]`"),
    ("host a[b[1: M", "E0001", ":", "expected `]`, `,`, `..` or an operator, found `:`", ""),
    ("fabric : pod { }", "E0001", ":", "expected a name after `fabric`, found `:`", "write `fabric pod { … }`"),
    ("host: 4", "E0001", ":", "expected a name after `host`, found `:`", "write `host NAME: MODEL`"),
    ("rack: r", "E0001", ":", "expected a name after `rack`, found `:`", "write `rack r: MODEL`"),
    (
        "let r = 3 feet",
        "E0001",
        "feet",
        "`feet` is not a unit of the language; write a number and its unit without a space",
        "write `3m`",
    ),
    (
        "for r in range(n): ",
        "E0001",
        ":",
        "the body of a loop is written in braces, found `:`",
        "write `for r in 0..n - 1 { … }`",
    ),
    ("for r in 0..7:", "E0001", ":", "the body of a loop is written in braces, found `:`", "write `for i in 0..7 { … }`"),
    ("-- ", "E0001", "--", "`--` does not begin a comment", "write `# `; each line of a comment begins with `#`"),
    ("<!-- a", "E0001", "<!--", "`<!--` does not begin a comment", "write `# a`; each line of a comment begins with `#`"),
    ("require: a", "E0001", ":", "no `:` follows `require`", "write `require a`"),
    ("require:", "E0001", ":", "no `:` follows `require`", "write `require …`"),
    (
        "minimize: cost",
        "E0001",
        ":",
        "expected a value, found `:` after `minimize`",
        "a setting has no `:`; write `minimize cost`",
    ),
    (
        'group "4 x" { }',
        "E0001",
        '"4 x"',
        'expected a name, found the string "4 x": the title follows the name',
        'write `group n4_x "4 x"`',
    ),
    (
        'fabric "é" { }',
        "E0001",
        '"é"',
        'expected a name, found the string "é": the title follows the name',
        'write `fabric pod "é"`',
    ),
    ("host a-b-c: M", "E0001", "a-b-c", "a name has letters, digits and `_`, and no `-`: `a-b-c`", "write `a_b_c`"),
    (
        "host a -b: M",
        "E0001",
        "-",
        "expected `:`, `{`, a string or the end of the line, found `-`",
        "remove it, or end the statement before it with a new line or `;`",
    ),
    ("let a = 4 let b = 5", "E0001", "let", "expected a new line or `;` before `let`", "write `; let`, or begin a new line"),
    (
        "fabric f { param n }",
        "E0001",
        "n",
        "the parameter `n` has no default, found `}`",
        "write `param n = 4`; `--set n=8` then gives another value",
    ),
    (
        "fabric f { param n: int; let b = 1 }",
        "E0001",
        "int",
        "the parameter `n` has no default, found `;`",
        "write `param n: int = 4`; `--set n=8` then gives another value",
    ),
    ("let a = 1..", "E0001", "..", "expected a value after `..`, found the end of the file", "write a value after `..`"),
    (
        "require a and\n",
        "E0001",
        "and",
        "expected a value after `and`, found the end of the line",
        "write a value after `and`, or remove it; a line that begins with `and` continues the one before",
    ),
    (
        "let n = 4 +\n",
        "E0001",
        "+",
        "expected a value after `+`, found the end of the line",
        "write a value after `+`, or remove it",
    ),
    ("switch a b, c", "E0001", "b", "a `:` is missing before the model `b`", "write `: b`"),
    ("port a 4Gbps", "E0001", "4Gbps", "a `:` is missing before the rate `4Gbps`", "write `: 4Gbps`"),
    ("let n m: 4", "E0001", "m", "a `:` is missing before the type `m`", "write `: m`"),
    (
        "swi a: S",
        "E0001",
        ":",
        "expected a value, `at`, `from`, `of`, `to` or the end of the line, found `:`",
        "remove it, or end the statement before it with a new line or `;`",
    ),
]


@pytest.mark.parametrize(("text", "code", "under", "message", "help"), SLIPS, ids=[c[0] for c in SLIPS])
def test_slips(text: str, code: str, under: str, message: str, help: str) -> None:
    first = next(iter(read(text)[1]))
    assert first.span is not None
    assert (first.code, first.span.text, first.message, first.help) == (code, under, message, help)
