"""Intent: hosts, rails, planes, pods, topologies and tiers, and the structure that ``tdsl expand`` prints for them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Options
from tdsl.emit.build import build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.syntax.printer import format_source
from tdsl.system import resources
from tdsl.verify.summary import fabric_summary

SUPERPOD = """\
fabric superpod "NVIDIA DGX SuperPOD H100" {
  param units: int = 4 where 1 <= units <= 4
  hosts 32*units x DGX_H100
  omit host[32*units - 1]
  rails 8
  pods units
  clos { leaf QM9700; spine QM9700; oversubscription 1:1 }
  host ufm: UFM { role manager }
  connect ufm.p[i] to pod[units - 1].leaf[2*(i - 1)].p[32]
}
"""
RACKS = """\
model switch TOR { port p[1..64]: 400Gbps { type GE } }
model switch BIG { port p[1..576]: 400Gbps { type GE } }
model host NODE { port nic[8]: 400Gbps { type GE } }
"""
LLAMA = (
    RACKS
    + """
fabric llama {
  hosts 3072 x NODE
  clos {
    tier rack of 2 hosts { switch TOR }
    tier pod of 192 rack { switch BIG x 16; oversubscription 1:1 }
    tier core of 8 pod { switch BIG; oversubscription at most 7:1 }  # 28 up
  }
}
"""
)
MULTIPLANE = (
    RACKS
    + """
fabric mpft {
  param used: int = 2048
  hosts used of 2048 x NODE
  planes 8
  clos { leaf TOR; spine TOR; oversubscription 1:1 }
}
"""
)
IMBUE = """\
fabric imbue {
  hosts 512 x DGX_H100
  omit host[511]
  rails 8
  clos {
    tier su of 32 hosts { switch QM9700 x 8 }
    tier pod of 4 su { switch QM9700 x 32; oversubscription 1:1 }
    tier core of 4 pod { switch QM9700 x 64; oversubscription 1:1 }
  }
}
"""
SPLIT = """\
model host NODE { port nic[4]: 800Gbps { type GE; split 4, 2 } }
model switch SW { port p[1..64]: 200Gbps { type GE; connector 4 } }
topology lanes(ends: ports, switch: model) {
  switch rail[4]: switch
  connect ends[h, r, l] to rail[r]
}
fabric split {
  let h = 3
  hosts 16 x NODE { split nic 4 }
  lanes SW
}
"""
AROUND = (
    RACKS
    + """
