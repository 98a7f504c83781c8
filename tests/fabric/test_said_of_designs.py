"""What designs are told: findings with their words, places and examples, told by hand; and values that are no fault."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tdsl.fabric.cables.plugs import optic_misfit_reason
from tdsl.semantics.model import DeviceModel, PortClass
from tdsl.semantics.quantity import RATE, Quantity
from tests.fabrics import GBPS, Builder
from tests.harness import compile_text, fabric_of, links_of

Said = tuple[str, str, str]
"""Code, text at its place, and message."""


def said(text: str, folder: Path, **options: object) -> list[Said]:
    """The errors of a text."""
    found = compile_text(text, folder, **options).findings  # type: ignore[arg-type]
    return [(d.code, d.span.text if d.span else "", d.message) for d in found if d.severity.word == "error"]


# ------------------------------------------------------------ examples in help


@pytest.mark.parametrize(
    ("devices", "written", "larger"),
    [
        (4, "10.255.0.0/31", "10.255.0.0/30"),
        (5, "10.255.0.0/31", "10.255.0.0/29"),
        (8, "10.255.0.0/30", "10.255.0.0/29"),
        (7, "10.255.0.1/30", "10.255.0.1/29"),  # from the second address on: one is left out
        (8, "10.255.0.1/30", "10.255.0.1/28"),
        (4, "fd00::/127", "fd00::/126"),
        (5, "fd00::/127", "fd00::/125"),
    ],
)
def test_the_longest_prefix_with_room(devices: int, written: str, larger: str, tmp_path: Path) -> None:
    text = f"fabric f {{ switch a[{devices}]: SW; connect a[*] ring; address a loopback from {written} }}"
    (found,) = [d for d in compile_text(text, tmp_path, verify=False).findings if d.code == "E0471"]
    assert found.help == f"take a shorter prefix, such as `{larger}`"


# ------------------------------------------------------------ the least AS number


ASN = """model switch E {{ port p[1..8]: 400Gbps {{ type GE400 }} }}
fabric f {{ switch a[2]: E; connect a[0] to a[1]; routing bgp {{ unnumbered; {} }} }}
"""


@pytest.mark.parametrize("number", [1, 64512])
def test_two_neighbours_with_one_number(number: int, tmp_path: Path) -> None:
    why = f"a[0] and a[1] both have ASN {number}, "
    assert [m for _, _, m in said(ASN.format(f"asn a[*] {number}"), tmp_path)] == [why + "and a link between them"]
    twice = f"asn a[(0)] {number}; asn a[(1)] {number}"
    assert [m for _, _, m in said(ASN.format(twice), tmp_path)] == [why + "of different rules"]
    again = said(ASN.format(f"asn a[(0)] {number}; asn a[*] {number}"), tmp_path)
    assert ("E0472", "a[0] already has an ASN") in [(code, message) for code, _, message in again]


# ------------------------------------------------------------ classes and colours with placeholders


SETTING = "fabric f {{\n let bad = nope + 1\n switch a[3]: SW\n switch b[3]: SW\n connect a[i] to b[i] {{ {} }}\n}}"
NOPE = ("E0101", "nope", "there is no value `nope` here")


@pytest.mark.parametrize("what", ["class", "colour"])
def test_a_fault_in_a_placeholder_is_found(what: str, tmp_path: Path) -> None:
    """It is found at the placeholder, beside that of the value above; what only follows from that is not found again."""
    two = said(SETTING.format(what + ' "k{i}{nowhere}"'), tmp_path, verify=False)
    assert two == [NOPE, ("E0101", "nowhere", "there is no value `nowhere` here")]
    assert said(SETTING.format(what + ' "k{bad}"'), tmp_path, verify=False) == [NOPE]
    assert said(SETTING.format(what + ' "k{i}{1 // i}"'), tmp_path, verify=False)[1:]
    assert said(SETTING.format(what + ' "k{i}"'), tmp_path, verify=False) == [NOPE]


# ------------------------------------------------------------ how often


@pytest.mark.parametrize(
    ("times", "laid"),
    [("i", [0, 1, 2]), ("(2 - i)", [2, 1, 0]), ("(i // 2)", [0, 0, 1]), ("1", [1, 1, 1]), ("((i + 1) % 3)", [1, 2, 0])],
)
def test_some_assignments_lay_no_link(times: str, laid: list[int], tmp_path: Path) -> None:
    text = f"fabric f {{ switch a[3]: SW; switch b[3]: SW; connect a[*] to b[*] each; connect a[i] to b[i] x {times} }}"
    found = links_of(fabric_of(text, tmp_path))
    pairs = [tuple(p.rpartition(".")[0] for p in link) for link in found]
    assert [pairs.count((f"a[{i}]", f"b[{i}]")) - 1 for i in range(3)] == laid
    assert len(found) == 9 + sum(laid)


@pytest.mark.parametrize(("times", "least"), [("0", 0), ("(0 * i)", 0), ("(i - 1)", -1), ("(-2)", -2), ("(1 - i)", -1)])
def test_no_assignment_lays_a_link(times: str, least: int, tmp_path: Path) -> None:
    text = f"fabric f {{ switch a[3]: SW; switch b[3]: SW; connect a[i] to b[i] x {times} }}"
    assert said(text, tmp_path, verify=False) == [("E0120", times, f"`x {least}` makes no link")]


# ------------------------------------------------------------ transports


@pytest.mark.parametrize("name", ["nvlink", "roce"])
def test_the_statement_comes_before_the_ports(name: str, tmp_path: Path) -> None:
    """Labels of a link that cannot speak what is stated: first the statement, then each of the two port classes once."""
    text = (
        f"fabric f {{ transport {name}\n host h[2]: H\n switch s: S\n connect h[k].nic to s }}\n"
        "model host H { port nic: 400Gbps { type NDR, HDR } }\nmodel switch S { port p[1..8]: 400Gbps { type NDR } }\n"
    )
    (found,) = [d for d in compile_text(text, tmp_path, models=False).findings if d.severity.word == "error"]
    assert (found.code, found.span.text if found.span else "") == ("E0213", "connect h[k].nic to s")
    assert found.message.startswith(f"h[0].nic to s.p[1] share no type that carries {name}: they are infiniband")
    assert [(x.message, x.span.begin[0]) for x in found.labels] == [("stated here", 1), ("type NDR, HDR", 5), ("type NDR", 6)]


# ------------------------------------------------------------ places in a rack


@pytest.mark.parametrize(
    ("unit", "units"),
    [
        ("(2*i + 1) * 2U", [2, 6, 10]),
        ("(i + 1) * (1U + 1U)", [2, 4, 6]),
        ("((i) * 2U) + 3U", [3, 5, 7]),
        ("(0.5U + 0.5U) * (2*i + 1)", [1, 3, 5]),
        ("((1.5U) + (0.5U)) * (5 - 2*i)", [10, 6, 2]),
        ("(4U + (i * 2U))", [4, 6, 8]),
        ("1U * (12 / (i + 1)) + 8U", [20, 14, 12]),
    ],
)
def test_units_in_brackets(unit: str, units: list[int], tmp_path: Path) -> None:
    """Brackets and halves of units that make whole ones are as arithmetic has them."""
    f = fabric_of(PLACE.format(unit), tmp_path)
    assert f.places is not None
    assert f.places.device_unit[:3].tolist() == units


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ("(i * 1.5U) + 1U", "a place in a rack is a whole unit"),
        ("(0.5U)", "a place in a rack is a whole unit"),
        ("(2U - 2U) + 1U * i", "there is no unit 0, for i = 0"),
        ("2U - (i * 2U)", "there is no unit 0, for i = 1"),
        ("(i + 1)", "a place in a rack is in rack units, not an int"),
    ],
)
def test_no_place_in_a_rack(unit: str, message: str, tmp_path: Path) -> None:
    assert [m for _, _, m in said(PLACE.format(unit), tmp_path, verify=False)] == [message]


PLACE = """fabric f {{
  host n[3]: B
  switch s: SW
  connect n[i].nic[(0)] to s
  hall h {{ row A {{ rack 1..3 {{ height 48U }} }} }}
  place n[i] in h.A[i + 1] at {}
}}
model host B {{ port nic[2]: 400Gbps {{ type NDR }}; height 2U }}"""


# ------------------------------------------------------------ transceivers in cages


def optic(**facts: object) -> DeviceModel:
    """A transceiver ``O``."""
    made = Builder().model("optic", "O", {})
    return replace(made, facts={"form": ("OSFP", "flat"), "rate": Quantity(Fraction(400 * GBPS), RATE)} | facts)


def ports(**facts: object) -> PortClass:
    """A class of four ports of 400 Gb/s in cages of their own."""
    (made,) = Builder().model("switch", "S", {"p": 4}).classes
    return replace(made, **({"form": "OSFP", "per_cage": 1, "heatsink": "flat", "types": ("NDR",)} | facts))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rate", "legs", "tail", "port", "end"),
    [
        (400, 1, False, 400, None),
        (200, 2, False, 400, None),
        (200, 1, True, 400, None),
        (400, 1, True, 200, None),
        (200, 1, False, 400, "the link at 200Gbps"),
        (800, 1, False, 400, "the link at 800Gbps"),
        (100, 2, False, 400, "a break-out with 2 legs at 200Gbps"),
        (400, 4, False, 400, "a break-out with 4 legs at 1.6Tbps"),
        (200, 1, True, 200, "the port at 200Gbps"),
        (800, 2, True, 400, "the port at 800Gbps"),
    ],
)
def test_the_rate_that_a_transceiver_must_have(rate: int, legs: int, tail: bool, port: int, end: str | None) -> None:
    why = optic_misfit_reason(optic(), ports(rate=port * GBPS), rate * GBPS, legs, tail)
    assert why == ("" if end is None else f"O runs at 400Gbps, and {end}")


@pytest.mark.parametrize(
    ("part", "cage", "why"),
    [
        ({}, {}, ""),
        ({"form": "OSFP"}, {}, ""),
        ({"form": "OSFP"}, {"heatsink": ""}, ""),
        ({}, {"rate": None}, ""),
        ({}, {"form": ""}, "the model does not state the cage"),
        ({}, {"form": "", "types": ("BASE_T",)}, "O is OSFP, and the cage is RJ45"),
        ({"form": "RJ45"}, {"form": "", "types": ("BASE_T",), "per_cage": 0}, ""),
        ({"form": "RJ45"}, {"form": "", "types": ("BASE_T", "X"), "per_cage": 0}, "the model does not state the cage"),
        ({"form": ()}, {}, "O is of no stated form, and the cage is OSFP"),
        ({"form": "QSFP56"}, {}, "O is QSFP56, and the cage is OSFP"),
        ({"form": "QSFP56"}, {"form": "QSFP112"}, ""),
        ({"form": "QSFP112"}, {"form": "QSFP56"}, "O is QSFP112, and the cage is QSFP56"),
        ({}, {"heatsink": ""}, "O is flat, and the model does not state whether the cage takes finned or flat"),
        ({}, {"heatsink": "finned"}, "O is flat, and the cage takes finned"),
        ({}, {"per_cage": 2}, "O has 1 port, and the cage 2"),
        ({"ports": 2}, {}, "O has 2 ports, and the cage 1"),
        ({"ports": 2}, {"per_cage": 2}, ""),
        ({"ports": 2}, {"split": 2, "sockets": 2, "rate": 400 * GBPS}, ""),
        ({"ports": 2}, {"split": 2, "sockets": 1}, "O has 2 ports, and the cage 1"),
        ({"rate": None}, {}, "O runs at an unknown rate, and the link at 400Gbps"),
    ],
)
def test_why_a_transceiver_does_not_go_into_a_cage(part: dict[str, object], cage: dict[str, object], why: str) -> None:
    assert optic_misfit_reason(optic(**part), ports(**cage), 400 * GBPS) == why
