"""What ``tdsl diff`` says of the contract of a design: planted changes, and each of them said as what it is and nothing else.

Whether a bound is weaker or stronger is decided here by trying figures one by one."""

from __future__ import annotations

import json
import operator
import random
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import tdsl, write
from tests.harness import sampled
from tests.tables import sections

OPERATORS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "==": operator.eq}
WHOLE = [Fraction(n) for n in range(-1, 70)]
SHARES = [Fraction(n, 40) for n in range(-1, 400)]

# metric and subject -> bounds as text with their value; of counts the figures are whole numbers
SHARE = {"25%": Fraction(1, 4), "0.5": Fraction(1, 2), "50%": Fraction(1, 2), "3/4": Fraction(3, 4), "goal": Fraction(1, 2)}
RATIO = {"1:1": Fraction(1), "2:1": Fraction(2), "4:2": Fraction(2), "3:1": Fraction(3)}
COUNT = {str(n): Fraction(n) for n in (4, 8, 9, 16, 33)} | {"4 * 2": Fraction(8)}
SUBJECTS: dict[str, tuple[dict[str, Fraction], list[Fraction]]] = {
    "bisection": (SHARE, SHARES),
    "oversubscription": (RATIO, SHARES),
    "edge_redundancy": (COUNT, WHOLE),
    "diameter": (COUNT, WHOLE),
    "links of su[0].leaf[1]": (COUNT, WHOLE),
    "links of su[1].leaf[1]": (COUNT, WHOLE),
    "ports of spine[0]": (COUNT, WHOLE),
    "mean_hops": ({"2": Fraction(2), "2.5": Fraction(5, 2), "3": Fraction(3)}, SHARES),
    "survives any 1 of spine with bisection": (SHARE, SHARES),
    "survives any 1 of su[*].leaf with edge_redundancy": (COUNT, WHOLE),
}


@dataclass(frozen=True)
class Wanted:
    """A requirement: its subject, comparison and bound as text, and whether it is in the block of the groups."""

    subject: str
    op: str
    bound: str
    grouped: bool = False

    @property
    def text(self) -> str:
        return f"{self.subject} {self.op} {self.bound}"

    def allowed(self) -> set[Fraction]:
        bounds, figures = SUBJECTS[self.subject]
        return {x for x in figures if OPERATORS[self.op](x, bounds[self.bound])}


def drawn(rng: random.Random, subject: str) -> Wanted:
    bounds = SUBJECTS[subject][0]
    grouped = subject in ("bisection", "diameter") and rng.random() < 0.5
    return Wanted(subject, rng.choice(list(OPERATORS)), rng.choice(list(bounds)), grouped)


def design(rng: random.Random, wanted: list[Wanted]) -> str:
    """The design with its requirements in a random order and form."""
    rows: dict[bool, list[str]] = {False: [], True: []}
    for w in rng.sample(wanted, len(wanted)):
        blank = rng.choice(["", " ", "   "])
        rows[w.grouped].append(f"{w.subject}{blank}{w.op}{blank}{w.bound}")
    said = {}
    for grouped, claims in rows.items():
        lines = []
        while claims:
            n = rng.randint(1, 3)
            lines.append(f"require {' and '.join(claims[:n])}" + rng.choice(["", "  # kept", ";"]))
            claims = claims[n:]
        said[grouped] = "\n    ".join(lines)
    before, after = (said[False], "") if rng.random() < 0.5 else ("", said[False])
    return f"""\
model switch S {{ port p[1..16]: 100Gbps }}
model host H {{ port nic[2]: 100Gbps }}
param goal = 50%
fabric pod {{
    {before}
  group su[2] {{
    host node[2]: H
    switch leaf[2]: S
    connect node[i].nic[r] to leaf[r]
    {said[True]}
  }}
  switch spine[4]: S
  connect su[*].leaf[*] to spine[*] spread x 4
    {after}
}}
"""


def contract(folder: Path, old: str, new: str, *more: str) -> list[dict[str, str]]:
    """What differs in the contract, of a comparison of which the fabric is the same."""
    a, b = write(folder, old, "old.fab"), write(folder, new, "new.fab")
    done = tdsl("diff", a, b, "--no-checks", "--detailed-exitcode", "--output-format", "json", *more)
    assert done.exit_code in (0, 3), done.output
    document = json.loads(done.stdout)
    (fabric,) = document["fabrics"]
    assert not fabric["added"] and not fabric["removed"] and not fabric["figures"]
    assert fabric["same"] is document["same"] is (done.exit_code == 0)
    assert fabric["same"] is not (fabric["contract"] or fabric["parameters"])
    found: list[dict[str, str]] = fabric["contract"]
    return found


