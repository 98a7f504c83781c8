"""A faulty line with all that it says in another layout: settings in braces, keys without signs, clauses
without brackets, indices in brackets, words apart. Each is a guess, which is tried on the design before it is
proposed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from tdsl.syntax.forms import SETTINGS_OF_BLOCK
from tdsl.syntax.keywords import CLAUSES, GRAMMAR_WORDS, KINDS, OPERATORS, PATTERNS, SETTINGS, STARTERS
from tdsl.syntax.scene import UNIT

LONGEST = 400
"""Characters of a line that is laid out anew."""
_NAMES = frozenset({*SETTINGS, *STARTERS})
"""Words with which a statement or setting begins."""
_CLAUSES = frozenset({*CLAUSES, *OPERATORS, *PATTERNS})
_MORE_SETTINGS = (
    "affinity arms capacity combine context cords data dispatch expert ffn fibre form from "
    "gateway gradients head_size heads hidden hubs join joined kv_heads latency layers "
    "lengths mass members microbatch needed pipeline ports price reach recompute shard "
    "subsystem switch tensor threads trunk vocab"
)
_SETTINGS = frozenset(
    {
        *SETTINGS,
        *_MORE_SETTINGS.split(),
        *(f.split()[0] for forms in SETTINGS_OF_BLOCK.values() for f in forms),
    }
)
"""Words of settings, those of jobs and of the library's topologies among them."""
Layout = tuple[str, str]
"""What is wrong with the layout of a line, and the line in another."""

_TEXT = r'"[^"\n]*+"'
_GROUP = re.compile(rf"[{{(\[](?:{_TEXT}|[^{{}}()\[\]\"\n]|\[[^\[\]\n]*+\]|\([^()\n]*+\))*+[}})\]]")
"""A pair of brackets, with texts and other brackets in it."""
_KEY = re.compile(r"""(?:^|(?<=[,;]))\s*+["']?([A-Za-z_]\w*+)["']?\s*+[:=](?![:=])\s*+""")
_ITEM_END = re.compile(rf"{_TEXT}|\[[^\[\]\n]*+\]|\([^()\n]*+\)|\{{[^{{}}\n]*+\}}|[,;]|\b(?:and|with)\b")


def other_layouts(line: str, at: int, of_syntax: bool) -> Iterator[Layout]:
    """Other layouts of a line for a fault at one of its characters, ``of_syntax`` or of its meaning, the
    likeliest first; its indentation and comment are not among them."""
    inside = any(m.start() < at < m.end() - 1 for m in re.finditer(_TEXT, line))
    if len(line) > LONGEST or inside:
        return
    seen = {line}
    for layout in (*_LAYOUTS_OF_SYNTAX, *_LAYOUTS) if of_syntax else _LAYOUTS:
        for message, new in layout(line, at):
            new = new.rstrip(" \t")
            if new not in seen:
                seen.add(new)
                yield message, new


def _items_of_settings(text: str) -> list[str]:
    """The settings in a text, which commas, `;`, `and` or nothing separate; empty where it begins with
    none."""
    ends = [m for m in _ITEM_END.finditer(text) if m[0] in (",", ";", "and", "with")]
    cuts, begin, out = [], 0, []
    for m in ends:
        following = re.compile(r"\s*+(\w+)").match(text, m.end())
        if m[0] == ";" or (following is not None and (following[1] in _NAMES | _SETTINGS)):
            cuts.append((begin, m.start()))
            begin = m.end()
    for a, b in [*cuts, (begin, len(text))]:
        out += _items_side_by_side(text[a:b].strip(" ,;"))
    out = [re.sub(r"^([a-z_]\w*+)\s*+[:=]\s*+", r"\1 ", item) for item in out]
    words = [re.match(r"[a-z_]\w*+(?=\s|$)", item) for item in out]
    return out if out and all(words) else []


def _items_side_by_side(text: str) -> list[str]:
    """The settings in a text that blanks separate: each begins with the word of one behind a value."""
    out, begin, value = [], 0, False
    for m in re.finditer(rf"{_TEXT}|\S+", text):
        word = m[0]
        if value and word in _SETTINGS and word not in _CLAUSES:
            out.append(text[begin : m.start()].strip())
            begin, value = m.start(), False
        else:
            value = not word.endswith(",") and m.start() > begin
    return [*out, text[begin:].strip()] if text[begin:].strip() else out


