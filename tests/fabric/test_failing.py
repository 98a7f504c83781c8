"""What an element of ``--fail`` takes: links found by reading the list of links."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.fabric.failing import Failing, NotThere
from tests.harness import compile_text, sections

TEXTS = sections(Path(__file__).parent / "failing.txt")
TEXT = TEXTS["TEXT"]
CABLES = {
    "a0:p1": [0], "a0:p2": [1], "a0:p5": [2], "a0:p6": [3], "a1:p1": [4], "a1:p2": [5], "a1:p5": [6], "a1:p6": [7],
    "h0:nic0": [8], "h0:nic1": [9], "h1:nic0": [10], "h1:nic1": [11], "a0:p3": [8], "a1:p3": [10],
}  # fmt: skip
DEVICES = {"a[0]": 0, "a[1]": 1, "b[0]": 2, "b[1]": 3, "h[0]": 4, "h[1]": 5, "q": 6}
KNOWN = "there is no device or group `nope` here; known here: `a`, `b`, `h`, `lone`, `q`"
ABSENT = {
    "a[0].p[8]": "a[0].p[8] carries no link",
    "link a[0] a[1]": "there is no link between a[0] and a[1]",
    "link a[0]": "`link a[0]` is not of the form `link DEVICE DEVICE`",
    "link a b b": "`link a b b` is not of the form `link DEVICE DEVICE`",
    "link a[0] nope": KNOWN,
    "nope": KNOWN,
    "lone": "lone is planned only, not built",
    "a:zz": "there is no cable `a:zz`",
    "a0:1": "there is no cable `a0:1`; did you mean `a0:p1`?",
    "a[7]": "`a[7]` is outside 0..1; `a` has indices 0..1",
    "a[0].z": "there is no port class of SW called `z` here; known here: `p`",
}


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Failing:
    """The elements of one design with a panel, two names and a device that is omitted."""
    return compile_text(TEXT, tmp_path_factory.mktemp("failing"), verify=False).designs[0].failing


def test_every_device_port_and_cable(failing: Failing) -> None:
    """By a list of the links, each with the ports that it takes."""
    f = failing.fabric
    columns = (f.link_a, f.link_b, f.link_via_a, f.link_via_b)
    every = [" ".join(f.port_path(int(c[row])) for c in columns if c[row] >= 0) for row in range(f.link_count)]
    for device, row in DEVICES.items():
        rows, hit = failing.links(device)
        assert rows.tolist() == [row] and hit.nonzero()[0].tolist() == [i for i, x in enumerate(every) if f"{device}." in x]
    for port in {p for line in every for p in line.split()}:
        rows, hit = failing.links(port)
        assert not len(rows) and hit.nonzero()[0].tolist() == [i for i, x in enumerate(every) if port in x.split()]
    for cable, links in CABLES.items():
        rows, hit = failing.links(cable)
        assert not len(rows) and hit.nonzero()[0].tolist() == links
    for one in DEVICES:
        for other in set(DEVICES) - {one}:
            wanted = [i for i, x in enumerate(every) if f"{one}." in x and f"{other}." in x]
            for form in ("link {} {}", "link {} to {}", "link to {} {}"):
                try:
                    rows, hit = failing.links(form.format(one, other))
                except NotThere as why:
                    assert not wanted and str(why) == f"there is no link between {one} and {other}"
                else:
                    assert not len(rows) and hit.nonzero()[0].tolist() == wanted


def test_names_and_groups(failing: Failing) -> None:
    for name, device in (("rack1", "b[1]"), ("a0", "a[0]"), ("h1", "h[1]")):
        for one, other in zip(failing.links(name), failing.links(device), strict=True):
            assert one.tolist() == other.tolist()
    rows, hit = failing.links("h[*]")
    assert rows.tolist() == [4, 5] and hit.nonzero()[0].tolist() == [8, 9, 10, 11]
    rows, hit = failing.links("a[0].p")
    assert not len(rows) and hit.nonzero()[0].tolist() == [0, 1, 2, 3, 8]
    failed, absent = failing.fail(["rack1", "a[0].p[1]", " link  h[0] b[0] ", "rack1", "nope"])
    assert failed.names == ("rack1", "a[0].p[1]", "link h[0] b[0]") and absent == {"nope": KNOWN}
    assert failed.devices.nonzero()[0].tolist() == [3] and failed.links.nonzero()[0].tolist() == [0, 1, 3, 5, 7, 9, 11]
    assert [x.tolist() for x in failed.rows] == [[1, 3, 5, 7, 11], [0], [9]]


@pytest.mark.parametrize("element", ABSENT)
def test_what_is_not_there(element: str, failing: Failing) -> None:
    with pytest.raises(NotThere) as why:
        failing.links(element)
    assert str(why.value) == ABSENT[element]
