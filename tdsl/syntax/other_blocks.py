"""A statement in another block than the one it was written in, and a block without braces. Each change is a
guess, which is tried on the design before it is proposed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceFile, SourceSpan

STATEMENTS = frozenset(
    {"require", "report", "connect", "circuit", "place", "omit", "naming", "address", "routing"}
)
KINDS_OF_FABRIC = frozenset(
    {"host", "switch", "chip", "ocs", "panel", "group", "pod", "plane", "rack", "hall"}
)
"""What belongs in a fabric and in no model."""
LONGEST_HEAD = 40
"""Characters of the first line of a block that name it."""


class _Block(NamedTuple):
    """Where the braces of a block are; the whole text is a block from -1."""

    opener: int
    closer: int


_HIDING = re.compile(r'"[^"\n]*+"|#[^\n]*+')


def moves_of_statement(file: SourceFile, at: int, word: str) -> Iterator[Fix]:
    """The statement at a character of a file moved to the end of the block before it, of the block behind it,
    and behind the block that it is in; into no block that begins with another ``word``, if one is given."""
    text = _HIDING.sub(lambda m: " " * len(m[0]), file.text)
    blocks = _blocks_of_text(text)
    begin, end = _statement_at(text, at)
    around = [b for b in blocks if b.opener < begin < b.closer]
    if not file.text[begin:end].strip() or not around:
        return
    own = min(around, key=lambda b: b.closer - b.opener)
    yield from _moves_into_blocks(file, text, (begin, end), own, blocks, word)
    if own.opener >= 0:
        yield _move_behind_block(file, text, (begin, end), own)


def _moves_into_blocks(
    file: SourceFile, text: str, statement: tuple[int, int], own: _Block, blocks: list[_Block], word: str
) -> Iterator[Fix]:
    """The ``statement`` moved to the end of the blocks beside it in its ``own`` one. ``text`` is that of the
    file without what hides braces."""
    begin, end = statement
    inside = [b for b in blocks if own.opener < b.opener and b.closer <= own.closer and b != own]
    before = max((b for b in inside if b.closer < begin), key=lambda b: b.closer, default=None)
    behind = min((b for b in inside if b.opener >= end), key=lambda b: b.opener, default=None)
    said = file.text[begin:end].strip().rstrip(",")
    heads = [_first_word(file.text, b) for b in inside]
    for block in filter(None, (before, behind)):
        if word and _first_word(file.text, block) != word:
            continue
        near = block is before and not text[block.closer + 1 : begin].strip()
        if not near and heads.count(_first_word(file.text, block)) > 1:  # which one is not known
            continue
        if _may_hold(_first_word(file.text, block), said.partition(" ")[0], own.opener < 0):
            at_end = _edit_at_end(file, text, block, said)
            yield Fix(
                f"move it into {_block_in_words(file.text, block)}",
                (_cut(file, text, begin, end), at_end),
                safe=False,
            )


def _move_behind_block(file: SourceFile, text: str, statement: tuple[int, int], own: _Block) -> Fix:
    """The ``statement`` moved behind the block that it is in."""
    begin, end = statement
    said = file.text[begin:end].strip().rstrip(",")
    line_end = text.find("\n", own.closer)
    place = line_end if line_end >= 0 else len(text)
    begins = file.text.rfind("\n", 0, own.opener) + 1
    indent = re.compile(r"[ \t]*+").match(file.text, begins)
    out = SourceSpan(file, place, place), f"\n{indent[0] if indent is not None else ''}{said}"
    words = f"move it behind {_block_in_words(file.text, own)}"
    return Fix(words, (_cut(file, text, begin, end), out), safe=False)


def _first_word(text: str, block: _Block) -> str:
    """The first word of the statement that a block belongs to, "" where there is none."""
    begin = max(text.rfind(sign, 0, block.opener) for sign in "\n;{}") + 1
    return next(iter(text[begin : block.opener].split()), "")


def _may_hold(head: str, word: str, at_top: bool) -> bool:
    """Whether a statement that begins with a word may be meant for a block of another: one from the top of a
    file for a fabric, a port for a model."""
    if word in ("port", "numa", "pcie"):
        return head == "model"
    return not at_top or head not in ("model", "topology") or word not in STATEMENTS | KINDS_OF_FABRIC


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
    if behind is not None:
        return SourceSpan(file, begin, behind.end()), ""
    before = text[first:begin].rstrip(" \t")
    return SourceSpan(
        file, first + len(before[:-1].rstrip(" \t")) if before.endswith(";") else begin, end
    ), ""


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


LONGEST_BLOCK = 60
"""Lines of a block that is written without braces."""
_HEAD = re.compile(r"([ \t]*+)(?:- )?(.*\S)[ \t]*:[ \t]*$")
_PAIR = re.compile(r"([ \t]*+)(?:- )?([a-z_]\w*+): +(\S.*)$")


def block_in_braces(file: SourceFile, at: int) -> Fix | None:
    """The block at a line that ends with `:`, which indentation marks, with braces around it and its settings
    without a sign; None where no deeper line follows."""
    begin = file.text.rfind("\n", 0, at) + 1
    lines = file.text[begin:].split("\n")[:LONGEST_BLOCK]
    depth = _indent(lines[0])
    end = next(
        (k for k, line in enumerate(lines[1:], 1) if line.strip() and _indent(line) <= depth), len(lines)
    )
    while end > 1 and not lines[end - 1].strip():
        end -= 1
    if end < 2 or _HEAD.match(lines[0]) is None or any("{" in line for line in lines[:end]):
        return None
    new = "\n".join(_lines_with_braces(lines[:end]))
    span = SourceSpan(file, begin, begin + len("\n".join(lines[:end])))
    head = new.split("\n")[0].strip()
    return Fix(
        f"write `{head}` and `}}` behind the block" if head.endswith("{") else f"write `{head}`",
        ((span, new),),
        safe=False,
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _model_among_settings(lines: list[str]) -> tuple[str, list[str]]:
    """The model that the settings of a device name, "" where none does, and the other settings."""
    found = (_PAIR.match(line) for line in lines)
    model = next((m[3] for m in found if m is not None and m[2] == "model"), "")
    others = [x for x in lines if not model or re.match(r"[ \t]*+(?:- )?model:", x) is None]
    return model, others


def _lines_with_braces(lines: list[str]) -> list[str]:
    """The lines of a block in indentation, in braces; a model among the settings of a device goes to its
    head."""
    out: list[str] = []
    k = 0
    while k < len(lines):
        head, pair = _HEAD.match(lines[k]), _PAIR.match(lines[k])
        if head is not None:
            depth = _indent(lines[k])
            end = next(
                (j for j in range(k + 1, len(lines)) if lines[j].strip() and _indent(lines[j]) <= depth),
                len(lines),
            )
            model, inside = _model_among_settings(lines[k + 1 : end])
            start = f"{head[1]}{head[2]}{f': {model}' if model else ''}"
            out += [f"{start} {{", *_lines_with_braces(inside), f"{head[1]}}}"] if inside else [start]
            k = end
            continue
        device = pair is not None and pair[2] in KINDS_OF_FABRIC
        out.append(lines[k] if pair is None or device else f"{pair[1]}{pair[2]} {pair[3]}")
        k += 1
    return out
