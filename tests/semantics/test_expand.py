"""``expand`` and ``fmt`` change no design: each statement of the reference, each design of the library and each case gives the
same ``fabric.json`` before and after."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Options
from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.syntax.printer import format_source
from tdsl.system import resources
from tests.test_docs import Block, marked

LARGE = (
    "alibaba_hpn", "alibaba_hpn_racks", "aurora", "deepseek_dragonfly", "deepseek_mpft", "frontier", "gpu131k", "ironwood",
    "llama3_24k", "llama3_pod_racks", "megascale", "nvlink_576", "oci_supercluster", "tpu_v5p",
)  # fmt: skip
"""Designs of more than 20,000 links: they take long and have no statement that the others do not have."""
LIBRARY = [p for p in sorted((resources.packaged_folder("stdlib") / "designs").glob("*.fab")) if p.stem not in LARGE]

MODELS = """
model host H { port nic[8]: 400Gbps { type GE400, GE200; os "eth{i}" }; chip gpu[8]: G }
model host TWO { port nic[2]: 100Gbps { type GE100 }; forwards }
model host CAGES { port nic[2]: 400Gbps { type GE400; cage 2 OSFP flat } }
model chip G { port lane: 400Gbps }
model chip DIE { port d2d[6]: 100Gbps }
model switch S { port p[1..64]: 800Gbps { type GE800, GE400, GE200; cage 1 OSFP finned; split 2, 4; sockets 2; os "swp{i}" } }
model switch W { port down[1..128]: 400Gbps { type GE400, GE200 }; port up[1..64]: 400Gbps { type GE400 } }
model switch SMALL { port p[1..8]: 100Gbps { type GE100 }; fact trays 18 }
model cable LONG { rate 800Gbps; medium fibre; fibre multimode }
"""
NEW = {
    "settings of devices in an intent": """language 1
