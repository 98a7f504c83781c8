"""Definitions, references and renaming, asked by a real client over stdio."""

from __future__ import annotations

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tdsl.system import resources
from tests.lsp.test_server import Client, conversation
from tests.tables import sections, table

HOUSE, DESIGN, STAR, CLUSTER = (sections(__file__)[name] for name in ("house", "design", "star", "cluster"))


def place(text: str, mark: str, nth: int = 0) -> lsp.Position:
    """Where the ``|`` of a mark stands in a text that holds the mark without it."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(mark.replace("|", ""), at + 1)
    at += mark.index("|")
    line = text.count("\n", 0, at)
    return lsp.Position(line, at - (text.rfind("\n", 0, at) + 1))


def shown(location: lsp.Location) -> str:
    """``FILE:LINE:COLUMN``, counted from 1."""
    start = location.range.start
    return f"{location.uri.rsplit('/', 1)[-1]}:{start.line + 1}:{start.character + 1}"


class Folder:
    """A folder of three files, of which two are open."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.texts = {"house.fab": HOUSE, "a.fab": DESIGN, "star.fab": STAR}
        for name, text in self.texts.items():
            (client.folder / name).write_text(text)
            if name != "house.fab":
                client.write(name, text)

    def at(self, name: str, mark: str, nth: int = 0) -> lsp.TextDocumentPositionParams:
        return lsp.TextDocumentPositionParams(self.client.document(name), place(self.texts[name], mark, nth))

    async def definition(self, name: str, mark: str, nth: int = 0) -> list[str]:
        asked = self.at(name, mark, nth)
        found = await self.client.text_document_definition_async(lsp.DefinitionParams(asked.text_document, asked.position))
        assert isinstance(found, list)
        return [shown(x) for x in found if isinstance(x, lsp.Location)]

    async def references(self, name: str, mark: str, nth: int = 0, declared: bool = True) -> list[str]:
        asked = self.at(name, mark, nth)
        context = lsp.ReferenceContext(declared)
        params = lsp.ReferenceParams(context, asked.text_document, asked.position)
        return [shown(x) for x in await self.client.text_document_references_async(params) or []]

    async def prepare(self, name: str, mark: str) -> str:
        """The text that would be renamed, or why it cannot be."""
        asked = self.at(name, mark)
        try:
            found = await self.client.text_document_prepare_rename_async(
                lsp.PrepareRenameParams(asked.text_document, asked.position)
            )
        except JsonRpcException as refused:
            return f"refused: {refused.message}"
        assert isinstance(found, lsp.Range)
        line = self.texts[name].split("\n")[found.start.line]
        return line[found.start.character : found.end.character]

    async def rename(self, name: str, mark: str, new: str) -> dict[str, str] | str:
        """The changed texts, or why there are none."""
        asked = self.at(name, mark)
        try:
            edit = await self.client.text_document_rename_async(lsp.RenameParams(asked.text_document, asked.position, new))
        except JsonRpcException as refused:
            return refused.message
        assert edit is not None and edit.changes is not None
        out = {}
        for uri, edits in edit.changes.items():
            file = uri.rsplit("/", 1)[-1]
            lines = self.texts[file].split("\n")
            for e in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
                line = lines[e.range.start.line]
                lines[e.range.start.line] = line[: e.range.start.character] + e.new_text + line[e.range.end.character :]
            out[file] = "\n".join(lines)
        return out


@conversation
async def test_definitions(client: Client) -> None:
    folder = Folder(client)
    client.write("both.fab", folder.texts.setdefault("both.fab", CLUSTER))
    for name, mark, wanted in table(__file__, "where"):
        assert await folder.definition(name, mark) == wanted.split(), mark
    # A text that does not compile: a path half written, a name that stands nowhere, a statement that does not parse.
    half = folder.texts["a.fab"] = DESIGN.replace("to spine[*] each", "to spine[*").replace("<= 4", "<=")
    client.change("a.fab", half)
    assert await folder.definition("a.fab", "su[(k)].le|af") == ["a.fab:7:12"]
    assert await folder.definition("a.fab", "to sp|ine") == ["a.fab:10:10"]
    assert await folder.definition("a.fab", "leaf[2]: LE|AF") == ["house.fab:1:14"]


