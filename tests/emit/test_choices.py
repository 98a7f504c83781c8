"""Options of targets, from the call and from tdsl.toml; and targets that extend the templates of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import tdsl
from tests.tables import sections

DESIGN = sections(__file__)["design"]


ONLY = ("--target", "eos", "--target", "dns")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one design."""
    monkeypatch.chdir(tmp_path)
    Path("f.fab").write_text(DESIGN)
    return tmp_path


def test_an_option_of_the_call_goes_before_that_of_the_project() -> None:
    Path("tdsl.toml").write_text('[target.eos]\nqueue = "uc-tx-queue"\n\n[target.dns]\nserial = 7\n')
    assert tdsl("build", "f.fab", *ONLY).exit_code == 0
    assert "to uc-tx-queue 3" in Path("out/eos/leaf.cfg").read_text() and " 7 3600" in Path("out/dns/zone.db").read_text()
    assert tdsl("build", "f.fab", *ONLY, "--option", "dns.serial=8", "--option", "dns.zone=gpu.test").exit_code == 0
    zone = Path("out/dns/zone.db").read_text()
    assert " 8 3600" in zone and zone.startswith("$ORIGIN gpu.test.")
    assert "to uc-tx-queue 3" in Path("out/eos/leaf.cfg").read_text()


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("dns.serial=x", "`serial` is a whole number, not 'x'"),
        ("dns.colour=1", "there are zone, serial, ttl"),
        ("dsn.serial=1", "there is no target 'dsn'"),
        ("nccl.complete=maybe", "`complete` is true or false, not 'maybe'"),
        ("json.x=1", "this target has none"),
        ("eos.quue=", "there is no option `quue`; did you mean `queue`?"),
        ("eos.queue=x", "`queue` is one of nothing, tx-queue, uc-tx-queue, not 'x'"),
        ("dns.serial=-1", "`serial` is a whole number from 0 to 4294967295, not -1"),
        ("cabling.workbook_rows=0", "`workbook_rows` is a whole number of at least 1, not 0"),
        ("simai.link_latency=fast", "`link_latency` is a time of ns-3, such as 0.0005ms, not 'fast'"),
        ("containerlab.image=a b", "`image` is the reference of a container image"),
        ("[target.eso]\nqueue = 'x'\n", "there is no such target"),
        ("[target.eos]\nqueue = 3\n", "`queue` is a text, not 3"),
        ("[target]\neos = 3\n", "is a table of a target's options"),
        ("[target.opensm]\nlmc = 8\n", "`lmc` is a whole number from 0 to 7, not 8"),
    ],
)
def test_an_option_that_cannot_be(option: str, says: str) -> None:
    """Of the call, and of the project."""
    project = option.startswith("[")
    Path("tdsl.toml").write_text(option if project else "")
    done = tdsl("build", "f.fab", *([] if project else ["--option", option]))
    assert done.exit_code == 2 and says in done.stderr and not Path("out").exists()
    assert "internal error" not in done.stderr


BANNER = sections(__file__)["banner"]


def test_eos_with_a_banner_and_a_time_server() -> None:
    """The rest is, line by line, what the target itself writes."""
    assert tdsl("new", "target", "site_eos", "--from", "eos").exit_code == 0
    assert tdsl("build", "f.fab", "--target", "eos").exit_code == 0
    plain = Path("out/eos/leaf.cfg").read_text()
    assert tdsl("build", "f.fab", "--target-path", ".", "--target", "site_eos").exit_code == 0
    assert Path("out/site_eos/leaf.cfg").read_text() == plain, "as it is made, it changes nothing"
    assert tdsl("new", "target", "banner", "--from", "eos").exit_code == 0
    Path("banner/templates/device.cfg.j2").write_text(BANNER)
    assert tdsl("build", "f.fab", "--target-path", ".", "--target", "banner").exit_code == 0
    text = Path("out/banner/leaf.cfg").read_text()
    banner = "!\nbanner login\nproperty of f\nEOF\n\n"
    assert banner in text and text.replace(banner, "").removesuffix("!\nntp server 192.168.0.2\n") == plain


