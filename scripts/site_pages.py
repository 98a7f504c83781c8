"""Pages of the site that are made from the program: checks, findings, targets, the command line. A hook of
mkdocs.

``mkdocs build --strict -f mkdocs.yml`` runs it. Nothing is written into docs/.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[1]
SHIM = ROOT / "tests" / "npm" / "node_modules" / "iframe-worker" / "shim" / "index.js"
"""Lets a page opened from a folder search: browsers start no worker there. From npm, by
`scripts/node-packages tests/npm`."""
SHIM_ADDRESS = "https://unpkg.com/iframe-worker/shim"
CHAPTERS = (
    ("A first design", "language-values.md", "Files, values and units"),
    ("Devices, groups and extents", "language-devices.md", "Devices, groups and paths"),
    ("Connect", "language-links.md", "Connections, patterns and ports"),
    ("Models", "language-models.md", "Models and names"),
    ("Intent", "language-intent.md", "Intent, topologies and unknowns"),
    ("Clusters", "language-clusters.md", "Clusters and phases"),
    ("Addresses", "language-addresses.md", "Addresses, routing and RoCE"),
    ("Places", "language-places.md", "Halls, racks and trays"),
    ("Requirements", "language-requirements.md", "Requirements"),
    ("Limits", "language-limits.md", "Limits"),
)
"""Chapters of docs/language.md on the site: the section with which each begins, its file and its title."""
BOOST = (
    ("tutorial-", 1000.0),
    ("howto-", 1000.0),
    ("troubleshooting", 300.0),
    ("index", 100.0),
    ("gallery", 0.2),
    ("changelog", 0.2),
    ("performance", 0.3),
    ("records", 0.3),
    ("left-out", 0.3),
    ("architecture", 0.3),
    ("reference-", 0.5),
)
"""How much more a page counts in the search than others, by the begin of its name."""
LINKS = (
    (
        re.compile(r"\]\((?:\.\./)?tdsl/explain/(E\d{4})\.md\)"),
        lambda m: f"](reference-findings.md#{m[1].lower()})",
    ),
    (
        re.compile(r"\]\((?:\.\./)*(?:targets/)?(\w+)/README\.md\)"),
        lambda m: f"](reference-targets.md#{m[1]})",
    ),
    (re.compile(r"\]\((?:\.\./)?README\.md\)"), lambda m: "](index.md#a-design)"),
    (re.compile(r"\]\((?:\.\./)?CHANGELOG\.md\)"), lambda m: "](changelog.md)"),
    (re.compile(r"\]\((?:\.\./)?SECURITY\.md\)"), lambda m: "](reporting.md)"),
    (re.compile(r"\[([^\]]*)\]\((?:\.\./)?(?:LICENSE|CONTRIBUTING\.md)\)"), lambda m: m[1]),
    (re.compile(r"\]\(docs/([^)]*)\)"), lambda m: f"]({m[1]})"),
    (re.compile(r"\]\(fabric\.schema\.json\)"), lambda m: "](reference-json.md#fabricjson)"),
)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made."""
    from mkdocs.structure.files import File

    _register_lexer()
    for name, text in pages():
        files.append(File.generated(config, name, content=text))
    return files


