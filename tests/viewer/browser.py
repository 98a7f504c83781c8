"""A Chromium that shows page after page, driven over a pipe (https://chromedevtools.github.io/devtools-protocol): to start one,
or a tab of it, takes longer than most of what it is asked."""

from __future__ import annotations

import json
import os
import select
import subprocess
from pathlib import Path
from typing import Any

from tests.conftest import need_program

WAIT_S = 100


class Browser:
    """One tab, 1400 by 900 pixels. What pages store in it stays; ours store nothing."""

    def __init__(self, profile: Path) -> None:
        call = [
            need_program("chromium", "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
            "--window-size=1400,900", f"--user-data-dir={profile}",
        ]  # fmt: skip
        theirs_in, self.asks = os.pipe()
        self.answers, theirs_out = os.pipe()
        shell = ["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", *call]
        self.process = subprocess.Popen(shell, pass_fds=(theirs_in, theirs_out), stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.calls, self.read = 0, b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.tab = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable", self.tab)

    def _message(self) -> dict[str, Any]:
        """The next answer or event."""
        while b"\0" not in self.read:
            assert select.select([self.answers], [], [], WAIT_S)[0], f"no answer of the browser in {WAIT_S} s"
            more = os.read(self.answers, 1 << 20)
            assert more, "the browser has ended"
            self.read += more
        line, _, self.read = self.read.partition(b"\0")
        return dict(json.loads(line))

    def call(self, method: str, session: str = "", until: str = "", **given: Any) -> Any:
        """What a method answers, once the event ``until`` has come too."""
        self.calls += 1
        asked = {"id": self.calls, "method": method, "params": given} | ({"sessionId": session} if session else {})
        os.write(self.asks, json.dumps(asked).encode() + b"\0")
        answer, waits = None, bool(until)
        while answer is None or waits:
            told = self._message()
            waits = waits and not (told.get("method") == until and told.get("sessionId") == session)
            answer = told if told.get("id") == self.calls else answer
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def run(self, address: str, code: str) -> Any:
        """What the body of an asynchronous function returns that runs in a page once it is shown."""
        self.call("Page.navigate", self.tab, until="Page.loadEventFired", url=address)
        body = f"app.started.then(async () => {{ {code} }})"
        found = self.call("Runtime.evaluate", self.tab, expression=body, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"]["value"]

    def close(self) -> None:
        """End it: without its pipe it ends by itself."""
        os.close(self.asks)
        os.close(self.answers)
        self.process.wait(WAIT_S)
