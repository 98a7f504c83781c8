"""Counts with their nouns, as messages and tables say them."""

from __future__ import annotations


def counted_noun(count: int, one: str, many: str = "") -> str:
    """``1 link``, ``0 links``, ``1,024 links``; ``many`` is the plural where it is not ``one`` with an s."""
    return f"{count:,} {noun_for_count(count, one, many)}"


def noun_for_count(count: int, one: str, many: str = "") -> str:
    """The noun alone, for what stands behind a count that is written otherwise."""
    return one if count == 1 else many or f"{one}s"
