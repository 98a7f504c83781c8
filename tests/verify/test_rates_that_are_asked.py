"""Shares that are asked for in bit/s are answered in bit/s, and the help says what can be asked at most."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import report

DESIGN = """
model host H {{ port a[2]: 400Gbps }}
model switch S {{ port p[16]: 400Gbps }}
fabric f {{
  host h[8]: H
  switch leaf[2]: S
  switch spine[2]: S
  connect h[n].a[k] to leaf[k]
  connect leaf[*] to spine[*] spread x 4
  {}
}}
"""
FEW = "add links where the"


@pytest.mark.parametrize(
    ("requirement", "status", "text", "help"),
    [
        # more than the ports carry: no links help
        ("bisection >= 50Tbps", "refuted", "50Tbps asked, 3.2Tbps proved (100% of injection: ", "carry 3.2Tbps at most"),
        ("throughput shift 1 >= 9Tbps", "refuted", "9Tbps asked, 6.4Tbps proved (100% of injection: ", "carry 6.4Tbps at most"),
        ("throughput of h[0] to h[1] > 1Tbps", "refuted", "1Tbps asked, 800Gbps proved (100% of", "carry 800Gbps at most"),
        ("bisection of all h[0..3] == 2Tbps", "refuted", "2Tbps asked, 1.6Tbps proved (100% of", "carry 1.6Tbps at most"),
        # less than the ports carry, or the other way round
        ("bisection <= 1Tbps", "refuted", "1Tbps asked, 3.2Tbps proved (100% of injection: ", FEW),
        # what holds is answered in its unit, too; in percent as before
        ("bisection >= 3200Gbps", "proved", "3.2Tbps (100% of injection: ", ""),
        ("throughput all_to_all >= 1Tbps", "proved", "6.4Tbps (100% of injection: 6.4 of 6.4 Tbps", ""),
        ("bisection >= 100%", "proved", "100%: 8 of 8 links", ""),
        ("survives any 1 of leaf with bisection >= 1.6Tbps", "proved", "1.6Tbps (100% of injection: ", ""),
        ("survives any 1 of leaf with bisection >= 2Tbps", "refuted", "2Tbps asked, 1.6Tbps proved (100% of injection: ", ""),
        ("tray_fill <= 50Tbps", "skipped", "", "`tray_fill <= "),
    ],
)  # fmt: skip
def test_the_answer_is_in_the_unit_that_is_asked(requirement: str, status: str, text: str, help: str, tmp_path: Path) -> None:
    path = tmp_path / "f.fab"
    path.write_text(DESIGN.format(f"require {requirement}"))
    (design,) = report(path, "--no-cache")["designs"]
    (result,) = [r for r in design["results"] if r.get("requirement") == requirement]
    assert result["status"] == status and text in result.get("text", ""), result
    assert not result.get("text", "").startswith("100%") or "%" in requirement
    assert status == "proved" or any(help in d["help"] for d in design["findings"] if d["severity"] == "error"), design[
        "findings"
    ]
