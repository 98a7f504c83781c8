"""The known name that somebody meant who wrote another: one answer for every "did you mean"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

SHORTEST = 3
"""Letters from which on the beginning of a name stands for the name."""
_SEPARATORS = re.compile(r"[\s_-]+")


def without_separators(name: str) -> str:
    """A name in small letters without ``_``, ``-`` and blanks."""
    return _SEPARATORS.sub("", name).lower()


def closest_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
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
    begun = _names_begun(word, plain)
    near = begun or get_close_matches(word, plain, 1, cutoff) or _names_around(word, plain)
    return plain[near[0]] if near else ""


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


def _names_around(word: str, plain: Iterable[str]) -> list[str]:
    """The names that have a word of four letters or more in them, the shortest first."""
    return sorted((k for k in plain if len(word) > SHORTEST and word in k), key=lambda k: (len(k), k))
