"""Designs that were answered wrongly before a figure was computed: rates that nobody gives, sizes without bound, and comparisons
that a float decided."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.semantics.values import number_in_message
from tdsl.verify.compare import verdict_of_bounds
from tests.cli.run import report, write
from tests.harness import compile_text, fabric_of, links_of, places

HOSTS = "model host N { port nic: 400Gbps; chip gpu: G }\nmodel chip G { port lane: 400Gbps }\n"
ANY = HOSTS + "model switch X { port p[1..64]: any }\n"
PB = "model host N { port nic: 1000Pbps }\nmodel switch X { port p[1..64]: 1000Pbps }\n"

REFUSED: dict[str, tuple[str, int]] = {
    # a link without a rate
    ANY + "fabric f {\nswitch a[2]: X\nconnect a[*] each }": ("E0204", 6),
    ANY + "fabric f {\nhost n[4]: N\nswitch a[2]: X\nconnect n[i].nic to a[i//2]\nconnect a[*] ring }": ("E0204", 8),
    "model chip C { port p[4]: any }\nmodel host H { port nic: 400Gbps\nchip c[2]: C\n"
    "connect c[*] each { layer scaleup } }\nfabric f { host h[2]: H; switch s: SW; connect h[n].nic to s }": ("E0204", 4),
    "model ocs O { port o[1..64]: any }\nmodel chip C { port p[2]: any }\nfabric f {\nchip c[2]: C\nocs o: O\n"
    "connect c[i].p[j] to o\ncircuit c[*] each }": ("E0204", 7),
    # settings that list values for other dimensions
    "fabric f {\nchip c[2x2x2]: GPU\nconnect c[*] torus {\nrate 400Gbps, 100Gbps } }": ("E0120", 4),
    "fabric f {\nchip c[2x2]: GPU\nconnect c[*] mesh {\nmedium trace, cable, trace } }": ("E0120", 4),
    "fabric f {\nswitch s[2]: SW\nconnect s[*] each {\nlength 1m, 2m } }": ("E0120", 4),
    # too many links, devices, ports, and sizes beyond 64 bits
    "fabric f {\nswitch a[2]: BIG\nswitch b[2]: BIG\nconnect a[*] to b[*] pairs x 4000000000 }": ("E0116", 4),
    "fabric f {\nswitch a[2]: BIG\nswitch b[2]: BIG\nconnect a[*] to b[*] each x 10**400 }": ("E0116", 4),
    "fabric f {\nswitch a[8]: BIG\nconnect a[*] ring x 10**30 }": ("E0116", 3),
    "fabric f {\nswitch a[2x2]: BIG\nconnect a[*] mesh x 10**12 }": ("E0116", 3),
    "fabric f {\nswitch a[8]: BIG\nswitch b[4]: BIG\nconnect a[*] to b[*] spread x 10**400 }": ("E0116", 4),
    "fabric f {\nswitch a[8]: BIG\nconnect a[*] spread x 10**20 }": ("E0116", 3),
    "fabric f {\nswitch a[2]: BIG\nconnect a[0].p[1] to a[1].p[1] x 9000000000000000000 }": ("E0116", 3),
    "fabric f {\nswitch a[4]: BIG\nconnect a[i] to a[j] x 5000000000000000000 where i < j }": ("E0116", 3),
    "model switch X {\nport p[1..10**400]: 400Gbps }\nfabric f { switch a[2]: X; connect a[*] each }": ("E0116", 2),
    "model switch X {\nport p[10**400]: 400Gbps }\nfabric f { switch a[2]: X; connect a[*] each }": ("E0116", 2),
    "fabric f {\nswitch a[10**400]: BIG\nconnect a[*] each }": ("E0116", 2),
    "fabric f {\nswitch a[10**30..10**30 + 1]: BIG\nconnect a[*] each }": ("E0116", 2),
    "fabric f {\nlet x = (0..10**400)[0]\nlet y = [i for i in 0..10**400]\nswitch a[2]: BIG; connect a[*] each }": ("E0116", 3),
    "fabric f {\nlet a = 1 / 3**2000\nlet b = a * a\nswitch s[2]: BIG; connect s[*] each }": ("E0116", 3),
    "fabric f {\nlet a = 3m ** 1\nlet b = 1 / 3**2000 + 1 / 5**1500\nswitch s[2]: BIG; connect s[*] each }": ("E0103", 2),
    'model switch X {\nport p[8]: 1Gbps { split 10**9; os "p{i}", "p{i}s{lane}" } }\nfabric f { switch a: X }': ("E0116", 2),
    "model switch X {\nport p[8]: 1Gbps { split 0, 2 } }\nfabric f { switch a[2]: X; connect a[*] each }": ("E0120", 2),
    # more capacity than 64 bits
    "model switch X {\nport p[1..8]: 100Ebps }\nfabric f { switch a[2]: X; connect a[*] each }": ("E0116", 2),
    "fabric f {\nswitch a[2]: SW\nconnect a[*] each {\nrate 5Ebps } }": ("E0116", 4),
    PB + "fabric f {\nhost n[5]: N\nswitch s: X\nconnect n[i].nic to s }": ("E0116", 6),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused_at_its_line(text: str, tmp_path: Path) -> None:
    assert REFUSED[text] in places(compile_text(text, tmp_path).findings)


def test_what_is_too_large_takes_no_memory(tmp_path: Path) -> None:
    """All of the above in one process: under 400 MB resident, and no internal error."""
    script = (
        "import json, re, sys\nfrom pathlib import Path\nfrom tests.harness import compile_text\n"
        "codes = [[d.code for d in compile_text(text, Path(sys.argv[1])).findings] for text in json.load(sys.stdin)]\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1]) < 400_000, all(map(all, codes)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        input=json.dumps(list(REFUSED)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_a_tier_of_very_many_units_is_a_finding(tmp_path: Path) -> None:
    text = (
        "fabric f {\nhosts 96 x DGX_H100\nrails 8\nclos {\ntier unit of 48 hosts { switch QM9700 }\n"
        "tier spine of 10**9 unit { switch QM9700; oversubscription 1:1 } } }"
    )
    assert [code for code, _ in places(compile_text(text, tmp_path).findings)] == ["E0459"]


@pytest.mark.parametrize("shift", [1, 2**63, 10**50 + 1, -(10**30) + 1])
def test_a_shift_of_any_size_is_taken_modulo(shift: int, tmp_path: Path) -> None:
    text = f"fabric f {{ switch a[3]: SW; switch b[3]: SW; connect a[*] to b[*] pairs shift {shift} }}"
    pairs = {(x.split(".")[0], y.split(".")[0]) for x, y in links_of(fabric_of(text, tmp_path))}
    assert pairs == {(f"a[{k}]", f"b[{(k + shift) % 3}]") for k in range(3)}


def test_a_rate_inside_a_model_is_the_one_written(tmp_path: Path) -> None:
    text = (
        "model chip C { port p[4]: any }\nmodel host H { port nic: 400Gbps; chip c[2]: C;"
        " connect c[*] each { layer scaleup; rate 100Gbps } }\nfabric f { host h[2]: H; switch s: SW; connect h[n].nic to s }"
    )
    (design,) = compile_text(text, tmp_path).designs
    assert design.fabric is not None and design.findings == []
    assert [link.rate for m in design.fabric.models for link in m.links] == [100_000_000_000]


def wiring(kind: str, low: int, high: int) -> str:
    """A small design with two rates."""
    models = (
        f"model host N {{ port nic[2]: {high}bps; chip g: G }}\nmodel chip G {{ port l[8]: {high}bps }}\n"
        f"model switch X {{ port p[1..64]: {high}bps }}\n"
    )
    one, two = f"{{ rate {low}bps }}", f"{{ rate {high}bps }}"
    body = {
        "clos": f"host n[6]: N; switch a[3]: X; switch b[2]: X\nconnect n[i].nic[j] to a[i//2] {two}\n"
        f"connect a[*] to b[*] each {one}",
        "ring": f"host n[4]: N; switch a[4]: X\nconnect n[i].nic[(0)] to a[i] {one}\n"
        f"connect n[i].nic[(1)] to a[(i + 1) % 4] {two}; connect a[*] ring {one}",
        "torus": f"chip c[3x2]: G; connect c[*] torus {{ rate {low}bps, {high}bps }}",
    }[kind]
    asked = "report bisection and throughput all_to_all and throughput ring and throughput shift 2"
    return models + f"fabric f {{\n{body}\n{asked}\n}}"


@pytest.mark.parametrize("kind", ["clos", "ring", "torus"])
def test_figures_just_below_the_limit_are_those_of_the_small_rates(kind: str, tmp_path: Path) -> None:
    """Rates of some 2^35 units that no larger unit divides: the intervals agree with those of the rates 2 and 3 as far as these
    are alike, and no sum overflows."""
    big = (1 << 40) // 96
    small = compile_text(wiring(kind, 2, 3), tmp_path).designs[0]
    large = compile_text(wiring(kind, 2 * big + 1, 3 * big), tmp_path).designs[0]
    asked = [[r for r in d.results if r.requirement] for d in (small, large)]
    assert [r.check for r in asked[0]] == [r.check for r in asked[1]] and len(asked[0]) == 4
    for a, b in zip(*asked, strict=True):
        assert isinstance(a.lower, Fraction) and isinstance(a.upper, Fraction), (a.reason, a.text)
        assert isinstance(b.lower, Fraction) and isinstance(b.upper, Fraction), (b.reason, b.text)
        assert b.lower <= b.upper and b.lower <= a.upper + Fraction(1, big) and b.upper >= a.lower - Fraction(1, big), (a, b)


@pytest.mark.parametrize("scale", [1 << 41, 1 << 57])
def test_rates_that_no_large_unit_divides_are_refused(scale: int, tmp_path: Path) -> None:
    codes = places(compile_text(wiring("clos", 3, scale), tmp_path).findings)
    assert ("E0116", 7) in codes


# ---------------------------------------------------------------- comparisons


def statuses(text: str, folder: Path) -> dict[str, str]:
    (design,) = compile_text(text, folder, models=False).designs
    return {r.requirement: r.status for r in design.results if r.requirement}


def test_a_rate_that_is_no_whole_number_is_compared_exactly(tmp_path: Path) -> None:
    text = """
