"""One fault planted in each design of the library is refused, at the line that it breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.verify.check import checks_by_name
from tests.cli.run import report, write
from tests.harness import each, share
from tests.tables import table

DESIGNS = Path(__file__).parent.parent.parent / "stdlib" / "designs"

FAULTS = table(__file__, "faults")
"""Design, what is written, what is planted instead, the code, a part of the line where it is found."""
CODES = {c.code for c in checks_by_name().values()}
SLOW = ("fugaku", "gaudi3_4096", "llama3_24k")
DAILY = (
    "alibaba_hpn", "alibaba_hpn_racks", "aurora", "deepseek_dragonfly", "dgx_superpod_b300_xdr", "dgx_superpod_h100",
    "dgx_superpod_h100_racks", "fire_flyer2", "ft2", "gb200_su", "gb200_su_racks", "gpu131k", "jupiter_dragonfly_plus",
    "llama3_pod_racks", "lumi", "oci_supercluster", "superpod_cluster_b200_racks", "superpod_cluster_racks",
    "vera_rubin_superpod",
)  # fmt: skip
"""Larger designs, whose fault has the code of another one's."""
QUICK = [f for f in FAULTS if f[0] not in SLOW + DAILY]
SHARES = 3


def is_refused(fault: tuple[str, ...], folder: Path) -> None:
    """The design with its planted fault has the finding at the line that it breaks. Other checks are left out: they take long."""
    name, old, new, code, line = fault
    text = (DESIGNS / f"{name}.fab").read_text(encoding="utf-8")
    assert text.count(old) >= 1, old
    path = write(folder, text.replace(old, new, 1), f"{name}.fab")
    asked = report(path, "--select", code if code in CODES else "port_budget")
    found = [f for d in asked["designs"] for f in d["findings"] if f["severity"] == "error"]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert code in {f["code"] for f in found if line in lines[f["line"] - 1]}, found


@pytest.mark.parametrize("number", range(SHARES))
def test_planted_faults_are_refused_at_their_lines(number: int, tmp_path: Path) -> None:
    each(share(QUICK, number, SHARES), lambda fault: is_refused(fault, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SLOW, *(pytest.param(n, marks=pytest.mark.daily) for n in DAILY)])
def test_a_fault_planted_in_a_large_design_is_refused_at_its_line(name: str, tmp_path: Path) -> None:
    is_refused(next(f for f in FAULTS if f[0] == name), tmp_path)


def test_every_design_has_one() -> None:
    assert {f[0] for f in FAULTS} == {p.stem for p in DESIGNS.glob("*.fab")}
    assert {f[3] for f in FAULTS if f[0] in DAILY} <= {f[3] for f in QUICK}
