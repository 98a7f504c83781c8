"""Members of partitions: which ports a rule names, each once, as full or limited members."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import fabric_of, sections

TEXTS = sections(Path(__file__).parent / "partitions.txt")
IB = f"{TEXTS['IB']}\n"


@pytest.mark.parametrize(
    ("rule", "members"),
    [
        ("full h", {f"h[{i}].nic[{k}]": True for i in range(4) for k in (0, 1) if (i, k) not in ((0, 1), (3, 0))}),
        ("full h[*].nic[(1)]; full h[(1)]", {"h[1].nic[0]": True, **{f"h[{i}].nic[1]": True for i in (1, 2, 3)}}),
        ("limited h[2..3]; full h[(1)], w", {
            "h[1].nic[0]": True, "h[1].nic[1]": True, "h[2].nic[0]": False, "h[2].nic[1]": False, "h[3].nic[1]": False,
            "w.ib": True, "w.eth": True,
        }),
        ("full h[2..3]; limited w, h[(1)]", {
            "h[1].nic[0]": False, "h[1].nic[1]": False, "h[2].nic[0]": True, "h[2].nic[1]": True, "h[3].nic[1]": True,
            "w.ib": False, "w.eth": False,
        }),
        ("limited w.ib; full w.eth, h[(0)]", {"h[0].nic[0]": True, "w.ib": False, "w.eth": True}),
        ("full h[(0)].nic[(1)], h[(3)]", {"h[3].nic[1]": True}),
        ("limited h[(0)].nic; ipoib", {"h[0].nic[0]": False}),
    ],
)  # fmt: skip
def test_members_of_a_partition(rule: str, members: dict[str, bool], tmp_path: Path) -> None:
    """Ports that have a link and speak InfiniBand, each once, in the order of the fabric."""
    f = fabric_of(IB.format("", f"partition x 0x8012 {{ {rule} }}\n  partition last 0x13 {{ full h[(2)] }}"), tmp_path)
    assert f.management is not None
    one, other = f.management.partitions
    assert [f.port_path(p) for p in one.port.tolist()] == list(members) and one.full.tolist() == list(members.values())
    assert (one.name, one.key, one.ipoib, other.name, other.key, other.ipoib) == ("x", 0x12, "ipoib" in rule, "last", 0x13, False)
    assert [f.port_path(p) for p in other.port.tolist()] == ["h[2].nic[0]", "h[2].nic[1]"]
    assert one.origin.span.text.startswith("partition x") and other.origin.span.text.startswith("partition last")


def test_ports_without_a_type_where_infiniband_is_stated(tmp_path: Path) -> None:
    text = "connect w.none to a; partition x 1 { full w; limited w.none }".replace("; p", "\n  p").replace("; limited w.none", "")
    for stated, members in (("", ["w.ib", "w.eth"]), ("transport infiniband", ["w.none", "w.ib", "w.eth"])):
        f = fabric_of(IB.format(stated, text), tmp_path)
        assert f.management is not None
        assert [f.port_path(p) for p in f.management.partitions[0].port.tolist()] == members