model host N { port nic: 100Gbps; chip gpu: G }
model chip G { port lane: 400Gbps }
model switch SW { port p[1..64]: 100Gbps }
fabric f {
  host node[7]: N
  switch leaf[2]: SW
  connect node[n].nic to leaf[n%2]
  connect leaf[*] each
  let w = 100Gbps * 7 / 3
  require throughput ring > w
  require throughput ring == w
  require throughput ring != w
  require throughput ring == 1/3
}"""
    assert statuses(text, tmp_path) == {
        "throughput ring > w": "refuted",
        "throughput ring == w": "proved",
        "throughput ring != w": "refuted",
        "throughput ring == 1/3": "proved",
    }


@pytest.mark.parametrize("rate", [2**53 + 3, 2**60 + 1, 9007199254740995])
def test_rates_that_no_float_holds_are_compared_exactly(rate: int, tmp_path: Path) -> None:
    text = f"""
model host N {{ port nic: {rate}bps; chip gpu: G }}
model chip G {{ port lane: 400Gbps }}
model switch SW {{ port p[1..64]: {rate}bps }}
fabric f {{
  host node[2]: N
  switch leaf: SW
  connect node[n].nic to leaf
  require bisection >= {rate + 1}bps
  require bisection > {rate}bps
  require bisection >= {rate}bps
  require throughput of node[(0)] to node[(1)] > {rate}bps
  require throughput of node[(0)] to node[(1)] == {rate}bps
  require throughput ring == {2 * rate}bps
  require survives any 0 + 1 of leaf with throughput ring >= {2 * rate}bps
}}"""
    found = list(statuses(text, tmp_path).values())
    assert found[:6] == ["refuted", "refuted", "proved", "refuted", "proved", "proved"]
    assert found[6] != "proved"


def test_figures_in_bits_are_whole_numbers_in_json(tmp_path: Path) -> None:
    """Also where no float holds them."""
    rate = 2**53 + 3
    text = (
        f"model host N {{ port nic: {rate}bps; chip g: G }}\nmodel chip G {{ port l: 1bps }}\n"
        f"model switch X {{ port p[1..8]: {rate}bps }}\n"
        "fabric f { host n[2]: N; switch s: X; connect n[i].nic to s; report bisection and throughput ring }"
    )
    results = {r["check"]: r for r in report(write(tmp_path, text))["designs"][0]["results"]}
    assert results["bisection"]["lower_bps"] == results["bisection"]["upper_bps"] == rate
    assert results["throughput"]["lower_bps"] == 2 * rate


exact = st.fractions(min_value=0, max_value=10, max_denominator=10**12) | st.integers(2**53 - 4, 2**53 + 4).map(Fraction)


@given(exact, exact, exact, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
def test_a_verdict_holds_for_both_bounds(x: Fraction, y: Fraction, asked: Fraction, op: str) -> None:
    """`proved` if all figures of the interval satisfy the comparison, `refuted` if none does: judged at three figures."""
    low, high = min(x, y), max(x, y)
    inside = [v for v in (low, high, asked, (low + high) / 2) if low <= v <= high]
    compare = {"<": Fraction.__lt__, "<=": Fraction.__le__, ">": Fraction.__gt__, ">=": Fraction.__ge__, "==": Fraction.__eq__}
    met = {v != asked if op == "!=" else compare[op](v, asked) for v in inside}
    assert verdict_of_bounds(op, low, high, asked) == ("bounded" if len(met) == 2 else "proved" if met == {True} else "refuted")


@pytest.mark.parametrize("figure", [0.5, 1e12, float("nan")])
def test_no_float_is_compared(figure: float) -> None:
    with pytest.raises(TypeError):
        verdict_of_bounds("<=", figure, figure, 1)


# ---------------------------------------------------------------- what is unknown is not nothing

STAR = """model host N {{ port nic: 100Gbps; chip gpu: G }}
model chip G {{ port l: 400Gbps }}
model switch SW {{ port p[1..64]: 100Gbps{latency} }}
fabric f {{
  host node[8]: N
  switch sw: SW
  connect node[n].nic to sw{{ {length} }}
  require allreduce 140GB <= 23s
  require allreduce 140GB >= 19s
  require allreduce 140GB <= 19s
  require all_to_all_time 1GB <= 1s
  require latency <= 1s
}}"""


@pytest.mark.parametrize(
    ("latency", "length", "expected"),
    [
        ("; latency 230ns", "length 3m", ["proved", "proved", "refuted", "proved", "modelled"]),
        ("", "length 3m", ["bounded", "proved", "refuted", "bounded", "bounded"]),
        ("; latency 230ns", "", ["bounded", "proved", "refuted", "bounded", "bounded"]),
        ("; latency 230ns", "medium trace", ["bounded", "proved", "refuted", "bounded", "bounded"]),
    ],
)
def test_an_unknown_latency_is_not_counted_as_nothing(latency: str, length: str, expected: list[str], tmp_path: Path) -> None:
    text = STAR.format(latency=latency, length=length)
    assert list(statuses(text, tmp_path).values()) == expected


def test_no_time_for_hosts_that_do_not_meet(tmp_path: Path) -> None:
    text = STAR.format(latency="; latency 230ns", length="length 3m")
    text = text.replace("switch sw: SW", "switch sw[2]: SW").replace("to sw{", "to sw[n // 4] {")
    assert list(statuses(text, tmp_path).values())[:4] == ["skipped"] * 4


# ---------------------------------------------------------------- parameters that were not checked


def test_what_was_not_checked_is_not_said_to_be_proved(tmp_path: Path) -> None:
    text = """
