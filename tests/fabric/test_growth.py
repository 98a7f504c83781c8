"""Locks: what stands keeps its ports, whatever is added, and no more moves than must."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric.graph import Fabric
from tests.cli.run import SMALL, tdsl, write
from tests.harness import compile_text

Shape = tuple[int, int, int, int, int, bool]


def text(shape: Shape, order: bool) -> str:
    """Planes of racks of nodes under leaves and spines; the storage host's connect comes first or last."""
    planes, racks, nodes, spines, copies, storage = shape
    ends = "".join(f"  connect store.a[{i}] to plane[0].leaf[0]\n" for i in range(2))
    store = "  host store: NODE { role storage }\n" + ends if storage else ""
    body = f"""\
  host node[{racks}, {nodes}]: NODE
  plane plane[{planes}] {{
    switch leaf[{racks}]: SWITCH
    switch spine[{spines}]: SWITCH
    connect leaf[*] to spine[*] each x {copies}
  }}
  connect node[r, n].a[i] to plane[(i)].leaf[r] where i < {planes}
"""
    return MODELS + "fabric f {\n" + (store + body if order else body + store) + "}\n"


MODELS = """\
model chip C { port lane: 100Gbps }
model host NODE { port a[4]: 100Gbps { type X }; chip gpu: C }
model switch SWITCH { port p[1..64]: 100Gbps { type X } }
"""


def fabric(source: str, lock: str | None, **options: object) -> Fabric:
    with TemporaryDirectory() as folder:
        if lock is not None:
            (Path(folder) / "design.fab.lock").write_text(lock)
        result = compile_text(source, Path(folder), models=False, verify=False, **options)
    assert not [d for d in result.findings if d.severity.word == "error"], result.findings
    made = result.designs[0].fabric
    assert made is not None and made.complete
    return made


def links(f: Fabric) -> set[frozenset[str]]:
    return {frozenset(map(f.port_path, ends)) for ends in zip(f.link_a.tolist(), f.link_b.tolist(), strict=True)}


def pairs(f: Fabric) -> Counter[frozenset[str]]:
    return Counter(frozenset(p.rpartition(".")[0] for p in link) for link in links(f))


def locked(f: Fabric) -> str:
    from tdsl.fabric.pins import lock_text

    return lock_text([f], "design.fab")


shapes = st.tuples(
    st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.booleans()
)  # fmt: skip


@given(shapes, shapes, st.booleans(), st.booleans())
@settings(max_examples=12, deadline=None)
def test_the_fewest_links_move(one: Shape, two: Shape, before: bool, after: bool) -> None:
    """A link can stay only where its two devices are joined still, by as many: just so many stay."""
    old = fabric(text(one, before), None)
    free, kept = fabric(text(two, after), None), fabric(text(two, after), locked(old))
    assert pairs(kept) == pairs(free), "a lock never changes who is joined"
    assert len(links(kept) & links(old)) == (pairs(old) & pairs(free)).total()


def test_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What moves is an error where the lock is asked for and a note elsewhere; a lock that is written again is the same."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    assert tdsl("check", "small.fab", "--locked").exit_code == 2
    assert "96 links" in tdsl("lock", "small.fab").stderr
    assert tdsl("check", "small.fab", "--locked", "--set", "nodes=8").exit_code == 0
    gone = tdsl("check", "small.fab", "--locked", "--set", "nodes=3")
    assert gone.exit_code == 1 and "8 of 96 existing links would move" in gone.stdout
    assert tdsl("check", "small.fab", "--set", "nodes=3").exit_code == 0, "a note, unless it is asked for"
    write(tmp_path, SMALL.replace("spine[2]", "spine[4]"))
    assert "leaf[0].p[35] to spine[0].p[33] goes" in tdsl("check", "small.fab", "--locked").stdout
    assert tdsl("lock", "small.fab").exit_code == 0
    once = (tmp_path / "small.fab.lock").read_text()
    assert tdsl("lock", "small.fab").exit_code == 0 and (tmp_path / "small.fab.lock").read_text() == once
    assert tdsl("lock", "small.fab", "--fresh").exit_code == 0 and (tmp_path / "small.fab.lock").read_text() != once


def test_a_lock_with_marks_of_a_merge(tmp_path: Path) -> None:
    path = write(tmp_path)
    tdsl("lock", path)
    lock = tmp_path / "small.fab.lock"
    lock.write_text(lock.read_text().replace("fabric small\n", "fabric small\n<<<<<<< ours\n"))
    done = tdsl("check", path)
    assert done.exit_code == 1 and "E0496" in done.stdout
    line = lock.read_text().splitlines().index("<<<<<<< ours") + 1
    assert f"small.fab.lock:{line}:1" in done.stdout
    lock.write_bytes(b"\xff\xfe")
    assert tdsl("check", path).exit_code == 1
