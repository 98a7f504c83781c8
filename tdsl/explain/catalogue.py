"""The pages of all findings: code, name, title and text.

A finding's page is ``explain/Exxxx.md``, which begins ``# E0101 unknown_name: Title in plain words``; the
page of a check is its docstring. Checks are imported only where no file has the page, since they bring numpy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tdsl.syntax.patterns import CONNECT_PATTERNS
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.similar import closest_name

FOLDER = Path(__file__).parent
HEAD = re.compile(r"# (E\d{4}) ([a-z][a-z0-9_]*): (.+)")

CHECK_FAMILIES = ("E02", "E04")


@dataclass(frozen=True, slots=True)
class Page:
    """What ``tdsl explain`` prints about a code. ``text`` is Markdown without the heading; ``is_check`` where
    it is a check's."""

    code: str
    name: str
    title: str
    text: str
    is_check: bool = False


def read_finding_page(path: Path) -> Page:
    """The page in a file. Raises ValueError where its first line is not as it must be."""
    first, _, rest = path.read_text(encoding="utf-8").partition("\n")
    head = HEAD.fullmatch(first.strip())
    if head is None or head[1] != path.stem:
        raise ValueError(
            f"{path.name}: its first line must read `# {path.stem} name_of_it: Title in plain words`"
        )
    return Page(head[1], head[2], head[3].rstrip("."), rest.strip() + "\n")


@cache
def page_of_code(code: str) -> Page | None:
    """The page of a code."""
    path = FOLDER / f"{code}.md"
    if re.fullmatch(r"E\d{4}", code) and path.is_file():
        return read_finding_page(path)
    if code.startswith(CHECK_FAMILIES):
        return next((p for p in check_pages_by_name().values() if p.code == code), None)
    return None


@cache
def check_pages_by_name() -> Mapping[str, Page]:
    """Pages of the checks by name, in order of their codes."""
    from tdsl.verify.check import checks_by_name

    out = {}
    for check in checks_by_name().values():
        out[check.name] = Page(check.code, check.name, check.wrong, check.page() + "\n", is_check=True)
    return out


def finding_pages() -> list[Page]:
    """All pages that are files, in order of their codes."""
    return [read_finding_page(path) for path in sorted(FOLDER.glob("E*.md"))]


def find_page(word: str) -> Page | None:
    """The page of a code in any case, of a check or of a finding's name."""
    if re.fullmatch(r"[Ee]\d{4}", word):
        return page_of_code(word.upper())
    name = word.lower().replace("-", "_")
    return next((p for p in finding_pages() if p.name == name), None) or check_pages_by_name().get(name)


def most_similar_code(word: str) -> str:
    """The code or name most like this word, "" if none is. Like a code is one of its family that differs in
    one digit."""
    pages = [*finding_pages(), *check_pages_by_name().values()]
    if re.fullmatch(r"[Ee][0-9]+", word):
        code = "E" + word[1:].lstrip("0").zfill(4)
        if any(p.code == code for p in pages):
            return code if code != word else ""
        last = [
            p.code
            for p in pages
            if p.code[:3] == code[:3] and (p.code[3] == code[3]) != (p.code[4:] == code[4:])
        ]
        return min(last, key=lambda c: (abs(int(c[3:]) - int(code[3:])), c), default="")
    return closest_name(word, [p.name for p in pages])


def page_address(page: Page) -> str:
    """Where the site that ``make site`` writes has a page: ``reference-findings.html#e0101``."""
    return (
        f"reference-checks.html#{page.name}"
        if page.is_check
        else f"reference-findings.html#{page.code.lower()}"
    )


def finding_name(code: str) -> str:
    """A finding's name, its code where it has no page."""
    found = page_of_code(code)
    return found.name if found else code


def finding_title(code: str) -> str:
    """A finding's title, "" where it has no page."""
    found = page_of_code(code)
    return found.title if found else ""


# ---------------------------------------------------------------- words of the language
@dataclass(frozen=True, slots=True)
class ExplainedWord:
    """A word of the language: what kind it is, what it means (Markdown), and an example, "" where it has
    none."""

    word: str
    kind: str
    text: str
    example: str


@cache
def explained_words() -> Mapping[str, ExplainedWord]:
    """The words of the language that have an explanation, from ``explain/words.md`` and the table of
    patterns. A section begins with ``# WORD (kind)``; its lines with ``> `` are the example."""
    out = {}
    for part in (FOLDER / "words.md").read_text(encoding="utf-8").split("\n# "):
        first, _, rest = part.removeprefix("# ").partition("\n")
        word, _, kind = first.partition(" ")
        lines = rest.strip().split("\n")
        text = " ".join(line for line in lines if not line.startswith("> "))
        out[word] = ExplainedWord(
            word, kind.strip("()"), text, "\n".join(line[2:] for line in lines if line.startswith("> "))
        )
    for p in CONNECT_PATTERNS.values():
        out[p.name] = ExplainedWord(p.name, "pattern of connect", p.meaning, p.example)
    return out
