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


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    return tmp_path


def test_every_command_takes_them() -> None:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        assert {"color", "config", "quiet", "verbose"} <= {p.name for p in command.params}, name


@pytest.mark.parametrize("before", [True, False])
def test_color(before: bool, project: Path) -> None:
    for word, painted in (("always", True), ("never", False), ("auto", False)):
        option = ("--color", word)
        done = tdsl(*option, "check", "small.fab") if before else tdsl("check", "small.fab", *option)
        assert done.exit_code == 0
        assert ("\x1b[" in done.stdout) is painted
    assert "\x1b[" not in tdsl("check", "small.fab", "--color", "never", env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" in tdsl("check", "small.fab", env={"FORCE_COLOR": "1"}).stdout, "the option ends with its call"
    assert tdsl("check", "small.fab", "--color", "blue").exit_code == 2


def test_quiet_prints_findings_and_no_more(project: Path) -> None:
    assert tdsl("check", "small.fab", "-q").output == ""
    write(project, SMALL.replace("spread x 8", "spread x 2"))
    done = tdsl("-q", "check", "small.fab")
    assert done.exit_code == 1
    assert "error[E0" in done.stdout and "hosts  " not in done.stdout and "error in" not in done.stdout
    loud = tdsl("check", "small.fab").stdout
    assert loud.startswith(done.stdout) and len(loud) > len(done.stdout)
    assert tdsl("init", "mine", "-q").output == ""


def test_verbose_names_the_files_in_use(project: Path) -> None:
    (project / "tdsl.toml").write_text("[check]\nfail-on = 'warning'\n")
    done = tdsl("check", "small.fab", "-v")
    assert "configuration: tdsl.toml; library: " in done.stderr
    assert done.stderr.rstrip().endswith("of memory")
    assert "configuration" not in done.stdout


def test_another_configuration(project: Path) -> None:
    (project / "tdsl.toml").write_text("[check]\noutput-format = 'json'\n")
    (project / "ci.toml").write_text("[check]\noutput-format = 'junit'\n")
    assert tdsl("check", "small.fab").stdout.startswith("{")
    for call in (("check", "small.fab", "--config", "ci.toml"), ("--config", "ci.toml", "check", "small.fab")):
        assert tdsl(*call).stdout.startswith("<?xml")
    for absent in (("check", "small.fab", "--config", "no.toml"), ("--config", "no.toml", "check", "small.fab")):
        done = tdsl(*absent)
        assert done.exit_code == 2 and "no.toml" in done.stderr
    done = tdsl("check", "small.fab", "--config", "ci.toml", "--untrusted")
    assert done.exit_code == 2 and "--untrusted: --config is for one's own designs" in done.stderr


# ---------------------------------------------------------------- config show
def test_config_show(project: Path) -> None:
    (project / "tdsl.toml").write_text(
        "[check]\nfail-on = 'warning'\n[severity]\nbisection = 'note'\n[site]\nntp = ['192.0.2.1']\n"
    )
    done = tdsl("config", "show", "--format", "json", env={"TDSL_BUILD_OUT": "made"})
    assert done.exit_code == 0
    shown = {(r["setting"], r["value"], r["from"]) for r in json.loads(done.stdout)["settings"]}
    assert ("check --fail-on", "warning", "tdsl.toml") in shown
    assert ("build --out", "made", "TDSL_BUILD_OUT") in shown
    assert ("severity bisection", "note", "tdsl.toml") in shown
    assert ("site ntp", "192.0.2.1", "tdsl.toml") in shown
    assert not any(source == "default" for _, _, source in shown)
    assert any(r.endswith("default") for r in tdsl("config", "show", "--all").stdout.splitlines())


def test_config_show_of_settings_that_cannot_be_followed(project: Path) -> None:
    (project / "tdsl.toml").write_text("[check]\nno-such-option = 1\n")
    done = tdsl("config", "show")
    assert done.exit_code == 2 and "there is no option `no-such-option`" in done.stderr
    assert tdsl("config", "show", env={"HOME": "/"}).exit_code == 2


# ---------------------------------------------------------------- the manual page
def test_the_manual_page_has_every_command_and_option() -> None:
    page = tdsl("man").stdout
    assert page.startswith('.TH TDSL 1 "" "tdsl ')
    context = click.Context(cli)
    commands = [c for name in cli.list_commands(context) if (c := cli.get_command(context, name))]
    none(c.name or "" for c in commands if f'.SS "tdsl {c.name}'.replace("-", r"\-") not in page)
    options = [(c.name, o.opts[-1]) for c in commands for o in c.params if isinstance(o, click.Option) and not o.hidden]
    none(f"{name} {o}" for name, o in options if o.replace("-", r"\-") not in page)
    assert "\b" not in page


@pytest.mark.skipif(not shutil.which("groff"), reason="no groff here: apt install groff")
def test_the_manual_page_is_read_by_groff_without_a_warning() -> None:
    page = tdsl("man").stdout
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-Kutf8"], input=page, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--output-format" in done.stdout


# ---------------------------------------------------------------- completion
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["check", "small.fab", "--set", ""], ["plain,nodes="]),
        (["check", "small.fab", "--set", "nodes="], [f"plain,nodes={n}" for n in range(1, 9)]),
        (["check", "dgx_superpod_h100", "--set", "uni"], ["plain,units="]),
        (["list", "cables", "--for", "sn560"], ["plain,SN5600"]),
    ],
)
def test_completion_of_names(words: list[str], offered: list[str], project: Path) -> None:
    call = {"_TDSL_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(["tdsl", *words]), "COMP_CWORD": str(len(words))}
    done = subprocess.run([sys.executable, "-m", "tdsl"], capture_output=True, text=True, env=os.environ | call, timeout=60)
    assert done.stdout.splitlines() == offered


# ---------------------------------------------------------------- parts
def listed(*args: str) -> list[dict[str, str]]:
    done = tdsl("list", *args, "--format", "json")
    assert done.exit_code == 0, done.output
    rows: list[dict[str, str]] = json.loads(done.stdout)[args[0]]
    return rows


def test_cables_between_two_models() -> None:
    rows = listed("cables", "--for", "QM9700", "--to", "dgx-h100")
    assert {r["cable"] for r in rows} == {"MCA4J80_FTF", "MFP7E10", "MFP7E30"}
    (multimode,) = (r for r in rows if r["cable"] == "MFP7E10")
    assert (multimode["from"], multimode["to"], multimode["link"]) == ("QM9700.p", "DGX_H100.nic", "400Gbps")
    assert multimode["optics"] == "MMA4Z00_NS-MMA4Z00_NS_FLT"
    assert {r["cable"] for r in listed("cables", "--for", "QM9700")} > {r["cable"] for r in rows}
