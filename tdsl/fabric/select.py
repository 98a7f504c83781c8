"""Devices chosen by a pattern of their path or by their name: ``su[0..1].*``, ``spine[3]``, ``rack7-*``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

import numpy as np

from tdsl.fabric.graph import Bools, Fabric

PART = re.compile(r"([A-Za-z_*?][\w*?-]*)((?:\[[^\]]*\])*)")
INDEX = re.compile(r"\[([^\]]*)\]")


def select_devices(fabric: Fabric, patterns: Sequence[str]) -> Bools:
    """The devices that any of the patterns means. Raises ValueError for a pattern that means none."""
    out = np.zeros(fabric.device_count, dtype=np.bool_)
    paths = [fabric.device_path(d) for d in range(fabric.device_count)]
    names = [fabric.device_name(d) for d in range(fabric.device_count)]
    split = [[_name_and_indices(p) for p in path.split(".")] for path in paths]
    for pattern in patterns:
        wanted = _parse_path_pattern(pattern)
        called = (
            pattern if wanted is None else pattern.replace("[", "[[]")
        )  # the brackets of a path are no set of characters
        hit = [
            fnmatchcase(name, called) or (wanted is not None and _path_matches(wanted, parts))
            for name, parts in zip(names, split, strict=True)
        ]
        if not any(hit):
            raise ValueError(
                f"`{pattern}` means no device of {fabric.name}; patterns are such as 'su[0..1].*' or "
                "'spine[3]'"
            )
        out |= np.array(hit, dtype=np.bool_)
    return out


Wanted = list[tuple[str, list[list[tuple[int, int]]]]]


def _name_and_indices(text: str) -> tuple[str, list[int]]:
    name, _, rest = text.partition("[")
    return name, [int(n) for n in re.findall(r"\d+", rest)]


def _parse_path_pattern(text: str) -> Wanted | None:
    """Names and ranges of indices of a path; None where the text is no path."""
    out: Wanted = []
    for part in re.split(r"\.(?![.\d])", text):
        found = PART.fullmatch(part.strip())
        if found is None:
            return None
        axes = []
        for inner in INDEX.findall(found[2]):
            for one in inner.split(","):
                ends = re.fullmatch(r"\s*(?:(\d{1,9})(?:\s*\.\.\s*(\d{1,9}))?|\*)\s*", one)
                if ends is None:
                    return None
                low = int(ends[1]) if ends[1] else 0
                axes.append([(low, int(ends[2] or low) if ends[1] else 1 << 62)])
        out.append((found[1], axes))
    return out


def _path_matches(wanted: Wanted, parts: list[tuple[str, list[int]]]) -> bool:
    """Whether a path is one that the pattern means, or lies in a group that it means."""
    if len(wanted) > len(parts):
        return False
    for (name, axes), (own, indices) in zip(wanted, parts, strict=False):
        if not fnmatchcase(own, name) or len(axes) > len(indices):
            return False
        if any(
            not any(low <= i <= high for low, high in ranges)
            for ranges, i in zip(axes, indices, strict=False)
        ):
            return False
    return True
