"""Names that are two for tdsl and one for something else: DNS, Kubernetes, file systems, and eyes."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import openpyxl
import pytest

from tdsl.commands._rows import OutputRows, print_csv
from tdsl.emit.quote import safe_file_name
from tdsl.emit.rows import spreadsheet_cell
from tdsl.report.paint import terminal_safe_text
from tests.cli.run import SMALL, tdsl, write
from tests.conftest import need_program
from tests.tables import sections
from tests.targets.inventories import run
from tests.targets.test_hostile_programs import files_of


def files_and_codes(target: str, names: tuple[str, ...]) -> tuple[dict[str, bytes], set[str]]:
    """The files of a target where hosts have these names, and the codes found."""
    made, found, _ = files_of(names, target)
    return made, found[target]


def test_names_that_differ_in_case_are_one_host() -> None:
    """Two addresses of one name, two nodes or two reservations of one: the second would take the place of the first."""
    for target, file in (("dns", "zone.db"), ("kubernetes", "labels.yaml"), ("dhcp", "kea-dhcp4.json")):
        for names in (("Host1", "host1"), ("a", "b", "A")):
            made, codes = files_and_codes(target, names)
            assert codes == {"E0504"} and not [p for p in made if p.endswith(file)]
        assert files_and_codes(target, ("Host1", "host2"))[1] == set()


def test_names_that_the_zone_itself_has(tmp_path: Path) -> None:
    """`ns` is the name server of the zone, and `NAME-lo` the loopback of NAME."""
    assert files_and_codes("dns", ("ns",))[1] == {"E0504"}
    assert files_and_codes("dns", ("su0-leaf0-lo",))[1] == {"E0504"} and files_and_codes("dns", ("su0-leaf9-lo",))[1] == set()
    zone = files_and_codes("dns", ("ns1", "Leaf-lo"))[0]["dns/zone.db"].decode()
    owners = re.findall(r"^(\S+) IN (A|AAAA) ", zone, re.MULTILINE)
    assert len(owners) == len(set(owners))
    (tmp_path / "zone").write_text(zone)
    origin = re.search(r"\$ORIGIN (\S+)\.", zone)
    assert origin is not None
    done = run(need_program("named-checkzone", "bind9-utils"), origin[1], tmp_path / "zone")
    assert done.returncode == 0, done.stdout


def test_paths_that_are_one_file_elsewhere() -> None:
    """File systems of macOS and Windows make no difference of case, and that of macOS none of how an accent is written."""
    made, codes = files_and_codes("frr", ("Host1", "host1"))
    assert {"frr/Host1/frr.conf", "frr/host1/frr.conf"} <= set(made) and codes == {"E0507"}
    assert "E0507" in files_and_codes("frr", ("STRASSE", "stra\u00dfe"))[1]
    made, codes = files_and_codes("frr", ("no\u0308de", "n\u00f6de"))  # one of them has a hash in its path
    assert codes == {"E0504"} and len([p for p in made if p.endswith("netplan.yaml")]) == 100


def test_no_file_is_called_as_a_device_of_windows() -> None:
    for name in ("con", "NUL", "Aux.cfg", "com1", "lpt9.x.y", "leaf.", "prn"):
        made = safe_file_name(name)
        assert re.fullmatch(r"[\w-]+-[0-9a-f]{8}", made) and made != safe_file_name(name.swapcase() + "x")
    for fine in ("console", "com10", "leaf.cfg", "nul-1", "aux0"):
        assert safe_file_name(fine) == fine


@pytest.mark.parametrize("made", ["{8238:c}", "{8203:c}", "{10:c}", "{27:c}", "{55296:c}", "{1076 + i:c}", "{i:>3c}"])
def test_formats_make_no_characters_that_a_text_may_not_hold(made: str, tmp_path: Path) -> None:
    """A design of plain ASCII could make line ends, right-to-left signs, and half characters of UTF-16, which no file holds."""
    text = SMALL.replace("  require", f'  naming leaf[i] "leaf{made}{{i}}"\n  require')
    done = tdsl("check", write(tmp_path, text))
    assert done.exit_code == 1 and "error[E0120]" in done.stdout and "makes the character" in done.stdout, done.stdout
    fine = text.replace(made, "{65 + i:c}")
    assert "leafH7" in tdsl("show", write(tmp_path, fine), "devices").stdout


MISLEADING = ["\u202ebackwards", "\u0430ccess", "no\u200bde", "\u0441\u0430", "\u04101", "leaf-\u04301", "\u039f\u03a11"]
"""A sign that turns the direction, a Cyrillic letter among Latin ones, a sign without width, words that only look Latin."""
FINE = ("доступ", "Größe µm", "日本", "\u0441\u0432\u044f\u0437\u044c \u0441 hall", "\u03b1 = 0.7", "\u00e9t\u00e9")


@pytest.mark.parametrize("text", [*MISLEADING, *(f"a{c}b" for c in "\x01\x1b\x7f\x9b\u2028\ufffe\ufffb")])
def test_texts_that_mislead_or_steer_a_terminal_are_found(text: str, tmp_path: Path) -> None:
    """Control characters, line ends that editors do not show, and what is no character: in titles and in comments, where words
    may be of any letters."""
    comment = [] if text.isprintable() else [SMALL + f"# {text}\n"]
    for where in (SMALL.replace("fabric small {", f'fabric small "{text}" {{'), *comment):
        done = tdsl("check", write(tmp_path, where), "--fail-on", "warning", "--select", "port_budget")
        assert done.exit_code == 1 and done.stdout.count("warning[E0497]") == 1, (where, done.stdout)
        assert text.isprintable() or text not in done.stdout


def test_texts_of_other_languages_do_not_mislead(tmp_path: Path) -> None:
    for fine in FINE:
        write(tmp_path, SMALL.replace("fabric small {", f'fabric small "{fine}" {{  # {fine}'))
        assert "E0497" not in tdsl("check", tmp_path / "small.fab", "--select", "port_budget").stdout, fine


PLACED = sections(__file__)["placed"]


def test_a_name_of_digits_is_no_number_of_a_spreadsheet(tmp_path: Path) -> None:
    """`001` was 1 in the list of those who mount devices, and `1e3` was 1000."""
    assert tdsl("build", write(tmp_path, PLACED), "--target", "racks", "--out", tmp_path / "out").exit_code == 0
    book = openpyxl.load_workbook(tmp_path / "out" / "racks" / "mounting.xlsx")
    rows = [[c.value for c in row] for sheet in book for row in sheet.iter_rows()]
    at = rows[0].index("device")
    assert {r[at] for r in rows[1:]} == {"000", "001", *(f"{n}e3" for n in range(1, 9))}
    assert {type(r[rows[0].index("unit")]) for r in rows[1:]} == {int}


@pytest.mark.parametrize("name", ["a\rb", "\uff1dcmd()", "a;=cmd()", "a\nb"])
def test_tables_on_stdout_are_csv(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A line end in a name is no end of a row, and a formula is none."""
    print_csv(OutputRows(("device", "n"), [[name, 1], ["b", 2]]))
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))
    assert rows == [["device", "n"], [spreadsheet_cell(name), "1"], ["b", "2"]]


