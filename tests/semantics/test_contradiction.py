"""Intents whose tiers have no sizes: the places named contradict each other; without any one of them the rest hold."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics import contradiction
from tdsl.semantics.contradiction import Relations, even_spread_reaches_all
from tdsl.semantics.fault import Fault
from tdsl.semantics.sizing import Aim, HostLoad, Sizer, TierSpec, is_even_spread, spread_connects_children
from tests.harness import compile_text

CODES = {"E0459", "E0460"}
MODELS = "".join(
    f"model switch S{n}r{rate} {{ port p[1..{n}]: {rate}Gbps {{ type X }} }}\n"
    for n in (16, 32, 64, 128, 256)
    for rate in (100, 400)
) + "".join(f"model host H{n} {{ port nic[{n}]: 400Gbps {{ type X }} }}\n" for n in (1, 2, 8))
PROVEN = "without any one of them the others are consistent"
DESIGNS = [  # intent, the places that cannot hold together
    (
        "hosts 96 x H8\nrails 8\nclos { tier unit of 48 hosts { switch S64r400 }\n"
        "tier spine of ? unit { switch S64r400; oversubscription 1:1 } }",
        ["48", "S64r400", "1:1"],
    ),
    (
        "hosts 24 x H8\nrails 8\nclos { tier unit of 24 hosts { switch S64r400 }\n"
        "tier spine of 1 unit { switch S64r400; oversubscription 7:1 } }",
        ["24", "7:1"],
    ),
    ("hosts 100 x H8\nrails 8\npods 3\nclos { leaf S64r400; spine S64r400 }", ["hosts 100 x H8", "pods 3"]),
    ("hosts 90 of 100 x H8\nrails 8\npods 3\nclos { leaf S64r400; spine S64r400 }", ["hosts 90 of 100 x H8", "pods 3"]),
    (
        "hosts 60 x H8\nplanes 8\nclos { tier rack of 50 hosts { switch S64r400 }\n"
        "tier spine of ? rack { switch S64r400; oversubscription at most 1:1 } }",
        ["50", "S64r400", "at most 1:1"],
    ),
    ("hosts 20 x H8\nrails 8\nclos { tier rack of ? hosts { switch S16r400 } }", ["hosts 20 x H8", "S16r400"]),
    (
        "hosts 9 x H1\nclos { tier a of 4 hosts { switch S64r400 }\ntier b of 2 a { switch S64r400 } }\nomit host[3]",
        ["hosts 9 x H1", "4", "2"],
    ),
    (
        "hosts 32 x H1\nclos { tier a of 16 hosts { switch S64r400 }\n"
        "tier b of ? a { switch S64r100; oversubscription 1:1 } }",
        ["16", "S64r400", "S64r100", "1:1"],
    ),
    (
        "hosts 98 x H1\nclos { tier rack of 8 hosts { switch S64r400 }\n"
        "tier pod of 4 rack { switch S64r400 x 4; oversubscription 2:1 }\n"
        "tier core of ? pod { switch S256r400; oversubscription at most 2:1 } }",
        ["hosts 98 x H1", "8", "4"],
    ),
    ("hosts 16 x H8\nrails 8\nclos { tier a of 16 hosts { switch S64r400 x 12 } }", ["rails 8", "12"]),
]  # fmt: skip


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


@pytest.mark.parametrize(("text", "expected"), DESIGNS)
def test_without_any_place_the_others_hold(text: str, expected: list[str], tmp_path: Path) -> None:
    """Each place is really changed in the text; with something else there the design has sizes."""
    whole = f"{MODELS}fabric f {{\nhost beside: H1\n{text}\n}}\n"
    (found,) = compile_text(whole, tmp_path, verify=False).findings
    assert found.code in CODES and found.span is not None and PROVEN in " ".join(found.notes)
    places = [x.span for x in found.labels]
    if len(places) < len(expected):
        places.append(found.span)
    assert sorted(p.text for p in places) == sorted(expected)
    for p in places:
        for other in others(p.text):
            changed = whole[: p.start] + other + whole[p.end :]
            codes = {d.code for d in compile_text(changed, tmp_path, verify=False).findings}
            if not codes & CODES and not any(c.startswith("E01") for c in codes):
                break
        else:
            pytest.fail(f"nothing in the place of {p.text!r} mends it")


HARD = [  # intents whose products are too much for z3 alone, and the places
    (
        "hosts 1610 x H1\nclos { tier rack of 8 hosts { switch S16r400 }\ntier pod of 2 rack { switch S16r400 x 11;"
        " oversubscription at most 3:1 }\ntier core of 6 pod { switch S16r400; oversubscription about 5:2 } }",
        ["hosts 1610 x H1", "8", "S16r400", "11"],
    ),
    (
        "hosts 238 x H1\nclos { tier rack of 8 hosts { switch S32r400 }\ntier pod of 15 rack { switch S32r400 x 2;"
        " oversubscription 5:2 }\ntier core of 5 pod { switch S32r400; oversubscription 2:1 } }",
        ["8", "S32r400", "5:2"],
    ),
    (
        "hosts 1859 x H1\nclos { tier a of 4 hosts { switch S64r400 }\ntier b of 9 a { switch S64r400; oversubscription 3:1 }\n"
        "tier c of 5 b { switch S64r400; oversubscription about 7:3 }\ntier d of ? c { switch S16r400 x 1;"
        " oversubscription at most 3:1 } }",
        ["hosts 1859 x H1", "4", "9"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), HARD)
def test_three_tiers_and_four(text: str, expected: list[str], tmp_path: Path) -> None:
    """None of the places can be left out. By hand for the last: 465 `a` are no whole `b` of 9, and with 9 hosts each 207 are."""
    (found,) = compile_text(f"{MODELS}fabric f {{\n{text}\n}}\n", tmp_path, verify=False).findings
    assert found.code in CODES and found.span is not None and PROVEN in " ".join(found.notes)
    assert sorted(x.text for x in {found.span, *(x.span for x in found.labels)} if x.text in expected) == sorted(expected)


def test_unknown_is_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where z3 gives up and no number that is tried fits, nothing is claimed to be irreducible."""
    whole = f"{MODELS}fabric f {{\n{DESIGNS[0][0]}\n}}\n"
    real = Relations.decide

    def decide(self: Relations) -> Any:
        return z3.unknown if (said := real(self)) == z3.sat else said

    monkeypatch.setattr(Relations, "decide", decide)
    monkeypatch.setattr(contradiction, "has_tier_sizes", lambda load, specs: False)
    (found,) = compile_text(whole, tmp_path).findings
    assert "a smaller set may exist" in found.notes[-1] and PROVEN not in found.notes[-1]
    monkeypatch.setattr(contradiction, "WORK", 1)
    monkeypatch.setattr(Relations, "decide", real)
    (found,) = compile_text(whole, tmp_path).findings
    assert "contradict each other" not in " ".join(found.notes)


