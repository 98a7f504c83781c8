"""The documentation as a site: every link resolves, every page is in the menu, and nothing is fetched when it is read."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.harness import none

ROOT = Path(__file__).parents[1]
SHIM = ROOT / "tests" / "npm" / "node_modules" / "iframe-worker"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not SHIM.is_dir():
        pytest.skip("`scripts/node-packages tests/npm` installs the script that the site's search needs")
    out = tmp_path_factory.mktemp("site")
    call = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)]
    done = subprocess.run(
        call, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_every_page_is_in_the_menu(site: Path) -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    none(sorted(p.name for p in (ROOT / "docs").glob("*.md") if f": {p.name}\n" not in menu))
    none(sorted(n for n in re.findall(r": ([\w-]+)\.md$", menu, re.MULTILINE) if not (site / f"{n}.html").is_file()))


def test_the_list_for_language_models(site: Path) -> None:
    """https://llmstxt.org: a title, a summary, sections of links. Every link is a page, and every page of docs/ is linked."""
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# tdsl\n\n> ")
    links = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)$", text, re.MULTILINE)
    none(sorted(link for link in links if not (site / link).is_file()))
    none(sorted(p.stem for p in (ROOT / "docs").glob("*.md") if f"{p.stem}.html" not in links))


def test_it_works_from_a_folder(site: Path) -> None:
    """No script, style, font or picture comes from elsewhere, and the search has its index as a script."""
    loads = re.compile(r"<(?:script|img|link|iframe)[^>]*(?:src|href)=\"(https?:[^\"]*)\"")
    none(sorted(f"{p.name}: {a}" for p in site.glob("*.html") for a in loads.findall(p.read_text(encoding="utf-8"))))
    assert (site / "search" / "search_index.js").is_file() and (site / "assets" / "iframe-worker.js").is_file()


def test_findings_and_checks_have_sections(site: Path) -> None:
    findings, checks = ((site / f"reference-{n}.html").read_text(encoding="utf-8") for n in ("findings", "checks"))
    none([p.stem for p in (ROOT / "tdsl" / "explain").glob("E*.md") if f'id="{p.stem.lower()}"' not in findings])
    assert 'id="bisection"' in checks and "```" not in findings + checks


def test_the_language_has_chapters(site: Path) -> None:
    """Each section of docs/language.md is in one of them; the overview, and the top of the file, lead to it."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / "docs" / "language.md").read_text(encoding="utf-8"), flags=re.M | re.S)
    sections = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^## (.+)$", text, re.M)]
    chapters = {p.name: p.read_text(encoding="utf-8") for p in site.glob("language-*.html")}
    where = {s: [name for name, page in chapters.items() if f'id="{s}"' in page] for s in sections}
    assert len(sections) > 25 and len(chapters) > 8
    none([f"{s}: {pages}" for s, pages in where.items() if len(pages) != 1])
    overview = (site / "language.html").read_text(encoding="utf-8")
    none([s for s, (page, *_) in where.items() if f'href="{page}#{s}"' not in overview and f'href="{page}"' not in overview])
    contents = text.partition("\n## ")[0]
    none([s for s in sections if f"](#{s})" not in contents])
    titles = re.findall(r"^- \*\*(.+?)\*\*: ", contents, re.M)
    assert len(titles) == len(chapters)
    none([title for title in titles if f">{title}</a>" not in overview])


def test_designs_are_coloured(site: Path) -> None:
    """By the lexer for Pygments: a keyword, a comment and a number in the design of the first page."""
    page = (site / "index.html").read_text(encoding="utf-8")
    assert re.search(r'<span class="kt">fabric</span>', page) and '<span class="c1"># 16 DGX' in page
    assert re.search(r'<span class="m">16</span>', page)


SEARCHED = {
    "breakout": "howto-breakouts",
    "install": "howto-install",
    "growth": "howto-growth",
    "failure": "howto-failures",
    "containerlab": "howto-containerlab",
    "netbox": "howto-from-spreadsheet",
    "waiver": "howto-waivers",
    "upgrade": "howto-upgrade",
    "exit status": "statuses",
    "emacs": "editor",
}
"""What people search, and the page that is to come first."""


def test_search_finds_tutorials_and_how_tos_first(site: Path) -> None:
    """By the site's own script, in node. Also a word of the reference finds a page that shows how to use it before its entry."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    (worker,) = (site / "assets" / "javascripts" / "workers").glob("search.*.min.js")
    call = [node, str(ROOT / "tests" / "site_search.js"), str(worker), str(site / "search" / "search_index.json")]
    done = subprocess.run([*call, *SEARCHED, "bisection", "rail"], capture_output=True, text=True, timeout=60, check=True)
    found = dict(json.loads(line) for line in done.stdout.splitlines())
    none([f"{q}: {found[q][:3]}" for q, page in SEARCHED.items() if not found[q][0].startswith(f"{page}.html")])
    none([f"{q}: {found[q][0]}" for q in ("bisection", "rail") if not found[q][0].startswith(("tutorial-", "howto-"))])


def test_each_example_opens_in_the_playground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the playground was made: the link holds the text of the block, and the files that it uses."""
    (tmp_path / "index.html").write_text("", encoding="utf-8")
    (tmp_path / "designs.json").write_text('[{"name": "ft2", "title": ""}]', encoding="utf-8")
    found = importlib.util.spec_from_file_location("site_playground", ROOT / "scripts" / "site_playground.py")
    assert found is not None and found.loader is not None
    hook = importlib.util.module_from_spec(found)
    found.loader.exec_module(hook)
    marked = re.compile(r"^```fab (?:check|fails \w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

    def pages() -> dict[str, str]:
        return {
            p.name: hook.on_page_markdown(p.read_text(encoding="utf-8"), SimpleNamespace(file=SimpleNamespace(src_uri=p.name)))
            for p in sorted((ROOT / "docs").glob("*.md"))
        }

    monkeypatch.setenv("TDSL_PLAYGROUND", str(tmp_path / "absent"))
    assert "playground/index.html" not in "".join(pages().values())
    monkeypatch.setenv("TDSL_PLAYGROUND", str(tmp_path))
    linked = pages()
    assert linked["gallery.md"].count("playground/index.html") == linked["gallery.md"].count("index.html#design=ft2") == 1
    for name, text in linked.items():
        opened = [
            json.loads(zlib.decompress(base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)), -15))
            for code in re.findall(r'href="playground/index\.html#code=([^"]+)"', text)
        ]
        assert [next(iter(files.values())) for files in opened] == [m[1] for m in marked.finditer(text)], name
        for files in opened:
            none(sorted(set(re.findall(r'^use "([^"]+)"', files["design.fab"], re.MULTILINE)) - set(files)))
