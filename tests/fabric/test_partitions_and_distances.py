"""Members of partitions, managers of subnets and distances between groups, as paths name them; and each refusal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.fabric.distances import GroupDistance as Distance
from tdsl.fabric.distances import distances_between_devices
from tdsl.fabric.graph import Fabric
from tdsl.fabric.partitions import Partition, _lowest_free_key
from tdsl.fabric.subnets import infiniband_ports, speaks_infiniband
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tests.fabrics import Builder
from tests.harness import compile_text

IB = """fabric f {{
  host e: ETH
  host h[4]: BOX
  host w: MIX
  switch a: SW
  switch b: SW
  panel q: PATCH
  {}
  connect h[i].nic[(0)] to a where i < 3
  connect h[i].nic[(1)] to b where i > 0
  connect w.ib to a
  connect w.eth to b
  {}
}}
model host ETH {{ port nic: 400Gbps {{ type GE400 }} }}
model host MIX {{ port none: 400Gbps; port ib: 400Gbps {{ type NDR }}; port eth: 400Gbps {{ type NDR, GE400 }}; port ge: 1Gbps {{ type GE }} }}
"""  # noqa: E501
ETHERNET = "connect e.nic to a"
OTHERS = "DDR, EDR, FDR, FDR10, GDR, HDR, HDR100, NDR, NDR200, QDR, SDR, XDR"
SWITCH = "` names a switch, and members of a partition are ports of hosts", "name ports of hosts, such as `full node[*].nic`"
NO_PORT = "` has no InfiniBand port", "name ports of such a type"
NO_MANAGER = "this host has no InfiniBand port to manage a subnet by", "a subnet manager speaks through a port of the subnet"
Said = tuple[str, str, str, str, int, list[tuple[str, str]], tuple[str, ...]]


def made(text: str, folder: Path) -> tuple[list[Said], Fabric]:
    """Code, text, message, help, number, labels and notes of every error, and the fabric."""
    result = compile_text(text, folder, verify=False)
    found = [d for d in result.findings if d.severity.word == "error"]
    f = result.designs[0].fabric
    assert f is not None
    return [
        (d.code, d.span.text if d.span else "", d.message, d.help or "", d.count,
         [(x.span.text, x.message) for x in d.labels], tuple(d.notes))
        for d in found
    ], f  # fmt: skip


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
    found, f = made(IB.format("", f"partition x 0x8012 {{ {rule} }}\n  partition last 0x13 {{ full h[(2)] }}"), tmp_path)
    assert found == [] and f.management is not None
    one, other = f.management.partitions
    assert [f.port_path(p) for p in one.port.tolist()] == list(members) and one.full.tolist() == list(members.values())
    assert (one.name, one.key, one.ipoib, other.name, other.key, other.ipoib) == ("x", 0x12, "ipoib" in rule, "last", 0x13, False)
    assert [f.port_path(p) for p in other.port.tolist()] == ["h[2].nic[0]", "h[2].nic[1]"]
    assert one.origin.span.text.startswith("partition x") and other.origin.span.text.startswith("partition last")


def test_ports_without_a_type_where_infiniband_is_stated(tmp_path: Path) -> None:
    text = "connect w.none to a; partition x 1 { full w; limited w.none }".replace("; p", "\n  p").replace("; limited w.none", "")
    for stated, members in (("", ["w.ib", "w.eth"]), ("transport infiniband", ["w.none", "w.ib", "w.eth"])):
        found, f = made(IB.format(stated, text), tmp_path)
        assert found == [] and f.management is not None
        assert [f.port_path(p) for p in f.management.partitions[0].port.tolist()] == members


@pytest.mark.parametrize(
    ("types", "speaks"),
    [
        (("NDR",), "always"), (("GE400", "HDR"), "always"), (("GE400",), "never"), ((), "stated"), (("any",), "stated"),
        (("any", "GE400"), "stated"), (("NDR", "any"), "always"),
    ],
)  # fmt: skip
def test_which_ports_speak_infiniband(types: tuple[str, ...], speaks: str) -> None:
    """Those of no type only where the design states InfiniBand; none where it states something else."""
    b = Builder()
    b.devices("t", b.model("switch", "T", {"q": {"shape": 2, "types": ("GE400",)}}), 1)
    b.devices("s", b.model("switch", "S", {"m": 1, "p": {"shape": 2, "types": types}, "x": 1}), 2)
    for transport, stated, yes in (
        ("", False, speaks == "always"),
        ("infiniband", False, speaks == "always"),
        ("infiniband", True, speaks != "never"),
        ("ethernet", True, False),
        ("ethernet", False, False),
    ):
        f = replace(b.build(), transport=transport, transport_stated=stated)
        assert speaks_infiniband(f, f.models[1].classes[1]) is yes
        untyped = transport == "infiniband" and stated
        assert infiniband_ports(f, np.arange(10)).tolist() == [False, False, *([untyped, yes, yes, untyped] * 2)]
        assert infiniband_ports(f, np.array([8, 0, 3])).tolist() == [yes, False, yes]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("partition x 1 { full a }", ("E0481", "full a", "`a" + SWITCH[0], SWITCH[1], 1, [], ())),
        ("partition x 1 { full h; limited h, b }", ("E0481", "limited h, b", "`h, b" + SWITCH[0], SWITCH[1], 1, [], ())),
        ("partition x 1 { full q }", ("E0481", "full q", "`q" + SWITCH[0], SWITCH[1], 1, [], ())),
        ("partition x 1 { full e }",
         ("E0481", "full e", "`e" + NO_PORT[0], NO_PORT[1], 1, [], (f"types of InfiniBand: {OTHERS}",))),
        ("partition x 1 { full h; full w.ge }",
         ("E0481", "full w.ge", "`w.ge" + NO_PORT[0], NO_PORT[1], 1, [], (f"types of InfiniBand: {OTHERS}",))),
        ("partition x 1 { full w.ib; full h[*].nic[(0)]; limited w.eth; limited h[(3)]; limited h[1..2] }",
         ("E0482", "limited h[1..2]", "h[1].nic[0] is a full and a limited member of `x`",
          "leave it out of `h[1..2]`, or of the full members", 2, [("full h[*].nic[(0)]", "full here")], ())),
        ("partition x 1 { limited h[(2)]; full h[(1)]; full h[(2)].nic[(1)], w }",
         ("E0482", "limited h[(2)]", "h[2].nic[1] is a full and a limited member of `x`",
          "leave it out of `h[(2)]`, or of the full members", 1, [("full h[(2)].nic[(1)], w", "full here")], ())),
        ("partition x 1 { full h }\n  partition y 3 { full h }\n  partition z 0x8003 { full h }",
         ("E0480", "partition z 0x8003 { full h }", "partitions `y` and `z` both have the key 0x0003",
          "give each its own key, such as `0x0002`; the bit 0x8000 says full membership", 1,
          [("partition y 3 { full h }", "the first is given here")], ())),
        ("partition x 1 { full h }\n  partition y 2 { full h }\n  partition z 2 { full h }",
         ("E0480", "partition z 2 { full h }", "partitions `y` and `z` both have the key 0x0002",
          "give each its own key, such as `0x0003`; the bit 0x8000 says full membership", 1,
          [("partition y 2 { full h }", "the first is given here")], ())),
        ("partition x 1 { full h }\n  partition y 2 { full h }\n  partition y 3 { full h }",
         ("E0104", "partition y 3 { full h }", "partition `y` is given twice", "", 1,
          [("partition y 2 { full h }", "first here")], ())),
        ("subnet_manager e", ("E0481", "subnet_manager e", *NO_MANAGER, 1, [], ())),
        ("subnet_manager e, w", ("E0481", "subnet_manager e, w", *NO_MANAGER, 1, [], ())),
        ("subnet_manager w, e", ("E0481", "subnet_manager w, e", *NO_MANAGER, 1, [], ())),
        ("subnet_manager h[(0)]",
         ("E0483", "subnet_manager h[(0)]", "no subnet manager has a port in the subnet of b",
          "connect one of the managers to it, or name a host that is: `subnet_manager node[(0)]`", 1, [],
          ("the links make 2 subnets, since nothing but switches joins ports",))),
        ("subnet_manager h[(3)]",
         ("E0483", "subnet_manager h[(3)]", "no subnet manager has a port in the subnet of a",
          "connect one of the managers to it, or name a host that is: `subnet_manager node[(0)]`", 1, [],
          ("the links make 2 subnets, since nothing but switches joins ports",))),
        ("host lone: BOX\n  subnet_manager lone",
         ("E0483", "subnet_manager lone", "no subnet manager has a port in the subnet of a",
          "connect one of the managers to it, or name a host that is: `subnet_manager node[(0)]`", 2, [],
          ("the links make 2 subnets, since nothing but switches joins ports",))),
        ("host lone: BOX\n  connect a to b\n  subnet_manager lone",
         ("E0483", "subnet_manager lone", "no subnet manager has a port in the subnet of a",
          "connect one of the managers to it, or name a host that is: `subnet_manager node[(0)]`", 1, [],
          ("the links make 1 subnet, since nothing but switches joins ports",))),
    ],
)  # fmt: skip
def test_what_is_refused(rules: str, said: Said, tmp_path: Path) -> None:
    found, f = made(IB.format("", rules), tmp_path)
    assert found == [said]
    assert not f.complete and f.management is not None
    assert len(f.management.partitions) == rules.count("partition") - (said[0] != "E0483" and "partition" in rules)


def test_the_lowest_free_key_is_proposed(tmp_path: Path) -> None:
    """Other partitions are resolved all the same, and compared with what is right alone."""
    keys = [1, 2, 4, 2, 5]
    rules = "\n  ".join(f"partition p{k} {key} {{ full h[({k % 4})] }}" for k, key in enumerate(keys))
    found, f = made(IB.format("", rules), tmp_path)
    assert [x[3].split("`")[1] for x in found] == ["0x0003"] and f.management is not None
    assert [(p.name, p.key) for p in f.management.partitions] == [("p0", 1), ("p1", 2), ("p2", 4), ("p4", 5)]


@pytest.mark.parametrize(
    ("rules", "managers"),
    [
        ("subnet_manager h[(2)]", ["h[2]"]),
        ("subnet_manager w, h[(1)]", ["w", "h[1]"]),
        ("subnet_manager h[(3)], h[(0)]; subnet_manager h", ["h[3]", "h[0]", "h[1]", "h[2]"]),
        ("subnet_manager h; subnet_manager w; omit h[(0)]", ["h[1]", "h[2]", "h[3]", "w"]),
    ],
)
def test_managers_in_the_order_of_the_text(rules: str, managers: list[str], tmp_path: Path) -> None:
    """Each once; what is omitted manages nothing."""
    found, f = made(IB.format("", rules.replace("; ", "\n  ")), tmp_path)
    assert found == [] and f.management is not None
    assert [f.device_path(d) for d in f.management.managers] == managers


def test_managers_of_several_subnets(tmp_path: Path) -> None:
    """Each subnet needs one, also where the managers are at the upper end of its links; scale-up links need none."""
    text = """fabric f {
  host n[2]: TRAY; host m: BOX; switch s[4]: SW; switch v: NVS
  connect n[i].gpu[j].nv to v { layer scaleup }
  connect n[i].a to s[(i)]
  connect s[0] to s[2]
  connect m.nic[i] to s[i + 2]
  subnet_manager m
}
model chip G { port nv: 200Gbps { type NVLINK } }
model host TRAY { port a: 400Gbps { type NDR }; chip gpu[2]: G }
model switch NVS { port p[8]: 200Gbps { type NVLINK } }
"""
    found, _ = made(text, tmp_path)
    assert [(x[2], x[4], x[6][0]) for x in found] == [
        ("no subnet manager has a port in the subnet of s[1]", 1,
         "the links make 3 subnets, since nothing but switches joins ports"),
    ]  # fmt: skip
    found, f = made(text.replace("s[0] to s[2]", "s[0..1] to s[2..3] pairs"), tmp_path)
    assert found == [] and f.management is not None and [f.device_path(d) for d in f.management.managers] == ["m"]
    found, f = made(text.replace("manager m", "manager m, n[(1)]"), tmp_path)
    assert found == [] and f.management is not None and [f.device_path(d) for d in f.management.managers] == ["m", "n[1]"]


def test_an_unfinished_fabric_is_not_said_to_lack_managers(tmp_path: Path) -> None:
    found, f = made(IB.format("", "connect a to b x 99\n  subnet_manager h[(0)]"), tmp_path)
    assert {x[0] for x in found} == {"E0404", "E0452"} and f.management is not None and len(f.management.managers) == 1


# ------------------------------------------------------------ distances

SITES = """fabric f {{
  site x[3] {{ switch s[2]: SW; switch t: SW }}
  site y {{ switch s: SW; group in[2] {{ switch u: SW }} }}
  site none {{ }}
  connect x[i].s[0] to y.s
  connect x[i].s[1] to x[i].t
  connect y.in[k].u to y.s
  {}
}}"""


def test_devices_of_each_distance(tmp_path: Path) -> None:
    """All in either group, the first row of the fabric included; in the order of the text."""
    text = "distance x[0] to y 5km; distance y to x[(2)] 7m; distance x[1] to x[2] 9m; distance none to y.in[(1)] 1m"
    found, f = made(SITES.format(text.replace("; ", "\n  ")), tmp_path)
    assert found == []
    paths = [f.device_path(d) for d in range(f.device_count)]
    own = {k: [d for d, p in enumerate(paths) if p.startswith(k)] for k in ("x[0]", "x[1]", "x[2]", "y", "y.in[1]")}
    assert own["x[0]"][0] == 0
    assert [(s.a.tolist(), s.b.tolist(), s.length, s.text) for s in f.spans] == [
        (own["x[0]"], own["y"], 5_000_000, "x[0] to y"), (own["y"], own["x[2]"], 7000, "y to x[(2)]"),
        (own["x[1]"], own["x[2]"], 9000, "x[1] to x[2]"), ([], own["y.in[1]"], 1000, "none to y.in[(1)]"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("distance x[0] to x[(0)] 5m", "the two groups of a distance share devices", "name two groups that are apart"),
        ("distance y to y.in[(1)] 5m", "the two groups of a distance share devices", "name two groups that are apart"),
        ("distance x[i] to y 5m", "a distance is between two groups, and this names many",
         "write a distance for each two groups: `distance dc[0] to dc[1] 100km`"),
        ("distance y to x[i] 5m", "a distance is between two groups, and this names many",
         "write a distance for each two groups: `distance dc[0] to dc[1] 100km`"),
    ],
)  # fmt: skip
def test_distances_that_are_refused(text: str, message: str, help: str, tmp_path: Path) -> None:
    found, f = made(SITES.format(text + "\n  distance x[0] to x[1] 3m"), tmp_path)
    assert found == [("E0120", text, message, help, 1, [], ())]
    assert [s.text for s in f.spans] == ["x[0] to x[1]"]


@pytest.mark.parametrize("seed", range(10))
def test_the_last_distance_of_two_devices(seed: int) -> None:
    """In either direction; -1 where none is of both."""
    rng = Random(seed)
    b = Builder()
    b.devices("s", b.model("switch", "S", {"p": 1}), 6)
    lots = [(rng.sample(range(6), 2), rng.sample(range(6), rng.randint(1, 3))) for _ in range(4)]
    spans = tuple(Distance(np.array(x), np.array(y), 100 + 7 * k, str(k)) for k, (x, y) in enumerate(lots))
    f = replace(b.build(), spans=spans)
    pairs = [(x, y) for x in range(6) for y in range(6)]
    length, which = distances_between_devices(f, *(np.array([p[k] for p in pairs]) for k in (0, 1)))
    for (x, y), far, k in zip(pairs, length.tolist(), which.tolist(), strict=True):
        mine = [n for n, (one, two) in enumerate(lots) if (x in one and y in two) or (y in one and x in two)]
        assert (far, k) == ((100 + 7 * mine[-1], mine[-1]) if mine else (-1, -1))


def test_the_key_that_is_proposed_is_the_lowest_free_one() -> None:
    """A P_Key has 15 bits for the partition, and 0 is none: once 32,767 are taken, no key is proposed."""
    none = np.zeros(0, dtype=np.int64)
    at = Origin(SourceSpan(SourceFile("f.fab", "x"), 0, 1))
    every = [Partition(f"p{k}", k, False, none, none > 0, at) for k in range(1, 1 << 15)]
    for taken, wanted in ((every, ""), (every[:-1], ", such as `0x7fff`"), (every[1:], ", such as `0x0001`")):
        assert _lowest_free_key(taken) == wanted
