"""Sizes decided by arithmetic: held against counting every combination by hand, and silent where the text says more."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.compile.compiler import Options
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.sizing.all_parameters import Answer, prove_switch_count
from tdsl.syntax.parser import parse_source_file

PARAMS = "param n: int = 3 where 1 <= n <= 9\n  param w: int = 2 where w in [1, 2, 5]\n  param fat: bool = false"
VALUES = [dict(zip(("n", "w", "fat"), v, strict=True)) for v in product(range(1, 10), (1, 2, 5), (False, True))]
MODEL = "model switch SW { port p[1..8]: 400Gbps }\n"


def decided(body: str, requirement: str, measured: list[tuple[Mapping[str, object], int]], tmp: str = "t.fab") -> Answer:
    """The answer for a fabric with the parameters above."""
    text = f"fabric f {{\n  {PARAMS}\n{body}\n  require {requirement}\n}}\n{MODEL}"
    found = Diagnostics()
    module = parse_source_file(SourceFile(tmp, text), found)
    assert not list(found), [d.message for d in found]
    domains, findings = compiler.parameter_settings(tmp, Options(overlay={tmp: text, **_resolved(tmp, text)}))
    assert domains.domains is not None and len(domains.domains) == 3, [d.message for d in findings]
    return prove_switch_count(module.body, "f", requirement, domains.domains, {}, measured)


def _resolved(name: str, text: str) -> dict[str, str]:
    from pathlib import Path

    return {str(Path(name).resolve()): text}


terms = st.recursive(
    st.one_of(st.just("n"), st.just("w"), st.just("k"), st.integers(1, 6).map(str)),
    lambda inner: st.one_of(
        st.builds("({} + {})".format, inner, inner),
        st.builds("({} * {})".format, inner, inner),
        st.builds("({} - {})".format, inner, inner),
        st.builds("({} // {})".format, inner, st.integers(1, 5)),
        st.builds("({} % {})".format, inner, st.integers(1, 5)),
        st.builds("max({}, {})".format, inner, inner),
        st.builds("min({}, {}, 4)".format, inner, inner),
        st.builds("({} if fat else {})".format, inner, inner),
        st.builds("({} if {} < {} <= 6 or not fat else {})".format, inner, inner, inner, inner),
    ),
    max_leaves=4,
)


def by_python(text: str, values: Mapping[str, object]) -> int:
    return int(eval(text, {**values, "k": values["n"] * 2 + 1, "max": max, "min": min}))  # type: ignore[operator]


@settings(max_examples=60)
@given(terms, terms, terms, st.sampled_from(["<=", ">=", "!=", "=="]), st.integers(0, 60))
def test_against_counting(a: str, b: str, c: str, sign: str, bound: int) -> None:
    a, b, c = f"max({a}, 1)", f"max({b}, 1)", f"max({c}, 1)"
    pod = f"  group pod[{a}] {{\n    let inner = {b}\n    switch leaf[inner, 2]: SW\n  }}\n"
    body = f"  let k = 2*n + 1\n{pod}  switch top[{c}]: SW\n"
    counts = [by_python(f"{a} * {b} * 2 + {c}", v) for v in VALUES]
    answer = decided(body, f"switches {sign} {bound}", list(zip(VALUES, counts, strict=True))[:5])
    wrong = [v for v, count in zip(VALUES, counts, strict=True) if not eval(f"{count} {sign} {bound}")]
    if answer is None:
        return  # z3 may give up; that it does not as a rule is below
    if not wrong:
        assert answer == "proved"
    else:
        assert isinstance(answer, Mapping)
        assert answer in wrong
        assert (answer["n"], answer["w"]) == min((v["n"], v["w"]) for v in wrong)


def test_the_least_of_millions() -> None:
    """The design by hand: 29·(33 + 3) + 7 = 1051."""
    text = f"""\
fabric f {{
  param n: int = 3 where 3 <= n <= 50000
  param w: int = 3 where w in 1..50 and w % 2 == 1
  let spine = max(n // 64, 3)
  group pod[w] {{
    switch leaf[n // 1000 + 3]: SW
  }}
  switch top[spine % 7 + 3]: SW
  require switches != 1051
  require switches <= w * (n // 1000 + 3) + 9
}}
{MODEL}"""
    module = parse_source_file(SourceFile("t.fab", text), Diagnostics())
    asked, _ = compiler.parameter_settings("t.fab", Options(overlay={"t.fab": text, **_resolved("t.fab", text)}))
    assert asked.domains is not None
    least = min(
        (n, w)
        for n in range(3, 50001)
        for w in range(1, 51, 2)
        if w * (n // 1000 + 3) + max(n // 64, 3) % 7 + 3 == 1051
    )  # fmt: skip
    answer = prove_switch_count(module.body, "f", "switches != 1051", asked.domains, {}, [({"n": 3, "w": 1}, 9)])
    assert isinstance(answer, Mapping) and (answer["n"], answer["w"]) == least
    assert prove_switch_count(module.body, "f", "switches <= w * (n // 1000 + 3) + 9", asked.domains, {}, []) == "proved"
    assert (
        prove_switch_count(module.body, "f", "switches != 1051", asked.domains, {}, [({"n": 3, "w": 1}, 10)]) is None
    )  # not what was counted


@pytest.mark.parametrize(
    "body",
    [
        "  switch a[n]: SW\n  omit a[0]\n",
        "  if fat {\n    switch a[n]: SW\n  }\n  switch b: SW\n",
        "  for i in 0..2 {\n    connect a[(i)] to a[(i)]\n  }\n  switch a[n]: SW\n",
        "  let z = ?\n  switch a[z]: SW\n",
        "  switch a[n / 2 * 2]: SW\n",
        "  switch a[n // w]: SW\n",
        "  switch a[len(0..n)]: SW\n",
        "  switch a[n]: SW\n  extend f { switch b: SW }\n",
        "  clos { tier leaf of 2 host { } }\n  switch a[n]: SW\n",
    ],
)
def test_what_is_not_read_is_not_answered(body: str) -> None:
    found = Diagnostics()
    text = f"fabric f {{\n  {PARAMS}\n{body}  require switches >= 1\n}}\n{MODEL}"
    module = parse_source_file(SourceFile("t.fab", text), found)
    assert not list(found), [d.message for d in found]
    asked, _ = compiler.parameter_settings("t.fab", Options(overlay={"t.fab": text, **_resolved("t.fab", text)}))
    assert asked.domains is not None
    assert prove_switch_count(module.body, "f", "switches >= 1", asked.domains, {}, []) is None


def test_an_extent_of_none_is_no_proof() -> None:
    """Where n is 9, the design is refused: `switches >= 0` does not hold for all n."""
    answer = decided("  switch a[9 - n]: SW\n", "switches >= 0", [])
    assert isinstance(answer, Mapping) and answer["n"] == 9
