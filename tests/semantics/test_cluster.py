"""Clusters: several fabrics over the same hosts."""

from __future__ import annotations

import json
from pathlib import Path

from tdsl.compile.compiler import expand_intent
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Severity
from tests.cli.run import report
from tests.harness import compile_text, places, sections
from tests.semantics.test_intent import data

TEXTS = sections(Path(__file__).parent / "cluster.txt")
AI = f"{TEXTS['AI']}\n"
SMALL = f"{TEXTS['SMALL']}\n"


def test_each_fabric_has_the_hosts_that_take_part(tmp_path: Path) -> None:
    result = compile_text(AI, tmp_path, models=False)
    assert [d.code for d in result.findings if d.severity is not Severity.NOTE] == []
    assert [(d.cluster, d.name) for d in result.designs] == [("ai", "compute"), ("ai", "storage")]
    compute, storage = (d.fabric for d in result.designs)
    assert compute is not None and storage is not None
    assert {s.name for s in compute.sets if s.kind == "host"} == {"node", "spare"}  # which no fabric names
    assert {s.name for s in storage.sets if s.kind == "host"} == {"node", "filer"}
    assert (compute.title, storage.title) == ("rails", "")
    assert storage.device_name(storage.sets[1].first) == "storage-filer0"
    for design in result.designs:
        claims = {r.check: r.status for r in design.results if r.requirement}
        assert claims["reachability"] == "proved"
        assert len(claims) == 2


def test_expansion(tmp_path: Path) -> None:
    result = compile_text(AI, tmp_path, models=False, name="intent.fab")
    made, _ = expand_intent(str(tmp_path / "intent.fab"))
    assert made is not None and "hosts node" not in made
    again = compile_text(made, tmp_path, models=False)
    for before, after in zip(result.designs, again.designs, strict=True):
        assert before.fabric is not None and after.fabric is not None
        assert data(before.fabric) == data(after.fabric)


def test_the_report_names_the_cluster(tmp_path: Path) -> None:
    (tmp_path / "ai.fab").write_text(AI)
    document = report(tmp_path / "ai.fab", "--set", "nodes=64")
    assert [(d["cluster"], d["fabric"], d["summary"]["hosts"]) for d in document["designs"]] == [
        ("ai", "compute", 63),
        ("ai", "storage", 63),
        ("ai", "ai", 63),
    ]
    json.dumps(document)


def test_a_port_belongs_to_one_fabric(tmp_path: Path) -> None:
    assert compile_text(SMALL, tmp_path).findings == []
    found = compile_text(SMALL.replace("nic[1]", "nic[0]"), tmp_path).findings
    assert places(found) == [("E0451", 9)]
    assert found[0].message == "port box[0].nic[0] already has a link in fabric `one` (and 3 more ports)"
    assert found[0].labels[0].span.begin[0] == 5


def test_names_of_a_cluster_are_unique(tmp_path: Path) -> None:
    """Devices of a fabric bear its name; those of the cluster do not, and another fabric renames nothing."""
    alone = SMALL[: SMALL.index("  fabric two")] + "}\n"
    names = []
    for text in (alone, SMALL, SMALL.replace("switch z: SW", "switch a: SW").replace("to z", "to a")):
        result = compile_text(text, tmp_path)
        assert result.findings == []
        fabrics = [d.fabric for d in result.designs]
        names.append([f.device_name(d) for f in fabrics if f is not None for d in range(f.device_count)])
        assert all(r.status == "proved" for d in result.designs for r in d.results if r.check == "name_collision")
    boxes = [f"box{b}" for b in range(4)]
    assert names[0] == [*boxes, "one-a"]
    assert names[1] == [*names[0], *boxes, "two-z"]
    assert names[2] == [*names[0], *boxes, "two-a"]


def test_two_fabrics_give_one_name(tmp_path: Path) -> None:
    text = SMALL.replace("switch a: SW", 'switch a: SW; naming a "core"').replace("switch z: SW", 'switch z: SW; naming z "CORE"')
    result = compile_text(text, tmp_path)
    assert places(result.findings) == [("E0415", 8)]  # once, of the cluster
    assert [r.status for d in result.designs for r in d.results if r.check == "name_collision"] == ["refuted", "refuted"]
    assert result.findings[0].message.startswith('one.a is named "core" and two.z "CORE"')


def rows_of(fabric: Fabric) -> list[bytes]:
    """The rows of fabric.json, whatever the order of the devices."""
    return sorted(line.rstrip(b",") for line in data(fabric).splitlines())


def test_what_another_file_adds_to_a_cluster_is_as_if_it_were_written_inside(tmp_path: Path) -> None:
    """A network more, devices, places, values and models of the file's own, and an override."""
    compile_text(SMALL, tmp_path, name="base.fab", verify=False)
    made = compile_text(f"{TEXTS['EXTENDED']}\n", tmp_path, models=False)
    whole = compile_text(f"{TEXTS['WRITTEN']}\n", tmp_path, name="whole.fab")
    assert made.findings == whole.findings == []
    for one, other in zip((*made.designs, *made.clusters), (*whole.designs, *whole.clusters), strict=True):
        assert one.fabric is not None and other.fabric is not None
        assert (one.name, one.cluster) == (other.name, other.cluster)
        assert rows_of(one.fabric) == rows_of(other.fabric)
        assert [(r.requirement, r.status) for r in one.results if r.requirement not in (None, "switches <= boxes + 1")] == [
            (r.requirement, r.status) for r in other.results if r.requirement not in (None, "switches <= 3")
        ]
    assert [r.status for r in made.clusters[0].results if r.requirement == "switches <= boxes + 1"] == ["proved"]


def test_a_text_that_extends_a_fabric_of_another_file_sees_its_own_values(tmp_path: Path) -> None:
    """Also where the file of the fabric has values of the same names."""
    base = "let n = 1\nfabric f { switch leaf[n]: SW; host box[n]: BOX; connect box[b].nic[0] to leaf[b] }\n"
    compile_text(base, tmp_path, name="base.fab", verify=False)
    text = "use base (f, BOX)\nlet n = 3\nextend f { host more[n]: BOX; connect more[m].nic[0] to leaf[0] }\n"
    (design,) = compile_text(text, tmp_path, verify=False, models=False).designs
    assert design.fabric is not None and {s.name: s.count for s in design.fabric.sets} == {"leaf": 1, "box": 1, "more": 3}


def test_a_check_that_is_asked_for_need_not_be_about_every_network(tmp_path: Path) -> None:
    rails = "  host node[4]: NODE\n  fabric one {\n    switch leaf[4]: SW\n    connect node[n].nic[r] to leaf[r]\n  }\n"
    text = (
        f"cluster c {{\n  host box[4]: BOX\n{rails}  fabric two {{\n    switch z: SW\n    connect box[b].nic[1] to z\n  }}\n}}\n"
    )
    result = compile_text(text, tmp_path, select=("rail_alignment",))
    assert result.findings == [] and [r.status for d in result.designs for r in d.results] == ["proved", "skipped"]
    asked = text.replace("switch z: SW", "switch z: SW; require rail_alignment")  # what a network states is judged of it
    assert places(compile_text(asked, tmp_path, select=("rail_alignment",)).findings) == [("E0403", 9)]
    assert places(compile_text(SMALL, tmp_path, select=("rail_alignment",)).findings) == [("E0907", 0)] * 2
