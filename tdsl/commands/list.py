"""``tdsl list``: what this installation knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

import click

from tdsl.commands._model_figures import HAVE, rows_of_models, rows_of_models_without
from tdsl.commands._rows import OutputRows, format_option, print_csv, print_json, print_table
from tdsl.commands._shared import Text, Wrong
from tdsl.commands._untrusted import with_untrusted_option
from tdsl.system.similar import closest_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from tdsl.semantics.library import Library
    from tdsl.semantics.model import DeviceModel

MODEL = re.compile(r'^model[ \t]+(\w+)[ \t]+(\w+)(?:[ \t]+"([^"]*)")?', re.MULTILINE)
TOPOLOGY = re.compile(r"^topology[ \t]+(\w+)", re.MULTILINE)
FABRIC = re.compile(r'^(?:fabric|cluster)[ \t]+\w+(?:[ \t]+"([^"]*)")?', re.MULTILINE)
JOB = re.compile(r'^job[ \t]+(\w+)(?:[ \t]+"([^"]*)")?', re.MULTILINE)
COLUMNS_OF_TITLE = 68


def list_of_checks() -> OutputRows:
    """Every check."""
    from tdsl.explain import catalogue

    return OutputRows(
        ("check", "code", "what"),
        [(p.name, p.code, p.text.splitlines()[0]) for p in catalogue.check_pages_by_name().values()],
    )


def list_of_codes() -> OutputRows:
    """Every code of a finding, those of checks included."""
    from tdsl.explain import catalogue

    pages = sorted(
        (*catalogue.finding_pages(), *catalogue.check_pages_by_name().values()), key=lambda p: p.code
    )
    return OutputRows(("code", "name", "what"), [(p.code, p.name, p.title) for p in pages])


def list_of_targets() -> OutputRows:
    """Every target of ``build``."""
    from tdsl.emit.target import targets_by_name
    from tdsl.findings.diagnostic import Diagnostics

    found = targets_by_name(Diagnostics()).values()
    return OutputRows(("target", "what", "consumer"), [(t.name, t.title, t.consumer) for t in found])


def list_of_hardware() -> OutputRows:
    """Every model of the standard catalogue."""
    rows = [
        (name, kind, title, file)
        for path, file in _stdlib_files("hardware")
        for kind, name, title in MODEL.findall(path.read_text(encoding="utf-8"))
    ]
    return OutputRows(("model", "kind", "what", "file"), sorted(rows))


def list_of_topologies() -> OutputRows:
    """Every topology of the standard library."""
    rows = []
    for path, file in _stdlib_files("topologies"):
        text = path.read_text(encoding="utf-8")
        rows += [(name, _first_sentence(text, "[.;] "), file) for name in TOPOLOGY.findall(text)]
    return OutputRows(("topology", "what", "file"), sorted(rows))


def list_of_designs() -> OutputRows:
    """Every design of the standard library; what it is fits a line of 100 columns."""
    rows = []
    for path, _ in _stdlib_files("designs"):
        text = path.read_text(encoding="utf-8")
        title = next((t for t in FABRIC.findall(text) if t), "") or _first_sentence(text)
        rows.append((path.stem, shorten(title, COLUMNS_OF_TITLE, placeholder=" …")))
    return OutputRows(("design", "what"), rows)


def list_of_jobs() -> OutputRows:
    """Every training job of the standard library, and which file to use it from."""
    rows = []
    for path, _ in _stdlib_files("jobs"):
        text = path.read_text(encoding="utf-8")
        rows += [(name, title, f"use jobs.{path.stem} ({name})") for name, title in JOB.findall(text)]
    return OutputRows(("job", "what", "use"), rows)


# ---------------------------------------------------------------- parts


class CatalogueModelName(Text):
    """The name of a host or switch of the catalogue, as it is written there or nearly so."""

    name = "model"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Names of models."""
        from click.shell_completion import CompletionItem

        rows = [str(row[0]) for row in list_of_hardware().body if row[1] not in ("cable", "optic")]
        return [CompletionItem(n) for n in rows if n.lower().startswith(incomplete.lower())]


def _hardware_library() -> Library:
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.semantics.library import Library
    from tdsl.semantics.loader import Loader

    found = Diagnostics()
    return Library(Loader(found), found)


def _model_named(library: Library, word: str) -> DeviceModel:
    """The host or switch of the catalogue that a word names. Raises Wrong."""
    model = _catalogue_model(library, word)
    if model.kind in ("cable", "optic"):
        raise Wrong(
            f"{model.name} is a part ({model.kind}); --for and --to take a host or a switch, such as QM9700"
        )
    return model


