"""What an element of ``--fail`` takes: groups, tiers, lanes of split ports, a panel that is the first device, unusual names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tdsl.fabric.failing import Failing, NotThere, _split_element_words
from tests.harness import compile_text

TEXT = """fabric f {
panel q: PATCH
group su[2] { host n[2, 2]: TWO; switch leaf[1..2]: SW; connect n[i, j].nic[r] to leaf[1 + r] }
group pod { switch leaf: SW }
switch link: SW
switch top[2]: SPLIT { split s[3..4] 2 }
connect su[u].leaf[i] to top[i - 1].s[1 + u]
connect pod.leaf to top[0].s[3, 1]
connect pod.leaf to top[1].m via q
connect link to top[k] via q
naming su[0].n[1, 0] "first"
naming top[1] "s-1:x"
omit su[1].n[1, 1]
}
model host TWO { port mgmt: 1Gbps { type BASE_T }; port nic[0..1]: 400Gbps { type NDR } }
model switch SPLIT { port m[2]: 400Gbps { type NDR }; port s[1..4]: 800Gbps { type NDR; cage 1 OSFP; split 2 } }
"""
LINKS = [
    "su[0].n[0, 0].nic[0] su[0].leaf[1].p[1]", "su[0].n[0, 0].nic[1] su[0].leaf[2].p[1]",
    "su[0].n[0, 1].nic[0] su[0].leaf[1].p[2]", "su[0].n[0, 1].nic[1] su[0].leaf[2].p[2]",
    "su[0].n[1, 0].nic[0] su[0].leaf[1].p[3]", "su[0].n[1, 0].nic[1] su[0].leaf[2].p[3]",
    "su[0].n[1, 1].nic[0] su[0].leaf[1].p[4]", "su[0].n[1, 1].nic[1] su[0].leaf[2].p[4]",
    "su[1].n[0, 0].nic[0] su[1].leaf[1].p[1]", "su[1].n[0, 0].nic[1] su[1].leaf[2].p[1]",
    "su[1].n[0, 1].nic[0] su[1].leaf[1].p[2]", "su[1].n[0, 1].nic[1] su[1].leaf[2].p[2]",
    "su[1].n[1, 0].nic[0] su[1].leaf[1].p[3]", "su[1].n[1, 0].nic[1] su[1].leaf[2].p[3]",
    "su[0].leaf[1].p[5] top[0].s[1]", "su[0].leaf[2].p[5] top[1].s[1]", "su[1].leaf[1].p[5] top[0].s[2]",
    "su[1].leaf[2].p[5] top[1].s[2]", "top[0].m[0] link.p[1] q.back[1] q.front[1]", "top[0].s[3, 1] pod.leaf.p[1]",
    "top[1].m[0] pod.leaf.p[2] q.back[0] q.front[0]", "top[1].m[1] link.p[2] q.back[2] q.front[2]",
]  # fmt: skip
PATHS = ["q", *(f"su[{u}].n[{i}, {j}]" for u in (0, 1) for i in (0, 1) for j in (0, 1))]
PATHS += [*(f"su[{u}].leaf[{k}]" for u in (0, 1) for k in (1, 2)), "pod.leaf", "link", "top[0]", "top[1]"]
PLANNED = "su[1].n[1, 1]"


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Failing:
    found = compile_text(TEXT, tmp_path_factory.mktemp("failing"), verify=False).designs[0].failing
    f = found.fabric
    assert [f.device_path(d) for d in range(f.device_count)] == PATHS
    rows = [[int(c[row]) for c in (f.link_a, f.link_b, f.link_via_a, f.link_via_b)] for row in range(f.link_count)]
    assert [" ".join(f.port_path(p) for p in row if p >= 0) for row in rows] == LINKS
    assert rows[20][2] == 8 and rows[20][3] == 0  # the first port of the first device is crossed
    return found


def taken(failing: Failing, element: str) -> tuple[list[str], list[int]]:
    """Paths of the devices and rows of the links that an element takes."""
    rows, hit = failing.links(element)
    return [PATHS[d] for d in rows.tolist()], hit.nonzero()[0].tolist()


def at(*ends: str) -> list[int]:
    """Rows of the links that end at, or cross, one of these devices."""
    return [row for row, text in enumerate(LINKS) if any(f"{e}." in text for e in ends)]


GROUPS = {
    "q": ["q"], "leaf": PATHS[9:14], "su.leaf": PATHS[9:13], "su[0]": [*PATHS[1:5], *PATHS[9:11]], "pod": ["pod.leaf"],
    "su[*]": [p for p in PATHS if p.startswith("su") and p != PLANNED], "su[0].n": PATHS[1:5], "su[0].n[1, *]": PATHS[3:5],
    "su[*].n[ *,1 ]": [PATHS[2], PATHS[4], PATHS[6]], "su[1].n": PATHS[5:8], "link": ["link"], "first": [PATHS[3]],
    "su0-n0-0": [PATHS[1]], "su0-leaf1": [PATHS[9]], "s-1:x": ["top[1]"], "top0": ["top[0]"], "top": ["top[0]", "top[1]"],
    "n": PATHS[1:8], "pod-leaf": ["pod.leaf"],
}  # fmt: skip


@pytest.mark.parametrize("element", GROUPS)
def test_devices_of_groups_and_tiers(element: str, failing: Failing) -> None:
    """A name without its groups is that of all their declarations; what is planned only is left out."""
    assert taken(failing, element) == (GROUPS[element], at(*GROUPS[element]))


PORTS = {
    "su[0].n[0, 0].nic": [0, 1], "su[*].n[*, *].nic[1]": [1, 3, 5, 7, 9, 11, 13], "top[0].s": [14, 16, 19],
    "top[0].s[3, 1]": [19],
    "top[0].s[1]": [14], "top[*].s[1..2]": [14, 15, 16, 17], "top[0].m[0]": [18], "top[1].m": [20, 21], "q.front": [18, 20, 21],
    "q.back[0]": [20], "q.front[1]": [18], "q.front[0]": [20], "su[0].leaf[2].p[4..5]": [7, 15], "su[1].n[1, *].nic[0]": [12],
    "link su[0].n[0, 1] su[0].leaf[1]": [2], "link  su[0].leaf[2]  to su[0].n[0,1]": [3], "link link top[1]": [21],
    "link pod-leaf s-1:x": [20], "link q top[0]": [18], "link q q": [18, 20, 21], "link leaf top": [14, 15, 16, 17, 19, 20],
    "link:p1": [18], "pod-leaf:p2": [20], "top0:s3": [19],
    "s-1:x:m1": [21], "first:nic0": [4],
    "link su[0].n[0, 1].nic[1] su[0]": [3], "link top[0].s su": [14, 16],
}  # fmt: skip


@pytest.mark.parametrize("element", PORTS)
def test_links_of_ports_and_cables(element: str, failing: Failing) -> None:
    """Of all lanes of a split port; of a class that is not the first of its model; of what a panel's port is crossed by."""
    assert taken(failing, element) == ([], PORTS[element])


