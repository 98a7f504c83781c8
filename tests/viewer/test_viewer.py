"""The page of ``tdsl view``: what its script computes is what ``fabric.json`` says; clicks, keys and searches in a browser."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.emit.build import build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.viewer.fabric_page import ViewerMark, viewer_page
from tdsl.viewer.packed import pack_columns
from tests.cli.run import tdsl
from tests.harness import MODELS, compile_text, fabric_of
from tests.tables import sections
from tests.viewer.browser import Browser

Browse = Callable[..., Any]
POD = sections(__file__)["pod"]
PANELS = sections(__file__)["panels"]
NAME = '</script><img src=x onerror="document.title=1"><!--<script>'


@pytest.fixture(scope="module")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(POD, tmp_path_factory.mktemp("pod"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with closing(Browser(tmp_path_factory.mktemp("profile"))) as out:
        yield out


@pytest.fixture
def browse(browser: Browser, tmp_path: Path) -> Browse:
    """What a script returns that runs in a page once it is shown."""

    def run(html: str, code: str, hash: str = "") -> Any:
        (tmp_path / "page.html").write_text(html, encoding="utf-8")
        return browser.run((tmp_path / "page.html").as_uri() + hash, code)

    return run


def script(name: str) -> str:
    return (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8")


def unpacked(text: str) -> tuple[dict[str, Any], dict[str, list[int]]]:
    """What ``unpack.js`` reads, a pack or the first of a page, by another implementation."""
    text = next(iter(re.findall(r'class="pack">([^<]*)<', text)), text)
    data = zlib.decompress(base64.b64decode(text))
    size = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + size])
    at, columns = 4 + size, {}
    for c in header["columns"]:
        n, width = c["n"], c["width"]
        if width == 0:
            columns[c["name"]] = [c["start"] + i * c["step"] for i in range(n)]
            continue
        planes = [data[at + k * n : at + (k + 1) * n] for k in range(width)]
        at += n * width
        steps = [int.from_bytes(bytes(p[i] for p in planes), "little", signed=True) for i in range(n)]
        total, out = 0, []
        for s in steps:
            total = (total + s + (1 << 31)) % (1 << 32) - (1 << 31)
            out.append(total)
        columns[c["name"]] = out
    assert at == len(data)
    return header, columns


WORDS = st.integers(-(1 << 31), (1 << 31) - 1)


@given(st.lists(st.lists(WORDS, max_size=20) | st.lists(st.integers(0, 3), max_size=40), max_size=4))
def test_columns_come_back(columns: list[list[int]]) -> None:
    given = {f"c{i}": np.array(c, dtype=np.int64) for i, c in enumerate(columns)}
    header, found = unpacked(pack_columns({"name": NAME}, given))
    assert header["name"] == NAME
    assert found == {k: v.tolist() for k, v in given.items()}


def test_the_page_fetches_nothing(pod: Fabric) -> None:
    html = viewer_page([(pod, (), {})], "pod")
    assert not re.search(r"https?:|<link|src=|@import|fetch\(|XMLHttpRequest|innerHTML|insertAdjacentHTML|eval\(", html)
    assert "default-src 'none'" in html


@pytest.mark.parametrize("name", ["pod", "panels", "torus3d", "gb200_nvl72"])
def test_figures_are_those_of_fabric_json(name: str, tmp_path: Path, browse: Browse) -> None:
    texts = {"pod": POD, "panels": PANELS}
    fabric = fabric_of(texts[name], tmp_path) if name in texts else compiler.compile_without_checks(name).designs[0].fabric
    assert fabric is not None
    found = browse(viewer_page([(fabric, (), {})], name), script("figures"))
    said = json.loads(build_files(fabric, ["json"], Diagnostics())["fabric.json"])

    def table(what: str, *columns: str) -> list[list[Any]]:
        head = said[what]["columns"]
        return [[row[head.index(c)] for c in columns] for row in said[what]["rows"]]

    keys = {m["key"]: m["name"] for m in said["models"]}
    assert found["devices"] == [[n, p, keys[m]] for n, p, m in table("devices", "name", "path", "model")]
    ends = ("a_device", "a_port", "b_device", "b_port")
    links = table("links", *ends, "rate_bps", "class", "cable_id", "rail", "via")
    assert found["links"] == [[*row[:6], row[6] or None, *row[7:]] for row in links]
    assert found["cables"] == table("cables", "cable_id", "leg", *ends)
    wanted = sorted(row for row in table("addresses", "device", "address") if row)
    assert sorted([d, a.partition("/")[0]] for d, a in found["addresses"]) == sorted([d, a.partition("/")[0]] for d, a in wanted)


RESULTS = {
    "results": [
        {"status": "proved", "name": "diameter", "text": "2", "required": False},
        {"status": "refuted", "name": "bisection >= 90%", "text": "too little", "required": True},
    ]
}


def test_address_search_selection_and_marks(pod: Fabric, browse: Browse) -> None:
    """The page's address opens what it names; what is found is shown, and marks are highlighted."""
    mark = ViewerMark("cut", "Bisection cut", "16 of 16 links", links=np.arange(3), devices=np.array([1]))
    found = browse(viewer_page([(pod, [mark], RESULTS)], "pod"), script("search"), "#view=device&device=spine1&colour=rail")
    assert found["opened"][1:] == ["spine1", "device", "rail"] and "device=spine1" in found["opened"][0]
    assert found["su1-leaf2"]["hits"][0].startswith("su1-leaf2")
    assert "su[1].leaf[2]" in found["su1-leaf2"]["panel"] and "6 of 8 in use" in found["su1-leaf2"]["panel"]
    cable = found["su0-node3:nic1"]["panel"]
    assert "Cable su0-node3:nic1" in cable and "su0-leaf1" in cable and "172.17.0.6/31" in cable
    assert "su0-node1" in found["172.17.0.3"]["panel"] and "su0-leaf1" in found["172.17.0.3"]["panel"]
    assert found["10.255.0.1"]["panel"].startswith("×su0-leaf0") and found["fd00:255::2"]["panel"].startswith("×su0-leaf1")
    assert found["nowhere"]["hits"] == ["nothing found"]
    selection, legend = found["marked"]
    assert "Bisection cut" in selection and "3 links" in selection and "Bisection cut: 3" in legend
    assert found["results"] == ["refuted bisection >= 90%too little", "proved diameter2"]  # what fails comes first


