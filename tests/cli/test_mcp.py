"""The server for assistants, asked by the package's own client over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import SMALL, write
from tests.lsp.test_server import children

INTENT = "fabric f {\n hosts 4 x DGX_H100\n rails 8\n rail_only { switch QM9700 }\n}"
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _package() -> None:
    """Imported by the tests alone: it takes a second, which each process that collects them would spend."""
    pytest.importorskip("mcp")


def asked(folder: Path, work: Callable[[Any], Awaitable[Any]]) -> Any:
    """What a client of the server gets."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    environment = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "TDSL_CHECK_OUTPUT": "by_the_environment.json"}
    program = StdioServerParameters(command=sys.executable, args=["-m", "tdsl", "mcp"], cwd=folder, env=environment)

    async def run() -> Any:
        async with Client(stdio_client(program)) as client:
            return await work(client)

    return asyncio.run(asyncio.wait_for(run(), 100))


async def call(client: Any, tool: str, **given: Any) -> tuple[bool, str]:
    done = await client.call_tool(tool, given)
    return done.is_error, done.content[0].text


def test_tools_and_resources(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, SMALL.replace("spread x 8", "spread x 4"), "less.fab")
    (tmp_path / "tdsl.toml").write_text("[check]\noutput = 'by_the_file.json'\n[severity]\nbisection = 'note'\n")
    before = sorted(tmp_path.iterdir())

    async def work(client: Any) -> None:
        tools = {t.name: t for t in (await client.list_tools()).tools}
        assert set(tools) == {"check", "expand", "explain", "show", "diff", "library"}
        assert all(t.annotations.read_only_hint and t.description for t in tools.values())

        failed, text = await call(client, "check", design="small.fab")
        assert not failed and json.loads(text)["designs"][0]["ok"]
        failed, text = await call(client, "check", design="small.fab", parameters={"nodes": "2"})
        assert json.loads(text)["designs"][0]["summary"]["hosts"] == 2
        failed, text = await call(client, "check", text=SMALL.replace("leaf[r]", "leef[r]"))
        assert not failed and json.loads(text)["designs"][0]["findings"][0]["code"] == "E0101"
        failed, text = await call(client, "expand", text=INTENT)
        assert not failed and "host host[4]: DGX_H100" in text
        assert "distributed evenly" in (await call(client, "explain", word="spread"))[1]
        assert (await call(client, "show", design="small.fab", what="devices"))[1].count("\n") == 15
        assert "32" in (await call(client, "diff", old="small.fab", new="less.fab"))[1]
        failed, text = await call(client, "library", kind="hardware", search="spectrum-4 switch")
        assert text.startswith("model,kind") and "SN5600" in text and "QM9700" not in text
        assert "MFP7E10" in (await call(client, "library", kind="cables", fits="QM9700", to="DGX_H100"))[1]

        pages = {str(r.uri) for r in (await client.list_resources()).resources}
        assert {"tdsl://docs/language", "tdsl://docs/glossary"} <= pages
        for uri, words in (("tdsl://docs/language", "# "), ("tdsl://explain/E0405", "E0405 oversubscription")):
            assert (await client.read_resource(uri)).contents[0].text.startswith(words)

    asked(tmp_path, work)
    assert sorted(tmp_path.iterdir()) == before, "it writes nothing"