FORM = "`{}` is not of the form `link DEVICE DEVICE`"
NOWHERE = {
    PLANNED: f"{PLANNED} is planned only, not built",
    "su[0].n[0, 0].mgmt": "su[0].n[0, 0].mgmt carries no link",
    "top[0].s[3, 0]": "top[0].s[3, 0] carries no link",
    "top[0].s[4]": "`s[4]` is outside 1..2; `s` has indices 1..2",
    "su[0].n[0, 0].nic[5]": "`nic[5]` is outside 0..1; `nic` has indices 0..1",
    "q.front[7]": "q.front[7] carries no link",
    "link to": FORM.format("link to"),
    "link link": FORM.format("link link"),
    "link q to top[0] top[1]": FORM.format("link q to top[0] top[1]"),
    "link top[0] top[1]": "there is no link between top[0] and top[1]",
    "link top[0] top[0]": "there is no link between top[0] and top[0]",
    "a - b": "`a - b` names no device, port or cable",
    "3": "`3` names no device, port or cable",
    "": "`` names no device, port or cable",
    "su0-laef1": "`su0-laef1` names no device, port or cable; did you mean `su0-leaf1`?",
    "su1-n1-1": "`su1-n1-1` names no device, port or cable; did you mean `su1-n1-0`?",
    "link:p3": "there is no cable `link:p3`; did you mean `link:p2`?",
    "quite:another": "there is no cable `quite:another`",
    "xyz": "there is no device or group `xyz` here; known here: `link`, `pod`, `q`, `su`, `top`",
    "link q xyz": "there is no device or group `xyz` here; known here: `link`, `pod`, `q`, `su`, `top`",
}