def _register_lexer() -> None:
    """Have Pygments know .fab also where tdsl was installed before it had the entry point."""
    from pygments.lexers import LEXERS, find_lexer_class_by_name
    from pygments.util import ClassNotFound

    try:
        find_lexer_class_by_name("fab")
    except ClassNotFound:
        LEXERS["FabLexer"] = ("tdsl.ide.pygments_lexer", "tdsl design", ("fab",), ("*.fab",), ())


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to files beside docs/ lead to their pages of the site; of a code block only its language is
    kept."""
    name = page.file.src_uri
    boost = next((boost for begin, boost in BOOST if name.startswith(begin)), 1.0)
    page.meta.setdefault("search", {})["boost"] = boost
    if name == "language.md":
        markdown = language_overview()
    for pattern, put in LINKS:
        markdown = pattern.sub(put, markdown)
    markdown = re.sub(r"\]\(language\.md#([\w-]+)\)", lambda m: f"]({_chapter_of(m[1])}#{m[1]})", markdown)
    return re.sub(r"^```(\w+)[^\n]*$", lambda m: f"```{m[1]}", markdown, flags=re.MULTILINE)


@cache
def language_chapters() -> dict[str, str]:
    """The text of each chapter of docs/language.md, by file: its sections from the one with which it begins
    on."""
    text = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    files = {begin: (file, title) for begin, file, title in CHAPTERS}
    made: dict[str, str] = {}
    now = ""
    for part in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
        head = part.partition("\n")[0].removeprefix("## ")
        if head in files:
            now, title = files[head]
            made[now] = f"# {title}\n\n"
            part = part.partition("\n\n")[2] if head == title else part
        made[now] += part
    missing = {file for _, file, _ in CHAPTERS} - made.keys()
    if missing:
        raise ValueError(f"docs/language.md has no section with which {', '.join(sorted(missing))} begins")
    anchors = {anchor_of_heading(h): name for name, t in made.items() for h in headings_of_markdown(t)}
    for name, chapter in made.items():

        def elsewhere(m: re.Match[str], name: str = name) -> str:
            there = anchors.get(m[1], name)
            return m[0] if there == name else f"]({there}#{m[1]})"

        made[name] = re.sub(r"\]\(#([\w-]+)\)", elsewhere, chapter)
    return made


def headings_of_markdown(text: str) -> list[str]:
    """The headings, code blocks left out."""
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#+ (.+)$", plain, flags=re.MULTILINE)


def anchor_of_heading(heading: str) -> str:
    """The anchor of a heading, as GitHub and MkDocs make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _chapter_of(anchor: str) -> str:
    """The file of the chapter that has an anchor of docs/language.md."""
    for name, text in language_chapters().items():
        if anchor in map(anchor_of_heading, headings_of_markdown(text)):
            return name
    return "language.md"


def language_overview() -> str:
    """The first page of the language: what stands before the sections, and a table of chapters."""
    text = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    before = text.partition("\n- **")[0]
    rows = ["| chapter | sections |", "|---|---|"]
    for _, file, title in CHAPTERS:
        chapter = language_chapters()[file]
        heads = re.findall(r"^## (.+)$", chapter, re.M) or re.findall(r"^### (.+)$", chapter, re.M)
        shown = ", ".join(f"[{h}]({file}#{anchor_of_heading(h)})" for h in heads)
        rows.append(f"| [{title}]({file}) | {shown} |")
    return before + "\n\n" + "\n".join(rows) + "\n"


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The search of a page that is opened from a folder runs by a script of the site's own."""
    return output.replace(
        SHIM_ADDRESS, "assets/iframe-worker.js" if page.url.count("/") == 0 else "../assets/iframe-worker.js"
    )


def on_post_template(output: str, **_: Any) -> str:
    """The same for the page of addresses that lead nowhere."""
    return output.replace(SHIM_ADDRESS, "assets/iframe-worker.js")


def on_post_build(config: Any) -> None:
    """Put that script beside the pages."""
    shutil.copyfile(SHIM, Path(config.site_dir) / "assets" / "iframe-worker.js")
    for path in SCHEMAS:
        shutil.copyfile(path, Path(config.site_dir) / "assets" / path.name)
    (Path(config.site_dir) / "llms.txt").write_text("\n".join(index(config.nav)) + "\n", encoding="utf-8")


def pages() -> Iterator[tuple[str, str]]:
    """Each page that is made: its name and its text."""
    yield from language_chapters().items()
    yield "changelog.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    yield "reporting.md", (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    yield "reference-checks.md", "# Checks\n\n" + "\n".join(checks())
    yield "reference-findings.md", "# Findings\n\n" + "\n".join(findings())
    yield "reference-targets.md", "# Targets\n\n" + "\n".join(targets())
    yield "reference-json.md", "# JSON for programs\n\n" + "\n".join(documents())
    yield "reference-cli.md", "# The command line\n\n" + "\n".join(commands())


def index(nav: Any) -> Iterator[str]:
    """``llms.txt``, the list of pages for language models (https://llmstxt.org): a title, a summary, links by
    section."""
    yield "# tdsl"
    yield ""
    yield (
        "> A language and compiler for the networks of AI clusters: a design says which hosts and "
        "switches there are and how"
    )
    yield (
        "> they are connected; `tdsl check` proves what it requires, `tdsl build` writes cabling lists "
        "and configurations."
    )
    yield ""
    yield (
        "Assistants may call it by the Model Context Protocol: `tdsl mcp` serves check, expand, "
        "explain, show, diff, library."
    )
    alone: list[str] = []
    for entry in nav:
        ((section, pages),) = entry.items()
        if isinstance(pages, str):
            alone.append(f"- [{section}]({pages.removesuffix('.md')}.html)")
            continue
        yield f"\n## {section}\n"
        for page in pages:
            ((title, name),) = page.items()
            inner = [(title, name)] if isinstance(name, str) else [next(iter(p.items())) for p in name]
            yield from (f"- [{t}]({n.removesuffix('.md')}.html)" for t, n in inner)
    yield "\n## Optional\n"
    yield from alone