model host FILER { port nic[2]: 400Gbps { type GE } }
fabric around {
  group unit[2] { host node[3..6]: NODE }
  host filer[4]: FILER { role storage }
  hosts unit.node.nic, filer
  clos { leaf TOR; spine TOR; oversubscription 2:1 }
}
"""
)
KINDS = """\
model switch S16 { port p[1..16]: 400Gbps }
model host FOUR { port nic[4]: 400Gbps }
model host ONE { port nic: 400Gbps }
model host GRID { port nic[2, 4]: 400Gbps }
fabric kinds {
  host a[4]: FOUR
  host b[3]: ONE
  host c[2]: GRID
  hosts a, b.nic, c.nic
  clos { leaf S16; spine S16 }
}
"""
OWN = """\
topology star(ends: ports, hub: model, arms: int = 1, joined: pattern, labels: list = [1, 2]) {
  let spare = arms + 1
  switch hub[spare]: hub
  if arms > 1 {
    connect hub[*] joined { class local }
  }
  group side[arms] {
    switch extra: hub
    connect extra to hub[(len(labels) - 2)]
  }
  connect ends[h, k] to hub[(h + k) % arms] where h >= 0
}
fabric own {
  hosts 6 x DGX_H100
  star QM9700 { arms 3; joined each x 2 }
}
"""
DESIGNS = {
    "superpod": SUPERPOD, "llama": LLAMA, "multiplane": MULTIPLANE, "imbue": IMBUE, "split": SPLIT, "around": AROUND,
    "kinds": KINDS, "own": OWN,
}  # fmt: skip


def compiled(text: str, folder: Path, **settings: object) -> compiler.Compilation:
    path = folder / "design.fab"
    path.write_text(text, encoding="utf-8")
    return compiler.compile_and_verify(str(path), Options(set=tuple((k, str(v)) for k, v in settings.items())))


def fabric_of(text: str, folder: Path, **settings: object) -> Fabric:
    """The fabric of a text without errors."""
    result = compiled(text, folder, **settings)
    assert [d.message for d in result.findings if d.severity is not Severity.NOTE] == []
    fabric = result.designs[0].fabric
    assert fabric is not None
    return fabric


def data(fabric: Fabric) -> bytes:
    """The bytes of fabric.json."""
    found = Diagnostics()
    files = build_files(fabric, ["json"], found)
    assert not found.has_errors
    return files["fabric.json"]


def expanded(text: str, folder: Path, **settings: object) -> str:
    path = folder / "intent.fab"
    path.write_text(text, encoding="utf-8")
    made, result = compiler.expand_intent(str(path), Options(set=tuple((k, str(v)) for k, v in settings.items())))
    assert made is not None, [d.message for d in result.findings]
    return made


# ---------------------------------------------------------------- expansion


@pytest.mark.parametrize("name", DESIGNS)
def test_an_expansion_is_a_design_of_the_same_fabric(name: str, tmp_path: Path) -> None:
    text = DESIGNS[name]
    made = expanded(text, tmp_path)
    assert format_source(SourceFile("x", made)) == made
    assert not any(
        line.strip().startswith(("hosts ", "rails ", "planes ", "pods ", "clos ", "tier ")) for line in made.splitlines()
    )
    assert data(fabric_of(made, tmp_path)) == data(fabric_of(text, tmp_path))
    assert expanded(made, tmp_path) == made


@pytest.mark.parametrize("units", [1, 2, 3, 4])
def test_the_superpod_expands_to_few_lines_at_any_size(units: int, tmp_path: Path) -> None:
    made = expanded(SUPERPOD, tmp_path, units=units)
    assert len(made.splitlines()) == len(expanded(SUPERPOD, tmp_path).splitlines()) <= 40
    assert data(fabric_of(made, tmp_path)) == data(fabric_of(SUPERPOD, tmp_path, units=units))


def test_comments_stay_and_lines_of_numbers_go(tmp_path: Path) -> None:
    text = "fabric f {\n  # first\n  hosts 8 x DGX_H100  # eight\n  rails 8; clos { leaf QM9700; spine QM9700 }\n}\n"
    made = expanded(text, tmp_path)
    assert made.splitlines()[:4] == [
        "fabric f {",
        "  # first",
        "  host host[8]: DGX_H100  # eight",
        "  group leaf[1] {",
    ]


def test_a_variable_is_no_name_that_has_a_value(tmp_path: Path) -> None:
    assert "connect host[h_].nic[i, j] to rail[i]" in expanded(SPLIT, tmp_path)


# ---------------------------------------------------------------- figures


@pytest.mark.parametrize("units", [1, 2, 3, 4])
def test_intent_and_structure_have_the_same_figures(units: int, tmp_path: Path) -> None:
    """Units of 3 take 16 spines: 12 would have the ports, and 32 links do not spread evenly over 12."""
    intent = fabric_summary(fabric_of(SUPERPOD, tmp_path, units=units))
    standard = compiler.compile_without_checks("dgx_superpod_h100", Options(set=(("units", str(units)),))).designs[0].fabric
    assert standard is not None
    assert intent == fabric_summary(standard)
    assert intent["tiers"]["spine"] == [4, 8, 16, 16][units - 1]  # type: ignore[index]


def test_least_links_for_at_most(tmp_path: Path) -> None:
    """192 down at most 7:1 are 28 up, which is 48:7."""
    result = compiled(LLAMA, tmp_path)
    fabric = result.designs[0].fabric
    assert fabric is not None
    summary = fabric_summary(fabric)
    assert summary["tiers"] == {"rack": 1536, "pod": 128, "core": 7}
    assert summary["links"]["classes"]["pod-core"] == 3584  # type: ignore[index]
    value = next(r.value for r in result.designs[0].results if r.check == "oversubscription")
    assert value == Fraction(48, 7)
    assert [d.code for d in result.findings] == ["E0461"] and "48:7" in result.findings[0].message


@pytest.mark.parametrize(("how", "up", "ratio"), [("about 7:1", 27, "64:9"), ("at most 7:1", 28, "48:7"), ("6:1", 32, "")])
def test_ratios(how: str, up: int, ratio: str, tmp_path: Path) -> None:
    made = LLAMA.replace("at most 7:1", how)
    assert f"spread x {up}\n" in expanded(made, tmp_path)
    assert ratio in compiled(made, tmp_path).findings[0].message


def test_an_exact_ratio_names_the_two_nearest(tmp_path: Path) -> None:
    found = compiled(LLAMA.replace("at most 7:1", "7:1"), tmp_path).findings
    assert [d.code for d in found] == ["E0460"]
    assert "28 up: 48:7" in found[0].notes[0] and "27 up: 64:9" in found[0].notes[0]
    assert found[0].span is not None and found[0].span.text.startswith("tier pod")


def test_planes(tmp_path: Path) -> None:
    """DeepSeek-V3's multi-plane fat tree (ISCA 2025, table 3): 16,384 endpoints, 768 switches, 16,384 links between them."""
    summary = fabric_summary(fabric_of(MULTIPLANE, tmp_path))
    assert (summary["endpoints"], summary["switches"], summary["planes"]) == (16384, 768, 8)
    assert summary["links"]["classes"] == {"host-leaf": 16384, "leaf-spine": 16384}  # type: ignore[index]
    assert fabric_summary(fabric_of(MULTIPLANE, tmp_path, used=100))["endpoints"] == 800


