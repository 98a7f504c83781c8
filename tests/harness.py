"""What tests use of the compiler: a design as text, compiled as a file on disk would be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Request
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostic, Severity

T = TypeVar("T")

MODELS = """
model switch SW "eight ports" { port p[1..8]: 400Gbps { type NDR } }
model switch BIG { port p[1..64]: 400Gbps { type NDR; cage 2 OSFP } }
model switch FAST { port p[1..8]: 800Gbps { type XDR } }
model chip GPU { port nv[4]: 200Gbps { type NVLINK } }
model host NODE { port nic[4]: 400Gbps { type NDR; cage 2 OSFP; os "mlx5_{i}" }; chip gpu[4]: GPU }
model host BOX { port nic[2]: 400Gbps { type NDR } }
model ocs OPTIC { port o[1..64]: any }
model panel PATCH { port front[8]: any; port back[8]: any }
"""


def _named(text: str) -> str:
    """The test models that a text names, each in its place: to read those that it does not name takes longer than most texts."""
    words = set(re.findall(r"\w+", text))
    if "NODE" in words:  # which has chips
        words.add("GPU")
    return "\n".join(line if not line or line.split()[2] in words else " " * len(line) for line in MODELS.split("\n"))


def written(path: Path, text: str) -> Path:
    """A file that holds a text. It is a new one: ext4 brings a file that is emptied and written again to the disk at once."""
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def sections(path: Path) -> dict[str, str]:
    """The texts of a file, each behind a line ``== NAME``."""
    parts = f"\n{path.read_text(encoding='utf-8')}".split("\n== ")[1:]
    return {name: text.rstrip("\n") for name, _, text in (part.partition("\n") for part in parts)}


def compile_text(
    text: str, folder: Path, *, verify: bool = True, models: bool = True, name: str = "design.fab", **options: object
) -> Compilation:
    """Compile a text; the test models that it names come after it, so that lines count from the text's own first."""
    path = folder / name
    settings = options.pop("set", {})
    assert isinstance(settings, dict)
    written(path, text + ("\n" + _named(f"{text} {settings}") if models else ""))
    chosen = Request(set=tuple((k, str(v)) for k, v in settings.items()), **options)  # type: ignore[arg-type]
    run = compiler.compile_and_verify if verify else compiler.compile_without_checks
    return run(str(path), chosen)


def refused(text: str, case: tuple[str, str, str, str, str], folder: Path) -> None:
    """A statement, then code, underlined text, message and help of the one error of ``text``; no code: there is no error."""
    _, code, under, message, help = case
    found = [d for d in compile_text(text, folder, verify=False).findings if d.severity.name == "ERROR"]
    reported = [(d.code, d.span.text if d.span else "", d.message, d.help) for d in found]
    assert reported == ([(code, under, message, help)] if code else []), text


def none(offenders: Iterable[str]) -> None:
    """Fail with the list of all that break one rule: one test a rule, not one a rule and file."""
    found = list(offenders)
    if found:
        pytest.fail(f"{len(found)} break the rule:\n" + "\n".join(found), pytrace=False)


def each(items: Iterable[T], rule: Callable[[T], None]) -> None:
    """Hold a rule, a function that asserts, against each item; fail with the list of all that break it."""

    def offenders() -> Iterator[str]:
        for item in items:
            try:
                rule(item)
            except AssertionError as why:
                yield f"{item}: {why or 'an assertion without words'}"

    none(offenders())


def sampled(items: Iterable[Any], of: int, first: int = 0) -> list[Any]:
    """Cases of one kind for a test: one in ``of`` in each run, from the ``first`` on; the others in the daily one."""
    return [pytest.param(item, marks=[] if n % of == first else [pytest.mark.daily]) for n, item in enumerate(items)]


def share(items: Sequence[T], number: int, of: int) -> list[T]:
    """One of several shares of a list, for tests that run beside each other."""
    return list(items[number::of])


def fabric_of(text: str, folder: Path, **options: object) -> Fabric:
    """The fabric of a text that has no fault."""
    result = compile_text(text, folder, verify=False, **options)  # type: ignore[arg-type]
    wrong = [d for d in result.findings if d.severity is not Severity.NOTE and d.code != "E0476"]  # advice
    assert wrong == [], [f"{d.code} {d.message}" for d in wrong]
    fabric = result.designs[0].fabric
    assert fabric is not None
    return fabric


def links_of(fabric: Fabric) -> set[tuple[str, str]]:
    """Every link as a pair of port paths, the lower end first."""
    return {(fabric.port_path(int(a)), fabric.port_path(int(b))) for a, b in zip(fabric.link_a, fabric.link_b, strict=True)}


def places(findings: Iterable[Diagnostic]) -> list[tuple[str, int]]:
    """Code and line of each finding, in order."""
    return [(d.code, d.span.begin[0] if d.span else 0) for d in findings]