def _keys_with_signs(line: str, at: int) -> Iterator[Layout]:
    """``{ "rate": 400Gbps, length = 3m }`` and ``(rate=400Gbps, length=3m)``."""
    for group in _groups_around(line, at):
        inside = group[0][1:-1].strip()
        if _KEY.search(inside) is None:
            continue
        parts = [
            part.strip().rstrip(",;").rstrip()
            for part in _KEY.sub(lambda m: f"\0{m[1]} ", inside).split("\0")
        ]
        parts, head = list(filter(None, parts)), line[: group.start()].rstrip()
        model = next((part for part in parts if part.startswith("model ")), "") if head.endswith(":") else ""
        if model:  # `switch spine: { model: QM9700 }`
            parts.remove(model)
            head = f"{head} {model.removeprefix('model ')}"
        message = "settings are in braces, each a name and its value without a sign, with `;` between them"
        body = f" {{ {'; '.join(parts)} }}" if parts else ""
        yield message, f"{head}{body}{line[group.end() :]}"


def _groups_around(line: str, at: int) -> list[re.Match[str]]:
    """The brackets of a line that hold more than an index, those nearest to a character first, and the
    shorter ones of those around it."""
    found = (_GROUP.match(line, m.start()) for m in re.finditer(r"[{(\[]", line))
    groups = [m for m in found if m is not None and re.search(r"(?<!\w)[A-Za-z]\w*+[\"']?[\s:=]", m[0])]
    around = [m for m in groups if m.start() <= at < m.end()]
    others = [m for m in groups if m not in around]
    return [*sorted(around, key=lambda m: len(m[0])), *sorted(others, key=lambda m: abs(m.start() - at))]


_SETTING_WORD = re.compile(r"(?<![\w.\[])[a-z_]\w*+(?=\s|$|[:=] )")


def _settings_outside_of_braces(line: str, at: int) -> Iterator[Layout]:
    """``connect a to b with length 3m, rate 400Gbps``, ``{ length 3m } cable X`` and ``port p: 1Gbps
    type X``."""
    key = re.match(r"([a-z_]\w*+)[:=] ?(?=\S)", line)
    if key is not None and key[1] not in STARTERS and at <= key.end():  # `precision: bf16, gradients: fp32`
        line = f"{key[1]} {line[key.end() :]}"
        at = line.find(",") if "," in line else at
    block = re.search(r"\{([^{}]*+)\}", line)
    message = "settings are in braces, with `;` between them"
    for head in _places_of_settings(line, at)[:2]:
        before, items, behind = _parts_around_settings(line, head, block)
        if items and before.count("{") == before.count("}") and (" " in items[-1] or items[-1] in SETTINGS):
            yield message, f"{before} {{ {'; '.join(items)} }}{behind}"


def _parts_around_settings(line: str, head: int, block: re.Match[str] | None) -> tuple[str, list[str], str]:
    """What is before settings that begin at ``head``, these with those in the ``block`` of the line, and what
    is behind that block."""
    own = [] if block is None else [*filter(None, [block[1].strip(" ;")])]
    if block is None:
        return _without_joining_word(line[:head]), _items_of_settings(line[head:].strip("(){}[] ")), ""
    if block.end() <= head:
        return line[: block.start()].rstrip(), [*own, *_items_of_settings(line[head:])], ""
    before, behind = _without_joining_word(line[:head]), line[block.end() :]
    if block.start() > head:
        return before, [*_items_of_settings(line[head : block.start()]), *own], behind
    return before, _items_of_settings(line[head:].strip("(){}[] ")), behind


def _without_joining_word(text: str) -> str:
    """A text without the word or sign at its end that joins another to it."""
    text = text.rstrip()
    word = next((w for w in (",", ";", " with", " using", " having", " and") if text.endswith(w)), "")
    return text.removesuffix(word).rstrip()


def _places_of_settings(line: str, at: int) -> list[int]:
    """Where a setting may begin at a fault or just before it, the nearest first: at its word, or behind `,`,
    `with` or a block."""
    places = []
    for m in _SETTING_WORD.finditer(line):
        before = line[: m.start()].rstrip()
        joined = before.endswith((",", "}")) or re.search(r"\b(?:with|using|having)$", before)
        if m.start() >= at - 12 and m[0] not in _CLAUSES and (m[0] in SETTINGS or joined):
            places.append(m.start())
    return sorted(places, key=lambda k: abs(k - at))


