"""Which folders `--watch` looks at, which changes make it run again, and what it says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from watchfiles import Change

from tdsl.commands import _watch
from tdsl.commands._watch import run_on_changes, watched_captures, with_watch_option


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """What the watcher is asked for; it reports the changes that are put there."""
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {"changes": [set()]}

    def watch(*places: Path, watch_filter: Any, yield_on_timeout: bool, rust_timeout: int) -> Iterator[Any]:
        found.update(places=places, matters=watch_filter, when=(yield_on_timeout, rust_timeout))
        yield from found["changes"]

    monkeypatch.setattr("watchfiles.watch", watch)
    return found


def test_folders(asked: dict[str, Any], tmp_path: Path) -> None:
    """Those of files that are there, of the library, of captures, and the present one, each once and in order."""
    for name in ("a", "b", "cap"):
        (tmp_path / name).mkdir()
    for name in ("a/x.fab", "cap/y.txt"):
        (tmp_path / name).write_text("")
    captures = [Path("cap/y.txt"), Path("cap"), Path("b")]
    assert run_on_changes(lambda: 1, ["a/x.fab", "none/z.fab", "dgx"], [Path("lib")], captures=captures) == 0
    assert list(asked["places"]) == [tmp_path, tmp_path / "a", tmp_path / "b", tmp_path / "cap", tmp_path / "lib"]
    assert asked["when"] == (True, 200)
    run_on_changes(lambda: 1, [], [])
    assert list(asked["places"]) == [tmp_path]
    run_on_changes(lambda: 1, [], [], captures=[Path("cap/y.txt")])
    assert list(asked["places"]) == [tmp_path, tmp_path / "cap"]


def test_changes_that_matter(asked: dict[str, Any], tmp_path: Path) -> None:
    """Texts that are read, but not what a build or an audit writes itself; of captures all files but hidden ones."""

    def matter(*names: str) -> list[bool]:
        return [asked["matters"](Change.modified, str(tmp_path / n)) for n in names]

    run_on_changes(lambda: 1, [], [])
    assert matter("a.fab", "tdsl.toml", "p.csv", "t.j2", "in/a.fab") == [True] * 5
    assert matter("a.txt", "fab", "a.fab~", ".git/a.fab", "__pycache__/a.toml") == [False] * 5
    run_on_changes(lambda: 1, [], [], Path("out"))
    assert matter("out/a.csv", "out", "out/in/a.toml", ".out.tdsl-x1/a.csv", "in/.out.tdsl-y/b.csv") == [False] * 5
    assert matter("a.csv", "outer/a.csv", ".other.tdsl-x/a.csv", "in/out/a.csv") == [True] * 4
    run_on_changes(lambda: 1, [], [], captures=[Path("cap"), Path("f.txt")], own_files=[Path("w.csv"), Path("cap/w.csv")])
    assert matter("cap/x", "cap/in/y.lldp", "f.txt", "a.fab", "v.csv", "in/w.csv") == [True] * 6
    assert matter("cap/.x", "cap/in/.y", "g.txt", "w.csv", "cap/w.csv", ".w.csv", ".w.csv.tmp", "cap/.w.csv1") == [False] * 8
    assert matter("cap/.git/x", "cap/x.pyc") == [False, False]
    assert matter("in/.w.csv") == [True] and matter("cap/vw.csv") == [True]


def test_runs(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Once at the begin, then once for the changes of a turn; a wrong call is told, and watching goes on."""
    cleared: list[str] = []
    monkeypatch.setattr(click, "clear", lambda: cleared.append("clear"))
    asked["changes"] = [
        set(), set(), {(1, "/x/b.fab"), (2, "/y/a.fab"), (3, "/z/a.fab")}, set(), {(1, "/c.fab")}, set(),
    ]  # fmt: skip
    runs: list[int] = []

    def run() -> int:
        runs.append(len(runs))
        if len(runs) == 2:
            raise click.UsageError("no such file")
        return 1

    run_on_changes(run, [], [])
    told = capsys.readouterr().err.splitlines()
    assert runs == [0, 1, 2] and cleared == []
    last = "watching; Ctrl-C ends it"
    assert told[:2] == [last, "a.fab, b.fab changed"] and told[-2:] == ["c.fab changed", last]
    assert any("no such file" in line for line in told) and told.count(last) == 3
    asked["changes"] = [{(1, "/c.fab")}]
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True, flush=lambda: cleared.append("flush")))
    run_on_changes(lambda: 0, [], [])
    assert cleared == ["clear", "flush"]


def test_commands_with_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the flag they run once; with it they need files, and tell what they write themselves."""
    asked: list[Any] = []

    def once(run: Any, *given: Any, **more: Any) -> int:
        asked.append((run(), *given, more))
        return 9

    monkeypatch.setattr(_watch, "run_on_changes", once)
    command: Any = with_watch_option(lambda **given: given["status"])
    assert command(watch=False, status=3) == 3 and asked == []
    assert command(watch=True, status=3, files=("a",), path=("l",), target_path=("t",), out="o") == 9
    assert command(watch=True, status=4, file="b", path=()) == 9
    assert asked == [(3, ("a",), ("l", "t"), "o", {}), (4, ("b",), (), None, {})]
    for given in ({"files": ("a", "-")}, {"file": "-"}):
        with pytest.raises(click.UsageError, match="standard input"):
            command(watch=True, status=1, path=(), **given)
    asked.clear()
    captures: Any = watched_captures(lambda **given: given["status"])
    names = ("ibnetdiscover", "iblinkinfo", "ibdiagnet", "ufm", "lldp", "p2p")
    own = {n: (n, f"{n}2") for n in names}
    more = {"design": "d", "path": ("l",), "output": "o", "prometheus": None, "accept": "c", "status": 5}
    for made in (command, captures):
        (option,) = made.__click_params__
        assert option.name == "watch" and option.is_flag
    assert captures(watch=False, **more, **own) == 5 and asked == []
    assert captures(watch=True, **more, **own) == 9
    assert asked == [(5, ["d"], ("l",), {"captures": [x for n in names for x in own[n]], "own_files": ["o", "c"]})]
