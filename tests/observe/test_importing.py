"""What is imported is what was captured: links, names and rates; and real captures with mistakes planted in them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tdsl.compile import compiler
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Severity
from tdsl.findings.source import SourceFile
from tdsl.observe.importing import NoDesign, design_from_captures
from tdsl.observe.record import CapturedEnd, CapturedLink, CapturedNode, CaptureLine, Observed
from tests.cli.run import tdsl
from tests.conftest import Golden
from tests.fabrics import multiplane, random_fabric, superpod
from tests.harness import fabric_of
from tests.observe.captures import audited, codes, ends_by_name, lldp, netlist
from tests.observe.plant import Cables, extra, missing, swap, wrong_port
from tests.observe.test_chain import POD
from tests.observe.test_readers import real

G = 10**9


def imported(folder: Path, *args: str | Path) -> Fabric:
    """The fabric of what an import writes; the text must compile without errors."""
    done = tdsl("import", *args, "-o", folder / "asbuilt.fab")
    assert done.exit_code == 0, done.output
    result = compiler.compile_without_checks(str(folder / "asbuilt.fab"))
    assert not [d.message for d in result.findings if d.severity is Severity.ERROR]
    fabric = result.designs[0].fabric
    assert fabric is not None
    return fabric


WIRINGS: list[Callable[[], Fabric]] = [superpod(2, 4, 4, 2, 16).build, multiplane(2, 8, 2, 2, 16).build, random_fabric(1).build]


@pytest.mark.parametrize("fabric", [None, *WIRINGS], ids=lambda x: "pod" if x is None else "")
def test_any_wiring_comes_back(fabric: Callable[[], Fabric] | None, tmp_path: Path) -> None:
    """As arrays with few connects or link by link, with the same names and rates, and an audit finds no fault."""
    made = fabric() if fabric else fabric_of(POD, tmp_path, models=False)
    (tmp_path / "x.topo").write_text(netlist(Cables(made), dict.fromkeys(range(len(made.port_device)), "4xNDR")))
    for form, most in (("structure", made.link_count if fabric else 2), ("flat", made.link_count)):
        back = imported(tmp_path, tmp_path / "x.topo", "--as", form)
        assert ends_by_name(back) == ends_by_name(made) and back.link_count == made.link_count
        assert set(back.link_rate.tolist()) == {400 * G}
        assert (tmp_path / "asbuilt.fab").read_text().count("connect ") <= most
        assert tdsl("audit", tmp_path / "asbuilt.fab", "--ibnetdiscover", tmp_path / "x.topo", "--no-requirements").exit_code == 0


def test_lldp_needs_a_rate(small: Fabric, tmp_path: Path) -> None:
    lldp(Cables(small), tmp_path / "captures")
    done = tdsl("import", tmp_path / "captures")
    assert done.exit_code == 2 and "--rate 400Gbps" in done.output
    assert imported(tmp_path, tmp_path / "captures", "--rate", "0.4Tbps").link_count == small.link_count
    assert tdsl("audit", tmp_path / "asbuilt.fab", "--lldp", tmp_path / "captures").exit_code == 0


CAPTURES = ("ibnetdiscover/loginoff-sx6036-8sw-144ca.ibnetdiscover.txt", "ibnetdiscover/ibtopotool-1.topo")


@pytest.mark.parametrize("name", CAPTURES)
def test_a_real_capture_with_planted_mistakes(name: str, tmp_path: Path) -> None:
    path = real(name)
    fabric = imported(tmp_path, path)
    assert codes(audited(fabric, ("ibnetdiscover", path))) == []
    expected = {missing: ("E0625", "E0610"), extra: ("E0626",), wrong_port: ("E0627", "E0628"), swap: ("E0620", "E0621")}
    for kind, wanted in expected.items():
        done = 0
        for seed in range(4):
            cables = Cables(fabric)
            if not kind(cables, Random(seed)):
                continue
            (tmp_path / "now.topo").write_text(netlist(cables, dict.fromkeys(range(len(fabric.port_device)), "4xQDR")))
            found = [c for c in codes(audited(fabric, ("ibnetdiscover", tmp_path / "now.topo"))) if c not in ("E0631", "E0630")]
            assert len(found) == 1 and found[0] in wanted, (kind.__name__, seed, found)
            done += 1
        assert done


def test_the_known_faults_of_a_real_cluster(tmp_path: Path) -> None:
    """A design of the cluster as it was meant: 6 leaves, 2 spines, 4 links a pair. One link is not there."""
    path = real(CAPTURES[0])
    tdsl("import", path, "-o", tmp_path / "asbuilt.fab")
    text = (tmp_path / "asbuilt.fab").read_text()
    assert "connect ib[1].p[25] " not in text  # the fourth link from ib1 to ib8
    whole = text.rstrip().removesuffix("}") + "  connect ib[1].p[25] to ib[8].p[6] { rate 40Gbps }\n}\n"
    (tmp_path / "meant.fab").write_text(whole)
    done = tdsl("audit", tmp_path / "meant.fab", "--ibnetdiscover", path, "--format", "json")
    (found,) = json.loads(done.stdout)["fabrics"]
    assert done.exit_code == 1
    assert [(d["code"], d["message"]) for d in found["findings"]] == [("E0625", "no link is seen on the cable ib1 p25 to ib8 p6")]


@pytest.mark.parametrize("faults", [0, 3])
def test_a_table_keeps_its_structure_with_faults_in_it(faults: int, tmp_path: Path) -> None:
    """Of tables no port without a cable is known; swapped and missing cables are exceptions of the rules, and links are kept."""
    (tmp_path / "pod.fab").write_text(POD)
    assert tdsl("build", tmp_path / "pod.fab", "--target", "cabling", "--out", tmp_path / "out").exit_code == 0
    with (tmp_path / "out/cabling/links.csv").open(newline="") as file:
        head, *rows = list(csv.reader(file))
    far = [head.index(f"b_{x}") for x in ("device", "interface", "port")]
    choose = Random(faults)
    for _ in range(faults):
        one, other = choose.sample(rows, 2)
        for k in far:
            one[k], other[k] = other[k], one[k]
    for _ in range(faults // 2):
        rows.remove(choose.choice(rows))
    with (tmp_path / "seen.csv").open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    back = imported(tmp_path, tmp_path / "seen.csv", "--rate", "400Gbps")
    text = (tmp_path / "asbuilt.fab").read_text()
    loops = sum(row[head.index("a_device")] == row[head.index("b_device")] for row in rows)
    assert back.link_count == len(rows) - loops == len(rows) - text.count("left out")
    assert text.count("model switch") <= 2 and text.count("connect ") <= (10 if not faults else len(rows) // 3)
    if not loops:
        assert tdsl("audit", tmp_path / "asbuilt.fab", "--p2p", tmp_path / "seen.csv").exit_code == 0


def test_quotes_and_braces_in_names_come_back(tmp_path: Path) -> None:
    """`a"0` and `a'0` were one device, and one of the two links was lost."""
    names = ['a"0', "a'0", 'b{10:c}"', "{{x}}", 'say "no"']
    ports = ['p"1', "p'1", 'p"2{', "{i}", "q"]
    capture = tmp_path / "cables.csv"
    with capture.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("a_device", "a_port", "b_device", "b_port", "rate_gbps"))
        rows.writerows((n, p, "spine", f"swp{k}", 400) for k, (n, p) in enumerate(zip(names, ports, strict=True)))
    done = tdsl("import", capture, "-o", tmp_path / "made.fab")
    assert done.exit_code == 0, done.output
    shown = tdsl("show", tmp_path / "made.fab", "links", "--format", "csv")
    found = {r[f"{end}_device"] for r in csv.DictReader(io.StringIO(shown.stdout, newline="")) for end in "ab"} - {"spine"}
    assert found == set(names), shown.output
    done = tdsl("audit", tmp_path / "made.fab", "--p2p", capture)
    assert done.exit_code == 0 and "5 of 5" in done.stdout, done.output


AT = CaptureLine(SourceFile("x", "\n" * 9), 1)


def made(*wires: tuple[str, str, str, str, int], kinds: dict[str, str] | None = None, files: int = 1) -> Observed:
    """Links with their rates in Gb/s between devices that a capture names; ``kinds`` says what some of them are."""
    out = Observed(files=files)
    for a, p, b, q, rate in wires:
        for name in (a, b):
            out.nodes.setdefault(name, CapturedNode(name, name, (kinds or {}).get(name, ""), (f"id{name}",), 0, AT))
        out.wires.append(CapturedLink(CapturedEnd(a, (p,)), CapturedEnd(b, (q,)), AT, rate * G))
    return out


@pytest.mark.parametrize("seed", range(12))
def test_a_link_that_both_ends_see_is_one(seed: int, tmp_path: Path) -> None:
    """Each end of a cable names the other's port or has its description alone, which says nothing of the far end."""
    random = Random(seed)
    rows: dict[str, list[str]] = {f"sw{k}": [] for k in range(3)}
    cables = random.randint(1, 8)
    for n in range(cables):
        ends = [(s, f"et-0/0/{len(rows[s])}") for s in random.sample(sorted(rows), 2)]
        for (here, port), (there, far) in (ends, ends[::-1]):
            rows[here].append(f"{port}  -  2c:6b:f5:00:00:0{there[-1]}  {random.choice((far, f'cable {n}'))}  {there}")
    for name, lines in rows.items():
        heading = "Local Interface    Parent Interface    Chassis Id          Port info          System Name"
        (tmp_path / f"{name}.txt").write_text("\n".join([heading, *lines, ""]) if lines else heading + "\n")
    done = tdsl("import", tmp_path, "--rate", "100Gbps")
    assert f"{cables} link{'s' if cables > 1 else ''}." in done.stdout.splitlines()[0], done.output


