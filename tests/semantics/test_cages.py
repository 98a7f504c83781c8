"""Cages: numbered over the device by form, and each is that of one class."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text

FABRIC = "fabric f {\n  switch a: SW\n  switch b: SW\n  connect a.p[1] to b.p[1]\n}\n"


def cages(ports: str, folder: Path) -> dict[str, tuple[int, ...]]:
    result = compile_text(f"{FABRIC}model switch SW {{ {ports} }}\n", folder, models=False)
    assert not [d for d in result.findings if d.severity.word == "error"], result.findings
    fabric = result.designs[0].fabric
    assert fabric is not None
    return {c.name: c.cages for c in fabric.models[0].classes}


def test_classes_of_one_form_go_on_counting(tmp_path: Path) -> None:
    ports = (
        "port p[1..4]: 400Gbps { cage 2 OSFP }; port m[2]: 1Gbps { cage 1 SFP }; port u[1..4]: 400Gbps { cage 2 OSFP }; "
        "port s: 1Gbps { cage 1 SFP }; port w[2]: 400Gbps { cage 1 OSFP, 9 - w }; port x: 400Gbps { cage 1 OSFP }"
    )
    assert cages(ports, tmp_path) == {
        "p": (1, 1, 2, 2), "m": (1, 2), "u": (3, 3, 4, 4), "s": (3,), "w": (9, 8), "x": (10,),
    }  # fmt: skip


@pytest.mark.parametrize("number", ["u", "3 - u", "2"])
def test_two_classes_of_one_cage(number: str, tmp_path: Path) -> None:
    ports = f"port p[1..4]: 400Gbps {{ cage 2 OSFP }}; port u[1..2]: 1Gbps {{ cage 2 OSFP, {number} }}"
    text = f"{FABRIC}model switch SW {{ {ports} }}\n"
    (finding,) = [d for d in compile_text(text, tmp_path, models=False).findings if d.severity.word == "error"]
    assert finding.code == "E0120" and "is one of `p` already" in finding.message and "begin with 3" in finding.help
    assert finding.labels[0].span.text == "p"
    mended = text.replace(f"OSFP, {number}", "OSFP, 3")
    assert not [d for d in compile_text(mended, tmp_path, models=False).findings if d.severity.word == "error"]
