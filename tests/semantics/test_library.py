"""What a file takes from others by `use`: a fabric comes as the file leaves it that is named."""

from __future__ import annotations

from pathlib import Path

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tests.harness import written
from tests.tables import sections

BASE = sections(__file__)["base"]
MIDDLE = """use base (pod as lower)
model switch SPARE { port p[1..2]: 400Gbps }
extend lower { switch top: SPARE; connect core to top }
override lower.leaf[1]: BIG
model switch BIG { port p[1..32]: 400Gbps }
"""


def test_a_used_fabric_has_what_its_files_add_to_it(tmp_path: Path) -> None:
    """Through two files, by other names, with models that only they know; each file's own design is as it was."""
    written(tmp_path / "base.fab", BASE)
    written(tmp_path / "middle.fab", MIDDLE)
    alone = written(tmp_path / "alone.fab", "use middle (lower)\n")
    more = written(
        tmp_path / "more.fab", "use middle (lower as tree)\nextend tree { switch extra: QM9700; connect extra to top }\n"
    )
    wanted = {
        "base.fab": {"box": 2, "leaf": 2, "core": 1},
        "middle.fab": {"box": 2, "leaf": 2, "core": 1, "top": 1},
        alone.name: {"box": 2, "leaf": 2, "core": 1, "top": 1},
        more.name: {"box": 2, "leaf": 2, "core": 1, "top": 1, "extra": 1},
    }
    for name, sets in wanted.items():
        result = compiler.compile_without_checks(str(tmp_path / name), Request())
        assert [d.code for d in result.findings if d.severity.word == "error"] == [], name
        (design,) = result.designs
        assert {s.name: s.count for s in design.fabric.sets} == sets, name
        leaf = [d for d in range(design.fabric.device_count) if design.fabric.device_name(d) == "leaf1"]
        assert (design.fabric.model_of(leaf[0]).name == "BIG") == (name != "base.fab")
