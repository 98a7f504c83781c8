"""A model that contains itself, directly or by way of another, is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text

FABRIC = "fabric f { switch a[2]: SW; connect a[*] each }\n"
CIRCLES = {
    "model host X { port nic: 400Gbps; chip c: X }\n": "X",
    "model host X { port nic: 400Gbps; switch c: X }\n": "X",
    "model switch X { port p[2]: 400Gbps; switch y: X }\n": "X",
    "model switch Q { port p[2]: 400Gbps; switch q: R }\nmodel switch R { port p[2]: 400Gbps; switch q: Q }\n": "Q",
}


@pytest.mark.parametrize("text", CIRCLES)
def test_a_model_that_contains_itself(text: str, tmp_path: Path) -> None:
    """One finding, at the statement that closes the circle."""
    found = compile_text(text + FABRIC, tmp_path, verify=False).findings
    assert [(d.code, d.message) for d in found] == [("E0114", f"model `{CIRCLES[text]}` contains itself")]
