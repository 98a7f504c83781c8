"""Measures the language server: the time to the first finding about a requirement, cold and after edits.

An editor opens `gpu131k`, a design of the library, with one requirement that is refuted and cheap to judge,
then edits the text: a comment, the requirement, whitespace; the requirement says another ratio each time, so
that an earlier finding that stays is not taken for a new one. Times are of the clock: from the message of the
editor (`didOpen` or `didChange`) to the `publishDiagnostics` that has the finding of the text as it is now,
and to the last one.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

ROOT = Path(__file__).parent.parent
QUIET_S = 1.5
"""So long without a message, after the last proof, ends a measurement."""


class Editor:
    """A language server and what it says; progress shows when a check has ended."""

    def __init__(self) -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tdsl", "lsp"], cwd=ROOT, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.heard = Queue[tuple[float, dict[str, Any]]]()
        Thread(target=self._listen, daemon=True).start()
        window = {"window": {"workDoneProgress": True}}
        self.say("initialize", {"processId": os.getpid(), "rootUri": None, "capabilities": window}, id=1)
        while self.heard.get()[1].get("id") != 1:
            pass
        self.say("initialized", {})

    def _listen(self) -> None:
        out = self.process.stdout
        assert out is not None
        while header := out.readline():
            if header.startswith(b"Content-Length: "):
                while out.readline().strip():
                    pass
                message = json.loads(out.read(int(header.partition(b":")[2])))
                if message.get("method") == "window/workDoneProgress/create":
                    self.say(None, None, id=message["id"], result=None)
                self.heard.put((time.perf_counter(), message))

    def say(self, method: str | None, params: object, **more: object) -> None:
        """Send a message."""
        body = json.dumps(
            {"jsonrpc": "2.0", **({"method": method, "params": params} if method else {}), **more}
        ).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def measure(
        self, act: Callable[[], None], wanted: Callable[[dict[str, Any]], bool]
    ) -> tuple[float, float]:
        """Seconds from an act to the first finding that is wanted, and to the last message of the check."""
        begin = time.perf_counter()
        act()
        first = last = float("nan")
        ended = False
        while True:
            try:
                at, message = self.heard.get(timeout=QUIET_S if ended else 120)
            except Empty:
                return first, last
            params = message.get("params") or {}
            if message.get("method") == "textDocument/publishDiagnostics":
                last = at - begin
                if first != first and any(wanted(d) for d in params["diagnostics"]):
                    first = at - begin
            ended = ended or (message.get("method") == "$/progress" and params["value"]["kind"] == "end")

    def close(self) -> None:
        """End the server."""
        self.process.kill()
        self.process.wait()


def session(design: str, folder: Path) -> dict[str, tuple[float, float]]:
    """The times of one session, by what is done: to the first wanted finding, and to the last message."""
    text = (ROOT / "stdlib" / "designs" / f"{design}.fab").read_text(encoding="utf-8")
    path = folder / f"{design}.fab"
    end = text.rstrip().rindex("}")
    line = "  require oversubscription <= {}:8\n"
    version = 0
    ratio = 1

    def now(ratio: int, body: str = text, at: int = end) -> str:
        return body[:at] + line.format(ratio) + body[at:]

    texts = {
        "open": now(1),
        "add a comment above": "# of eight planes\n" + now(5),
        "change the requirement": "# of eight planes\n" + now(2),
        "add a requirement": "# of eight planes\n"
        + now(2).replace(line.format(2), line.format(2) + line.format(3)),
        "indent a line": "# of eight planes\n" + now(4).replace("  plane plane", "   plane plane"),
    }
    ratios = {
        "open": 1,
        "add a comment above": 5,
        "change the requirement": 2,
        "add a requirement": 3,
        "indent a line": 4,
    }
    path.write_text(texts["open"], encoding="utf-8")
    editor, uri, found = Editor(), path.as_uri(), {}
    try:
        for act, new in texts.items():
            version += 1
            ratio = ratios[act]
            row = new[: new.index(line.format(ratio))].count("\n")

            def change(new: str = new, version: int = version) -> None:
                about = {"uri": uri, "version": version}
                if version == 1:
                    editor.say(
                        "textDocument/didOpen", {"textDocument": {**about, "languageId": "fab", "text": new}}
                    )
                else:
                    editor.say(
                        "textDocument/didChange", {"textDocument": about, "contentChanges": [{"text": new}]}
                    )

            def wanted(d: dict[str, Any], row: int = row, ratio: int = ratio) -> bool:
                return d["range"]["start"]["line"] == row and f"{ratio}:8" in d["message"]

            found[act] = editor.measure(change, wanted)
    finally:
        editor.close()
    return found


def records(rounds: int, quick: bool = False) -> list[dict[str, Any]]:
    """A record an act, for the first finding and for the last: seconds of the clock. The server's processor
    time is not known."""
    runs = []
    with TemporaryDirectory() as name:
        for _ in range(1 if quick else min(rounds, 3)):
            runs.append(session("dgx_superpod_h100" if quick else "gpu131k", Path(name)))
    out = []
    for act in runs[0]:
        for k, peer in enumerate(("first finding", "all proofs")):
            wall = [run[act][k] for run in runs]
            out.append({"part": "editor", "case": act, "peer": peer, "unit": "", "n": None,
                        "rounds": len(wall), "cpu_s": None,
                        "wall_s": statistics.median(wall), "wall_least": min(wall), "wall_most": max(wall),
                        "peak_mb": None})  # fmt: skip
    return out


if __name__ == "__main__":
    print(json.dumps(records(3), indent=1))
