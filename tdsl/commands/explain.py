"""``tdsl explain``: the page of a finding or a check."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

from tdsl.commands._shared import Text, Wrong, say

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from tdsl.catalogue import Page
    from tdsl.report.paint import Paint


class Word(Text):
    """A code or the name of a finding."""

    name = "code|check"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Codes and names."""
        from click.shell_completion import CompletionItem

        from tdsl import catalogue

        pages = [*catalogue.files(), *catalogue.checks().values()]
        words = [w for p in pages for w in (p.code, p.name) if w.startswith(incomplete)]
        return [CompletionItem(w) for w in words]


@click.command(
    "explain",
    short_help="Explain a code or a check.",
    epilog="\b\nExamples:\n  tdsl explain E0101\n  tdsl explain oversubscription",
)
@click.argument("word", type=Word(), metavar="CODE|CHECK")
def command(word: str) -> None:
    """Explain a code or a check: what it means, an example, and what mends it."""
    from tdsl import catalogue
    from tdsl.report.paint import Paint, wants_colour

    page = catalogue.find(word)
    if page is None:
        near = catalogue.nearest(word)
        what = "code" if re.fullmatch(r"[Ee][0-9]{4}", word) else "page about"
        other = "; `tdsl list checks` lists the codes of checks, and every other finding shows its own" if what == "code" else ""
        raise Wrong(f"there is no {what} {word!r}" + (f"; did you mean {near!r}?" if near else other))
    say(_shown(page, Paint(wants_colour(sys.stdout))))


def _shown(page: Page, paint: Paint) -> str:
    """The page as text: Markdown, which reads well as it is, with headings made bold."""
    out = [paint("bold", f"{page.code} {page.name}: {page.title}"), ""]
    fenced = False
    for line in page.text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
            out.append(paint("dim", line))
        elif fenced:
            out.append(f"    {line}".rstrip())
        else:
            out.append(paint("bold", line) if line.startswith("#") else line)
    return "\n".join(out) + "\n"
