"""Names that a build gives in an output folder and beside it, and which names are taken for them."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest

from tdsl.output.own_names import hidden_sibling_path, is_build_name, is_build_sibling, unique_sibling_path

TOKEN = "0123456789ab"


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        (".tdsl-lock", True, False), (f".tdsl-new-{TOKEN}", True, False), (f".tdsl-ready-{TOKEN}", True, False),
        (f".tdsl-old-{TOKEN}", False, False), (f".tdsl-new-{TOKEN}0", False, False), (f".tdsl-new-{TOKEN[1:]}", False, False),
        (".tdsl-new-0123456789aG", False, False), (f"x.tdsl-new-{TOKEN}", False, False), (".tdsl-", False, False),
        (".out.tdsl-lock", False, True), (f".out.tdsl-new-{TOKEN}", False, True), (f".out.tdsl-old-{TOKEN}", False, True),
        (f".out.tdsl-ready-{TOKEN}", False, False), (f"out.tdsl-new-{TOKEN}", False, False),
        (f"..tdsl-new-{TOKEN}", False, False),
        (f".o.tdsl-new-{TOKEN}x", False, False), (f".o\nx.tdsl-new-{TOKEN}", False, True), (f".oXtdsl-new-{TOKEN}", False, False),
        (f".tdsl-new-{TOKEN}\n", False, False), (f".out.tdsl-new-{TOKEN}\n", False, False),
    ],
)  # fmt: skip
def test_which_names_are_those_of_a_build(name: str, inside: bool, outside: bool) -> None:
    assert (is_build_name(name), is_build_sibling(name)) == (inside, outside)


@pytest.mark.parametrize("name", ["x", "a" * 200, "é" * 100])
def test_names_beside_a_folder(name: str) -> None:
    out = Path("/somewhere") / name
    assert hidden_sibling_path(out, "lock") == Path("/somewhere") / f".{name}.tdsl-lock"
    assert is_build_sibling(hidden_sibling_path(out, "lock").name)


@pytest.mark.parametrize(("name", "begin"), [("a" * 201, "a" * 100), ("é" * 101, "é" * 50), ("x" + "é" * 100, "x" + "é" * 49)])
def test_names_beside_a_folder_with_a_long_name(name: str, begin: str) -> None:
    """Its first 100 bytes, without half a letter, and 16 digits of a hash of it."""
    made = hidden_sibling_path(Path(name), "lock").name
    assert made == f".{begin}-{sha256(name.encode()).hexdigest()[:16]}.tdsl-lock" and len(made.encode()) <= 255
    assert is_build_sibling(made)


def test_names_that_nobody_else_has() -> None:
    one, two = (unique_sibling_path(Path("/a/out"), "new") for _ in range(2))
    assert one != two and one.parent == Path("/a") and re.fullmatch(r"\.out\.tdsl-new-[0-9a-f]{12}", one.name)
    assert is_build_sibling(one.name) and not is_build_name(one.name)
