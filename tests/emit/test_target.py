"""What makes a folder a target, what templates may see and do, and how names get into formats."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tdsl import __version__
from tdsl.emit import quote
from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.target import targets_by_name
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostic, Diagnostics
from tdsl.system.resources import packaged_folder
from tests.tables import sections
from tests.targets.build import pod, tiny

OWN = ("cabling", "diagram", "ibsim", "json", "nccl", "opensm", "p2p")


HEAD = 'title = "t"\nconsumer = "c"\n'


def target(place: Path, template: str, manifest: str = "", name: str = "mine") -> Path:
    """A target in a new folder of targets: templates are read once."""
    place = place / str(len(list(place.iterdir())))
    made = place / name
    (made / "templates").mkdir(parents=True, exist_ok=True)
    (made / "target.toml").write_text(manifest or f'{HEAD}[[file]]\npath = "mine/a.txt"\ntemplate = "a.j2"\n')
    (made / "templates" / "a.j2").write_text(template)
    return place


def made(place: Path, fabric: Fabric | None = None, **settings: object) -> tuple[dict[str, bytes], list[Diagnostic]]:
    """What the target makes, and what was found."""
    found = Diagnostics()
    options = BuildOptions(target_paths=(place,), settings={"mine": settings})
    out = build_files(fabric or tiny(), ["mine"], found, options)
    out.pop("manifest.json")
    return out, list(found)


def test_every_target_is_found_and_says_what_it_is() -> None:
    found = Diagnostics()
    known = targets_by_name(found)
    assert not found.items and set(OWN) <= set(known)
    for t in known.values():
        page = (t.folder / "README.md").read_text()
        assert page.startswith(f"# {t.name}") and t.title and t.consumer


def test_the_manifest_lists_every_file_and_nothing_of_the_machine() -> None:
    files = build_files(tiny(), [], Diagnostics())
    content = json.loads(files["manifest.json"])
    assert content["schema"] == 1 and content["tdsl"] == __version__ and content["design"]["name"] == "superpod"
    assert set(content["files"]) == set(files) - {"manifest.json"} and list(content["files"]) == sorted(content["files"])
    for path, facts in content["files"].items():
        assert facts == {"sha256": hashlib.sha256(files[path]).hexdigest(), "size": len(files[path])}
    assert content["design"]["sha256"] == content["files"]["fabric.json"]["sha256"]


def test_the_designs_hash_does_not_depend_on_the_targets_chosen() -> None:
    def design(fabric: Fabric, *targets: str) -> str:
        return str(json.loads(build_files(fabric, targets, Diagnostics())["manifest.json"])["design"]["sha256"])

    (own,) = {design(tiny(), *targets) for targets in ((), ("nccl",), ("json",))}
    assert design(pod(), "json") != own


def test_an_unknown_target_is_answered_with_the_nearest() -> None:
    found = Diagnostics()
    build_files(pod(), ["cablin"], found)
    assert [(d.code, d.help) for d in found] == [("E0501", "did you mean `cabling`?")]


def test_a_target_from_a_further_folder_needs_no_code(tmp_path: Path) -> None:
    text = "{% for d in fabric.devices if d.kind == 'switch' %}\n{{ d.name }} {{ d.tier }}\n{% endfor %}\n"
    files, found = made(target(tmp_path, text))
    assert not found
    assert files["mine/a.txt"].decode().splitlines() == ["su0-leaf0 1", "spine0 2"]


def test_one_file_a_device_under_a_safe_name(tmp_path: Path) -> None:
    manifest = HEAD + '[[file]]\npath="mine/{device}/conf"\nscope="device"\ntemplate="a.j2"\n'
    fabric = tiny()
    fabric.names = {0: "../../etc/passwd", 1: "a b", 2: "C" * 300}
    files, found = made(target(tmp_path, "{{ device.name | line }}", manifest), fabric)
    assert not found and len(files) == 3
    for path in files:
        part = path.split("/")
        assert len(part) == 3 and ".." not in part and len(part[1].encode()) <= 110 and not part[1].startswith(".")


def test_options_have_defaults_and_types(tmp_path: Path) -> None:
    manifest = HEAD + '[options]\nn = 3\n[[file]]\npath="mine/a"\ntemplate="a.j2"\n'
    place = target(tmp_path, "{{ options.n + 1 }}", manifest)
    assert made(place)[0]["mine/a"] == b"4"
    assert made(place, n=6)[0]["mine/a"] == b"7"
    assert [d.code for d in made(place, n="6")[1]] == [d.code for d in made(place, m=1)[1]] == ["E0502"]


def test_a_template_error_names_template_line_and_record(tmp_path: Path) -> None:
    for template, says in (
        ("one\n{{ fabric.nonsense }}\n", "line 2"),
        ("{{ undefined_name }}", "line 1"),
        ("\n\n{% for x in %}\n", "line 3"),
        ("{{ fabric.devices | nofilter }}", "line 1"),
        ("{{ 1 / 0 }}", "line 1"),
        ("{{ fabric.cables | csv(['cable_id', 'price']) }}", "price"),
        ("{% include 'other.j2' %}", "line 1"),
        ("{% include '../../../json/templates/fabric.json.j2' %}", "line 1"),
        ("{% for d in fabric.devices %}\n{{ d.name }}{{ d.colour }}\n{% endfor %}", "while writing device su0-node0"),
    ):
        files, (found,) = made(target(tmp_path, template))
        told = " ".join((found.message, *found.notes))
        assert not files and found.code == "E0503" and "mine" in found.message and says in told and "a.j2" in told, template


def test_templates_reach_nothing_private(tmp_path: Path) -> None:
    for template in (
        "{{ fabric._fabric }}",
        "{{ fabric.__class__.__mro__ }}",
        "{{ fabric.devices.__init__.__globals__ }}",
        "{{ ''.__class__ }}",
        "{{ cycler.__init__.__globals__.os }}",
        "{% for i in range(99999999) %}{% endfor %}",
    ):
        files, found = made(target(tmp_path, template))
        assert not files and [d.code for d in found] == ["E0503"], template


LARGE = sections(__file__)["large"]


def test_a_template_that_would_make_too_much_at_once_is_refused(tmp_path: Path) -> None:
    for template in LARGE.splitlines():
        files, found = made(target(tmp_path, template))
        assert not files and [d.code for d in found] == ["E0504"], template
        if "*d" not in template:  # a width that a value gives is refused whatever it is
            assert not made(target(tmp_path, template.replace("1048577", "1048").replace("600000", "600")))[1], template


FILE = '[[file]]\npath = "a"\ntemplate = "a.j2"'


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        ("title = 3", ""),
        (f"{HEAD}foo = 1", "foo"),
        (HEAD + FILE.replace('"a"', '"../a"'), "leads out"),
        (HEAD + FILE.replace('"a"', '"/a"'), "leads out"),
        (HEAD + FILE.replace("a.j2", "b.j2"), "missing"),
        (HEAD + FILE.replace("template", "program").replace("a.j2", "evil.py"), "only tdsl's own"),
        (f'{HEAD}{FILE}\nscope = "galaxy"', "galaxy"),
        (f'{HEAD}{FILE}\nscope = "device"', "{device}"),
        (f'title = "t"\n{FILE}', "consumer"),
        ("title = ", "target.toml"),
        (f"{HEAD}router = 1\n{FILE}", "`router` is a table"),
        (f"{HEAD}[router]\nports = 1\n{FILE}", "no `ports`"),
        (f'{HEAD}[router]\nmtu = "1"\n{FILE}', "`mtu` is a number"),
        (f'{HEAD}[router]\ninterface = "("\n{FILE}', "pattern that is none"),
    ],
)
def test_an_unfit_manifest_is_a_finding(tmp_path: Path, manifest: str, says: str) -> None:
    place = target(tmp_path, "", manifest)
    (place / "mine" / "evil.py").write_text("raise SystemExit(9)")
    found = Diagnostics()
    assert "mine" not in targets_by_name(found, (place,))
    assert [d.code for d in found] == ["E0502"] and says in found.items[0].message


def test_a_further_folder_cannot_replace_a_target(tmp_path: Path) -> None:
    found = Diagnostics()
    known = targets_by_name(found, (target(tmp_path, "", name="json"),))
    assert known["json"].own and [d.code for d in found] == ["E0502"]


def test_checking_a_design_imports_no_template_engine() -> None:
    code = "import sys, tdsl.emit.build, tdsl.output.write; print({'jinja2', 'xlsxwriter'} & set(sys.modules))"
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True).stdout == "set()\n"


def test_no_target_knows_a_model() -> None:
    names = ("QM9700", "DGX", "H100", "SN5600", "7060X", "GB200", "superpod", "dragonfly")
    for path in packaged_folder("targets").rglob("*"):
        if path.is_file() and path.suffix in (".j2", ".py", ".toml"):
            text = path.read_text().lower()
            assert not [n for n in names if n.lower() in text], path


def test_file_names_stay_apart_and_in_place() -> None:
    long = ["é" * 80, "x" * 200, "x" * 201]
    hostile = ["", ".", "..", "/", "a/b", "a:b", "a b", "a\0b", "...a", "-rf", "\ud800", *long]
    names = [quote.safe_file_name(t) for t in hostile]
    assert len(set(names)) == len(names)
    for name in names:
        assert 0 < len(name.encode()) <= 100 and "/" not in name and "\0" not in name and name[0] not in ".-"
    assert quote.safe_file_name("su0-leaf3") == "su0-leaf3"


def test_a_hostile_name_in_every_format() -> None:
    fabric = tiny()
    fabric.names = {0: '=cmd|"/c calc"!A1,\n<b>&\\', 1: "leaf"}
    fabric.title = '<script>alert("x")</script>\nrouting_engine file --> & \x07'
    found = Diagnostics()
    files = build_files(fabric, [], found)
    refused = ("fabric.net", "assets.csv", "fabric.topo", "inventory.yaml", "labels.yaml", "topology.yaml", "topology.conf")
    refused += ("hypernodes.yaml", "instances.json", "model.yaml")
    told = {(d.code, *d.notes[0].split(",")[:1]) for d in found if d.code != "E0506"}
    assert told == {("E0504", f"in {name}.j2") for name in refused}
    assert json.loads(files["fabric.json"])["title"] == fabric.title
    assert b"<script" not in files["diagram/fabric.svg"]
    config = [x for x in files["opensm/opensm.conf"].decode().splitlines() if x and not x.startswith("#")]
    assert [x.split()[0] for x in config] == ["routing_engine", "lmc", "sweep_interval", "use_ucast_cache"]