def order(old: Wanted, new: Wanted) -> str:
    """Weaker or stronger by the figures that are allowed, same where they are equal."""
    if old.grouped != new.grouped:
        return "changed"
    before, after = old.allowed(), new.allowed()
    return "same" if before == after else "stronger" if after < before else "weaker" if after > before else "changed"


@pytest.mark.parametrize("seed", sampled(range(30), 2))
def test_a_planted_change_of_a_requirement(seed: int, tmp_path: Path) -> None:
    """Requirements in another order and form are no difference; one that goes, comes or has another bound is, and is alone."""
    rng = random.Random(seed)
    subjects = rng.sample(list(SUBJECTS), rng.randint(1, 8))
    wanted = [drawn(rng, s) for s in subjects]
    at, step = rng.randrange(len(wanted)), rng.choice(["none", "remove", "add", "bound", "bound", "move"])
    one, after, expected = wanted[at], list(wanted), ("", "", "")
    if step == "remove":
        after = after[:at] + after[at + 1 :]
        expected = "removed", one.text, ""
    elif step == "add":
        other = drawn(rng, rng.choice([s for s in SUBJECTS if s not in subjects]))
        after.append(other)
        expected = "added", "", other.text
    elif step != "none":
        grouped = not one.grouped if step == "move" else one.grouped
        other = replace(drawn(rng, one.subject), grouped=grouped) if step == "bound" else replace(one, grouped=grouped)
        if "links of" in one.subject or "ports of" in one.subject or "survives" in one.subject:
            other = replace(other, grouped=one.grouped)  # these paths are of the fabric
        after[at] = other
        expected = order(one, other), one.text, other.text
        if expected[0] == "same":
            expected = ("", "", "")
    found = contract(tmp_path, design(rng, wanted), design(rng, after))
    said = [(c["part"], c["change"], *(" ".join(c[k].split()) for k in ("before", "after"))) for c in found]
    if not expected[0]:
        assert said == []
        return
    ((part, change, before, now),) = said
    assert (part, change) == ("requirement", expected[0])
    for text, begins in ((before, expected[1]), (now, expected[2])):
        assert text.replace(" ", "").startswith(begins.replace(" ", "")) and bool(text) == bool(begins)


TEXT = sections(__file__)["text"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("any 1 of", "any 2 of", "requirement stronger"),
        ("node[0..1]", "node[0]", "requirement weaker"),
        ("node[0..1]", "node[1..2]", "requirement changed"),
        ("node[0..1]", "node[0], node[1]", None),
        ("node[0..1]", "node[0..n - 3]", None),
        ("require links", "report links", "requirement removed: it is only reported now"),
        ("require links of leaf >= 2", "require links of leaf > 1.5", None),
        ("require links of leaf >= 2", "require links of leaf == 4", "requirement stronger"),
        ("require links of leaf >= 2", "require links of leaf >= 2 and links of leaf >= 2", None),
        ("require links", "require links of leaf >= 1; require links", "requirement added: `links of leaf >= 2` required"),
        ("  # tdsl: allow(isolated) a spare", "", "waiver removed: allowed: "),
        ("a spare", "in the second phase", "waiver changed: its reason"),
        ("(isolated)", "(isolated until 2099-01-31)", "waiver changed: its reason or last day"),
        ("spare: S", "extra: S", "waiver changed: the finding"),
        ("connect", "# tdsl: allow(rate_match) for now\n  connect", "waiver added: allows no finding"),
        ("<= 8", "<= 16", "parameter changed"),
        ("n: int", "n", "parameter removed"),
        (" where 1 <= n <= 8", "", "parameter removed"),
        ("65001", "65002", "statement changed"),
        ('"v1"', '"v2"', "model changed"),
        ("fabric pod", "fabric pod2", "design changed"),
        ("  switch spare", "  # a comment\n  switch   spare", None),
    ],
)
def test_what_else_is_part_of_the_contract(old: str, new: str, said: str | None, tmp_path: Path) -> None:
    """The one change is said, with its part and kind; comments and other ways of writing are none."""
    assert TEXT.count(old) >= 1
    a, b = write(tmp_path, TEXT, "old.fab"), write(tmp_path, TEXT.replace(old, new), "new.fab")
    done = tdsl("diff", a, b, "--output-format", "json", "--detailed-exitcode")
    document = json.loads(done.stdout)
    (fabric,) = document["fabrics"]
    found = [f"{c['part']} {c['change']}" + (f": {c['note']}" if c["note"] else "") for c in fabric["contract"]]
    if said is None:
        assert found == [] and document["same"] and done.exit_code == 0
    else:
        assert len(found) == 1 and found[0].startswith(said) and not document["same"] and done.exit_code in (1, 3)


