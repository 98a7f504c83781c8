"""NCCL's own reader of XML, step by step: what it takes, what it stops at, what it drops without a word.

It is not an XML reader: a tag stands on one line, one blank comes before each attribute, and there are no
prologs, tabs, entities or texts. The rules are those of ``xmlGetNode`` and ``xmlLoadSub`` in NCCL 2.30.7,
src/graph/xml.cc; their limits in xml.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.nccl.dialects import dialect_of_text, in_words_of
from tdsl.system.lazy_dataclass import dataclass

Children = Mapping[str, frozenset[str]]
"""Element -> elements it may hold; the file itself is ""."""

GRAPHS: Children = {
    "": frozenset({"graphs"}),
    "graphs": frozenset({"graph"}),
    "graph": frozenset({"channel"}),
    "channel": frozenset({"net", "gpu"}),
}
GRAPHS_ROOM = 65536
"""Elements that fit in a graph file; the reader needs one of them free."""

PROLOG = "a prolog or declaration: NCCL knows none"
MAX_ATTRIBUTES, MAX_BYTES = 16, 253


@dataclass(slots=True)
class NcclElement:
    """An element as NCCL holds it: of attributes given twice the first counts. ``spans`` has the places of
    the values."""

    name: str
    span: SourceSpan
    attributes: dict[str, str] = field(default_factory=dict)
    spans: dict[str, SourceSpan] = field(default_factory=dict)
    children: list[NcclElement] = field(default_factory=list)

    def walk(self) -> list[NcclElement]:
        """It and all below it, in the order of the text."""
        return [self, *(e for c in self.children for e in c.walk())]

    def own(self, name: str) -> list[NcclElement]:
        """Its children of a name."""
        return [c for c in self.children if c.name == name]

    def place(self, attribute: str) -> SourceSpan:
        """Where an attribute's value stands; the tag's name if it has none."""
        return self.spans.get(attribute, self.span)


class _Stop(Exception):
    """The reader goes no further."""


def read_nccl_xml(file: SourceFile, found: Diagnostics) -> NcclElement | None:
    """The first top element that NCCL looks for; None if there is none, or after something that stops its
    reader."""
    try:
        return _NcclXmlReader(file, found).file()
    except _Stop:
        return None


class _NcclXmlReader:
    """One pass over a text. ``known`` is the nesting of the kind of file, known by its first element."""

    def __init__(self, file: SourceFile, found: Diagnostics) -> None:
        self.source, self.text, self.found = file, file.text, found
        self.at = 0
        self.dialect = dialect_of_text(file.text)
        self.known = self.dialect.children
        self.room = self.dialect.room
        self.count = 0

    # ------------------------------------------------------------ findings
    def stop(self, start: int, message: str, help: str, code: str = "E0521", end: int | None = None) -> _Stop:
        """What NCCL refuses to read on from; ``start`` to ``end`` is underlined."""
        start = min(start, max(len(self.text) - 1, 0))
        line = self.text.find("\n", start)
        stop = end if end is not None else start + 1
        self.found.add(
            code,
            SourceSpan(self.source, start, min(stop, line if line > start else len(self.text))),
            in_words_of(self.dialect, message),
            help=in_words_of(self.dialect, help),
        )
        return _Stop()

    def tell(
        self, code: str, span: SourceSpan, message: str, help: str, severity: Severity = Severity.WARNING
    ) -> None:
        """What NCCL reads on after."""
        message, help = (in_words_of(self.dialect, text) for text in (message, help))
        self.found.add(code, span, message, help=help, severity=severity)

    # ------------------------------------------------------------ letters
    def next(self, start: int, what: str) -> str:
        """The next letter."""
        if self.at >= len(self.text):
            raise self.stop(start, f"the file ends inside {what}", "close it", end=len(self.text))
        self.at += 1
        return self.text[self.at - 1]

    def token(self, what: str, *, attribute: bool = False) -> tuple[str, str]:
        """A name up to the letter that ends it, and that letter; only an attribute's may end in ``=``."""
        start = self.at
        while (c := self.next(start, what)) not in " >/\n\r=":
            pass
        word = self.text[start : self.at - 1]
        if c == "=" and not attribute:
            help = "put a space before the `=`" if word.startswith("!--") else "give the element a name"
            raise self.stop(self.at - 1, f"a `=` in {what}: NCCL takes the word before it for a name", help)
        if len(word.encode()) > MAX_BYTES + (c == "="):
            raise self.stop(start, f"{what} is longer than {MAX_BYTES} bytes", "shorten it", end=self.at - 1)
        return word, c

    def value(self, name: str) -> tuple[str, SourceSpan, str]:
        """A quoted value, its place, and the letter after it. Nothing in it is decoded."""
        start = self.at
        quote = self.next(start, f"the value of `{name}`")
        if quote not in "\"'":
            raise self.stop(start, f"the value of `{name}` has no quotes", f'write {name}="…"')
        end = self.text.find(quote, self.at)
        if end < 0:
            raise self.stop(
                start,
                f"the value of `{name}` has no closing quote",
                f"close it with {quote}",
                end=len(self.text),
            )
        inner = self.text[self.at : end]
        if len(inner.encode()) > MAX_BYTES:
            raise self.stop(
                start, f"the value of `{name}` is longer than {MAX_BYTES} bytes", "shorten it", end=end
            )
        self.at = end + 1
        if "\n" in inner:
            line = self.text.index("\n", start)
            text = f"the value of `{name}` goes on over a line end: is a quote missing?"
            self.tell("E0524", SourceSpan(self.source, start, line), text, f"close it with {quote}")
        return inner, SourceSpan(self.source, start, end + 1), self.next(start, f"the tag of `{name}`")

    # ------------------------------------------------------------ tags
    def pass_blanks(self) -> None:
        """Go to the next tag, past blanks, line ends and comments."""
        while self.at < len(self.text):
            if self.text[self.at] in " \n\r":
                self.at += 1
            elif self.text.startswith("<!--", self.at):
                self.comment(self.at)
            elif self.text[self.at] == "<":
                return
            else:
                raise self.between(self.at)

    def tag(self) -> tuple[str, NcclElement] | None:
        """The next tag: open, close or single; None at the end of the file."""
        self.pass_blanks()
        if self.at == len(self.text):
            return None
        start = self.at
        self.at += 1
        name, c = self.token("a tag's name")
        if not name and c == "/":
            name, c = self.token("a closing tag")
            if c != ">":
                raise self.stop(self.at - 1, f"</{name} is not closed at once", f"write `</{name}>`")
            return "close", NcclElement(name, SourceSpan(self.source, start, self.at))
        element = NcclElement(name, SourceSpan(self.source, start, start + 1 + len(name)))
        count = 0
        while c == " ":
            c = self.attribute(element)
            count += 1
        if count > MAX_ATTRIBUTES:
            self.tell(
                "E0525",
                element.span,
                f"{count} attributes: NCCL keeps {MAX_ATTRIBUTES} and writes its own beyond them",
                f"keep to the attributes that NCCL knows for <{name}>",
                Severity.ERROR,
            )
        kind = "open"
        if c == "/":
            kind = "single"
            start = self.at
            rest, c = self.token("the end of a tag")
            if rest:
                at = SourceSpan(self.source, start, start + len(rest))
                self.tell(
                    "E0522", at, f"{rest!r} between `/` and `>`: NCCL ignores it", "end the tag with `/>`"
                )
        if c != ">":
            raise self.unclosed(element, c)
        return kind, element

    def attribute(self, element: NcclElement) -> str:
        """One attribute; the letter after it."""
        start = self.at
        name, c = self.token("an attribute's name", attribute=True)
        value, span = "", SourceSpan(self.source, start, start + max(len(name), 1))
        if c == "=":
            value, span, c = self.value(name)
            if not name:
                self.tell("E0522", span, f'="{value}" has no name: NCCL looks for none', "name the attribute")
        elif not name:
            self.tell(
                "E0525",
                span,
                "an extra space: NCCL counts an attribute without a name",
                "put one space before an attribute, and none before the end of the tag",
            )
        else:
            self.tell("E0524", span, f"`{name}` has no value: NCCL takes it for empty", f'write {name}="…"')
        if name in element.attributes and element.name == "net" and element.attributes[name] != value:
            text = (
                f"`{name}` is given twice with different values: NCCL compares all, and ranks hold one "
                "adapter for two"
            )
            self.tell("E0526", span, text, "keep one of them", Severity.ERROR)
        elif name in element.attributes:
            self.tell("E0522", span, f"`{name}` is given twice: the first counts", "keep one of them")
        else:
            element.attributes[name], element.spans[name] = value, span
        return c

    def between(self, start: int) -> _Stop:
        """Something that is neither a tag nor a comment."""
        if self.text[start] == "\t":
            return self.stop(
                start, "a tab between tags: NCCL accepts spaces and line ends only", "indent with spaces"
            )
        shown = self.text[start : start + 12].split("\n")[0]
        help = "remove it, or put it into a comment `<!-- … -->`"
        return self.stop(start, f"text between tags: {shown!r}", help, end=start + len(shown))

    def unclosed(self, element: NcclElement, c: str) -> _Stop:
        """A tag that ends in a letter NCCL does not expect."""
        at = self.at - 1
        if element.name.startswith(("?", "!")):
            return self.stop(element.span.start, PROLOG, "remove it", end=self.at)
        if c in "\n\r\t":
            return self.stop(
                at,
                f"the tag <{element.name}> goes on after a {'tab' if c == chr(9) else 'line end'}",
                "a tag and its attributes are on one line, separated by one space",
            )
        return self.stop(
            at,
            f"{c!r} in the tag <{element.name}>, where NCCL expects its end",
            "end the tag with `>` or `/>`",
        )

    def comment(self, start: int) -> None:
        """Pass a comment. Its first word is read like a name, and may hold no equals sign."""
        self.at = start + 1
        self.token("the first word of a comment")
        end = self.text.find("-->", start + 4)
        if end < 0:
            raise self.stop(start, "this comment has no end", "end it with `-->`", end=len(self.text))
        self.at = end + 3

    # ------------------------------------------------------------ elements
    def file(self) -> NcclElement | None:
        """All top elements; the first that NCCL looks for is the one it uses."""
        nul = self.text.find("\0")
        if nul >= 0:
            text = "a NUL byte: to NCCL a name or value ends there"
            self.tell(
                "E0524",
                SourceSpan(self.source, nul, nul + 1),
                text,
                "save the file as plain text",
                Severity.ERROR,
            )
        top = NcclElement("", SourceSpan(self.source, 0, 0))
        stack: list[tuple[NcclElement, bool]] = [(top, True)]
        while (tag := self.tag()) is not None:
            kind, element = tag
            holder, kept = stack[-1]
            if kind == "close":
                self.close_element(stack, element)
                continue
            if len(stack) == 1 and element.name in GRAPHS[""] and not top.children:
                self.known, self.room = GRAPHS, GRAPHS_ROOM
            kept = kept and self.take(holder, element)
            if kind == "open":
                stack.append((element, kept))
        if len(stack) > 1:
            self.left_open(stack[-1][0])
        for extra in top.children[1:]:
            self.tell(
                "E0522", extra.span, f"a second <{extra.name}>: NCCL uses the first", "write a file for each"
            )
        if not top.children:
            raise self.stop(
                0, "no <system> in the file: NCCL goes on as if there were none", "describe one", "E0522"
            )
        return top.children[0]

    def left_open(self, holder: NcclElement) -> None:
        """Stop at an element that the end of the file leaves open."""
        prolog = holder.name.startswith(("?", "!"))
        why = PROLOG if prolog else f"<{holder.name}> is not closed"
        raise self.stop(
            holder.span.start,
            why,
            "remove it" if prolog else f"write `</{holder.name}>`",
            end=holder.span.end,
        )

    def close_element(self, stack: list[tuple[NcclElement, bool]], element: NcclElement) -> None:
        """A closing tag: the element that it closes leaves the stack."""
        holder, kept = stack[-1]
        if len(stack) == 1 or (
            kept and element.name != holder.name
        ):  # of what it passes by NCCL forgets the name
            what = (
                f"</{element.name}> closes <{holder.name}>"
                if len(stack) > 1
                else f"</{element.name}> closes nothing"
            )
            raise self.stop(
                element.span.start,
                what,
                f"write `</{holder.name}>`" if len(stack) > 1 else "remove it",
                end=element.span.end,
            )
        stack.pop()

    def take(self, holder: NcclElement, element: NcclElement) -> bool:
        """Put an element where it belongs; False if NCCL passes it by with all it holds."""
        if element.name not in self.known.get(holder.name, ()):
            everywhere = {name for names in self.known.values() for name in names}
            where = f"in <{holder.name}>" if holder.name else "at the top of a file"
            places = ", ".join(
                f"<{h}>" if h else "the file" for h, names in self.known.items() if element.name in names
            )
            self.tell(
                "E0522",
                element.span,
                f"NCCL does not look for <{element.name}> {where}, and ignores it",
                f"it belongs in {places}" if places else "remove it",
                Severity.ERROR if element.name in everywhere and element.name != "net" else Severity.WARNING,
            )
            return False
        holder.children.append(element)
        self.count += 1
        if self.count >= self.room:
            raise self.stop(
                element.span.start,
                f"{self.count} elements: NCCL reads {self.room - 1} at most",
                "leave out what NCCL does not need",
                "E0525",
                element.span.end,
            )
        if len(holder.children) > self.dialect.most_children:
            raise self.stop(
                element.span.start,
                f"more than {self.dialect.most_children} elements in one <{holder.name}>",
                "leave some out",
                "E0525",
                element.span.end,
            )
        return True