def _separator_left_out(line: str, at: int) -> Iterator[Layout]:
    """``{ units 4 needed "2027-06-01" }`` and ``{ rate 400Gbps and length 3m }``."""
    for group in _groups_around(line, at)[:1]:
        items = _items_of_settings(group[0][1:-1].strip())
        alone = group[0][0] == "{" or not all(" " in item for item in items)
        if len(items) > alone and not re.search(r"[:=]", "".join(items)):
            separated = "settings are separated by `;`"
            message = separated if group[0][0] == "{" else "settings are in braces, with `;` between them"
            head = line[: group.start()].rstrip()
            yield message, f"{head} {{ {'; '.join(items)} }}{line[group.end() :]}"
    word = re.compile(r"[a-z_]\w*+").match(line, at)
    if word is not None and line[:at].strip() and word[0] in _NAMES and line[word.end() :].strip():
        message = f"`{word[0]}` is a statement of its own; a new line or `;` is before it"
        before = _without_joining_word(line[:at])
        yield message, f"{before}; {line[at:]}"


def _clause_in_brackets(line: str, at: int) -> Iterator[Layout]:
    """``survives any 1 of spine { with bisection >= 70% }`` and ``place a (in h1.A[1]) at 2U``."""
    for group in _groups_around(line, at)[:1]:
        clause = group[0][1:-1].strip()
        word = re.match(r"[a-z]+\b", clause)
        if word is None or line[group.start() - 1 : group.start()].isalnum():
            continue
        if word[0] not in _CLAUSES and re.search(r"\bsurvives\b.* $", line[: group.start()]) is not None:
            message = "what must hold after the failures follows `with`"
            yield message, f"{line[: group.start()]}with {clause}{line[group.end() :]}"
        if word[0] not in _CLAUSES:
            continue
        rest = f"{line[: group.start()].rstrip()} {line[group.end() :].lstrip()}".rstrip()
        message = f"`{clause}` has no brackets around it"
        yield message, f"{line[: group.start()]}{clause}{line[group.end() :]}"
        for boundary in re.finditer(r" (?=[a-z]+\b|[<>=]=|\{)", rest):
            following = re.compile(r"[a-z]+|\S").match(rest, boundary.end())
            if following is not None and (following[0] in _CLAUSES or following[0] in "<>={"):
                yield message, f"{rest[: boundary.start()]} {clause}{rest[boundary.start() :]}"


def _words_joined(line: str, at: int) -> Iterator[Layout]:
    """``full_node[0..3]`` and ``purpose_compute``: `_` for the blank between two words."""
    word = re.compile(r"\w++").match(line, at)
    begin = at
    while begin and (line[begin - 1].isalnum() or line[begin - 1] == "_"):
        begin -= 1
    word = re.compile(r"\w++").match(line, begin)
    for cut in re.finditer("_", word[0] if word is not None else ""):
        assert word is not None
        first, second = word[0][: cut.start()], word[0][cut.end() :]
        if second and (first in _NAMES | GRAMMAR_WORDS or second in GRAMMAR_WORDS):
            message = f"`{first}` and `{second}` are two words"
            yield message, f"{line[:begin]}{first} {second}{line[word.end() :]}"


def _value_before_name(line: str, at: int) -> Iterator[Layout]:
    """``{ 48U height }`` and ``4 per rack hosts``: the name of a setting behind its value."""
    begin = max(line.rfind(sign, 0, at) for sign in ";{") + 1
    end = min((k for sign in ";}" if (k := line.find(sign, at)) >= 0), default=len(line))
    item = line[begin:end].strip()
    found = re.fullmatch(r"(\S.*)\s([a-z_]\w*+)", item)
    if found is not None and found[2] in SETTINGS and re.match(r"[a-z_]\w*+", item) is None:
        message = f"the name of a setting, `{found[2]}`, comes before its value"
        at = begin + line[begin:].index(item)
        yield message, f"{line[:at]}{found[2]} {found[1]}{line[at + len(item) :]}"


def _index_in_other_signs(line: str, at: int) -> Iterator[Layout]:
    """``report tray_fill of s{0}``, ``cables of spine<0>`` and ``up p 33..64``."""
    inside = r"([\w+*/% -]++(?:\.\.[\w+*/% -]++)?+)"
    for found in re.finditer(
        rf"(?<=\w)(?:\{{{inside}\}}|<{inside}>|\({inside}\)|\[{inside}\]\[{inside}\])", line
    ):
        if found.start() - 20 <= at <= found.end():
            index = ", ".join(x.strip() for x in found.groups() if x)
            yield (
                "an index is written in square brackets",
                (f"{line[: found.start()]}[{index}]{line[found.end() :]}"),
            )


_BLOCK_HEAD = re.compile(
    rf"((?:{'|'.join((*KINDS['group'], *KINDS['scope'], 'phase', 'job', 'if', 'for'))}) [^:{{}}]++): (?=\S)"
)


