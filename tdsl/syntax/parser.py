"""Text to tree. Never raises for what a user wrote: a fault is one finding, and parsing goes on with the next
statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from tdsl.findings.diagnostic import Diagnostic, Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax import tree
from tdsl.syntax.keywords import KIND_WORDS
from tdsl.syntax.scanner import END, FAULT, MAX_DIGITS, Token
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.syntax.grammar import Tables
    from tdsl.syntax.partial_parse import PartialParse

MAX_BYTES = 16 << 20
_NUMERIC = frozenset({"NUMBER", "QUANTITY", "PERCENT", "MONEY", "RATIO", "DIMS", "NET"})
_SEPARATE = frozenset({"RANGE", "COMMA"})
_ENDING = frozenset({END, "COMMA", "RBRACE", "LBRACE"})  # an item of a setting ends before these
_AFTER_PATH = frozenset(
    {"to", "of", "at", "among", "under", "through", "any", "and", "with"}
)  # words behind a path of a requirement


def decode_source_file(
    data: bytes, name: str, diagnostics: Diagnostics, design: bool = True
) -> SourceFile | None:
    """The text of a file's bytes; None, with a finding, where they are no design, or, of another file, no
    text."""
    if design and len(data) > MAX_BYTES:
        report_oversized_file(len(data), name, diagnostics)
        return None
    data = data.removeprefix(b"\xef\xbb\xbf")
    bad, why = data.find(b"\0"), "a NUL byte"
    if bad < 0:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            bad, why = error.start, f"byte 0x{data[error.start]:02x}, which is not UTF-8"
    if bad >= 0:
        shown = SourceFile(name, data.decode("utf-8", "replace"))
        at = len(data[:bad].decode("utf-8", "replace"))
        diagnostics.add(
            "E0011",
            SourceSpan(shown, at, at + 1),
            f"this is not a text file: {why} at offset {bad}",
            help="a design is UTF-8 text; save it as such, or name the right file",
        )
        return None
    file = SourceFile(name, text)
    if design and all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines()):
        diagnostics.add(
            "E0010",
            SourceSpan(file, 0, 0),
            "the file is empty: nothing to check",
            help="a design begins with `use …` or `fabric NAME { … }`",
        )
    return file


def report_oversized_designs(size: int, most: int, name: str, diagnostics: Diagnostics) -> None:
    """Say that a stranger's design is not read, since with it the designs of the call are larger than its
    bound of ``most`` bytes."""
    diagnostics.add(
        "E0012",
        SourceSpan(SourceFile(name, ""), 0, 0),
        f"the file has {size:,} bytes; with --untrusted all designs of a call may have {most:,} together",
        help="let groups and arrays say what repeats; who runs the call may set TDSL_UNTRUSTED_SIZE to more "
        "bytes",
    )


def report_oversized_file(size: int, name: str, diagnostics: Diagnostics) -> None:
    """Say that a file is too large to be a design; there is no text of it."""
    diagnostics.add(
        "E0012",
        SourceSpan(SourceFile(name, ""), 0, 0),
        f"the file has {size:,} bytes; a design may have {MAX_BYTES:,}",
        help="split it and join the parts with `use`",
    )


def parse_source_file(file: SourceFile, diagnostics: Diagnostics) -> tree.Module:
    """The tree of a file. Statements that do not parse become ``Broken`` nodes, with one finding each."""
    from tdsl.syntax.grammar import load_grammar_tables
    from tdsl.syntax.habits import other_format

    other, begin = other_format(file.text)
    if other:
        diagnostics.add(
            "E0017",
            SourceSpan(file, begin, len(file.text.rstrip())),
            f"this is {other}, and not a design",
            help="`tdsl audit DESIGN --p2p FILE` reads a table of cables, `--places FILE` one of places"
            if "table" in other
            else "a design begins with `fabric NAME {`; `tdsl init` writes one to start from",
        )
        return tree.Module((), SourceSpan(file, 0, len(file.text)))
    tables = load_grammar_tables()
    arranged = _arranged_tokens(tables, file, diagnostics)
    body = _ParseRun(tables, file, diagnostics, arranged).module()
    return tree.Module(body, SourceSpan(file, 0, len(file.text)))


def _arranged_tokens(tables: Tables, file: SourceFile, diagnostics: Diagnostics) -> list[Token]:
    """The tokens of a file as the grammar takes them, without comments."""
    from tdsl.syntax.habits import without_comments
    from tdsl.syntax.layout import TokenLayout
    from tdsl.syntax.pasted_lines import tokens_without_pasted_lines

    tokens = tokens_without_pasted_lines(file, tables.scanner.scan(file), diagnostics)
    tokens = without_comments(file, tokens, diagnostics)
    return TokenLayout(file, diagnostics, tokens).arrange()


def other_explanations(file: SourceFile, finding: Diagnostic) -> list[Diagnostic]:
    """What else may be the cause of a syntax fault, the likeliest first: findings whose fix makes its
    statement whole, and last the one that says what the grammar takes there, without a fix."""
    from tdsl.syntax.grammar import load_grammar_tables

    tables = load_grammar_tables()
    own = Diagnostics()
    run = _SecondParse(tables, file, own, _arranged_tokens(tables, file, own), asked=finding)
    run.module()
    return run.others


def keyword_offsets(file: SourceFile) -> set[int]:
    """Where the words of the grammar stand in a file; what looks like one may be a name."""
    from tdsl.syntax.grammar import load_grammar_tables
    from tdsl.syntax.layout import TokenLayout

    tables = load_grammar_tables()
    tokens = [t for t in tables.scanner.scan(file) if t.type != "COMMENT"]
    run = _ParseRun(tables, file, Diagnostics(), TokenLayout(file, Diagnostics(), tokens).arrange())
    run.module()
    return run.words


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands before a place in a text: the tokens of its statement, the heads of the blocks around it,
    outermost first, and what the grammar takes there: words, and terminals."""

    statement: tuple[Token, ...] = ()
    heads: tuple[tuple[Token, ...], ...] = ()
    words: frozenset[str] = frozenset()
    terminals: frozenset[str] = frozenset()


