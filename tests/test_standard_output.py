"""Standard output is what tdsl writes, byte for byte, whatever a library prints: when it is loaded, when a solver is made (as
HiGHS 1.16.0 does), and while it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tdsl.report.formats import report_formats
from tests.tables import sections

ROOT = Path(__file__).parent.parent
DESIGN, NOISY, PROGRAM = (sections(__file__)[name] for name in ("design", "noisy", "program"))
"""A design whose figures need the solver, the solver's library, which prints, and a program."""


@pytest.fixture
def noisy(tmp_path: Path) -> dict[str, str]:
    """Variables by which a process gets the noisy library, and no answers of earlier calls."""
    (tmp_path / "noisy" / "highspy").mkdir(parents=True)
    (tmp_path / "noisy" / "highspy" / "__init__.py").write_text(NOISY)
    (tmp_path / "design.fab").write_text(DESIGN)
    paths = os.pathsep.join((str(tmp_path / "noisy"), str(ROOT)))
    return {**os.environ, "PYTHONPATH": paths, "NOISE": "is loaded, is made, runs", "TDSL_CHECK_NO_CACHE": "1"}


def called(folder: Path, env: dict[str, str], *args: str) -> bytes:
    """What a call of tdsl writes on standard output; the solver has printed, on standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "tdsl", *args], cwd=folder, env=env, capture_output=True, timeout=120, check=False
    )
    assert done.returncode in (0, 1) and b"HiGHS runs" in done.stderr, done.stderr
    return done.stdout


@pytest.mark.parametrize("format", ["full", "sarif"])  # JSON: the designs of the library below
def test_a_report_is_the_format_alone(format: str, tmp_path: Path, noisy: dict[str, str]) -> None:
    """It is, byte for byte, what the same call writes into a file."""
    assert (
        called(tmp_path, noisy, "check", "design.fab", "--output-format", format, "--report", f"{format}=file")
        == (tmp_path / "file").read_bytes()
    )


@pytest.mark.parametrize(
    "call", ["compare design.fab --vary more=1,2", "explore design.fab --vary more=1,2 --jobs 2", "show design.fab metrics"]
)
def test_other_commands_and_their_processes(call: str, tmp_path: Path, noisy: dict[str, str]) -> None:
    assert json.loads(called(tmp_path, noisy, *call.split(), "--output-format", "json"))


def test_designs_of_the_library_together(tmp_path: Path, noisy: dict[str, str]) -> None:
    """One compilation of each, and every format of it; those that take seconds are in `make soundness`."""
    reports = [word for name in report_formats() for word in ("--report", f"{name}={name}")]
    out = called(tmp_path, noisy, "check", "slim_fly_cscs", "ft2", "two_sites", "--output-format", "json", *reports)
    assert out == (tmp_path / "json").read_bytes() and len(json.loads(out)["designs"]) == 3
    assert not [name for name in report_formats() if b"HiGHS" in (tmp_path / name).read_bytes()]


def test_a_program_keeps_its_own_descriptor_1(tmp_path: Path, noisy: dict[str, str]) -> None:
    """What it prints stays; what the library prints while a solver is made does not get there."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env={**noisy, "NOISE": "is made"}, capture_output=True, check=True
    )
    assert (done.stdout, done.stderr) == (b"of this program, in a buffer of C\nf\nand directly\n", b"")


def rpc(method: str, params: object, number: int | None = None) -> bytes:
    """A message of JSON-RPC."""
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})).encode()


def test_an_editor_hears_the_protocol_alone(tmp_path: Path, noisy: dict[str, str]) -> None:
    """Nothing is between the messages once a design that needs the solver is judged."""
    document = {"uri": (tmp_path / "design.fab").as_uri(), "languageId": "fab", "version": 0, "text": DESIGN}
    said = [rpc("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1), rpc("initialized", {})]
    said.append(rpc("textDocument/didOpen", {"textDocument": document}))
    out, log = tmp_path / "out", tmp_path / "log"
    with out.open("wb") as stdout, log.open("wb") as stderr:
        line = [sys.executable, "-m", "tdsl", "lsp"]
        server = subprocess.Popen(line, cwd=tmp_path, env=noisy, stdin=subprocess.PIPE, stdout=stdout, stderr=stderr)
        assert server.stdin is not None
        for message in said:
            server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(message), message))
        server.stdin.flush()
        until = time.monotonic() + 120
        while b"HiGHS runs" not in log.read_bytes() and time.monotonic() < until:
            time.sleep(0.05)
        for message in (rpc("shutdown", None, 2), rpc("exit", None)):
            server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(message), message))
        server.stdin.close()
        assert server.wait(60) == 0 and b"HiGHS runs" in log.read_bytes()
    rest, heard = out.read_bytes(), []
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        assert head.startswith(b"Content-Length: "), head
        length = int(head.split(b"\r\n")[0].split()[1])
        heard.append(json.loads(rest[:length]))
        rest = rest[length:]
    assert {m["id"] for m in heard if "result" in m} == {1, 2}


def test_an_assistant_hears_the_protocol_alone(tmp_path: Path, noisy: dict[str, str]) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    said = [rpc("initialize", hello, 1), rpc("notifications/initialized", {})]
    said.append(rpc("tools/call", {"name": "check", "arguments": {"text": DESIGN}}, 2))
    with (tmp_path / "log").open("wb") as stderr:
        line = [sys.executable, "-m", "tdsl", "mcp"]
        server = subprocess.Popen(line, cwd=tmp_path, env=noisy, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(b"".join(message + b"\n" for message in said))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
        assert server.stdout.read() == b"" and server.wait(60) == 0
    assert "throughput" in answers[1]["result"]["content"][0]["text"] and b"HiGHS runs" in (tmp_path / "log").read_bytes()


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_streams_that_the_caller_has_closed(closed: str) -> None:
    done = subprocess.run(
        f"{sys.executable} -m tdsl version {closed}", shell=True, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.startswith("tdsl "), done.stderr) == (0, " >&-" not in f" {closed}", "")
