"""The canonical layout."""

import pytest

from tdsl.findings.source import SourceFile
from tdsl.syntax.printer import format_source
from tests.syntax.shown import ALL
from tests.tables import table


def fmt(text: str) -> str:
    return format_source(SourceFile("t.fab", text))


@pytest.mark.parametrize(("text", "wanted"), table(__file__, "layouts"))
def test_layout(text: str, wanted: str) -> None:
    assert fmt(text) == wanted == fmt(wanted)


@pytest.mark.parametrize("name", ALL)
def test_programs_settle(name: str) -> None:
    result = fmt(ALL[name])
    assert result.count("#") == ALL[name].count("#")
    assert fmt(result) == result


def test_comments_far_apart_are_not_aligned() -> None:
    long = "connect " + "a" * 60 + " to b # far"
    assert fmt(f"a # near\n{long}\n") == f"a  # near\n{long.replace(' #', '  #')}\n"


@pytest.mark.parametrize(("longer", "aligned"), [(23, True), (24, True), (25, False)])
def test_comments_in_one_column(longer: int, aligned: bool) -> None:
    """Where the lines differ by 24 letters at most."""
    wide = f"a {'b' * (longer + 1)}"
    assert fmt(f"a 1 # x\n{wide} # y\n") == f"{'a 1'.ljust(len(wide) if aligned else 3)}  # x\n{wide}  # y\n"


def test_a_faulty_program_is_left_alone() -> None:
    text = "let   a = )\n"
    assert fmt(text) == text
