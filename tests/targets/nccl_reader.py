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


class Reader:
    """Takes one letter after the other, knowing blanks, line ends, tags, quotes and comments, and nothing else of XML."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.count = 0

    def next(self) -> str:
        """One letter."""
        if self.at >= len(self.text):
            raise Unreadable("end of file")
        self.at += 1
        return self.text[self.at - 1]

    def word(self, ends: str) -> tuple[str, str]:
        """Letters up to one of ``ends``, and that one."""
        out = ""
        while (c := self.next()) not in ends:
            if not (c.isalnum() or c == "_"):
                raise Unreadable(f"unexpected {c!r} in a name")
            out += c
            if len(out) > ROOM["letters"]:
                raise Unreadable("name too long")
        return out, c

    def value(self) -> str:
        """A quoted value; nothing in it is decoded."""
        quote = self.next()
        if quote not in "\"'":
            raise Unreadable(f"expected a quote, got {quote!r}")
        out = ""
        while (c := self.next()) != quote:
            out += c
        if len(out.encode()) > ROOM["letters"]:
            raise Unreadable("value too long")
        return out

    def tag(self) -> tuple[str, str, dict[str, str]]:
        """The next tag: ``open``, ``close``, ``empty`` or ``end`` of file, its name and its attributes."""
        while self.at < len(self.text) and self.text[self.at] in " \n\r":
            self.at += 1
        if self.at == len(self.text):
            return "end", "", {}
        if (c := self.next()) != "<":
            raise Unreadable(f"expecting '<', got {c!r}")
        if self.text.startswith("!--", self.at):
            self.at = self.text.index("-->", self.at) + 3
            return self.tag()
        if self.text[self.at] == "/":
            self.at += 1
            name, _ = self.word(">")
            return "close", name, {}
        name, c = self.word(" />")
        attributes: dict[str, str] = {}
        count = 0
        while c == " ":
            key, c = self.word("=/> ")
            count += 1
            if c != "=" or not key:
                raise Unreadable("an attribute without a name or value")
            attributes.setdefault(key, self.value())
            c = self.next()
        if count > ROOM["attributes"]:
            raise Unreadable("too many attributes")
        if c == "/":
            c = self.next()
            kind = "empty"
        else:
            kind = "open"
        if c != ">":
            raise Unreadable(f"expected >, got {c!r}")
        return kind, name, attributes

    def element(self, kind: str, name: str, attributes: dict[str, str]) -> Node:
        """A whole element."""
        self.count += 1
        if self.count > ROOM["elements"]:
            raise Unreadable("too many elements")
        node = Node(name, attributes)
        while kind == "open":
            inner, inner_name, inner_attributes = self.tag()
            if inner == "close":
                if inner_name != name:
                    raise Unreadable(f"</{inner_name}> in <{name}>")
                break
            if inner == "end":
                raise Unreadable("end of file")
            node.children.append(self.element(inner, inner_name, inner_attributes))
        return node


def read(text: str) -> Node:
    """The tree of a file."""
    reader = Reader(text)
    return reader.element(*reader.tag())
