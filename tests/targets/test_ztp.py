"""The target ztp: what its files lead a new switch to is in the same build, and a shell reads its script."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from tests.harness import fabric_of
from tests.targets.build import design, files_of, made


def test_sonic_is_led_to_files_of_the_build(tmp_path: Path) -> None:
    place = "https://boot.example.com:8443/out"
    files = made(design("ztp", nos="sonic", title="A fabric"), tmp_path, "ztp", url=place)[0]
    files |= made(design("ztp", nos="sonic", title="A fabric"), tmp_path, "sonic")[0]
    sections = json.loads(files["ztp/sonic.json"])["ztp"]
    assert list(sections) == sorted(sections), "sections run in lexical order"
    source = sections["01-configdb-json"]["dynamic-url"]["source"]
    assert source["identifier"] == "hostname"
    for device in ("leaf0", "leaf1", "spine"):
        assert (source["prefix"] + device + source["suffix"]).removeprefix(f"{place}/") in files
    assert sections["02-connectivity-check"] == {"ping-hosts": ["192.168.0.1"]}
    assert "ztp/cumulus-ztp" not in files


def test_a_shell_reads_the_script(tmp_path: Path) -> None:
    """Also with names and an address that would be commands."""
    fabric = fabric_of(design("ztp", nos="nvue", title="A fabric"), tmp_path, models=False)
    for title in ("$(reboot)", "`x`; rm -rf /", "a # b", "ends with \\"):
        fabric.title = title
        script = files_of(fabric, "ztp", url="http://ztp/$(reboot)'\";x")[0]["ztp/cumulus-ztp"]
        done = subprocess.run(["bash", "-n"], input=script, capture_output=True, timeout=10, check=False)
        assert done.returncode == 0 and not done.stderr
        lines = [x for x in script.decode().splitlines() if "reboot" in x and not x.startswith("#")]
        assert len(lines) == 1 and lines[0].count("$(") == 2, "one of hostname, one as text"
        word = re.findall(r'--output "\$file" (.*)"\$\(hostname', lines[0])[0]
        said = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, text=True, timeout=10, check=False)
        assert said.stdout == "http://ztp/$(reboot)'\";x/nvue/"
