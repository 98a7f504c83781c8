"""NCCL's way of reading a topology file, letter by letter: a second opinion, written apart from tdsl's own check."""

from __future__ import annotations

from dataclasses import dataclass, field

ROOM = {"attributes": 16, "children": 640, "elements": 255, "letters": 253}


@dataclass
class Node:
    """An element with what it holds."""

    name: str
    attributes: dict[str, str]
    children: list[Node] = field(default_factory=list)

    def all(self, name: str) -> list[Node]:
        """Every element of a name below this one."""
        found = []
        for c in self.children:
            found += ([c] if c.name == name else []) + c.all(name)
        return found


class Unreadable(Exception):
    """What NCCL would stop at."""


def need(holds: object, why: str) -> None:
    if not holds:
        raise Unreadable(why)


class Reader:
    """Takes one letter after the other, knowing blanks, line ends, tags, quotes and comments, and nothing else of XML."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.count = 0

    def next(self) -> str:
        """One letter."""
        need(self.at < len(self.text), "end of file")
        self.at += 1
        return self.text[self.at - 1]

    def word(self, ends: str) -> tuple[str, str]:
        """Letters up to one of ``ends``, and that one."""
        out = ""
        while (c := self.next()) not in ends:
            need(c.isalnum() or c == "_", f"unexpected {c!r} in a name")
            out += c
            need(len(out) <= ROOM["letters"], "name too long")
        return out, c

    def value(self) -> str:
        """A quoted value; nothing in it is decoded."""
        quote = self.next()
        need(quote in "\"'", f"expected a quote, got {quote!r}")
        out = ""
        while (c := self.next()) != quote:
            out += c
        need(len(out.encode()) <= ROOM["letters"], "value too long")
        return out

    def tag(self) -> tuple[str, str, dict[str, str]]:
        """The next tag: ``open``, ``close``, ``empty`` or ``end`` of file, its name and its attributes."""
        while self.at < len(self.text) and self.text[self.at] in " \n\r":
            self.at += 1
        if self.at == len(self.text):
            return "end", "", {}
        need(self.next() == "<", "expecting '<'")
        if self.text.startswith("!--", self.at):
            self.at = self.text.index("-->", self.at) + 3
            return self.tag()
        if self.text[self.at] == "/":
            self.at += 1
            return "close", self.word(">")[0], {}
        name, c = self.word(" />")
        attributes: dict[str, str] = {}
        count = 0
        while c == " ":
            key, c = self.word("=/> ")
            count += 1
            need(c == "=" and key, "an attribute without a name or value")
            attributes.setdefault(key, self.value())
            c = self.next()
        need(count <= ROOM["attributes"], "too many attributes")
        kind = "empty" if c == "/" else "open"
        need((self.next() if c == "/" else c) == ">", "expected >")
        return kind, name, attributes

    def element(self, kind: str, name: str, attributes: dict[str, str]) -> Node:
        """A whole element."""
        self.count += 1
        need(self.count <= ROOM["elements"], "too many elements")
        node = Node(name, attributes)
        while kind == "open":
            inner = self.tag()
            if inner[0] == "close":
                need(inner[1] == name, f"</{inner[1]}> in <{name}>")
                break
            need(inner[0] != "end", "end of file")
            node.children.append(self.element(*inner))
        return node


def read(text: str) -> Node:
    """The tree of a file."""
    reader = Reader(text)
    return reader.element(*reader.tag())
