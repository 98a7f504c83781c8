"""What the links of a fabric speak, and bundles of parallel links."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tdsl.emit.build import build_files
from tdsl.emit.target import targets_by_name
from tdsl.findings.diagnostic import Diagnostics
from tests.cli.run import tdsl
from tests.harness import compile_text, fabric_of

BOTH = """
model host H { port nic[2]: 400Gbps { type NDR, GE400; os "mlx5_{i}"; netdev "eth{i}" } }
model switch S { port p[1..8]: 400Gbps { type NDR, GE400; cage 2 OSFP; os "swp{i}" } }
model switch E { port p[1..8]: 400Gbps { type GE400; os "swp{i}" } }
model switch U { port p[1..8]: 400Gbps }
"""
WIRED = "host h[4]: H\n switch s[2]: S\n connect h[k].nic[r] to s[r]"


@pytest.mark.parametrize(("said", "made"), [("infiniband", True), ("roce", False), ("ethernet", False)])
def test_one_family_of_files(said: str, made: bool, tmp_path: Path) -> None:
    fabric = fabric_of(BOTH + f"fabric f {{ transport {said}\n {WIRED} }}", tmp_path)
    files = build_files(fabric, ["json", "opensm", "cabling"], Diagnostics())
    assert any(name.startswith("opensm/") for name in files) == made
    assert f'"transport": "{said}"' in files["fabric.json"].decode()
    interface = files["cabling/links.csv"].decode().splitlines()[1].split(",")[3]
    assert interface == ("mlx5_0" if made else "eth0")


@pytest.mark.parametrize(
    ("said", "lossless", "line"),
    [
        ("roce", True, "NCCL_IB_TC=104"), ("uec", False, "a plugin of their vendor"), ("iwarp", False, "NCCL takes sockets"),
        ("efa", None, "NCCL_NET=AWS Libfabric"), ("slingshot", None, "NCCL_NET=AWS Libfabric"),
    ],
)  # fmt: skip
def test_what_follows_from_a_transport(said: str, lossless: bool | None, line: str, tmp_path: Path) -> None:
    """Whether the priority is lossless where nothing says so, and how NCCL takes the network."""
    roce = "roce { dscp 26; ecn 150kB to 1500kB }" if lossless is not None else ""
    model = 'model host H { port nic[2]: 400Gbps { type GE400; netdev "eth{i}" }\n chip gpu[2]: G }\n'
    model += "model chip G { port n: 100Gbps }\n"
    model += "model switch S { port p[1..8]: 400Gbps { type GE400 } }\n"
    fabric = fabric_of(f"{model}fabric f {{ transport {said}\n {WIRED}\n {roce} }}", tmp_path, models=False)
    files = build_files(fabric, ["json", "nccl"], Diagnostics())
    assert ('"pfc": true' in files["fabric.json"].decode()) is bool(lossless)
    assert line in files["nccl/H.conf"].decode()
    assert ("NCCL_IB_TC" in files["nccl/H.conf"].decode()) == (said == "roce")


def test_bundles_are_paths(tmp_path: Path) -> None:
    text = """fabric f {
      host h[4]: NODE
      switch s[2]: BIG
      connect h[k].nic[r] to s[k // 2]
      connect s[0] to s[1] x 4 { bundle 2 }
      require edge_redundancy == 2
      require survives any 1 bundles of s to s
      require survives any 2 links of s to s with edge_redundancy >= 1
      require survives any 2 bundles of s to s
    }"""
    result = compile_text(text, tmp_path)
    assert [r.status for r in result.designs[0].results if r.requirement] == ["proved", "proved", "proved", "refuted"]
    fabric = result.designs[0].fabric
    assert fabric is not None
    assert fabric.link_bundle[fabric.link_bundle >= 0].tolist() == [0, 0, 1, 1]


def test_artefacts_number_bundles_and_give_each_one_address(tmp_path: Path) -> None:
    text = """fabric f {
      switch a[2]: BIG
      switch b: BIG
      connect a[*] to b spread x 4 { bundle 2 }
      address a[*] links from 10.0.0.0/22
    }"""
    fabric = fabric_of(text, tmp_path)
    rows = build_files(fabric, ["cabling"], Diagnostics())["cabling/links.csv"].decode().splitlines()
    head = rows[0].split(",")
    table = [dict(zip(head, row.split(","), strict=True)) for row in rows[1:]]
    pairs = Counter((r["a_device"], r["a_bundle"], r["b_bundle"]) for r in table)
    assert set(pairs.values()) == {2} and sorted(b for _, _, b in pairs) == ["1", "2", "3", "4"]
    assert Counter((r["a_device"], r["a_bundle"]) for r in table if r["a_address"]) == Counter({k[:2]: 1 for k in pairs})


def test_an_open_transport_fails_only_what_reads_it(tmp_path: Path) -> None:
    """The figures do not differ, so `check` warns; a target whose files differ is refused, and the others are built."""
    path = tmp_path / "open.fab"
    path.write_text(BOTH + f"fabric f {{ {WIRED}\n connect s[0] to s[1] x 2\n require reachability }}")
    checked = tdsl("check", path)
    assert checked.exit_code == 0 and "warning[E0212]" in checked.stdout and "1 warning" in checked.stdout
    assert tdsl("check", path, "--fail-on", "warning").exit_code == 1
    for target, status in (("json", 0), ("slurm", 0), ("cabling", 1), ("opensm", 1), ("", 1)):
        asked = ["--target", target] if target else []
        built = tdsl("build", path, *asked, "--out", tmp_path / f"out-{target}")
        assert built.exit_code == status and ("error[E0212]" in built.stderr) == bool(status), (target, built.stderr)
        assert (tmp_path / f"out-{target}").exists() != bool(status)


def test_targets_say_whether_their_files_differ_with_the_transport(tmp_path: Path) -> None:
    """Each target whose files are not the same for InfiniBand and Ethernet is one that reads the transport, but for fabric.json,
    which states what the design states."""
    chips = "model chip A { port nv: 400Gbps { type NVLINK } }\n"
    text = BOTH.replace("port nic", "chip gpu[2]: A; port nic").replace("model switch S {", "model switch S { height 1U;") + chips
    wired = f"{WIRED}\n connect s[0] to s[1]\n address s, h management from 10.0.0.0/24"
    one, two = (
        build_files(fabric_of(f"{text} fabric f {{ transport {said}\n {wired} }}", tmp_path), [], Diagnostics())
        for said in ("infiniband", "ethernet")
    )
    differ = {path.split("/")[0] for path in one.keys() | two.keys() if one.get(path) != two.get(path)}
    differ -= {"fabric.json", "manifest.json"}
    reading = {name for name, target in targets_by_name(Diagnostics()).items() if target.reads_transport}
    assert {"cabling", "netbox"} <= differ <= reading
