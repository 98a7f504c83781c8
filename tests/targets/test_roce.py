"""The target roce, run by a shell with a made /sys; and what every target says of the traffic class of RDMA."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import need_program
from tests.tables import sections
from tests.targets.build import made
from tests.targets.test_nccl_conf import read as nccl_conf
from tests.targets.test_sonic import TWIN, Config


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    verify = need_program("systemd-analyze", "systemd")
    unit = tmp_path / "roce.service"
    unit.write_bytes(made(TWIN, tmp_path, "roce")[0]["roce/NODE.service"])
    assert _says(verify, unit) == (0, "")
    unit.write_text(unit.read_text().replace("Type=oneshot", "Type=once"))
    assert "service type" in _says(verify, unit)[1], "the judge can say no"


def _says(verify: str, unit: Path) -> tuple[int, str]:
    done = subprocess.run([verify, "verify", "--man=no", unit], capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, done.stderr


def test_hosts_and_nccl_say_what_the_design_says(tmp_path: Path) -> None:
    """``roce`` of the design against what hosts are told; the tests of each system hold the switches to it."""
    files, _ = made(TWIN, tmp_path, "nccl", "roce")
    assert nccl_conf(files["nccl/NODE.conf"])["NCCL_IB_TC"] == str(24 * 4)
    said = arrives(files["roce/NODE.sh"], tmp_path, ("mlx5_0", "mlx5_1"))
    for nic in ("net0", "net1"):
        assert said[nic] == {
            "app": {24: 4, 40: 7}, "pfc": {4}, "class": 24 * 4, "cnp_dscp": 40, "cnp_prio": 7, "rp": {4: 1}, "np": {4: 1},
        }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "pfc", "marks"), [("pfc off", set(), 0), ("ecn 100kB to 200kB", {3}, 1), ("dscp 30; cnp 12 priority 1", {3}, 0)]
)
def test_hosts(tmp_path: Path, words: str, pfc: set[int], marks: int) -> None:
    files, _ = made(re.sub(r"roce \{.*\}", f"roce {{ {words} }}", TWIN), tmp_path, "roce")
    said = arrives(files["roce/NODE.sh"], tmp_path, ("mlx5_0", "mlx5_1"))["net1"]
    assert said["pfc"] == pfc and said["rp"] == {3: marks} and said["class"] == (120 if "dscp 30" in words else 104)
    plain = arrives(files["roce/NODE.sh"].replace(b"mlx5_", b"eth"), tmp_path / "plain", ())
    assert plain["eth1"]["pfc"] == pfc and plain["eth1"]["app"] == said["app"]  # network devices of another driver


@pytest.mark.parametrize("netdev", ['; netdev "net{i}"', ""])
def test_ports_in_a_bond(netdev: str, tmp_path: Path) -> None:
    """One RDMA device, whose network device is that of the first port; each port has its priorities."""
    text = TWIN.replace("to leaf[r] {", "to leaf[0] { bundle 2;").replace('os "mlx5_{i}"', f'os "mlx5_{{i}}"{netdev}')
    files, _ = made(text, tmp_path, "roce")
    for nic in ("net0", "net1"):
        (tmp_path / f"sys/class/infiniband/mlx5_bond_0/device/net/net0/master/lower_{nic}").mkdir(parents=True)
    said = arrives(files["roce/NODE.sh"], tmp_path, ("mlx5_bond_0",))
    assert said["net0"].items() >= {"app": {24: 4, 40: 7}, "pfc": {4}, "class": 24 * 4, "rp": {4: 1}}.items()
    assert said == {"net0": said["net0"], "net1": {"app": {24: 4, 40: 7}, "pfc": {4}}}


DCB = sections(__file__)["dcb"]


def arrives(script: bytes, place: Path, adapters: tuple[str, ...]) -> dict[str, Config]:
    """What a host's adapters are told by the script, run by a shell with a made /sys: by network device."""
    sys, bin_, log = place / "sys", place / "bin", place / "log"
    bin_.mkdir(parents=True, exist_ok=True)
    log.write_text("")
    (bin_ / "dcb").write_text(DCB)
    (bin_ / "dcb").chmod(0o755)
    for n, adapter in enumerate(adapters):
        home = sys / "class/infiniband" / adapter
        (home / f"device/net/net{n}").mkdir(parents=True, exist_ok=True)
        (home / "tc/1").mkdir(parents=True, exist_ok=True)
        (home / "tc/1/traffic_class").write_text("")
        for part in ("roce_np/enable", "roce_rp/enable"):
            (sys / f"class/net/net{n}/ecn" / part).mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["sh", "-s"], input=script, env={"PATH": f"{bin_}:{os.environ['PATH']}", "SYS": str(sys), "LOG": str(log)},
        capture_output=True, timeout=20, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and not done.stderr, done.stderr
    out: dict[str, Config] = {}
    for line in log.read_text().splitlines():
        kind, nic, *pairs = line.split(" ")
        split = [p.split(":") for p in pairs]
        if kind == "app":
            out.setdefault(nic, {})["app"] = {int(d): int(p) for d, p in split}
        else:
            assert split[0] == ["all", "off"] and all(re.fullmatch("[0-7]", n) and v == "on" for n, v in split[1:])
            out.setdefault(nic, {})["pfc"] = {int(n) for n, _ in split[1:]}
    for n, adapter in enumerate(adapters):
        ecn = sys / f"class/net/net{n}/ecn"
        out[f"net{n}"] |= {
            "class": int((sys / "class/infiniband" / adapter / "tc/1/traffic_class").read_text()),
            "cnp_dscp": int((ecn / "roce_np/cnp_dscp").read_text()), "cnp_prio": int((ecn / "roce_np/cnp_802p_prio").read_text()),
            **{k: {int(p.name): int(p.read_text()) for p in (ecn / f"roce_{k}/enable").iterdir()} for k in ("rp", "np")},
        }  # fmt: skip
    return out