def _colon_for_block(line: str, at: int) -> Iterator[Layout]:
    """``row A, B: rack 1..2 { height 48U }`` and ``phase 1: boxes = 8``."""
    found = _BLOCK_HEAD.search(line)
    if found is not None and found.end(1) - 1 <= at <= found.end():
        inside = re.sub(r"(?:^|(?<=, ))([a-z_]\w*+) ?[:=] ?", r"\1 ", line[found.end() :]).replace(", ", "; ")
        for body in dict.fromkeys((line[found.end() :], inside)):
            yield "a block is in braces, and no `:` is before it", f"{line[: found.end(1)]} {{ {body} }}"


def _sizes_joined(line: str, at: int) -> Iterator[Layout]:
    """``cube[a x 2 x 2]``: sizes of several dimensions."""
    for found in re.finditer(r"\[([\w+*/()-]++(?: [xX] [\w+*/()-]++)++)\]", line):
        sizes = re.sub(r" [xX] ", ", ", found[1])
        if found.start() <= at <= found.end():
            for new in (f"[{sizes}]", f"[({sizes})]"):
                yield (
                    "sizes of several dimensions are separated by `,`",
                    (f"{line[: found.start()]}{new}{line[found.end() :]}"),
                )


def _times_joined(line: str, at: int) -> Iterator[Layout]:
    """``power 2x 45kW`` and ``spread x8``: `x` that touches a number."""
    for found in re.finditer(r"(?<![\w.])(?:(\d++)x (?=[\w$])|x(\d++)(?!\w)|(\d++)x(?=$| \{))", line):
        new = f"{found[1]} x " if found[1] else f"x {found[2] or found[3]}"
        yield "a space is on both sides of `x`", f"{line[: found.start()]}{new}{line[found.end() :]}"


def _point_in_index(line: str, at: int) -> Iterator[Layout]:
    """``leaf[p. k]``: a point for the comma between two indices."""
    for found in re.finditer(r"\[(\w+)\. (\w+)\]", line):
        if found.start() - 30 <= at <= found.end():
            yield (
                "`,` separates indices",
                f"{line[: found.start()]}[{found[1]}, {found[2]}]{line[found.end() :]}",
            )


def _decimal_comma(line: str, at: int) -> Iterator[Layout]:
    """``pitch rack 0,6m``: a decimal with a comma."""
    for found in re.finditer(r"(?<![\w.])(\d+),(\d+[A-Za-z%/]++)", line):
        new = f"{found[1]}.{found[2]}"
        yield f"a decimal has a point: `{new}`", f"{line[: found.start()]}{new}{line[found.end() :]}"


def _commas_between_settings(line: str, at: int) -> Iterator[Layout]:
    """``{ port p: 400Gbps, power 10kW, height 4U }``: commas where settings end."""
    new = re.sub(r", (?=([a-z_]\w*+) \S)", lambda m: "; " if m[1] in _SETTINGS else m[0], line)
    yield "settings are separated by `;`", new


def _words_exchanged(line: str, at: int) -> Iterator[Layout]:
    """``partition 0x0001 training {``: two words in the other order."""
    words = list(re.finditer(rf"{_TEXT}|[^\s;{{}}]+", line))
    for a, b in pairwise(words):
        begins = line[: a.start()].rstrip()[-1:] in ("", "{", ";")  # the first word of a statement stays
        if a.start() <= at < b.end() and not begins and line[a.end() : b.start()] == " ":
            yield f"`{b[0]}` comes before `{a[0]}`", f"{line[: a.start()]}{b[0]} {a[0]}{line[b.end() :]}"


_PREPOSITIONS = ("across", "of", "to", "at", "from", "in", "by", "over", "under", "through", "with", "per")
_OTHERS = frozenset({*_PREPOSITIONS, "form", "via", "on", "into", "for", "using", "between", "off", "ot"})


def _another_preposition(line: str, at: int) -> Iterator[Layout]:
    """``bundle 2 over evpn`` and ``asn leaf[*] form 65001``: a word for another one that joins two parts."""
    for found in re.finditer(r"(?<= )([a-z]+)(?= )", line):
        if found[1] in _OTHERS and found.start() >= at - 1:
            for word in _PREPOSITIONS:
                if word != found[1]:
                    message = f"expected `{word}`, found `{found[1]}`"
                    yield message, f"{line[: found.start()]}{word}{line[found.end() :]}"
            return


