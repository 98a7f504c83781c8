"""The target prometheus, read by the parser of its client library; rules, configuration and questions of the dashboard by
promtool."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import need_program
from tests.targets import build
from tests.targets.build import csv_rows, design
from tests.targets.inventories import DESIGN, made, run, yaml


def test_prometheus_reads_what_is_expected(tmp_path: Path) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    files = made(DESIGN, tmp_path, "prometheus", "cabling")
    (family,) = parser.text_string_to_metric_families(files["prometheus/expected.prom"].decode())
    rows = csv_rows(files, "cabling/links.csv")
    assert len(family.samples) == 2 * len(rows) == 48
    seen = {(s.labels["node"], s.labels["device"]): s for s in family.samples}
    for row in rows:
        sample = seen[row["a_device"], row["a_interface"]]
        assert (sample.labels["neighbour"], sample.labels["neighbour_port"]) == (row["a_neighbour"], row["a_neighbour_port"])
        assert sample.value == int(row["rate_gbps"]) * 10**9
    groups = json.loads(files["prometheus/targets.json"])
    assert len(groups) == 14 and all(set(g) == {"targets", "labels"} for g in groups)
    assert all(isinstance(v, str) for g in groups for v in g["labels"].values())
    assert not any("device" in g["labels"] for g in groups), "it would take the place of node_exporter's own label"


def test_bmcs_are_targets_of_their_own(tmp_path: Path) -> None:
    promtool = need_program("promtool", "prometheus")
    text = DESIGN.replace("  routing bgp", "  address su[*].node[*] bmc from 10.9.0.1/24 { gateway 10.9.0.1 }\n  routing bgp")
    files = made(text, tmp_path, "prometheus", bmc_exporter="[::1]:9290")
    groups = json.loads(files["prometheus/bmc.json"])
    assert len(groups) == 8 and groups[0] == {
        "targets": ["10.9.0.2"],
        "labels": {"node": "su0-node0", "bmc": "su0-node0-bmc", "kind": "host"},
    }
    done = run(promtool, "check", "config", written(files, tmp_path) / "prometheus.yml")
    assert done.returncode == 0, done


def written(files: dict[str, bytes], place: Path) -> Path:
    """The folder that has the files of the target."""
    (place / "prometheus").mkdir()
    for path, data in files.items():
        if path.startswith("prometheus/"):
            (place / path).write_bytes(data)
    return place / "prometheus"


def test_promtool_reads_rules_configuration_and_every_question_of_the_dashboard(tmp_path: Path) -> None:
    promtool = need_program("promtool", "prometheus")
    files = made(DESIGN, tmp_path, "prometheus")
    folder = written(files, tmp_path)
    done = run(promtool, "check", "config", folder / "prometheus.yml")
    assert done.returncode == 0 and "14 rules found" in done.stdout, done
    panels = json.loads(files["prometheus/dashboard.json"])["panels"]
    asked = [t["expr"].replace("$node", "leaf0") for p in panels for t in p["targets"]]
    assert len({p["id"] for p in panels}) == len(panels) == len(asked) == 16
    rules = [{"record": f"asked:{n}", "expr": e} for n, e in enumerate(asked)]
    (folder / "asked.yml").write_text(json.dumps({"groups": [{"name": "asked", "rules": rules}]}))
    assert run(promtool, "check", "rules", folder / "asked.yml").returncode == 0
    (folder / "asked.yml").write_text(
        json.dumps({"groups": [{"name": "asked", "rules": [{"record": "a", "expr": "count by ("}]}]})
    )
    assert run(promtool, "check", "rules", folder / "asked.yml").returncode != 0, "the judge can say no"


Series = dict[str, str]


def healthy(expected: str, infiniband: bool) -> Series:
    """What exporters show where all is as the design says: values of series over time, as promtool writes them."""
    out: Series = {}
    for line in expected.splitlines():
        if line.startswith("#"):
            continue
        name, value = line.rsplit(" ", 1)
        out[name] = f"{value}x60"
        labels = dict(re.findall(r'(\w+)="([^"]*)"', name))
        node, device = labels["node"], labels["device"]
        out[f'up{{job="tdsl_node",node="{node}"}}'] = "1x60"
        if not device:
            continue
        at = f'node="{node}",device="{device}"'
        if infiniband:
            out[f'node_infiniband_state_id{{{at},port="1"}}'] = "4x60"
            out[f'node_infiniband_rate_bytes_per_second{{{at},port="1"}}'] = f"{int(value) // 8}x60"
            continue
        out[f"node_network_up{{{at}}}"] = "1x60"
        out[f"node_network_speed_bytes{{{at}}}"] = f"{int(value) // 8}x60"
        out[f'tdsl_seen_neighbour{{{at},neighbour="{labels["neighbour"]}",neighbour_port="{labels["neighbour_port"]}"}}'] = "1x60"
    return out


def fires(promtool: str, folder: Path, series: Series, wanted: set[tuple[str, str, str]]) -> subprocess.CompletedProcess[str]:
    """What promtool says where exactly these alerts are to fire after half an hour: name, device, interface."""
    samples = [
        {
            "labels": "{" + ", ".join(f'{k}="{v}"' for k, v in zip(("alertname", "node", "device"), w, strict=True) if v) + "}",
            "value": 1,
        }
        for w in sorted(wanted)
    ]
    question = 'group by (alertname, node, device) (ALERTS{alertstate="firing"})'
    case: dict[str, Any] = {
        "interval": "1m",
        "input_series": [{"series": n, "values": v} for n, v in series.items()],
        "promql_expr_test": [{"expr": question, "eval_time": "30m", "exp_samples": samples}],
    }
    test = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": [case]}
    (folder / "test.yml").write_text(yaml.safe_dump(test))
    return run(promtool, "test", "rules", folder / "test.yml")


def test_no_healthy_link_fires_and_every_planted_fault_does(tmp_path: Path) -> None:
    promtool = need_program("promtool", "prometheus")
    files = made(DESIGN, tmp_path, "prometheus")
    folder = written(files, tmp_path)
    good = healthy(files["prometheus/expected.prom"].decode(), infiniband=False)
    assert len(good) == 48 * 4 + 14
    done = fires(promtool, folder, good, set())
    assert done.returncode == 0, done.stdout

    faulty = dict(good)
    wanted = set()
    faulty['node_network_up{node="su0-leaf0",device="swp1"}'] = "0x60"
    wanted.add(("LinkDown", "su0-leaf0", "swp1"))
    del faulty['node_network_up{node="su0-node3",device="eth1"}']  # the adapter is missing
    wanted.add(("LinkDown", "su0-node3", "eth1"))
    faulty['node_network_speed_bytes{node="spine0",device="swp2"}'] = "25000000000x60"
    wanted.add(("LinkRateWrong", "spine0", "swp2"))
    mine = 'tdsl_seen_neighbour{node="su1-node0",device="eth0",neighbour="su1-leaf0",neighbour_port="swp1"}'
    del faulty[mine]
    faulty[mine.replace("su1-leaf0", "su1-leaf1")] = "1x60"
    wanted.add(("NeighbourWrong", "su1-node0", "eth0"))
    mine = mine.replace("node0", "node1").replace("swp1", "swp2")
    del faulty[mine]
    faulty[mine.replace("swp2", "swp9")] = "1x60"
    wanted.add(("NeighbourPortWrong", "su1-node1", "eth0"))
    faulty['tdsl_seen_neighbour{node="spine1",device="swp16",neighbour="su0-leaf1",neighbour_port="swp15"}'] = "1x60"
    wanted.add(("LinkUnexpected", "spine1", "swp16"))
    faulty['tdsl_seen_neighbour{node="spine1",device="eth0",neighbour="oob7",neighbour_port="swp15"}'] = (
        "1x60"  # no device of the design
    )
    del faulty['up{job="tdsl_node",node="su1-node3"}']
    wanted.add(("DeviceNotWatched", "su1-node3", ""))
    faulty['node_network_carrier_down_changes_total{node="su1-node2",device="eth0"}'] = "0+1x60"
    wanted.add(("LinkFlaps", "su1-node2", "eth0"))
    done = fires(promtool, folder, faulty, wanted)
    assert done.returncode == 0, done.stdout
    assert fires(promtool, folder, faulty, wanted - {("LinkDown", "su0-leaf0", "swp1")}).returncode != 0, "the judge can say no"


def test_infiniband_is_judged_by_its_own_collector(tmp_path: Path) -> None:
    """node_exporter knows adapters by their device, such as mlx5_0; it does not run on switches of InfiniBand."""
    promtool = need_program("promtool", "prometheus")
    files, _ = build.made(design("every_file_infiniband"), tmp_path, "prometheus")
    folder = written(files, tmp_path)
    good = healthy(files["prometheus/expected.prom"].decode(), infiniband=True)
    hosts = sorted(n for n in good if n.startswith("node_infiniband_state_id"))
    assert hosts
    done = fires(promtool, folder, good, set())
    assert done.returncode == 0, done.stdout
    down, slow = hosts[0], hosts[-1]
    place = [re.findall(r'(?:node|device)="([^"]*)"', n) for n in (down, slow)]
    faulty = good | {down: "1x60", slow.replace("state_id", "rate_bytes_per_second"): "25000000000x60"}
    faulty |= {
        slow.replace("state_id", "link_downed_total"): "0+1x60",
        slow.replace("state_id", "port_errors_received_total"): "0+60x60",
    }
    stray = re.sub(r'device="[^"]*"', 'device="mlx5_77"', slow)
    wanted = {("LinkDown", *place[0]), ("AdapterUnexpected", place[1][0], "mlx5_77")}
    wanted |= {(a, *place[1]) for a in ("LinkRateWrong", "LinkFlaps", "LinkErrors")}
    done = fires(promtool, folder, faulty | {stray: "4x60"}, wanted)
    assert done.returncode == 0, done.stdout


LLDP = """\
lldp.eth0.via=LLDP
lldp.eth0.chassis.mac=00:00:00:00:00:01
lldp.eth0.chassis.name=su0-leaf0.example.net
lldp.eth0.port.ifname=swp1
lldp.eth0.100.chassis.name=a "b"
lldp.eth0.100.port.descr=x=y.port.ifname
"""


def test_neighbours_of_lldpd_become_a_metric(tmp_path: Path) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    need_program("awk", "mawk")
    folder = written(made(DESIGN, tmp_path, "prometheus"), tmp_path)
    fake = tmp_path / "bin" / "lldpcli"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\ncat <<'END'\n{LLDP}END\n")
    fake.chmod(0o755)
    done = run("sh", folder / "lldp-textfile.sh", PATH=f"{fake.parent}:/usr/bin:/bin")
    (family,) = parser.text_string_to_metric_families(done.stdout)
    assert [(s.labels["device"], s.labels["neighbour"], s.labels["neighbour_port"]) for s in family.samples] == [
        ("eth0", "su0-leaf0", "swp1"),
        ("eth0.100", 'a "b"', "x=y.port.ifname"),
    ]
