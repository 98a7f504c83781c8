"""Parts of an imported design: names of ports, numbers that are padded, ranges of indices, identifiers and rates."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from tdsl.findings.source import SourceFile
from tdsl.observe import importing
from tdsl.observe.importing import Array, NoDesign, SeenDevice, design_from_captures
from tdsl.observe.record import CapturedEnd, CapturedLink, CapturedNode, CaptureLine, Observed

AT = CaptureLine(SourceFile("x", "\n" * 9), 1)
G = 10**9


@pytest.mark.parametrize(
    ("numbers", "width"),
    [
        (["1", "2", "10"], 0),
        (["0", "1", "10"], 0),  # a zero alone is not padded
        (["00", "01"], 2),
        (["01", "10", "99"], 2),
        (["01", "100"], 2),
        (["001", "100", "1000"], 3),
        (["01", "1"], -1),
        (["01", "001"], -1),
        (["1", "010"], -1),
        (["0", "01"], -1),
        ([], 0),
    ],
)
def test_digits_of_padded_numbers(numbers: list[str], width: int) -> None:
    """As many as the shortest has, if no longer one is padded."""
    assert importing._zero_padded_width({(len(n), n.startswith("0")) for n in numbers}) == width


def test_ranges_of_indices() -> None:
    random = Random(1)
    for _ in range(30):
        lows = [random.randint(0, 3) for _ in range(random.randint(0, 3))]
        highs = [low + random.randint(0, 2) for low in lows]
        ranges = [range(low, high + 1) for low, high in zip(lows, highs, strict=True)]
        assert importing._index_tuples_in_box(lows, highs) == list(product(*ranges))


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["eth0", "eth1", "eth2"], 'port p[3]: any { os "eth{i}" }'),
        (["eth1", "eth2"], 'let number = [1, 2]; port p[2]: any { os "eth{number[i]}" }'),
        (["eth0", "eth2"], 'let number = [0, 2]; port p[2]: any { os "eth{number[i]}" }'),
        (["eth00", "eth01"], 'let label = ["eth00", "eth01"]; port p[2]: any { os "{label[i]}" }'),
        (["eth0", "ib1"], 'let label = ["eth0", "ib1"]; port p[2]: any { os "{label[i]}" }'),
        (["mgmt"], 'let label = ["mgmt"]; port p[1]: any { os "{label[i]}" }'),
        (["mgmt", "eth0"], 'let label = ["mgmt", "eth0"]; port p[2]: any { os "{label[i]}" }'),
        (["0", "1"], 'port p[2]: any { os "{i}" }'),
        (["a1b0", "a1b1"], 'let label = ["a1b0", "a1b1"]; port p[2]: any { os "{label[i]}" }'),
        (["e{0"], 'port p[1]: any { os "e{{{i}" }'),
        (["e{5"], 'let number = [5]; port p[1]: any { os "e{{{number[i]}" }'),
        (['"', "}"], 'let label = ["{34:c}", "}}"]; port p[2]: any { os "{label[i]}" }'),
    ],
)
def test_ports_of_a_model(names: list[str], text: str) -> None:
    """By their number where they have all one stem, else by their names."""
    assert importing._port_declarations(names) == text


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("su0-leaf1", "su0_leaf1"),
        ("9a", "n9a"),
        ("--", "asbuilt"),
        ("", "asbuilt"),
        ("_a.b_", "a_b"),
        ("é4", "n4"),
        ("a__b", "a__b"),
    ],
)
def test_identifiers(text: str, word: str) -> None:
    assert importing._identifier_from_text(text) == word


def test_rates_of_connects() -> None:
    rates = {
        400 * G: "400Gbps",
        1000 * G: "1Tbps",
        1600 * G: "1600Gbps",
        2 * 10**12: "2Tbps",
        25 * 10**8: "2500Mbps",
        1500: "1500bps",
        10**6: "1Mbps",
    }
    assert {r: importing._rate_literal(r) for r in rates} == rates


def test_the_order_of_names() -> None:
    names = ["leaf10", "leaf2", "leaf", "2", "10", "a1b10", "a1b9"]
    assert sorted(names, key=importing._natural_sort_parts) == ["2", "10", "a1b9", "a1b10", "leaf", "leaf2", "leaf10"]
    assert importing._natural_sort_parts("ab12") == [(1, 0, "ab"), (0, 12, "")]


def made(*wires: tuple[str, str, str, str, int], kinds: dict[str, str] | None = None, files: int = 1) -> Observed:
    """Links with their rates in Gb/s between devices that a capture names; ``kinds`` says what some of them are."""
    out = Observed(files=files)
    for a, p, b, q, rate in wires:
        for name in (a, b):
            out.nodes.setdefault(name, CapturedNode(name, name, (kinds or {}).get(name, ""), (f"id{name}",), 0, AT))
        out.wires.append(CapturedLink(CapturedEnd(a, (p,)), CapturedEnd(b, (q,)), AT, rate * G))
    return out


def test_no_design() -> None:
    with pytest.raises(NoDesign, match=r"^the captures have no link$"):
        design_from_captures(made(), "f")
    unknown = made(("n0", "eth0", "s0", "1", 0), ("n1", "eth0", "s0", "2", 0), ("n2", "eth0", "s0", "3", 100))
    with pytest.raises(NoDesign, match=r"^the captures do not say the rate of 2 links; give it with --rate 400Gbps$"):
        design_from_captures(unknown, "f")
    assert design_from_captures(unknown, "f", 400 * G).count("rate 400Gbps") == 2


def test_an_imported_design() -> None:
    """Two leafs of six ports with three hosts each; a host is missing, a cable is looped, and a link is seen twice."""
    wires = [(f"node{2 * leaf + i}", "eth0", f"leaf{leaf}", str(i + 1), 100) for leaf in range(2) for i in range(2)]
    wires += [("leaf0", "6", "spine", "1", 400), ("leaf1", "6", "spine", "2", 400), ("leaf0", "4", "leaf0", "5", 100)]
    wires += [("spine", "1", "leaf0", "6", 200), ("leaf0", "7", "leaf0", "7", 100)]
    text = design_from_captures(made(*wires, files=2), "my lab")
    assert text.splitlines() == [
        "# Made by `tdsl import` from 2 captures: 7 devices, 6 links.",
        "# left out: both ends on leaf0, 4 and 5",
        'model host HOST0 { port p[1]: any { os "eth{i}" } }',
        "model switch SWITCH_6 { port p[1..6]: any }",
        "model switch SWITCH_2 { port p[1..2]: any }",
        "",
        "fabric my_lab {",
        "  switch leaf[2]: SWITCH_6",
        '  naming leaf[a] "leaf{a}"',
        "  host node[4]: HOST0 { role accelerator }",
        '  naming node[a] "node{a}"',
        "  switch spine: SWITCH_2",
        '  naming spine "spine"',
        "",
        "  connect leaf[0].p[6] to spine.p[1] { rate 400Gbps }",
        "  connect leaf[1].p[6] to spine.p[2] { rate 400Gbps }",
        "  connect node[a].p[0] to leaf[(a // 2)].p[(a % 2) + 1] { rate 100Gbps }",
        "}",
    ]
    assert design_from_captures(made(*wires[:2]), "x").startswith("# Made by `tdsl import` from 1 capture: 3 devices, 2 links.\n")


def test_a_declaration_omits_what_was_not_seen() -> None:
    importer = importing._Importer(Observed(), "f", 0, True, None)
    importer.devices = {"a01-1": SeenDevice("a01-1", True, 4), "h": SeenDevice("h", False, 0)}
    members = {(1, 1): "a01-1", (2, 2): "a02-2", (1, 2): "a01-2"}
    array = Array("a", "SW", "a\0-\0", (2, 0), (1, 1), (2, 2), members)
    assert importer.declared(array, {}) == [
        "  switch a[1..2, 1..2]: SW", '  naming a[a, b] "a{a:02}-{b}"', "  omit a[2, 1]",
    ]  # fmt: skip
    lone = Array("h", "H", "h", (), (), (), {(): "h"})
    assert importer.declared(lone, {}) == ["  host h: H { role accelerator }", '  naming h "h"']
    importer.devices["a01-1"].ports = dict.fromkeys(("2", "9"))
    assert importer.box(array) == [(1, 2), (1, 2), (1, 9)]
    importer.devices["a01-1"].count = 32
    assert importer.box(array) == [(1, 2), (1, 2), (1, 32)]
    importer.devices["h"].ports = dict.fromkeys(("1", "2", "3"))
    assert importer.box(lone) == [(0, 2)]
    assert [importer.word(w) for w in ("f", "f", "x", "x")] == ["f_", "f__", "x", "x_"]


def test_links_inside_of_one_array() -> None:
    """The end that comes first stays first."""
    text = design_from_captures(made(("sw0", "1", "sw1", "2", 100), ("sw1", "1", "sw0", "2", 100)), "f")
    assert [line.strip() for line in text.splitlines() if "connect" in line] == [
        "connect sw[0].p[1] to sw[1].p[2] { rate 100Gbps }", "connect sw[0].p[2] to sw[1].p[1] { rate 100Gbps }",
    ]  # fmt: skip


def test_one_device_is_no_array() -> None:
    text = design_from_captures(made(("sw7", "1", "core", "1", 100)), "f")
    assert "  switch sw7: SWITCH_1\n" in text and '  naming sw7 "sw7"\n' in text
    assert "  connect core.p[1] to sw7.p[1] { rate 100Gbps }\n" in text


@pytest.mark.parametrize(
    ("ports", "count", "switch", "line"),
    [
        (["1", "3"], 0, True, "model switch SWITCH_3 { port p[1..3]: any }"),
        (["1", "3"], 8, True, "model switch SWITCH_8 { port p[1..8]: any }"),
        (["65535"], 0, True, "model switch SWITCH_65535 { port p[1..65535]: any }"),
        (["65536"], 9, True, 'model switch SWITCH0 { let number = [65536]; port p[1]: any { os "{number[i]}" } }'),
        (["0", "1"], 9, True, 'model switch SWITCH0 { port p[2]: any { os "{i}" } }'),
        (["1", "x"], 0, True, 'model switch SWITCH0 { let label = ["1", "x"]; port p[2]: any { os "{label[i]}" } }'),
        (["1", "2"], 9, False, 'model host HOST0 { let number = [1, 2]; port p[2]: any { os "{number[i]}" } }'),
    ],
)
def test_models_by_their_ports(ports: list[str], count: int, switch: bool, line: str) -> None:
    """Ports of a switch that have numbers from 1 up are counted; all others are named."""
    importer = importing._Importer(Observed(), "f", 0, True, None)
    importer.devices = {n: SeenDevice(n, switch, count, dict.fromkeys(ports)) for n in ("a", "b")}
    lines, model_of, path = importer.models()
    assert lines == [line] and model_of == dict.fromkeys("ab", line.split()[2])
    numbered = "[1.." in line
    assert path == {(d, p): f"p[{p if numbered else i}]" for d in "ab" for i, p in enumerate(ports)}