@pytest.mark.parametrize("name", ["a\x1b[2J{i}", "a\t{i}", "a\x85{i}", "a\u2028{i}", " a{i}", "a{i} ", "a{i:_>600}", ""])
def test_a_device_has_a_name_that_a_line_can_hold(name: str, tmp_path: Path) -> None:
    done = tdsl("check", write(tmp_path, SMALL.replace("  require", f'  naming leaf[i] "{name}"\n  require')))
    assert done.exit_code == 1 and "not a name for a device" in " ".join(done.stdout.replace("|", "").split()), done.stdout
    assert len(done.stdout) < 5000 and "\x1b" not in done.stdout


COMMANDS = sections(__file__)["commands"]


@pytest.mark.parametrize(
    "call",
    ["check", "check --output-format concise", "check --output-format json", "check --output-format junit", "show devices",
     "check --output-format sarif", "check --output-format gitlab", "show devices --output-format json", "diff",
     "diff --format markdown", "build --target dns"],
)  # fmt: skip
def test_no_name_is_a_command_of_a_ci_server(call: str, tmp_path: Path) -> None:
    """GitHub's runner takes `##[NAME]` anywhere, and `::NAME` at the begin of a line, behind spaces, too (ActionCommand.cs)."""
    design = write(tmp_path, COMMANDS)
    command, *rest = call.split()
    between = [write(tmp_path, COMMANDS.replace("h[2]", "h[3]"), "new.fab")] if command == "diff" else []
    done = tdsl(command, design, *between, *rest, *(("--out", tmp_path / "out") if command == "build" else ()))
    assert "set-output" in done.output or command == "build", done.output
    assert not re.search(r"##(vso|teamcity)?\[", done.output), done.output
    assert not re.search(r"^[^\S\n]*::[a-z]", done.output, re.MULTILINE), done.output
    if "json" in call:
        assert "##[set-output name=h0]w" in str(json.loads(done.stdout))


def test_an_address_is_no_command() -> None:
    for text in ("::1", "::/0", "::ffff:10.0.0.1", "fe80::1", "a::b", "::dead", "::", "# ## x", "a ::error::b"):
        assert terminal_safe_text(text) == text
    assert terminal_safe_text("  ::error file=a::b\n##[group]") == "  \ufffd:error file=a::b\n\ufffd#[group]"


def test_no_text_of_a_design_is_a_link_or_an_image_in_a_comment(tmp_path: Path) -> None:
    """`tdsl diff --format markdown` is posted in pull requests: an image there tells its server who reads it."""
    old = write(
        tmp_path, SMALL.replace("  require", '  naming spine[i] "![x](http://host/{i}) &lt;b> <i>"\n  require'), "old.fab"
    )
    new = write(tmp_path, old.read_text().replace("host/", "other/").replace("nodes: int = 4", "nodes: int = 5"), "new.fab")
    done = tdsl("diff", old, new, "--format", "markdown")
    assert done.exit_code == 0 and "![x]" in done.stdout, done.output
    inside = re.sub(r"(?s)```diff\n.*?\n```", "", done.stdout)  # a block of code has no markup
    assert "](" not in inside and "<i>" not in inside, inside