def _catalogue_model(library: Library, word: str) -> DeviceModel:
    """The model of the catalogue that a word names. Raises Wrong."""
    from tdsl.findings.source import SourceFile, SourceSpan
    from tdsl.semantics.loader import ParsedFile
    from tdsl.syntax import tree

    plain = {n.replace("_", "").lower(): n for n in library.loader.catalogue()}
    spelt = re.sub(r"[_ -]", "", word).lower()
    file = SourceFile("", "")
    entry = library.entry(library.link(ParsedFile(file, (), Path(), "")), plain.get(spelt, ""))
    if entry is None or not isinstance(entry.node, tree.ModelDecl):
        near = closest_name(word, plain.values(), 0.5)
        advice = f"did you mean `{near}`?" if near else "`tdsl list hardware` lists all models"
        raise Wrong(f"there is no model {word!r} in the catalogue; {advice}")
    return library.build(entry, SourceSpan(file, 0, 0))


def list_of_parts(kind: str, one: str | None, other: str | None) -> OutputRows:
    """Cables or optics of the catalogue: all of them, those that fit a model, or those between two models."""
    from tdsl.fabric.part_facts import fact_values, lengths_of, optic_watts, stated_quantity
    from tdsl.findings.source import SourceFile
    from tdsl.semantics.loader import ParsedFile
    from tdsl.semantics.quantity import LENGTH, RATE, Quantity

    library = _hardware_library()
    everything = library.parts(library.link(ParsedFile(SourceFile("", ""), (), Path(), "")))

    def facts(part: DeviceModel) -> tuple[str, ...]:
        rate, reach = stated_quantity(part, "rate", RATE), stated_quantity(part, "reach", LENGTH)
        shown = (
            "" if rate is None else str(Quantity(rate, RATE)),
            "" if reach is None else str(Quantity(reach, LENGTH)),
        )
        if kind == "optics":
            watts = optic_watts(part)
            form = " ".join(map(str, fact_values(part, "form")))
            return (
                part.title,
                form,
                *shown,
                str(part.facts.get("fibre", "")),
                "" if watts is None else f"{float(watts):g}W",
            )
        lengths = ", ".join(f"{x / 1e6:g}" for x in sorted({*lengths_of(part)[0], *lengths_of(part)[1]}))
        return (
            part.title,
            str(part.facts.get("medium", "")),
            *shown,
            str(part.facts.get("legs", "")),
            lengths,
        )

    columns = {
        "cables": ("what", "medium", "rate", "reach", "legs", "lengths_m"),
        "optics": ("what", "form", "rate", "reach", "fibre", "power"),
    }[kind]
    if one is None:
        if other is not None:
            raise click.UsageError("--to needs --for: the two models that a cable is between")
        return OutputRows(
            (kind[:-1], *columns), [(p.name, *facts(p)) for p in everything if p.kind == kind[:-1]]
        )
    a, b = _model_named(library, one), None if other is None else _model_named(library, other)
    found = _fitting_parts(kind, everything, a, b)
    links: dict[tuple[str, str, str, str], list[str]] = {}  # the rates at which a part fits two ports
    for p, x, y, rate, needs in found:
        links.setdefault((p.name, x, y, needs), []).append(f"{rate / 1e9:g}Gbps")
    known = {p.name: facts(p) for p, *_ in found}
    rows = [
        (
            name,
            *known[name],
            f"{a.name}.{x}",
            f"{b.name}.{y}" if b is not None else "",
            ", ".join(rates),
            needs,
        )
        for (name, x, y, needs), rates in links.items()
    ]
    last = "other_end" if kind == "optics" else "optics"
    return OutputRows((kind[:-1], *columns, "from", "to", "link", last), rows)


def _fitting_parts(
    kind: str, parts: Sequence[DeviceModel], a: DeviceModel, b: DeviceModel | None
) -> list[tuple[DeviceModel, str, str, int, str]]:
    """The parts that fit a model, or that are between two: each with the ports at both ends, the rate in bits
    per second, and what is needed with it."""
    from tdsl.physical.fitting import cables_for, optics_for

    if kind == "optics":
        if b is None:
            found = [(f.part, f.a.name, "", f.rate, "") for f in optics_for(parts, a)]
        else:
            pairs = {(x.name, y.name): (x, y, f) for f in cables_for(parts, a, b) for x, y in f.optics}
            found = [(x, f.a.name, f.b.name if f.b else "", f.rate, y.name) for x, y, f in pairs.values()]
    else:
        fits = cables_for(parts, a, b)
        found = [
            (
                f.part,
                f.a.name,
                f.b.name if f.b else "",
                f.rate,
                ", ".join(sorted({f"{x.name}-{y.name}" for x, y in f.optics})),
            )
            for f in fits
        ]
    return found


