"""Slips in a statement: each finding word by word, the text that it underlines, its help, and what its fix makes of the text."""

from __future__ import annotations

import pytest

from tests.syntax.shown import read

CASES: list[tuple[str, list[tuple[str, str, str, str, str, str]]]] = [
    ("let a := 4", [("E0001", ":=", "`:=` is not an operator of the language", "write `=`", "write `=`", "let a = 4")]),
    ("let a : = 4", [("E0001", "=", "expected a name, found `=`", "put a name here", "", "")]),
    ("param n:= 4", [("E0001", ":=", "`:=` is not an operator of the language", "write `=`", "write `=`", "param n= 4")]),
    (
        "rate = 4",
        [
            (
                "E0001",
                "=",
                "`=` cannot follow `rate`: a setting is a name and its value, side by side",
                "write `rate …`, or `let rate = …` to name a value",
                "",
                "",
            )
        ],
    ),
    (
        "fabric f { slack = 2m }",
        [
            (
                "E0001",
                "=",
                "`=` cannot follow `slack`: a setting is a name and its value, side by side",
                "write `slack …`, or `let slack = …` to name a value",
                "",
                "",
            )
        ],
    ),
    (
        "require a = 3",
        [("E0001", "=", "`=` gives a name to a value; it does not compare", "write `==`", "compare with `==`", "require a == 3")],
    ),
    ("require a == 3", []),
    ("let n == 4", [("E0001", "==", "`==` compares; a value is given with `=`", "write `=`", "write `=`", "let n = 4")]),
    ("let n = 1.", [("E0001", ".", "a point needs a digit on both sides", "write `0.5`, `1.0`, or `0..7` for a range", "", "")]),
    ("let n = .5", [("E0001", ".", "a point needs a digit on both sides", "write `0.5`, `1.0`, or `0..7` for a range", "", "")]),
    (
        "let n = 1. 5",
        [("E0001", ".", "a point needs a digit on both sides", "write `0.5`, `1.0`, or `0..7` for a range", "", "")],
    ),
    ("let n = a.5", [("E0001", "5", "expected a name, found `5`", "put a name here", "", "")]),
    ("let n = a .b", []),
    (
        "let n = 1 .5",
        [("E0001", ".", "a point needs a digit on both sides", "write `0.5`, `1.0`, or `0..7` for a range", "", "")],
    ),
    (
        "let n = (.5)",
        [("E0001", ".", "a point needs a digit on both sides", "write `0.5`, `1.0`, or `0..7` for a range", "", "")],
    ),
    (
        "def f(n: int): int { return n }",
        [
            (
                "E0001",
                "{",
                "the body of a `def` is one expression after `=`, found `{` here",
                "write it as `def f(n: int): int = n + 1`",
                "",
                "",
            )
        ],
    ),
    (
        "def f(n):\n  return n",
        [
            (
                "E0017",
                "def f(n):\n  return n",
                "this is Python, and not a design",
                "a design begins with `fabric NAME {`; `tdsl init` writes one to start from",
                "",
                "",
            )
        ],
    ),
    (
        "def f(n: int): int\n",
        [
            (
                "E0001",
                "\n",
                "the body of a `def` is one expression after `=`, found the end of the line here",
                "write it as `def f(n: int): int = n + 1`",
                "",
                "",
            )
        ],
    ),
    (
        "def f(n: int) {",
        [
            ("E0004", "{", "this `{` is never closed: the file ends first", "put a `}` after the last line of its block", "", ""),
            (
                "E0001",
                "{",
                "the body of a `def` is one expression after `=`, found `{` here",
                "write it as `def f(n: int): int = n + 1`",
                "",
                "",
            ),
        ],
    ),
    (
        "def return",
        [
            (
                "E0001",
                "",
                "the body of a `def` is one expression after `=`, found the end of the file here",
                "write it as `def f(n: int): int = n + 1`",
                "",
                "",
            )
        ],
    ),
    (
        "let n = 4 m",
        [
            (
                "E0001",
                "m",
                "no space is allowed between a number and its unit `m`",
                "write `4m`",
                "join number and unit",
                "let n = 4m",
            )
        ],
    ),
    (
        "let n = 4 Gbps",
        [
            (
                "E0001",
                "Gbps",
                "no space is allowed between a number and its unit `Gbps`",
                "write `4Gbps`",
                "join number and unit",
                "let n = 4Gbps",
            )
        ],
    ),
    (
        "let n = 4 foo",
        [
            (
                "E0001",
                "foo",
                "expected `where`, `..`, an operator or the end of the line, found `foo`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "let n = a Gbps",
        [
            (
                "E0001",
                "Gbps",
                "expected `where`, `..`, an operator or the end of the line, found `Gbps`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    ("switch a S", [("E0001", "S", "a `:` is missing before the model `S`", "write `: S`", "put a `:`", "switch a: S")]),
    (
        "host a[4] NODE",
        [("E0001", "NODE", "a `:` is missing before the model `NODE`", "write `: NODE`", "put a `:`", "host a[4]: NODE")],
    ),
    (
        "port p 400Gbps",
        [("E0001", "400Gbps", "a `:` is missing before the rate `400Gbps`", "write `: 400Gbps`", "put a `:`", "port p: 400Gbps")],
    ),
    (
        "param n int = 4",
        [("E0001", "int", "a `:` is missing before the type `int`", "write `: int`", "put a `:`", "param n: int = 4")],
    ),
    ("param n int", [("E0001", "int", "a `:` is missing before the type `int`", "write `: int`", "put a `:`", "param n: int")]),
    (
        "let n int = 4",
        [("E0001", "int", "a `:` is missing before the type `int`", "write `: int`", "put a `:`", "let n: int = 4")],
    ),
    (
        "model switch S { port p[4] 400Gbps }",
        [
            (
                "E0001",
                "400Gbps",
                "a `:` is missing before the rate `400Gbps`",
                "write `: 400Gbps`",
                "put a `:`",
                "model switch S { port p[4]: 400Gbps }",
            )
        ],
    ),
    (
        "connect a[*] too b[*]",
        [
            (
                "E0001",
                "too",
                "expected `to`, a pattern or the end of the line, found `too`",
                "did you mean `to`?",
                "write `to`",
                "connect a[*] to b[*]",
            )
        ],
    ),
    ("connect a[*] to b[*] eech", []),
    ("connect a[*] to b spred", []),
    (
        "connect a[*] to b viaa c",
        [
            (
                "E0001",
                "viaa",
                "expected a pattern or the end of the line, found `viaa`",
                "did you mean `via`?",
                "write `via`",
                "connect a[*] to b via c",
            )
        ],
    ),
    ("connect a to b x", []),
    ("connect a x", []),
    ("connect a b", []),
    (
        "connect a.b c.d",
        [("E0001", "c", "unexpected path `c` after a path", "write `to` before `c`", "put `to`", "connect a.b to c.d")],
    ),
    (
        "connect a[*] foo to b",
        [("E0001", "foo", "unexpected path `foo` after a path", "write `,` before `foo`", "put `,`", "connect a[*], foo to b")],
    ),
    (
        "connect a wher n > 0",
        [
            (
                "E0001",
                "wher",
                "expected `to`, a pattern or the end of the line, found `wher`",
                "did you mean `where`?",
                "write `where`",
                "connect a where n > 0",
            )
        ],
    ),
    ("connect a to b zzzz", []),
    ("connect a zzzz", []),
    (
        "swich a: S",
        [
            (
                "E0002",
                "swich",
                "`swich` is not a statement; did you mean `switch`?",
                "write `switch`",
                "write `switch`",
                "switch a: S",
            )
        ],
    ),
    ("fabrik f {}", []),
    ("se a", []),
    ("ab c", []),
    ("conect a to b", []),
    ("height 1U", []),
    ("zzzzz b", []),
    ("let", [("E0001", "", "expected a name, found the end of the file", "put a name here", "", "")]),
    (
        "model switch S { } let n = 4",
        [
            (
                "E0001",
                "let",
                "expected a new line or `;` between `}` and `let`",
                "begin a new line or put `;` between them",
                "put `;`",
                "model switch S { }; let n = 4",
            )
        ],
    ),
    (
        "fabric f { } fabric g { }",
        [
            (
                "E0001",
                "fabric",
                "expected a new line or `;` between `}` and `fabric`",
                "begin a new line or put `;` between them",
                "put `;`",
                "fabric f { }; fabric g { }",
            )
        ],
    ),
    (
        "fabric f { } x",
        [
            (
                "E0001",
                "x",
                "expected the end of the line, found `x`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    ("naming a[i]", [("E0001", "", "expected a string, `.` or `[`, found the end of the file", "", "", "")]),
    (
        "naming a[i] {i}",
        [
            (
                "E0001",
                "{i}",
                "expected a string, found `{i}`",
                'put it in double quotes: `"{i}"`',
                "put it in double quotes",
                'naming a[i] "{i}"',
            )
        ],
    ),
    ("naming a[i] where i > 0", [("E0001", "where", "expected a string, `.` or `[`, found `where`", "", "", "")]),
    ("naming {i}", [("E0001", "{", "expected a name, found `{`", "put a name here", "", "")]),
    (
        "naming a[i] 5",
        [
            (
                "E0001",
                "5",
                "expected a string, found `5`",
                'put it in double quotes: `"5"`',
                "put it in double quotes",
                'naming a[i] "5"',
            )
        ],
    ),
    (
        "naming a[i] 4m",
        [
            (
                "E0001",
                "4m",
                "expected a string, found `4m`",
                'put it in double quotes: `"4m"`',
                "put it in double quotes",
                'naming a[i] "4m"',
            )
        ],
    ),
    (
        "naming a[i] x{i} where x",
        [
            (
                "E0001",
                "x{i}",
                "expected a string, found `x{i}`",
                'put it in double quotes: `"x{i}"`',
                "put it in double quotes",
                'naming a[i] "x{i}" where x',
            )
        ],
    ),
    (
        'naming a[i] "x" y',
        [
            (
                "E0001",
                "y",
                "expected `where` or the end of the line, found `y`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    ('naming a[i] x"y"', [("E0001", "x", "expected a string, `.` or `[`, found `x`", "", "", "")]),
    ("let n:", [("E0001", "", "expected a name, found the end of the file", "put a name here", "", "")]),
    ("let n: int", [("E0001", "", "expected `=`, found the end of the file", "put `=` here", "", "")]),
    ("let n: 4 = 5", [("E0001", "4", "expected a name, found `4`", "put a name here", "", "")]),
    (
        "let n : 4",
        [("E0001", ":", "`:` gives the type of `n`; its value follows `=`", "write `let n = 4`", "write `=`", "let n = 4")],
    ),
    (
        'let n : "a very long text of more than forty characters here"',
        [
            (
                "E0001",
                ":",
                "`:` gives the type of `n`; its value follows `=`",
                "write `let n = …`",
                "write `=`",
                'let n = "a very long text of more than forty characters here"',
            )
        ],
    ),
    (
        "let n : 'a'",
        [("E0006", "'a'", "`'a'` means nothing here", "a string is written in double quotes", 'write `"a"`', 'let n : "a"')],
    ),
    ("param n: int = 4", []),
    ("let n: int 5", [("E0001", "5", "expected `=`, found `5`", "put `=` here", "", "")]),
    ("let a b: 4", [("E0001", "b", "a `:` is missing before the type `b`", "write `: b`", "put a `:`", "let a: b: 4")]),
    (
        "let n: 12345678901234567890 + 12345678901234567",
        [
            (
                "E0001",
                ":",
                "`:` gives the type of `n`; its value follows `=`",
                "write `let n = 12345678901234567890 + 12345678901234567`",
                "write `=`",
                "let n = 12345678901234567890 + 12345678901234567",
            )
        ],
    ),
    (
        "let n: 12345678901234567890 + 123456789012345678",
        [
            (
                "E0001",
                ":",
                "`:` gives the type of `n`; its value follows `=`",
                "write `let n = …`",
                "write `=`",
                "let n = 12345678901234567890 + 123456789012345678",
            )
        ],
    ),
    (
        "switch a, b: S",
        [
            (
                "E0001",
                ":",
                "a `switch` statement declares one name, found `:`",
                "write a statement for each, on lines of their own: `switch a …`",
                "",
                "",
            )
        ],
    ),
    (
        "switch a, b, c: S",
        [
            (
                "E0001",
                ":",
                "a `switch` statement declares one name, found `:`",
                "write a statement for each, on lines of their own: `switch a …`",
                "",
                "",
            )
        ],
    ),
    (
        "override a, b: S",
        [
            (
                "E0001",
                ",",
                "expected `:`, `{`, `.`, `[` or the end of the line, found `,`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "switch a[4] = S",
        [
            (
                "E0001",
                "=",
                "expected `:`, found `=`: `=` gives a name to a value in `let` and `param`",
                "write `:` before the model",
                "write `:`",
                "switch a[4] : S",
            )
        ],
    ),
    (
        "port p[4] = 4Gbps",
        [
            (
                "E0001",
                "=",
                "expected `:`, found `=`: `=` gives a name to a value in `let` and `param`",
                "write `:` before the rate",
                "write `:`",
                "port p[4] : 4Gbps",
            )
        ],
    ),
    ("switch a,", [("E0001", "", "expected a value, found the end of the file", "put a value here", "", "")]),
    (
        "switch a = S",
        [
            (
                "E0001",
                "=",
                "expected `:`, found `=`: `=` gives a name to a value in `let` and `param`",
                "write `:` before the model",
                "write `:`",
                "switch a : S",
            )
        ],
    ),
    (
        "switch = S",
        [
            (
                "E0001",
                "=",
                "`=` cannot follow `switch`: a setting is a name and its value, side by side",
                "write `switch …`, or `let switch = …` to name a value",
                "",
                "",
            )
        ],
    ),
    (
        "chip g, h: G",
        [
            (
                "E0001",
                ":",
                "a `chip` statement declares one name, found `:`",
                "write a statement for each, on lines of their own: `chip g …`",
                "",
                "",
            )
        ],
    ),
    (
        "switch a[1, 2]: S, T",
        [
            (
                "E0001",
                ",",
                "a `switch` statement declares one name, found `,`",
                "write a statement for each, on lines of their own: `switch a …`",
                "",
                "",
            )
        ],
    ),
    (
        "let n = 4 +",
        [
            (
                "E0001",
                "+",
                "expected a value after `+`, found the end of the file",
                "write a value after `+`, or remove it",
                "",
                "",
            )
        ],
    ),
    (
        "let n = 4 and",
        [
            (
                "E0001",
                "and",
                "expected a value after `and`, found the end of the file",
                "write a value after `and`, or remove it",
                "",
                "",
            )
        ],
    ),
    (
        "let n = 4 and\nlet m = 5",
        [
            (
                "E0001",
                "and",
                "expected a value after `and`, found the end of the line",
                "write a value after `and`, or remove it; a line that begins with `and` continues the one before",
                "",
                "",
            )
        ],
    ),
    (
        "let n = 1 ..",
        [("E0001", "..", "expected a value after `..`, found the end of the file", "write a value after `..`", "", "")],
    ),
    (
        "let n = 4 *\n",
        [
            (
                "E0001",
                "*",
                "expected a value after `*`, found the end of the line",
                "write a value after `*`, or remove it",
                "",
                "",
            )
        ],
    ),
    ("if n > { }", [("E0001", ">", "expected a value after `>`, found `{`", "write a value after `>`, or remove it", "", "")]),
    (
        "require a >=",
        [
            (
                "E0001",
                ">=",
                "expected a value after `>=`, found the end of the file",
                "write a value after `>=`, or remove it",
                "",
                "",
            )
        ],
    ),
    (
        "require a >= { }",
        [("E0001", ">=", "expected a value after `>=`, found `{`", "write a value after `>=`, or remove it", "", "")],
    ),
    (
        "let n = not",
        [
            (
                "E0001",
                "not",
                "expected a value after `not`, found the end of the file",
                "write a value after `not`, or remove it",
                "",
                "",
            )
        ],
    ),
    (
        "let n = 4 + }",
        [
            (
                "E0005",
                "}",
                "this `}` closes nothing: every `{` before it is closed already",
                "remove it, or put the `{` it belongs to",
                "",
                "",
            ),
            (
                "E0001",
                "+",
                "expected a value after `+`, found the end of the file",
                "write a value after `+`, or remove it",
                "",
                "",
            ),
        ],
    ),
    (
        "let n = a ?",
        [
            (
                "E0001",
                "?",
                "expected `where`, `..`, an operator or the end of the line, found `?`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    ("connect a - b", [("E0001", "-", "`-` joins no ends", "write `to`", "write `to`", "connect a to b")]),
    ("connect a = b", [("E0001", "=", "`=` joins no ends", "write `to`", "write `to`", "connect a to b")]),
    ("connect a == b", [("E0001", "==", "`==` joins no ends", "write `to`", "write `to`", "connect a to b")]),
    ("connect a => b", [("E0001", "=>", "`=>` joins no ends", "write `to`", "write `to`", "connect a to b")]),
    ("circuit a <- b", [("E0001", "<-", "`<-` joins no ends", "write `to`", "write `to`", "circuit a to b")]),
    ("connect a -", [("E0001", "-", "`-` joins no ends", "write `to`", "write `to`", "connect a to")]),
    (
        "require oversubscription <= 2 : 1",
        [
            (
                "E0001",
                ":",
                "space around the `:` between `2` and `1`",
                "a ratio is written without spaces: `2:1`",
                "write a ratio",
                "require oversubscription <= 2:1",
            )
        ],
    ),
    ("# x", []),
    (
        "connect a[*] to b[*] : 4",
        [
            (
                "E0001",
                ":",
                "expected a pattern, `via`, `where`, `x`, `{` or the end of the line, found `:`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "if n > 0 { } switch a: S",
        [
            (
                "E0001",
                "switch",
                "expected a new line or `;` between `}` and `switch`",
                "begin a new line or put `;` between them",
                "put `;`",
                "if n > 0 { }; switch a: S",
            )
        ],
    ),
    ("let n = )", [("E0005", ")", "this `)` closes nothing", "remove it, or open it before", "", "")]),
    ("let n = (1]", [("E0003", "]", "`(` is closed by `]`", "write `)`", "", "")]),
    ("let n = f(1))", [("E0005", ")", "this `)` closes nothing", "remove it, or open it before", "", "")]),
    ("connect a[1]] to b", [("E0005", "]", "this `]` closes nothing", "remove it, or open it before", "", "")]),
    ("connect a[(1] to b", [("E0003", "]", "`(` is closed by `]`", "write `)`", "", "")]),
    ("let n = (1) )", [("E0005", ")", "this `)` closes nothing", "remove it, or open it before", "", "")]),
    ("let n = 4 // c", []),
    (
        "// c",
        [
            (
                "E0001",
                "//",
                "`//` is division and does not begin a comment",
                "a comment begins with `#`",
                "make it a comment",
                "# c",
            )
        ],
    ),
    ("let // c", [("E0001", "//", "expected a name, found `//`", "put a name here", "", "")]),
    ("height 1U // tall", []),
    (
        "connect a to b // c",
        [
            (
                "E0001",
                "//",
                "`//` is division and does not begin a comment",
                "a comment begins with `#`",
                "make it a comment",
                "connect a to b # c",
            )
        ],
    ),
    (
        "rate: 100Gbps",
        [
            (
                "E0001",
                ":",
                "expected a value, found `:` after `rate`",
                "a setting has no `:`; write `rate 100Gbps`",
                "remove the `:`",
                "rate 100Gbps",
            )
        ],
    ),
    (
        "rate:100Gbps",
        [
            (
                "E0001",
                ":",
                "expected a value, found `:` after `rate`",
                "a setting has no `:`; write `rate 100Gbps`",
                "remove the `:`",
                "rate 100Gbps",
            )
        ],
    ),
    (
        "fabric f { rate :100Gbps }",
        [
            (
                "E0001",
                ":",
                "expected a value, found `:` after `rate`",
                "a setting has no `:`; write `rate 100Gbps`",
                "remove the `:`",
                "fabric f { rate 100Gbps }",
            )
        ],
    ),
    (
        "else: 4",
        [
            (
                "E0001",
                ":",
                "expected a value, `{` or the end of the line, found `:`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    ("switch: 4", [("E0001", ":", "expected a name after `switch`, found `:`", "write `switch NAME: MODEL`", "", "")]),
    (
        "rate: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        [
            (
                "E0001",
                ":",
                "expected a value, found `:` after `rate`",
                "a setting has no `:`; write `rate aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`",
                "remove the `:`",
                "rate aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            )
        ],
    ),
    (
        "rate: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        [
            (
                "E0001",
                ":",
                "expected a value, found `:` after `rate`",
                "a setting has no `:`; write `rate …`",
                "remove the `:`",
                "rate aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            )
        ],
    ),
    (
        "rate:",
        [
            (
                "E0001",
                ":",
                "expected a value, found `:` after `rate`",
                "a setting has no `:`; write `rate …`",
                "remove the `:`",
                "rate",
            )
        ],
    ),
    (
        "rate: ;",
        [
            (
                "E0001",
                ":",
                "expected a value, found `:` after `rate`",
                "a setting has no `:`; write `rate …`",
                "remove the `:`",
                "rate ;",
            )
        ],
    ),
    (
        "connect p[1 : 4] to b",
        [
            (
                "E0013",
                "1 : 4",
                "`1 : 4` is not an index or extent",
                "a range is written `1..4`",
                "write a range",
                "connect p[1..4] to b",
            )
        ],
    ),
    (
        "connect p [1 : 4] to b",
        [
            (
                "E0001",
                ":",
                "space around the `:` between `1` and `4`",
                "a ratio is written without spaces: `1:4`",
                "write a ratio",
                "connect p [1:4] to b",
            )
        ],
    ),
    (
        "connect p[2, 1 : 4] to b",
        [
            (
                "E0001",
                ":",
                "space around the `:` between `1` and `4`",
                "a ratio is written without spaces: `1:4`",
                "write a ratio",
                "connect p[2, 1:4] to b",
            )
        ],
    ),
    (
        "let n = 2: 1",
        [
            (
                "E0001",
                ":",
                "space around the `:` between `2` and `1`",
                "a ratio is written without spaces: `2:1`",
                "write a ratio",
                "let n = 2:1",
            )
        ],
    ),
    (
        "let n = [1 : 4]",
        [
            (
                "E0001",
                ":",
                "space around the `:` between `1` and `4`",
                "a ratio is written without spaces: `1:4`",
                "write a ratio",
                "let n = [1:4]",
            )
        ],
    ),
    (
        "let n = 2 : x",
        [
            (
                "E0001",
                ":",
                "expected `where`, `..`, an operator or the end of the line, found `:`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "param n: int = 2 :1",
        [
            (
                "E0001",
                ":",
                "space around the `:` between `2` and `1`",
                "a ratio is written without spaces: `2:1`",
                "write a ratio",
                "param n: int = 2:1",
            )
        ],
    ),
    (
        "let n = (1 : 2)",
        [
            (
                "E0001",
                ":",
                "space around the `:` between `1` and `2`",
                "a ratio is written without spaces: `1:2`",
                "write a ratio",
                "let n = (1:2)",
            )
        ],
    ),
    ("let a b = 4", [("E0001", "b", "a `:` is missing before the type `b`", "write `: b`", "put a `:`", "let a: b = 4")]),
    (
        "swith a: S",
        [
            (
                "E0002",
                "swith",
                "`swith` is not a statement; did you mean `switch`?",
                "write `switch`",
                "write `switch`",
                "switch a: S",
            )
        ],
    ),
    (
        "pram n = 4",
        [("E0002", "pram", "`pram` is not a statement; did you mean `param`?", "write `param`", "write `param`", "param n = 4")],
    ),
    (
        "lte n = 4",
        [("E0001", "=", "`=` gives a name to a value; it does not compare", "write `==`", "compare with `==`", "lte n == 4")],
    ),
    ("rqeuire a", []),
    ("if", [("E0001", "", "expected a value, found the end of the file", "put a value here", "", "")]),
    (
        "nodee a: S",
        [
            (
                "E0001",
                ":",
                "expected a value, `at`, `from`, `of`, `to` or the end of the line, found `:`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "int a: S",
        [
            (
                "E0001",
                ":",
                "expected a value, `at`, `from`, `of`, `to` or the end of the line, found `:`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "rail a: S",
        [
            (
                "E0001",
                ":",
                "expected a value, `at`, `from`, `of`, `to` or the end of the line, found `:`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    ("require a == = 3", [("E0001", "=", "expected a value, found `=`", "put a value here", "", "")]),
    ("let n = = 3", [("E0001", "=", "expected a value, found `=`", "put a value here", "", "")]),
    ("param n := = 3", [("E0001", ":=", "`:=` is not an operator of the language", "write `=`", "write `=`", "param n = = 3")]),
    ("let n:= 4", [("E0001", ":=", "`:=` is not an operator of the language", "write `=`", "write `=`", "let n= 4")]),
    (
        "n = = 4",
        [
            (
                "E0001",
                "=",
                "`=` cannot follow `n`: a setting is a name and its value, side by side",
                "write `n …`, or `let n = …` to name a value",
                "",
                "",
            )
        ],
    ),
    (
        "a b = 3",
        [("E0001", "=", "`=` gives a name to a value; it does not compare", "write `==`", "compare with `==`", "a b == 3")],
    ),
    (
        "if n = 3 { }",
        [("E0001", "=", "`=` gives a name to a value; it does not compare", "write `==`", "compare with `==`", "if n == 3 { }")],
    ),
    (
        "let n = a = 3",
        [("E0001", "=", "`=` gives a name to a value; it does not compare", "write `==`", "compare with `==`", "let n = a == 3")],
    ),
    ("where n == 3", []),
    ("param n == 3", [("E0001", "==", "`==` compares; a value is given with `=`", "write `=`", "write `=`", "param n = 3")]),
    (
        "let n = 3..",
        [("E0001", "..", "expected a value after `..`, found the end of the file", "write a value after `..`", "", "")],
    ),
    (
        "let n = 1..5.",
        [("E0001", ".", "a point needs a digit on both sides", "write `0.5`, `1.0`, or `0..7` for a range", "", "")],
    ),
    ("let n = a.1.", [("E0001", "1", "expected a name, found `1`", "put a name here", "", "")]),
    ("let n = 1.a", [("E0001", ".", "a point needs a digit on both sides", "write `0.5`, `1.0`, or `0..7` for a range", "", "")]),
    ("let n = x. y", []),
    ("let n = .x", [("E0001", ".", "expected a value, found `.`", "put a value here", "", "")]),
    (
        "let n = [1].5",
        [("E0001", ".", "a point needs a digit on both sides", "write `0.5`, `1.0`, or `0..7` for a range", "", "")],
    ),
    (
        "let n = 5 .",
        [
            (
                "E0001",
                ".",
                "expected `where`, `..`, an operator or the end of the line, found `.`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    ("connect a.5 to b", [("E0001", "5", "expected a name, found `5`", "put a name here", "", "")]),
    (
        "def f(n: int): int = return n",
        [
            (
                "E0001",
                "n",
                "the body of a `def` is one expression after `=`, found `n` here",
                "write it as `def f(n: int): int = n + 1`",
                "",
                "",
            )
        ],
    ),
    (
        "def f(n: int): int return n",
        [
            (
                "E0001",
                "return",
                "the body of a `def` is one expression after `=`, found `return` here",
                "write it as `def f(n: int): int = n + 1`",
                "",
                "",
            )
        ],
    ),
    ("def f(n) = n", [("E0001", ")", "expected `:`, found `)`", "put `:` here", "", "")]),
    (
        "let n = 4 Tbps",
        [
            (
                "E0001",
                "Tbps",
                "no space is allowed between a number and its unit `Tbps`",
                "write `4Tbps`",
                "join number and unit",
                "let n = 4Tbps",
            )
        ],
    ),
    (
        "let n = 4 W",
        [
            (
                "E0001",
                "W",
                "no space is allowed between a number and its unit `W`",
                "write `4W`",
                "join number and unit",
                "let n = 4W",
            )
        ],
    ),
    (
        "let n = 4 m + 1",
        [
            (
                "E0001",
                "m",
                "no space is allowed between a number and its unit `m`",
                "write `4m`",
                "join number and unit",
                "let n = 4m + 1",
            )
        ],
    ),
    (
        "let n = 4m m",
        [
            (
                "E0001",
                "m",
                "expected `where`, `..`, an operator or the end of the line, found `m`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "let n = x4 m",
        [
            (
                "E0001",
                "m",
                "expected `where`, `..`, an operator or the end of the line, found `m`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "switch a[2] S { }",
        [("E0001", "S", "a `:` is missing before the model `S`", "write `: S`", "put a `:`", "switch a[2]: S { }")],
    ),
    ("override a S", [("E0001", "S", "a `:` is missing before the model `S`", "write `: S`", "put a `:`", "override a: S")]),
    ("link l 4m", []),
    ("param a b", [("E0001", "b", "a `:` is missing before the type `b`", "write `: b`", "put a `:`", "param a: b")]),
    ("let a S", [("E0001", "S", "a `:` is missing before the type `S`", "write `: S`", "put a `:`", "let a: S")]),
    (
        "connect a x to b",
        [
            (
                "E0001",
                "b",
                "expected `via`, `where`, `{`, an operator or the end of the line, found `b`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "connect a[1] x[2] to b",
        [
            (
                "E0001",
                "to",
                "expected `via`, `where`, `{`, an operator or the end of the line, found `to`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "connect a to b c.d",
        [("E0001", "c", "unexpected path `c` after a path", "write `,` before `c`", "put `,`", "connect a to b, c.d")],
    ),
    (
        "connect a to b c, d",
        [("E0001", "c", "unexpected path `c` after a path", "write `,` before `c`", "put `,`", "connect a to b, c, d")],
    ),
    (
        "connect a.b c, d",
        [("E0001", "c", "unexpected path `c` after a path", "write `to` before `c`", "put `to`", "connect a.b to c, d")],
    ),
    (
        "connect a[1] eech b",
        [
            (
                "E0001",
                "eech",
                "expected `to`, a pattern or the end of the line, found `eech`",
                "did you mean `each`?",
                "write `each`",
                "connect a[1] each b",
            )
        ],
    ),
    (
        "connect a each b",
        [
            (
                "E0001",
                "b",
                "expected `{` or the end of the line, found `b`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "connect a viaa b",
        [
            (
                "E0001",
                "viaa",
                "expected `to`, a pattern or the end of the line, found `viaa`",
                "did you mean `via`?",
                "write `via`",
                "connect a via b",
            )
        ],
    ),
    (
        "connect a[*] spred to b",
        [
            (
                "E0001",
                "spred",
                "expected `to`, a pattern or the end of the line, found `spred`",
                "did you mean `spread`?",
                "write `spread`",
                "connect a[*] spread to b",
            )
        ],
    ),
    (
        "connect a b to c",
        [("E0001", "b", "unexpected path `b` after a path", "write `,` before `b`", "put `,`", "connect a, b to c")],
    ),
    (
        "circuit a too b",
        [
            (
                "E0001",
                "too",
                "expected `to`, a pattern or the end of the line, found `too`",
                "did you mean `to`?",
                "write `to`",
                "circuit a to b",
            )
        ],
    ),
    (
        "connect a to b whree n > 0",
        [
            (
                "E0001",
                "whree",
                "expected a pattern or the end of the line, found `whree`",
                "did you mean `where`?",
                "write `where`",
                "connect a to b where n > 0",
            )
        ],
    ),
    (
        "circuit a[1] to b[1] c[1]",
        [("E0001", "c", "unexpected path `c` after a path", "write `,` before `c`", "put `,`", "circuit a[1] to b[1], c[1]")],
    ),
    (
        "connect a, b c[1] to d",
        [("E0001", "c", "unexpected path `c` after a path", "write `,` before `c`", "put `,`", "connect a, b, c[1] to d")],
    ),
    (
        "} let n = 4",
        [
            (
                "E0005",
                "}",
                "this `}` closes nothing: every `{` before it is closed already",
                "remove it, or put the `{` it belongs to",
                "",
                "",
            )
        ],
    ),
    (
        "fabric f { switch a: S } height 1U",
        [
            (
                "E0001",
                "height",
                "expected the end of the line, found `height`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "let n = a and {",
        [
            ("E0004", "{", "this `{` is never closed: the file ends first", "put a `}` after the last line of its block", "", ""),
            ("E0001", "and", "expected a value after `and`, found `{`", "write a value after `and`, or remove it", "", ""),
        ],
    ),
    ("let n = or", []),
    (
        "n >",
        [
            (
                "E0001",
                ">",
                "expected a value, `{` or the end of the line, found `>`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "if a and",
        [
            (
                "E0001",
                "and",
                "expected a value after `and`, found the end of the file",
                "write a value after `and`, or remove it",
                "",
                "",
            )
        ],
    ),
    (
        "if a and\n{ }",
        [
            (
                "E0001",
                "and",
                "expected a value after `and`, found the end of the line",
                "write a value after `and`, or remove it; a line that begins with `and` continues the one before",
                "",
                "",
            ),
            (
                "E0001",
                "{",
                "a statement begins with a word, found `{`",
                "begin with a word such as `host`, `connect`, `let` or `require`, or join it to the line before",
                "",
                "",
            ),
        ],
    ),
    (
        "connect a to b where n >",
        [
            (
                "E0001",
                ">",
                "expected a value after `>`, found the end of the file",
                "write a value after `>`, or remove it",
                "",
                "",
            )
        ],
    ),
    (
        "let n = a in",
        [
            (
                "E0001",
                "in",
                "expected a value after `in`, found the end of the file",
                "write a value after `in`, or remove it",
                "",
                "",
            )
        ],
    ),
    (
        "let n = 4 //\n",
        [
            (
                "E0001",
                "//",
                "expected a value after `//`, found the end of the line",
                "write a value after `//`, or remove it",
                "",
                "",
            )
        ],
    ),
    (
        "let n = 4 ..\nlet m = 1",
        [("E0001", "..", "expected a value after `..`, found the end of the line", "write a value after `..`", "", "")],
    ),
    ("port p[1..]: 4Gbps", [("E0001", "]", "expected a value, found `]`", "put a value here", "", "")]),
    (
        "let n = -",
        [
            (
                "E0001",
                "-",
                "expected a value after `-`, found the end of the file",
                "write a value after `-`, or remove it",
                "",
                "",
            )
        ],
    ),
    ("let n = (4 +)", [("E0001", ")", "expected a value, found `)`", "put a value here", "", "")]),
    (
        "naming a[i] y z",
        [
            (
                "E0001",
                "y z",
                "expected a string, found `y z`",
                'put it in double quotes: `"y z"`',
                "put it in double quotes",
                'naming a[i] "y z"',
            )
        ],
    ),
    (
        "naming a x{i}",
        [
            (
                "E0001",
                "x{i}",
                "expected a string, found `x{i}`",
                'put it in double quotes: `"x{i}"`',
                "put it in double quotes",
                'naming a "x{i}"',
            )
        ],
    ),
    (
        "naming a[i] x\n",
        [
            (
                "E0001",
                "x",
                "expected a string, found `x`",
                'put it in double quotes: `"x"`',
                "put it in double quotes",
                'naming a[i] "x"\n',
            )
        ],
    ),
    (
        "naming a[i] {",
        [
            ("E0004", "{", "this `{` is never closed: the file ends first", "put a `}` after the last line of its block", "", ""),
            (
                "E0001",
                "{",
                "expected a string, found `{`",
                'put it in double quotes: `"{"`',
                "put it in double quotes",
                'naming a[i] "{"',
            ),
        ],
    ),
    (
        "naming a[i]{i}",
        [
            (
                "E0001",
                "{i}",
                "expected a string, found `{i}`",
                'put it in double quotes: `"{i}"`',
                "put it in double quotes",
                'naming a[i]"{i}"',
            )
        ],
    ),
    (
        "naming a.b[i] c.d",
        [
            (
                "E0001",
                "c.d",
                "expected a string, found `c.d`",
                'put it in double quotes: `"c.d"`',
                "put it in double quotes",
                'naming a.b[i] "c.d"',
            )
        ],
    ),
    (
        "connect a to b and c",
        [
            (
                "E0001",
                "c",
                "expected `{` or the end of the line, found `c`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    ("connect a and b", [("E0001", "and", "`and` joins no ends", "write `to`", "write `to`", "connect a to b")]),
    ("connect a with b", [("E0001", "with", "`with` joins no ends", "write `to`", "write `to`", "connect a to b")]),
    ("connect a into b", [("E0001", "into", "`into` joins no ends", "write `to`", "write `to`", "connect a to b")]),
    (
        "connect a to b with c",
        [
            (
                "E0001",
                "c",
                "expected `{` or the end of the line, found `c`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    ("connect a and", []),
    ("connect a to b into", []),
    (
        "switch a-b: S",
        [
            (
                "E0001",
                "a-b",
                "a name has letters, digits and `_`, and no `-`: `a-b`",
                "write `a_b`",
                "write `a_b`",
                "switch a_b: S",
            )
        ],
    ),
    (
        "switch a-2: S",
        [
            (
                "E0001",
                "a-2",
                "a name has letters, digits and `_`, and no `-`: `a-2`",
                "write `a_2`",
                "write `a_2`",
                "switch a_2: S",
            )
        ],
    ),
    (
        "host h -x: S",
        [
            (
                "E0001",
                "-",
                "expected `:`, `{`, a string or the end of the line, found `-`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "require bisection >= 50 percent",
        [("E0001", "percent", "`percent` is not a unit; `%` is", "write `50%`", "write `50%`", "require bisection >= 50%")],
    ),
    (
        "require bisection >= 50 pct",
        [("E0001", "pct", "`pct` is not a unit; `%` is", "write `50%`", "write `50%`", "require bisection >= 50%")],
    ),
    (
        "require bisection >= 50 percent or",
        [("E0001", "percent", "`percent` is not a unit; `%` is", "write `50%`", "write `50%`", "require bisection >= 50% or")],
    ),
    ("model switch SN 5600 { }", [("E0001", "5600", "expected `{` or a string, found `5600`", "put `{` here", "", "")]),
    (
        "switch a: SN 5600",
        [("E0001", "5600", "the name of a model has no space", "write `SN5600`", "write `SN5600`", "switch a: SN5600")],
    ),
    ("model switch S5300 X { }", [("E0001", "X", "expected `{` or a string, found `X`", "put `{` here", "", "")]),
    ("model 5300 { }", [("E0001", "5300", "expected a name or a kind such as `host`, found `5300`", "put a name here", "", "")]),
    ("model switch 5300 { }", [("E0001", "5300", "expected a name, found `5300`", "put a name here", "", "")]),
    (
        "switch 5a: S",
        [
            (
                "E0001",
                ":",
                "expected a value, `at`, `from`, `of`, `to` or the end of the line, found `:`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    ("fabric 3f { }", []),
    (
        "port p: 400 Gb/s",
        [
            (
                "E0001",
                "Gb",
                "`Gb/s` is not a unit of the language; write a number and its unit without a space",
                "write `400Gbps`",
                "write `400Gbps`",
                "port p: 400Gbps",
            )
        ],
    ),
    ("port p: 400Gbit/s", []),
    (
        "port p: 400 Gbit/s # x",
        [
            (
                "E0001",
                "Gbit",
                "`Gbit/s` is not a unit of the language; write a number and its unit without a space",
                "write `400Gbps`",
                "write `400Gbps`",
                "port p: 400Gbps # x",
            )
        ],
    ),
    ("port p: 4x100G", []),
    (
        "rate 400 Gb/s",
        [
            (
                "E0001",
                "/",
                "expected a value, `at`, `from`, `of`, `to` or the end of the line, found `/`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    ("param n = 400Gb/s", []),
    (
        "switch a(4): S",
        [
            (
                "E0001",
                "(",
                "how many `a` there are is written in brackets, not in `( )`",
                "write `switch a[4]`",
                "write brackets",
                "switch a[4]: S",
            )
        ],
    ),
    ("connect a(1) to b(2)", []),
    (
        "connect a{1} to b",
        [
            (
                "E0001",
                "1",
                "a statement begins with a word, found `1`",
                "begin with a word such as `host`, `connect`, `let` or `require`, or join it to the line before",
                "",
                "",
            ),
            (
                "E0001",
                "to",
                "expected the end of the line, found `to`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            ),
        ],
    ),
    (
        "switch leaf 4: S",
        [
            (
                "E0001",
                "4",
                "expected `:`, `{`, a string or the end of the line, found `4`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "switch leaf x 4: S",
        [
            (
                "E0001",
                ":",
                "expected a value, `at`, `from`, `of`, `to` or the end of the line, found `:`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "4 switch a: S",
        [
            (
                "E0001",
                "4",
                "a statement begins with a word, found `4`",
                "begin with a word such as `host`, `connect`, `let` or `require`, or join it to the line before",
                "",
                "",
            )
        ],
    ),
    ("for i in 0..3 { }", []),
    ("if (n > 0) { }", []),
    ("while n > 0 { }", []),
    ("let n = a && b", [("E0006", "&&", "`&&` means nothing here", "write `and`", "write `and`", "let n = a and b")]),
    ("let n = a || b", [("E0006", "||", "`||` means nothing here", "write `or`", "write `or`", "let n = a or b")]),
    ("let n = !a", [("E0006", "!", "`!` means nothing here", "write `not`", "write `not`", "let n = nota")]),
    ("let n = a != b", []),
    ("let n = a <> b", [("E0001", ">", "expected a value, found `>`", "put a value here", "", "")]),
    ("let n = a === b", [("E0001", "=", "expected a value, found `=`", "put a value here", "", "")]),
    (
        "switch a: S,",
        [("E0001", ",", "no `,` ends a statement: the end of the line does", "remove the `,`", "remove the `,`", "switch a: S")],
    ),
    ("let n = 4;", []),
    (
        "let n = 1,000",
        [
            (
                "E0001",
                ",",
                "expected `where`, `..`, an operator or the end of the line, found `,`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    ("let n = 2^3", [("E0006", "^", "`^` means nothing here", "write `**`", "write `**`", "let n = 2**3")]),
    ("let n = 2**3", []),
    (
        "import x",
        [
            (
                "E0017",
                "import x",
                "this is Python, and not a design",
                "a design begins with `fabric NAME {`; `tdsl init` writes one to start from",
                "",
                "",
            )
        ],
    ),
    ("use x", [("E0001", "", "expected `.`, found the end of the file", "put `.` here", "", "")]),
    ("require not", []),
    (
        "let n = a ? b : c",
        [
            (
                "E0001",
                "?",
                "expected `where`, `..`, an operator or the end of the line, found `?`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "n += 1",
        [
            (
                "E0001",
                "+",
                "expected a value, `{` or the end of the line, found `+`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
    (
        "n++",
        [
            (
                "E0001",
                "+",
                "expected a value, `{` or the end of the line, found `+`",
                "remove it, or end the statement before it with a new line or `;`",
                "",
                "",
            )
        ],
    ),
]


@pytest.mark.parametrize(("text", "found"), CASES, ids=[text for text, _ in CASES])
def test_a_slip_word_by_word(text: str, found: list[tuple[str, str, str, str, str, str]]) -> None:
    """Code, underlined text, message, help, title of the fix, and the text as the fix makes it."""
    said = []
    for d in read(text)[1]:
        fixed = text
        for span, new in sorted(d.fix.edits, key=lambda edit: -edit[0].start) if d.fix else ():
            fixed = fixed[: span.start] + new + fixed[span.end :]
        under, title = d.span.text if d.span else "", d.fix.title if d.fix else ""
        said.append((d.code, under, d.message, d.help or "", title, fixed if d.fix else ""))
    assert said == found