@pytest.mark.parametrize("element", NOWHERE)
def test_elements_that_name_nothing(element: str, failing: Failing) -> None:
    with pytest.raises(NotThere) as why:
        failing.links(element)
    assert str(why.value) == NOWHERE[element]


def test_several_elements_fail_together(failing: Failing) -> None:
    """Each once, in their order, with the links of each; what is not there is given with the reason."""
    given = ["top0", " link   q  top[0]", "", "su[1].n[0, *]", "top0", "link q top[0]", "a - b"]
    failed, absent = failing.fail(given)
    assert failed.names == ("top0", "link q top[0]", "su[1].n[0, *]")
    assert [PATHS[d] for d in failed.devices.nonzero()[0].tolist()] == ["su[1].n[0, 0]", "su[1].n[0, 1]", "top[0]"]
    assert [x.tolist() for x in failed.rows] == [[14, 16, 18, 19], [18], [8, 9, 10, 11]]
    assert failed.links.nonzero()[0].tolist() == [8, 9, 10, 11, 14, 16, 18, 19]
    assert absent == {x: NOWHERE[x] for x in ("", "a - b")}
    none, absent = failing.fail([])
    assert (none.names, none.devices.any(), none.links.any(), none.rows, absent) == ((), False, False, (), {})


def test_links_that_cross_the_first_device(failing: Failing) -> None:
    """Known by the port at either side, which may be the first of all ports."""
    f = failing.fabric
    none = np.full(f.link_count, -1, dtype=np.int64)
    for made in (f, replace(f, link_via_a=none), replace(f, link_via_b=none)):
        assert np.flatnonzero(made.links_lost(np.arange(f.device_count) == 0)).tolist() == [18, 20, 21]


def test_names_are_looked_up_once(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    first = failing.named("su0-leaf2")
    monkeypatch.setattr(Failing, "_looked_up", None)
    assert failing.named("su0-leaf2") is first


def test_what_has_errors_of_its_own(tmp_path: Path) -> None:
    """A declaration that is refused is not said to be absent."""
    text = "fabric f { switch a: SW; switch b[2]: SW { split p 2 }; connect a to a }"
    made = compile_text(text, tmp_path, verify=False).designs[0].failing
    with pytest.raises(NotThere) as why:
        made.links("b[0]")
    assert str(why.value) == "`b[0]` is about something with errors of its own"


def test_words_of_an_element() -> None:
    """Blanks in brackets part nothing, whatever the blanks are; a bracket too many is one of its word."""
    for text, words in {
        "link a[0, 1] b": ["link", "a[0, 1]", "b"], "  a\t b\n": ["a", "b"], "": [""], "   ": [""],
        "a[0, [1, 2] b] c": ["a[0, [1, 2] b]", "c"],
        "a] b [c d": ["a]", "b", "[c", "d"], "a]] [b c": ["a]]", "[b", "c"], "a[ 1 ]": ["a[ 1 ]"],
    }.items():  # fmt: skip
        assert _split_element_words(text) == words