def _stdlib_files(kind: str) -> list[tuple[Path, str]]:
    """Files of one part of the standard library, with the names they go by."""
    from tdsl.system import resources

    root = resources.packaged_folder("stdlib")
    return [(p, f"stdlib:{p.relative_to(root).as_posix()}") for p in sorted((root / kind).rglob("*.fab"))]


def _first_sentence(text: str, ends: str = "[.:;] ") -> str:
    """The first sentence of the comment that a text begins with, up to what ``ends`` it."""
    lines = re.match(r"(?:#[^\n]*\n)*", text)
    said = " ".join(line.lstrip("# ").strip() for line in lines[0].splitlines()) if lines else ""
    return re.split(ends, said)[0].removesuffix(".")


def list_of_cables() -> OutputRows:
    """Every cable of the catalogue."""
    return list_of_parts("cables", None, None)


def list_of_optics() -> OutputRows:
    """Every transceiver of the catalogue."""
    return list_of_parts("optics", None, None)


def models_of_catalogue() -> list[DeviceModel]:
    """Every model of the standard catalogue, by name."""
    library = _hardware_library()
    return [_catalogue_model(library, str(row[0])) for row in list_of_hardware().body]


def list_of_models() -> OutputRows:
    """Every model of the standard catalogue with its figures."""
    return rows_of_models(models_of_catalogue())


KINDS: Mapping[str, Callable[[], OutputRows]] = {
    "checks": list_of_checks,
    "codes": list_of_codes,
    "targets": list_of_targets,
    "hardware": list_of_hardware,
    "models": list_of_models,
    "topologies": list_of_topologies,
    "designs": list_of_designs,
    "jobs": list_of_jobs,
    "cables": list_of_cables,
    "optics": list_of_optics,
}


@click.command(
    "list",
    short_help="List designs, jobs, models, cables, optics, topologies, checks, targets or codes.",
    epilog="\b\nExamples:\n  tdsl list designs\n  tdsl list checks --output-format json\n"
    "  tdsl list cables --for QM9700 --to DGX_H100   (what fits between the two)\n  tdsl list optics "
    "--for SN5600\n  tdsl list models --missing power   (whose power nobody publishes, and where it was "
    "looked for)",
)
@click.argument("kind", type=click.Choice(list(KINDS)))
@click.option(
    "--for",
    "for_",
    type=CatalogueModelName(),
    metavar="MODEL",
    help="Of cables and optics: those that fit this model.",
    envvar="TDSL_LIST_FOR",
)
@click.option(
    "--to",
    type=CatalogueModelName(),
    metavar="MODEL",
    help="Of cables and optics: those between --for and this model.",
)
@click.option(
    "--missing",
    type=click.Choice(list(HAVE)),
    help="Of models: those without this figure, and the sources in which it was looked for.",
    envvar="TDSL_LIST_MISSING",
)
@format_option
@with_untrusted_option
def command(kind: str, output_format: str, for_: str | None, to: str | None, missing: str | None) -> None:
    """List the checks, codes of findings, targets, hardware models, cables, optics, topologies, designs or
    training jobs that there are. `models` are the hardware models with their power, latency, mass and
    airflow, and whether these are published, measured, derived, reported or estimated."""
    if missing is not None and kind != "models":
        raise click.UsageError("--missing is for `tdsl list models`")
    if kind in ("cables", "optics"):
        rows = list_of_parts(kind, for_, to)
        if not rows.body:
            said = f"between {for_} and {to}" if to else f"in a port of {for_}"
            raise Wrong(
                f"no part of the catalogue fits {said}: `tdsl explain {for_}` prints its cages and rates"
            )
    elif for_ is not None or to is not None:
        raise click.UsageError("--for and --to are for `tdsl list cables` and `tdsl list optics`")
    elif missing is not None:
        rows = rows_of_models_without(models_of_catalogue(), missing)
    else:
        rows = KINDS[kind]()
    if output_format == "json":
        print_json({kind: rows.records()})
    elif output_format == "csv":
        print_csv(rows)
    else:
        print_table(rows, wrapped=True)
