"""``tdsl lint-nccl``: formats and exit status."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.run import tdsl
from tests.conftest import Golden
from tests.nccl.test_nccl_lint import GOOD
from tests.tables import sections

BAD = sections(__file__)["bad"]


def test_a_good_and_a_bad_file(here: Path, golden: Golden) -> None:
    Path("good.xml").write_text(GOOD)
    Path("topo.xml").write_text(BAD)
    done = tdsl("lint-nccl", "good.xml")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "no errors in 1 file\n", "")
    done = tdsl("lint-nccl", "topo.xml")
    assert done.exit_code == 1
    golden("nccl/lint.txt", done.stdout)
    lines = tdsl("lint-nccl", "topo.xml", "--output-format", "concise").stdout.splitlines()
    assert lines[0].startswith("topo.xml:2:28: error[E0524] nccl_misread: affinity=")
    assert len(lines) == sum("error[" in x or "note[" in x for x in done.stdout.splitlines())
    done = tdsl("lint-nccl", "no.xml")
    assert done.exit_code == 2 and "no.xml" in done.stderr and "Traceback" not in done.output


def test_json_and_stdin() -> None:
    done = tdsl("lint-nccl", "-", "--output-format", "json", stdin=BAD)
    document = json.loads(done.stdout)
    (file,) = document["files"]
    assert done.exit_code == 1 and document["schema"] == 1 and (file["file"], file["ok"]) == ("<stdin>", False)
    assert {"code", "name", "severity", "title", "message", "file", "line", "column", "help"} <= file["findings"][0].keys()


def test_fail_on_warnings_and_what_says_the_same_is_told_once_with_its_number() -> None:
    text = GOOD.replace("<nic>", "<nix/><nic>", 1)
    assert tdsl("lint-nccl", "-", stdin=text).exit_code == 0
    assert tdsl("lint-nccl", "-", "--fail-on", "warning", stdin=text).exit_code == 1
    done = tdsl("lint-nccl", "-", stdin=GOOD.replace("32.0 GT/s PCIe", "32.0 GT/s"))
    assert done.stdout.count("error[E0524]") == 1 and "(first of 24)" in done.stdout and "24 errors in 1 file" in done.stdout


def test_against_a_dump(here: Path) -> None:
    for name, text in (("planned.xml", GOOD), ("dump.xml", GOOD), ("nccl.conf", "NCCL_IB_HCA==mlx5_99\n")):
        Path(name).write_text(text)
    assert tdsl("lint-nccl", "planned.xml", "--against", "dump.xml").exit_code == 0
    found = tdsl("lint-nccl", "planned.xml", "nccl.conf", "--against", "dump.xml", "--output-format", "concise")
    assert found.exit_code == 1 and "E0529" in found.stdout and "the machine has no adapter mlx5_99" in found.stdout