def context_before_offset(file: SourceFile, offset: int) -> Standing:
    """What stands before a place, whatever follows. A statement that is at fault before the place takes
    nothing."""
    from tdsl.syntax.grammar import load_grammar_tables
    from tdsl.syntax.keywords import CONTINUING

    tables = load_grammar_tables()
    before = [t for t in tables.scanner.scan(file, 0, offset) if t.type != "COMMENT"]
    found = _context_at_token(tables, file, before, Token("NAME", "_", file, offset))
    if not before or not before[-1].newline:
        return found
    word = next(iter(CONTINUING))  # the line may go on with the statement before
    more = _context_at_token(tables, file, before, Token("NAME", word, file, offset)).words & CONTINUING
    return replace(found, words=found.words | more)


def _context_at_token(tables: Tables, file: SourceFile, before: list[Token], mark: Token) -> Standing:
    from tdsl.syntax.layout import TokenLayout

    arranged = TokenLayout(file, Diagnostics(), [*before, mark]).arrange()
    at = next((i for i, t in enumerate(arranged) if t is mark), None)
    if at is None:
        return Standing()
    heads: list[tuple[Token, ...]] = []
    statement: list[Token] = []
    for token in arranged[:at]:
        if token.type == "LBRACE":
            heads.append(tuple(statement))
        elif token.type == "RBRACE" and heads:
            heads.pop()
        if token.type in (END, "LBRACE", "RBRACE"):
            statement = []
        else:
            statement.append(token)
    run = _ParseRun(tables, file, Diagnostics(), arranged)
    taken = run.until(at)
    words = frozenset(tables.written[t] for t in taken if t in tables.written)
    return Standing(tuple(statement), tuple(heads), words, frozenset(taken))


def parse_expression(text: str, name: str, diagnostics: Diagnostics) -> tree.Expr | None:
    """One value, such as that of ``--set k=v``; None, with a finding, if it is none."""
    file = SourceFile(name, text)
    return parse_part(file, 0, len(text), diagnostics)


def parse_part(file: SourceFile, start: int, end: int, diagnostics: Diagnostics) -> tree.Expr | None:
    """The expression that fills a stretch of a file; None, with a finding, if it does not parse."""
    from tdsl.syntax.grammar import load_grammar_tables
    from tdsl.syntax.layout import TokenLayout

    tables = load_grammar_tables()
    tokens = [t for t in tables.scanner.scan(file, start, end) if t.type not in ("COMMENT", END)]
    own = Diagnostics()
    arranged = TokenLayout(file, own, tokens).arrange()
    result = None if own.has_errors else _ParseRun(tables, file, own, arranged).expression(start, end)
    diagnostics.extend(own.items[:1])
    return None if own.has_errors else result