# ------------------------------------------------------------ the relations
def spec(name: str, radix: int, rate: int, per: int | None, count: int | None, aim: Aim) -> TierSpec:
    ports = (SimpleNamespace(size=radix, rate=rate),)
    model = SimpleNamespace(name=f"S{radix}", classes=ports, first_parts=ports, origin=SimpleNamespace(span=NOWHERE))
    return TierSpec(name, "", per, cast("Any", model), count, aim, NOWHERE)


NOWHERE = SourceSpan(SourceFile("nowhere", " "), 0, 1)
AIM = st.builds(
    Aim, st.sampled_from(["", "about", "at most"]), st.sampled_from([Fraction(1), Fraction(2), Fraction(3, 2), Fraction(1, 2)])
)
SOME = st.none() | st.integers(1, 8)
TIER = st.tuples(st.sampled_from([4, 8, 12, 16]), st.sampled_from([0, 100, 400]), st.integers(1, 8), SOME, AIM)


@settings(deadline=None, max_examples=80, derandomize=True)
@given(st.data(), st.integers(1, 3), st.integers(1, 24), st.sampled_from([1, 2, 4]), st.integers(0, 3))
def test_the_relations_hold_for_all_sizes_that_are_found(
    data: st.DataObject, depth: int, hosts: int, ends: int, pods: int
) -> None:
    """What z3 calls a contradiction, the Sizer never solves."""
    tiers = [data.draw(TIER) for _ in range(depth)]
    specs = [
        spec(f"t{i}", radix, rate, None if i in (0, depth - 1) and data.draw(st.booleans()) else per, count, aim)
        for i, (radix, rate, per, count, aim) in enumerate(tiers)
    ]
    railed = data.draw(st.booleans())
    load = HostLoad(hosts, ends, 400, ends if railed else 1, railed, pods, NOWHERE)
    try:
        Sizer(load, specs).run()
    except Fault:
        return
    assert Relations(load, specs, []).decide() != z3.unsat


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 24), st.integers(1, 4))
def test_what_a_spread_leaves_apart(runs: int, links: int, far: int, together: int) -> None:
    children = runs * together
    if is_even_spread(children, links, far):
        said = z3.simplify(even_spread_reaches_all(z3.IntVal(links), z3.IntVal(far), z3.IntVal(together)))
        assert z3.is_true(said) == spread_connects_children(children, links, far, together)
