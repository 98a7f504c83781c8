"""What the language server offers while a text is typed and tells of its words, in the process and asked by a real client."""

from __future__ import annotations

import asyncio
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
from tdsl.system import resources
from tests.lsp.test_server import DESIGNS, EVERYWHERE, WAIT_S, Client, talk


def offered(text: str, sets: tuple[Placed, ...] = (), folder: Path = DESIGNS) -> dict[str, CompletionEntry]:
    """What is offered at the ``|`` of a text."""
    at = text.index("|")
    file = SourceFile("a.fab", text[:at] + text[at + 1 :])
    known = KnownNames(file, parse_source_file(file, Diagnostics()).body, folder / "a.fab", {}, (), sets)
    return {i.text: i for i in complete_word(known, file, at)[1]}


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
        ("fabric f { param units: int = 2; let k = 3; phase 1 { |", "units needed", "k host let require"),
        ("fabric f { param units: int = 2; let k = 3; phase 1 { units |", "k min", "host needed"),
        ("fabric f { param units: int = 2; phase 1 { units 2; |", "units needed", "host"),
        ("fabric f { param units: int = 2; phase 1 { units 2 }; |", "phase require host", "needed"),
        (
            "param top: int = 1\ncluster c { param n: int = 2; fabric f { param m: int = 3 }; phase 1 { |",
            "n needed",
            "m top",
        ),
        ("topology t(e: ports, m: model, p: pattern = each) { switch s: |", "m LEAF", "p e"),
        ("topology t(e: ports, m: model, p: pattern = each) { switch s: m; connect |", "e s", "m p"),
        ("topology t(e: ports, m: model, p: pattern = each) { switch s: m; connect s[*] |", "p ring", "m"),
        ("use |", "nvidia", "host"),
        ("use nvidia.qm9700 (|", "QM9700", "host"),
        ("use designs.dgx_superpod_h100 (superpod)\nextend superpod {\n  connect |", "su spine", "host"),
        (
            "use designs.dgx_superpod_h100 (superpod)\nextend superpod {\n  connect su[0].|",
            "node leaf",
            "spine",
        ),
        ("fabric f { # |", "", "host"),
        ('fabric f "h|', "", "host"),
        ("fabric f { host a[4: |", "", "fabric"),
    ],
)
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


@pytest.mark.parametrize("name", ["dgx_superpod_h100", "superpod_cluster", "two_sites", "rail_only", "aws_p5"])
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


def test_every_prefix_is_answered() -> None:
    """Whatever was typed so far, words are offered, and what stands there is told, without a fault."""
    text = (DESIGNS / "superpod_cluster.fab").read_text() + (
        resources.packaged_folder("stdlib") / "topologies/dragonfly.fab"
    ).read_text()
    for i in range(0, len(text), 241):
        file = SourceFile("a.fab", text[:i])
        known = KnownNames(file, parse_source_file(file, Diagnostics()).body, DESIGNS / "a.fab", {}, ())
        start, items = complete_word(known, file, i)
        assert start <= i and all(item.text for item in items)
        found = meaning.meaning_at_offset(known, file, i)
        assert found is None or found[1] is None or meaning.meaning_as_markdown(found[1])
        signed = meaning.signature_at_offset(known, file, i)
        assert signed is None or signed.label
        assert all(a.end <= b.start for a, b in pairwise(colours.colours_of_words(known)))


def test_completion_by_a_client(tmp_path: Path) -> None:
    async def conversation(client: Client) -> None:
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
        assert (switch.kind, switch.detail) == (lsp.CompletionItemKind.Class, "64 × 400G, 1U")
        assert isinstance(switch.text_edit, lsp.TextEdit) and switch.text_edit.range.start == lsp.Position(1, 18)
        assert switch.documentation is not None
        assert (await ask("fabric f {\n  |\n}\n"))["connect"].kind == lsp.CompletionItemKind.Keyword
        assert not await ask("fabric f {\n  |\n}\n", " ")
        (tmp_path / "b.fab").touch()  # an open text stands in the place of a file
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

    assert talk(tmp_path, conversation) == []


async def compiled(client: Client, name: str = "a.fab") -> list[lsp.InlayHint]:
    """The hints of a file, once there are any."""
    async with asyncio.timeout(WAIT_S):
        params = lsp.InlayHintParams(client.document(name), EVERYWHERE)
        while not (hints := await client.text_document_inlay_hint_async(params)):
            await asyncio.sleep(0.1)
    return list(hints)


