"""``docs/gallery.md``: every design of the library with its picture, its text, published figures and what tdsl says of it.

The page is made of ``docs/gallery.toml`` and of runs; ``--golden`` writes it anew.
"""

from __future__ import annotations

import json
import textwrap
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Request
from tdsl.emit.build import BuildOptions, Selection, files_of_target
from tdsl.emit.quote import NameRefused
from tdsl.emit.target import targets_by_name
from tdsl.emit.view import FabricView
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.report import json_report
from tdsl.report.formats import Report
from tdsl.system.spool import content_in_memory
from tests.conftest import Golden
from tests.harness import each, share

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"
DESIGNS = ROOT / "stdlib" / "designs"
LARGEST_PICTURE = 300_000
"""Bytes; a larger picture would tell a reader no more."""

HEAD = """\
# Gallery

The designs of the standard library: `tdsl check NAME` checks one, `tdsl build NAME` builds it. For each, a picture as the
`diagram` target draws it, its whole text, published figures beside those of the fabric as built, and what `tdsl check` proves.
The tests make this page and compare it. [What the library leaves out](left-out.md) has its own page.
"""


Figure = dict[str, Any]
"""A published figure: ``what``, ``published``, ``at`` in the report, parameters to ``set``; where it is known to differ, what
``tdsl`` builds, and ``why``."""


@cache
def entries() -> dict[str, dict[str, Any]]:
    """What is written of each design: its ``source``, the figures, and a ``note``."""
    data = tomllib.loads((ROOT / "docs" / "gallery.toml").read_text(encoding="utf-8"))["design"]
    assert all(d.keys() <= {"name", "source", "figure", "note"} for d in data)
    assert all(f.keys() <= {"what", "published", "at", "set", "tdsl", "why"} for d in data for f in d["figure"])
    return {d["name"]: d for d in data}


def as_written(value: Any) -> str:
    """The value of a parameter as a design writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def compiled(name: str, settings: tuple[tuple[str, Any], ...]) -> Compilation:
    """A design, compiled and verified once for its report and its picture."""
    return compiler.compile_and_verify(name, Request(set=tuple((k, as_written(v)) for k, v in settings)))


def checked(name: str, **settings: Any) -> dict[str, Any]:
    """The first design of the report of ``tdsl check``."""
    return reported(name, tuple(sorted(settings.items())))


@cache
def reported(name: str, settings: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    design: dict[str, Any] = json.loads(json_report.render(Report([compiled(name, settings)])))["designs"][0]
    return design


def found(name: str, figure: Figure) -> Any:
    """The figure in the report."""
    at: Any = checked(name, **figure.get("set", {}))
    head, *rest = figure["at"].split(".")
    if head == "results":
        check, *rest = rest
        at = next(r for r in at["results"] if r["check"] == check)
    else:
        at = at[head]
    for key in rest:
        at = at[int(key)] if isinstance(at, list) else at[key]
    return at


def names() -> list[str]:
    """All designs, those with a data entry first, in its order."""
    known = [n for n in entries() if (DESIGNS / f"{n}.fab").is_file()]
    return known + sorted(p.stem for p in DESIGNS.glob("*.fab") if p.stem not in known)


def shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def section(name: str, picture: bytes | None) -> str:
    """A design's part of the page."""
    entry = entries()[name]
    text = (DESIGNS / f"{name}.fab").read_text(encoding="utf-8")
    out = [f"## {name}", ""]
    if picture is not None:
        out += [f"![{name}: {title(text)}](gallery/{name}.svg)", ""]
    out += ["```fab", text.rstrip("\n"), "```", ""]
    if entry["figure"]:
        out += ["| figure | published | tdsl |", "|---|---|---|"]
        for f in entry["figure"]:
            where = ", ".join(f"`{k}={as_written(v)}`" for k, v in f.get("set", {}).items())
            what = f"{f['what']} ({where})" if where else f["what"]
            out.append(f"| {what} | {shown(f['published'])} | {shown(found(name, f))} |")
        out.append("")
        differ = [f"{f['what'][0].upper()}{f['what'][1:]}: {f['why']}" for f in entry["figure"] if "why" in f]
        out += [line for words in differ for line in (*wrapped(words), "")]
    for words in (f"Published in: {entry['source']}.", entry.get("note")):
        out += [*wrapped(words), ""] if words else []
    verdicts = [r for r in checked(name)["results"] if r["requirement"] is not None]
    if verdicts:
        out += ["What `tdsl check` says of its requirements:", "", "```text"]
        for r in verdicts:
            out += wrapped(f"{r['status']}  {r['requirement']}: {r['text']}", "  ")
        out += ["```", ""]
    return "\n".join(out)