fabric f {
  hosts 16 x H { spares 2; role accelerator }; rails 8
  clos { leaf S { split p 2; nos sonic }; spine S { split p 2 } }
  require oversubscription <= 1:1 of active
}""",
    "part of a class, and ports by their way": """fabric f {
  transport roce
  hosts 64 x H; rails 8
  clos {
    tier leaf of 64 hosts { switch S as tor { split p[1..32] 2 }; down p[1..32]; up p[33..64] }
    tier spine of ? leaf { switch S; cable LONG; bundle 2 }
  }
  omit host[63]
}""",
    "a rate of ports": """fabric f {
  transport ethernet
  hosts 32 x H; rails 8
  clos {
    tier segment of 16 hosts { switch W; down down at 200Gbps; up up }
    tier agg of ? segment { switch S { split p 2 } }
  }
}""",
    "by rail": """fabric f {
  hosts 64 x DGX_B200; rails 8
  clos {
    tier su of 32 hosts { switch QM9700 as leaf }
    tier spine of ? su by rail { switch QM9700 }
    tier core of ? spine { switch QM9700; oversubscription about 2:1 }
  }
}""",
    "cables that carry two": """fabric f {
  transport roce
  hosts 16 x H
  rails 8
  clos {
    tier leaf of 16 hosts { switch S { split p 2 } }
    tier spine of ? leaf { switch S { split p 2 }; cable LONG carries 2 }
  }
  require cables of leaf to spine == 64
}""",
    "bundles": """fabric f {
  transport ethernet
  host h[4]: H
  switch a[2]: S { split p[1..8] 2; split p[9..16] 4 }
  switch b[2]: S
  connect h[n].nic[r] to a[r % 2].p[1..8] { colour "rail {r}" }
  connect a[*].p[33..64] to b[*] spread x 8 { bundle 4; class up }
  require survives any 1 bundles of a to b
}""",
    "phases": """fabric f {
  param units: int = 1 where 1 <= units <= 4
  param spines: int = 2
  phase 1 { units 2 }
  phase 3 { units 4; spines 4; needed "2027-03-01" }
  transport ethernet
  hosts 16*units of 64 x H; rails 8
  clos { leaf W; spine S { split p 2 } }
  switch extra[spines]: SMALL
  connect extra[*] ring
}""",
    "phases of a cluster": """cluster c {
  param units: int = 1
  phase 1 { units 1 }
  phase 2 { units 2 }
  host h[8*units]: H
  fabric one { transport ethernet; hosts h.nic; rails 8; rail_only { switch S { split p 2 } } }
}""",
    "hosts that forward": """fabric f {
  hosts 16 x TWO
  bcube { n 4; k 1; switch SMALL }
}
fabric g {
  transport ethernet
  host h[6]: CAGES { forwards }
  connect h[i].nic[(0)] to h[(i + 1) % 6].nic[1]
}
fabric k {
  hosts 6 x CAGES
  dcell { n 2; k 1; switch W }
}""",
    "tables": """fabric f {
  chips 64 x DIE
  torus 4x4x4 { twist x by 2 along z; wrap x, z }
}
fabric g {
  hosts 12 x TWO
  dragonfly { router SMALL; routers 2; groups big 3 of 2 hosts, small 2 of 3 hosts; arc big to big 1; arc big to small 1 }
}""",
    "scale-up beside a network": """fabric f {
  transport infiniband
  rack rack[2] {
    host tray[18]: GB200_TRAY
    switch nvswitch[18]: NVLINK5_SWITCH
    connect tray[t].gpu[g].nvlink[k] to nvswitch[k] { layer scaleup; medium backplane }
  }
  hosts rack[*].tray[*].nic
  rails 4
  clos { leaf QM9700; spine QM9700 }
}""",
}  # fmt: skip


def made(path: Path, text: str) -> list[tuple[str, bytes]]:
    """Name and ``fabric.json`` of every fabric of a text in the place of a file, at its last phase."""
    path.write_text(text, encoding="utf-8")
    result = compiler.compile_without_checks(str(path), Options())
    assert not [d for d in result.findings if d.severity is Severity.ERROR], [f"{d.code} {d.message}" for d in result.findings]
    out = []
    for design in result.designs:
        found = Diagnostics()
        assert design.fabric is not None
        out.append((design.name, build_files(design.fabric, ["json"], found)["fabric.json"]))
        assert not found.has_errors, [f"{d.code} {d.message}" for d in found.items]
    return out


def crumpled(text: str) -> str:
    """A text without its indentation and with blanks where none are needed."""
    return re.sub(
        r"^ +(?=\w|\})",
        "\t",
        re.sub(r"(?<=[\w\])]) \{$", "   {", text, flags=re.MULTILINE),
        flags=re.MULTILINE,
    )


def hold(path: Path, text: str) -> None:
    """Expand and lay out a text; it stays the same fabrics, and doing so again changes nothing."""
    before = made(path, text)
    for loose in (text, crumpled(text)):
        laid = format_source(SourceFile(path.name, loose))
        assert format_source(SourceFile(path.name, laid)) == laid
        assert made(path, laid) == before
    path.write_text(text, encoding="utf-8")
    written, result = compiler.expand_intent(str(path), Options())
    assert written is not None, [d.message for d in result.findings]
    assert format_source(SourceFile(path.name, written)) == written
    assert made(path, written) == before
    again, _ = compiler.expand_intent(str(path), Options())
    assert again == written


@pytest.mark.parametrize("name", NEW)
def test_every_new_statement(name: str, tmp_path: Path) -> None:
    hold(tmp_path / "design.fab", NEW[name] + MODELS)


@pytest.mark.parametrize("design", LIBRARY, ids=lambda p: p.stem)
def test_every_design_of_the_library(design: Path, tmp_path: Path) -> None:
    hold(tmp_path / design.name, design.read_text(encoding="utf-8"))


@pytest.mark.parametrize("block", [b for b in marked("fab", "check") if "minimize" not in b.text], ids=str)
def test_every_example_of_the_pages(block: Block, tmp_path: Path) -> None:
    for other in marked("fab", "file"):
        if other.path == block.path and other.line < block.line:
            path = tmp_path / other.info[2]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(other.text, encoding="utf-8")
    hold(tmp_path / "example.fab", block.text)


MODEL = "model switch S { port p[1..8]: 400Gbps }\n"


def expanded(text: str, folder: Path, **given: str) -> str:
    """The expanded text, without the model."""
    path = folder / "t.fab"
    path.write_text(text + MODEL, encoding="utf-8")
    found, result = compiler.expand_intent(str(path), Options(set=tuple(given.items())))
    assert found is not None, [d.message for d in result.findings]
    assert "model switch S" in found
    return found[: found.index("model switch S")]


FABRIC = "fabric f { switch a[n]: S\n connect a[*] each }\n"


@pytest.mark.parametrize(
    ("params", "given", "expected"),
    [
        ("param n: int = 2 where 1 <= n <= 8", {}, ["param n: int = 2 where 1 <= n <= 8"]),
        ("param n: int = 2 where 1 <= n <= 8", {"n": "3"}, ["param n: int = 3 where 1 <= n <= 8"]),
        (
            'param n: int = 2\nparam s: string = "a"\nparam t = "b"',
            {"s": "x y", "n": "4"},
            ["param n: int = 4", 'param s: string = "x y"', 'param t = "b"'],
        ),
        (
            'param n: int = 2\nparam s: string = "a"',
            {"s": '"x"'},
            ["param n: int = 2", 'param s: string = "x"'],
        ),
        (
            'param n: int = 2\nparam s: string = "a"',
            {"s": 'x"y'},
            ["param n: int = 2", 'param s: string = "x{34:c}y"'],
        ),
    ],
)
def test_values_of_parameters_are_written(params: str, given: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    """Defaults are the values that are given; a string may be given without quotes."""
    found = expanded(f"{params}\n{FABRIC}", tmp_path, **given)
    assert [line for line in found.splitlines() if line.startswith("param")] == expected


def test_the_value_of_an_unknown_is_written(tmp_path: Path) -> None:
    """The value that is found is written in place of the unknown."""
    text = "fabric f { let n = ?\n switch a[n]: S\n connect a[*] each\n require links == 6 }\n"
    assert expanded(text, tmp_path).split() == text.replace("?", "4").split()


def test_other_text_stays(tmp_path: Path) -> None:
    """Comments and links that are written out stay as they are."""
    text = "fabric f {\n  # first\n  switch z: S\n  switch y: S\n  connect z to y\n  # last\n}\n"
    assert expanded(text, tmp_path) == text
