"""Devices that a text renames: known by their position, so no cable moves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tdsl.changes.compare import compare_designs
from tdsl.compile.compiler import Request, compile_and_verify
from tdsl.fabric.renamed import DesignDevices, find_renamed_devices
from tdsl.findings.diagnostic import Severity
from tests.cli.run import tdsl
from tests.harness import compile_text
from tests.tables import sections

POD = sections(__file__)["pod"]


def changed(before: str, after: str, folder: Path):
    sides = []
    for name, text in (("old", before), ("new", after)):
        (folder / name).mkdir()
        sides.append(compile_text(text, folder / name, verify=False).designs[0])
    return compare_designs(*sides)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"spine": "core"}, [("2 devices", "spine", "core")]),
        ({"su": "unit"}, [("8 devices", "su.node", "unit.node"), ("8 devices", "su.leaf", "unit.leaf")]),
        ({"leaf": "spine", "spine": "leaf"}, [("8 devices", "su.leaf", "su.spine"), ("2 devices", "spine", "leaf")]),
        (
            {"su": "unit", "leaf": "tor", "spine": "core"},
            [("8 devices", "su.node", "unit.node"), ("8 devices", "su.leaf", "unit.tor"), ("2 devices", "spine", "core")],
        ),
    ],
)
def test_a_rename_is_shown_as_one(words: dict[str, str], told: list[tuple[str, str, str]], tmp_path: Path) -> None:
    after = re.sub(r"\b(su|leaf|spine)\b", lambda m: words.get(m[0], m[0]), POD)
    found = changed(POD, after, tmp_path)
    assert [(x.what, x.before, x.after) for x in found.renamed] == told
    if told:
        assert not (found.devices_added or found.devices_removed or found.added or found.removed or found.moved)
        assert len(found.names) == sum(int(x[0].split()[0]) for x in told)


def test_other_devices_are_no_rename(tmp_path: Path) -> None:
    other = POD.replace("switch spine[2]: BIG", "switch core[2]: FAST").replace("to spine[*] spread x 8", "to core[*] spread x 2")
    found = changed(POD, other.replace("spread x 2", "spread x 2 { rate 400Gbps }").replace("FAST", "SW"), tmp_path)
    assert not found.renamed and found.devices_removed and found.devices_added


def test_neighbours_decide_between_equal_names() -> None:
    """Two declarations of one kind are renamed, and exchanged in the text: each is found by what it is linked to."""
    old = DesignDevices({"a[0]": "x", "b[0]": "x", "one": "", "two": ""}, [("a[0]", "one"), ("b[0]", "two")])
    new = DesignDevices({"n[0]": "x", "m[0]": "x", "one": "", "two": ""}, [("n[0]", "two"), ("m[0]", "one")])
    assert find_renamed_devices(old, new) == {"a[0]": "m[0]", "b[0]": "n[0]"}
    apart = DesignDevices({"n[0]": "x", "m[0]": "x", "one": "", "two": ""}, [])
    assert find_renamed_devices(old, apart) == {}


def test_a_lock_keeps_the_ports_of_renamed_devices(tmp_path: Path) -> None:
    """The lock was written before a unit more took ports and a rename: links stay on the ports it says."""
    file = tmp_path / "pod.fab"
    models = compile_text(POD, tmp_path, verify=False) and (tmp_path / "design.fab").read_text()
    file.write_text(models)
    assert tdsl("lock", file).exit_code == 0
    written = (tmp_path / "pod.fab.lock").read_text()
    swapped = written.replace("spine[0].p[1]\n", "spine[0].p[64]\n")  # what is cabled, not what the text alone gives
    assert swapped != written
    (tmp_path / "pod.fab.lock").write_text(swapped)
    file.write_text(re.sub(r"\bspine\b", "core", models))
    made = compile_and_verify(str(file), Request(locked=True))
    assert [d.code for d in made.findings if d.severity is Severity.ERROR] == []
    assert "E0498" in [d.code for d in made.findings]
    fabric = made.designs[0].fabric
    assert fabric is not None
    paths = {fabric.port_path(p) for p in fabric.link_b.tolist()}
    assert "core[0].p[64]" in paths and "core[0].p[1]" not in paths
    assert tdsl("lock", file).exit_code == 0
    assert "spine" not in (tmp_path / "pod.fab.lock").read_text()
