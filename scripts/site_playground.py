"""Puts the playground beside the documentation, with a link under each example that opens it there. A hook of
mkdocs, to be named before ``site_pages.py``, which forgets what the blocks are marked as.

Only where ``make playground`` has made it, in build/playground or the folder that TDSL_PLAYGROUND names;
without, the pages are as before.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import zlib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```fab(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^## (\w+)$", re.MULTILINE)
GALLERY, HOMES = "gallery.md", ("index.md", "howto-playground.md")
HEAD = re.compile(r"\A(# [^\n]*\n)")


def playground_folder() -> Path | None:
    """Where the playground is; None if it was not made."""
    folder = Path(os.environ.get("TDSL_PLAYGROUND") or ROOT / "build" / "playground")
    return folder if (folder / "index.html").is_file() else None


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A link under each example: one that is checked or fails, with the files that blocks before it are, and
    in the gallery the design of the library. The home page links the playground itself."""
    folder = playground_folder()
    if folder is None:
        return markdown
    name = page.file.src_uri
    if name == GALLERY:
        return with_links_to_designs(markdown, folder)
    if name in HOMES:
        markdown = HEAD.sub(lambda m: f"{m[1]}\n{link_to_playground('', 'Open the playground')}\n", markdown)
    return with_links_to_examples(markdown)


def on_post_build(config: Any) -> None:
    """Copy the playground into the site."""
    folder = playground_folder()
    if folder is not None:
        shutil.copytree(folder, Path(config.site_dir) / "playground", dirs_exist_ok=True)


def with_links_to_examples(markdown: str) -> str:
    """The page with a link under each block that is marked ``check`` or ``fails``."""
    files: dict[str, str] = {}

    def linked(m: re.Match[str]) -> str:
        info = m["info"].split()
        if info[:1] == ["file"]:
            files[info[1]] = m["text"]
        if info[:1] not in (["check"], ["fails"]):
            return m[0]
        return f"{m[0]}\n\n{link_to_playground(fragment_of_files({'design.fab': m['text'], **files}))}\n"

    return FENCE.sub(linked, markdown)


def with_links_to_designs(markdown: str, folder: Path) -> str:
    """The gallery with a link under each design that the playground takes."""
    known = {one["name"] for one in json.loads((folder / "designs.json").read_text(encoding="utf-8"))}

    def linked(m: re.Match[str]) -> str:
        name = HEADING.findall(markdown, 0, m.start())[-1]
        return f"{m[0]}\n\n{link_to_playground(f'#design={name}')}\n" if name in known else m[0]

    return FENCE.sub(linked, markdown)


def fragment_of_files(files: dict[str, str]) -> str:
    """The part of an address that holds these files: base64url of deflate of JSON."""
    deflate = zlib.compressobj(9, wbits=-15)
    data = deflate.compress(json.dumps(files, ensure_ascii=False).encode("utf-8")) + deflate.flush()
    return "#code=" + base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def link_to_playground(fragment: str, words: str = "Open in the playground") -> str:
    """A paragraph of HTML; mkdocs looks for no page behind it."""
    return f'<p><a href="playground/index.html{fragment}">{words}</a></p>'
