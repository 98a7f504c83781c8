"""The playground in headless Chromium: what it says of a design is what the command line says.

`make playground` fetches what it needs, once; without that, or without node or Chromium, these tests are skipped.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import tdsl
from tests.conftest import need_program
from tests.harness import none

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "build" / "playground"
PARTS = ROOT / "build" / "playground-parts"
SOURCES = ("tdsl", "grammar", "stdlib", "targets", "playground")
Browse = Callable[..., Any]
WRONG = """fabric pod {
  host node[4]: DGX_H100
  switch leaf[8]: QM970
  connect node[n].nic[r] to leaf[r]
  require reachability
}
"""
SOLVED = """fabric f {
  minimize power
  host node[32]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[?]: QM9700
  switch core[?]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 32
  connect spine[*] to core[*] spread x 8
}
"""
HELPERS = """
const button = (id) => { document.getElementById(id).click(); };
const answers = [];
document.addEventListener('answered', ({ detail }) => answers.push(detail));
const answered = async (command) => {
  while (!answers.includes(command)) await new Promise((go) => setTimeout(go, 20));
  answers.splice(answers.indexOf(command), 1);
};
const early = new Promise((give) => {
  const look = () => document.querySelector('.finding.error') && give([document.body.dataset.state, performance.now()]);
  new MutationObserver(look).observe(document.getElementById('findings'), { childList: true });
});
const report = async (name) => {
  state.files = { [`${name}.fab`]: await (await fetch(`designs/${name}.fab`)).text() };
  return (await askTdsl('check')).told.report;
};
"""


def is_stale() -> bool:
    """Whether a file of the sources is younger than the page."""
    made = (BUILT / "packages.bin").stat().st_mtime
    files = (p for name in SOURCES for p in (ROOT / name).rglob("*") if "node_modules" not in p.parts)
    return any(p.stat().st_mtime > made for p in files if p.is_file() and "__pycache__" not in p.parts)


@pytest.fixture(scope="session")
def site() -> Path:
    need_program("node", "nodejs")
    if not (BUILT / "packages.bin").is_file() or not list(PARTS.glob("numpy-*.whl")):
        pytest.skip("`make playground` makes the page that this test opens")
    if is_stale():
        done = subprocess.run([sys.executable, ROOT / "scripts" / "playground"], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"the playground cannot be made: {done.stderr[-500:]}")
    return BUILT


class Served(SimpleHTTPRequestHandler):
    """The folder as `python -m http.server` serves it, but that the page runs a script, too, which posts what it found."""

    script = ""
    found: str | None = None
    over = threading.Event()

    def do_GET(self) -> None:
        if self.path.partition("#")[0].partition("?")[0] != "/drive":
            return super().do_GET()
        page = (BUILT / "index.html").read_text(encoding="utf-8")
        data = page.replace("</body>", f"<script>{self.script}</script></body>").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        return None

    def do_POST(self) -> None:
        type(self).found = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.send_response(204)
        self.end_headers()
        self.over.set()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def browse(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browse]:
    """What a script returns that runs in the page; ``hash`` is the fragment of its address."""
    chromium = need_program("chromium", "chromium")
    profile = tmp_path_factory.mktemp("profile")

    def run(code: str, hash: str = "", seconds: int = 150) -> Any:
        class Handler(Served):
            script = (
                "(async () => {" + HELPERS + code + "})().then((out) => ({ out }), (e) => ({ fault: String(e.stack) }))"
                ".then((all) => fetch('/result', { method: 'POST', body: JSON.stringify(all) }));"
            )
            found = None
            over = threading.Event()

        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        call = [
            chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--window-size=1400,900", f"--user-data-dir={profile}",
            f"http://127.0.0.1:{server.server_port}/drive{hash}",
        ]  # fmt: skip
        browser = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert Handler.over.wait(seconds), "the page gave no answer"
        finally:
            browser.terminate()
            browser.wait(20)
            server.shutdown()
            server.server_close()
        assert Handler.found is not None
        told = json.loads(Handler.found)
        assert "fault" not in told, told["fault"]
        return told["out"]

    yield run
    shutil.rmtree(profile, ignore_errors=True)


def shared(files: dict[str, str]) -> str:
    """The fragment of an address that holds these files."""
    deflate = zlib.compressobj(wbits=-15)
    data = deflate.compress(json.dumps(files).encode()) + deflate.flush()
    return "#code=" + base64.urlsafe_b64encode(data).decode().rstrip("=")


def timeless(report: str) -> list[Any]:
    """The designs of a report, without times and folders."""
    designs = json.loads(report)["designs"]

    def clean(part: Any) -> Any:
        if isinstance(part, dict):
            return {k: clean(v) for k, v in part.items() if k != "elapsed_s"}
        if isinstance(part, list):
            return [clean(x) for x in part]
        return re.sub(r"\S*/stdlib/", "stdlib/", part) if isinstance(part, str) else part

    cleaned: list[Any] = clean(designs)
    return cleaned


@pytest.fixture(scope="module")
def found(browse: Browse) -> dict[str, Any]:
    """What one visit finds: an error is mended, each button is pressed, and further designs are opened."""
    told: dict[str, Any] = browse(
        """
        const out = {};
        const text = document.getElementById('text');
        const printed = () => document.getElementById('output').textContent;
        const missing = () => document.getElementById('missing').textContent;
        const open = async (name, content) => { state.files = { [name]: content }; await runCommand('check'); };
        out.early = await early;
        await answered('check');
        const finding = document.querySelector('.finding');
        out.finding = finding.textContent;
        out.number = document.querySelector('#numbers .error').textContent;
        out.lens = document.querySelector('.lens').textContent;
        out.marked = document.querySelector('#coloured mark').textContent;
        finding.querySelector('.fix').click();
        await answered('check');
        out.fixed = text.value;
        out.left = document.querySelectorAll('.finding.error').length;
        out.printed = printed();
        button('expand'); await answered('expand');
        out.expanded = printed();
        button('view'); await answered('view');
        out.drawn = (await (await fetch(document.getElementById('page').src)).text()).includes('class="pack"');
        text.value = 'fabric x{\\n host a[2]:DGX_H100\\n}';
        text.dispatchEvent(new Event('input'));
        button('fmt'); await answered('fmt');
        out.laid = text.value;
        const before = location.hash;
        button('share');
        while (location.hash === before) await new Promise((go) => setTimeout(go, 20));
        out.hash = location.hash;
        while (state.busy) await new Promise((go) => setTimeout(go, 20));
        await open('solved.fab', SOLVED); out.solved = missing();
        await open('big.fab', 'fabric big {\\n  host node[50000]: DGX_H100\\n}\\n'); out.big = missing();
        out.report = (await report('dragonfly'));
        return out;
        """.replace("SOLVED", json.dumps(SOLVED)),
        shared({"pod.fab": WRONG}),
    )
    return told


def test_an_error_is_at_its_line_with_its_fix(found: dict[str, Any], record_property: Callable[[str, object], None]) -> None:
    state, ms = found["early"]
    assert state == "text", "an error of the text waits for what only proofs need"
    record_property("first error, seconds of a first visit", round(ms / 1000, 1))
    assert "E0102" in found["finding"] and "QM9700" in found["finding"]
    assert (found["number"], found["marked"]) == ("3", "QM970") and found["lens"].strip().startswith("E0102: ")
    assert found["fixed"] == WRONG.replace("QM970", "QM9700") and found["left"] == 0
    assert re.search(r"proved +reachability", found["printed"])


def test_buttons_do_what_commands_do(found: dict[str, Any]) -> None:
    assert "fabric pod" in found["expanded"] and found["drawn"]
    assert found["laid"] == "fabric x {\n  host a[2]: DGX_H100\n}\n"
    assert json.loads(zlib.decompress(base64.urlsafe_b64decode(found["hash"][6:] + "=="), -15)) == {"pod.fab": found["laid"]}


def test_what_is_missing_says_so(found: dict[str, Any]) -> None:
    """Sizes that z3 finds, and designs larger than a browser takes."""
    assert "z3 does not run in the browser" in found["solved"] and "larger than the playground" in found["big"]


def difference_to_command_line(name: str, report: str | None, folder: Path) -> list[str]:
    """The name of a design of which the browser and the command line differ."""
    text = (ROOT / "stdlib" / "designs" / f"{name}.fab").read_text(encoding="utf-8")
    (folder / f"{name}.fab").write_text(text, encoding="utf-8")
    said = tdsl("check", folder / f"{name}.fab", "--no-cache", "--output-format", "json")
    same = report is not None and timeless(report) == timeless(said.stdout.replace(f"{folder}/", ""))
    return [] if same else [name]


def test_figures_are_those_of_the_command_line(found: dict[str, Any], tmp_path: Path) -> None:
    none(difference_to_command_line("dragonfly", found["report"], tmp_path))


@pytest.mark.daily
def test_figures_of_the_library_are_those_of_the_command_line(browse: Browse, site: Path, tmp_path: Path) -> None:
    names = [one["name"] for one in json.loads((site / "designs.json").read_text(encoding="utf-8"))]
    assert len(names) >= 20
    reports = browse(
        f"""
        await answered('check');
        const out = {{}};
        for (const name of {json.dumps(names)}) out[name] = await report(name);
        return out;
        """,
        seconds=540,
    )
    none([wrong for name in names for wrong in difference_to_command_line(name, reports[name], tmp_path)])