def test_no_design() -> None:
    with pytest.raises(NoDesign, match=r"^the captures have no link$"):
        design_from_captures(made(), "f")
    unknown = made(("n0", "eth0", "s0", "1", 0), ("n1", "eth0", "s0", "2", 0), ("n2", "eth0", "s0", "3", 100))
    with pytest.raises(NoDesign, match=r"^the captures do not say the rate of 2 links; give it with --rate 400Gbps$"):
        design_from_captures(unknown, "f")
    assert design_from_captures(unknown, "f", 400 * G).count("rate 400Gbps") == 2


def test_an_imported_design(golden: Golden) -> None:
    """Two leafs of six ports with three hosts each; a host is missing, a cable is looped, and a link is seen twice."""
    wires = [(f"node{2 * leaf + i}", "eth0", f"leaf{leaf}", str(i + 1), 100) for leaf in range(2) for i in range(2)]
    wires += [("leaf0", "6", "spine", "1", 400), ("leaf1", "6", "spine", "2", 400), ("leaf0", "4", "leaf0", "5", 100)]
    wires += [("spine", "1", "leaf0", "6", 200), ("leaf0", "7", "leaf0", "7", 100)]
    golden("observe/imported.txt", design_from_captures(made(*wires, files=2), "my lab"))
    assert design_from_captures(made(*wires[:2]), "x").startswith("# Made by `tdsl import` from 1 capture: 3 devices, 2 links.\n")


def test_one_array_and_one_device() -> None:
    """The end that comes first stays first; one device is no array."""

    def lines(*wires: tuple[str, str, str, str, int]) -> list[str]:
        return [line.strip() for line in design_from_captures(made(*wires), "f").splitlines()]

    found = lines(("sw0", "1", "sw1", "2", 100), ("sw1", "1", "sw0", "2", 100))
    assert [line for line in found if "connect" in line] == [
        "connect sw[0].p[1] to sw[1].p[2] { rate 100Gbps }", "connect sw[0].p[2] to sw[1].p[1] { rate 100Gbps }",
    ]  # fmt: skip
    lone = {"switch sw7: SWITCH_1", 'naming sw7 "sw7"', "connect core.p[1] to sw7.p[1] { rate 100Gbps }"}
    assert lone <= set(lines(("sw7", "1", "core", "1", 100)))
    padded = lines(("n1", "1", "core", "1", 100), ("n01", "1", "core", "2", 100), ("n2", "1", "core", "3", 100))
    assert {'naming n01 "n01"', "switch n[1..2]: SWITCH_1"} <= set(padded)  # n1 and n01 are two
