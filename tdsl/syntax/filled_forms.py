"""A faulty statement said anew: a form, which is an example of the statement, with what was written in the
places of the example's values. Nothing that was written is left out but words and signs that say nothing of
their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tdsl.syntax.foreign_units import amount_written_here
from tdsl.syntax.keywords import CLAUSES, GRAMMAR_WORDS, INSTEAD_OF, PATTERNS
from tdsl.system.similar import closest_name

LONGEST = 300
"""Characters of a statement that is said anew."""


class _Item(NamedTuple):
    """A name, path, value or sign of a statement: its kind, its text, and where it begins and ends."""

    kind: str
    text: str
    start: int
    end: int


_ITEM = re.compile(
    r"""(?P<text>"[^"\n]*+")
    |(?P<network>(?:\d++(?:\.\d++){3}|[0-9a-f]*+(?::[0-9a-f]*+){2,})(?:/\d++)?+)
    |(?P<value>\$?\d[\w_]*+(?:\.\d[\w_]*+)?+(?:/[a-z]++)?+%?+(?::\d++|\.\.\d++)?+)
    |(?P<path>[A-Za-z_]\w*+(?:\[(?:[^\[\]\n]|\[[^\[\]\n]*+\])*+\]|\.(?=[A-Za-z_])\w++)*+)
    |(?P<group>\((?:[^()\n]|\([^()\n]*+\))*+\))
    |(?P<sign>[^\s\w])""",
    re.VERBOSE,
)
_UNITS = {
    "rate": "bps|b/s|B/s",
    "size": "i?B",
    "length": "[kcm]?m",
    "time": "[mnup]?s|min|h|day|week|month|year",
    "power": "W",
    "mass": "k?g|t",
    "rack units": "U",
}
_UNIT = re.compile(
    "|".join(f"(?P<{kind.replace(' ', '_')}>[kMGTPE]?(?:{unit}))" for kind, unit in _UNITS.items())
)
_NUMBER_AND_UNIT = re.compile(r"(\d[\d_]*+(?:\.\d++)?+)([A-Za-zµ].*+)?+")
_OPERATORS = frozenset("+*/%-")
_JOINING = frozenset({",", "and", "&", "+"})
"""What stands between the paths of a list."""
_CONNECTING = frozenset({"in", "to", "at", "from", "of", "x", "by", "with", "per", "as", "on", "via"})
"""Words of a form that need not be written to be meant."""
_WORDS_OF_ENGLISH = """
the a an is are be must should shall please each every and into onto inside between then up upwards
min max prob probability even evenly for using has have set unit number no
"""
_FILLERS = _CONNECTING | {*_WORDS_OF_ENGLISH.split(), *"=:,-|()", "==", "->", "=>"}
"""Words and signs that say nothing of their own."""
_NO_NAMES = frozenset({*CLAUSES, *PATTERNS}) - {"network", "total", "active", "intact", "all"}
"""Words of the language that nobody calls a device."""


def said_in_form(form: str, written: str) -> str:
    """The statement of a form's kind that says what was written; "" where a value of the form is missing or
    something that was written has no place in it. ``form`` is an example, such as ``distance h1 to h2 120m``:
    words in small letters stay, other names, paths and values are replaced."""
    if len(written) > LONGEST or "#" in written or "\n" in written:
        return ""
    places, items = _items_of(form), _items_of(written)
    if len(places) < 2 or len(items) < 2 or not places[0].text.islower() or places[0].text in _CONNECTING:
        return ""
    chosen = (
        _texts_of_places(places, _with_lists(items, form))
        or _texts_of_places(places, items)
        or _texts_of_places(places, _with_neighbours_listed(items))
    )
    said, at = "", 0
    for place, text in zip(places, chosen, strict=False):
        said += form[at : place.start] + text
        at = place.end
    return "" if not said or said == " ".join(written.split()) else said + form[at:]


def fits_form(form: str, written: str) -> bool:
    """Whether a statement is one of the form's kind as it is written."""
    return len(written) <= LONGEST and bool(_texts_of_places(_items_of(form), _items_of(written)))


def _texts_of_places(places: Sequence[_Item], items: Sequence[_Item]) -> list[str]:
    """The text for each place of a form; nothing where not all of the items find a place."""
    chosen, used = _words_of_form(places, items)
    if not chosen or not _choose_values(places, items, chosen, used):
        return []
    left = (items[k] for k in range(len(items)) if k not in used)
    return [] if any(x.text.lower() not in _FILLERS for x in left) else chosen


def _items_of(text: str) -> list[_Item]:
    """The items of a statement; values that operators join are one."""
    out: list[_Item] = []
    for found in _ITEM.finditer(text):
        kind = found.lastgroup or ""
        if kind == "value":
            kind = _kind_of_value(found[0])
        elif kind == "path" and re.fullmatch(r"x\d+", found[0]):  # `x8`
            out.append(_Item("word", "x", found.start(), found.start() + 1))
            out.append(_Item("number", found[0][1:], found.start() + 1, found.end()))
            continue
        elif kind == "path" and re.fullmatch(r"\w+", found[0]):
            kind = "word"
        item = _Item(kind, found[0], *found.span())
        if len(out) > 1 and out[-1].text in _OPERATORS and _is_operand(out[-2]) and _is_operand(item):
            whole = text[out[-2].start : item.end]
            kind = next((x.kind for x in (out[-2], item) if x.kind in _UNITS), "number")
            out[-2:] = [_Item(kind, whole, out[-2].start, item.end)]
        else:
            out.append(item)
    return out


