"""What the checker says that a certificate proves, and which requirements follow from it."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from tdsl.certificates import checker
from tests.cli.run import tdsl
from tests.tables import sections

SCRIPT = Path(checker.__file__)
DESIGN = sections(__file__)["design"]


@pytest.fixture(scope="module")
def proofs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The certificates of the design, and its fabric.json."""
    folder = tmp_path_factory.mktemp("proofs")
    (folder / "pod.fab").write_text(DESIGN)
    done = tdsl("check", folder / "pod.fab", "--no-cache", "--certificates", folder / "proofs")
    assert done.exit_code == 0, done.output
    assert tdsl("build", folder / "pod.fab", "--target", "json", "--out", folder / "out").exit_code == 0
    return [*map(str, sorted((folder / "proofs" / "pod").glob("*.json"))), str(folder / "out" / "fabric.json")]


def called(files: list[str], *expected: str) -> tuple[int, list[str]]:
    """Status and lines of the script alone."""
    given = [x for requirement in expected for x in ("--expect", requirement)]
    done = subprocess.run([sys.executable, "-I", str(SCRIPT), *files, *given], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_each_line_is_the_whole_statement(proofs: list[str]) -> None:
    status, lines = called(proofs)
    assert status == 0 and len(lines) == len(proofs) - 1
    said = {line.split(": verified: ")[1] for line in lines}
    assert said >= {
        "bisection of pod == 50% (1.6Tbps, of 3.2Tbps; 8 units)",
        "reachability of pod (all 8 units)",
        "oversubscription of pod == 2 to 1 (8 units)",
        "oversubscription at su[0].leaf[0], su[0].leaf[1] in pod == 2 to 1 (8 units)",
        "throughput shift 4 of pod == 50% (3.2Tbps, of 6.4Tbps; 8 units)",
        "throughput of su[0] to su[1] in pod == 50% (1.6Tbps, of 3.2Tbps; 8 units)",
        "survives of pod: any 1 of spine with bisection >= 25% of intact (1 representative case; 8 units)",
        "blast_radius of su[0] in pod == 8 ports of units (8 units)",
    }, said
    assert called([proofs[0], proofs[-1]])[1][0].startswith("verified: ")


@pytest.mark.parametrize(
    ("requirement", "status"),
    [
        ("bisection >= 50%", 0), ("bisection >= 0.5", 0), ("bisection >= 1600Gbps", 0), ("bisection == 1.6Tbps", 0),
        ("bisection > 50%", 1), ("bisection >= 100%", 1), ("bisection >= 1.7Tbps", 1), ("bisection <= 40%", 1),
        ("bisection of su >= 10%", 1), ("bisection >= 40% of intact", 1), ("bisection", 1),
        ("reachability", 0), ("edge_redundancy >= 2", 0), ("edge_redundancy >= 3", 1), ("edge_redundancy >= 50%", 1),
        ("oversubscription <= 2:1", 0), ("oversubscription <= 3:2", 1), ("oversubscription at su[0].leaf[*] <= 2", 0),
        ("oversubscription at su[0].leaf[0] <= 2", 1), ("oversubscription of su[0].leaf <= 2", 1),
        ("throughput shift 4 >= 3Tbps", 0), ("throughput shift 4 >= 51%", 1), ("throughput shift 3 >= 1%", 1),
        ("throughput of su[0].h to su[1] >= 50%", 0), ("throughput of su[0].h[0..3] to su[1].h >= 1Tbps", 0),
        ("throughput of su[0].h[0..2] to su[1].h >= 1Tbps", 1), ("throughput of su[1] to su[0] >= 1%", 1),
        ("survives any 1 of spine with bisection >= 20% of intact", 0), ("survives any 1 of spine with bisection >= 20%", 1),
        ("survives any 1 of spine[0..1] with bisection >= 25% of intact", 0),
        ("survives any 1 of spine with bisection > 25% of intact", 1),
        ("survives any 1 of spine with bisection <= 90% of intact", 1),
        ("survives any 2 of spine with bisection >= 1% of intact", 1),
        ("survives any 1 of spine[0] with bisection >= 1% of intact", 1),
        ("survives any 1 of su.leaf", 0), ("survives any 1 of su.leaf with reachability", 0), ("survives any 1 of spine", 1),
        ("survives any 1 links of su.leaf to spine with edge_redundancy >= 1", 0),
        ("survives any 1 cables of su.leaf to spine with edge_redundancy >= 1", 1),
        ("survives any 1 links of su.leaf with edge_redundancy >= 1", 1),
        ("blast_radius of su[0] <= 8", 0), ("blast_radius of su[0] < 8", 1), ("blast_radius of su <= 8", 1),
        ("bisection >=", 2), ("", 2), ("bisection >= 1/0", 2), ("survives any 1 of nothing", 2), ("taper <= 2", 1),
    ],
)  # fmt: skip
def test_which_requirements_follow(proofs: list[str], requirement: str, status: int) -> None:
    texts = [Path(name).read_text() for name in proofs]
    *_, (found, line) = checker.judge(texts[:-1], texts[-1], [requirement])
    assert found == status, line
    assert line.startswith({0: "met: ", 1: "not met: ", 2: "not readable: "}[status]) and requirement in line


def test_every_requirement_counts(proofs: list[str]) -> None:
    assert called(proofs, "bisection >= 50%", "reachability")[0] == 0
    status, lines = called(proofs, "bisection >= 50%", "bisection >= 51%", "diameter <= 99", "latency <= 1")
    assert status == 1
    assert lines[-2].startswith("not met: bisection >= 51%: proved is only bisection of pod == 50%")
    assert lines[-1] == "not met: latency <= 1: no certificate is about it"


def test_a_weaker_certificate_does_not_pass(proofs: list[str]) -> None:
    """It is verified, since it is true, and says so; what was expected is not met."""
    name = next(p for p in proofs if p.endswith("bisection.json"))
    fabric = Path(proofs[-1]).read_text()
    weaker = json.loads(Path(name).read_text()) | {"lower_bps": 0}
    (verified, first), (met, last) = checker.judge([json.dumps(weaker)], fabric, ["bisection >= 25%"])
    assert (verified, met) == (0, 1)
    assert first == "verified: bisection of pod >= 0% and <= 50% (0bps to 1.6Tbps, of 3.2Tbps; 8 units)" and first[10:] in last


def test_shares_of_nothing_are_not_met() -> None:
    """Two hosts without a link between them and any switch: no share of what they inject, which is nothing, follows."""
    columns = {name: list(fields) for name, fields in checker.TABLES.items()}
    rows = {name: [] for name in columns}
    rows["devices"] = [[f"h{i}", f"h[{i}]", "host", None, "M", None, None, None] for i in range(2)]
    fabric = json.dumps({"schema": 1, "fabric": "f"} | {name: {"columns": columns[name], "rows": rows[name]} for name in columns})
    stated = {
        "schema": checker.SCHEMA, "fabric": "f", "design": sha256(fabric.encode()).hexdigest(), "check": "bisection", "units": 2,
        "lower_bps": 0, "upper_bps": 0, "cut": ["h0"], "lower": {"by": "shares", "parts": []},
    }  # fmt: skip
    for requirement in ("bisection >= 100%", "bisection >= 0%", "bisection >= 1bps"):
        found = checker.judge([json.dumps(stated)], fabric, [requirement])
        assert [status for status, _ in found] == [0, 1], found
