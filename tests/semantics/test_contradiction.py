"""Intents whose tiers have no sizes: the places named contradict each other; without any one of them the rest hold."""

from __future__ import annotations

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
    instead = dict(place.split(" / ") for place in expected.split(" | "))
    assert sorted(p.text for p in places) == sorted(instead)
    for p in places:
        other = instead[p.text].replace("nothing", "")
        changed = whole[: p.start] + other + whole[p.end :]
        codes = {d.code for d in compile_text(changed, tmp_path, verify=False).findings}
        assert not codes & CODES and not any(c.startswith("E01") for c in codes), f"{other!r} in the place of {p.text!r}: {codes}"
