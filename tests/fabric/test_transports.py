"""What links can speak: families of types, which links decide, and the words, places and numbers of what is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.fabric.transports import common_families, port_type_family
from tests.fabrics import Builder
from tests.harness import compile_text, fabric_of, sections


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("NDR", "infiniband"), ("NDR200", "infiniband"), ("HDR100", "infiniband"), ("FDR10", "infiniband"), ("GDR", "infiniband"),
        ("GE400", "ethernet"), ("GE", "ethernet"), ("BASE_T", "ethernet"), ("NVLINK5", "nvlink"), ("UALINK", "ualink"),
        ("UB", "ub"), ("UB2", "ub"), ("ICI3", "ici"), ("EFA", "efa"), ("SLINGSHOT11", "slingshot"),
        ("NEW7", "new"), ("NDR900", "ndr"), ("OTHER_9_B", "other_9_b"),
    ],
)  # fmt: skip
def test_family_of_a_type(kind: str, name: str) -> None:
    assert port_type_family(kind) == name


@pytest.mark.parametrize(
    ("one", "two", "found"),
    [
        ((), ("NDR",), set()),
        (("NDR",), (), set()),
        (("any",), ("NDR",), set()),
        (("NDR",), ("any",), set()),
        (("NDR", "any"), ("NDR",), set()),
        (("NDR",), ("NDR",), {"infiniband"}),
        (("NDR", "HDR"), ("HDR", "NDR"), {"infiniband"}),
        (("NDR", "GE400"), ("GE400", "NDR"), {"infiniband", "ethernet"}),
        (("NDR", "GE400"), ("GE400", "HDR"), {"ethernet"}),
        (("NDR", "GE200"), ("GE400", "HDR"), set()),  # of one family, but no type in common
    ],
)
def test_families_in_common(one: tuple[str, ...], two: tuple[str, ...], found: set[str]) -> None:
    b = Builder()
    (a,) = b.model("host", "H", {"p": {"shape": 1, "types": one}}).classes
    (c,) = b.model("host", "K", {"p": {"shape": 1, "types": two}}).classes
    assert common_families(a, c) == found


TEXTS = sections(Path(__file__).parent / "transports.txt")
TEXT = f"{TEXTS['TEXT']}\n"


@pytest.mark.parametrize(
    ("stated", "more", "transport", "found"),
    [
        ("", "", "", ["E0212 connect h[k].a to s x 3"]),
        ("", "connect h[k].b to s", "infiniband", []),  # those that can speak one only decide for the others
        ("", "connect e to s", "ethernet", []),
        ("", "connect h[0].b to s\n connect e to s", "", ["E0212 connect h[k].a to s x 3"]),  # they do not agree
        ("transport ethernet", "", "ethernet", []),
        ("transport infiniband", "connect h[0].b to s", "infiniband", []),
        ("transport roce", "connect e to s", "roce", []),
        ("roce { dscp 26; priority 3 }", "", "roce", []),
        ("routing bgp { unnumbered }", "", "ethernet", []),
        ("subnet_manager h[(0)]", "", "infiniband", []),
        ("transport infiniband", "connect e to s", "infiniband", ["E0213 connect e to s x 1"]),
        ("transport ethernet", "connect h[k].b to s", "ethernet", ["E0213 connect h[k].b to s x 3"]),
        ("transport nvlink", "", "nvlink", ["E0213 connect h[k].a to s x 3"]),
    ],
)
def test_which_links_decide(stated: str, more: str, transport: str, found: list[str], tmp_path: Path) -> None:
    """The first link that leaves it open, or cannot speak it, is named with the number of those of its statement and ports."""
    result = compile_text(TEXT.format(stated, more), tmp_path, models=False, verify=False)
    errors = [d for d in result.findings if d.code in ("E0212", "E0213")]
    assert [f"{d.code} {d.span.text} x {d.count}" for d in errors if d.span] == found
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.transport == transport


CHIPS = f"{TEXTS['CHIPS']}\n"


@pytest.mark.parametrize(("network", "transport"), [("", "nvlink"), ("switch s: S; connect h[i].a to s", "infiniband")])
def test_scale_up_links_decide_only_where_there_are_no_others(network: str, transport: str, tmp_path: Path) -> None:
    assert fabric_of(CHIPS.format(network), tmp_path, models=False).transport == transport
