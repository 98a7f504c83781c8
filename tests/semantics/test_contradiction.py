"""Intents whose tiers have no sizes: the places named contradict each other; without any one of them the rest hold."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from tests.harness import compile_text, sections

CODES = {"E0459", "E0460"}


MODELS = "".join(
    f"model switch S{n}r{rate} {{ port p[1..{n}]: {rate}Gbps {{ type X }} }}\n"
    for n in (16, 32, 64, 128, 256)
    for rate in (100, 400)
) + "".join(f"model host H{n} {{ port nic[{n}]: 400Gbps {{ type X }} }}\n" for n in (1, 2, 8))


PROVEN = "without any one of them the others are consistent"


DESIGNS = sections(Path(__file__).parent / "contradictions.txt")


def numbers(n: int) -> list[int]:
    return sorted((k for k in range(1, 4 * n + 2) if k != n), key=lambda k: (k not in (n // 2, 2 * n, 2 * n // 3), abs(k - n), k))


def others(text: str) -> list[str]:
    """What may stand at a place instead, nearest first; where it may be left out, that too."""
    if re.fullmatch(r"S\d+r\d+", text):
        return [m for m in re.findall(r"switch (S\w+)", MODELS) if m != text]
    if ":" in text:
        near = [Fraction(a, b) for a in range(1, 17) for b in (1, 2, 3, 4, 8, 16)]
        return [f"{r.numerator}:{r.denominator}" for r in dict.fromkeys(near)]
    if text == "rails 8":
        return [""]
    (n,) = re.findall(r"\b\d+\b(?= x|$)", text)
    return [re.sub(rf"\b{n}\b(?= x|$)", str(k), text) for k in numbers(int(n))]


@pytest.mark.parametrize("name", DESIGNS)
def test_without_any_place_the_others_hold(name: str, tmp_path: Path) -> None:
    """Each place is really changed in the text; with something else there the design has sizes."""
    text, _, expected = DESIGNS[name].partition("\n-> ")
    whole = f"{MODELS}fabric f {{\nhost beside: H1\n{text}\n}}\n"
    (found,) = compile_text(whole, tmp_path, verify=False).findings
    assert found.code in CODES and found.span is not None and PROVEN in " ".join(found.notes)
    places = [x.span for x in found.labels]
    if len(places) <= expected.count(" | "):
        places.append(found.span)
    assert sorted(p.text for p in places) == sorted(expected.split(" | "))
    for p in places:
        for other in others(p.text):
            changed = whole[: p.start] + other + whole[p.end :]
            codes = {d.code for d in compile_text(changed, tmp_path, verify=False).findings}
            if not codes & CODES and not any(c.startswith("E01") for c in codes):
                break
        else:
            pytest.fail(f"nothing in the place of {p.text!r} mends it")
