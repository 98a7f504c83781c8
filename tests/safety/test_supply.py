"""What a release is made of: its list of materials, its workflow, and actions that cannot be exchanged for others."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

import click
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name as canonical

from tdsl.cli import cli
from tests.cli.test_ci import valid
from tests.harness import none

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.lock").read_text()
PINNED = dict(re.findall(r"^([A-Za-z0-9._-]+)(?:\[.*\])?==([^\s\\]+)", LOCK, re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RELEASE = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]


def test_the_list_of_materials_is_that_of_the_lock() -> None:
    """`scripts/sbom` writes it anew."""
    assert subprocess.run([sys.executable, str(ROOT / "scripts" / "run-lock"), "--check"], check=False).returncode == 0
    assert subprocess.run([sys.executable, str(ROOT / "scripts" / "sbom"), "--check"], check=False).returncode == 0
    made = json.loads((ROOT / "sbom.cdx.json").read_text())
    assert {(c["name"], c["version"]) for c in made["components"]} == set(PINNED.items()) and len(PINNED) > 50
    assert made["bomFormat"] == "CycloneDX" and len({c["bom-ref"] for c in made["components"]}) == len(PINNED)


def test_the_lock_installs_on_the_oldest_python() -> None:
    """Of those that are installed in the version of the lock. A version that asks for Python 3.11.5 ended CI on Debian 12."""
    oldest = PROJECT["requires-python"].removeprefix(">=") + ".0"
    wanted = {}
    for name, version in PINNED.items():
        with contextlib.suppress(PackageNotFoundError):
            facts = metadata(name)
            if facts["Version"] == version:
                wanted[name] = SpecifierSet(facts.get("Requires-Python") or "")
    assert oldest == "3.11.0" and len(wanted) > 5
    none([f"{name} asks for Python {asked}" for name, asked in wanted.items() if not asked.contains(oldest)])


def test_what_the_project_needs_is_in_the_lock() -> None:
    """CI installs the lock without dependencies: each name of pyproject.toml, and each that one of those needs, has its line."""
    locked, extras = {canonical(n) for n in PINNED}, PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["dev"], *extras["lsp"]]
    known: set[tuple[str, frozenset[str]]] = set()
    while wanted:
        need = Requirement(wanted.pop())
        key = (canonical(need.name), frozenset(need.extras))
        if key in known:
            continue
        known.add(key)
        with contextlib.suppress(PackageNotFoundError):  # what is not installed is judged by its name alone
            for line in requires(need.name) or []:
                inner = Requirement(line)
                if inner.marker is None or any(inner.marker.evaluate({"extra": e}) for e in ("", *need.extras)):
                    wanted.append(line)
    assert len(known) > 50
    none(sorted({name for name, _ in known} - locked))


def test_the_lock_is_of_published_files() -> None:
    """Each has a hash, and no index and no path is named: what was built on some machine has another hash on the next."""
    lines = LOCK.splitlines()[1:]
    entries = re.split(r"\n(?=\S)", LOCK.partition("\n")[2])
    none([e.split()[0] for e in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}", e)])
    entry = re.compile(r"[A-Za-z0-9._-]+(\[[\w,-]+\])?==[\w.+-]+( ; .+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?")
    none([line for line in lines if not entry.fullmatch(line)])


def test_ci_installs_the_lock_and_nothing_else() -> None:
    """But for the newest versions, which have an environment of their own and come last."""
    calls = re.findall(r"^make .*", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert [c.split()[1] for c in calls] == [".venv/.installed-dev", "lint", "test", "test-newest"]
    none([c for c in calls[:-1] if "CONSTRAINTS=requirements.lock" not in c])


def test_a_release_waits_for_three_systems() -> None:
    """The wheel is installed on each before anything is published, and what it builds there is compared."""
    valid(".github/workflows/release.yml", "vendor.github-workflows")
    jobs = RELEASE
    assert {o.partition("-")[0] for o in jobs["install"]["strategy"]["matrix"]["os"]} == {"ubuntu", "macos", "windows"}
    assert jobs["install"]["needs"] == "build" and jobs["publish"]["needs"] == ["install", "editors"]
    calls = jobs["install"]["steps"][-1]["run"]
    assert all(c in calls for c in ("tdsl check", "tdsl build", "tdsl verify", "cmp "))
    none([name for name, job in jobs.items() if name != "publish" and job["permissions"] != {"contents": "read"}])


def test_what_editors_need_is_released(tmp_path: Path) -> None:
    """The archive of the grammar has what docs/editor.md compiles and copies; the extension is that of `make vsix`."""
    (step,) = (s for s in RELEASE["editors"]["steps"] if "make vsix" in s.get("run", ""))
    (call,) = (line.strip() for line in step["run"].splitlines() if line.startswith("git archive"))
    words = call.replace("editors/", f"{tmp_path}/").split()
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if "not a git repository" in done.stderr:
        pytest.skip("needs a git checkout")
    assert done.returncode == 0, done.stderr
    with tarfile.open(tmp_path / "tree-sitter-fab.tar.gz") as archive:
        names = set(archive.getnames())
    wanted = ("src/parser.c", "src/scanner.c", "src/tree_sitter/parser.h", "queries/highlights.scm", "helix/highlights.scm")
    assert {f"tree-sitter-fab/{name}" for name in wanted} <= names
    assert '"name": "fab"' in (ROOT / "grammar" / "vscode" / "package.json").read_text()


def test_the_page_of_trust_has_every_command() -> None:
    """What each reads, writes and runs: a row for each command that there is, and for no other."""
    table = (ROOT / "docs" / "security.md").read_text().partition("| command | reads")[2].partition("\n\n")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([a-z-]+)`", row)]
    assert sorted(named) == cli.list_commands(click.Context(cli))


def test_what_is_released_leaves_the_job_before_others_run_in_it() -> None:
    """Packages that no lock names are installed after the wheel was uploaded: they cannot change what is attested."""
    steps = RELEASE["build"]["steps"]
    kept = next(i for i, s in enumerate(steps) if s.get("with", {}).get("name") == "dist")
    none([s["run"] for s in steps[:kept] if "pip install" in s.get("run", "") and "--require-hashes" not in s["run"]])


def test_pipelines_pin_actions_and_run_no_module_of_the_checkout() -> None:
    """`python -m pip` takes a folder `pip` of the current one, which is the checkout of a pull request; with `-I` it does not.
    What readers copy from the documentation is as safe as the templates."""
    pages = sorted((ROOT / "docs").glob("*.md"))
    files = [ROOT / "action.yml", *(ROOT / "ci").glob("*.yml"), *(ROOT / ".github").rglob("*.yml")]
    used = [(f.name, u) for f in (*files, *pages) for u in re.findall(r"uses: (\S+)", f.read_text()) if "OWNER/" not in u]
    assert len(used) > 8
    none([f"{name}: {u}" for name, u in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", u)])
    run = [ROOT / "action.yml", ROOT / "ci" / "gitlab.yml", *(ROOT / "tdsl" / "commands").glob("*.py")]
    calls = [(f.name, line) for f in run for line in re.findall(r"python3? .*", f.read_text()) if " -m " in line]
    assert len(calls) > 5
    none([f"{name}: {line}" for name, line in calls if re.search(r"python3? -m ", line)])
    none([f"{p.name}: {x}" for p in pages for x in re.findall(r"(?m)^.*python3? -m pip install .*$", p.read_text())])
