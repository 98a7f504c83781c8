"""Regular expressions of files that nobody vouches for, without backtracking: a pattern is followed at all
places of a text at once, so that time is in proportion to the text and the pattern."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field

from tdsl.system.lazy_dataclass import dataclass

LONGEST_PATTERN = 512
MOST_REPEATS = 64
SPECIAL = "\\.[]()|*+?{}^$"
REPEAT = re.compile(r"([*+?])|\{(\d{1,3})(?:(,)(\d{1,3})?)?\}")

Step = Callable[[str, frozenset[int]], frozenset[int]]
"""The places of a text behind what a part of a pattern matches, from those before it."""


class PatternRefused(Exception):
    """A pattern that is none, or has what cannot be followed; the text says what."""


def path_matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a text begins as a regular expression says (as ``re.match``). Raises PatternRefused for what is
    none, and for look-around, back references, flags and word boundaries."""
    if len(pattern) > LONGEST_PATTERN:
        raise PatternRefused(f"it has more than {LONGEST_PATTERN} characters")
    if not any(c in SPECIAL for c in pattern):
        return lambda text: text.startswith(pattern)
    parser = _PatternParser(pattern)
    step = parser.alternatives()
    if parser.at != len(pattern):
        raise PatternRefused(f"`)` at {parser.at + 1} closes nothing")
    return lambda text: bool(step(text, frozenset((0,))))


def signs_in_pattern(pattern: str) -> int:
    """How many signs of a pattern are no text: what it costs to follow."""
    return sum(c in SPECIAL for c in pattern)


def has_groups(pattern: str) -> bool:
    """Whether a pattern has groups whose text is kept."""
    return re.search(r"(?<!\\)\((?!\?:)", pattern) is not None


@dataclass(slots=True)
class _PatternParser:
    pattern: str
    at: int = 0
    depth: int = 0
    seen: dict[str, Step] = field(default_factory=dict)

    def alternatives(self) -> Step:
        """Sequences with ``|`` between them, up to ``)`` or the end."""
        self.depth += 1
        if self.depth > 16:
            raise PatternRefused("its groups are more than 16 deep")
        branches = [self.sequence()]
        while self.pattern[self.at : self.at + 1] == "|":
            self.at += 1
            branches.append(self.sequence())
        self.depth -= 1
        return lambda text, places: frozenset().union(*(b(text, places) for b in branches))

    def sequence(self) -> Step:
        """Parts behind each other."""
        parts: list[Step] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            parts.append(self.repeated(self.part()))

        def follow(text: str, places: frozenset[int]) -> frozenset[int]:
            for part in parts:
                places = part(text, places)
                if not places:
                    break
            return places

        return follow

    def repeated(self, part: Step) -> Step:
        """A part as often as what follows it says."""
        found = REPEAT.match(self.pattern, self.at)
        if found is None:
            return part
        self.at = found.end()
        if found[1]:
            least, most = (1 if found[1] == "+" else 0), (1 if found[1] == "?" else None)
        else:
            least = int(found[2])
            most = int(found[4]) if found[4] else None if found[3] else least
        if least > MOST_REPEATS or (most or 0) > MOST_REPEATS:
            raise PatternRefused(f"it repeats a part more than {MOST_REPEATS} times")
        if self.pattern[self.at : self.at + 1] == "?":  # the shortest first: the same texts match
            self.at += 1
        if REPEAT.match(self.pattern, self.at):
            raise PatternRefused(f"a repeat of a repeat at {self.at + 1}")
        return lambda text, places: _places_after_repeats(part, text, places, least, most)

    def part(self) -> Step:
        """A character, a class of them, an anchor or a group."""
        char = self.pattern[self.at]
        if char == "(":
            return self.group()
        if char in "*+?{":
            raise PatternRefused(f"nothing to repeat at {self.at + 1}")
        self.at += 1
        if char == "^":
            return lambda text, places: places & {0}
        if char == "$":
            return lambda text, places: places & {len(text)}
        if char == "[":
            return self.character_class()
        if char == "\\":
            char += self.pattern[self.at : self.at + 1]
            self.at += 1
            if len(char) < 2 or (char[1].isalnum() and char[1] not in "dDwWsS"):
                raise PatternRefused(f"`{char}` at {self.at - 1}")
        return _one_character(char if char == "." or len(char) == 2 else re.escape(char))

    def group(self) -> Step:
        """What is between ``(`` and ``)``."""
        begin = self.at
        self.at += 3 if self.pattern.startswith("(?:", self.at) else 1
        if self.pattern[self.at : self.at + 1] == "?":
            raise PatternRefused(f"`{self.pattern[begin : begin + 3]}` at {begin + 1}")
        inside = self.alternatives()
        if self.pattern[self.at : self.at + 1] != ")":
            raise PatternRefused(f"`(` at {begin + 1} is not closed")
        self.at += 1
        return inside

    def character_class(self) -> Step:
        """What is between ``[`` and ``]``."""
        found = re.compile(r"\^?\]?(?:[^\]\\]|\\.)*+\]").match(self.pattern, self.at)
        if found is None:
            raise PatternRefused(f"`[` at {self.at} is not closed")
        self.at = found.end()
        try:
            return _one_character(f"[{found[0]}")
        except re.error as wrong:
            raise PatternRefused(str(wrong)) from None


def _one_character(pattern: str) -> Step:
    """A part that is one character, by the pattern of it."""
    form = re.compile(pattern)
    return lambda text, places: frozenset(p + 1 for p in places if p < len(text) and form.match(text[p]))


def _places_after_repeats(
    part: Step, text: str, places: frozenset[int], least: int, most: int | None
) -> frozenset[int]:
    for _ in range(least):
        places = part(text, places)
    found = new = places
    count = least
    while new and (most is None or count < most):
        new = part(text, new) - found
        found |= new
        count += 1
    return found
