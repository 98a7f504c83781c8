"""Slurm's lists of hosts: ``node[0-3,12],login1``. Source: Slurm, "hostlist" in scontrol(1)."""

from __future__ import annotations

import re
from itertools import product

from tdsl.observe.record import Malformed

MOST_HOSTS = 1 << 18
"""Hosts in the lists of one file."""
GROUP = re.compile(r"(\[[^\[\]]*+\])")


def expand_hostlist(text: str, line: int, most: int = MOST_HOSTS) -> list[str]:
    """The hosts of a list, in order, ``most`` of them at most. Raises Malformed."""
    out: list[str] = []
    for pieces in _entries_of_hostlist(text):
        choices, left = [], most - len(out)
        for piece in pieces:
            if GROUP.fullmatch(piece):
                choices.append(_numbers_of_range(piece[1:-1], line, left))
                left //= len(choices[-1])
            elif "[" in piece or "]" in piece:
                raise Malformed(line, f"`{piece[:40]}` has a bracket alone", "write node[0-3,12]")
            else:
                choices.append([piece])
        if not left:
            raise Malformed(line, TOO_MANY)
        out += map("".join, product(*choices))
    return out


TOO_MANY = f"lists of more than {MOST_HOSTS:,} hosts"


def _entries_of_hostlist(text: str) -> list[list[str]]:
    """The entries of a list, which commas outside of brackets part, each as its texts and groups."""
    entries: list[list[str]] = [[]]
    for piece in GROUP.split(text.strip()):
        if piece.startswith("[") and piece.endswith("]"):
            entries[-1].append(piece)
            continue
        first, *others = piece.split(",")
        entries[-1] += filter(None, [first])
        entries += ([other] if other else [] for other in others)
    return [pieces for pieces in entries if pieces]


def _numbers_of_range(text: str, line: int, most: int) -> list[str]:
    """``0-3,12`` as words with their zeros, ``most`` of them at most. Raises Malformed."""
    out: list[str] = []
    for part in text.split(","):
        found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip())
        if found is None or (found[2] and int(found[2]) < int(found[1])):
            raise Malformed(line, f"`{part[:40]}` is not a range of a list of hosts", "write node[0-3,12]")
        first, last = int(found[1]), int(found[2] or found[1])
        if last - first + len(out) >= most:
            raise Malformed(line, TOO_MANY)
        out += [str(n).zfill(len(found[1])) for n in range(first, last + 1)]
    return out
