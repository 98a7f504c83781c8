"""The target ztp: what its files lead a new switch to is in the same build, and a shell reads its script."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.emit.build import BuildOptions, build_files
from tdsl.findings.diagnostic import Diagnostics

DESIGN = """\
model switch LEAF {{ port p[1..8]: 400Gbps {{ type GE400; os "swp{{i}}"; sonic 8*(i - 1) lanes 8 }} }}
model host NODE {{ port nic: 400Gbps {{ type GE400; os "eth0" }} }}
fabric f "{title}" {{
  host node[2]: NODE
  switch leaf[2]: LEAF {{ nos {nos} }}
  switch spine: LEAF {{ nos {nos} }}
  connect node[n].nic to leaf[(n)]
  connect leaf[*] to spine each
  address leaf, spine management from 192.168.0.10/24 {{ gateway 192.168.0.1 }}
  routing bgp {{ mtu 9000 }}
}}
"""


def made(nos: str, place: Path, title: str = "A fabric", **options: object) -> dict[str, bytes]:
    """The files of ztp and of the operating system."""
    path = place / "design.fab"
    path.write_text(DESIGN.format(nos=nos, title=title))
    result = compiler.compile_without_checks(str(path))
    assert not [d for d in result.findings if d.severity.word == "error"], result.findings
    fabric = result.designs[0].fabric
    assert fabric is not None
    return build_files(fabric, ["ztp", nos], Diagnostics(), BuildOptions(settings={"ztp": options}))


def test_sonic_is_led_to_files_of_the_build(tmp_path: Path) -> None:
    files = made("sonic", tmp_path, url="https://boot.example.com:8443/out")
    sections = json.loads(files["ztp/sonic.json"])["ztp"]
    assert list(sections) == sorted(sections), "sections run in lexical order"
    source = sections["01-configdb-json"]["dynamic-url"]["source"]
    assert source["identifier"] == "hostname"
    for device in ("leaf0", "leaf1", "spine"):
        url = source["prefix"] + device + source["suffix"]
        assert url.removeprefix("https://boot.example.com:8443/out/") in files
    assert sections["02-connectivity-check"] == {"ping-hosts": ["192.168.0.1"]}
    assert "ztp/cumulus-ztp" not in files


@pytest.mark.parametrize("title", ["$(reboot)", "`x`; rm -rf /", "a # b", "ends with \\\\"])
def test_a_shell_reads_the_script(tmp_path: Path, title: str) -> None:
    """Also with names and an address that would be commands."""
    script = made("nvue", tmp_path, title, url="http://ztp/$(reboot)'\";x")["ztp/cumulus-ztp"]
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, timeout=10, check=False)
    assert done.returncode == 0 and not done.stderr
    lines = [x for x in script.decode().splitlines() if "reboot" in x and not x.startswith("#")]
    assert len(lines) == 1 and lines[0].count("$(") == 2, "one of hostname, one as text"
    word = re.findall(r'--output "\$file" (.*)"\$\(hostname', lines[0])[0]
    said = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, text=True, timeout=10, check=False).stdout
    assert said == "http://ztp/$(reboot)'\";x/nvue/"
