"""``tdsl mcp``: tdsl as tools for assistants, by the Model Context Protocol
(https://modelcontextprotocol.io). It reads designs below its folder and writes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._beside import SECONDS, Beside
from tdsl.commands._messages import serve_with_messages_judged
from tdsl.commands._shared import OK, Wrong
from tdsl.system.standard_output import release_descriptor_1

if TYPE_CHECKING:
    from mcp.server import MCPServer

BESIDE = Beside()
GRACE = 10.0
"""Seconds beyond those of a call after which a client that has closed its end is not answered any more."""
LONGEST = 200_000
"""Characters of an answer; what is longer is cut, and says so."""
INSTRUCTIONS = """\
tdsl is a language for the networks of AI clusters. A design (.fab) says which hosts \
and switches there are and \
how they are
connected; `check` proves what it requires. Write a design, give it to `check` as text, \
correct what the findings say, and repeat.
Read the resource tdsl://docs/language first; `explain` has the page of every finding, \
check, model and word of the language."""


@click.command(
    "mcp",
    short_help="Serve assistants by the Model Context Protocol: check, expand, explain, show, diff.",
    epilog="\b\nExample, in the configuration of an assistant, which runs `tdsl mcp`\n"
    "in the folder of the designs:\n"
    '  {"mcpServers": {"tdsl": {"command": "tdsl", "args": ["mcp"]}}}',
)
def command() -> int:
    """Serve an assistant over stdin and stdout: tools that check and explain designs, and the documentation
    as resources.

    It reads designs in this folder and below, and writes nothing. A call that takes more than two minutes is
    ended.
    """
    try:
        import mcp  # noqa: F401
    except ImportError:
        raise Wrong(
            "the server for assistants needs mcp: install tdsl with its extra, `pip install 'tdsl[mcp]'`"
        ) from None
    from mcp_types import jsonrpc_message_adapter

    release_descriptor_1()  # the server claims it, against prints in Python, too
    try:
        serve_with_messages_judged(
            lambda: assistant_server().run("stdio"),
            lambda line: jsonrpc_message_adapter.validate_json(line, by_name=False),
            SECONDS + GRACE,
        )
    finally:
        BESIDE.stop()
    return OK


def assistant_server() -> MCPServer[Any]:
    """The server with its tools and resources."""
    from mcp.server import MCPServer
    from mcp.types import ToolAnnotations

    from tdsl import __version__

    made: MCPServer[Any] = MCPServer(
        "tdsl", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR"
    )
    reads = ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    for tool in (check, expand, explain, show, diff, library):
        made.tool(annotations=reads, structured_output=False)(tool)
    _add_documentation_resources(made)
    return made


# ---------------------------------------------------------------- tools
def check(design: str = "", text: str = "", parameters: dict[str, str] | None = None) -> str:
    """Prove what a design requires and report what is wrong with it, as JSON: designs with results (status,
    value, witness), and findings (code, message, place, help, fix). Give `design` (a .fab file in the folder,
    or a design of the library such as dgx_superpod_h100) or `text` (the text of a design). `parameters` are
    values of its parameters."""
    return printed_by_call(
        "check",
        *_design_argument(design, text),
        *_parameter_arguments(parameters),
        "--output-format",
        "json",
        text=text,
    )


def expand(design: str = "", text: str = "", parameters: dict[str, str] | None = None) -> str:
    """The devices and connects that a design's intent (hosts, rails, clos …) describes, as a design; `design`
    or `text` as for check."""
    return printed_by_call(
        "expand", *_design_argument(design, text), *_parameter_arguments(parameters), text=text
    )


def explain(word: str) -> str:
    """The page of a finding's code (E0405), a check (oversubscription), a hardware model (SN5600), a topology
    (clos), a target (cabling) or a word of the language (spread)."""
    return printed_by_call("explain", _word_argument(word))


def show(
    what: str = "summary", design: str = "", text: str = "", parameters: dict[str, str] | None = None
) -> str:
    """What a design consists of, as CSV: `what` is summary, devices, ports, links, cables, metrics,
    addresses, places, racks or places; `design` or `text` as for check."""
    return printed_by_call(
        "show",
        *_design_argument(design, text),
        _word_argument(what),
        *_parameter_arguments(parameters),
        "--output-format",
        "csv",
        text=text,
    )


def diff(old: str, new: str) -> str:
    """What differs between two designs (files, or REVISION:FILE of the git repository): cables added, moved
    and removed, and figures before and after, in Markdown."""
    return printed_by_call(
        "diff", _file_inside_folder(old), _file_inside_folder(new), "--output-format", "markdown"
    )


def library(kind: str, search: str = "", fits: str = "", to: str = "") -> str:
    """Search the library, as CSV. `kind` is designs, hardware, cables, optics, topologies, targets, checks or
    codes; `search` are words that a row must contain. Of cables and optics `fits` and `to` name hosts or
    switches: those that fit between them."""
    options = [
        *(("--for", _word_argument(fits)) if fits else ()),
        *(("--to", _word_argument(to)) if to else ()),
    ]
    head, *rows = printed_by_call("list", _word_argument(kind), "--format", "csv", *options).splitlines(
        keepends=True
    ) or [""]
    return head + "".join(row for row in rows if all(w in row.lower() for w in search.lower().split()))


# ---------------------------------------------------------------- resources
def _add_documentation_resources(made: MCPServer[Any]) -> None:
    """The pages of the documentation, and those of `explain`."""
    from mcp.server.mcpserver.resources import FunctionResource

    for name, path in documentation_pages().items():
        title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        read = partial(path.read_text, encoding="utf-8")
        made.add_resource(
            FunctionResource(
                uri=f"tdsl://docs/{name}", name=name, title=title, mime_type="text/markdown", fn=read
            )
        )
    made.resource("tdsl://explain/{word}", mime_type="text/plain", description="A page of `tdsl explain`.")(
        explain
    )


def documentation_pages() -> Mapping[str, Path]:
    """The pages of the documentation, by name."""
    from tdsl.system import resources

    return {path.stem: path for path in sorted(resources.packaged_folder("docs").glob("*.md"))}


# ---------------------------------------------------------------- calls
def printed_by_call(*args: str, text: str = "") -> str:
    """What a call of tdsl prints, in a process of its own. Raises ToolError for a wrong call and one that
    takes too long."""
    answer = BESIDE.call(args, text)
    if answer.refused:
        raise _tool_error(answer.refused[:LONGEST])
    printed = answer.printed
    if len(printed) <= LONGEST:
        return printed
    return f"{printed[:LONGEST]}\n… {len(printed) - LONGEST:,} of {len(printed):,} characters are left out\n"


def _design_argument(design: str, text: str) -> Sequence[str]:
    """The argument that names a design."""
    if bool(design) == bool(text):
        raise _tool_error(
            "give either `design`, a file or a design of the library, or `text`, the text of a design"
        )
    return [_file_inside_folder(design) if design else "-"]


def _file_inside_folder(name: str) -> str:
    """A file or a revision of one, refused where it is outside the folder of the process."""
    place = os.path.realpath(name.rpartition(":")[2])
    if not place.startswith(os.path.join(os.path.realpath(os.getcwd()), "")):
        raise _tool_error(f"{name} is outside the folder {os.getcwd()}")
    return _word_argument(name)


def _word_argument(word: str) -> str:
    """An argument, which is no option."""
    if word.startswith("-") or not word:
        raise _tool_error(f"{word!r} is not a name")
    return word


def _tool_error(why: str) -> Exception:
    """The error that an assistant is shown as the answer of a tool."""
    from mcp.server.mcpserver.exceptions import ToolError

    return ToolError(why)


def _parameter_arguments(parameters: Mapping[str, str] | None) -> list[str]:
    return [
        x for name, value in (parameters or {}).items() for x in ("--set", f"{_word_argument(name)}={value}")
    ]
