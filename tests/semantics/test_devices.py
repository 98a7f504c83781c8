"""Splits of a part of a class, spares, and settings that nothing reads."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Severity
from tests.harness import compile_text

SWITCHES = """
model switch S {
  port p[1..16]: 800Gbps { cage 1 OSFP; name "{i}"; os "swp{i}", "swp{i}s{lane}"; split 2, 4; sonic 8*(i - 1) lanes 8 }
}
model switch T { port p[1..128]: 400Gbps }
model switch U { port p[1..128]: 800Gbps }
model host H { port nic[4]: 400Gbps }
"""


KEPT = TemporaryDirectory()
FOLDER = Path(KEPT.name)


def errors(text: str) -> list[tuple[str, str]]:
    found = compile_text(SWITCHES + text, FOLDER).findings
    return [(d.code, f"{d.message} {d.help}") for d in found if d.severity is Severity.ERROR]


def fabric(text: str):
    result = compile_text(SWITCHES + text, FOLDER, verify=False)
    assert not [d for d in result.findings if d.severity is Severity.ERROR], result.findings
    return result.designs[0].fabric


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 16), st.integers(0, 15), st.sampled_from([2, 4]))
def test_a_part_that_is_split_has_lanes_and_the_rest_stays(low: int, more: int, ways: int) -> None:
    high = min(16, low + more)
    f = fabric(
        f"fabric f {{ switch a: S {{ split p[{low}..{high}] {ways} }}\n switch b: U\n connect a to b {{ rate 200Gbps }} }}"
    )
    model = f.model_of(0)
    names = [c.path(i) for c in model.classes for i in range(c.size)]
    expected = [
        f"p[{i}, {k}]" if low <= i <= high else f"p[{i}]" for i in range(1, 17) for k in range(ways if low <= i <= high else 1)
    ]
    assert names == expected
    rates = [c.rate for c in model.classes for _ in range(c.size)]
    assert sum(r or 0 for r in rates) == 16 * 800 * 10**9
    systems = [c.systems[i] for c in model.classes for i in range(c.size)]
    assert systems == [n.replace("p[", "swp").replace(", ", "s").rstrip("]") for n in expected]
    numbers = [c.sonic[i].number for c in model.classes for i in range(c.size)]
    assert numbers == sorted(set(numbers))
    assert [c.first for c in model.classes] == [sum(x.size for x in model.classes[:k]) for k in range(len(model.classes))]


def test_a_range_means_all_lanes_of_its_ports() -> None:
    f = fabric("fabric f { host h[4]: H\n switch a: S { split p[1..8] 2 }\n connect h[n].nic[i] to a.p[1..8] { cable B } }\n"
               "model cable B { legs 2 }")  # fmt: skip
    used = {f.port_path(int(p)) for p in (*f.link_a.tolist(), *f.link_b.tolist())} - {
        f"h[{n}].nic[{i}]" for n in range(4) for i in range(4)
    }
    assert used == {f"a.p[{i}, {k}]" for i in range(1, 9) for k in range(2)}


def test_spares_are_wired_and_left_out_of_a_ratio() -> None:
    text = """fabric f {
      host h[8]: H { spares 2 }
      switch leaf[4]: T
      switch spine[2]: T
      connect h[n].nic[r] to leaf[r]
      connect leaf[*] to spine[*] spread x 6
      require oversubscription == 8:6
      require oversubscription == 1:1 of active
    }"""
    assert errors(text) == []
    assert [c for c, _ in errors(text.replace("oversubscription == 1:1", "diameter == 2"))] == ["E0492"]


def test_a_cpu_is_no_accelerator() -> None:
    text = """model chip CPU { role cpu }
    model chip ACC { port link[1]: 100Gbps }
    model host TRAY { port nic[2]: 400Gbps; chip cpu[2]: CPU; chip gpu[4]: ACC }
    fabric f { host h[4]: TRAY
      switch s[2]: T
      connect h[n].nic[r] to s[r] }"""
    assert errors(text) == []
    assert fabric(text).models[0].accelerators == 4
    assert [c for c, _ in errors(text.replace("role cpu", "role storage"))] == ["E0118"]
