"""What the language server offers while a text is typed and tells of its words, in the process and asked by a real client."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tdsl.compile import compiler
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.ide import colours, meaning
from tdsl.ide.complete import CompletionEntry, complete_word
from tdsl.ide.facts import Placed, device_sets_of_design
from tdsl.ide.known import KnownNames
from tdsl.syntax import tree
from tdsl.syntax.grammar import load_grammar_tables
from tdsl.syntax.parser import parse_source_file
from tests.harness import sampled
from tests.lsp.test_server import DESIGNS, Client, compiled, conversation
from tests.tables import sections, table


def marked(text: str, sets: tuple[Placed, ...] = (), folder: Path = DESIGNS) -> tuple[KnownNames, SourceFile, int]:
    """What is known of the names of a text, without the ``|`` in it, and where that is."""
    at = text.index("|")
    file = SourceFile("a.fab", text[:at] + text[at + 1 :])
    return KnownNames(file, parse_source_file(file, Diagnostics()).body, folder / "a.fab", {}, (), sets), file, at


def offered(text: str, sets: tuple[Placed, ...] = (), folder: Path = DESIGNS) -> dict[str, CompletionEntry]:
    """What is offered at the ``|`` of a text."""
    return {i.text: i for i in complete_word(*marked(text, sets, folder))[1]}


MODELS = sections(__file__)["models"]


@pytest.mark.parametrize(("text", "wanted", "unwanted"), table(__file__, "offered"))
def test_what_is_offered(text: str, wanted: str, unwanted: str) -> None:
    found = offered(MODELS + text).keys()
    assert not set(wanted.split()) - found
    assert not set(unwanted.split()) & found


def declared(body: tuple[tree.Stmt, ...]) -> Iterator[int]:
    """Where names stand that a text makes."""
    for s in body:
        if isinstance(s, tree.Decl | tree.ModelDecl | tree.TopologyDecl | tree.Let | tree.Param | tree.TierDecl | tree.Def):
            yield s.name.span.start
        yield from declared(getattr(s, "body", None) or () if not isinstance(s, tree.Def) else ())


@pytest.mark.parametrize("name", sampled(["dgx_superpod_h100", "superpod_cluster", "two_sites", "rail_only", "aws_p5"], 2))
def test_what_designs_say_is_offered(name: str) -> None:
    """Whatever a design of the library says is offered where it says it: all but names of its own making."""
    path = DESIGNS / f"{name}.fab"
    text = path.read_text()
    sets = tuple(p for d in compiler.compile_without_checks(str(path)).designs for p in device_sets_of_design(d))
    file = SourceFile(path.name, text)
    fresh = set(declared(parse_source_file(file, Diagnostics()).body))
    words = [t for t in load_grammar_tables().scanner.scan(file) if t.type == "NAME"]
    missing = []
    for t in words:
        own = t.start in fresh or len(t.text) == 1 or t.text in ("at", "most") or text[t.start - 6 : t.start] == "class "
        if not own and t.text not in offered(f"{text[: t.start]}|{text[t.end :]}", sets, path.parent):
            missing.append((text[t.start - 30 : t.start], t.text))
    assert len(words) > 20 and not missing


@conversation
async def test_completion_by_a_client(client: Client) -> None:
    async def ask(text: str, character: str = "", changed: bool = True) -> dict[str, lsp.CompletionItem]:
        if changed:
            client.change("a.fab", text.replace("|", ""))
        before = text[: text.index("|")]
        at = lsp.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)
        kind = lsp.CompletionTriggerKind.TriggerCharacter if character else lsp.CompletionTriggerKind.Invoked
        found = await client.text_document_completion_async(
            lsp.CompletionParams(client.document("a.fab"), at, lsp.CompletionContext(kind, character or None))
        )
        assert isinstance(found, lsp.CompletionList)
        return {i.label: i for i in found.items}

    client.write("a.fab", "")
    switch = (await ask("fabric f {\n  switch leaf[8]: QM|\n}\n"))["QM9700"]
    assert (switch.kind, switch.detail) == (lsp.CompletionItemKind.Class, "64 × 400G p, 1 × 1G mgmt, 1U")
    assert isinstance(switch.text_edit, lsp.TextEdit) and switch.text_edit.range.start == lsp.Position(1, 18)
    assert switch.documentation is not None
    assert (await ask("fabric f {\n  |\n}\n"))["connect"].kind == lsp.CompletionItemKind.Keyword
    assert not await ask("fabric f {\n  |\n}\n", " ")
    (client.folder / "b.fab").touch()  # an open text stands in the place of a file
    client.write("b.fab", "")
    assert "OURS" not in await ask("use b (OURS)\nfabric f { switch a[2]: | }\n")
    client.change("b.fab", "model switch OURS { port p[4]: 100Gbps }\n")
    assert "OURS" in await ask("use b (OURS)\nfabric f { switch a[2]: | }\n", changed=False)
    clos = "fabric f {\n  hosts 64 x DGX_H100\n  clos { leaf QM9700; spine QM9700 }\n|}\n"
    assert "spine" not in await ask(clos.replace("|", "  require survives any 1 of |"))
    client.change("a.fab", clos.replace("|", ""))
    await compiled(client)  # what the intent makes is known then
    spine = (await ask(clos.replace("|", "  require survives any 1 of |")))["spine"]
    assert spine.detail == "switch spine[8]: QM9700"


@pytest.mark.parametrize(("text", "said"), table(__file__, "means"))
def test_what_words_mean(text: str, said: str) -> None:
    meant = meaning.meaning_at_offset(*marked(MODELS + text))
    found = meaning.meaning_as_markdown(meant[1]) if meant is not None and meant[1] is not None else ""
    assert said in found if said else not found


@pytest.mark.parametrize(("text", "label", "active"), table(__file__, "signatures"))
def test_parameters_that_are_written(text: str, label: str, active: str) -> None:
    found = meaning.signature_at_offset(*marked(MODELS + text))
    assert (found is not None) == bool(label)
    if found is not None:
        start, end = found.parameters[found.active]
        assert found.label.startswith(label) and found.label[start:end] == active


def test_colours() -> None:
    """Whatever was typed so far, they do not overlap."""
    whole = (DESIGNS / "superpod_cluster.fab").read_text()
    for i in range(0, len(whole), 241):
        assert all(a.end <= b.start for a, b in pairwise(colours.colours_of_words(marked(f"{whole[:i]}|")[0])))
    text = 'use m (X as Y)\nfabric f "F" {\n  host host[2]: Y { role storage }\n'
    text += "  connect host[i].nic to host[(i)] where i < 1  # no\n}\n"
    known, _, _ = marked(f"{text}|")
    found = [(text[c.start : c.end], c.type) for c in colours.colours_of_words(known)]
    assert found == [
        ("use", "keyword"), ("m", "namespace"), ("X", "class"), ("as", "keyword"), ("Y", "class"),
        ("fabric", "keyword"), ("f", "namespace"), ('"F"', "string"),
        ("host", "keyword"), ("host", "variable"), ("2", "number"), ("Y", "class"),
        ("role", "property"), ("storage", "enumMember"),
        ("connect", "keyword"), ("host", "variable"), ("i", "variable"), ("nic", "property"), ("to", "keyword"),
        ("host", "variable"), ("i", "variable"), ("where", "keyword"), ("i", "variable"), ("<", "operator"), ("1", "number"),
        ("# no", "comment"),
    ]  # fmt: skip


@conversation
async def test_hovers_tokens_and_ratios_by_a_client(client: Client) -> None:
    text = (
        "# 🙂\nfabric f {\n  param n: int = 4 where 1 <= n <= 9\n  host node[n]: DGX_H100\n  switch leaf[8]: QM9700\n"
        "  switch spine: QM9700\n  connect node[k].nic[r] to leaf[r]\n  connect leaf[*] to spine spread x 1\n"
        "  require oversubscription <= 4:1\n}\n"
    )

    async def hover(line: int, column: int) -> str:
        at = lsp.HoverParams(client.document("a.fab"), lsp.Position(line, column))
        found = await client.text_document_hover_async(at)
        assert found is not None and isinstance(found.contents, lsp.MarkupContent)
        return found.contents.value

    client.write("a.fab", text)
    hints = [(h.position.line, h.label) for h in await compiled(client)]
    assert hints == [(3, "= 4"), (4, "= 8, 4:1")]  # 4 × 400G below each leaf, 1 × 400G above
    assert "(1.6Tbps below, 400Gbps above, leaf-spine)" in await hover(4, 10)
    assert "`n` is 4" in await hover(2, 8) and "it may be 1 to 9" in await hover(3, 12)
    assert "8 × QM9700" in await hover(6, 29)  # where it is used
    claim = await hover(8, 12)
    assert claim.startswith("`oversubscription <= 4:1` of f: **proved**, 4:1") and "tdsl explain" in claim
    found = await client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(client.document("a.fab")))
    assert found is not None
    assert list(found.data[:10]) == [0, 0, 4, colours.TYPES.index("comment"), 0, 1, 0, 6, 0, 0]  # units of UTF-16
    client.change("a.fab", text.replace("4 where", "max(2, ) where"))
    help = await client.text_document_signature_help_async(lsp.SignatureHelpParams(client.document("a.fab"), lsp.Position(2, 24)))
    assert help is not None and help.signatures[0].label == "max(a, b, …)" and help.active_parameter == 1
