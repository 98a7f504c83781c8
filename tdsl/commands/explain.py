"""``tdsl explain``: the page of a finding, a check, a model, a topology, a target or a word of the
language."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

from tdsl.commands._rows import print_table
from tdsl.commands._shared import Text, Wrong, write_to_stream
from tdsl.report.paint import output_width, wrap_text
from tdsl.system.similar import closest_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from tdsl.report.paint import Paint

ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+")


class TopicWord(Text):
    """A code, or the name of a finding, check, model, topology or target, or a word of the language."""

    name = "word"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Codes and names."""
        from click.shell_completion import CompletionItem

        from tdsl.explain import catalogue

        pages = [*catalogue.finding_pages(), *catalogue.check_pages_by_name().values()]
        from tdsl.commands._topics import topic_names

        words = [w for p in pages for w in (p.code, p.name) if w.startswith(incomplete)]
        words += [w for w in topic_names() if w.startswith(incomplete)]
        return [CompletionItem(w) for w in words]


@click.command(
    "explain",
    short_help="Explain a code, a check, a model, a design, a topology, a target or a term.",
    epilog="\b\nExamples:\n  tdsl explain E0101\n  tdsl explain oversubscription\n  tdsl explain SN5600   "
    "  (ports, rates)\n"
    "  tdsl explain spread     (a word of the language)\n  tdsl explain clos       (parameters of a "
    "topology)\n"
    "  tdsl explain cabling    (files of a target)\n"
    "  tdsl explain dgx_superpod_h100   (a design of the library)\n"
    "  tdsl explain ECMP       (a term of the glossary)\n"
    "  tdsl explain --list     (all codes)",
)
@click.argument("words", type=TopicWord(), metavar="WORD", nargs=-1)
@click.option("--list", is_flag=True, help="List all codes and checks, as `tdsl list codes` does.")
def command(words: tuple[str, ...], **given: bool) -> None:
    """Explain a code or a check, with an example and the fix; or a model of the catalogue, a design or a
    topology of the library, a target, a word of the language such as `spread`, or a term such as ECMP."""
    from tdsl.explain import catalogue
    from tdsl.report.paint import Paint, wants_colour

    paint = Paint(wants_colour(sys.stdout))
    if given["list"]:
        from tdsl.commands.list import list_of_codes

        print_table(list_of_codes(), wrapped=True)
        return
    word = " ".join(words)
    if not word:
        raise click.UsageError("name a code, check, model, topology or target; `--list` lists all codes")
    if re.fullmatch(r"[Ee]?[0-9]{3}|[0-9]{4}", word):
        word = f"E{word.lstrip('Ee').zfill(4)}"
    page = catalogue.find_page(word)
    if page is not None:
        write_to_stream(_page_as_text(f"{page.code} {page.name}: {page.title}", page.text, paint))
        return
    from tdsl.commands._topics import pages_that_say, topic_names, topic_page

    text = topic_page(word)
    if text is not None:
        head, _, rest = text.partition("\n")
        write_to_stream(_page_as_text(head.lstrip("# "), rest.lstrip("\n"), paint))
        return
    is_code = re.fullmatch(r"[Ee][0-9]{3,5}", word) is not None
    near = catalogue.most_similar_code(word) if is_code else _nearest_page_name(word, topic_names())
    pages = [] if is_code else pages_that_say(word)
    advice = f"did you mean {near!r}?" if near else "`tdsl explain --list` lists all codes"
    if pages:
        mean = f"; or did you mean {near!r}?" if near else ""
        advice = f"see {', '.join(pages)}{mean}"
    raise Wrong(f"there is no {'code' if is_code else 'page about'} {word!r}; {advice}")


def _nearest_page_name(word: str, names: list[str]) -> str:
    """The finding, check, model, topology or target whose name is nearest, a model that is called so before
    all others; "" if none is."""
    from tdsl.commands._topics import models_called_in_catalogue
    from tdsl.explain import catalogue

    if called := models_called_in_catalogue(word):
        return called[0]
    known = [
        *(p.name for p in (*catalogue.finding_pages(), *catalogue.check_pages_by_name().values())),
        *names,
    ]
    first = {n.lower(): n for n in reversed(known)}  # a term of the glossary may be a check, too
    return closest_name(word, first.values()) or catalogue.most_similar_code(word)


def _page_as_text(title: str, text: str, paint: Paint) -> str:
    """The page as text: Markdown, which reads well as it is, with headings made bold. On a terminal its
    paragraphs and lists fill the columns that there are."""
    width = output_width(sys.stdout) if sys.stdout.isatty() else 0
    out = [paint("bold", title), ""]
    prose: list[str] = []
    fenced = False
    for line in [*text.splitlines(), ""]:
        fence = line.startswith("```")
        if width and not fenced and not fence and line.strip() and line[0] not in "#|":
            prose.append(line)
            continue
        out += _flowed_prose(prose, width)
        prose = []
        fenced ^= fence
        if fenced and not fence:
            out.append(f"    {line}".rstrip())
        else:
            out.append(paint("dim" if fence else "bold", line) if fence or line.startswith("#") else line)
    return "\n".join(out[:-1]) + "\n"


def _flowed_prose(lines: list[str], width: int) -> list[str]:
    """Paragraphs and items of lists in lines that fit; what begins with blanks goes on as it is indented."""
    blocks: list[str] = []
    for line in lines:
        if blocks and not ITEM.match(line):
            blocks[-1] += f" {line.strip()}"
        else:
            blocks.append(line)
    out: list[str] = []
    for block in blocks:
        found = ITEM.match(block)
        lead = found[0] if found else ""
        first, *rest = wrap_text(block[len(lead) :], width - len(lead))
        out += [lead + first, *(" " * len(lead) + line for line in rest)]
    return out
