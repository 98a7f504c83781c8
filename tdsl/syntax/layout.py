"""Which line ends count, and which brackets and braces belong together: settled on the tokens, before
parsing.

Line ends inside ( ) and [ ] and before a continuing line go. A bracket that is never closed ends where the
next statement visibly begins, with a ``FAULT`` token that carries what to say. Braces come out balanced.
"""

from __future__ import annotations

import re
from dataclasses import field

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix, Label
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax.keywords import CONTINUING, GRAMMAR_WORDS, INFIX_WORDS, SETTINGS
from tdsl.syntax.scanner import END, FAULT, Token
from tdsl.system.lazy_dataclass import dataclass

DEPTH = 100
LISTED = {
    "require": "require reachability",
    "requirements": "require reachability",
    "requires": "require reachability",
    "report": "report bisection",
    "reports": "report bisection",
    "connect": "connect leaf[*] to spine[*] spread x 8",
    "connections": "connect leaf[*] to spine[*] spread x 8",
    "links": "connect leaf[*] to spine[*] spread x 8",
    "hosts": "host node[16]: MODEL",
    "switches": "switch leaf[8]: MODEL",
}
"""Words that YAML would have a list behind, and a statement of each."""
CLOSERS = {"LPAR": "RPAR", "LSQB": "RSQB"}
OPERANDS = frozenset({"NUMBER", "QUANTITY", "PERCENT", "MONEY", "RATIO", "DIMS", "NET", "STRING", "QMARK"})
_ENDS_OPERAND = OPERANDS | {"NAME", "RPAR", "RSQB"}
_BINARY = frozenset(
    {"PLUS", "MINUS", "STAR", "SLASH", "FLOOR", "MODULO", "CMP", "RANGE", "and", "or", "in", "if"}
)


_SETTING_BEHIND = re.compile(r";\s*+(\w++)")
_SETTINGS_OF_BLOCK = {
    "hall": ("pitch", "tray", "slack"),
    "model": ("power", "height", "mass", "price", "latency"),
}
"""Settings of a block that no block in it has."""


def _setting_in_inner_block(behind: str, block: str) -> tuple[int, str] | None:
    """Where a setting of a block is in the braces of an inner one, in the text behind its `{`, and its name:
    the inner block lacks its `}` there. None where none is."""
    for found in _SETTING_BEHIND.finditer(behind):
        before = behind[: found.start()]
        if found[1] in _SETTINGS_OF_BLOCK.get(block, ()) and before.count("{") > before.count("}"):
            return len(before.rstrip()), found[1]
    return None


@dataclass(slots=True)
class _Level:
    """An open bracket or brace, and how many operators nest in what stands in it now: on one operand, and by
    ``else``."""

    token: Token
    nested: int = 0
    chosen: int = 0
    assumed: bool = False  # no `{` is written, but the lines below are indented as if there were one


