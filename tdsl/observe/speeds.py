"""Rates of InfiniBand links by name, and per lane as iblinkinfo prints them. Source: InfiniBand Architecture
Specification, Volume 1, release 1.6, PortInfo (LinkSpeedActive, LinkSpeedExtActive, LinkWidthActive); rates
of data as vendors print them."""

from __future__ import annotations

import re

LANE = {
    "SDR": 2_500_000_000,
    "DDR": 5_000_000_000,
    "QDR": 10_000_000_000,
    "FDR10": 10_000_000_000,
    "FDR": 14_000_000_000,
    "EDR": 25_000_000_000,
    "HDR": 50_000_000_000,
    "NDR": 100_000_000_000,
    "XDR": 200_000_000_000,
}
"""Bit/s of one lane by the name of its speed."""
SIGNALLING = {
    2_500: "SDR",
    5_000: "DDR",
    10_000: "QDR",
    10_312: "FDR10",
    14_062: "FDR",
    25_781: "EDR",
    53_125: "HDR",
    106_250: "NDR",
    212_500: "XDR",
}
"""Names of speeds by Mbit/s of signalling on one lane."""
WIDTH_SPEED = re.compile(r"(\d{1,2})[xX]\s*([A-Z]{3}(?:10)?)")


def infiniband_rate(width: int, speed: str) -> int:
    """Bit/s of a link, 0 where the name is unknown: 4 lanes of NDR are 400 Gb/s."""
    return width * LANE.get(speed, 0)


def rate_of_width_word(word: str) -> tuple[int, int]:
    """Bit/s and lanes of ``4xNDR``; zeros where it is no such word."""
    found = WIDTH_SPEED.fullmatch(word)
    return (infiniband_rate(int(found[1]), found[2]), int(found[1])) if found else (0, 0)


def speed_of_signalling_rate(text: str) -> str:
    """The name of a speed from Gbit/s of signalling on one lane, "" where there is none: ``53.125`` is
    HDR."""
    whole, _, part = text.partition(".")
    if not (whole.isdigit() and len(whole) < 5 and (part.isdigit() or not part)):
        return ""
    return SIGNALLING.get(int(whole) * 1000 + int(f"{part[:3]:0<3}"), "")
