"""Faults that are accepted for a while: the list, its end dates, and what it hides."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import tdsl
from tests.observe.test_chain import POD

ACCEPT = ("--reason", "cables ordered", "--ticket", "OPS-12", "--until", "2027-01-31")


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A design, all its links as a table, and a table without a host and without a cable of a spine."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pod.fab").write_text(POD)
    rows = tdsl("show", "pod.fab", "links", "--format", "csv").stdout.splitlines(keepends=True)
    (tmp_path / "whole.csv").write_text("".join(rows))
    lost = [r for r in rows if "su0-node1," not in r and not ("su0-leaf0," in r and "spine3," in r)]
    assert len(rows) - len(lost) == 9
    (tmp_path / "seen.csv").write_text("".join(lost))
    return tmp_path


def test_a_list_is_written_and_followed(pod: Path) -> None:
    assert tdsl("audit", "pod.fab", "--p2p", "seen.csv").exit_code == 1
    assert tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--accept", "dead.txt").exit_code == 2, "there is no list yet"
    first = tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--accept", "dead.txt", *ACCEPT, "--today", "2026-12-01")
    assert first.exit_code == 1 and "2 elements added" in first.stderr, "what is accepted now counts from the next audit on"
    assert (pod / "dead.txt").read_text() == (
        "su[0].node[1]  # [OPS-12] until 2027-01-31: cables ordered\nspine[3].p[1]  # [OPS-12] until 2027-01-31: cables ordered\n"
    )
    then = tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--accept", "dead.txt", "--today", "2027-01-31")
    assert then.exit_code == 0 and then.stdout.count("E0650") == 2 and "no faults" in then.stdout, then.stdout
    late = tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--accept", "dead.txt", "--today", "2027-02-01")
    assert late.exit_code == 1 and late.stdout.count("E0651") == 2 and "E0650" not in late.stdout
    again = tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--accept", "dead.txt", *ACCEPT, "--today", "2026-12-01")
    assert "0 elements added" in again.stderr and (pod / "dead.txt").read_text().count("\n") == 2
    mended = tdsl("audit", "pod.fab", "--p2p", "whole.csv", "--accept", "dead.txt", "--today", "2026-12-01")
    assert mended.exit_code == 0 and mended.stdout.count("but the fault has gone") == 2, mended.stdout


def test_a_list_is_one_of_failures(pod: Path) -> None:
    tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--accept", "dead.txt", *ACCEPT)
    done = tdsl("check", "pod.fab", "--fail-file", "dead.txt")
    assert "(1 device, 9 links)" in done.stdout, done.stdout


def test_requirements_count_what_is_accepted(pod: Path) -> None:
    (pod / "pod.fab").write_text(POD.replace("require oversub", "require bisection >= 100%\n  require oversub"))
    rows = (pod / "whole.csv").read_text().splitlines(keepends=True)
    (pod / "seen.csv").write_text("".join(r for r in rows if not ("su0-leaf0," in r and "spine" in r)))
    tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--accept", "dead.txt", "--reason", "ordered")
    done = tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--accept", "dead.txt")
    assert done.exit_code == 0 and "E0640" in done.stdout, done.stdout


def test_a_cable_in_the_wrong_port_stays(pod: Path) -> None:
    rows = (pod / "whole.csv").read_text()
    one, two = "su0-node0,nic[0],su0-leaf0,p[1]", "su0-node1,nic[0],su0-leaf0,p[2]"
    assert one in rows and two in rows
    swapped = rows.replace(one, "su0-node0,nic[0],su0-leaf0,X").replace(two, "su0-node1,nic[0],su0-leaf0,p[1]")
    (pod / "seen.csv").write_text(swapped.replace("leaf0,X", "leaf0,p[2]"))
    done = tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--accept", "dead.txt", "--reason", "ordered")
    assert "0 elements added; 1 are more than" in done.stderr, done.stderr
    assert tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--accept", "dead.txt").exit_code == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("spine[0]", "line 1: `spine[0]` has no reason"),
        ("spine[0]  # until soon: x", "line 1: `soon` is not a date"),
        ("# nothing\nspine[77]  # x", "spine"),
    ],
)
def test_a_list_that_cannot_be_followed(line: str, words: str, pod: Path) -> None:
    (pod / "dead.txt").write_text(f"{line}\n")
    done = tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--accept", "dead.txt")
    assert done.exit_code == 2 and words in done.stderr, done.stderr
    assert tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--reason", "x").exit_code == 2


def test_numbers_for_prometheus(pod: Path) -> None:
    parse = pytest.importorskip("prometheus_client.parser").text_string_to_metric_families
    assert tdsl("audit", "pod.fab", "--p2p", "seen.csv", "--prometheus", "tdsl.prom").exit_code == 1
    found = {(s.name, s.labels.get("finding", "")): s.value for m in parse((pod / "tdsl.prom").read_text()) for s in m.samples}
    assert found == {
        ("tdsl_links_expected", ""): 128, ("tdsl_links_as_designed", ""): 119, ("tdsl_links_not_judged", ""): 0,
        ("tdsl_faults_accepted", ""): 0, ("tdsl_faults", "device_not_seen"): 1, ("tdsl_faults", "cable_missing"): 1,
    }  # fmt: skip
    assert tdsl("audit", "pod.fab", "--p2p", "whole.csv", "--prometheus", "tdsl.prom").exit_code == 0
    assert 'tdsl_faults{fabric="pod",finding=""} 0\n' in (pod / "tdsl.prom").read_text()
