"""Names that are two for tdsl and one for something else: DNS, Kubernetes, file systems, and eyes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tdsl.emit.quote import file_name
from tests.cli.run import SMALL, tdsl, write
from tests.conftest import need_program
from tests.targets.test_hostile_programs import files_of
from tests.targets.test_inventories import run


@pytest.mark.parametrize("target", ["dns", "kubernetes", "dhcp"])
def test_names_that_differ_in_case_are_one_host(target: str) -> None:
    """Two addresses of one name, two nodes or two reservations of one: the second would take the place of the first."""
    for names in (("Host1", "host1"), ("a", "b", "A")):
        made, codes, _ = files_of(target, names)
        assert codes == {"E0504"} and not [p for p in made if p.endswith(("zone.db", "labels.yaml", "kea-dhcp4.json"))]
    assert files_of(target, ("Host1", "host2"))[1] == set()


def test_names_that_the_zone_itself_has(tmp_path: Path) -> None:
    """`ns` is the name server of the zone, and `NAME-lo` the loopback of NAME."""
    assert files_of("dns", ("ns",))[1] == {"E0504"}
    assert files_of("dns", ("su0-leaf0-lo",))[1] == {"E0504"} and files_of("dns", ("su0-leaf9-lo",))[1] == set()
    zone = files_of("dns", ("ns1", "Leaf-lo"))[0]["dns/zone.db"].decode()
    owners = re.findall(r"^(\S+) IN (A|AAAA) ", zone, re.MULTILINE)
    assert len(owners) == len(set(owners))
    (tmp_path / "zone").write_text(zone)
    origin = re.search(r"\$ORIGIN (\S+)\.", zone)
    assert origin is not None
    done = run(need_program("named-checkzone", "bind9-utils"), origin[1], tmp_path / "zone")
    assert done.returncode == 0, done.stdout


def test_paths_that_are_one_file_elsewhere() -> None:
    """File systems of macOS and Windows make no difference of case, and that of macOS none of how an accent is written."""
    made, codes, _ = files_of("frr", ("Host1", "host1"))
    assert {"frr/Host1/frr.conf", "frr/host1/frr.conf"} <= set(made) and codes == {"E0507"}
    assert "E0507" in files_of("frr", ("STRASSE", "stra\u00dfe"))[1]
    made, codes, _ = files_of("frr", ("no\u0308de", "n\u00f6de"))  # one of them has a hash in its path
    assert codes == {"E0504"} and len([p for p in made if p.endswith("netplan.yaml")]) == 100


@pytest.mark.parametrize("name", ["con", "NUL", "Aux.cfg", "com1", "lpt9.x.y", "leaf.", "prn"])
def test_no_file_is_called_as_a_device_of_windows(name: str) -> None:
    made = file_name(name)
    assert re.fullmatch(r"[\w-]+-[0-9a-f]{8}", made) and made != file_name(name.swapcase() + "x")
    for fine in ("console", "com10", "leaf.cfg", "nul-1", "aux0"):
        assert file_name(fine) == fine


@pytest.mark.parametrize("text", ["\u0441\u0430", "\u0410{i}", "leaf-\u0430{i}", "\u039f\u03a1{i}"])
def test_words_of_letters_that_all_look_latin(text: str, tmp_path: Path) -> None:
    """\u0441\u0430 is Cyrillic through and through, and nothing in the text shows it."""
    design = write(tmp_path, SMALL.replace("fabric small {", f'fabric small "{text.replace("{i}", "1")}" {{'))
    done = tdsl("check", design, "--fail-on", "warning")
    assert done.exit_code == 1 and done.stdout.count("warning[E0497]") == 1, done.stdout
    for fine in ("\u0441\u0432\u044f\u0437\u044c \u0441 hall", "\u03b1 = 0.7", "\u00e9t\u00e9", "\u6f22\u5b57"):
        write(tmp_path, SMALL.replace("fabric small {", f'fabric small "{fine}" {{'))
        assert "E0497" not in tdsl("check", design).stdout, fine


@pytest.mark.parametrize("made", ["{8238:c}", "{8203:c}", "{10:c}", "{27:c}", "{55296:c}", "{1076 + i:c}", "{i:>3c}"])
def test_formats_make_no_characters_that_a_text_may_not_hold(made: str, tmp_path: Path) -> None:
    """A design of plain ASCII could make line ends, half characters of UTF-16, which no file can hold, and right-to-left signs."""
    text = SMALL.replace("  require", f'  naming leaf[i] "leaf{made}{{i}}"\n  require')
    done = tdsl("check", write(tmp_path, text))
    assert done.exit_code == 1 and "error[E0120]" in done.stdout and "makes the character" in done.stdout, done.stdout
    fine = text.replace(made, "{65 + i:c}")
    assert "leafH7" in tdsl("show", write(tmp_path, fine), "devices").stdout


@pytest.mark.parametrize("character", ["\x01", "\x1b", "\x7f", "\x9b", "\u2028", "\ufffe", "\ufffb"])
def test_characters_that_steer_a_terminal_are_found(character: str, tmp_path: Path) -> None:
    """Control characters, line ends that editors do not show, and what is no character."""
    for text in (SMALL.replace("fabric small {", f'fabric small "a{character}b" {{'), SMALL + f"# {character}\n"):
        done = tdsl("check", write(tmp_path, text), "--fail-on", "warning")
        assert done.exit_code == 1 and done.stdout.count("warning[E0497]") == 1 and character not in done.stdout, done.stdout
