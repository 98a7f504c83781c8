"""What a page of a design shows besides its fabric: figures, results, and the marks of what failed or was found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.run import SMALL, tdsl, write


def test_where_the_page_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into FILE.html here, or where it is asked for; its title is the fabric's, and the file's where there are several."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    small = SMALL.replace("node[nodes]:", "node[1]:")
    write(tmp_path / "in", small.replace("fabric small", 'fabric small "Our <title>"'), "titled.fab")
    write(tmp_path / "in", small, "plain.fab")
    write(tmp_path / "in", "model switch S { port p[2]: 100Gbps }\n" + "".join(
        f"fabric {n} {{ switch s[2]: S; connect s[*] each }}\n" for n in "fg"
    ), "two.fab")  # fmt: skip
    for name, title in (("titled", "Our &lt;title&gt;"), ("plain", "small"), ("two", "two")):
        done = tdsl("view", f"in/{name}.fab", "--no-open")
        assert done.exit_code == 0 and re.fullmatch(rf"{name}\.html: \d+\.\d MB\n", done.stderr), done.output
        assert re.search(rf"<title>{re.escape(title)}[ <]", (tmp_path / f"{name}.html").read_text()), name
    assert tdsl("view", "in/plain.fab", "--no-open", "-o", "here.html").stderr.startswith("here.html: ")
    opened: list[str] = []

    def browser(uri: str) -> bool:
        opened.append(uri)
        return len(opened) > 1

    monkeypatch.setattr("webbrowser.open", browser)
    assert "no browser was found: open here.html" in tdsl("view", "in/two.fab", "-o", "here.html").stderr
    assert "no browser" not in tdsl("view", "in/two.fab", "-o", "here.html").stderr
    assert opened == [(tmp_path / "here.html").as_uri()] * 2
    done = tdsl("view", "-", "--no-open", stdin=small.replace("connect leaf", "connect lief"))
    assert done.exit_code == 1
