"""Slurm's lists of hosts: ``node[0-3,12],login1``. Source: Slurm, "hostlist" in scontrol(1)."""

from __future__ import annotations

import re
from itertools import product

from tdsl.observe.record import Malformed

MOST_HOSTS = 1 << 20
PART = re.compile(r"\[([^\]]*)\]")


def expand_hostlist(text: str, line: int) -> list[str]:
    """The hosts of a list, in order. Raises Malformed."""
    out: list[str] = []
    for one in _split_outside_brackets(text):
        pieces = PART.split(one)
        choices = [[p] if i % 2 == 0 else _numbers_of_range(p, line) for i, p in enumerate(pieces)]
        size = 1
        for c in choices:
            size *= len(c)
        if size + len(out) > MOST_HOSTS:
            raise Malformed(line, f"a list of more than {MOST_HOSTS:,} hosts")
        out += ["".join(c) for c in product(*choices)]
    return out


def _split_outside_brackets(text: str) -> list[str]:
    return [p for p in re.split(r",(?![^\[]*\])", text.strip()) if p]


def _numbers_of_range(text: str, line: int) -> list[str]:
    """``0-3,12`` as words with their zeros. Raises Malformed."""
    out = []
    for part in text.split(","):
        found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip())
        if found is None or (found[2] and int(found[2]) < int(found[1])):
            raise Malformed(line, f"`{part[:40]}` is not a range of a list of hosts", "write node[0-3,12]")
        last = int(found[2] or found[1])
        if last - int(found[1]) > MOST_HOSTS:
            raise Malformed(line, f"a list of more than {MOST_HOSTS:,} hosts")
        out += [str(n).zfill(len(found[1])) for n in range(int(found[1]), last + 1)]
    return out
