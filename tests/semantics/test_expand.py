"""``expand`` and ``fmt`` change no design: each statement of the reference, each design of the library and each case gives the
same ``fabric.json`` before and after. ``tests/test_docs.py`` holds this of the examples of the pages."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Request
from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.syntax.printer import format_source
from tdsl.system import resources
from tests.harness import sampled, sections

LARGE = (
    "alibaba_hpn", "alibaba_hpn_racks", "aurora", "deepseek_dragonfly", "deepseek_mpft", "frontier", "fugaku", "gpu131k",
    "ironwood", "jupiter_dragonfly_plus", "llama3_24k", "llama3_pod_racks", "lumi", "megascale", "nvlink_576",
    "oci_supercluster", "tpu_v5p", "vera_rubin_superpod",
)  # fmt: skip
"""Designs of more than 20,000 links: they take long and have no statement that the others do not have."""
LIBRARY = [p for p in sorted((resources.packaged_folder("stdlib") / "designs").glob("*.fab")) if p.stem not in LARGE]

NEW = sections(Path(__file__).parent / "statements.txt")
MODELS = NEW.pop("models")


def made(path: Path, text: str) -> list[tuple[str, bytes]]:
    """Name and ``fabric.json`` of every fabric of a text in the place of a file, at its last phase."""
    path.write_text(text, encoding="utf-8")
    return fabrics_of(compiler.compile_without_checks(str(path), Request()))


def fabrics_of(result: Compilation) -> list[tuple[str, bytes]]:
    """Name and ``fabric.json`` of every fabric of what is compiled without an error, at its last phase."""
    assert not [d for d in result.findings if d.severity is Severity.ERROR], [f"{d.code} {d.message}" for d in result.findings]
    out = []
    for design in {d.name: d for d in result.designs}.values():
        found = Diagnostics()
        assert design.fabric is not None
        out.append((design.name, build_files(design.fabric, ["json"], found)["fabric.json"]))
        assert not found.has_errors, [f"{d.code} {d.message}" for d in found.items]
    return out


def crumpled(text: str) -> str:
    """A text without its indentation and with blanks where none are needed."""
    spaced = re.sub(r"(?<=[\w\])]) \{$", "   {", text, flags=re.MULTILINE)
    return re.sub(r"^ +(?=\w|\})", "\t", spaced, flags=re.MULTILINE)


def hold(path: Path, text: str, found: Compilation | None = None) -> None:
    """Expand and lay out a text, of which ``found`` was compiled: it stays the same fabrics, and doing so again changes
    nothing."""
    seen = {text: fabrics_of(found) if found else made(path, text)}

    def same(other: str) -> None:
        if other not in seen:
            seen[other] = made(path, other)
        assert seen[other] == seen[text]

    laid_out = cache(lambda loose: format_source(SourceFile(path.name, loose)))
    for loose in (text, crumpled(text)):
        laid = laid_out(loose)
        assert laid_out(laid) == laid
        same(laid)
    path.write_text(text, encoding="utf-8")
    written, result = compiler.expand_intent(str(path), Request())
    assert written is not None, [d.message for d in result.findings]
    assert laid_out(written) == written
    same(written)
    path.write_text(written, encoding="utf-8")
    assert compiler.expand_intent(str(path), Request())[0] == written


@pytest.mark.parametrize("name", NEW)
def test_every_new_statement(name: str, tmp_path: Path) -> None:
    hold(tmp_path / "design.fab", f"{NEW[name]}\n{MODELS}\n")


@pytest.mark.parametrize("design", sampled(LIBRARY, 12), ids=lambda p: p.stem)
def test_every_design_of_the_library(design: Path, tmp_path: Path) -> None:
    hold(tmp_path / design.name, design.read_text(encoding="utf-8"))


MODEL = "model switch S { port p[1..8]: 400Gbps }\n"


def expanded(text: str, folder: Path, **given: str) -> str:
    """The expanded text, without the model."""
    path = folder / "t.fab"
    path.write_text(text + MODEL, encoding="utf-8")
    found, result = compiler.expand_intent(str(path), Request(set=tuple(given.items())))
    assert found is not None, [d.message for d in result.findings]
    assert "model switch S" in found
    return found[: found.index("model switch S")]


FABRIC = "fabric f { switch a[n]: S\n connect a[*] each }\n"


@pytest.mark.parametrize(
    ("params", "given", "expected"),
    [
        ("param n: int = 2 where 1 <= n <= 8", {}, ["param n: int = 2 where 1 <= n <= 8"]),
        ("param n: int = 2 where 1 <= n <= 8", {"n": "3"}, ["param n: int = 3 where 1 <= n <= 8"]),
        (
            'param n: int = 2\nparam s: string = "a"\nparam t = "b"',
            {"s": "x y", "n": "4"},
            ["param n: int = 4", 'param s: string = "x y"', 'param t = "b"'],
        ),
        ('param n: int = 2\nparam s: string = "a"', {"s": '"x"'}, ["param n: int = 2", 'param s: string = "x"']),
        ('param n: int = 2\nparam s: string = "a"', {"s": 'x"y'}, ["param n: int = 2", 'param s: string = "x{34:c}y"']),
    ],
)
def test_values_of_parameters_are_written(params: str, given: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    """Defaults are the values that are given; a string may be given without quotes."""
    found = expanded(f"{params}\n{FABRIC}", tmp_path, **given)
    assert [line for line in found.splitlines() if line.startswith("param")] == expected
