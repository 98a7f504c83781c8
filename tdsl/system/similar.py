"""The known name that somebody meant who wrote another: one answer for every "did you mean"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

SHORTEST = 3
"""Letters from which on the beginning of a name stands for the name."""
_SEPARATORS = re.compile(r"[\s_-]+")


def without_separators(name: str) -> str:
    """A name in small letters without ``_``, ``-`` and blanks."""
    return _SEPARATORS.sub("", name).lower()


def closest_name(name: str, known: Iterable[str], cutoff: float = 0.65) -> str:
    """The known name most like this one, "" if none is: the same but for case and separators; one that begins
    as this one does, or whose beginning this one is; the nearest by difflib's ratio, from ``cutoff`` on; the
    shortest that has this one in it."""
    candidates = sorted(set(known))
    exact = [k for k in candidates if k.lower() == name.lower()]
    if exact:
        return exact[0]
    plain = {without_separators(k): k for k in reversed(candidates)}
    word = without_separators(name)
    if word in plain:
        return plain[word]
    near = (
        _names_of_one_slip(word, plain)
        or _names_begun(word, plain)
        or get_close_matches(word, plain, 1, cutoff)
    )
    near = near or _names_around(word, plain)
    return plain[near[0]] if near else ""


def _names_of_one_slip(word: str, plain: Iterable[str]) -> list[str]:
    """The names that a word of four letters or more is with one slip of the hand, the likeliest slip first:
    two letters exchanged, one left out or written too much, one for another."""
    found = [(_kind_of_slip(word, k), k) for k in plain if abs(len(k) - len(word)) <= 1]
    return [k for kind, k in sorted(found) if kind == 1 or (kind and len(word) > SHORTEST)]


def _kind_of_slip(word: str, meant: str) -> int:
    """1 where two neighbours are exchanged, 2 where a letter is missing or too much, 3 where one is another;
    0 where it takes more."""
    at = next(
        (i for i, (a, b) in enumerate(zip(word, meant, strict=False)) if a != b), min(len(word), len(meant))
    )
    rest, other = word[at:], meant[at:]
    if len(rest) == len(other):
        exchanged = rest[:2] == other[:2][::-1] and rest[2:] == other[2:]
        return 1 if exchanged else 3 if rest[1:] == other[1:] else 0
    longer, shorter = (rest, other) if len(rest) > len(other) else (other, rest)
    return 2 if longer[1:] == shorter else 0


def _names_begun(word: str, plain: Iterable[str]) -> list[str]:
    """The names that a word is the beginning of, or that are most of its beginning, with or without the ``s``
    of a plural; the nearest in length first."""
    stem = word.removesuffix("s") if len(word) > SHORTEST else word
    found = [
        k
        for k in plain
        if (len(stem) >= SHORTEST and k.startswith(stem))
        or (len(k) >= SHORTEST and 2 * len(k) >= len(word) and word.startswith(k))
    ]
    return sorted(found, key=lambda k: (abs(len(k) - len(word)), k))


def _names_around(word: str, plain: Mapping[str, str]) -> list[str]:
    """The names that a word of four letters or more is the beginning or end of a part of, the shortest
    first: not ``searched`` of ``arch``."""
    if len(word) <= SHORTEST:
        return []
    around = re.compile(rf"(?:^|[\s_-]){re.escape(word)}|{re.escape(word)}(?:$|[\s_-])")
    found = (
        k for k, name in plain.items() if word in k and (around.search(k) or around.search(name.lower()))
    )
    return sorted(found, key=lambda k: (len(k), k))
