"""tdsl.toml and allowances, as a project uses them."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from tdsl.cli import cli, option_defaults_from_config
from tdsl.config import Config, ConfigError
from tests.cli.run import SMALL, report, tdsl, write
from tests.tables import table

WRONG = SMALL.replace("<= 1:1", "<= 1:9")
DATED = WRONG.replace("1:9", "1:9  # tdsl: allow(oversubscription until 2027-01-31) the spines come in January")
SPINE = "spine[2]:    QM9700"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a design of one fault, and a call from a folder below its root."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "designs").mkdir()
    write(tmp_path / "designs", WRONG)
    monkeypatch.chdir(tmp_path / "designs")
    return tmp_path


def configure(project: Path, text: str) -> None:
    (project / "tdsl.toml").write_text(text)


def checked(*more: str) -> str:
    return tdsl("check", "small.fab", *more).stdout


def test_options_of_a_command(project: Path) -> None:
    configure(project, '[check]\noutput-format = "concise"\nignore = ["isolated"]\nset = ["nodes=2"]\n')
    assert checked().startswith("small.fab:8:11: error[E0405]")
    full = checked("--output-format", "full")
    assert "\nerror[E0405]" in full and "nodes = 2" in full, "the call wins"
    configure(project, '[check]\nignore = ["oversubscription"]\n')
    assert tdsl("check", "small.fab").exit_code == 0


def test_every_option_that_help_lists(project: Path) -> None:
    """By its long name; those that a file of a checkout must not set are refused as such."""
    context = click.Context(cli)
    refused = {}
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        for option in command.params:
            listed = isinstance(option, click.Option) and not option.hidden
            for flag in (*option.opts, *option.secondary_opts) if listed else ():
                if flag.startswith("--"):
                    value = ["x"] if option.multiple else True if option.is_flag else "x"
                    file = Config(Path("tdsl.toml"), Path("/"), commands={name: {flag.lstrip("-"): value}})
                    try:
                        given = option_defaults_from_config(context, file, command)[name]
                        assert [*given.values()] != [False] or flag.startswith("--no-"), flag
                    except ConfigError as fault:
                        refused[f"{name} {flag}"] = str(fault)
    assert refused and all("is for the call or the environment" in why for why in refused.values()), refused


def test_severities(project: Path) -> None:
    configure(project, '[severity]\noversubscription = "warning"\n')
    done = tdsl("check", "small.fab", "--output-format", "concise")
    assert done.exit_code == 0 and "warning[E0405]" in done.stdout
    assert tdsl("check", "small.fab", "--fail-on", "warning").exit_code == 1
    assert tdsl("build", "small.fab", "--target", "json").exit_code == 0


def test_folders_are_meant_from_the_file(project: Path) -> None:
    configure(project, 'path = ["lib"]\n')
    (project / "lib" / "own.fab").write_text("let many = 3\n")
    text = SMALL.replace("node[nodes]", "node[many]").replace("param nodes: int = 4 where 1 <= nodes <= 8", "")
    write(project / "designs", "use own (many)\n" + text)
    assert report("small.fab")["designs"][0]["summary"]["hosts"] == 3


@pytest.mark.parametrize(("text", "words"), [*table(__file__, "refused"), ("path = " + "[" * 600, "nested too deeply")])
def test_what_cannot_be_followed(text: str, words: str, project: Path) -> None:
    configure(project, text)
    done = tdsl("check", "small.fab")
    assert done.exit_code == 2 and words in done.stderr, done.stderr


def test_an_allowed_finding_fails_nothing(project: Path) -> None:
    write(project / "designs", WRONG.replace("1:9", "1:9  # tdsl: allow(E0405): the spines come in March"))
    found = report("small.fab")["designs"][0]
    assert found["ok"] and found["findings"] == []
    allowed = [(d["code"], d["severity"], d["reason"]) for d in found["allowed"]]
    assert allowed == [("E0405", "allowed", "the spines come in March")]
    assert "allowed   oversubscription at small.fab:8: the spines come in March" in checked()
    assert tdsl("build", "small.fab", "--target", "json").exit_code == 0


def test_allowances_of_a_range(project: Path) -> None:
    """One that is idle at some values only is not idle; one that never serves is told once."""
    text = WRONG.replace("1:9", "1:2  # tdsl: allow(oversubscription) few nodes are no harm")
    write(project / "designs", text.replace(SPINE, f"{SPINE}  # tdsl: allow(isolated) never"))
    said = checked("--all-params", "--output-format", "concise")
    assert said.count("E0015") == 1 and "small.fab:5" in said, said


def test_what_did_not_run_is_not_idle(project: Path) -> None:
    write(project / "designs", SMALL.replace("1:1", "1:1  # tdsl: allow(isolated) none yet"))
    assert "E0015" in checked()
    assert "E0015" not in checked("--select", "bisection") + checked("--ignore", "isolated")


def test_a_waiver_ends(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last day belongs to it; after it a check warns, and the finding stays allowed. A build does not ask for the day."""
    write(project / "designs", DATED)
    assert "E0018" not in checked("--today", "2027-01-31")
    late = ("--today", "2027-02-01", "--output-format", "concise")
    done = tdsl("check", "small.fab", *late)
    assert done.exit_code == 0 and "warning[E0018]" in done.stdout and "1 day ago" in done.stdout, done.stdout
    assert tdsl("check", "small.fab", *late, "--fail-on", "warning").exit_code == 1
    assert done.stdout.count("E0018") == 1 == checked(*late, "--all-params").count("E0018")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1801440000")  # 2027-02-01
    assert "E0018" in checked() and "E0018" not in checked("--today", "2026-01-01"), "the option wins"
    built = tdsl("build", "small.fab", "--target", "json")
    assert built.exit_code == 0 and "E0018" not in built.output
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    done = tdsl("check", "small.fab")
    assert done.exit_code == 2 and "SOURCE_DATE_EPOCH" in done.stderr
    assert tdsl("check", "small.fab", "--today", "2027-02-30").exit_code == 2


@pytest.mark.parametrize("inner", ["oversubscription until", "oversubscription until soon", "isolated until 2027-13-01"])
def test_an_end_that_is_no_date(inner: str, project: Path) -> None:
    write(project / "designs", WRONG.replace("1:9", f"1:9  # tdsl: allow({inner}) reason"))
    assert "E0016" in checked()


def test_waivers_are_listed(project: Path) -> None:
    write(project / "designs", DATED.replace(SPINE, f"{SPINE}  # tdsl: allow(isolated) never"))
    rows = [line.split(",") for line in tdsl("show", "small.fab", "waivers", "--format", "csv").stdout.splitlines()]
    assert [tuple(r[2:5]) for r in rows[1:]] == [("isolated", "", "unused"), ("oversubscription", "2027-01-31", "used")]
    assert rows[0][2:5] == ["finding", "until", "state"]
    assert '"until": "2027-01-31"' in tdsl("show", "small.fab", "waivers", "--format", "json").stdout
