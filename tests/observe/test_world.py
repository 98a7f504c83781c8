"""Captures and tables of real networks that were read wrongly once: what each says now. Variants of each are planted in
`test_nothing_dropped`, `test_same_names`, `test_unwrapping`, `test_read_back` and `tests/changes/test_by_name`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.run import tdsl
from tests.conftest import Golden

CASES = Path(os.environ.get("TDSL_TEST_DATA", "data")) / "cases" / "world"
CALLS = """
import r02-two-switches-one-name.topo
import r03-one-sysname --rate 400Gbps
audit r05-small.fab --ibnetdiscover r05-unnamed-switches.topo
audit pod.fab --lldp r06-eapi --no-requirements
import r07-sonic-switches-as-hosts --rate 400Gbps
plan r08-racks-old.fab r08-racks-new.fab --no-lock
plan r08-names-1.fab r08-names-2.fab --no-lock
audit pod.fab --lldp r10-firmware-lldp
audit pod.fab --lldp r10-firmware-lldp --assets r13-assets-with-bom.csv
import r13-label-with-hash.csv --rate 400Gbps
import r14-netbox-several-terminations.csv --rate 400Gbps
"""


@pytest.mark.skipif(not CASES.is_dir(), reason="the folder of cases is not here: TDSL_TEST_DATA names it")
def test_cases_of_real_networks(golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(CASES, tmp_path / "cases", copy_function=shutil.copyfile)
    monkeypatch.chdir(tmp_path / "cases")
    said = []
    for call in CALLS.strip().splitlines():
        done = tdsl(*call.split())
        said += [f"$ tdsl {call}", done.stderr.rstrip(), done.stdout.rstrip(), f"[status {done.exit_code}]", ""]
    golden("observe/world.txt", "\n".join(line for line in said if line or line == "") + "\n")