def meant(text: str) -> str:
    """What the word at the ``|`` of a text means, in Markdown."""
    at = text.index("|")
    file = SourceFile("a.fab", text[:at] + text[at + 1 :])
    found = meaning.meaning_at_offset(
        KnownNames(file, parse_source_file(file, Diagnostics()).body, DESIGNS / "a.fab", {}, ()), file, at
    )
    return meaning.meaning_as_markdown(found[1]) if found is not None and found[1] is not None else ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fabric f { switch a: QM|9700 }", "64 × 400G, NDR or NDR200, OSFP with 2 a cage, splits 2 ways"),
        ("fabric f { switch a: QM9|700 }", "height 1U, power 747W (at most 1.72kW)"),
        ("fabric f { switch a: LE|AF }", "Our own leaf."),
        ("fabric f { host n[4]: NODE; connect n[i].ni|c to n[i].nic }", "`nic`: 4 × 400G, NDR"),
        ("fabric f { host n[4]: NODE; connect |n[i].nic to n[i].nic }", "host n[4]: NODE"),
        ("fabric f { host n[4]: NODE; connect n[i].gp|u[0] to n[i].nic }", "`gpu`: 4 × H100"),
        (
            "model switch M { port p[4]: 800G|bps { type NDR } }",
            "800Gbit/s in each direction, 100GB/s\n\n`p`: 4 × 800G, NDR",
        ),
        ("model switch M { port p[4]: 8GB|/s { type NDR } }", "64Gbit/s in each direction, 8GB/s"),
        (
            "model switch M { port p[4]: 800|Gbps { sonic 8*i lanes 8 } }",
            "8 lanes of 100G at the switch chip",
        ),
        ("fabric f { param k: int = 4 where k < 9; switch a[k|]: LEAF }", "param k: int = 4 where k < 9"),
        ("fabric f { let k = mi|n(3, 4) }", "min(a, b, …)"),
        ("fabric f { hosts 4 x NODE; cl|os { leaf LEAF; spine LEAF } }", "A folded Clos network"),
        ("fabric f { hosts 4 x NODE; clos { le|af LEAF; spine LEAF } }", "leaf: model"),
        ("fabric f { require bisec|tion >= 1 }", "What can cross the worst cut into two halves"),
        ("fabric f { param k: int = 4 where k < 9; phase 2 { k| 8 } }", "param k: int = 4 where k < 9"),
        (
            'fabric f { param k: int = 4; phase 2 { k 8; nee|ded "2027-03-01" } }',
            "The day by which this phase is needed.",
        ),
        ("fabric f { let k = 4; phase 2 { k| 8 } }", ""),
        ("fabric f { ho|st n: NODE }", ""),
        ("fabric f { # QM9|700", ""),
        ("fabric f { length 3|m }", ""),
    ],
)
def test_what_words_mean(text: str, said: str) -> None:
    found = meant(MODELS + text)
    assert said in found if said else not found


@pytest.mark.parametrize(
    ("text", "label", "active"),
    [
        ("let k = gf_pow(9, |", "gf_pow(q, a, n)", "a"),
        ("let k = max(1, 2, 3, min(|", "min(a, b, …)", "a"),
        ("let k = max(1, 2, 3, 4, |", "max(a, b, …)", "…"),
        (
            "def half(n: int, by: int = 2): int = n // by\nlet k = half(8, |",
            "half(n: int, by: int = 2): int",
            "by: int = 2",
        ),
        (
            "fabric f { hosts 4 x NODE; rail_only { switch |",
            "rail_only(ends: ports, rails: int, switch: model)",
            "switch: model",
        ),
        ("let k = 2 * (3 + |", "", ""),
        ("use a (|", "", ""),
    ],
)
def test_parameters_that_are_written(text: str, label: str, active: str) -> None:
    at = (MODELS + text).index("|")
    file = SourceFile("a.fab", (MODELS + text).replace("|", ""))
    found = meaning.signature_at_offset(
        KnownNames(file, parse_source_file(file, Diagnostics()).body, DESIGNS / "a.fab", {}, ()), file, at
    )
    assert (found is not None) == bool(label)
    if found is not None:
        assert found.label.startswith(label)
        start, end = found.parameters[found.active]
        assert found.label[start:end] == active


def test_colours() -> None:
    text = 'use m (X as Y)\nfabric f "F" {\n  host host[2]: Y { role storage }\n'
    text += "  connect host[i].nic to host[(i)] where i < 1  # no\n}\n"
    file = SourceFile("a.fab", text)
    known = KnownNames(file, parse_source_file(file, Diagnostics()).body, DESIGNS / "a.fab", {}, ())
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


def test_hovers_tokens_and_ratios_by_a_client(tmp_path: Path) -> None:
    text = (
        "# 🙂\nfabric f {\n  param n: int = 4 where 1 <= n <= 9\n  host node[n]: DGX_H100\n  switch leaf[8]: QM9700\n"
        "  switch spine: QM9700\n  connect node[k].nic[r] to leaf[r]\n  connect leaf[*] to spine spread x 1\n"
        "  require oversubscription <= 4:1\n}\n"
    )

    async def conversation(client: Client) -> None:
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
        assert list(found.data[:10]) == [
            0,
            0,
            4,
            colours.TYPES.index("comment"),
            0,
            1,
            0,
            6,
            0,
            0,
        ]  # units of UTF-16
        client.change("a.fab", text.replace("4 where", "max(2, ) where"))
        help = await client.text_document_signature_help_async(
            lsp.SignatureHelpParams(client.document("a.fab"), lsp.Position(2, 24))
        )
        assert help is not None and help.signatures[0].label == "max(a, b, …)" and help.active_parameter == 1

    assert talk(tmp_path, conversation) == []