@dataclass(slots=True)
class _ParseRun:
    """One parse: feeds tokens to Lark's tables and mends what they refuse."""

    tables: Tables
    file: SourceFile
    diagnostics: Diagnostics
    tokens: list[Token]
    parse: PartialParse = field(init=False)
    head: int = 0
    words: set[int] = field(default_factory=set)  # where names stand that were taken as words

    # ------------------------------------------------------------ the two ways in

    def module(self) -> tuple[tree.Stmt, ...]:
        """All statements."""
        self.parse = self.tables.begin_parse("module")
        i, n = 0, len(self.tokens)
        while i < n:
            i = self._step(i)
        if not self.parse.is_between_statements():
            self._finish(n)
        end = len(self.file.text)
        # A block whose brace was lost with a faulty statement ends with the text.
        while not self.parse.accepts("$END") and self.parse.accepts("RBRACE"):
            self.parse.feed(Token("RBRACE", "}", self.file, end))
            self.parse.settle()
            if not self.parse.is_between_statements():
                self._finish(n)
        result: tuple[tree.Stmt, ...] = self.parse.feed(Token("$END", "", self.file, end))
        return result

    def until(self, at: int) -> set[str]:
        """Terminals that could stand at ``at``; none where the statement there is given up before."""
        self.parse = self.tables.begin_parse("module")
        i = 0
        while i < at:
            i = self._step(i)
        return self.expected() if i == at else set()

    def expression(self, start: int, end: int) -> tree.Expr | None:
        """One expression, all of the tokens."""
        self.parse = self.tables.begin_parse("expression")
        for i in range(len(self.tokens)):
            if not self._feed(i):
                self._report_unexpected(i)
                return None
        last = Token("$END", "", self.file, end)
        if not self.parse.accepts("$END"):
            self.tokens.append(last)
            self._report_unexpected(len(self.tokens) - 1)
            return None
        result: tree.Expr = self.parse.feed(last)
        return result

    # ------------------------------------------------------------ feeding

    def _step(self, i: int) -> int:
        """Handles the token at ``i``; the index of the next."""
        token = self.tokens[i]
        kind = token.type
        if self.parse.is_between_statements():
            if kind == END:
                return i + 1
            self.head = i
        elif kind == END:
            return self._finish(i)
        elif kind == "RBRACE":
            self._finish(i)
        if kind == FAULT or not self._feed(i):
            at = self._recover(i)
            return at + (
                at == i and kind == "RBRACE"
            )  # a brace that closes no block the parser knows ends with its statement
        return i + 1

    def _finish(self, i: int) -> int:
        """Ends the statement before ``i``."""
        if not self.parse.accepts(END):
            self._recover(i)
        at = self.tokens[i].start if i < len(self.tokens) else len(self.file.text)
        self.parse.feed(Token(END, "", self.file, at))
        self.parse.settle()
        return i + 1

    def _feed(self, i: int) -> bool:
        """Gives the parser a token, as a word or as a name, whichever can stand here; False if it refuses."""
        token = self.tokens[i]
        kind = token.type
        if kind == "NAME":
            kind = self._word(i, token)
        elif kind == "STRING" and token.node is None:
            token.node = self._string(token)
        elif kind in _NUMERIC:
            if len(token.text) > MAX_DIGITS:
                return False
            if kind == "RATIO":
                self._ratio(i, token)
        if not self.parse.accepts(kind) or (kind == "LBRACE" and self._counts(i)):
            return False
        if kind != token.type:
            word = Token(kind, self.tables.written.get(kind, token.text), self.file, token.start)
            self.words.add(token.start)
            self.parse.feed(word)
        else:
            self.parse.feed(token)
            if kind == "RBRACE":
                self.parse.settle()
        return True

    def _word(self, i: int, token: Token) -> str:
        """The terminal of a name: a word of the grammar where one can stand, else NAME."""
        word = self.tables.words.get(token.text)
        choices = self.parse.choices()
        if word is None and not token.text.islower() and self._is_word_in_capitals(i, token):
            word = self.tables.words[token.text.lower()]
        if word is None or word not in choices:
            return "NAME"
        if token.text in KIND_WORDS and self.parse.is_between_statements() and not self._declares(i):
            return "NAME"
        if "NAME" in choices and not self.parse.accepts(word):
            return "NAME"
        if token.text in ("all", "x") and self._names_thing(i, token.text):
            return "NAME"
        return word

    def _is_word_in_capitals(self, i: int, token: Token) -> bool:
        """Whether a name is a word of the grammar in capitals, ``links OF leaf``, which is a finding."""
        text = token.text.lower()
        word = self.tables.words.get(text)
        if word is None or not self.parse.accepts(word) or self._names_thing(i, "x"):
            return False
        following = self.tokens[i + 1] if i + 1 < len(self.tokens) else None
        if following is None or following.type in ("LSQB", "DOT", "COMMA", "EQUAL", "RPAR", "RSQB"):
            return False
        if self.parse.is_between_statements():
            lower = Token("NAME", text, self.file, token.start)
            kept, self.tokens[i] = self.tokens[i], lower
            begins = following.type == "NAME" and (text not in KIND_WORDS or self._declares(i))
            self.tokens[i] = kept
            if not begins:
                return False
        from tdsl.syntax.messages import word_in_capitals

        if token.start not in self.words:
            self._report(word_in_capitals(token))
        return True

    def _names_thing(self, i: int, text: str) -> bool:
        """Whether ``all`` or ``x`` is a name: ``of all node[0..3]`` has a path behind it, and what is called
        ``all`` has none; ``along x`` names a dimension, ``x 4`` says how many."""
        following = self.tokens[i + 1] if i + 1 < len(self.tokens) else None
        if text == "all":
            return following is None or following.type != "NAME" or following.text in _AFTER_PATH
        return (following is None or following.type in _ENDING) and self.parse.accepts("NAME")

    def _counts(self, i: int) -> bool:
        """Whether a brace stands for a bracket: ``host node{8}: H``."""
        kinds = [t.type for t in self.tokens[i + 1 : i + 4]]
        return kinds[:2] == ["NUMBER", "RBRACE"] and kinds[2:] in (["COLON"], ["LBRACE"])

    def _declares(self, i: int) -> bool:
        """Whether a kind's word declares something (``rack r {``) or is a setting's name (``rack 1..16
        {``)."""
        following = self.tokens[i + 1 : i + 3]
        if not following or following[0].type != "NAME":
            return bool(following) and following[0].type in ("STRING", "COLON", "LSQB", "LPAR", END)
        if len(following) == 1:
            return True
        second = following[1]
        return second.type not in _SEPARATE and not (second.type == "NAME" and second.text in ("x", "as"))

    def expected(self) -> set[str]:
        """Terminals that could stand next."""
        return self.parse.accepted_terminals()

    def word(self, terminal: str) -> str:
        """A terminal as it is written."""
        return self.tables.written.get(terminal) or self.tables.signs.get(terminal, "")

    def scan(self, file: SourceFile) -> list[Token]:
        """The tokens of a text, with comments and ends of lines."""
        return self.tables.scanner.scan(file)

    def count_accepted(self, tokens: Sequence[Token]) -> int:
        """How many of some tokens the grammar takes where the statement that has begun begins; one more where
        they are whole statements."""
        parse = self.parse.copy_at_statement_start()
        if parse is None:
            return 0
        trial = _ParseRun(self.tables, self.file, Diagnostics(), list(tokens))
        trial.parse = parse
        for i, token in enumerate(trial.tokens):
            if token.type in (END, "RBRACE") and not parse.is_between_statements():
                if not parse.accepts(END):
                    return i
                parse.feed(Token(END, "", self.file, token.start))
                parse.settle()
            if token.type == FAULT or (token.type != END and not trial._feed(i)):
                return i
        return len(tokens) + (parse.is_between_statements() or parse.accepts(END))

    def _string(self, token: Token) -> tree.Str:
        from tdsl.syntax.strings import parse_string_token

        return parse_string_token(token, self.diagnostics)

    def _ratio(self, i: int, token: Token) -> None:
        """``[1:16]`` as an index or extent is a slip for a range; a list of ratios is none."""
        opened = i and self.tokens[i - 1].type in ("LSQB", "COMMA")
        if (
            opened
            and (self.parse.accepts("STAR") or self.parse.accepts("QMARK"))
            and self.parse.accepts("RATIO")
        ):
            from tdsl.syntax.messages import ratio_for_range

            self._report(ratio_for_range(token))

    # ------------------------------------------------------------ recovery

    def _recover(self, i: int) -> int:
        """Gives up the statement that ``i`` is in; the index at which to go on."""
        known = any(
            type(v) is Token and v.type == "BROKEN" for v in self.parse.values[self.parse.statement_start() :]
        )
        if not known:
            self._report_unexpected(i)
        return self._drain(i)

    def _report_unexpected(self, i: int) -> None:
        """Report why the token ``i``, or the end of the text, cannot stand where it does."""
        from tdsl.syntax.messages import explain_unexpected_token

        self._report(explain_unexpected_token(self, i, self.tokens[i] if i < len(self.tokens) else None))

    def _report(self, finding: Diagnostic | None) -> None:
        if finding is not None:
            self.diagnostics.items.append(finding)

    def _drain(self, i: int) -> int:
        names, bodies, start = _salvage_statement(self.parse.give_up_statement())
        at = i
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.type in (END, "RBRACE"):
                break
            if token.type == "LBRACE":
                if self._opens_block(at):
                    break
                at = self._matching(at)
                continue
            if token.type == "NAME" or token.text.strip('"').isidentifier():
                names.append(token.text.strip('"'))
            at += 1
        begin = self.tokens[i].start if i < len(self.tokens) else len(self.file.text)
        stop = self.tokens[at - 1].end if at > i else begin
        begin = min(begin, start) if start is not None else begin
        text = self.file.text[begin:stop]
        if not text.isascii():
            from tdsl.syntax.characters import latin_names

            names += latin_names(text)
        broken = Token("BROKEN", text, self.file, begin, (tuple(dict.fromkeys(names)), bodies))
        self.parse.feed(broken)
        return at

    def _opens_block(self, at: int) -> bool:
        """Whether a brace in faulty text opens a block of statements."""
        following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        if self.tokens[self.head].text == "naming":  # has no block: these are the braces of an unquoted name
            return following is None or following.type == END
        return following is None or following.type in (END, "NAME", "RBRACE")

    def _matching(self, at: int) -> int:
        """The index after the brace that closes the one at ``at``."""
        depth = 0
        while at < len(self.tokens):
            kind = self.tokens[at].type
            depth += (kind == "LBRACE") - (kind == "RBRACE")
            at += 1
            if not depth:
                break
        return at