def test_three_tiers(tmp_path: Path) -> None:
    """Imbue: 4,088 + 4,096 + 4,096 links. The top spread alone would fall into two parts, which meet in the tier below."""
    summary = fabric_summary(fabric_of(IMBUE, tmp_path))
    assert summary["tiers"] == {"su": 128, "pod": 128, "core": 64}
    assert summary["links"]["classes"] == {"host-su": 4088, "su-pod": 4096, "pod-core": 4096}  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("hosts 96 x DGX_H100\nrails 8\npods 3", "connect host[h].nic[r] to pod[h // 32].leaf[r]"),
        (
            "hosts 128 x DGX_H100\nrails 8\npods 2",
            "connect host[h].nic[r] to pod[h // 64].leaf[8*(h % 64 // 32) + r]",
        ),
        ("hosts 32 x DGX_H100\npods 2", "connect host[h].nic[i] to pod[h // 16].leaf[h % 16 // 4]"),
        ("hosts 40 x DGX_H100", "connect host[h].nic[i] to leaf[h // 4].leaf"),
        ("hosts 5 x DGX_H100\nrails 8", "connect host[h].nic[r] to leaf[h // 5].leaf[r]"),
    ],
)
def test_which_switch_an_end_meets(text: str, line: str, tmp_path: Path) -> None:
    made = f"fabric f {{\n{text}\nclos {{ leaf QM9700; spine QM9700; oversubscription 1:1 }}\n}}\n"
    assert line in expanded(made, tmp_path)
    assert data(fabric_of(expanded(made, tmp_path), tmp_path)) == data(fabric_of(made, tmp_path))


@pytest.mark.parametrize(
    ("tier", "end"),
    [
        ("of 8 hosts { switch QM9700 x 16 }", "leaf[h // 8].leaf[8*(h % 2) + r]"),
        ("of 16 hosts { switch QM9700 x 8 }", "leaf[h // 16].leaf[r]"),
    ],
)
def test_several_switches_a_rail(tier: str, end: str, tmp_path: Path) -> None:
    made = (
        f"fabric f {{\nhosts 32 x DGX_H100\nrails 8\nclos {{\ntier leaf {tier}\ntier top of ? leaf {{ switch QM9700 }}\n}}\n}}\n"
    )
    assert f"connect host[h].nic[r] to {end}" in expanded(made, tmp_path)
    fabric_of(made, tmp_path)


def test_several_switches_without_rails(tmp_path: Path) -> None:
    tiers = "tier leaf of 4 hosts { switch QM9700 x 2 }\ntier top of 2 leaf { switch QM9700 }"
    made = f"fabric f {{\nhosts 8 x DGX_H100\nclos {{ {tiers} }}\n}}\n"
    assert "connect host[h].nic[i] to leaf[h // 4].leaf[i % 2]" in expanded(made, tmp_path)
    fabric_of(made, tmp_path)


# ---------------------------------------------------------------- topologies


@pytest.mark.parametrize(
    ("hosts", "model", "rails", "tier", "loads"),
    [
        (4, "nic[2, 4]", "", "3 hosts { switch S64 x 4 }", [2, 6]),
        (6, "nic[2, 4]", "rails 2", "3 hosts { switch S64 x 4 }", [6]),
        (6, "nic[4]", "rails 4", "3 hosts { switch S64 x 8 }", [1, 2]),
        (7, "nic[4]", "", "7 hosts { switch S64 x 3 }", [9, 10]),
    ],
)
def test_ends_are_dealt_evenly(hosts: int, model: str, rails: str, tier: str, loads: list[int], tmp_path: Path) -> None:
    fabric = fabric_of(
        f"model switch S64 {{ port p[1..64]: 400Gbps }}\nmodel host NODE {{ port {model}: 400Gbps }}\nfabric f {{\n"
        f"hosts {hosts} x NODE\n{rails}\nclos {{ tier rack of {tier}; tier top of ? rack {{ switch S64 }} }}\n}}\n",
        tmp_path,
    )
    access = np.bincount(fabric.device_b[fabric.device_a < hosts])
    assert sorted(set(access[access > 0].tolist())) == loads


