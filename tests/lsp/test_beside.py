"""What editors show beside a text: lenses, links, selections, symbols of the workspace, waivers, snippets, words."""

from __future__ import annotations

import asyncio
import re
from itertools import pairwise
from pathlib import Path

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

from tdsl.findings.diagnostic import Diagnostic, Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.ide.extras import findings_moved_to_text
from tdsl.ide.snippets import INSIDE, TOP
from tdsl.syntax.parser import parse_source_file
from tests.harness import none
from tests.lsp.test_server import EVERYWHERE, SMALL, WAIT_S, Client, conversation

BASE = "model switch SW { port p[1..8]: 400Gbps }\nfabric pod {\n  switch leaf[2]: SW\n  connect leaf[*] each\n}\n"


async def lenses(client: Client, name: str) -> list[str]:
    async with asyncio.timeout(WAIT_S):
        while True:
            found = await client.text_document_code_lens_async(lsp.CodeLensParams(client.document(name)))
            if found:
                return [f"{x.range.start.line}: {x.command.title}" for x in found if x.command]
            await asyncio.sleep(0.1)


@conversation
async def test_lenses_links_and_symbols(client: Client) -> None:
    (client.folder / "base.fab").write_text(BASE)
    client.write("a.fab", "use base (SW)\n" + SMALL.replace("QM9700", "SW"))
    assert (await lenses(client, "a.fab"))[0].startswith("1: 4 hosts, 8 switches, 32 links")
    links = await client.text_document_document_link_async(lsp.DocumentLinkParams(client.document("a.fab")))
    assert [(x.range.start.character, x.range.end.character) for x in links or []] == [(4, 8)]
    assert links and links[0].target == client.uri("base.fab")
    found = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams("lea"))
    assert {(s.name, s.container_name) for s in found or []} == {("leaf", "f"), ("leaf", "pod")}
    assert not await client.workspace_symbol_async(lsp.WorkspaceSymbolParams("nothing_of_this_name"))


@conversation
async def test_selection_ranges_grow_from_the_word_to_the_file(client: Client) -> None:
    client.write("a.fab", SMALL)
    at = lsp.Position(3, 12)  # node
    (found,) = await client.text_document_selection_range_async(lsp.SelectionRangeParams(client.document("a.fab"), [at])) or []
    sizes, here = [], found
    while here is not None:
        assert here.range.start <= at <= here.range.end
        sizes.append((here.range.start, here.range.end))
        here = here.parent
    assert len(sizes) >= 4
    none(str(b) for a, b in pairwise(sizes) if not (b[0] <= a[0] and a[1] <= b[1] and a != b))
    assert sizes[-1][0] == lsp.Position(0, 0)


@conversation
async def test_waive_with_a_reason(client: Client) -> None:
    """The comment goes above the line; with it the finding is allowed. Errors of syntax and names have none."""
    text = SMALL.replace("}\n", "  switch idle: QM9700\n}\n")
    client.write("a.fab", text)
    found = await client.until(lambda codes: "E0404" in codes)
    (isolated,) = [d for d in found if d.code == "E0404"]
    actions = await client.text_document_code_action_async(
        lsp.CodeActionParams(client.document("a.fab"), isolated.range, lsp.CodeActionContext([]))
    )
    (waive,) = [a for a in actions or [] if isinstance(a, lsp.CodeAction) and a.title.startswith("waive `isolated`")]
    assert waive.edit is not None and waive.edit.changes is not None
    ((edit,),) = waive.edit.changes.values()
    lines = text.split("\n")
    lines.insert(edit.range.start.line, edit.new_text.rstrip("\n"))
    client.change("a.fab", "\n".join(lines))
    allowed: list[lsp.Diagnostic] = []
    while not allowed:
        waived = await client.until(lambda codes: "E0404" in codes)
        allowed = [d for d in waived if d.code == "E0404" and d.severity == lsp.DiagnosticSeverity.Hint]
    assert "state the reason here" in allowed[0].message


@conversation
async def test_codes_lead_to_their_pages(client: Client) -> None:
    """The page of a check is its docstring: it is written where an editor can open it."""
    client.write("a.fab", SMALL.replace("QM9700", "QM970"))
    (unknown,) = [d for d in await client.until(lambda codes: "E0102" in codes) if d.code == "E0102"]
    assert unknown.code_description is not None and unknown.code_description.href.endswith("/explain/E0102.md")
    client.change("a.fab", SMALL.replace("}\n", "  require oversubscription <= 1:9\n  switch idle: QM9700\n}\n"))
    for d in await client.until(lambda codes: {"E0404", "E0405"} <= set(codes)):
        assert d.code_description is not None, d
        path = to_fs_path(d.code_description.href)
        assert path is not None and Path(path).read_text().startswith(f"# {d.code} ")