def deeper(text: str, by: int = 1) -> str:
    """Markdown whose headings are further down; code blocks are left alone."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        p if p.startswith("```") else re.sub(r"^#", "#" * (by + 1), p, flags=re.MULTILINE) for p in parts
    )


def checks() -> Iterator[str]:
    """A section for each check, as `tdsl explain` has it."""
    from tdsl.verify.check import checks_by_name

    for name, check in sorted(checks_by_name().items()):
        yield (f"## {name} {{#{name}}}\n\n{check.code}: {check.wrong}.\n\n{deeper(check.page())}\n")


def findings() -> Iterator[str]:
    """A section for each code that is no check's."""
    from tdsl.explain import catalogue

    for page in catalogue.finding_pages():
        yield (
            f"## {page.code} {page.title} {{#{page.code.lower()}}}\n\nName: "
            f"`{page.name}`.\n\n{deeper(page.text, 2)}\n"
        )


def targets() -> Iterator[str]:
    """A section for each target: its README."""
    for folder in sorted((ROOT / "targets").iterdir()):
        manifest = tomllib.loads((folder / "target.toml").read_text(encoding="utf-8"))
        _, _, text = (folder / "README.md").read_text(encoding="utf-8").partition("\n")
        yield f"## {folder.name}: {manifest['title']} {{#{folder.name}}}\n{deeper(text)}\n"


SCHEMAS = (ROOT / "tdsl" / "report" / "check.schema.json", ROOT / "targets" / "json" / "fabric.schema.json")


def documents() -> Iterator[str]:
    """A section for each schema: a table of keys for each kind of object, and the schema itself as a file."""
    yield (
        "What programs read from tdsl, as JSON Schema. Keys are only added; a change of meaning raises "
        "`schema`.\n"
    )
    for path in SCHEMAS:
        schema = json.loads(path.read_text(encoding="utf-8"))
        title = "tdsl check --output-format json" if path.name.startswith("check") else "fabric.json"
        yield f"## {title}\n\n[{path.name}](assets/{path.name}) is the schema.\n"
        yield from keys(schema, "The document")
        for name, part in schema["$defs"].items():
            yield from keys(part, f"`{name}`")


def keys(schema: dict[str, Any], name: str) -> Iterator[str]:
    """A table of the keys of an object and of those inside it."""
    yield f"### {name}\n\n{schema.get('description', '')}\n\n| key | type | meaning |\n|---|---|---|"

    def rows(part: dict[str, Any], before: str) -> Iterator[str]:
        for key, value in part.get("properties", {}).items():
            kind = value.get(
                "type", "one of a list" if "enum" in value else "number" if "const" in value else "any"
            )
            words = " or ".join(kind) if isinstance(kind, list) else kind
            inner, many = (value["items"], "[]") if "items" in value else (value, "")
            reference = inner.get("$ref", "").rpartition("/")[2]
            means = value.get("description", "") or ", ".join(
                f"`{x}`" for x in value.get("enum", ()) if isinstance(x, str)
            )
            more = f"each as `{reference}` below" if reference else ""
            columns = value.get("properties", {}).get("columns", {}).get("enum") or [
                value.get("properties", {}).get("columns", {}).get("const")
            ]
            if columns[-1]:
                more = "table with the columns " + ", ".join(f"`{c}`" for c in max(columns, key=len))
                inner = {}
            optional = "" if key in part.get("required", ()) else " (may be absent)"
            yield f"| `{before}{key}`{optional} | {words} | {'; '.join(x for x in (means, more) if x)} |"
            yield from rows(inner, f"{before}{key}{many}.")

    yield from rows(schema, "")
    yield ""


def commands() -> Iterator[str]:
    """A section for each command: its help as it is printed."""
    from tdsl.cli import cli

    top = click.Context(cli, info_name="tdsl", max_content_width=100, terminal_width=100)
    yield f"```text\n{cli.get_help(top)}\n```\n"
    for name in cli.list_commands(top):
        command = cli.get_command(top, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=top, max_content_width=100, terminal_width=100)
        yield f"## tdsl {name} {{#{name}}}\n\n```text\n{command.get_help(inner)}\n```\n"