@conversation
async def test_references_and_highlights(client: Client) -> None:
    folder = Folder(client)
    assert await folder.references("a.fab", "leaf[|r] {") == ["a.fab:8:25", "a.fab:8:36", "a.fab:8:53"]
    everywhere = ["a.fab:1:25", "a.fab:6:19", "house.fab:5:12", "star.fab:1:12", "star.fab:3:13"]
    assert await folder.references("a.fab", "node[2]: B|OX") == everywhere
    assert await folder.references("star.fab", "x B|OX", declared=False) == [x for x in everywhere if "house" not in x]
    assert await folder.references("star.fab", "cen|tre[1]") == [
        "house.fab:9:10", "house.fab:10:25", "star.fab:5:8", "star.fab:6:20"
    ]  # fmt: skip
    asked = folder.at("a.fab", "su[(k)].le|af")
    marks = await client.text_document_document_highlight_async(lsp.DocumentHighlightParams(asked.text_document, asked.position))
    assert [(m.range.start.line + 1, m.kind == lsp.DocumentHighlightKind.Write) for m in marks or []] == [
        (7, True), (8, False), (12, False), (14, False), (15, False)
    ]  # fmt: skip


@conversation
async def test_renaming(client: Client) -> None:
    folder = Folder(client)
    assert await folder.prepare("a.fab", "su[(k)].le|af") == "leaf"
    assert await folder.rename("a.fab", "su[(k)].le|af", "tor") == {"a.fab": DESIGN.replace("leaf", "tor")}
    changed = await folder.rename("star.fab", "x B|OX", "NODE")
    assert changed == {
        "house.fab": HOUSE.replace("BOX", "NODE"),
        "a.fab": DESIGN.replace("BOX", "NODE"),
        "star.fab": STAR.replace("BOX", "NODE"),
    }
    # What is not saved counts: the text of the buffer, not of the disk.
    folder.texts["star.fab"] = "# moved\n" + STAR
    client.change("star.fab", folder.texts["star.fab"])
    changed = await folder.rename("star.fab", "ar|ms 2", "spokes")
    assert changed == {
        "house.fab": HOUSE.replace("arms", "spokes"),
        "star.fab": folder.texts["star.fab"].replace("arms", "spokes"),
    }
    changed = await folder.rename("a.fab", "TOR as LE|AF", "EDGE")
    assert changed == {"a.fab": DESIGN.replace("LEAF", "EDGE")}
    changed = await folder.rename("a.fab", "(TO|R as", "RACK")
    assert changed == {"a.fab": DESIGN.replace("TOR", "RACK"), "house.fab": HOUSE.replace("TOR", "RACK")}
    for name, mark, new, why in [
        ("a.fab", "leaf[|r] {", "n", "another meaning already, at line 8 of `a.fab`"),  # a param: no index variable any more
        ("a.fab", "su[(k)].le|af", "node", "another meaning already"),
        ("a.fab", "su[(k)].le|af", "9p", "is not a name"),
        ("a.fab", "su[(k)].le|af", "a b", "is not a name"),
        ("a.fab", "su[(k)].le|af", "", "is not a name"),
        ("star.fab", "star QM97|00", "X", "declared in stdlib:hardware/nvidia/qm9700.fab, the standard library"),
        ("star.fab", "h|osts 4", "X", "`host` is the name that `hosts` gives"),
        ("star.fab", "require por|ts", "X", "there is no name here"),
        ("a.fab", "{fab|ric}", "X", "predefined name"),
        ("star.fab", "use ho|use", "X", "name of a file"),
        ("star.fab", "ar|ms 2", "per_host", "fabrics fill `per_host`"),
    ]:
        found = await folder.rename(name, mark, new)
        assert isinstance(found, str) and why in found, (mark, new, found)
    assert "standard library" in await folder.prepare("star.fab", "star QM97|00")
    client.change("star.fab", STAR.replace("omit centre[1]", "omit centre[1"))
    both = folder.texts["both.fab"] = CLUSTER
    client.write("both.fab", both)
    found = await folder.rename("both.fab", "switch ac|cess", "node")  # the cluster would lend its `node` as well
    assert isinstance(found, str) and "another meaning already" in found
    assert await folder.rename("both.fab", "switch ac|cess", "edge") == {"both.fab": both.replace("access", "edge")}
    # `star.fab` has a `centre` too, but uses nothing of `a.fab`: that it does not parse is not a matter.
    assert await folder.rename("a.fab", "su[(k)].le|af", "centre") == {"a.fab": DESIGN.replace("leaf", "centre")}
    found = await folder.rename("a.fab", "node[2]: B|OX", "NODE")
    assert found == "`star.fab` has a fault of syntax at line 5, so what it means by `BOX` is not known: fix it first"


@conversation
async def test_a_file_of_the_library_needs_no_fabric(client: Client) -> None:
    for name in ("hardware/nvidia/qm9700", "topologies/clos", "cables/mfp7e10"):
        path = resources.packaged_folder("stdlib") / f"{name}.fab"
        client.open(path.as_uri(), path.read_text())
        for _ in range(2):  # names, then everything
            assert await client.until(lambda codes: True) == []
    client.write("empty.fab", "cluster c { }\nmodel switch SW { port p: 1Gbps }\n")
    await client.until(lambda codes: codes == ["E0122"])