def _arguments_in_brackets(line: str, at: int) -> Iterator[Layout]:
    """``report goodput(write=30s, restart=5min) of box``."""
    for found in re.finditer(r"(?<=\w)\(([a-z_]+ ?[=:][^()]*)\)", line):
        said = re.sub(r" ?[=:] ?|, ?", " ", found[1])
        if line.startswith(("require", "report")):
            yield (
                "what a metric is about follows it without brackets",
                (f"{line[: found.start()]} {said}{line[found.end() :]}"),
            )


def _sign_at_end(line: str, at: int) -> Iterator[Layout]:
    """``require reachability !`` and ``connect a to b,``: a sign at the end of a line."""
    said = line.rstrip("!.,\\|&")
    if said != line:
        yield f"nothing follows this `{line[len(said) :]}`: a statement ends with its line", said


def _unit_apart(line: str, at: int) -> Iterator[Layout]:
    """``distance a to b 150 m``: a blank between a number and its unit."""
    for found in re.finditer(r"(?<![\w.])(\d[\d.]*+) ([A-Za-z/]{1,4})(?![\w(\[])", line):
        if UNIT.fullmatch(found[2]) is not None:
            message = f"`{found[0]}` is written without a space: `{found[1]}{found[2]}`"
            yield message, f"{line[: found.start()]}{found[1]}{found[2]}{line[found.end() :]}"


_SIGN = re.compile(r"[ \t]*+([|:&=/\\,;<>~-]++)[ \t]*+")


def _another_sign(line: str, at: int) -> Iterator[Layout]:
    """``{ rate 400Gbps | length 3m }`` and ``{ leaf QM9700: spine QM9700 }``: a sign for another one."""
    if re.match(r"\s*+connect\b", line) and "{" not in line[:at]:
        return
    for place in (at, at - 1, at - 2):
        found = _SIGN.match(line, place) if place > 0 else None
        if found is None or not found.start(1) <= at <= found.end():
            continue
        for sign in ("; ", ", ", " "):
            if sign.strip() != found[1]:
                message = f"`{found[1]}` does not fit here" + (
                    f"; `{sign.strip()}` does" if sign.strip() else ""
                )
                yield message, f"{line[:place].rstrip()}{sign}{line[found.end() :]}"
        return


_CALLED = re.compile(
    r"(?<![\w.])([a-z_]\w*+)(?:\[((?:[^\[\]\n]|\[[^\[\]\n]*+\])*+)\]| (\w++(?:\[[^\[\]\n]*+\])?))"
)


def _call_in_other_brackets(line: str, at: int) -> Iterator[Layout]:
    """``half[n]``, ``len hubs`` and ``topology star[ends: ports] {``: a call without its parentheses."""
    for found in _CALLED.finditer(line):
        call = f"{found[1]}({found[2] or found[3]})"
        near = found.start() - 2 <= at <= found.end()
        if near and found[1] not in _NAMES | _CLAUSES and (found[2] or found[1] in _FUNCTIONS):
            yield (
                f"what a function takes is in parentheses: `{call}`",
                (f"{line[: found.start()]}{call}{line[found.end() :]}"),
            )


_FUNCTIONS = frozenset({"min", "max", "sum", "len", "sort", "product", "primes", "gf_root"})
"""Functions of the language that take one value, or a list."""


def _word_for_brace(line: str, at: int) -> Iterator[Layout]:
    """``phase 1 { boxes 8 end``: the word of another language where a block ends."""
    word = line.rpartition(" ")[2]
    if word in ("end", "done", "fi", "esac"):
        before = line.removesuffix(word).rstrip(" ;")
        yield f"a block ends with `}}`, not with `{word}`", f"{before} }}"


_LAYOUTS_OF_SYNTAX: tuple[Callable[[str, int], Iterator[Layout]], ...] = (
    _word_for_brace,
    _colon_for_block,
    _sizes_joined,
    _commas_between_settings,
    _arguments_in_brackets,
    _sign_at_end,
    _unit_apart,
    _another_sign,
    _index_in_other_signs,
    _call_in_other_brackets,
)
"""Layouts that are tried where a line cannot be read."""
_LAYOUTS: tuple[Callable[[str, int], Iterator[Layout]], ...] = (
    _unit_apart,
    _times_joined,
    _point_in_index,
    _decimal_comma,
    _keys_with_signs,
    _clause_in_brackets,
    _settings_outside_of_braces,
    _separator_left_out,
    _words_joined,
    _value_before_name,
    _another_preposition,
    _words_exchanged,
)
"""Layouts that may also be read, with another meaning."""