@dataclass(slots=True)
class _SecondParse(_ParseRun):
    """A parse that looks for other causes of one fault."""

    asked: Diagnostic | None = None
    others: list[Diagnostic] = field(default_factory=list)

    def _report_unexpected(self, i: int) -> None:
        from tdsl.syntax.messages import explanations_of_token

        known = len(self.diagnostics)
        _ParseRun._report_unexpected(self, i)
        new = self.diagnostics.items[known:]
        if self.asked in new:
            token = self.tokens[i] if i < len(self.tokens) else None
            self.others = explanations_of_token(self, i, token)


def _salvage_statement(lost: list[Any]) -> tuple[list[str], tuple[tree.Stmt, ...], int | None]:
    """What can be kept of a given-up statement: the names in it, the statements of its blocks, where it
    began."""
    names: list[str] = []
    bodies: tuple[tree.Stmt, ...] = ()
    starts: list[int] = []
    todo = list(reversed(lost))
    while todo:
        value = todo.pop()
        if type(value) is Token:
            starts.append(value.start)
            if value.type == "BROKEN":
                names += value.node[0]
                bodies += value.node[1]
            elif value.type == "NAME":
                names.append(value.text)
        elif (block := _statements_of_block(value)) is not None:
            bodies += block
        elif isinstance(value, str):
            names.append(value)
        else:
            span = getattr(value, "span", None)
            starts += [] if span is None else [span.start]
            todo.extend(reversed(_parts_of_node(value)))
    return names, bodies, min(starts, default=None)


def _statements_of_block(value: Any) -> tuple[tree.Stmt, ...] | None:
    """The statements of a block, or of all branches of an ``if``; None of anything else."""
    from tdsl.syntax.build import Clause

    if type(value) is Clause and value.kind == "block":
        return tuple(value.value)
    if isinstance(value, tree.If):
        return tuple(s for _, body in value.branches for s in body) + value.other
    return None


def _parts_of_node(value: Any) -> list[Any]:
    """The parts of a list, of a node of the parser's, or of a node of the tree."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if hasattr(value, "children"):
        return list(value.children)
    if isinstance(value, SourceSpan) or not hasattr(value, "__dataclass_fields__"):
        return []
    return [getattr(value, f) for f in value.__dataclass_fields__ if f not in ("span", "kind", "op", "unit")]