@conversation
async def test_an_unknown_shows_its_value(client: Client) -> None:
    """At each `?`: of a `let`, of an extent, of a tier."""
    tail = "\n  host node[4]: DGX_H100\n  switch leaf[8]: QM9700\n  connect node[n].nic[r] to leaf[r]\n"
    tail += "  connect leaf[*] to spine[*] spread\n  require oversubscription <= 1:1\n}\n"
    lines = ("let spines = ?\n  switch spine[spines]: QM9700", "switch spine[?]: QM9700")
    texts = {f"fabric f {{\n  {line}{tail}": ["= 10"] for line in lines}
    tiers = "clos {\n    tier leaf of ? hosts { switch QM9700 }\n    tier spine of ? leaf { switch QM9700 }\n  }"
    texts[f"fabric f {{\n  hosts 64 x DGX_H100\n  rails 8\n  {tiers}\n}}\n"] = ["= 32", "= 2"]
    for number, (text, said) in enumerate(texts.items()):
        name = f"{number}.fab"
        client.write(name, text)
        ends = [(k, m.end()) for k, line in enumerate(text.split("\n")) for m in re.finditer(r"\?", line)]
        wanted = list(zip(ends, said, strict=True))
        async with asyncio.timeout(WAIT_S):
            found: list[tuple[tuple[int, int], str]] = []
            while not set(wanted) <= set(found):
                params = lsp.InlayHintParams(client.document(name), EVERYWHERE)
                hints = await client.text_document_inlay_hint_async(params)
                found = [((h.position.line, h.position.character), str(h.label)) for h in hints or []]
                assert not found or set(wanted) <= set(found), found
                await asyncio.sleep(0.1)


@conversation
async def test_a_change_of_one_range(client: Client) -> None:
    """Editors send what changed, not the whole text."""
    client.write("a.fab", SMALL)
    place = lsp.Range(lsp.Position(2, 18), lsp.Position(2, 24))
    part = lsp.TextDocumentContentChangePartial(place, "QM970")
    document = lsp.VersionedTextDocumentIdentifier(1, client.uri("a.fab"))
    client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [part]))
    found = await client.until(lambda codes: "E0102" in codes)
    assert [d.range.end for d in found if d.code == "E0102"] == [lsp.Position(2, 23)]


@conversation
async def test_what_was_proved_stays_until_it_is_proved_again(client: Client) -> None:
    text = SMALL.replace("}\n", "  require edge_redundancy >= 99\n}\n")
    client.write("a.fab", text)
    (first,) = [d for d in await client.until(lambda codes: bool(codes)) if d.severity == 1]
    assert await lenses(client, "a.fab") == ["0: 4 hosts, 8 switches, 32 links, bisection 100%, 1 requirement not met"]
    while not client.news.empty():
        client.news.get_nowait()
    client.change("a.fab", "# a line more\n" + text)
    moved = await client.until(lambda codes: True)
    again = [d for d in moved if d.code == first.code]
    assert [d.range.start.line for d in again] == [first.range.start.line + 1]


def test_findings_move_with_their_text() -> None:
    before, after = SourceFile("a", "one two three"), SourceFile("a", "one 2 three")
    found = [Diagnostic("E0404", "x", SourceSpan(before, a, b)) for a, b in ((0, 3), (4, 7), (8, 13))]
    assert [d.span.text for d in findings_moved_to_text(found, before, after) if d.span] == ["one", "three"]


@conversation
async def test_words_and_completion(client: Client) -> None:
    text = SMALL.replace("}\n", "  require throughput \n  require diameter \n  require bisection >= \n}\n")
    client.write("a.fab", text)
    hover = await client.text_document_hover_async(lsp.HoverParams(client.document("a.fab"), lsp.Position(3, 4)))
    assert hover is not None and isinstance(hover.contents, lsp.MarkupContent)
    assert hover.contents.value.startswith("**connect**, statement")
    for line, first in ((4, "all_to_all"), (5, "<="), (6, "100%")):
        place = lsp.Position(line, len(text.split("\n")[line]))
        found = await client.text_document_completion_async(lsp.CompletionParams(client.document("a.fab"), place))
        assert isinstance(found, lsp.CompletionList)
        assert first in [i.label for i in sorted(found.items, key=lambda i: i.sort_text or "")][:4], (line, first)


def test_every_snippet_is_a_statement() -> None:
    for word, text in (*TOP.items(), *((w, f"fabric f {{\n{t}\n}}") for w, t in INSIDE.items())):
        filled = re.sub(r"\$\d", "", re.sub(r"\$\{\d:((?:[^}\\]|\\.)*)\}", r"\1", text)).replace("\\}", "}")
        found = Diagnostics()
        parse_source_file(SourceFile("a.fab", filled + "\n"), found)
        assert not [d.message for d in found], (word, filled)
