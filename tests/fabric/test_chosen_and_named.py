"""Devices chosen by a pattern, named by a design or a table; ports that two fabrics share; links inside a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.fabric import inside
from tdsl.fabric.graph import FREE, Fabric
from tdsl.fabric.select import select_devices
from tdsl.fabric.shared import refuse_shared_ports
from tdsl.fabric.user_csv import DeviceTable
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.semantics.model import InnerLink
from tests.fabrics import GBPS, Builder
from tests.harness import compile_text, fabric_of


# ------------------------------------------------------------ patterns of paths
def tree_of_devices() -> Fabric:
    """Leaves in units of two dimensions, spines, one switch without an index; some have names of their own."""
    b = Builder()
    model = b.model("switch", "S", {"p": 4})
    b.devices("su.leaf", model, 2, (3, 2))
    b.devices("su.ctl", model, 2, None)
    b.devices("spine", model, 11)
    b.devices("core", model, None)
    b.names = {0: "rack7-a", 1: "rack7-b", 12: "x.1[2]", 25: "core9"} | {14 + k: f"top{k}" for k in range(11)}
    return b.build()


LEAVES = [f"su[{s}].leaf[{x}, {y}]" for s in (0, 1) for x in (0, 1, 2) for y in (0, 1)]
SPINES = [f"spine[{k}]" for k in range(11)]
CTL = ["su[0].ctl", "su[1].ctl"]
PATTERNS: dict[str, list[str]] = {
    "su[0].leaf[2, 1]": ["su[0].leaf[2, 1]"], "su[1].leaf[2,0]": ["su[1].leaf[2, 0]"],
    "su[0].leaf": LEAVES[:6], "su[0].leaf[*]": LEAVES[:6], "su[0].leaf[1]": LEAVES[2:4],
    "su[0].leaf[0..1]": LEAVES[:4], "su[0].leaf[1..2, 1]": [LEAVES[3], LEAVES[5]], "su[0].leaf[ 1..2 , 0..1 ]": LEAVES[2:6],
    "su[0].leaf[*, 1]": LEAVES[1:6:2], "su[0].leaf[1][0]": [LEAVES[2]], "su[*].leaf[0, *]": [*LEAVES[:2], *LEAVES[6:8]],
    "leaf": [], "su[0, 1].leaf": [], "su[0].leaf[0, 0, 0]": [], "su[0].leaf[0, 2]": [], "su[0].leaf[3, 0]": [],
    "su": [*LEAVES, *CTL], "su[1]": [*LEAVES[6:], CTL[1]], "su[0..1].*": [*LEAVES, *CTL], "su[*].c*": CTL,
    "su[1].ctl": CTL[1:], "su.ctl[0]": [], "su[0].ctl.p": [], "su[2]": [], "?u[0].ct?": CTL[:1],
    "spine[3]": ["spine[3]"], "spine[1..3]": SPINES[1:4], "spine[3..1]": [], "spine[0..0]": ["spine[0]"],
    "spine[10]": ["spine[10]"], "spine[8..999999999]": SPINES[8:], "spine[11]": [], "spine[1..]": [], "spine[-1]": [],
    "spine[]": [], "spine[1234567890]": [], "sp*[1]": ["spine[1]"], "core": ["core"], "core9": ["core"], "core[0]": [],
    "*": [*LEAVES, *CTL, *SPINES, "core"], "rack7-*": LEAVES[:2], "rack7-b": [LEAVES[1]], "rack7-?": LEAVES[:2],
    "x.1[[]2]": CTL[:1], "x.1*": CTL[:1], "top1*": ["spine[1]", "spine[10]"], "su0-leaf2-*": LEAVES[4:6], "SPINE[3]": [],
    "1": [], "": [],
}  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_of_devices(pattern: str) -> None:
    """Of a path every group and index that is written must match; a name as a whole."""
    f = tree_of_devices()
    expected = PATTERNS[pattern]
    if not expected:
        said = f"`{pattern}` means no device of made; patterns are such as 'su[0..1].*' or 'spine[3]'"
        for patterns in ([pattern], ["core", pattern]):
            with pytest.raises(ValueError, match="means no device") as refused:
                select_devices(f, patterns)
            assert str(refused.value) == said
        return
    assert [f.device_path(int(d)) for d in select_devices(f, [pattern]).nonzero()[0]] == expected


def test_several_patterns() -> None:
    f = tree_of_devices()
    found = select_devices(f, ["spine[2]", "su[1].ctl", "spine[1..2]"])
    assert [f.device_path(int(d)) for d in found.nonzero()[0]] == ["su[1].ctl", "spine[1]", "spine[2]"]
    assert not select_devices(f, []).any() and len(select_devices(f, [])) == f.device_count


# ------------------------------------------------------------ ports of two fabrics
def hosts(links: list[tuple[int, int]], name: str, b: Builder, spare: int = 0) -> Fabric:
    """The devices of a builder with links from these ports of hosts to one switch, each a connect of its own."""
    b.rows.clear()
    for k, (host, nic) in enumerate(links):
        b.connect(f"connect {name} link {k}")
        b.link(b.port(b.sets[1], host, "nic", nic), b.port(b.sets[2], 0, "p", k + spare))
    b.name = name
    return b.build()


def both(one: list[tuple[int, int]], two: list[tuple[int, int]]) -> tuple[Fabric, Fabric, Builder]:
    b = Builder()
    b.devices("first", b.model("switch", "F", {"q": 3}), 1)
    b.devices("box", b.model("host", "BOX", {"nic": 3, "other": 2}), 4)
    b.devices("sw", b.model("switch", "SW", {"p": 40}), 1)
    before = hosts(one, "one", b)
    return before, hosts(two, "two", b, 20), b


def reported(*fabrics: Fabric) -> list[tuple[object, ...]]:
    found = Diagnostics()
    refuse_shared_ports(fabrics, found)
    return [
        (d.code, d.span.text if d.span else "", d.message, [(x.span.text, x.message) for x in d.labels], d.help)
        for d in found.items
    ]


def test_ports_that_two_fabrics_use() -> None:
    """The first port in the order of devices, its statements in both fabrics, and how many more."""
    rng = Random(4)
    every = [(h, n) for h in range(4) for n in range(3)]
    for _ in range(60):
        one, two = (rng.sample(every, rng.randint(1, 6)) for _ in range(2))
        before, later, _ = both(one, two)
        common = sorted(set(one) & set(two))
        more = f" (and {len(common) - 1:,} more ports)" if len(common) > 1 else ""
        expected = []
        if common:
            h, n = common[0]
            expected = [(
                "E0451", f"connect two link {two.index(common[0])}",
                f"port box[{h}].nic[{n}] already has a link in fabric `one`{more}",
                [(f"connect one link {one.index(common[0])}", "taken by this, in `one`")],
                "a port belongs to one fabric: name another class",
            )]  # fmt: skip
        assert reported(before, later) == expected, (one, two)
    before, later, _ = both([(0, 0)], [(1, 1)])
    assert reported(before, later, later) != [] and reported(before) == [] == reported()


def test_sets_of_two_fabrics_that_are_not_the_same() -> None:
    """Sets of another declaration, of another number of devices, or of a model with other classes share nothing."""
    before, later, _ = both([(0, 0), (1, 1)], [(0, 0), (1, 1)])
    assert len(reported(before, later)) == 1
    box = later.sets[1]
    elsewhere = replace(box, prefix="two")  # declared in the block of that fabric
    fewer = replace(box, parts=(replace(box.parts[0], axes=(box.parts[0].axes[0]._replace(size=3),)),))
    longer, renamed = (
        replace(box, model=replace(box.model, classes=(replace(box.model.classes[0], **change), box.model.classes[1])))
        for change in ({"axes": (box.axes[0]._replace(size=2),)}, {"name": "eth"})
    )
    for other in (elsewhere, fewer, longer, renamed):
        assert reported(before, replace(later, sets=(later.sets[0], other, later.sets[2]))) == []
    base = later.port_base.copy()
    base[5:] += 1  # a device of the set has one port more
    state, link = np.append(later.port_state, FREE), np.append(later.port_link, -1)
    assert reported(before, replace(later, port_base=base, port_state=state, port_link=link)) == []


# ------------------------------------------------------------ names
def named(statements: str, folder: Path) -> tuple[list[str], list[tuple[str, str, str, str, list[tuple[str, str]]]]]:
    """Names of all devices, and the errors."""
    text = f"fabric f {{\nswitch a[3]: BIG\nswitch b[2]: BIG\nconnect a[*] to b[*] each\n{statements}\n}}"
    result = compile_text(text, folder, verify=False)
    fabric = result.designs[0].fabric
    assert fabric is not None
    found = [d for d in result.findings if d.severity.name == "ERROR"]
    names = [fabric.device_name(d) for d in range(fabric.device_count)]
    return names, [
        (d.code, d.span.text if d.span else "", d.message, d.help, [(x.span.text, x.message) for x in d.labels]) for d in found
    ]


FORM = "write 1 to 512 characters without control characters, and no space at its ends"


@pytest.mark.parametrize("length", [1, 511, 512, 513, 1200])
def test_the_length_of_a_name(length: int, tmp_path: Path) -> None:
    """At most 512 characters; of a longer one the first 40 are shown."""
    name = ("0123456789" * 120)[:length]
    names, errors = named(f'naming a[1] "{name}"', tmp_path)
    said = f"'{'0123456789' * 4}', of {length:,} characters, is not a name for a device"
    assert errors == ([("E0120", f'"{name}"', said, FORM, [])] if length > 512 else [])
    assert names[1] == ("a1" if length > 512 else name)


def test_a_name_of_512_characters_with_a_space_is_shown_as_a_whole(tmp_path: Path) -> None:
    name = "0123456789" * 51 + "x "
    ((code, _, message, help, _),) = named(f'naming a[1] "{name}"', tmp_path)[1]
    assert (code, message, help) == ("E0120", f"'{name}' is not a name for a device", FORM)


def test_names_of_devices(tmp_path: Path) -> None:
    """Of the indices, the fabric and a guard; several statements; what no statement names is called by its path."""
    names, errors = named('naming a[i] "{fabric} {i + 1}" where i != 1\nnaming b[*] "same"', tmp_path)
    assert (names, errors) == (["f 1", "a1", "f 3", "same", "same"], [])


@pytest.mark.parametrize("name", [" x", "x ", "", "a\tb", "a\x7fb"])
def test_names_that_are_refused(name: str, tmp_path: Path) -> None:
    """A statement of which one name is refused names nothing; the next one still does."""
    names, errors = named(f'naming a[i] "{name}"\nnaming b[1] "y"', tmp_path)
    (found,) = errors
    assert (found[0], found[1], found[3]) == ("E0120", f'"{name}"', FORM) and found[2].endswith(" is not a name for a device")
    assert names == ["a0", "a1", "a2", "b0", "y"]


def test_devices_that_are_named_twice(tmp_path: Path) -> None:
    """The first name stays; the label shows it and its statement."""
    names, errors = named('naming a[1] "one"\nnaming a[i] "many{i}"\nnaming b[0] "x"\nnaming b[0] "z"', tmp_path)
    assert errors == [
        ("E0104", 'naming a[i] "many{i}"', "a[1] is named twice", "", [('naming a[1] "one"', "first named here: one")]),
        ("E0104", 'naming b[0] "z"', "b[0] is named twice", "", [('naming b[0] "x"', "first named here: x")]),
    ]
    assert names == ["many0", "one", "a2", "x", "b1"]


def test_a_naming_of_nothing_is_reported(tmp_path: Path) -> None:
    text = 'fabric f {\nswitch a[3]: BIG\nswitch b[2]: BIG\nconnect a[*] to b[*] each\nnaming a[i] "x{i}" where i > 5\n}'
    found = compile_text(text, tmp_path, verify=False).findings
    assert [d.span.text for d in found if d.span] == ["i > 5"]


def test_who_names_a_device(tmp_path: Path) -> None:
    """The statement of each named device, and none of the others."""
    f = fabric_of(
        'fabric f { switch a[3]: BIG; switch b: BIG; connect a[*] to b each\nnaming a[i] "x{i}" where i < 2 }', tmp_path
    )
    assert {d: o.span.text for d, o in f.named_by.items()} == dict.fromkeys((0, 1), 'naming a[i] "x{i}" where i < 2')


# ------------------------------------------------------------ tables of devices
COLUMNS = ("device", "Size".lower())


def read(text: str, other: tuple[str, ...] = ()) -> tuple[list[tuple[int, dict[str, str]]], list[tuple[str, str, str, str]]]:
    """Rows of a table with the columns `device` and `size`, and its findings."""
    found = Diagnostics()
    table = DeviceTable(tree_of_devices(), SourceFile("t.csv", text), found)
    rows = list(table.rows(COLUMNS, "E0207", "the table", other))
    return rows, [(d.code, d.message, d.help, d.span.text if d.span else "") for d in found.items]


FIRST = "the first line names the columns: device,size"


def test_tables_of_devices() -> None:
    """Lines are counted from 1; comments and blank lines are none; columns in any order and case; cells without spaces."""
    text = '# a comment\n\n Size ,more,DEVICE\n3, "x, y" ,a\n   \n#4,,b\n5\n6,z,c,extra'
    rows = [(4, {"size": "3", "more": '"x', "device": 'y"'}), (7, {"size": "5"}), (8, {"size": "6", "more": "z", "device": "c"})]
    assert read(text) == (rows, [])
    assert read('device,size\n"a, b",2\n') == ([(2, {"device": "a, b", "size": "2"})], [])
    assert read("") == ([], []) and read("# nothing\n") == ([], [])


def test_tables_without_a_column() -> None:
    """The first missing one is named, and nothing is read; a heading with all of the other columns will do."""
    assert read("size,name\n1,2\n") == ([], [("E0207", "the table has no column `device`", FIRST, "size,name")])
    assert read("device\n1\n") == ([], [("E0207", "the table has no column `size`", FIRST, "device")])
    assert read("name\n1\n", ("name", "rack")) == (
        [], [("E0207", "the table has no column `device`", f"{FIRST}, or at least name,rack", "name")],
    )  # fmt: skip
    assert read("# x\nrack,name,z\n1,2\n", ("name", "rack")) == ([(3, {"rack": "1", "name": "2"})], [])
    assert read("rack,name\n1,2\n", ("name", "rack")) == ([(2, {"rack": "1", "name": "2"})], [])
    assert read("device,size\n1,2\n", ("name", "rack")) == ([(2, {"device": "1", "size": "2"})], [])


def test_a_line_that_is_not_csv() -> None:
    """The table ends there."""
    long = "x" * 200_000
    rows, errors = read(f"device,size\na,1\n{long},2\nb,3\n")
    assert rows == [(2, {"device": "a", "size": "1"})]
    ((code, message, help, under),) = errors
    assert (code, help, under) == ("E0207", "write values separated by commas", f"{long},2")
    assert message.startswith("the table has a line that is not CSV: field larger than field limit")


def test_devices_of_a_table() -> None:
    """By path and by name; the line of a number."""
    table = DeviceTable(tree_of_devices(), SourceFile("t.csv", "one\ntwo\nthree"), Diagnostics())
    assert [table.devices[n] for n in ("su[0].leaf[0, 0]", "rack7-a", "spine[3]", "top3", "core", "core9")] == [
        0,
        0,
        17,
        17,
        25,
        25,
    ]
    assert "core0" not in table.devices and len(table.devices) == 2 * 26
    assert [table.span(n).text for n in (1, 2, 3)] == ["one", "two", "three"]


# ------------------------------------------------------------ links inside a model
INSIDE = """
let two = 2
model chip G { port nv[4]: 200Gbps { type NVLINK }; port x[1..2]: 100Gbps }
model switch N { port p[16]: 200Gbps { type NVLINK } }
model host H {
  port nic[4]: 400Gbps { type NDR }
  chip gpu[4]: G
  switch nvs[2]: N
  chip cpu: G
  WIRED
}
fabric f { host h[2]: H; switch s: BIG; connect h[n].nic[*] to s each }
"""


def inner(wired: str, folder: Path) -> tuple[list[InnerLink], list[tuple[str, str, str, str]]]:
    """Links inside the model of the hosts, and the errors."""
    result = compile_text(INSIDE.replace("WIRED", wired), folder, verify=False)
    fabric = result.designs[0].fabric
    found = [(d.code, d.span.text if d.span else "", d.message, d.help) for d in result.findings if d.severity.name == "ERROR"]
    return ([] if fabric is None else [k for m in fabric.models if m.name == "H" for k in m.links]), found


def test_links_inside_a_model(tmp_path: Path) -> None:
    """Each pair of devices, rate and layer once, with the number of its links."""
    links, errors = inner(
        """connect gpu[g].nv[k] to nvs[k % 2] { layer scaleup }
  connect gpu[g].x[1] to cpu where g == two { rate 100Gbps }
  connect gpu[0].x[2] to gpu[3].x[2] { medium trace }
  connect nvs[0] to nvs[1] x 3""",
        tmp_path,
    )
    assert errors == []
    assert links == [
        *(InnerLink(("gpu", g), ("nvs", s), 2, 200 * GBPS, "scaleup") for g in range(4) for s in range(2)),
        InnerLink(("gpu", 2), ("cpu", 0), 1, 100 * GBPS, ""), InnerLink(("gpu", 0), ("gpu", 3), 1, 100 * GBPS, ""),
        InnerLink(("nvs", 0), ("nvs", 1), 3, 200 * GBPS, ""),
    ]  # fmt: skip


def test_connects_inside_a_model_that_are_refused(tmp_path: Path) -> None:
    """An unknown setting and an index outside; the other connects are made."""
    links, errors = inner(
        """connect gpu[0].nv[0] to nvs[0] { lair scaleup }
  connect gpu[0].nv[1] to nvs[0] { colour "red" }
  connect gpu[4].nv[0] to nvs[0]
  connect gpu[1].nv[0] to nvs[1]""",
        tmp_path,
    )
    assert errors == [
        ("E0118", "lair", "there is no setting of a connect inside a model `lair` here", "did you mean `layer`?"),
        (
            "E0118",
            "colour",
            "there is no setting of a connect inside a model `colour` here",
            "known here: `layer`, `medium`, `rate`",
        ),
        ("E0108", "4", "`gpu[4]` is outside 0..3", "`gpu` has indices 0..3"),
    ]
    assert links in ([], [InnerLink(("gpu", 1), ("nvs", 1), 1, 200 * GBPS, "")])


def test_the_limit_of_links_inside_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit itself is allowed."""
    assert inside.INNER_LIMIT == 2**20
    wired = "connect gpu[*] to nvs[*] each"
    monkeypatch.setattr(inside, "INNER_LIMIT", 8)
    links, errors = inner(wired, tmp_path)
    assert errors == [] and len(links) == 8
    monkeypatch.setattr(inside, "INNER_LIMIT", 7)
    assert [code for code, *_ in inner(wired, tmp_path)[1]] == ["E0116"]