def test_a_topology_of_the_design_itself(tmp_path: Path) -> None:
    fabric = fabric_of(OWN, tmp_path)
    assert fabric_summary(fabric)["links"]["total"] == 48 + 2 * 6 + 3  # type: ignore[index]
    made = expanded(OWN, tmp_path)
    assert "switch hub[4]: QM9700" in made
    assert "connect hub[*] each x 2 { class local }" in made
    assert "connect host[h].nic[i] to hub[(h + i) % 3] where h >= 0" in made


def test_topologies_are_files(tmp_path: Path) -> None:
    """One of a ``--path`` folder is known; without its file its name means nothing."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "pair.fab").write_text(
        "topology pair(ends: ports, sw: model) {\n switch s[2]: sw\n connect ends[h, r] to s[r % 2]\n}\n"
    )
    path = tmp_path / "design.fab"
    path.write_text("fabric f {\n hosts 8 x DGX_H100\n pair QM9700\n}\n")
    assert compiler.compile_and_verify(str(path), Options(paths=(tmp_path / "own",))).findings == []
    assert [d.code for d in compiler.compile_and_verify(str(path)).findings] == ["E0118"]


def test_rail_only(tmp_path: Path) -> None:
    text = "model switch SW { port p[1..128]: 400Gbps { type NDR } }\n"
    text += "fabric f {\n hosts 128 x DGX_H100\n rail_only { switch SW }\n}\n"
    fabric = fabric_of(text, tmp_path)
    assert fabric_summary(fabric)["links"] == {"total": 1024, "classes": {"host-rail": 1024}}
    assert expanded(text, tmp_path).splitlines()[1:5] == [
        "fabric f {", "  host host[128]: DGX_H100", "  switch rail[8]: SW", "  connect host[h].nic[i] to rail[i]",
    ]  # fmt: skip


def test_fat_tree(tmp_path: Path) -> None:
    """Al-Fares et al. 2008: k = 48 makes 27,648 hosts and 2,880 switches."""
    models = "model switch R { port p[1..48]: 400Gbps }\nmodel host N { port nic: 400Gbps }\n"
    summary = fabric_summary(fabric_of(models + "fabric f {\n hosts 27648 x N\n fat_tree R { k 48 }\n}\n", tmp_path))
    assert (summary["hosts"], summary["switches"]) == (27648, 2880)
    found = compiled(models + "fabric f {\n hosts 27648 x N\n fat_tree R\n}\n", tmp_path).findings
    assert [(d.code, d.message) for d in found] == [("E0115", "`fat_tree` needs `k` of type int")]


@pytest.mark.parametrize(("a", "routers", "links"), [(4, 36, 90), (8, 264, 1452)])
def test_balanced_dragonflies(a: int, routers: int, links: int, tmp_path: Path) -> None:
    """Kim et al. 2008: a = 2p = 2h, g = a h + 1, radix p + a - 1 + h; every port is used and the diameter is 3."""
    h = a // 2
    models = f"model switch R {{ port p[{2 * h + a - 1}]: 400Gbps }}\nmodel host N {{ port nic: 400Gbps }}\n"
    block = f"hosts {a * h * (a * h + 1)} x N\n dragonfly {{ groups {a * h + 1}; routers {a}; router R; global each }}"
    block += "\n require diameter <= 3"
    result = compiled(f"{models}fabric f {{\n {block}\n}}\n", tmp_path)
    assert result.findings == []
    fabric = result.designs[0].fabric
    assert fabric is not None
    classes = fabric_summary(fabric)["links"]["classes"]  # type: ignore[index]
    assert (fabric_summary(fabric)["switches"], classes["local"] + classes["global"]) == (routers, links)


def test_a_finding_names_the_intent_and_then_the_topology(tmp_path: Path) -> None:
    """Three nodes more than ports: the block is the place, the library's line a label."""
    text = "fabric f {\n hosts 67 x DGX_H100\n rail_only { switch QM9700 }\n}\n"
    found = compiled(text, tmp_path).findings
    assert [(d.code, d.span.begin[0] if d.span else 0) for d in found] == [("E0452", 3)]
    labels = {x.span.file.name: x.message for x in found[0].labels}
    assert labels["stdlib:topologies/rail_only.fab"] == "as the topology says here"


def test_every_standard_topology_says_where_it_is_from() -> None:
    for path in (resources.packaged_folder("stdlib") / "topologies").glob("*.fab"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("# ") and f"topology {path.stem}(" in text
        assert format_source(SourceFile(path.name, text)) == text


def test_too_many_hosts_are_refused_at_once(tmp_path: Path) -> None:
    """The search for another size of the leaf does not try every number of its ports."""
    text = "fabric f {\nhosts 2**31 x DGX_H100\nplanes 8\nclos { leaf QM9700; spine QM9700; oversubscription 1:255 }\n}"
    assert {d.code for d in compiled(text, tmp_path).findings} == {"E0116", "E0459"}