def test_what_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "designs"
    folder.mkdir()
    write(tmp_path, name="outside.fab")
    write(folder, "use outside\nfabric f { }\n", "link.fab")
    (folder / "linked.fab").symlink_to(tmp_path / "outside.fab")

    async def work(client: Any) -> None:
        for tool, given, words in (
            ("check", {"design": "../outside.fab"}, "is outside the folder"),
            ("check", {"design": "/etc/passwd"}, "is outside the folder"),
            ("check", {"design": "linked.fab"}, "is outside the folder"),
            ("diff", {"old": "HEAD:../outside.fab", "new": "link.fab"}, "is outside the folder"),
            ("check", {"design": "--output=x"}, "is not a name"),
            ("check", {}, "give either `design`"),
            ("check", {"design": "absent.fab"}, "there is no file absent.fab"),
            ("explain", {"word": "--list"}, "is not a name"),
            ("explain", {"word": "spraed"}, "did you mean 'spread'?"),
            ("explain", {"word": "HGX_B300"}, "did you mean 'B300_HOST'?"),  # by its title, before names that are near
            ("show", {"design": "link.fab", "what": "--output"}, "is not a name"),
        ):
            failed, text = await call(client, tool, **given)
            assert failed and words in text, (tool, given, text)
        await answers_hostile_texts(client)

    asked(folder, work)


def test_what_is_no_message_gets_an_error(tmp_path: Path) -> None:
    """By JSON-RPC 2.0; what stands between goes on. A tdsl.toml that is refused ends the call, not the server. A client that
    closes its end gets the answer of the call that runs."""
    write(tmp_path)
    (tmp_path / "tdsl.toml").write_text("[check]\nfale-on = 'warning'\n")
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    ask = {"name": "check", "arguments": {"design": "small.fab"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "no json", "[1, 2]", "7", '{"jsonrpc": "2.0", "id": 5}', '{"id": 6, "method": "ping"}',
        '{"jsonrpc": "2.0", "id": ' + "9" * 5000 + ', "method": "ping"}', "[" * 100_000,
        '{"jsonrpc": "2.0", "id": 9007199254740992, "method": "ping"}', '{"jsonrpc": "2.0", "id": [], "method": "ping"}',
        '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "check", "arguments": {"text": "\\ud800"}}}',
        '{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', '{"jsonrpc": "2.0", "id": 8, "method": 3}',
        json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": ask}),
    ]  # fmt: skip
    sent = "\n".join(lines).encode() + b"\n" + b'{"jsonrpc": "2.0", "id": 10, "method": "\xff"}\n'
    environment = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    with subprocess.Popen(
        [sys.executable, "-m", "tdsl", "mcp"], cwd=tmp_path, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(sent)
        server.stdin.close()
        replies = [json.loads(server.stdout.readline()) for _ in range(len(lines))]
        assert server.wait(60) == 0
    errors = sorted((str(r["id"]), r["error"]["code"]) for r in replies if "error" in r)
    assert errors == sorted([("None", -32700)] * 4 + [("None", -32600)] * 5 + [(str(k), -32600) for k in (5, 6, 7, 8)])
    given = {r["id"]: r["result"] for r in replies if "result" in r}
    assert given.keys() == {1, 9} and given[9]["isError"]
    assert "tdsl.toml: `[check]`: there is no option `fale-on`" in given[9]["content"][0]["text"]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are listed under /proc")
def test_a_process_that_is_ended_is_no_end_of_the_server(tmp_path: Path) -> None:
    """Each call is answered in a process beside the server; where that is killed, the next call has another one."""
    write(tmp_path)

    async def work(client: Any) -> None:
        for _ in range(2):
            failed, text = await call(client, "expand", design="small.fab")
            assert not failed and "fabric small" in text
            ends = [p for server in children("self") for p in children(server)]
            assert ends
            for end in ends:
                os.kill(end, signal.SIGKILL)
            failed, text = await call(client, "expand", design="small.fab")
            assert not failed or "was ended" in text

    asked(tmp_path, work)


async def answers_hostile_texts(client: Any) -> None:
    """An answer or a refusal, and no fault of tdsl's own."""
    texts = ("\0", "\x1b[2J", "fabric f { let a = " + "9 ** " * 50 + "9 }", "{" * 100_000, "use a.b.c\n" * 1000)

    for text in texts:
        for tool, more in (("check", {}), ("expand", {}), ("show", {"what": "devices"})):
            _, said = await call(client, tool, text=text, **more)
            assert said and "internal error" not in said and "Traceback" not in said, (tool, text[:40])