def test_clicks_keys_and_levels(pod: Fabric, browse: Browse) -> None:
    found = browse(viewer_page([(pod, (), {})], "pod"), script("clicks"))
    assert found["box"] == "spine: 2 × SW" and found["cell"] == "spine1" and found["cleared"] == ""
    assert found["crumbs"][0] == "Fabric" and "su0" in found["crumbs"][1] and "1 of 2" in found["crumbs"][1]
    assert "su1" in found["crumbs"][2] and found["crumbs"][3] == "Fabric"
    assert [x for x in found["inside"] if not x[2]] == [["node", 4, False], ["leaf", 4, False]]
    assert ["spine", 2, True] in found["inside"]
    assert found["stepped"] == "su × 2" and found["entered"] == "#open=su:0"
    assert found["device"] == ["su0-node0", "device"] and found["colour"] == "rail"
    assert sorted(found["bundles"]) == ["16 × 400G"] + ["8 × 400G"] * 4  # a line a rail below the leaves


def test_hostile_names_stay_text(tmp_path: Path, browse: Browse) -> None:
    fabric = replace(fabric_of(POD, tmp_path), title=NAME)
    fabric.names = {0: NAME, 5: "a'\"\\`${1}\u2028"}
    results = {"results": [{"status": "refuted", "name": NAME, "text": NAME}]}
    html = viewer_page([(fabric, [ViewerMark("finding", NAME, NAME)], results)], NAME)
    assert NAME not in html and "<img" not in html
    found = browse(html, """
      app.select({ kind: "device", row: 0 });
      const name = document.querySelector("#selection h2").textContent;
      app.highlight(app.f.marks[0]);
      await new Promise((done) => setTimeout(done, 50));
      return [name, document.querySelectorAll("img").length, document.title, document.getElementById("title").textContent];
    """)  # fmt: skip
    assert found == [NAME, 0, NAME, NAME]


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "pod.html"
    done = tdsl("view", "dgx_superpod_h100", "--no-open", "-o", out, "--fail", "spine[0]")
    assert done.exit_code == 0 and "pod.html" in done.stderr, done.output
    header, columns = unpacked(out.read_text(encoding="utf-8"))
    assert header["title"] == "NVIDIA DGX SuperPOD H100" and header["marks"][0]["title"] == "Failed: spine[0]"
    assert len(columns["mark0_links"]) == 64 and header["figures"]["links"] == 2044


def test_the_cut_and_findings_are_marked(tmp_path: Path) -> None:
    out = tmp_path / "pod.html"
    assert tdsl("view", "ft2", "--check", "--no-open", "-o", out).exit_code == 0
    header, columns = unpacked(out.read_text(encoding="utf-8"))
    cut = [i for i, m in enumerate(header["marks"]) if m["kind"] == "cut"]
    assert len(cut) == 1 and len(columns[f"mark{cut[0]}_links"]) > 0 and header["results"]


