"""What a pipeline uses: the GitHub Action, the GitLab template and the hooks of pre-commit, each run as far as it can be here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from tdsl import __version__
from tests.changes.repository import commit
from tests.cli.run import SMALL, tdsl, write
from tests.harness import fabric_of
from tests.observe import captures
from tests.observe.plant import Cables
from tests.observe.test_chain import POD, ports

ROOT = Path(__file__).parent.parent.parent
WRONG = SMALL.replace("<= 1:1", "<= 1:9")


@pytest.fixture(autouse=True)
def _own_program(forked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps find this `tdsl` first, and then what is installed beside it."""
    monkeypatch.setenv("PATH", f"{forked.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}")


def run(call: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program beside this tdsl."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a step as a runner does."""
    return run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], folder, **variables)


def valid(file: str, schema: str) -> None:
    """Judge a file by the schema of its consumer."""
    import check_jsonschema  # which takes as long to import as the other modules of this test

    done = CliRunner().invoke(check_jsonschema.main, ["--builtin-schema", schema, str(ROOT / file)])
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def action() -> Any:
    return yaml.safe_load((ROOT / "action.yml").read_text())


def step(action: Any, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the checking step of the action with some inputs."""
    values = {name: str(given["default"]) for name, given in action["inputs"].items() if "default" in given} | inputs
    last = action["runs"]["steps"][-1]
    names = {k: v.removeprefix("${{ ").removeprefix("inputs.").removesuffix(" }}") for k, v in last["env"].items()}
    variables = {k: values[v] for k, v in names.items() if k != "TDSL_UNTRUSTED"} | {"TDSL_UNTRUSTED": "true"}
    return shell(last["run"], folder, **variables)


def test_jobs_apart_from_the_tests() -> None:
    for job in ("soundness", "performance"):
        valid(f"ci/{job}.yml", "vendor.github-workflows")


def test_the_action(action: Any, tmp_path: Path) -> None:
    valid("action.yml", "vendor.github-actions")
    write(tmp_path, SMALL, "good.fab")
    write(tmp_path, WRONG, "bad.fab")
    assert step(action, tmp_path, files="good.fab").returncode == 0
    done = step(action, tmp_path, files="good.fab bad.fab", sarif="report.sarif", args="--set nodes=2")
    assert done.returncode == 1 and done.stdout.startswith("::error file=bad.fab,line=8"), done.stdout + done.stderr
    assert len(json.loads((tmp_path / "report.sarif").read_text())["runs"][0]["results"]) == 1
    assert step(action, tmp_path, files="absent.fab").returncode == 2
    done = step(action, tmp_path, files="good.fab\nbad.fab\n")  # `files: |`
    assert done.returncode == 1 and "file=bad.fab" in done.stdout, done.stdout + done.stderr


def test_when_designs_are_a_strangers(action: Any) -> None:
    """For every event but pushes to the default branch and the schedule, unless the input says otherwise."""
    written = action["runs"]["steps"][-1]["env"]["TDSL_UNTRUSTED"].removeprefix("${{").removesuffix("}}")
    for said, event, ref, expected in (
        ("auto", "pull_request", "refs/pull/7/merge", True), ("auto", "pull_request_target", "refs/heads/main", True),
        ("auto", "push", "refs/heads/main", False), ("auto", "push", "refs/heads/feature", True),
        ("auto", "schedule", "refs/heads/main", False), ("auto", "workflow_dispatch", "refs/heads/main", True),
        ("auto", "merge_group", "refs/heads/gh-readonly-queue/main/pr-7", True), ("true", "push", "refs/heads/main", True),
        ("false", "pull_request", "refs/pull/7/merge", False), ("perhaps", "push", "refs/heads/main", True),
    ):  # fmt: skip
        values = {
            "inputs.untrusted": said, "github.event_name": event, "github.ref": ref,
            "github.event.repository.default_branch": "main",
        }  # fmt: skip
        text = re.sub(r"(?:inputs|github)\.[\w.]+", lambda m, v=values: repr(v[m[0]]), written)
        text = (
            text.replace("!=", " is not ").replace("!", " not ").replace("is not ", "!=").replace("&&", "and").replace("||", "or")
        )
        assert eval(text, {"format": lambda form, *parts: form.format(*parts)}) is expected, (said, event, ref)


def test_inputs_of_the_action_are_not_run(action: Any, tmp_path: Path) -> None:
    write(tmp_path, SMALL, "good.fab")
    for text in ("good.fab; touch pwned", "$(touch pwned) `touch pwned`", "--output=pwned"):
        assert step(action, tmp_path, files=text).returncode == 2
    step(action, tmp_path, files="good.fab", sarif="--output_pwned; touch pwned; $(touch pwned) `touch pwned`")
    assert not (tmp_path / "pwned").exists()


def test_the_gitlab_template(tmp_path: Path) -> None:
    head, _, text = (ROOT / "ci" / "gitlab.yml").read_text().partition("---\n")
    inputs = yaml.safe_load(head)
    plain = tmp_path / "gitlab-ci.yml"
    given = {name: str((v or {}).get("default", "bad.fab")) for name, v in inputs["spec"]["inputs"].items()}
    for name, value in given.items():
        text = text.replace(f"$[[ inputs.{name} ]]", value)
    plain.write_text(text)
    valid(str(plain), "vendor.gitlab-ci")
    (made,) = yaml.safe_load(text).values()
    write(tmp_path, WRONG, "bad.fab")
    install, check = made["script"]
    assert install == 'python -I -m pip install --quiet "$TDSL_PACKAGE"'
    done = shell(check, tmp_path, **made["variables"])
    assert done.returncode == 1 and "E0405" in done.stdout, done.stderr
    reports = made["artifacts"]["reports"]
    assert json.loads((tmp_path / reports["codequality"]).read_text())[0]["check_name"] == "E0405 oversubscription"
    assert 'failures="1"' in (tmp_path / reports["junit"]).read_text()


def jobs_of(file: str) -> dict[str, list[str]]:
    """The commands of each job of a pipeline that do not install anything, and those of its named steps."""
    made = yaml.safe_load(Path(file).read_text())
    jobs = made.get("jobs", made)
    out = {}
    for name, job in jobs.items():
        lines = job["script"] if "script" in job else [step["run"] for step in job["steps"] if "run" in step]
        install = [line for line in lines if "pip install" in line]
        assert install == [f"python -I -m pip install --quiet tdsl=={__version__}"] * (name != "comment")
        out[name] = [line for line in lines if "pip install" not in line]
    return out


@pytest.mark.parametrize(("ci", "file"), [("github", ".github/workflows/designs.yml"), ("gitlab", ".gitlab-ci.yml")])
def test_a_new_project(ci: str, file: str, here: Path, tmp_path: Path) -> None:
    """Its pipeline passes, and fails once the design is broken; so do its hooks."""
    assert tdsl("init", "mine", "--ci", ci).exit_code == 0
    valid(str(tmp_path / file), "vendor.github-workflows" if ci == "github" else "vendor.gitlab-ci")
    hooks = [sys.executable, "-m", "pre_commit", "run", "--all-files"], tmp_path
    home = {"PRE_COMMIT_HOME": str(tmp_path / ".home")}
    lines = jobs_of(file)["check" if ci == "github" else "designs"]
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "add", "-A"], check=True)
    assert [shell(line, tmp_path).returncode for line in lines] == [0, 0]
    assert ci == "gitlab" or run(*hooks, **home).returncode == 0  # both have the same hooks
    design = tmp_path / "mine.fab"
    design.write_text(design.read_text().replace("spine[4]", "spine[2]"))
    assert [shell(line, tmp_path).returncode for line in lines] == [0, 1]
    assert ci == "gitlab" or run(*hooks, **home).returncode == 1


GH = """#!/bin/sh
echo "$@" > gh_call
while [ "$1" != --body-file ]; do shift; done
cp "$2" posted.md
"""
"""In place of GitHub's client: keeps what it would post."""


class GitLab(BaseHTTPRequestHandler):
    """What GitLab's API does with the notes of a merge request (docs.gitlab.com/api/notes): lists, adds and changes them."""

    notes: list[dict[str, Any]]

    def do_GET(self) -> None:
        self.answer({"id": 5} if self.path.endswith("/user") else self.notes)

    def do_POST(self) -> None:
        self.notes.append({"id": 100 + len(self.notes), "author": {"id": 5}, **self.body()})
        self.answer(self.notes[-1])

    def do_PUT(self) -> None:
        (note,) = [n for n in self.notes if str(n["id"]) == self.path.rpartition("/")[2] and n["author"]["id"] == 5]
        note.update(self.body())
        self.answer(note)

    def body(self) -> Any:
        assert self.path.startswith("/api/projects/3/merge_requests/7/notes") and self.headers["PRIVATE-TOKEN"] == "secret"
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, said: Any) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(said).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


