"""`tdsl check --fix`: the edits of findings, shown, written, and left where they are guesses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tests.cli.run import tdsl, write
from tests.harness import none

MISTAKES = sorted((Path(__file__).parents[1] / "errors" / "design").glob("*.fab"))[::6]
TEXT = """// a pod
fabric pod {
  host node[4]: DGX_H100
  switch leaf[8]: QM970
  connect node[n].nic[r] -> leaf[r]
  require reachability
}"""


def test_what_would_change_is_shown(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    done = tdsl("check", path, "--diff")
    assert done.exit_code == 1 and path.read_text() == TEXT and "--unsafe would fix 1 more finding" in done.stderr
    old, new = "-// a pod\n-  connect node[n].nic[r] -> leaf[r]", "+# a pod\n+  connect node[n].nic[r] to leaf[r]"
    lines = done.stdout.splitlines()[2:]
    assert "\n".join(x for x in lines if x[0] == "-") == old and "\n".join(x for x in lines if x[0] == "+") == new
    write(tmp_path, TEXT.replace("//", "#").replace("->", "to").replace("QM970", "QM9700"))
    assert tdsl("check", path, "--diff").exit_code == 0


def test_names_are_guessed_only_if_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    done = tdsl("check", path, "--fix")
    assert done.exit_code == 1 and "fixed 2 findings" in done.stderr and "E0102" in done.stdout
    assert "QM970\n" in path.read_text() and "# a pod" in path.read_text()
    done = tdsl("check", path, "--fix", "--unsafe")
    assert done.exit_code == 0 and "switch leaf[8]: QM9700" in path.read_text()
    assert not path.read_text().endswith("\n"), "nothing else is changed"


def test_only_the_files_named_are_changed(tmp_path: Path) -> None:
    parts = write(tmp_path, "// parts\nmodel switch SW { port p[8]: 400Gbps }\n", "parts.fab")
    path = write(tmp_path, "use parts\nfabric f { switch s[2]: SW; connect s[0] -> s[1] }\n")
    tdsl("check", path, "--fix")
    assert "s[0] to s[1]" in path.read_text() and "// parts" in parts.read_text()


def test_wrong_calls() -> None:
    for call in ("check x.fab --unsafe", "check - --fix", "check absent.fab --fix"):
        assert tdsl(*call.split(), stdin="fabric f {}").exit_code == 2, call


@pytest.mark.daily
def test_no_fix_makes_more_errors(tmp_path: Path) -> None:
    """Of every sixth faulty design: what `--fix --unsafe` writes has no more errors than before, and often fewer."""

    def errors(path: Path) -> int:
        found = compiler.compile_without_checks(str(path)).findings
        return sum(d.count for d in found if d.severity.word == "error")

    worse, fixed = [], 0
    for source in MISTAKES:
        path = shutil.copy(source, tmp_path / source.name)
        before = errors(path)
        done = tdsl("check", path, "--fix", "--unsafe", "--select", "name_collision")
        after = errors(path)
        fixed += path.read_bytes() != source.read_bytes()
        if after > before or done.exit_code == 2:
            worse.append(f"{source.name}: {before} -> {after}, status {done.exit_code}")
    none(worse)
    assert fixed > 2
