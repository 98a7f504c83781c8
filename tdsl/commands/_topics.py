"""Pages of ``tdsl explain`` about models, topologies and designs of the library, targets, words of the
language and terms of the glossary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tdsl.commands._library_designs import library_design_files, library_design_path
from tdsl.commands.list import FABRIC, TOPOLOGY, _stdlib_files
from tdsl.semantics.model_figures import ModelFigures, both_ways_text, flops_text
from tdsl.semantics.quantity import POWER, TIME, Quantity
from tdsl.system.nouns import counted_noun
from tdsl.system.resources import packaged_folder
from tdsl.system.similar import without_separators

if TYPE_CHECKING:
    from tdsl.semantics.library import Library
    from tdsl.semantics.model import DeviceModel, PortClass
    from tdsl.syntax import tree

LISTED = 12
FACTS = ("height", "price", "hwsku", "platform")


def topic_page(word: str) -> str | None:
    """The page of a model, a topology, a target or a word of the language, in Markdown; None if there is
    none. Where a word is a topology and a statement, both."""
    pages = [
        page
        for page in (
            _model_topic(word) or _topology_topic(word) or _target_topic(word) or _design_topic(word),
            _word_topic(word),
        )
        if page
    ]
    return "\n".join(pages) or _glossary_topic(word)


def topic_names() -> list[str]:
    """Everything that has a page here."""
    from tdsl.explain import catalogue

    return [
        *_library_of_models().loader.catalogue(),
        *_topology_texts(),
        *_target_topic_names(),
        *library_design_files(),
        *catalogue.explained_words(),
        *(term for terms, _ in _glossary_entries() for term in terms),
    ]


# ---------------------------------------------------------------- models


def _library_of_models() -> Library:
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.semantics.library import Library
    from tdsl.semantics.loader import Loader

    found = Diagnostics()
    return Library(Loader(found), found)


def models_called_in_catalogue(word: str) -> list[str]:
    """Models of the catalogue whose title has all words of a name, one behind the other."""
    from tdsl.semantics.unknown_models import catalogue_kinds_and_titles, models_called

    heads = catalogue_kinds_and_titles(_library_of_models().loader.catalogue())
    return models_called(word, {name: title for name, (_, title) in heads.items()})


def _model_topic(word: str) -> str | None:
    from tdsl.findings.source import SourceFile, SourceSpan
    from tdsl.semantics.loader import ParsedFile
    from tdsl.syntax import tree

    library = _library_of_models()
    plain = {name.lower().replace("_", ""): name for name in library.loader.catalogue()}
    name = plain.get(word.lower().replace("_", "").replace("-", ""))
    if name is None:
        return None
    file = SourceFile("", "")
    entry = library.entry(library.link(ParsedFile(file, (), Path(), "")), name)
    if entry is None or not isinstance(entry.node, tree.ModelDecl):
        return None
    span = entry.node.span
    place = f"{span.file.name}:{span.begin[0]}"
    if entry.node.kind.name in ("cable", "optic"):
        return f"# {name}: {entry.node.kind.name}\n\nDeclared at {place}:\n\n```fab\n{span.text}\n```\n"
    return "\n".join(_device_topic_lines(library.build(entry, SourceSpan(file, 0, 0)), place)) + "\n"


def _device_topic_lines(model: DeviceModel, place: str) -> Iterator[str]:
    title = f", {model.title}" if model.title else ""
    yield f"# {model.name}: {model.kind}{title}\n"
    for c in model.classes:
        yield _port_class_topic_line(c)
    for chip in model.chips:
        bps = ModelFigures.of(chip.model).bps
        each = f", each {both_ways_text(bps)}" if bps else ""
        yield f"- {chip.kind} `{chip.name}`: {chip.size} x {chip.model.name}{each}"
    if model.accelerators and model.kind == "host":
        yield f"- {counted_noun(model.accelerators, 'accelerator')}"
    yield from _figure_topic_lines(model)
    for key in FACTS:
        if key in model.facts:
            value = model.facts[key]
            yield f"- {key}: {', '.join(map(str, value)) if isinstance(value, tuple) else value}"
    yield f"\nSource: {model.facts.get('source', 'not given')}"
    yield f"Declared at {place}; `tdsl list hardware` lists all models."


def _figure_topic_lines(model: DeviceModel) -> Iterator[str]:
    """The figures that are quoted of a device, and which of them nobody gives."""
    figures = ModelFigures.of(model)
    if figures.bps is not None:
        aside = f", without {', '.join(f'`{n}`' for n in figures.aside)}" if figures.aside else ""
        what = "switching capacity" if model.kind == "switch" else "all its ports"
        yield f"- {what}: {both_ways_text(figures.bps)}{aside}"
    watts = [] if figures.watts is None else [f"{Quantity(figures.watts, POWER)}"]
    watts += [] if figures.most_watts is None else [f"{Quantity(figures.most_watts, POWER)} at most"]
    yield f"- power: {', '.join(watts) or 'not given'}{_basis_in_brackets(model, 'power')}"
    yield from _latency_topic_line(model, figures)
    if model.kind == "chip" and model.accelerators:
        yield f"- FLOP/s, dense: {flops_text(figures) or 'not given'}"


def _basis_in_brackets(model: DeviceModel, figure: str) -> str:
    """What a figure is that is not simply published, or where one was looked for, behind it; else ""."""
    from tdsl.semantics.provenance import BASES, basis_of_figure, searched_by_model

    basis, searched = basis_of_figure(model, figure), searched_by_model(model, figure)
    if basis not in ("", BASES[0]):
        return f" ({basis})"
    return f"; looked for in: {searched}" if searched and not basis else ""


def _latency_topic_line(model: DeviceModel, figures: ModelFigures) -> Iterator[str]:
    """The latency of a device in one line, or that of a switch nobody gives it; no line for other devices."""
    if figures.seconds is not None:
        what = "from port to port" if model.kind == "switch" else "what it takes itself"
        yield f"- latency: {Quantity(figures.seconds, TIME)}, {what}"
    elif model.kind == "switch":
        yield f"- latency: not {'published in the source' if 'vendor' in model.facts else 'given'}"


def _port_class_topic_line(c: PortClass) -> str:
    """What is known of a class of ports, in one line."""
    rate = f"{c.rate / 1e9:g}Gbps" if c.rate else "any rate"
    cages = len({n for n in c.cages if n})
    facts = [f"{c.size} x {rate}", *([f"type {', '.join(c.types)}"] if c.types else [])]
    facts += [f"{cages} {c.form} cage{'s' if cages > 1 else ''}"] if cages else []
    ways = [n for n in c.splits if n > 1]
    facts += [f"splits into {' or '.join(map(str, ways))}"] if ways else []
    facts += [f"{c.sockets} sockets in a module"] if c.sockets > 1 else []
    known = [n for n in c.systems if n]
    facts += (
        [f"named {known[0]}" + (f" to {known[-1]}" if len(known) > 1 else "") + " by the system"]
        if known
        else []
    )
    return f"- port `{c.name}`: {'; '.join(facts)}"


# ---------------------------------------------------------------- topologies


def _topology_texts() -> dict[str, tuple[str, str]]:
    """Text and file of every topology of the library, by name."""
    out = {}
    for path, file in _stdlib_files("topologies"):
        text = path.read_text(encoding="utf-8")
        out.update(dict.fromkeys(TOPOLOGY.findall(text), (text, file)))
    return out


FROM_HOSTS = frozenset({"ends", "hosts", "per_host", "declared"})
"""Parameters of a topology that the declaration of the hosts gives."""


def _topology_topic(word: str) -> str | None:
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.findings.source import SourceFile
    from tdsl.syntax import tree
    from tdsl.syntax.parser import parse_source_file

    name = word.lower().replace("-", "_")
    text, file = _topology_texts().get(name, ("", ""))
    if not text:
        return None
    module = parse_source_file(SourceFile(file, text), Diagnostics())
    node = next(s for s in module.body if isinstance(s, tree.TopologyDecl) and s.name.name == name)
    lines = re.match(r"(?:#[^\n]*\n)*", text)[0].splitlines()  # type: ignore[index]  # it always matches
    comment = " ".join(line.lstrip("# ").strip() for line in lines)
    rows = _parameter_topic_lines(node)
    needed = [f.name.name for f in node.formals if f.default is None and f.name.name not in FROM_HOSTS]
    usage = f"{name} {{ {'; '.join(f'{n} …' for n in needed)} }}" if needed else f"{name} {{ }}"
    declared = f"Declared at {file}; `tdsl list topologies` lists all."
    return (
        "\n".join(
            [
                f"# {name}: topology\n",
                f"{comment}\n",
                "## Parameters\n",
                *rows,
                "",
                f"Use: `{usage}`",
                declared,
            ]
        )
        + "\n"
    )


def _parameter_topic_lines(node: tree.TopologyDecl) -> list[str]:
    """The parameters of a topology that a design gives, one a line."""
    rows = []
    for f in node.formals:
        if f.name.name in FROM_HOSTS:
            continue
        if f.type.name == "table" and f.default is not None:
            rows.append(f"- `{f.name.name}`: table, of rows `{f.default.span.text.strip(chr(34))}`")
            continue
        default = f"{f.default.span.text} if not given" if f.default is not None else "required"
        rows.append(f"- `{f.name.name}`: {f.type.name}, {default}")
    return rows


# ---------------------------------------------------------------- designs


def _listed_statements(module: tree.Module, kind: type[tree.Param | tree.Require]) -> list[str]:
    """A line for each statement of a kind that a file or one of its blocks has, without its comment."""
    body = [s for block in module.body for s in (block, *(getattr(block, "body", None) or ()))]
    return [f"- `{s.span.text.partition('#')[0].strip()}`" for s in body if isinstance(s, kind)]


def _design_topic(word: str) -> str | None:
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.findings.source import SourceFile
    from tdsl.syntax import tree
    from tdsl.syntax.parser import parse_source_file

    path = library_design_path(word)
    if path is None:
        return None
    text = path.read_text(encoding="utf-8")
    module = parse_source_file(SourceFile(path.name, text), Diagnostics())
    lines = re.match(r"(?:#[^\n]*\n)*", text)[0].splitlines()  # type: ignore[index]  # it always matches
    title = next((t for t in FABRIC.findall(text) if t), "")
    uses = [f"- {s.span.text}" for s in module.body if isinstance(s, tree.Use)]
    params, claims = _listed_statements(module, tree.Param), _listed_statements(module, tree.Require)
    parts = [f"# {path.stem}: design{f', {title}' if title else ''}\n"]
    parts += [" ".join(line.lstrip("# ").strip() for line in lines) + "\n"] if lines else []
    for heading, rows in (("Uses", uses), ("Parameters", params), ("Requires and reports", claims)):
        parts += [f"## {heading}\n", *rows, ""] if rows else []
    copy = f"`tdsl init my_pod --from {path.stem}` copies it into a file of yours."
    parts += [f"Use: `tdsl check {path.stem}`, `tdsl view {path.stem}`; {copy}"]
    parts += [f"Declared at stdlib:designs/{path.name}; `tdsl list designs` lists all."]
    return "\n".join(parts) + "\n"


# ---------------------------------------------------------------- terms of the glossary


def _glossary_entries() -> list[tuple[tuple[str, ...], str]]:
    """The terms of docs/glossary.md, each entry with its names and its text."""
    text = (packaged_folder("docs") / "glossary.md").read_text(encoding="utf-8")
    entries = re.findall(r"^\*\*([^*]+)\*\*:[ ]?(.*?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return [(tuple(re.split(r", | and ", terms)), " ".join(said.split())) for terms, said in entries]


def _glossary_topic(word: str) -> str | None:
    """The entry of the glossary about a term, in the singular or the plural."""
    wanted = {without_separators(word), without_separators(word).removesuffix("s")}
    for terms, said in _glossary_entries():
        elsewhere = re.fullmatch(r"see \*([^*]+)\*\.", said)
        if elsewhere is not None and wanted & {without_separators(term) for term in terms}:
            return _glossary_topic(elsewhere[1])
        if wanted & {without_separators(term) for term in terms}:
            return f"# {', '.join(terms)}: term\n\n{said}\n"
    return None


MOST_PAGES = 3
"""Pages of the documentation that are named where there is none about a word."""


def pages_that_say(word: str) -> list[str]:
    """The pages of the documentation in which a word of three letters or more occurs, those first that say it
    most."""
    if len(word) < 3:
        return []
    wanted = re.compile(rf"(?<!\w){re.escape(word)}s?(?!\w)", re.IGNORECASE)
    counts = [
        (len(wanted.findall(page.read_text(encoding="utf-8"))), page.name)
        for page in sorted(packaged_folder("docs").glob("*.md"))
    ]
    said = sorted((-many, name) for many, name in counts if many)
    return [f"docs/{name}" for _, name in said[:MOST_PAGES]]


# ---------------------------------------------------------------- words of the language


def _word_topic(word: str) -> str | None:
    from tdsl.explain import catalogue

    found = catalogue.explained_words().get(word.lower())
    if found is None:
        return None
    example = f"\n```fab\n{found.example}\n```\n" if found.example else ""
    return f"# {found.word}: {found.kind}\n\n{found.text}\n{example}"


# ---------------------------------------------------------------- targets


def _target_topic_names() -> list[str]:
    from tdsl.emit.target import targets_by_name
    from tdsl.findings.diagnostic import Diagnostics

    return list(targets_by_name(Diagnostics()))


def _target_topic(word: str) -> str | None:
    from tdsl.emit.choices import option_description_lines
    from tdsl.emit.target import targets_by_name
    from tdsl.findings.diagnostic import Diagnostics

    found = targets_by_name(Diagnostics()).get(word.lower())
    if found is None:
        return None
    files = [
        f"- `{f.path}`" + ("" if f.scope == "fabric" else f", one for each {f.scope}") for f in found.files
    ]
    needs = (
        f"\nIt needs: {', '.join(found.needs)}. Where the fabric lacks one, the target is skipped."
        if found.needs
        else ""
    )
    head = [
        f"# {found.name}: target of `tdsl build`\n",
        f"{found.title}, for {found.consumer}.\n",
        "## Files\n",
    ]
    options = option_description_lines(found.options, found.values)
    name = next(iter(found.options), "")
    how = (
        [
            f"\nGive them as `--option {found.name}.{name}=VALUE`, or below `[target.{found.name}]` in "
            "`tdsl.toml`."
        ]
        if name
        else []
    )
    table = ["\n## Options\n", *options, *how] if options else []
    return "\n".join([*head, *files, *table, needs, f"\nUse: `tdsl build FILE --target {found.name}`"]) + "\n"
