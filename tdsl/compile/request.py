"""What a user asks of a compilation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import date
from fractions import Fraction
from pathlib import Path

from tdsl.findings.diagnostic import Severity
from tdsl.findings.source import SourceFile
from tdsl.system.lazy_dataclass import dataclass

DEVICE_LIMIT = 1 << 24
LINK_LIMIT = 1 << 27


@dataclass(frozen=True, slots=True)
class Request:
    """What a call asks for besides the file. ``set`` holds parameters as text; ``overlay`` unsaved buffers by
    resolved path; ``fail`` elements that are judged as failed; ``values`` parameters that have a value
    already."""

    set: tuple[tuple[str, str], ...] = ()
    paths: tuple[Path, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    max_devices: int = DEVICE_LIMIT
    max_links: int = LINK_LIMIT
    solve_seconds: int = 10  # about so long holes may take; counted in work, not by the clock
    check_seconds: int = 60  # about so long each proof may take; counted in work, too
    second_best: bool = False  # under ``minimize``, say the next best numbers too
    overlay: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, object] = field(default_factory=dict)
    fail: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)  # by name of a finding
    locked: bool = False  # what the lock says must stay
    lock: bool = True  # whether to read a lock at all
    stands: SourceFile | None = None  # a lock to take in the place of the file beside the design
    places: SourceFile | None = None  # a table of racks and units
    prices: SourceFile | None = None  # what models cost, as TOML
    day: date | None = None  # the day by which waivers with a last day are judged; None: they are not
    at_least: Fraction | None = None  # the share of what each requirement is about that must be judged
    try_fixes: bool = True  # whether fixes that are guesses are tried on the text
    phase: int = 0
    """Of fabrics with phases this one; -1: the last; -2: all; 0: all where it is checked, else the last."""