@pytest.mark.parametrize("base", ["frr", "nvue", "kubernetes", "sonic"])
def test_each_target_of_templates_can_be_extended(base: str) -> None:
    """As it is made, the copy writes what the target writes."""
    system = {"frr": "eth{i}", "nvue": "swp{i}"}.get(base, "Ethernet{i}")
    nos = f"nos {base}" if base != "kubernetes" else ""
    design = DESIGN.replace("Ethernet{i}", system).replace("nos eos", nos)
    if base == "sonic":
        design = design.replace('os "Ethernet{i}"', 'os "Ethernet{i}"; sonic 8*(i - 1) lanes 8')
    Path("f.fab").write_text(design)
    assert tdsl("new", "target", "mine", "--from", base).exit_code == 0
    assert tdsl("build", "f.fab", "--target", base).exit_code == 0
    first = {p.relative_to("out").as_posix(): p.read_bytes() for p in Path("out", base).rglob("*") if p.is_file()}
    assert tdsl("build", "f.fab", "--target-path", ".", "--target", "mine").exit_code == 0
    assert first and all(Path("out/mine", p.partition("/")[2]).read_bytes() == data for p, data in first.items())


def test_a_block_of_ones_own_changes_nothing_that_others_see() -> None:
    """What tdsl's own template may do with what it made, a block of others may not do with what it is given."""
    assert tdsl("new", "target", "mine", "--from", "ansible").exit_code == 0
    Path("mine/templates/inventory.yaml.j2").write_text(
        '{% set x = options.update({"a": 1}) %}{% extends "ansible/inventory.yaml.j2" %}\n'
    )
    done = tdsl("build", "f.fab", "--target-path", ".", "--target", "mine")
    assert done.exit_code == 1 and "update" in done.stderr and "unsafe" in done.stderr


def test_files_of_a_program_are_left_out() -> None:
    """Tables of cables are templates and can be extended; their workbook is not, nor a target of programs alone."""
    assert tdsl("new", "target", "mine", "--from", "cabling").exit_code == 0
    assert "cables.xlsx" in Path("mine/README.md").read_text()
    table = Path("mine/templates/cables.csv.j2").read_text()
    assert table.startswith('{% extends "cabling/cables.csv.j2" %}')
    assert tdsl("build", "f.fab", "--target-path", ".", "--target", "mine", "--target", "cabling").exit_code == 0
    assert Path("out/mine/cables.csv").read_bytes() == Path("out/cabling/cables.csv").read_bytes()
    assert not list(Path("out/mine").glob("*.xlsx"))
    assert "cannot be extended" in tdsl("new", "target", "other", "--from", "simai").stderr
    assert "there is no target 'x'" in tdsl("new", "target", "other", "--from", "x").stderr


@pytest.mark.parametrize(
    ("default", "values", "says"),
    [
        ('"x"', 'b = ["x"]', "`values` has `b`, and `options` has not"),
        ('"x"', 'a = ["y"]', "the default of option `a` is not one of y"),
        ("9", "a = {from = 0, to = 7}", "the default of option `a` is not a whole number from 0 to 7"),
        ('"9"', "a = {from = 0}", "the default of option `a` is not a whole number of at least 0"),
        ('"x"', 'a = {form = "(", says = "x"}', "has a form that is none"),
        ('"x"', "a = 3", "is a list of words"),
        ('"x"', "a = []", "is a list of words"),
    ],
)
def test_a_manifest_whose_values_cannot_be(default: str, values: str, says: str) -> None:
    Path("mine/templates").mkdir(parents=True)
    Path("mine/templates/x.j2").write_text("x")
    file = '[[file]]\npath = "mine/x"\ntemplate = "x.j2"\n'
    options = f"[options]\na = {default}\n[values]\n{values}\n"
    Path("mine/target.toml").write_text(f'title = "t"\nconsumer = "c"\n{options}{file}')
    done = tdsl("build", "f.fab", "--target-path", ".", "--target", "dns")
    assert done.exit_code == 1 and says in " ".join(done.stderr.replace("|", "").split())
