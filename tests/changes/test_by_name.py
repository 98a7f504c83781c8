"""Devices that a `naming` names keep their names when the text puts them elsewhere: what is unplugged is what left."""

from __future__ import annotations

import json
from pathlib import Path

from tdsl.fabric.renamed import DesignDevices, find_renamed_devices
from tests.cli.run import tdsl
from tests.soundness.families.planted_world import RACKS

TORS = '  naming rack[r].tor "r{numbers[r]}-tor"\n'


def planned(folder: Path, old: list[int], new: list[int], tors: str = TORS) -> dict[str, object]:
    """The plan from the racks of some numbers to those of others."""
    for name, numbers in (("old", old), ("new", new)):
        (folder / f"{name}.fab").write_text(RACKS.format(numbers=numbers, tors=tors))
        (folder / f"{name}.fab.lock").unlink(missing_ok=True)
    done = tdsl("plan", folder / "old.fab", folder / "new.fab", "--floor", "bisection >= 0%", "--format", "json")
    assert done.exit_code == 0, done.output
    (fabric,) = json.loads(done.stdout)["fabrics"]
    return dict(fabric)


def test_a_new_name_is_work(tmp_path: Path) -> None:
    found = planned(tmp_path, [101, 102], [101, 105])
    assert [(w["action"], w["from"], w["to"]) for w in found["work"]] == [  # type: ignore[attr-defined]
        ("relabel", f"r102-{what}", f"r105-{what}") for what in ("gpu0", "gpu1", "tor")
    ]


def test_a_lock_knows_names(tmp_path: Path) -> None:
    """A rack before others leaves: the others keep their ports, though all paths are other ones now."""
    design = tmp_path / "pod.fab"
    design.write_text(RACKS.format(numbers=[101, 102, 103], tors=TORS.replace('"r', '"#r')))
    assert tdsl("lock", design).exit_code == 0
    lines = (tmp_path / "pod.fab.lock").read_text().splitlines()
    assert 'name rack[1].tor is "\\u0023r102-tor"' in lines
    design.write_text(RACKS.format(numbers=[102, 103], tors=TORS.replace('"r', '"#r')))
    done = tdsl("check", design, "--locked", "--output-format", "json")
    (moved,) = (d for d in json.loads(done.stdout)["designs"][0]["findings"] if d["code"] == "E0495")
    assert moved["message"].startswith("6 of 18 existing links") and "'" not in "".join(moved["notes"])


def test_names_that_change_places() -> None:
    """With the names exchanged each is the other; one of another kind is not; one without a name follows its group."""
    what = {"a[0]": "x", "a[1]": "x", "g[0].b": "y", "g[1].b": "y", "g[0].c": "z", "g[1].c": "z"}
    old = DesignDevices(what, [], {"a[0]": "m", "a[1]": "n", "g[0].b": "o", "g[1].b": "p"})
    new = DesignDevices(what, [], {"a[0]": "n", "a[1]": "m", "g[0].b": "p", "g[1].b": "o"})
    assert find_renamed_devices(old, new) == {p: p.replace("0", "?").replace("1", "0").replace("?", "1") for p in what}
    other = DesignDevices(what | {"a[1]": "y"}, [], {"a[1]": "m"})
    assert find_renamed_devices(old, other) == {}
    gone = DesignDevices({"a[0]": "x"}, [], {"a[0]": "n"})
    assert find_renamed_devices(old, gone) == {"a[1]": "a[0]", "a[0]": "a[0]'"}
