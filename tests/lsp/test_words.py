"""What the language server offers while a text is typed and tells of its words, in the process and asked by a real client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tdsl import compiler, resources
from tdsl.diagnostic import Diagnostics
from tdsl.ide.complete import Item, complete
from tdsl.ide.judge import Placed, placed
from tdsl.ide.known import Known
from tdsl.source import SourceFile
from tdsl.syntax import tree
from tdsl.syntax.parser import parse
from tdsl.syntax.tables import load
from tests.lsp.test_server import DESIGNS, EVERYWHERE, WAIT_S, Client, talk


def offered(text: str, sets: tuple[Placed, ...] = (), folder: Path = DESIGNS) -> dict[str, Item]:
    """What is offered at the ``|`` of a text."""
    at = text.index("|")
    file = SourceFile("a.fab", text[:at] + text[at + 1 :])
    known = Known(file, parse(file, Diagnostics()).body, folder / "a.fab", {}, (), sets)
    return {i.text: i for i in complete(known, file, at)[1]}


MODELS = """
# Our own leaf.
model switch LEAF "A leaf" { port p[1..48]: 400Gbps { type NDR; cage 2 OSFP; split 2 }; port up[8]: 800Gbps; height 1U }
model host NODE { port nic[4]: 400Gbps { type NDR }; chip gpu[4]: H100 }
"""


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("|", "fabric cluster use model topology def let host", "port numa to else"),
        ("fabric f {\n  |", "host switch connect require hosts clos address", "port fabric use to"),
        ("fabric f {\n  connect a to b\n  |", "via where connect", ""),
        ("cluster c { |", "fabric host", "cluster use"),
        ("model |", "switch host cable", "fabric rack"),
        ("model switch M { |", "port height power source connect", "fabric require"),
        ("model switch M { port p: 400Gbps { |", "type cage split", "port host"),
        ("model switch M { port p: 400Gbps { type |", "NDR GE400", "host"),
        ("model switch M { port p: 4|", "Gbps GB/s", "m kW"),
        ("fabric f { switch a: LEAF; connect a to a { length 4|", "m km", "Gbps"),
        ("fabric f { switch a: LEAF; connect a to a { |", "rate class medium cable length", "host require"),
        ("fabric f { switch a: LEAF; connect a to a { medium |", "trace fibre dac", "host"),
        ("fabric f { switch a: LEAF; connect a to a { cable |", "MCP7Y00", "QM9700 LEAF"),
        ("fabric f { host a: NODE { role |", "storage manager", "host"),
        ("fabric f { switch a: LEAF { split |", "p", "up"),
        ("fabric f { host |", "", "host DGX_H100"),
        ("fabric f { host a[4]: |", "NODE DGX_H100", "LEAF QM9700 MCP7Y00"),
        ("fabric f { switch a[4]: |", "LEAF QM9700", "NODE"),
        ("fabric f { hosts 8 x |", "NODE DGX_H100", "LEAF"),
        ("fabric f { hosts 8 x NODE; clos { |", "leaf spine oversubscription tier", "ends host"),
        ("fabric f { hosts 8 x NODE; clos { spine |", "LEAF QM9700", "NODE"),
        ("fabric f { hosts 8 x NODE; clos { oversubscription |", "about", "host"),
        ("fabric f { host n[4]: NODE; connect n[i].|", "nic gpu", "p n"),
        ("fabric f { host n[4]: NODE; connect n[i].gpu[|", "i", "n"),
        ("fabric f { host n[4]: NODE; connect n[i].gpu[g].|", "nvlink", "nic"),
        ("fabric f { group g[2] { host n: NODE; switch s: LEAF }; connect g[*].|", "n s", "g nic"),
        ("fabric f { group g[2] { host n: NODE; switch s: LEAF; connect | }", "n s g", "require"),
        ("fabric f { switch a: LEAF; switch b: LEAF; connect a to b |", "spread each via where x", "a b"),
        ("fabric f { switch a: LEAF; switch b: LEAF; connect a |", "to spread", "a b"),
        ("fabric f { param k: int = 4 where |", "k min len", "host"),
        ("fabric f { param k: |", "int rate", "ports host"),
        ("fabric f { param k: int = 4; for t in 0..3 { let a = t + |", "k t min gf_pow", "host"),
        ("fabric f { require |", "bisection reachability oversubscription", "host"),
        ("fabric f { require bisection >= 1 and |", "diameter", "host"),
        ("fabric f { require bisection |", "of", "at under"),
        ("fabric f { require oversubscription |", "of at", "under"),
        ("fabric f { switch a: LEAF; require reachability of |", "a ports", "host"),
        ("topology t(e: ports, m: model, p: pattern = each) { switch s: |", "m LEAF", "p e"),
        ("topology t(e: ports, m: model, p: pattern = each) { switch s: m; connect |", "e s", "m p"),
        ("topology t(e: ports, m: model, p: pattern = each) { switch s: m; connect s[*] |", "p ring", "m"),
        ("use |", "nvidia", "host"),
        ("use nvidia.qm9700 (|", "QM9700", "host"),
        ("use designs.dgx_superpod_h100 (superpod)\nextend superpod {\n  connect |", "su spine", "host"),
        ("use designs.dgx_superpod_h100 (superpod)\nextend superpod {\n  connect su[0].|", "node leaf", "spine"),
        ("fabric f { # |", "", "host"),
        ('fabric f "h|', "", "host"),
        ("fabric f { host a[4: |", "", "fabric"),
    ],
)
def test_what_is_offered(text: str, wanted: str, unwanted: str) -> None:
    found = offered(MODELS + text).keys()
    assert not set(wanted.split()) - found
    assert not set(unwanted.split()) & found


def test_each_says_what_it_is() -> None:
    leaf = offered(MODELS + "fabric f { switch a: |")["LEAF"]
    assert (leaf.kind, leaf.detail) == ("model", "48 × 400G p, 8 × 800G up, 1U")
    assert "Our own leaf." in leaf.doc and "48 × 400G, NDR, OSFP with 2 a cage, splits 2 ways" in leaf.doc
    assert offered("fabric f { switch a: |")["QM9700"].detail == "64 × 400G, 1U"
    text = MODELS + "fabric f {\n  switch a[2]: LEAF  # both\n  param k: int = 4 where k < 9\n  connect a[i] to a[|"
    assert offered(text)["k"].detail == "param k: int = 4 where k < 9"
    device = offered(text.replace("a[|", "|"))["a"]
    assert (device.detail, device.doc) == ("switch a[2]: LEAF", "both")
    assert offered("fabric f {\n  |")["clos"].detail.startswith("clos(ends: ports, leaf: model, spine: model, oversub")
    assert offered("fabric f { require |")["links"].detail == "How many links there are"


def declared(body: tuple[tree.Stmt, ...]) -> Iterator[int]:
    """Where names stand that a text makes."""
    for s in body:
        if isinstance(s, tree.Decl | tree.ModelDecl | tree.TopologyDecl | tree.Let | tree.Param | tree.Tier | tree.Def):
            yield s.name.span.start
        yield from declared(getattr(s, "body", None) or () if not isinstance(s, tree.Def) else ())


@pytest.mark.parametrize("name", ["dgx_superpod_h100", "superpod_cluster", "two_sites", "rail_only", "aws_p5"])
def test_what_designs_say_is_offered(name: str) -> None:
    """Whatever a design of the library says is offered where it says it: all but names of its own making."""
    path = DESIGNS / f"{name}.fab"
    text = path.read_text()
    sets = tuple(p for d in compiler.elaborate(str(path)).designs for p in placed(d))
    file = SourceFile(path.name, text)
    fresh = set(declared(parse(file, Diagnostics()).body))
    words = [t for t in load().scanner.scan(file) if t.type == "NAME"]
    missing = []
    for t in words:
        own = t.start in fresh or len(t.text) == 1 or t.text in ("at", "most") or text[t.start - 6 : t.start] == "class "
        if not own and t.text not in offered(f"{text[: t.start]}|{text[t.end :]}", sets, path.parent):
            missing.append((text[t.start - 30 : t.start], t.text))
    assert len(words) > 20 and not missing


def test_every_prefix_is_answered() -> None:
    """Whatever was typed so far, what is offered is a list of words."""
    text = (DESIGNS / "superpod_cluster.fab").read_text() + (resources.folder("stdlib") / "topologies/dragonfly.fab").read_text()
    for i in range(0, len(text), 17):
        assert all(i.text for i in offered(text[:i] + "|").values())


def test_completion_by_a_client(tmp_path: Path) -> None:
    async def conversation(client: Client) -> None:
        async def ask(text: str, character: str = "") -> dict[str, lsp.CompletionItem]:
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
        client.write("b.fab", "model switch OURS { port p[4]: 100Gbps }\n")
        switch = (await ask("use b (OURS)\nfabric f {\n  switch leaf[8]: QM|\n}\n"))["QM9700"]
        assert (switch.kind, switch.detail) == (lsp.CompletionItemKind.Class, "64 × 400G, 1U")
        assert isinstance(switch.text_edit, lsp.TextEdit) and switch.text_edit.range.start == lsp.Position(2, 18)
        assert switch.documentation is not None
        assert "OURS" not in await ask("fabric f {\n  switch leaf[8]: |\n}\n")
        assert (await ask("fabric f {\n  |\n}\n"))["connect"].kind == lsp.CompletionItemKind.Keyword
        assert not await ask("fabric f {\n  |\n}\n", " ")
        clos = "fabric f {\n  hosts 64 x DGX_H100\n  clos { leaf QM9700; spine QM9700 }\n|}\n"
        assert "spine" not in await ask(clos.replace("|", "  require survives any 1 of |"))
        client.change("a.fab", clos.replace("|", ""))
        await compiled(client)  # what the intent makes is known then
        spine = (await ask(clos.replace("|", "  require survives any 1 of |")))["spine"]
        assert spine.detail == "switch spine[8]: QM9700"

    assert talk(tmp_path, conversation) == []


async def compiled(client: Client, name: str = "a.fab") -> list[lsp.InlayHint]:
    """The hints of a file, once there are any."""
    async with asyncio.timeout(WAIT_S):
        params = lsp.InlayHintParams(client.document(name), EVERYWHERE)
        while not (hints := await client.text_document_inlay_hint_async(params)):
            await asyncio.sleep(0.1)
    return list(hints)
