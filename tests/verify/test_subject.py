"""What a requirement is about: members of a set, instances of a group, names in a block, what is in a device.

That a figure in a block is the one of the full path, and that counts are those of the records, is judged on random designs of the
families ``scoped_groups``, ``extended_instances``, ``nested_devices`` and ``unlinked_members`` (tests/soundness).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tdsl
from tdsl.compile.compiler import Request, UsageError
from tests.harness import written

PARTS = """
model chip G { port nv[2]: 100Gbps }
model chip N { port l: 100Gbps }
model host H { port nic[2]: 100Gbps; chip gpu: N; power 3kW max 4kW; price $9k }
model host TRAY { chip gpu[2]: G; power 2kW max 3kW; price $7k }
model switch SW { port p[1..64]: 100Gbps; power 100W; price $50 }
"""


def answers(path: Path, text: str, **options: Any) -> dict[str, tuple[str, Any]]:
    """Status and figure of each requirement and report, the instance behind its text."""
    found = tdsl.check(written(path, text + PARTS), Request(**options))
    assert not [d for d in found.findings if d.code in ("E0901", "E0905")]
    results = [r for d in found.designs for r in d.results if r.requirement]
    return {f"{r.requirement} {r.scope}".strip(): (r.status, r.value) for r in results}


MEMBERS = """fabric f {
  host job[4]: H
  host head: H
  switch leaf: SW
  connect job[n].nic[i] to leaf where n < 2
  connect job[3].nic[0] to head.nic[1]
  connect head.nic[(0)] to leaf
  WHAT
}"""


@pytest.mark.parametrize(
    ("lost", "left_out"),
    [
        ("", "job[2]"),  # has no link
        ("", "job[3]"),  # has a link to an endpoint outside of the set alone
        ("omit job[1]", "job[1]"),
        ("--fail job[1]", "job[1]"),
        ("--fail leaf", "job[1]"),
    ],
)
def test_every_member_of_a_set_counts(lost: str, left_out: str, tmp_path: Path) -> None:
    """A member that has no link, is planned only or failed is reached by none."""
    metrics = ("reachability", "bisection", "edge_redundancy", "node_redundancy")
    asked = [f"{m} of all job[0], {left_out}" for m in metrics]
    text = MEMBERS.replace("WHAT", "\n".join(f"report {x}" for x in asked) + ("\n" + lost if lost.startswith("omit") else ""))
    fail = (lost.removeprefix("--fail "),) if lost.startswith("--fail") else ()
    found = answers(tmp_path / "d.fab", text, fail=fail)
    assert found[asked[0]][0] == "refuted"
    assert [found[x] for x in asked[1:]] == [("proved", 0)] * 3


def test_members_that_are_all_linked_are_a_network_of_their_own(tmp_path: Path) -> None:
    asked = ["reachability of all job[0..1]", "bisection of all job[0..1]", "edge_redundancy of all job[0..1]"]
    found = answers(tmp_path / "d.fab", MEMBERS.replace("WHAT", "\n".join(f"report {x}" for x in asked)))
    assert [found[x] for x in asked] == [("proved", True), ("proved", 1), ("proved", 2)]


def test_a_group_that_one_instance_extends(tmp_path: Path) -> None:
    """What an `extend` gives to one instance is not divided by the instances, and what its block requires is of that one."""
    text = """fabric f {
      group su[3] { host node[2]: H
        switch leaf: SW
        connect node[n].nic[i] to leaf
        report links
        report ports of leaf }
      switch spine: SW
      connect su[*].leaf to spine each
      extend su[1] { host more[3]: H
        connect more[n].nic[i] to leaf
        report links
        report links of more to leaf
        report blast_radius of leaf }
      report blast_radius of su
      report survives any 1 of su
      report survives any 1 of leaf with bisection >= 1%
    }"""
    found = answers(tmp_path / "d.fab", text)
    assert {k: v for k, v in found.items() if "survives" not in k} == {
        "links su[0]": ("proved", 4), "links su[1]": ("proved", 10), "links su[2]": ("proved", 4),
        "ports of leaf su[0]": ("proved", 5), "ports of leaf su[1]": ("proved", 11), "ports of leaf su[2]": ("proved", 5),
        "links of more to leaf su[1]": ("proved", 6), "blast_radius of leaf su[1]": ("proved", 10),
        "blast_radius of su": ("proved", 10),
    }  # fmt: skip
    assert {v[0] for k, v in found.items() if "survives" in k} == {"proved"}


def test_a_bare_name_means_the_devices_of_the_instance(tmp_path: Path) -> None:
    """`leaf` in the block of a pod stands for the leaves of its units, and a name from outside is the same in each pod."""
    text = """fabric f {
      group pod[2] { group su[2] { host node[1]: H
          switch leaf: SW
          connect node[n].nic[i] to leaf }
        switch agg: SW
        connect su[*].leaf to agg each
        report oversubscription at leaf
        report links of agg to spine
        report survives any 1 of spine }
      switch spine: SW
      connect pod[(0)].agg to spine x 3
      connect pod[(1)].agg to spine x 5
      connect pod[(1)].su[*].leaf to spine each }"""
    found = answers(tmp_path / "d.fab", text)
    assert found["oversubscription at leaf pod[0]"][1] == 2 and found["oversubscription at leaf pod[1]"][1] == 1
    assert [found[f"links of agg to spine pod[{i}]"] for i in (0, 1)] == [("proved", 3), ("proved", 5)]
    assert {found[f"survives any 1 of spine pod[{i}]"][0] for i in (0, 1)} == {"skipped"}  # the pods are judged without it


ACTIVE = """fabric f {
  switch a[2]: PLAIN
  switch b: FULL
  connect a[*] each x 4 { cable WIRE }
  connect a[(0)] to b { cable WIRE }
  report power
  report power of a
  report optics_power
  report power of b
}
model switch PLAIN { port p[1..8]: 100Gbps { cage 1 QSFP }; power 100W }
model switch FULL { port p[1..8]: 100Gbps { cage 1 QSFP }; power 90W max 150W }
model cable WIRE { rate 100Gbps; medium MEDIUM; form QSFP; WATTS }
"""


@pytest.mark.parametrize("medium", ["aoc", "acc", "aec", "dac"])
def test_active_cables_take_power(medium: str, tmp_path: Path) -> None:
    """Half at each end; a published maximum includes its own plugs. An active cable without a figure leaves the sum open."""
    text = ACTIVE.replace("MEDIUM", medium)
    found = answers(tmp_path / "d.fab", text.replace("WATTS", "power 12W"))
    watts = {k: (status, value.amount) for k, (status, value) in found.items()}
    assert watts == {
        "power": ("proved", 350 + 4 * 12 + 6), "power of a": ("proved", 100 + 4 * 6 + 6), "optics_power": ("proved", 60),
        "power of b": ("proved", 150),
    }  # fmt: skip
    unknown = answers(tmp_path / "d.fab", text.replace("; WATTS", ""))
    assert {unknown[k][0] for k in ("power", "optics_power")} == {"proved" if medium == "dac" else "bounded"}


def test_cables_on_the_way_through_a_panel(tmp_path: Path) -> None:
    """Those between two sets are all that their links run through: loss and length are of these."""
    text = """fabric f {
      switch leaf[2]: SW
      switch spine: SW
      panel pan: PAN
      connect leaf[(0)] to spine via pan
      connect leaf[(1)] to spine
      report cables of leaf to spine
      report cables of leaf[0] to spine
      report cables of leaf to pan
      report links of leaf to spine
      report loss_budget of leaf to spine
      report loss_budget of leaf[1] to spine
    }
    model panel PAN { port front[8]: any; port back[8]: any; ferrules 2 }
    """
    found = answers(tmp_path / "d.fab", text)
    assert [v for _, v in found.values()][:4] == [3, 2, 1, 2]
    assert found["loss_budget of leaf[1] to spine"] == ("proved", 0)
    assert found["loss_budget of leaf to spine"] != ("proved", 0)


def test_what_is_in_a_device_has_no_power_of_its_own(tmp_path: Path) -> None:
    text = """fabric f { host tray[2]: TRAY
      switch leaf: SW
      connect tray[t].gpu[g].nv[k] to leaf
      report power of tray[0].gpu[1]
      report cost of tray[0].gpu
      report power of tray[0] }"""
    found = answers(tmp_path / "d.fab", text)
    assert [status for status, _ in found.values()] == ["skipped", "skipped", "proved"]


def test_chips_that_no_statement_names_are_no_devices(tmp_path: Path) -> None:
    """They have no rows of their own, so neither a requirement nor a failure is about them, whatever is in those rows."""
    text = """fabric f { host tray[4]: TRAY
      switch leaf[2]: SW
      connect leaf[0] to leaf[1]
      require links of tray.gpu >= 0
      report blast_radius of tray.gpu }"""
    path = written(tmp_path / "d.fab", text + PARTS)
    found = [d for d in tdsl.check(path).findings if d.code != "E0404"]
    assert [d.code for d in found] == ["E0101", "E0101"] and all("is not a device of this fabric" in d.message for d in found)
    written(path, text.replace("require links of tray.gpu >= 0", "").replace("report blast_radius of tray.gpu", "") + PARTS)
    with pytest.raises(UsageError, match="is not a device of this fabric"):
        tdsl.check(path, Request(fail=("tray[0].gpu[1]",)))
