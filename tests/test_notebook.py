"""Results in notebooks, and the notebook of the documentation: its cells run, and give the output that it has."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import tdsl
from tests.cli.run import SMALL, write

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"
FORMATS = (("image/svg+xml", "_repr_svg_"), ("text/html", "_repr_html_"))


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def ran(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """The outputs of a cell, as a kernel would give them: what it prints, and the value of its last line."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            assert isinstance(last, ast.Expr)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    out: list[dict[str, Any]] = []
    if printed.getvalue():
        out.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        data = {kind: lines(shown) for kind, name in FORMATS if hasattr(value, name) and (shown := getattr(value, name)())}
        data = data or {"text/plain": [repr(value)]}
        out.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return out


def test_the_notebook_gives_the_output_that_it_has(request: pytest.FixtureRequest) -> None:
    """``--golden`` runs it anew."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    names: dict[str, Any] = {}
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    assert len(cells) >= 5 and len({c["id"] for c in notebook["cells"]}) == len(notebook["cells"])
    for number, cell in enumerate(cells, 1):
        found = ran("".join(cell["source"]), names, number)
        if request.config.getoption("--golden"):
            cell["outputs"], cell["execution_count"] = found, number
        else:
            assert (cell["outputs"], cell["execution_count"]) == (found, number), "run `make golden`"
    if request.config.getoption("--golden"):
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def test_a_result_is_shown_as_tables(tmp_path: Path) -> None:
    result = tdsl.check(write(tmp_path, SMALL.replace("<= 1:1", "<= 1:9")))
    shown = result._repr_html_()
    root = ElementTree.fromstring(f"<div>{shown}</div>")
    cells = ["".join(c.itertext()) for c in root.iter("td")]
    assert "refuted" in cells and "E0405" in cells and "oversubscription <= 1:9" in cells
    assert "<svg" not in shown and "<svg" in result.designs[0]._repr_html_()
    assert (result.designs[0]._repr_svg_() or "").startswith("<")


def test_nothing_of_a_design_is_markup(tmp_path: Path) -> None:
    text = SMALL + '\nfabric g { host h: DGX_H100; naming h "<script>" ; switch s: QM97<b> }\n'
    shown = tdsl.check(write(tmp_path, text))._repr_html_()
    assert "<script" not in shown and "<b>" not in shown


def test_a_fabric_is_drawn() -> None:
    drawing = tdsl.draw(tdsl.load("dgx_superpod_h100", units=1))
    assert drawing._repr_svg_() == str(drawing)
    assert ElementTree.fromstring(str(drawing).encode()).tag.endswith("svg")
