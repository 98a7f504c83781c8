"""The library's RoCE cluster as `tdsl build` leaves it: a bill without gaps, the files of each host once over all networks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.cli.run import tdsl
from tests.targets.build import csv_rows

WHOLE = "all-networks"
HOSTS = {*(f"node{n}" for n in range(32)), *(f"filer{n}" for n in range(8)), "head0", "head1"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("roce_cluster") / "out"
    targets = (x for name in ("bom", "dns", "frr", "json", "nvue", "roce") for x in ("--target", name))
    done = tdsl("build", "roce_cluster", "--out", out, *targets)
    assert done.exit_code == 0 and "error" not in done.output.replace("no errors", ""), done.output
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}


def test_the_bill_has_a_part_for_every_cable_and_transceiver(files: dict[str, bytes]) -> None:
    bill = csv_rows(files, f"{WHOLE}/bom/bom.csv")
    assert "?" not in {r["model"] for r in bill}
    sums: Counter[tuple[str, str]] = Counter()
    for r in bill:
        sums[r["kind"], r["model"]] += int(r["quantity"])
    assert [sums["host", m] for m in ("DGX_H100", "FILER", "HEAD")] == [32, 8, 2]
    assert [sums["switch", m] for m in ("SN5600", "SN4600C", "SN2201")] == [16, 2, 2]
    assert sums["optic", "MMA4Z00-NS-FLT"] == 32 * 4 and sums["optic", "MMA1Z00-NS400"] == (32 + 8) * 2
    assert sums["optic", "MMA4Z00-NS"] == (256 + 2 * 256 + 80 + 2 * 64) // 2  # two links of 400 Gb/s a cage
    assert sums["cable", "MFP7E10"] == 256 + 256 + 80 + 64 and sums["cable", "MFA1A00"] == 64 + 4 + 8


def test_each_host_has_one_file_of_each_kind(files: dict[str, bytes]) -> None:
    """Every adapter with an address is in the host's one netplan file; no address, table or name is given twice."""
    plans = {Path(p).parent.name: b for p, b in files.items() if p.endswith("netplan.yaml")}
    assert set(plans) == HOSTS and len(plans) == sum(p.endswith("netplan.yaml") for p in files)
    seen: Counter[str] = Counter()
    for host, text in plans.items():
        own = yaml.safe_load(text)["network"]["ethernets"]
        assert len(own) == {"node": 8 + 4, "filer": 2 + 1, "head": 2}[host.rstrip("0123456789")], host
        seen.update(a for i in own.values() for a in i["addresses"])
        tables = [rule["table"] for i in own.values() for rule in i["routing-policy"]]
        assert len(set(tables)) == len(tables) == len(own)
    assert set(seen.values()) == {1}
    assert {Path(p).name for p in files if "/roce/" in p} == {
        f"{m}.{e}" for m in ("DGX_H100", "FILER") for e in ("sh", "service")
    }
    names = [line.split()[0] for line in files[f"{WHOLE}/dns/zone.db"].decode().splitlines() if " IN A " in line]
    assert len(set(names)) == len(names) and {f"{h}-bmc" for h in HOSTS} <= set(names)


def test_each_switch_is_configured_in_its_network_alone(files: dict[str, bytes]) -> None:
    configured = Counter(Path(p).stem for p in files if "/nvue/" in p)
    devices = json.loads(files[f"{WHOLE}/fabric.json"])["devices"]
    rows = [dict(zip(devices["columns"], r, strict=True)) for r in devices["rows"]]
    assert set(configured.values()) == {1}
    assert set(configured) == {d["name"] for d in rows if d["kind"] == "switch" and d["model"].startswith(("SN5600", "SN4600C"))}
