"""Intent in branches, in groups and in what is added to them: the same as by itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.findings.diagnostic import Severity
from tests.harness import compile_text, fabric_of, links_of, sections

INTENTS = {
    "rails": "hosts 16 x BOX\nrails 2\nclos { leaf SW; spine SW }",
    "pods": "hosts 8 x BOX\nrails 2\npods 2\nclos { leaf SW; spine SW }",
    "planes": "hosts 16 x BOX\nplanes 2\nclos { leaf SW; spine SW }",
    "tiers": "hosts 12 x BOX\nclos { tier rack of 2 hosts { switch SW }\ntier core of ? rack { switch BIG } }",
    "a torus": "chips 9 x GPU\ntorus 3x3",
    "one is not built": "hosts 15 of 16 x BOX\nrails 2\nclos { leaf SW; spine SW }",
    "hosts that are declared": "host a[16]: BOX\nhosts a.nic\nrails 2\nclos { leaf SW; spine SW }",
}


def wrong(found: object) -> list[str]:
    return [f"{d.code} {d.message}" for d in found if d.severity is Severity.ERROR]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", INTENTS)
def test_in_a_group_each_instance_is_as_by_itself(name: str, tmp_path: Path) -> None:
    """The links of every site are those of the lone fabric, and there are no others; ``expand`` gives the same."""
    lone = links_of(_fabric(f"fabric f {{\n{INTENTS[name]}\n}}\n", tmp_path))
    text = f"fabric f {{\ngroup site[3] {{\n{INTENTS[name]}\n}}\n}}\n"
    three = links_of(_fabric(text, tmp_path))
    assert lone and three == {(f"site[{k}].{a}", f"site[{k}].{b}") for k in range(3) for a, b in lone}
    site = "host x: BOX\nswitch s: SW\nconnect x.nic[0] to s"
    added = f"fabric f {{\ngroup site[3] {{\n{site}\n}}\nextend site[1] {{\n{INTENTS[name]}\n}}\n}}\n"
    own = {link for link in links_of(_fabric(added, tmp_path)) if ".x." not in link[0]}
    assert own == {(f"site[1].{a}", f"site[1].{b}") for a, b in lone}
    _fabric(text, tmp_path)
    made, _ = compiler.expand_intent(str(tmp_path / "design.fab"), Request())
    assert made is not None and "hosts" not in made.split("model")[0]
    assert links_of(fabric_of(made, tmp_path, models=False)) == three


def _fabric(text: str, folder: Path, **options: object):  # type: ignore[no-untyped-def]
    result = compile_text(text, folder, verify=False, **options)  # type: ignore[arg-type]
    assert wrong(result.findings) == []
    assert result.designs[0].fabric is not None
    return result.designs[0].fabric


TEXTS = sections(Path(__file__).parent / "unfold.txt")
IF = f"{TEXTS['IF']}\n"
CHOSEN: Mapping[tuple[bool, bool], str] = {
    (True, False): "hosts 16 x BOX\nrails 2\nclos { leaf SW; spine SW }",
    (True, True): "hosts 8 x BOX\nrails 2\nclos { leaf SW; spine BIG }",
    (False, True): "hosts 8 x BOX\nrails 2\nrail_only { switch BIG }",
}


@pytest.mark.parametrize("at", CHOSEN)
def test_in_a_branch_it_is_the_branch_that_holds(at: tuple[bool, bool], tmp_path: Path) -> None:
    big, few = (str(x).lower() for x in at)
    plain = links_of(_fabric(f"fabric f {{\n{CHOSEN[at]}\n}}\n", tmp_path))
    assert links_of(_fabric(IF, tmp_path, set={"big": big, "few": few})) == plain
    made, _ = compiler.expand_intent(str(tmp_path / "design.fab"), Request(set=(("big", big), ("few", few))))
    assert made is not None
    assert links_of(fabric_of(made, tmp_path, models=False)) == plain


def test_a_finding_in_a_branch_says_why_it_is_there(tmp_path: Path) -> None:
    text = IF.replace("spine SW", "spine SWW")
    (found,) = [d for d in compile_text(text, tmp_path).findings if d.severity is Severity.ERROR]
    assert found.code == "E0102" and found.span is not None and found.span.text == "SWW"
    assert compile_text(text, tmp_path, verify=False, set={"few": "true"}).designs[0].fabric is not None


AROUND = "fabric f {\n%s\n}\n"
REST = "rails 2\nclos { leaf SW; spine SW }"


def test_both_ways_around_a_group_work(tmp_path: Path) -> None:
    moved_in = links_of(_fabric(AROUND % f"group net {{\nhost a[16]: BOX\nhosts a.nic\n{REST}\n}}", tmp_path))
    moved_out = links_of(_fabric(AROUND % f"host a[16]: BOX\nhosts a.nic\n{REST}\ngroup net {{ }}", tmp_path))
    assert moved_in == {(f"net.{a}", f"net.{b}") for a, b in moved_out}


LANES = f"{TEXTS['LANES']}\n"


def test_a_tier_names_the_cable_that_leads_to_it(tmp_path: Path) -> None:
    """Lanes of one connector go to two planes by a break-out; without its part the finding says where the part is named."""
    short = compile_text(LANES.format(tiers="leaf SG; spine SG"), tmp_path, models=False).findings
    (found,) = [d for d in short if d.severity is Severity.ERROR]
    assert found.code == "E0202" and "cable PART" in found.help and "write the tiers out" in found.help
    bare = LANES.format(tiers="tier leaf of ? hosts { switch SG }\ntier spine of ? leaf { switch SG }")
    (found,) = [d for d in compile_text(bare, tmp_path, models=False).findings if d.severity is Severity.ERROR]
    assert found.code == "E0202" and "in the braces of this tier: `cable PART`" in found.help
    tiers = 'tier leaf of ? hosts { switch SG; cable OCTO }\ntier spine of ? leaf { switch SG; cable "F 10" }'
    text = LANES.format(tiers=tiers)
    result = compile_text(text, tmp_path, models=False)
    assert wrong(result.findings) == [] and [r.text for r in result.designs[0].results if r.check == "bisection"] == [
        "100%: 16 of 16 links, 4 hosts against 4"
    ]
    fabric = result.designs[0].fabric
    assert fabric is not None and len(set(fabric.cable_group.tolist())) == 16 + 32  # 16 break-outs, and 4 leaves of 8 up
    made, _ = compiler.expand_intent(str(tmp_path / "design.fab"), Request())
    assert made is not None and "{ cable OCTO }" in made and '{ cable "F 10" }' in made
    assert links_of(fabric_of(made, tmp_path, models=False)) == links_of(fabric)