def _is_operand(item: _Item) -> bool:
    return item.kind in ("number", "group", *_UNITS)


def _kind_of_value(text: str) -> str:
    """What a number measures, by the sign or unit that follows it."""
    if text.endswith("%"):
        return "share"
    if ".." in text:
        return "range"
    if ":" in text:
        return "ratio"
    if text.startswith("$"):
        return "money"
    found = _NUMBER_AND_UNIT.fullmatch(text)
    if found is None or not found[2]:
        return "number"
    if found[2].startswith("x") and re.fullmatch(r"(?:x\d+)+", found[2]):
        return "dimensions"
    unit = _UNIT.fullmatch(amount_written_here(found[1], found[2]).lstrip("0123456789.") or found[2])
    return (unit.lastgroup or "").replace("_", " ") if unit is not None else "unknown"


def _with_lists(items: Sequence[_Item], form: str) -> list[_Item]:
    """The items with paths that ``,`` or ``and`` joins put together; not those that the form itself joins."""
    out: list[_Item] = []
    for item in items:
        joins = len(out) > 1 and out[-1].text in _JOINING and out[-1].text not in form
        if joins and _may_be_listed(out[-2]) and _may_be_listed(item):
            out[-2:] = [_Item("path", f"{out[-2].text}, {item.text}", out[-2].start, item.end)]
        else:
            out.append(item)
    return out


def _with_neighbours_listed(items: Sequence[_Item]) -> list[_Item]:
    """The items with paths that stand side by side put together at the end of a statement."""
    at = len(items)
    while at and _may_be_listed(items[at - 1]):
        at -= 1
    if len(items) - at < 2 or not at:
        return []
    text = ", ".join(x.text for x in items[at:])
    return [*items[:at], _Item("path", text, items[at].start, items[-1].end)]


def _may_be_listed(item: _Item) -> bool:
    return item.kind == "path" or (item.kind == "word" and item.text not in GRAMMAR_WORDS | _FILLERS)


def _is_word_of_form(place: _Item) -> bool:
    return place.kind == "sign" or (place.kind == "word" and place.text.islower() and place.text.isalpha())


def _words_of_form(places: Sequence[_Item], items: Sequence[_Item]) -> tuple[list[str], set[int]]:
    """The text of each place of a form that is a word of it, "" of the others, and which items say these
    words; nothing where its first word or two others are not said."""
    chosen, used, missing = [""] * len(places), set[int](), 0
    many = sum(_is_word_of_form(x) and x.text not in _CONNECTING for x in places) > 2
    for k, place in enumerate(places):
        if not _is_word_of_form(place):
            continue
        said = next((i for i, x in enumerate(items) if i not in used and _says(x, place.text)), None)
        if said is not None:
            used.add(said)
        elif place.kind != "sign" and place.text not in _CONNECTING:
            missing += 1
            if not k or not many or missing > 1:
                return [], used
        chosen[k] = place.text
    return chosen, used


def _says(item: _Item, word: str) -> bool:
    """Whether an item is a word, its plural or singular, misspelt, or another word for it."""
    if item.kind not in ("word", "sign"):
        return False
    text = item.text.lower()
    if text == word or text.removesuffix("s") == word.removesuffix("s") or INSTEAD_OF.get(text) == word:
        return True
    return len(word) > 4 and text not in GRAMMAR_WORDS and closest_name(text, (word,), 0.8) == word


def _choose_values(
    places: Sequence[_Item], items: Sequence[_Item], chosen: list[str], used: set[int]
) -> bool:
    """Gives each place of a value its item: the one behind the same word, else the next that fits. False
    where none is left."""
    open_places = [k for k, place in enumerate(places) if not _is_word_of_form(place)]
    for by_word in (True, False):
        for k in open_places:
            if chosen[k]:
                continue
            for i in _candidates(places, items, k) if by_word else range(len(items)):
                text = "" if i in used else _text_in_place(places[k], items[i])
                if text:
                    chosen[k] = text
                    used.add(i)
                    break
    return all(chosen[k] for k in open_places)


def _candidates(places: Sequence[_Item], items: Sequence[_Item], k: int) -> Iterator[int]:
    """The items that follow the word before a place."""
    if k and _is_word_of_form(places[k - 1]):
        yield from (i + 1 for i, x in enumerate(items[:-1]) if x.text == places[k - 1].text)


def _name_in_place(kind: str, item: _Item) -> str:
    """What of an item is a name, a path or a text; "" where it is none."""
    if item.kind == kind != "word":
        return item.text
    if item.kind != "word" or item.text.lower() in _FILLERS:
        return ""
    return f'"{item.text}"' if kind == "text" else item.text


def _text_in_place(place: _Item, item: _Item) -> str:
    """What of an item fits a place of a form, as it is written here; "" where nothing does."""
    first = re.split(r"\W", item.text, maxsplit=1)[0].lower()
    if first in _NO_NAMES:
        return ""
    if place.kind in ("path", "word", "text"):
        return _name_in_place(place.kind, item)
    if place.kind == "rack units":
        units = re.fullmatch(r"[Uu](\d+)|(\d+)", item.text)
        if units is not None:
            return f"{units[1] or units[2]}U"
    if item.kind != place.kind and (place.kind, item.kind) != ("number", "range"):
        return ""
    found = _NUMBER_AND_UNIT.fullmatch(item.text)
    return (found is not None and found[2] and amount_written_here(found[1], found[2])) or item.text