@dataclass(slots=True)
class TokenLayout:
    """One pass over a file's tokens (comments left out)."""

    file: SourceFile
    diagnostics: Diagnostics
    tokens: list[Token]
    out: list[Token] = field(default_factory=list)
    brackets: list[_Level] = field(default_factory=list)
    braces: list[_Level] = field(default_factory=list)
    suspect: Token | None = None
    depth: int = 0
    line: int = 0
    assumed: int = 0  # how many open braces are assumed
    early: Token | None = None  # the first `}` whose place disagrees with the indentation
    base: _Level = field(init=False)
    unclosed: int = field(init=False)  # how many more `{` than `}` are written

    def __post_init__(self) -> None:
        self.unclosed = sum({"LBRACE": 1, "RBRACE": -1}.get(t.type, 0) for t in self.tokens)
        self.base = _Level(Token(END, "", self.file, 0))

    def arrange(self) -> list[Token]:
        """The tokens as the parser shall see them."""
        for i, token in enumerate(self.tokens):
            if self.assumed and token.type != END:
                self._close_assumed(token)
            if token.type == END:
                self._end(i, token)
            elif token.type == "LBRACE":
                self._enter_block(i, token)
            elif token.type == "RBRACE":
                self._leave_block(i, token)
            elif token.type in CLOSERS:
                self._open(i, token)
            elif token.type in ("RPAR", "RSQB"):
                self._close(token)
            elif token.type in ("COLON", "BAD_STRING") and self._opens_block(i, token):
                self._assume_brace(token)
            else:
                self._operator(i, token)
                self.out.append(token)
            if self.depth + len(self.brackets) + len(self.braces) > DEPTH:
                self._too_deep(token)
                break
        else:
            self._unclosed(len(self.file.text))
            self._unclosed_braces()
        return self.out

    def _enter_block(self, i: int, token: Token) -> None:
        if i and self.tokens[i - 1].type == "LBRACE" and self._is_doubled(i):
            if i < 2 or self.tokens[i - 2].type != "LBRACE":  # of a row of them one
                self._report_doubled_brace(token)
            return
        self._join_brace_to_head(token)
        self._unclosed(token.start)
        self.braces.append(_Level(token))
        self._push(token)

    def _leave_block(self, i: int, token: Token) -> None:
        if self._is_brace_for_bracket(i):
            self._close_bracket_with_brace(token)
            return
        self._unclosed(token.start)
        self._close_brace(i, token)

    # ------------------------------------------------------------ line ends

    def _end(self, i: int, token: Token) -> None:
        if self.brackets:
            if token.newline and not self._statement_follows(i + 1):
                return
            if not token.newline and self._closes_on_line(i + 1):
                self._semicolon_in_brackets(i, token)
                return
            self._unclosed(token.start)
        elif token.newline and self._continued(i + 1):
            return
        self._push(token)

    def _closes_on_line(self, i: int) -> bool:
        """Whether the bracket that is open is closed before the next end of a statement or brace."""
        wanted, depth = CLOSERS[self.brackets[-1].token.type], 0
        for t in self.tokens[i:]:
            if t.type in (END, "LBRACE", "RBRACE") or depth < 0:
                break
            if t.type == wanted and not depth:
                return True
            depth += (t.type in CLOSERS) - (t.type in CLOSERS.values())
        return False

    def _semicolon_in_brackets(self, i: int, token: Token) -> None:
        opened, before, behind = self.brackets[-1].token, self.tokens[i - 1], self.tokens[i + 1]
        pair = "[ ]" if opened.type == "LSQB" else "( )"
        listed = before.type in _ENDS_OPERAND and behind.type in {"NAME", "STAR", *CLOSERS, *OPERANDS}
        listed = listed and behind.text not in GRAMMAR_WORDS
        help, edit = ("write `,`", (token.span, ",")) if listed else ("remove the `;`", (token.span, ""))
        following = self.tokens[i + 2].text if i + 2 < len(self.tokens) else ""
        if behind.type == CLOSERS[opened.type] and following in SETTINGS:  # `spine[1;] fails never`
            help, edit = f"write `{behind.text};`", (token.span.to(behind.span), f"{behind.text};")
        finding = Diagnostic(
            "E0001",
            f"`;` ends a statement, and means nothing inside `{pair}`",
            token.span,
            help=help,
            fix=Fix(help, (edit,)),
        )
        self.out.append(Token(FAULT, "", self.file, token.start, finding))

    def _continued(self, i: int) -> bool:
        """Whether the next line that is not blank continues the one before."""
        last = self.out[-1].type if self.out else END
        if last in (END, "LBRACE"):
            return False
        i = self.line = max(i, self.line)
        while i < len(self.tokens) and self.tokens[i].newline:
            i = self.line = i + 1
        if i == len(self.tokens) or self.tokens[i].type != "NAME":
            return False
        word = self.tokens[i].text
        return word == "else" if last == "RBRACE" else word in CONTINUING

    def _statement_follows(self, i: int) -> bool:
        """Whether a line inside an open bracket can only be a statement: two operands side by side begin
        it."""
        if i + 1 >= len(self.tokens):
            return False
        first, second = self.tokens[i], self.tokens[i + 1]
        if first.type != "NAME" or second.start == first.end:
            return False
        if first.text in ("if", "for"):
            return self._line_opens_block(i)
        if first.text in INFIX_WORDS:
            return False
        if second.type == "NAME":
            return second.text not in INFIX_WORDS
        return second.type in OPERANDS

    def _line_opens_block(self, i: int) -> bool:
        while i < len(self.tokens) and not self.tokens[i].newline:
            if self.tokens[i].type == "LBRACE":
                return True
            i += 1
        return False

    def _push(self, token: Token) -> None:
        self.out.append(token)
        self.base.nested = self.base.chosen = self.depth = 0

    # ------------------------------------------------------------ brackets

    def _open(self, i: int, token: Token) -> None:
        here = self.brackets[-1] if self.brackets else self.base
        if token.type == "LSQB" and i and self.tokens[i - 1].type == "RSQB":
            self._nest(here)  # an index on an index
        self.brackets.append(_Level(token))
        self.out.append(token)

    def _close(self, token: Token) -> None:
        if self._is_bracket_opened_by_brace(token):
            self._replace_brace_by_fault(token)
            return
        if self.brackets:
            level = self.brackets[-1]
            if CLOSERS[level.token.type] != token.type:
                wanted = ")" if level.token.type == "LPAR" else "]"
                self._fault(
                    "E0003",
                    token,
                    f"`{level.token.text}` is closed by `{token.text}`",
                    (Label(level.token.span, f"`{level.token.text}` opens here"),),
                    f"write `{wanted}`",
                )
            self.brackets.pop()
            self.depth -= level.nested + level.chosen
        self.out.append(token)

    def _is_doubled(self, i: int) -> bool:
        """Whether a `{` touches the one before it, and one `}` fewer than `{` is written."""
        return self.tokens[i - 1].end == self.tokens[i].start and self.unclosed > 0

    def _report_doubled_brace(self, token: Token) -> None:
        fix = Fix("remove one `{`", ((token.span, ""),))
        self.diagnostics.add("E0001", token.span, "`{` is written twice", help="remove one `{`", fix=fix)

    def _is_brace_for_bracket(self, i: int) -> bool:
        """Whether a `}` closes a `[` of its line by mistake: the statement goes on behind it."""
        if not self.brackets or self.brackets[-1].token.type != "LSQB" or i + 1 == len(self.tokens):
            return False
        opened, token, behind = self.brackets[-1].token, self.tokens[i], self.tokens[i + 1]
        same_line = self.file.position(opened.start)[0] == self.file.position(token.start)[0]
        return same_line and behind.type not in (END, "RBRACE")

    def _close_bracket_with_brace(self, token: Token) -> None:
        opened = self.brackets.pop().token
        label = (Label(opened.span, "`[` opens here"),)
        fix = Fix("write `]`", ((token.span, "]"),), safe=False)
        finding = Diagnostic("E0003", "`[` is closed by `}`", token.span, label, help="write `]`", fix=fix)
        self.out.append(Token(FAULT, "", self.file, token.start, finding))

    def _is_bracket_opened_by_brace(self, token: Token) -> bool:
        """Whether a `]` closes a `{` that touches a name on its line: ``node{8]``."""
        if self.brackets or not self.braces or token.type != "RSQB":
            return False
        opened = self.braces[-1].token
        before = self.file.text[opened.start - 1 : opened.start]
        same_line = self.file.position(opened.start)[0] == self.file.position(token.start)[0]
        return same_line and (before.isalnum() or before == "_")

    def _replace_brace_by_fault(self, token: Token) -> None:
        opened = self.braces.pop().token
        label = (Label(token.span, "`]` closes it here"),)
        fix = Fix("write `[`", ((opened.span, "["),), safe=False)
        finding = Diagnostic("E0003", "`{` is closed by `]`", opened.span, label, help="write `[`", fix=fix)
        at = next(i for i, t in enumerate(self.out) if t is opened)
        self.out[at] = Token(FAULT, "", self.file, opened.start, finding)

    def _unclosed(self, at: int) -> None:
        """A statement ends while brackets are open: one fault at the innermost, for all of them."""
        if self.brackets:
            opened = self.brackets[-1].token
            wanted = ")" if opened.type == "LPAR" else "]"
            self._fault(
                "E0003",
                opened,
                f"`{opened.text}` is never closed: the statement ends before a `{wanted}`",
                (),
                f"write `{wanted}` where it should end",
                at,
            )
            self.brackets.clear()

    def _fault(
        self,
        code: str,
        at: Token,
        message: str,
        labels: tuple[Label, ...],
        help: str,
        place: int | None = None,
    ) -> None:
        finding = Diagnostic(code, message, at.span, labels, help=help)
        self.out.append(Token(FAULT, "", self.file, at.start if place is None else place, finding))

    # ------------------------------------------------------------ depth

    def _operator(self, i: int, token: Token) -> None:
        """Counts operators that nest: runs of signs, powers, conditionals."""
        here = self.brackets[-1] if self.brackets else self.base
        kind = token.text if token.type == "NAME" else token.type
        if kind == "COMMA":
            self._forget(here)
            self.depth -= here.chosen
            here.chosen = 0
        elif kind == "else":
            self._forget(here)
            here.chosen += 1
            self.depth += 1
        elif kind in ("POWER", "not") or (kind == "MINUS" and self._is_sign(i)):
            self._nest(here)
        elif kind in _BINARY:
            self._forget(here)

    def _is_sign(self, i: int) -> bool:
        before = self.tokens[i - 1] if i else None
        return before is None or before.type not in _ENDS_OPERAND or before.text in INFIX_WORDS

    def _nest(self, level: _Level) -> None:
        level.nested += 1
        self.depth += 1

    def _forget(self, level: _Level) -> None:
        """The operand at hand is complete."""
        self.depth -= level.nested
        level.nested = 0

    def _too_deep(self, token: Token) -> None:
        self.diagnostics.add(
            "E0009",
            token.span,
            f"brackets, braces and operators nest more than {DEPTH} deep here; the rest is not read",
            help="give a name to the inner part with `let`, or move it to a `def` or `topology`",
        )
        self.brackets.clear()
        self.out.append(Token(FAULT, "", self.file, token.start, None))
        self._balance_end()

    # ------------------------------------------------------------ braces

    def _indent(self, token: Token) -> int:
        """Blanks before the line on which a token stands."""
        line = self.file.line(self.file.position(token.start)[0])
        return len(line) - len(line.lstrip())

    def _starts_line(self, token: Token) -> bool:
        begin = self.file.line_starts[self.file.position(token.start)[0] - 1]
        return not self.file.text[begin : token.start].strip()

    def _join_brace_to_head(self, token: Token) -> None:
        """A ``{`` on a line of its own opens the block of the line before, with a finding: the end of that
        line goes."""
        ends = len(self.out)
        while ends and self.out[ends - 1].newline:
            ends -= 1
        if ends in (0, len(self.out)) or self.out[ends - 1].type in (END, "LBRACE", "RBRACE", FAULT):
            return
        head = self.out[ends - 1]
        first = self.file.line(head.span.begin[0])[: head.span.finish[1]].strip()
        line = self.file.line_starts[token.span.begin[0] - 1]
        after = token.end + (self.file.text[token.end : token.end + 1] == "\n")
        whole = SourceSpan(self.file, line, after) if after > token.end else token.span
        self.diagnostics.add(
            "E0001",
            token.span,
            "a `{` is written at the end of the line of what it belongs to, not on a line of its own",
            help=f"write `{first} {{`" if len(first) <= 80 else "put it at the end of the line before",
            fix=Fix("move the `{` up", ((SourceSpan(self.file, head.end, head.end), " {"), (whole, ""))),
        )
        del self.out[ends:]

    def _opens_block(self, i: int, token: Token) -> bool:
        """Whether a line that ends in ``:``, or in a string without its closing quote, begins a block: the
        next is deeper."""
        if token.type == "BAD_STRING" and not token.text.rstrip().endswith("{"):
            return False
        i += 1
        if i == len(self.tokens) or not self.tokens[i].newline:
            return False
        while i < len(self.tokens) and self.tokens[i].newline:
            i += 1
        if i >= len(self.tokens) or self._indent(self.tokens[i]) <= self._indent(token):
            return False
        alone = i + 1 == len(self.tokens) or self.tokens[i + 1].newline or self.tokens[i + 1].type == "LBRACE"
        return token.type != "COLON" or not (alone and self._declares_device(token))

    def _declares_device(self, colon: Token) -> bool:
        """Whether a line that ends in a colon waits for a model: ``host node[8]:``."""
        line = self.file.line(self.file.position(colon.start)[0])
        return re.match(r"\s*(?:host|switch|chip|ocs|panel)\s+\w+", line) is not None

    def _assume_brace(self, token: Token) -> None:
        """Goes on as if a ``{`` ended this line, with one finding about what is there instead."""
        self._unclosed(token.start)
        head = (
            next(
                (
                    i
                    for i in range(len(self.out) - 1, -1, -1)
                    if self.out[i].type in (END, "LBRACE", "RBRACE")
                ),
                -1,
            )
            + 1
        )
        # What is wrong with a loop in Python's words, the parser says better.
        first = self.out[head].text if head < len(self.out) else ""
        if token.type == "COLON" and first in LISTED and len(self.out) == head + 1:
            finding = Diagnostic(
                "E0001",
                f"no `:` and no list follow `{first}`",
                token.span,
                help=f"write each on a line of its own: `{LISTED[first]}`",
            )
            self.out.append(Token(FAULT, "", self.file, token.start, finding))
        elif token.type == "COLON" and first != "for":
            finding = Diagnostic(
                "E0001",
                "a block begins with `{`, found `:`",
                token.span,
                help="write `{` here and `}` after the block",
                fix=Fix("write `{`", ((token.span, " {"),)),
            )
            self.out.append(Token(FAULT, "", self.file, token.start, finding))
        else:
            self.out.append(token)
        opened = Token("LBRACE", "", self.file, token.end)
        self.braces.append(_Level(opened, assumed=True))
        self.assumed += 1
        self._push(opened)

    def _close_assumed(self, token: Token) -> None:
        """Closes assumed blocks before a line that is no deeper than their heads, unless a ``}`` is written
        for them."""
        while self.braces and self.braces[-1].assumed and self._starts_line(token):
            indent, head = self._indent(token), self._indent(self.braces[-1].token)
            if indent > head or (token.type == "RBRACE" and indent == head):
                return
            self.braces.pop()
            self.assumed -= 1
            self._push(Token("RBRACE", "", self.file, token.start))
            self._push(Token(END, "\n", self.file, token.start))

    def _close_brace(self, i: int, token: Token) -> None:
        if not self.braces:
            self._one_too_many(token)
            return
        level = self.braces.pop()
        self.assumed -= level.assumed
        if self._starts_line(token):
            indent = self._indent(token)
            outer = any(self._indent(b.token) == indent for b in self.braces)
            if self.suspect is None and outer and self._indent(level.token) > indent:
                self.suspect = level.token
            if self.early is None and (
                indent != self._indent(level.token) or (not self.braces and self._deeper(i + 1, indent))
            ):
                self.early = token
        self._push(token)

    def _deeper(self, i: int, indent: int) -> bool:
        """Whether the next line that is not blank, and no ``}``, is indented more than this."""
        while i < len(self.tokens) and self.tokens[i].newline:
            i += 1
        return (
            i < len(self.tokens) and self.tokens[i].type != "RBRACE" and self._indent(self.tokens[i]) > indent
        )

    def _one_too_many(self, token: Token) -> None:
        """A ``}`` without a ``{``. Where an earlier one ends a block against the indentation, that one is
        left out instead."""
        early, self.early = self.early, None
        if early is None:
            self.diagnostics.add(
                "E0005",
                token.span,
                "this `}` closes nothing: every `{` before it is closed already",
                help="remove it, or put the `{` it belongs to",
            )
            return
        self.diagnostics.add(
            "E0005",
            early.span,
            "there is one `}` too many: by their indentation, the lines below this one are inside a block",
            labels=[(token.span, "so this one closes nothing")],
            help="remove it",
            fix=Fix("remove this `}`", ((early.span, ""),), safe=False),
        )
        self.out = [t for t in self.out if t is not early]
        self._push(token)

    def _unclosed_braces(self) -> None:
        while self.braces and self.braces[-1].assumed:
            self.braces.pop()
            self.out.append(Token("RBRACE", "", self.file, len(self.file.text)))
        if not self.braces:
            return
        opened = self.suspect or self.braces[-1].token
        if not any(t.type == "BAD_STRING" for t in self.tokens):  # which may hold the brace
            self._report_unclosed_brace(opened)
        if self.suspect is not None:
            self._insert_closer(self.suspect)
            self.braces.pop()
        self._balance_end()

    def _report_unclosed_brace(self, opened: Token) -> None:
        text = self.file.text
        line = self.file.line(opened.span.begin[0])
        begin = self.file.line_starts[opened.span.begin[0] - 1]
        code = line.rstrip() if "#" not in line else line[: line.rindex("#")].rstrip()
        if code[-1:] in ")]>" and code.count(code[-1]) > code.count({")": "(", "]": "[", ">": "<"}[code[-1]]):
            last = SourceSpan(self.file, begin + len(code) - 1, begin + len(code))
            message = f"this `{{` is closed by `{last.text}`"
            fix = Fix("write `}`", ((last, "}"),), safe=False)
            self.diagnostics.add("E0004", opened.span, message, help=f"write `}}` for `{last.text}`", fix=fix)
            return
        behind = code[opened.end - begin :]
        head = re.match(r"\s*(\w+)", code)
        inside = _setting_in_inner_block(behind, head[1] if head is not None else "")
        if inside is not None:
            place, new, help = opened.end + inside[0], " }", f"put a `}}` before `; {inside[1]}`"
        elif behind.strip():
            place, new, help = begin + len(code), " }", "put a `}` at the end of the line"
        else:
            at = self._index_behind_block(opened)
            place = self.out[at].start if self.suspect is not None and at < len(self.out) else len(text)
            place = text.rfind("\n", 0, place) + 1 if place < len(text) else place
            new = f"{' ' * self._indent(opened)}}}\n"
            new = new if text[:place].endswith("\n") else f"\n{new}"
            help = "put a `}` after the last line of its block"
        self.diagnostics.add(
            "E0004",
            opened.span,
            "this `{` is never closed: the file ends first",
            help=help,
            fix=Fix("put a `}`", ((SourceSpan(self.file, place, place), new),), safe=False),
        )

    def _index_behind_block(self, opened: Token) -> int:
        """The index of the first token of a line that is no deeper than the head of a block."""
        indent = self._indent(opened)
        at = next(i for i, t in enumerate(self.out) if t is opened) + 1
        while at < len(self.out):
            token = self.out[at]
            if token.type != END and self._starts_line(token) and self._indent(token) <= indent:
                break
            at += 1
        return at

    def _insert_closer(self, opened: Token) -> None:
        """Closes a forgotten block before the first line that is no deeper than its head."""
        at = self._index_behind_block(opened)
        place = self.out[at].start if at < len(self.out) else len(self.file.text)
        self.out[at:at] = [Token("RBRACE", "", self.file, place), Token(END, "\n", self.file, place)]

    def _balance_end(self) -> None:
        end = len(self.file.text)
        for _ in self.braces:
            self.out.append(Token("RBRACE", "", self.file, end))
        self.braces.clear()