def notes_after_two_runs(line: str, folder: Path) -> list[dict[str, Any]]:
    """What a job's line leaves of a merge request's notes, of which a stranger wrote the first."""
    GitLab.notes = [{"id": 1, "author": {"id": 4}, "body": "<!-- tdsl diff -->\nmine"}]
    with ThreadingHTTPServer(("127.0.0.1", 0), GitLab) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        where = {"CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}/api", "TDSL_COMMENT_TOKEN": "secret"}
        where |= {"CI_MERGE_REQUEST_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7"}
        for words in ("first", (folder / "change.md").read_text()):
            (folder / "change.md").write_text(words)
            done = shell(line, folder, **where)
            assert done.returncode == 0, done.stderr
        server.shutdown()
    return GitLab.notes


def revision() -> str:
    """The commit of the current folder."""
    return subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(("ci", "file"), [("github", ".github/workflows/designs.yml"), ("gitlab", ".gitlab-ci.yml")])
def test_the_comment_of_a_change(ci: str, file: str, here: Path, tmp_path: Path) -> None:
    """A library file changes, no design does: the comment says what it changes of the design that uses it, with a drawing, and
    that design is checked, in another folder too."""
    assert tdsl("init", "mine", "--ci", ci).exit_code == 0
    design = (tmp_path / "mine.fab").read_text().replace("spine[4]", "spine[spines]")
    commit({"pods/sizes.fab": "let spines = 4\n", "pods/mine.fab": "use sizes (spines)\n" + design})
    base = revision()
    commit({"pods/sizes.fab": "let spines = 8\n"})
    head = revision()
    jobs = jobs_of(file)
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        (tmp_path / name).write_text("")
    variables = {
        "SPAN": f"{base}...{head}", "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "CI_COMMIT_SHA": head, "TDSL_UNTRUSTED": "true",
        "GITHUB_STEP_SUMMARY": "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT": "GITHUB_OUTPUT",
    }  # fmt: skip
    for line in [*jobs["change"], *jobs.get("affected", [])]:
        done = shell(line, tmp_path, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "E0122" not in done.stdout
    posted = tmp_path / "change.md"
    if ci == "github":
        given = (tmp_path / "GITHUB_OUTPUT").read_text().partition("comment=")[2].strip()
        (tmp_path / "gh").write_text(GH)
        (tmp_path / "gh").chmod(0o755)
        more = {"COMMENT": given, "NUMBER": "7", "PICTURE": "https://ci.example/run", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        for line in jobs["comment"]:
            assert shell(line, tmp_path, **more).returncode == 0
        assert (tmp_path / "gh_call").read_text().startswith("pr comment 7 ")
        posted = tmp_path / "posted.md"
    else:
        (line,) = jobs["comment"]
        of_others, own = notes_after_two_runs(line, tmp_path)
        assert of_others["body"].endswith("mine") and own["body"] == "<!-- tdsl diff -->\n" + posted.read_text()
    text = posted.read_text()
    order = [
        text.index(x) for x in ("sizes.fab", "| switches | 12 | 16 | +4 |", "power", ": 128 moved", "```mermaid", "<details>")
    ]
    assert order == sorted(order), text
    assert "+128 links" in text and "-128 links" in text
    picture = (tmp_path / "change.svg").read_text()
    assert "#c62828" in picture and "#1a7f37" in picture
    commit({"pods/sizes.fab": "let spines = 2\n"})
    variables |= {"SPAN": f"{head}...HEAD", "CI_COMMIT_SHA": revision()}
    check = jobs["affected"][-1] if ci == "github" else jobs["change"][-1]
    done = shell(check, tmp_path, **variables)
    assert done.returncode and "E0452" in done.stdout and "pods/mine.fab" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("ci", "file", "network"),
    [
        ("github", ".github/workflows/audit.yml", "infiniband"),
        ("gitlab", ".gitlab/audit.yml", "lldp"),
        pytest.param("github", ".github/workflows/audit.yml", "lldp", marks=pytest.mark.daily),
        pytest.param("gitlab", ".gitlab/audit.yml", "infiniband", marks=pytest.mark.daily),
    ],
)
def test_a_nightly_audit(ci: str, file: str, network: str, here: Path, tmp_path: Path, forked: Path) -> None:
    """Its steps take the capture, pass for what is as designed, and fail, with a work list, once a cable is lost."""
    assert tdsl("init", "mine", "--ci", ci, "--audit", network).exit_code == 0
    valid(str(tmp_path / file), "vendor.github-workflows" if ci == "github" else "vendor.gitlab-ci")
    if ci == "gitlab":
        valid(str(tmp_path / ".gitlab-ci.yml"), "vendor.gitlab-ci")
        assert yaml.safe_load(Path(".gitlab-ci.yml").read_text())["include"] == [{"local": file}]
    write(tmp_path, POD, "mine.fab")
    cables = Cables(fabric_of(POD, tmp_path, models=False))
    job = yaml.safe_load(Path(file).read_text())
    job = job["jobs"]["audit"] if ci == "github" else job["audit"]
    lines = [s["run"] for s in job["steps"] if "run" in s] if ci == "github" else job["script"]
    install, take, audit = lines
    assert install == f"python3 -I -m venv .audit && .audit/bin/python -I -m pip install --quiet tdsl=={__version__}"
    for name, does in {
        "bin/sudo": "cat site.topo", "bin/ssh": 'cat "site/$2.json"', ".audit/bin/tdsl": f'exec {forked} "$@"'
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)

    def night() -> int:
        (tmp_path / "site.topo").write_text(captures.netlist(cables, dict.fromkeys(cables.far, "4xNDR")))
        captures.lldp(cables, tmp_path / "site")
        names = sorted(p.stem for p in (tmp_path / "site").iterdir())
        (tmp_path / "devices.txt").write_text("".join(f"{n}\n" for n in [*names, "switched_off"]))
        done = shell(take, tmp_path, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        assert done.returncode == 0, done.stderr
        return shell(audit, tmp_path, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}").returncode

    assert night() == 0
    assert "no faults" in Path("report.md").read_text()
    cables.unplug(ports(cables, "su0-leaf0")[:1])
    assert night() == 1
    assert "E0625" in Path("worklist.csv").read_text() and "E0625" in Path("report.md").read_text()
    assert 'tdsl_faults{fabric="pod",finding="cable_missing"} 1' in Path("tdsl.prom").read_text()


def test_a_file_for_others_passes(tmp_path: Path) -> None:
    """A hook is given all files, those of models too; what needs a fabric refuses them, and says why."""
    models = write(tmp_path, "model switch OWN { port p[1..8]: 400Gbps { type GE400 } }\n", "models.fab")
    done = tdsl("check", models, write(tmp_path), "--fail-on", "warning", "--output-format", "concise")
    assert done.exit_code == 0 and "models.fab:1:1: note[E0122]" in done.stdout, done.output
    for call in ("build", "view", "lock", "show"):
        done = tdsl(call, models)
        assert done.exit_code == (0 if call == "show" else 1) and "declares no fabric" in done.output, done.output
    wrong = write(tmp_path, "model switch OWN { port p[1..8]: 400 }\n", "wrong.fab")
    assert "error[E0103]" in tdsl("check", wrong, "--output-format", "concise").stdout
    assert tdsl("check", write(tmp_path, "let n = 4\n", "none.fab")).exit_code == 1


def test_a_hook_checks_the_designs_that_use_what_changed(here: Path) -> None:
    """A file of models, one that this one uses, a table and settings; not the designs that use none of them."""
    (here / "lib").mkdir()
    write(here / "lib", "model switch PARTS { port p[1..2]: 100Gbps }\n", "parts.fab")
    write(here / "lib", "use parts (PARTS)\nmodel host H { port nic: 100Gbps }\n", "models.fab")
    design = "use lib.models (H)\nfabric one {\n  host node[4]: H\n  switch leaf: NONE\n}\n"
    write(here, design, "one.fab")
    write(here, WRONG, "two.fab")
    write(here, SMALL.replace("require", 'require throughput "m.csv" >= 1%\n  require'), "three.fab")

    def checked(*files: str) -> set[str]:
        done = tdsl("check", "--hook", *files, "--output-format", "concise")
        assert done.exit_code in (0, 1), done.output
        return {line.split(":")[0] for line in done.stdout.splitlines()}

    assert checked("lib/models.fab") == {"lib/models.fab", "one.fab"}
    assert checked("lib/parts.fab") >= {"lib/parts.fab", "one.fab"}
    assert checked("two.fab") == {"two.fab"}
    assert checked("m.csv") == {"three.fab"}
    assert checked("one.fab.lock") == {"one.fab"}
    write(here, "", "tdsl.toml")
    assert checked("tdsl.toml") == {"one.fab", "two.fab", "three.fab"}
    (here / "lib" / "parts.fab").rename(here / "lib" / "renamed.fab")
    assert checked("lib/renamed.fab") >= {"lib/models.fab", "one.fab"}
    (here / "lib" / "renamed.fab").rename(here / "lib" / "parts.fab")
    done = tdsl("check", "--hook", "other.csv")
    assert done.exit_code == 0 and "other.csv: no design of this folder uses it" in done.stderr
    assert tdsl("check", "--hook", "../outside.csv").exit_code == 2


@pytest.mark.slow
@pytest.mark.daily
def test_the_hooks(tmp_path: Path) -> None:
    """pre-commit itself installs the checkout and runs the hooks on a repository with one wrong design and one out of shape."""
    project = tmp_path / "project"
    project.mkdir()
    # what tdsl depends on, and what builds it, comes from the environment of the tests: `make test` has installed all of it
    further = os.pathsep.join(p for p in sys.path if p.endswith("site-packages"))
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "GIT_CONFIG_GLOBAL": "/dev/null"}
    environment |= {"PYTHONPATH": further, "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_COMPILE": "1"}

    def run(*call: str, folder: Path = project) -> subprocess.CompletedProcess[str]:
        return subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)

    source = tmp_path / "tdsl"
    assert run("git", "clone", "-q", str(ROOT), str(source), folder=tmp_path).returncode == 0
    run("git", "init", "-q")
    write(project, SMALL, "good.fab")
    write(project, WRONG, "bad.fab")
    write(project, SMALL.replace("spine[2]:    ", "spine[2]:"), "shape.fab")
    run("git", "add", "-A")
    done = run(sys.executable, "-m", "pre_commit", "try-repo", str(source), "--all-files")
    assert "bad.fab:8:11: error[E0405]" in done.stdout, done.stdout + done.stderr
    assert "good.fab:" not in done.stdout
    assert "tdsl fmt" in done.stdout and "files were modified by this hook" in done.stdout
    assert "\n  switch spine[2]: QM9700\n" in (project / "shape.fab").read_text()
