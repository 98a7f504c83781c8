"""``tdsl list``: what this installation knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from tdsl.commands._rows import Rows, format_option, print_csv, print_json, print_table

MODEL = re.compile(r'^model[ \t]+(\w+)[ \t]+(\w+)(?:[ \t]+"([^"]*)")?', re.MULTILINE)
TOPOLOGY = re.compile(r"^topology[ \t]+(\w+)", re.MULTILINE)
FABRIC = re.compile(r'^(?:fabric|cluster)[ \t]+\w+(?:[ \t]+"([^"]*)")?', re.MULTILINE)
LEADING = re.compile(r"\A#[ \t]*(.+)")


def checks() -> Rows:
    """Every check."""
    from tdsl import catalogue

    return Rows(("check", "code", "what"), [(p.name, p.code, p.text.splitlines()[0]) for p in catalogue.checks().values()])


def codes() -> Rows:
    """Every code of a finding, those of checks included."""
    from tdsl import catalogue

    pages = sorted((*catalogue.files(), *catalogue.checks().values()), key=lambda p: p.code)
    return Rows(("code", "name", "what"), [(p.code, p.name, p.title) for p in pages])


def targets() -> Rows:
    """Every target of ``build``."""
    from tdsl.diagnostic import Diagnostics
    from tdsl.emit.target import discover

    found = discover(Diagnostics()).values()
    return Rows(("target", "what", "consumer"), [(t.name, t.title, t.consumer) for t in found])


def hardware() -> Rows:
    """Every model of the standard catalogue."""
    rows = [
        (name, kind, title, file)
        for path, file in _library("hardware")
        for kind, name, title in MODEL.findall(path.read_text(encoding="utf-8"))
    ]
    return Rows(("model", "kind", "what", "file"), sorted(rows))


def topologies() -> Rows:
    """Every topology of the standard library."""
    rows = []
    for path, file in _library("topologies"):
        text = path.read_text(encoding="utf-8")
        rows += [(name, _first_comment(text), file) for name in TOPOLOGY.findall(text)]
    return Rows(("topology", "what", "file"), sorted(rows))


def designs() -> Rows:
    """Every design of the standard library."""
    rows = []
    for path, file in _library("designs"):
        text = path.read_text(encoding="utf-8")
        title = next((t for t in FABRIC.findall(text) if t), "") or _first_comment(text)
        rows.append((path.stem, title, file))
    return Rows(("design", "what", "file"), rows)


def _library(kind: str) -> list[tuple[Path, str]]:
    """Files of one part of the standard library, with the names they go by."""
    from tdsl import resources

    root = resources.folder("stdlib")
    return [(p, f"stdlib:{p.relative_to(root).as_posix()}") for p in sorted((root / kind).rglob("*.fab"))]


def _first_comment(text: str) -> str:
    found = LEADING.match(text)
    return found[1].strip() if found else ""


KINDS: Mapping[str, Callable[[], Rows]] = {
    "checks": checks, "codes": codes, "targets": targets, "hardware": hardware, "topologies": topologies, "designs": designs,
}  # fmt: skip


@click.command(
    "list",
    short_help="List designs, models, topologies, checks, targets or codes.",
    epilog="\b\nExamples:\n  tdsl list designs\n  tdsl list checks --output-format json",
)
@click.argument("kind", type=click.Choice(list(KINDS)))
@format_option
def command(kind: str, output_format: str) -> None:
    """List the checks, codes of findings, targets, hardware models, topologies or designs that there are."""
    rows = KINDS[kind]()
    if output_format == "json":
        print_json({kind: rows.records()})
    elif output_format == "csv":
        print_csv(rows)
    else:
        print_table(rows)
