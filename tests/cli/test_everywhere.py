"""Options that every command takes, the settings in force, the manual page, and completion of parameters."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tdsl.cli import cli
from tests.cli.run import SMALL, tdsl, write
from tests.harness import none

CONTEXT = click.Context(cli)
COMMANDS = [c for name in cli.list_commands(CONTEXT) if (c := cli.get_command(CONTEXT, name))]


@pytest.fixture
def project(here: Path) -> Path:
    write(here)
    return here


def test_every_command_takes_them() -> None:
    none(c.name or "" for c in COMMANDS if not {"color", "config", "quiet", "verbose"} <= {p.name for p in c.params})


def test_color(project: Path) -> None:
    for word, painted in (("always", True), ("never", False), ("auto", False)):
        for call in (("--color", word, "check", "small.fab"), ("check", "small.fab", "--color", word)):
            done = tdsl(*call)
            assert done.exit_code == 0 and ("\x1b[" in done.stdout) is painted
    assert "\x1b[" not in tdsl("check", "small.fab", "--color", "never", env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" in tdsl("check", "small.fab", env={"FORCE_COLOR": "1"}).stdout, "the option ends with its call"


def test_quiet_prints_findings_and_no_more(project: Path) -> None:
    assert tdsl("check", "small.fab", "-q").output == ""
    write(project, SMALL.replace("spread x 8", "spread x 2"))
    done, loud = tdsl("-q", "check", "small.fab"), tdsl("check", "small.fab").stdout
    assert done.exit_code == 1
    assert "error[E0" in done.stdout and "hosts" not in done.stdout and "error in" not in done.stdout
    assert done.stdout.strip() in loud
    assert tdsl("init", "mine", "-q").output == ""


def test_verbose_names_the_files_in_use(project: Path) -> None:
    (project / "tdsl.toml").write_text("[check]\nfail-on = 'warning'\n")
    done = tdsl("check", "small.fab", "-v")
    assert "configuration: tdsl.toml; library: " in done.stderr and "configuration" not in done.stdout
    assert done.stderr.rstrip().endswith("of memory")


def test_another_configuration(project: Path) -> None:
    (project / "tdsl.toml").write_text("[check]\noutput-format = 'json'\n")
    (project / "ci.toml").write_text("[check]\noutput-format = 'junit'\n")
    assert tdsl("check", "small.fab").stdout.startswith("{")
    for call in (("check", "small.fab", "--config", "{}.toml"), ("--config", "{}.toml", "check", "small.fab")):
        assert tdsl(*(word.format("ci") for word in call)).stdout.startswith("<?xml")
        done = tdsl(*(word.format("no") for word in call))
        assert done.exit_code == 2 and "no.toml" in done.stderr
    done = tdsl("check", "small.fab", "--config", "ci.toml", "--untrusted")
    assert done.exit_code == 2 and "--untrusted: --config is for one's own designs" in done.stderr


def test_config_show(project: Path) -> None:
    (project / "lib").mkdir()
    settings = "path = ['lib']\n[check]\nfail-on = 'warning'\n[severity]\nbisection = 'note'\n[site]\nntp = ['192.0.2.1']\n"
    (project / "tdsl.toml").write_text(settings + "[target.p2p]\nlevels = ['a', 'b']\n")
    done = tdsl("config", "show", "--format", "json", env={"TDSL_BUILD_OUT": "made"})
    assert done.exit_code == 0
    shown = {(r["setting"], r["value"], r["from"]) for r in json.loads(done.stdout)["settings"]}
    assert ("build --out", "made", "TDSL_BUILD_OUT") in shown and not any(source == "default" for _, _, source in shown)
    of_file = {
        ("check --fail-on", "warning"),
        ("severity bisection", "note"),
        ("site ntp", "192.0.2.1"),
        ("path", f"{project}/lib"),
    }
    assert {(*setting, "tdsl.toml") for setting in of_file} <= shown
    rows = tdsl("config", "show", "--output-format", "csv", env={"NO_COLOR": "1"}).stdout.splitlines()
    assert rows[:2] == ["setting,value,from", "tdsl.toml,tdsl.toml,the nearest one"]
    assert {'target p2p.levels,"a, b",tdsl.toml', "NO_COLOR,1,environment"} <= {*rows}
    assert not [r for r in rows if r.startswith(("FORCE_COLOR", "TDSL_TRACEBACK", "TDSL_UNTRUSTED"))]
    assert any(r.endswith("default") for r in tdsl("config", "show", "--all").stdout.splitlines())
    (project / "tdsl.toml").write_text("[check]\nno-such-option = 1\n")
    done = tdsl("config", "show")
    assert done.exit_code == 2 and "there is no option `no-such-option`" in done.stderr


def test_the_manual_page_has_every_command_and_option() -> None:
    """And groff reads it without a warning."""
    page = tdsl("man").stdout
    assert page.startswith('.TH TDSL 1 "" "tdsl ') and "\b" not in page
    none(c.name or "" for c in COMMANDS if f'.SS "tdsl {c.name}'.replace("-", r"\-") not in page)
    options = [(c.name, o.opts[-1]) for c in COMMANDS for o in c.params if isinstance(o, click.Option) and not o.hidden]
    none(f"{name} {o}" for name, o in options if o.replace("-", r"\-") not in page)
    if not shutil.which("groff"):
        pytest.skip("no groff here: apt install groff")
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-Kutf8"], input=page, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "") and "--output-format" in done.stdout


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("check small.fab --set ", ["nodes="]),
        ("check small.fab --set nodes=", [f"nodes={n}" for n in range(1, 9)]),
        ("check dgx_superpod_h100 --set uni", ["units="]),
        ("list cables --for sn560", ["SN5600"]),
    ],
)
def test_completion_of_names(words: str, offered: list[str], project: Path) -> None:
    call = {"_TDSL_COMPLETE": "bash_complete", "COMP_WORDS": f"tdsl {words}", "COMP_CWORD": str(len(words.split(" ")))}
    done = subprocess.run([sys.executable, "-m", "tdsl"], capture_output=True, text=True, env=os.environ | call, timeout=60)
    assert done.stdout.splitlines() == [f"plain,{word}" for word in offered]


def test_cables_between_two_models() -> None:
    between, all_of_one = (
        json.loads(tdsl("list", "cables", "--for", "QM9700", *more, "--format", "json").stdout)["cables"]
        for more in (("--to", "dgx-h100"), ())
    )
    rows = {r["cable"]: r for r in reversed(between)}  # of one that fits adapters and storage ports, the first
    assert rows.keys() == {"MCA4J80_FTF", "MCA7J65", "MCP7Y10", "MFP7E10", "MFP7E30"} < {r["cable"] for r in all_of_one}
    expected = {"from": "QM9700.p", "to": "DGX_H100.nic", "link": "400Gbps"}
    assert expected.items() <= rows["MFP7E10"].items()
    assert rows["MFP7E10"]["optics"].split(", ")[0] == "MMA4Z00_NS-MMA4Z00_NS_FLT"  # of the switch's own maker first
