"""A statement in another block than the one it was written in: where it may belong. Each place is a guess, which
is tried on the design before it is proposed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceFile, SourceSpan

LONGEST_HEAD = 40
"""Characters of the first line of a block that name it."""


class _Block(NamedTuple):
    """Where the braces of a block are; the whole text is a block from -1."""

    opener: int
    closer: int


_HIDING = re.compile(r'"[^"\n]*+"|#[^\n]*+')


def moves_of_statement(file: SourceFile, at: int) -> Iterator[Fix]:
    """The statement at a character of a file moved to the end of the block before it, of the block behind it,
    and behind the block that it is in."""
    text = _HIDING.sub(lambda m: " " * len(m[0]), file.text)
    blocks = _blocks_of_text(text)
    begin, end = _statement_at(text, at)
    around = [b for b in blocks if b.opener < begin < b.closer]
    if not file.text[begin:end].strip() or not around:
        return
    own = min(around, key=lambda b: b.closer - b.opener)
    inside = [b for b in blocks if own.opener < b.opener and b.closer <= own.closer and b != own]
    before = max((b for b in inside if b.closer < begin), key=lambda b: b.closer, default=None)
    behind = min((b for b in inside if b.opener >= end), key=lambda b: b.opener, default=None)
    said = file.text[begin:end].strip().rstrip(",")
    for block in (before, behind):
        if block is not None:
            at_end = _edit_at_end(file, text, block, said)
            yield Fix(f"move it into {_block_in_words(file.text, block)}", (_cut(file, text, begin, end), at_end), safe=False)
    if own.opener >= 0:
        line_end = text.find("\n", own.closer)
        place = line_end if line_end >= 0 else len(text)
        begins = file.text.rfind("\n", 0, own.opener) + 1
        indent = re.compile(r"[ \t]*+").match(file.text, begins)
        new = f"\n{indent[0] if indent is not None else ''}{said}"
        out = (SourceSpan(file, place, place), new)
        yield Fix(f"move it behind {_block_in_words(file.text, own)}", (_cut(file, text, begin, end), out), safe=False)


def _blocks_of_text(text: str) -> list[_Block]:
    """All blocks of a text without strings and comments, the text itself first."""
    out, opened = [_Block(-1, len(text))], []
    for m in re.finditer(r"[{}]", text):
        if m[0] == "{":
            opened.append(m.start())
        elif opened:
            out.append(_Block(opened.pop(), m.start()))
    return out


def _statement_at(text: str, at: int) -> tuple[int, int]:
    """Where the statement at a character begins and ends, its block included."""
    begin = max(text.rfind(sign, 0, at) for sign in "\n;{}") + 1
    begin += len(text[begin:at]) - len(text[begin:at].lstrip())
    depth = 0
    for m in re.compile(r"[{};\n]").finditer(text, begin):
        depth += (m[0] == "{") - (m[0] == "}")
        if depth < 0 or (depth == 0 and m[0] in ";\n"):
            return begin, m.start()
    return begin, len(text)


def _cut(file: SourceFile, text: str, begin: int, end: int) -> tuple[SourceSpan, str]:
    """The edit that takes a statement out, with the line or the `;` that it leaves."""
    first = text.rfind("\n", 0, begin) + 1
    last = text.find("\n", end)
    last = last + 1 if last >= 0 else len(text)
    if not text[first:begin].strip() and not file.text[end:last].strip():
        return SourceSpan(file, first, last), ""
    behind = re.compile(r"[ \t]*+;[ \t]*+").match(text, end)
    before = re.search(r"[ \t]*+;[ \t]*+$", text[first:begin])
    if behind is not None:
        return SourceSpan(file, begin, behind.end()), ""
    return SourceSpan(file, first + before.start() if before is not None else begin, end), ""


def _edit_at_end(file: SourceFile, text: str, block: _Block, said: str) -> tuple[SourceSpan, str]:
    """The edit that puts a statement at the end of a block."""
    inside = text[block.opener + 1 : block.closer]
    if "\n" in inside:
        line = text.rfind("\n", 0, block.closer) + 1
        indent = file.text[line : block.closer]
        return SourceSpan(file, line, line), f"{indent if not indent.strip() else ''}  {said}\n"
    sign = " " if not file.text[block.opener + 1 : block.closer].strip() else "; "
    last = block.opener + 1 + len(file.text[block.opener + 1 : block.closer].rstrip())
    return SourceSpan(file, last, block.closer), f"{sign}{said} "


def _block_in_words(text: str, block: _Block) -> str:
    """A block by what stands before its brace."""
    begin = max(text.rfind(sign, 0, block.opener) for sign in "\n;{}") + 1
    head = text[begin : block.opener].strip()
    return f"the braces of `{head if len(head) <= LONGEST_HEAD else head[: LONGEST_HEAD - 1] + '…'}`"