def title(text: str) -> str:
    """The title of a fabric, as written."""
    for line in text.splitlines():
        if line.startswith(("fabric ", "cluster ")) and '"' in line:
            return line.split('"')[1]
    return "the fabric"


def wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, 126, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def picture(name: str) -> bytes | None:
    """The diagram of a design, None where it has none that a reader could take in."""
    fabric = compiled(name, ()).designs[0].fabric
    assert fabric is not None
    faults = Diagnostics()
    asked = Selection(FabricView(fabric, faults), frozenset({"diagram"}))
    try:  # without the manifest, whose identity of a large fabric takes as long as its picture
        svg = content_in_memory(
            files_of_target(targets_by_name(faults)["diagram"], asked, BuildOptions(), faults)["diagram/fabric.svg"]
        )
    except NameRefused:
        return None
    assert not any(d.severity is Severity.ERROR for d in faults)
    return svg if len(svg) <= LARGEST_PICTURE else None


def test_every_design_is_in_the_gallery() -> None:
    assert set(entries()) == {p.stem for p in DESIGNS.glob("*.fab")}


SLOW = (
    "alibaba_hpn", "alibaba_hpn_racks", "aurora", "deepseek_dragonfly", "dgx_superpod_b200", "dgx_superpod_gb200", "dragonfly",
    "eos", "ft3", "fugaku", "gaudi3_4096", "gb200_su", "gb200_su_racks", "gpu131k", "jupiter_dragonfly_plus", "llama3_24k",
    "llama3_pod_racks", "lumi", "slim_fly_cscs",
)  # fmt: skip
"""A second or several each: `make soundness` compares them."""

QUICK = [n for n in names() if n not in SLOW]
SHARES = 3


def left_out(found: Compilation) -> Iterator[str]:
    """The notes about a design, and what is required of its fabrics but the first."""
    yield from (f"{d.severity.word} {d.code}: {d.message}\n" for d in found.findings)
    for r in (r for design in found.designs[1:] for r in design.results if r.requirement):
        yield f"{r.status} {r.requirement}: {r.text or r.reason}\n"


def a_design(name: str, golden: Golden) -> None:
    """It is short and holds, its figures are those published (or the data says by how much not, and why), and the page has it.
    A golden has what the page leaves out."""
    text = (DESIGNS / f"{name}.fab").read_text(encoding="utf-8")
    assert len(text.splitlines()) < (130 if "\ncluster " in text else 60)
    assert checked(name)["ok"]
    assert {f["severity"] for f in checked(name)["findings"]} <= {"note"}, checked(name)["findings"]
    for figure in entries()[name]["figure"]:
        value = found(name, figure)
        if "tdsl" not in figure:
            assert value == pytest.approx(figure["published"], rel=1e-12), figure
        else:
            assert value == figure["tdsl"] != figure["published"] and figure["why"], figure
    golden(f"designs/{name}.txt", "".join(left_out(compiled(name, ()))))
    drawn = picture(name)
    if drawn is not None:
        assert (PICTURES / f"{name}.svg").read_bytes() == drawn, "run `make golden`"
    assert section(name, drawn) in PAGE.read_text(encoding="utf-8"), "run `make golden`"


@pytest.mark.parametrize("number", range(SHARES))
def test_designs(number: int, golden: Golden) -> None:
    each(share(QUICK, number, SHARES), lambda name: a_design(name, golden))


@pytest.mark.daily
@pytest.mark.parametrize("name", SLOW)
def test_large_designs(name: str, golden: Golden) -> None:
    a_design(name, golden)


def test_the_page_has_all_designs_in_order(request: pytest.FixtureRequest) -> None:
    """``--golden`` writes page and pictures."""
    if request.config.getoption("--golden"):
        PICTURES.mkdir(exist_ok=True)
        for old in PICTURES.glob("*.svg"):
            old.unlink()
        drawn = {name: picture(name) for name in names()}
        for name, svg in drawn.items():
            if svg is not None:
                (PICTURES / f"{name}.svg").write_bytes(svg)
        PAGE.write_text(HEAD + "\n" + "\n".join(section(n, p) for n, p in drawn.items()).rstrip("\n") + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    assert page.startswith(HEAD)
    assert [x[3:] for x in page.splitlines() if x.startswith("## ")] == names()
    assert {p.stem for p in PICTURES.glob("*.svg")} == {n for n in names() if f"](gallery/{n}.svg)" in page}