fabric f {
  param n: int = 2 where 1 <= n <= 40
  param m: int = 1 where m in [1, 2, 3]
  switch a[n // m + 1]: QM9700
  switch b[2 if n > 30 else 1]: QM9700
  connect a[*] to b[*] each
  require switches <= 41
  require links >= 2
  require links >= 1
}"""
    (sweep,) = report(write(tmp_path, text), "--all-params", "--limit-params", "3")["sweeps"]
    asked = {r["requirement"]: r for r in sweep["results"] if r["requirement"]}
    assert [r["status"] for r in asked.values()] == ["refuted", "refuted", "bounded"]
    assert "1 of 3 checked; proved for 2; 117 not checked" in asked["links >= 2"]["text"]
    assert not any("proved for the rest" in json.dumps(r) for r in sweep["results"])
    assert not {r["status"] for r in sweep["results"]} & {"proved", "modelled"}


# ---------------------------------------------------------------- numbers in messages


@settings(max_examples=200)
@given(st.integers(-(10**60), 10**60) | st.integers(0, 4096).map(lambda bits: 1 << bits))
def test_a_number_in_a_message_is_short_and_true(number: int) -> None:
    said = number_in_message(number)
    assert len(said) <= 24
    if said.startswith(("more than", "less than")):
        power = 10 ** int(said.split("^")[1])
        assert number >= power if said.startswith("more") else number <= -power
    else:
        assert int(said.replace(",", "")) == number
