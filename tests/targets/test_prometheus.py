"""The target prometheus, read by the parser of its client library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.targets.build import csv_rows
from tests.targets.inventories import DESIGN, made


def test_prometheus_reads_what_is_expected(tmp_path: Path) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    files = made(DESIGN, tmp_path, "prometheus", "cabling")
    (family,) = parser.text_string_to_metric_families(files["prometheus/expected.prom"].decode())
    rows = csv_rows(files, "cabling/links.csv")
    assert len(family.samples) == 2 * len(rows) == 48
    seen = {(s.labels["device"], s.labels["interface"]): s for s in family.samples}
    for row in rows:
        sample = seen[row["a_device"], row["a_interface"]]
        assert (sample.labels["neighbour"], sample.labels["neighbour_port"]) == (row["a_neighbour"], row["a_neighbour_port"])
        assert sample.value == int(row["rate_gbps"]) * 10**9
    groups = json.loads(files["prometheus/targets.json"])
    assert len(groups) == 14 and all(set(g) == {"targets", "labels"} for g in groups)
    assert all(isinstance(v, str) for g in groups for v in g["labels"].values())
