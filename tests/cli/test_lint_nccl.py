"""``tdsl lint-nccl``: formats and exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import tdsl
from tests.conftest import Golden
from tests.nccl.test_nccl_lint import GOOD

BAD = """\
<system version="1">
  <cpu numaid="0" affinity="0-55" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:15:00.0" class="0x060400" link_speed="32.0 GT/s" link_width="16">
      <pci busid="0000:1B:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="9.0" rank="0" gdr="1"/>
      </pci>
      <pci busid="0000:18:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" speed="400" port="1" guid="0x1" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
</system>
"""


def test_a_good_file(tmp_path: Path) -> None:
    path = tmp_path / "topo.xml"
    path.write_text(GOOD)
    done = tdsl("lint-nccl", path)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "no errors in 1 file\n", "")


def test_a_bad_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topo.xml").write_text(BAD)
    done = tdsl("lint-nccl", "topo.xml")
    assert done.exit_code == 1
    golden("nccl/lint.txt", done.stdout)
    lines = tdsl("lint-nccl", "topo.xml", "--output-format", "concise").stdout.splitlines()
    assert lines[0].startswith("topo.xml:2:28: error[E0524] nccl_misread: affinity=")
    assert len(lines) == sum("error[" in x or "note[" in x for x in done.stdout.splitlines())


def test_json_and_stdin() -> None:
    done = tdsl("lint-nccl", "-", "--output-format", "json", stdin=BAD)
    document = json.loads(done.stdout)
    (file,) = document["files"]
    assert done.exit_code == 1 and document["schema"] == 1 and (file["file"], file["ok"]) == ("<stdin>", False)
    assert {"code", "name", "severity", "title", "message", "file", "line", "column", "help"} <= file["findings"][0].keys()


def test_fail_on_warnings() -> None:
    text = GOOD.replace("<nic>", "<nix/><nic>", 1)
    assert tdsl("lint-nccl", "-", stdin=text).exit_code == 0
    assert tdsl("lint-nccl", "-", "--fail-on", "warning", stdin=text).exit_code == 1


def test_what_says_the_same_is_told_once_with_its_number() -> None:
    done = tdsl("lint-nccl", "-", stdin=GOOD.replace("32.0 GT/s PCIe", "32.0 GT/s"))
    assert done.stdout.count("error[E0524]") == 1 and "(first of 24)" in done.stdout and "24 errors in 1 file" in done.stdout


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    done = tdsl("lint-nccl", tmp_path / "no.xml")
    assert done.exit_code == 2 and "no.xml" in done.stderr and "Traceback" not in done.output


@pytest.mark.parametrize("data", [b"", b"\x00\xff", "\ufeff<system/>".encode(), b"<a>" * 5000])
def test_files_that_are_none(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "topo.xml"
    path.write_bytes(data)
    done = tdsl("lint-nccl", path)
    assert done.exit_code == 1 and "error[E052" in done.stdout


def test_against_a_dump(tmp_path: Path) -> None:
    planned, dump, conf = tmp_path / "planned.xml", tmp_path / "dump.xml", tmp_path / "nccl.conf"
    planned.write_text(GOOD)
    dump.write_text(GOOD)
    conf.write_text("NCCL_IB_HCA==mlx5_99\n")
    assert tdsl("lint-nccl", planned, "--against", dump).exit_code == 0
    found = tdsl("lint-nccl", planned, conf, "--against", dump, "--output-format", "concise")
    assert found.exit_code == 1 and "E0529" in found.stdout and "the machine has no adapter mlx5_99" in found.stdout
