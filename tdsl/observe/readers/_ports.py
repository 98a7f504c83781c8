"""Captures of one port after the other: the line before each that names the port, or the name of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tdsl.findings.source import SourceFile

HEADING = re.compile(
    r"(?:[=#+>*-]++\s*+)?(?:[\w.-]++@\S+[#$]\s*+|[$#]\s*+)?(?:sudo\s++)?"
    r"(?:(?:ethtool|mlxlink)\s++(?:-\S++\s++)*+)?"
    r"([A-Za-z](?=[\w./-]*\d)[\w./-]*+)(?:\s++-\S++)*+\s*+(?::|[=#*-]++)?"
)
"""What a script writes before the output of a port: ``== swp1``, ``### mlx5_0 ###``, ``ethtool -m swp1``,
``swp1:``."""
STEM = re.compile(r"(.+?)[._@](mlx\d+_\d+|swp\d\w*|Ethernet\d[\d_]*|e(?:np|th|ns|no)\w+|ib\w*\d)")


def port_of_file_name(stem: str) -> tuple[str, str]:
    """Device and port of a file named ``DEVICE.PORT``; the port is "" where the name has none."""
    found = STEM.fullmatch(stem)
    return (found[1], found[2]) if found else (stem, "")


def blocks_by_port(
    file: SourceFile, stem: str, first: re.Pattern[str], once: re.Pattern[str]
) -> Iterator[tuple[str, int, list[str]]]:
    """The output of each port: the port as a line before it or the file's name says it ("" where neither
    does), the number of its first line, and its lines. ``first`` matches a line of the output itself, and
    ``once`` one that an output has once: behind a second one the port is not known."""
    port, begin = port_of_file_name(stem)[1], 1
    lines: list[str] = []
    for number, raw in enumerate(file.text.split("\n"), 1):
        text = raw.strip()
        found = HEADING.fullmatch(text) if text and not first.match(text) else None
        if found is None:
            if once.match(text) and any(once.match(line.strip()) for line in lines):
                yield port, begin, lines
                port, begin, lines = "", number, []
            lines.append(raw)
            continue
        if any(line.strip() for line in lines):
            yield port, begin, lines
        port, begin, lines = found[1], number, []
    if any(line.strip() for line in lines):
        yield port, begin, lines
