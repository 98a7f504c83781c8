"""Renaming changes names and nothing else: designs of the library, with the models and topologies they use, compiled twice."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.fabric.narrow import Narrow
from tdsl.findings.diagnostic import Diagnostics
from tdsl.ide.rename import RenameIndex, RenameRefused
from tdsl.semantics.loader import DECLARED, Loader
from tdsl.system import resources
from tests.tables import sections

LIBRARY = resources.packaged_folder("stdlib")
LARGE = ("aurora", "deepseek_dragonfly", "fugaku", "gpu131k", "jupiter_dragonfly_plus", "lumi")
DESIGNS = [p.stem for p in sorted((LIBRARY / "designs").glob("*.fab")) if p.stem not in LARGE]
HELD = TemporaryDirectory()
FOLDER = Path(HELD.name)
OTHERS = ("to", "min")
"""A word of the grammar and a function of the language: names, but not everywhere."""
HANDED = ("gives", "predefined name", "fill `", "standard library", "name of a file")
"""Why a name may be refused: it is not the text's own."""


@cache
def whole(name: str) -> tuple[Path, str]:
    """A design as a file, and its text with that of the models and topologies it names behind it."""
    text = (LIBRARY / "designs" / f"{name}.fab").read_text()
    models = Loader(Diagnostics()).catalogue()
    own, taken, todo = set(DECLARED.findall(text)), dict[Path, str](), [text]
    while todo:
        for word in set(re.findall(r"\w+", re.sub("#.*", "", todo.pop()))) - own:
            path = models.get(word) or LIBRARY / "topologies" / f"{word}.fab"
            if path not in taken and path.is_file():
                taken[path] = path.read_text()
                todo.append(taken[path])
    file = FOLDER / f"{name}.fab"
    file.write_text("\n".join([text, *(taken[p] for p in sorted(taken))]))
    return file, file.read_text()


def meaning(file: Path, text: str) -> list[Any]:
    """A text's findings by code; of each fabric its columns, and of its claims all but the words."""
    compiled = compiler.compile_without_checks(str(file), Request(overlay={str(file.resolve()): text}))
    out: list[Any] = [sorted(d.code for d in compiled.findings)]
    for design in compiled.designs:
        columns = {k: v.tobytes() for k, v in vars(design.fabric).items() if isinstance(v, (np.ndarray, Narrow))}
        assert len(columns) > 20
        claims = [
            (
                c.metric,
                c.op,
                str(c.value),
                str(c.args),
                [e.devices.tolist() for s in (*c.of, *c.of_to, *c.at) for e in s.elements],
            )
            for c in design.claims
        ]
        out += [columns, claims]
    return out


@cache
def unchanged(name: str) -> list[Any]:
    """What a design means as it stands."""
    return meaning(*whole(name))


def renamed(file: Path, text: str, at: int, new: str) -> str:
    """A text with the name at an offset changed. Raises Refused."""
    for span in sorted(RenameIndex((FOLDER,)).edits(file, at, new), key=lambda s: -s.start):
        assert span.file.name == file.as_posix()
        text = text[: span.start] + new + text[span.end :]
    return text


@given(
    st.sampled_from(DESIGNS), st.integers(0), st.sampled_from(["zz", "a_longer_name", "_", "to", "x", "leaf", "i", "min", "host"])
)
@settings(max_examples=8)
def test_the_fabric_is_the_same(name: str, nth: int, new: str) -> None:
    file, text = whole(name)
    found = RenameIndex(()).names(file)
    assert found is not None
    start, end = sorted(found.found)[nth % len(found.found)]
    try:
        changed = renamed(file, text, start, new)
    except RenameRefused as why:
        clash = new in re.findall(r"\w+", text) and re.search("another meaning|does not read", str(why))
        assert clash or new in OTHERS or any(words in str(why) for words in HANDED), (text[start:end], new, why)
        return
    assert changed != text or text[start:end] == new
    assert meaning(file, changed) == unchanged(name), (text[start:end], new)


def test_a_parameter_is_renamed_in_its_phases() -> None:
    text = sections(__file__)["phases"]
    file = FOLDER / "phases.fab"
    file.write_text(text)
    wanted = text.replace("param units:", "param su:").replace("= units\n", "= su\n").replace("{ units ", "{ su ")
    assert renamed(file, text, text.index("units"), "su") == wanted.replace("s[units]", "s[su]")
    assert renamed(file, text, text.index("units 2"), "su") == wanted.replace("s[units]", "s[su]")


@pytest.mark.parametrize("name", ["roce_cluster", "superpod_cluster_racks"])
def test_a_port_class_is_renamed_where_a_cluster_splits_a_part_of_it(name: str) -> None:
    file, text = whole(name)
    changed = renamed(file, text, text.index("split p[") + len("split "), "cage")
    assert "split cage[" in changed
    assert meaning(file, changed) == unchanged(name)