def test_faults_of_an_audit_are_marked(tmp_path: Path) -> None:
    """Two cables of one leaf are swapped at the spine; the page marks their ends."""
    (tmp_path / "pod.fab").write_text(POD + MODELS, encoding="utf-8")
    shown = tdsl("show", tmp_path / "pod.fab", "links", "--format", "csv").stdout
    names = ("a_device", "a_port", "b_device", "b_port")
    links = [[row[n] for n in names] for row in csv.DictReader(io.StringIO(shown))]
    one, other = [link for link in links if link[0] == "su0-leaf0"]
    one[2:], other[2:] = other[2:], one[2:]
    table = tmp_path / "seen.csv"
    table.write_text("\n".join(",".join(row) for row in [names, *links]) + "\n", encoding="utf-8")
    out = tmp_path / "pod.html"
    done = tdsl("view", tmp_path / "pod.fab", "--p2p", table, "--no-open", "-o", out)
    assert done.exit_code == 0, done.output
    header, columns = unpacked(out.read_text(encoding="utf-8"))
    (fault,) = [i for i, m in enumerate(header["marks"]) if m["kind"] == "fault"]
    assert len(columns[f"mark{fault}_links"]) == 2, header["marks"]
    page = tmp_path / "audit.html"
    assert tdsl("audit", tmp_path / "pod.fab", "--p2p", table, "--view", page).exit_code == 1
    header, columns = unpacked(page.read_text(encoding="utf-8"))
    assert [m["kind"] for m in header["marks"]] == ["fault"] and len(columns["mark0_links"]) == 2


CLUSTER = """
cluster site {
  host node[4]: NODE
  fabric compute { switch leaf[2]: SW; switch spine: SW; connect node[n].nic[(0)] to leaf[n % 2]; connect leaf[*] to spine each }
  fabric storage { switch leaf: SW; connect node[n].nic[(1)] to leaf; address leaf loopback from 10.0.0.1/32 }
}
"""


def test_a_cluster_is_one_drawing(tmp_path: Path, browse: Browse) -> None:
    """Shared hosts once, a frame for each network; one network can be chosen, and paths are those of the design."""
    whole = compile_text(CLUSTER, tmp_path).clusters[0].fabric
    assert whole is not None
    code = sections(__file__)["code of a cluster is one drawing"]
    found = browse(viewer_page([(whole, (), {})], "site"), code)
    rows = list(range(whole.device_count))
    assert found["paths"] == [whole.device_path(d) for d in rows] and found["names"] == [whole.device_name(d) for d in rows]
    assert found["all"][0] == ["compute", "storage"] and sorted(n for n, _ in found["all"][2]) == [2, 4, 4]
    assert found["colour"] == "network" and found["legend"] == "compute: 6storage: 4" and found["link"]
    assert found["storage"][0] == ["storage"] and [n for n, _ in found["storage"][2]] == [4]
    assert found["hash"] == "#network=storage" and found["again"] == found["all"]
    assert found["found"] == [["device", "storage-leaf"]]


DRAWN = sections(__file__)["drawn"]


@pytest.mark.parametrize("name", ["dgx_superpod_h100_racks", "tpu_v4", "slim_fly_cscs", "jupiter", "dragonfly"])
def test_what_is_drawn_of_known_networks(name: str, browse: Browse) -> None:
    """Counts by hand; the saved picture is well-formed XML and has every text of the drawing."""
    fabric = compiler.compile_without_checks(name).designs[0].fabric
    assert fabric is not None
    found = browse(viewer_page([(fabric, (), {})], name), DRAWN)
    boxes = {title: (sub, kind, level) for title, sub, kind, level in found["boxes"]}
    wanted = {
        "dgx_superpod_h100_racks": {"node": ("127 × DGX_H100: 32 in 3, 31 in 1", "matrix")},
        "tpu_v4": {"chip": ("4,096 × TPU_V4 in 64 cubes, 16 circuits for each line", "cubes")},
        "slim_fly_cscs": {"r": ("50 × SF_SWITCH, 175 links between them", "ring")},
        "jupiter": {"block": ("8 × AGG_BLOCK, 1,024 circuits between them", "ring")},
        "dragonfly": {"r": ("36 × ROSETTA, 36 links between groups, 54 inside", "circle")},
    }[name]
    assert {k: boxes[k][:2] for k in wanted} == wanted
    assert found["wrong"] == 0 and found["printed"] == 1 and max(found["png"]) > 500
    assert {x for title, sub, _, _ in found["boxes"] for x in (title, sub)} <= set(found["texts"])
    assert fabric.title in found["texts"] and set(found["legend"]) <= set(found["texts"])
    if name == "jupiter":
        assert boxes["ocs"][2] > boxes["block"][2], "optical switches are above what they join"
    if name == "dgx_superpod_h100_racks":
        assert found["racks"] == ["hosts: 128switches: 48", False]
        assert found["labels"] == ["4 su, not all equal"] and found["colour"] == "rail"
        assert found["legend"] == [*(f"rail {r}: 127" for r in range(8)), "host-leaf: 4", "leaf-spine: 1,024"]