def test_files_and_locks(tmp_path: Path) -> None:
    """A file that a design uses, and its lock, are part of it; comments in them are not."""
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        write(tmp_path / side, TEXT[: TEXT.index("fabric")], "models.fab")
        write(tmp_path / side, f"use models (S, H)\n{TEXT[TEXT.index('fabric') :]}", "pod.fab")
        assert tdsl("lock", tmp_path / side / "pod.fab").exit_code == 0

    def found() -> list[tuple[str, str, str]]:
        done = tdsl("diff", tmp_path / "old/pod.fab", tmp_path / "new/pod.fab", "--no-checks", "--output-format", "json")
        return [(c["part"], c["change"], c["what"]) for c in json.loads(done.stdout)["fabrics"][0]["contract"]]

    assert found() == []
    models = tmp_path / "new/models.fab"
    models.write_text("# of the vendor\n" + models.read_text().replace("p[1..16]", "p[1 .. 16]"))
    assert ("file", "changed", "models.fab") not in found()
    models.write_text(models.read_text() + "model switch T { port p[1..4]: 100Gbps }\n")
    assert ("file", "changed", "models.fab") in found()
    lock = tmp_path / "new/pod.fab.lock"
    lock.unlink()
    assert ("lock", "removed", "lock") in found()


def test_instances_that_come_are_no_other_requirement(tmp_path: Path) -> None:
    """A requirement in the block of a group is of all its instances, however many there are; the same for paths with `*`."""
    text = sections(__file__)["text of instances that come are no other requirement"]
    a = write(tmp_path, text, "a.fab")

    def found(*more: str) -> list[tuple[str, str]]:
        done = tdsl("diff", a, a, "--no-checks", "--output-format", "json", *more)
        assert done.exit_code == 0, done.output
        return [(c["change"], c["before"]) for c in json.loads(done.stdout)["fabrics"][0]["contract"]]

    assert found("--set-new", "k=3") == []
    ((change, before),) = found("--set-new", "some=0")
    assert change in ("weaker", "changed") and before.startswith("ports of su[0..some].leaf")


def test_fabrics_that_one_side_does_not_have(tmp_path: Path) -> None:
    both = TEXT + TEXT[TEXT.index("fabric") :].replace("fabric pod", "fabric other")
    a, b = write(tmp_path, TEXT, "a.fab"), write(tmp_path, both, "b.fab")
    for old, new, change in ((a, b, "added"), (b, a, "removed")):
        done = tdsl("diff", old, new, "--no-checks", "--detailed-exitcode", "--output-format", "json")
        assert done.exit_code == 3, done.output
        fabrics: list[dict[str, Any]] = json.loads(done.stdout)["fabrics"]
        assert [(f["fabric"], f["same"]) for f in fabrics] == [("pod", True), ("other", False)]
        said = [(c["part"], c["change"]) for c in fabrics[1]["contract"]]
        assert said == [("requirement", change)] * 3 + [("design", change)]


CLUSTER = sections(__file__)["cluster"]


def test_requirements_of_a_cluster(tmp_path: Path) -> None:
    """They are of none of its fabrics; one that does not hold any more fails the call."""

    def compared(text: str) -> tuple[int, bool, dict[str, list[tuple[str, str]]]]:
        paths = [write(tmp_path, t, name) for t, name in ((CLUSTER, "old.fab"), (text, "new.fab"))]
        done = tdsl("diff", *paths, "--output-format", "json")
        found = json.loads(done.stdout)
        rows = {f["fabric"]: [(c["change"], c["what"]) for c in f["contract"]] for f in found["fabrics"]}
        return done.exit_code, found["same"], rows

    assert compared(CLUSTER) == (0, True, {"k": []})  # one comparison, not one a fabric
    assert compared(CLUSTER.replace("<= 9kW", "<= 10kW")) == (0, False, {"k": [("weaker", "power")]})
    assert compared(CLUSTER.replace("<= 9kW", "<= 7kW")) == (1, False, {"k": [("stronger", "power")]})
    assert compared(CLUSTER.replace(" and links of node == 2", "")) == (0, False, {"k": [("removed", "links")]})
    assert compared(CLUSTER.replace("cluster k", "cluster q")) == (0, False, {"q": [("changed", "name of the cluster")]})
    alone = CLUSTER.replace("cluster k {", "fabric one {").replace("  fabric one { switch leaf: S; ", "switch leaf: S; ")
    alone = alone.replace("a to leaf }", "a to leaf").replace("  fabric two { switch leaf: S; connect node[n].b to leaf }\n", "")
    in_one = CLUSTER.replace("connect node[n].a", "require cables <= 4; connect node[n].a")
    assert compared(in_one) == (0, False, {"k": [("added", "cables")]})
    _, same_design, rows = compared(alone.replace("== 2", "== 1"))
    assert not same_design and ("removed", "cluster") in rows["k"] and ("removed", "power") in rows["k"]