def test_a_clicked_finding_marks_what_it_is_about(tmp_path: Path, browse: Browse) -> None:
    """By hand: node 0 has four links, to the four leaves of its unit. The other links keep their number and can be read."""
    text = POD.replace("  address su[*].leaf, spine", "  require edge_redundancy >= 5\n  address su[*].leaf, spine", 1)
    (tmp_path / "pod.fab").write_text(text + MODELS, encoding="utf-8")
    out = tmp_path / "pod.html"
    assert tdsl("view", tmp_path / "pod.fab", "--no-open", "-o", out).exit_code == 0  # without --check it is only shown
    assert tdsl("view", tmp_path / "pod.fab", "--no-open", "--no-check", "-o", tmp_path / "bare.html").exit_code == 0
    assert unpacked((tmp_path / "bare.html").read_text())[0]["results"] == []
    assert tdsl("view", tmp_path / "pod.fab", "--no-open", "--check", "-o", tmp_path / "all.html").exit_code == 1
    code = sections(__file__)["code of a clicked finding marks what it is about"]
    found = browse(out.read_text(encoding="utf-8"), code)
    leaves = [f"su0-leaf{r}" for r in range(4)]
    assert found["ends"] == [["su0-node0", leaf] for leaf in leaves]
    assert found["outlined"] == sorted({*leaves, *found["devices"]}) and "su0-node0" in found["devices"]
    assert sorted(found["bundles"]) == [[0, "16 × 400G"], [0, "28 × 400G"], [1, "4 × 400G"]]
    assert found["here"] == 2 and re.fullmatch(r"#mark=\d+", found["hash"])  # the finding, and the answer below
    assert found["after"] == ["rail", ""] and found["again"][0] == "mark" and "edge_redundancy" in found["again"][1]
    assert found["hidden"][0][0][1] == "false" and len(found["hidden"][1]) == 1 and found["shown"] == ["true", "true"]


def test_a_finding_of_links_marks_those_at_fault_alone(tmp_path: Path) -> None:
    """By hand: six of eight hosts have a half of the three ports that are split; of the other statement no types fit."""
    text = """model host H { port n: 100Gbps { type X } }
model host Y { port n: 100Gbps { type Y } }
model switch S { port p[1..8]: 200Gbps { type X; split 2 }; port q[1..8]: 100Gbps { type X } }
fabric f {
  host h[8]: H
  host y[2]: Y
  switch s: S { split p[1..3] 2 }
  connect h[i] to s.p
  connect y[i] to s.q[2*i + 1]
}
"""
    (tmp_path / "f.fab").write_text(text, encoding="utf-8")
    assert tdsl("view", tmp_path / "f.fab", "--no-open", "-o", tmp_path / "f.html").exit_code == 1  # its plan lacks a cable
    header, page = unpacked((tmp_path / "f.html").read_text())
    marks = {m["title"][:5]: page[f"mark{k}_links"] for k, m in enumerate(header["marks"])}
    assert marks["E0220"] == [6, 7] and marks["E0221"] == [8, 9]


def test_two_designs_in_one_page(tmp_path: Path, browse: Browse) -> None:
    """A unit more: by hand 16 + 8 links of its own, nothing else; it is the only frame that is green."""
    (tmp_path / "old.fab").write_text(POD.replace("su[2]", "su[1]") + MODELS, encoding="utf-8")
    (tmp_path / "new.fab").write_text(POD + MODELS, encoding="utf-8")
    out = tmp_path / "change.html"
    done = tdsl("view", tmp_path / "new.fab", "--diff", tmp_path / "old.fab", "--no-open", "-o", out)
    assert done.exit_code == 0, done.output
    code = sections(__file__)["code of two designs in one page"]
    found = browse(out.read_text(encoding="utf-8"), code)
    assert found["colour"] == "change" and found["links"] == [24, 0, 24] and found["labels"] == ["su0", "su1"]
    assert found["green"] == ["su1-node0", "su1-leaf0"] and "su[1].leaf to spine: 8 new" in found["changes"]
    assert found["legend"] == "unchanged: 24added: 24" and found["marks"][1] == "Added: 24 links, 8 devices"
    assert tdsl("view", tmp_path / "new.fab", "--diff", tmp_path / "old.fab", "--fail", "spine[0]").exit_code == 2
