"""Numbers that are found, lines that cannot hold together, requirements on sizes for all values of parameters: small designs,
each with all that is said of it."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.ranges import Domain
from tdsl.sizing.all_parameters import prove_switch_count
from tdsl.syntax.parser import parse_source_file
from tests.conftest import Golden
from tests.harness import compile_text

UP = "  connect leaf[*] to spine[*] spread x 4\n"
LEAVES = "  host node[8]: BOX\n  switch leaf[4]: SW\n  connect node[n].nic[i] to leaf[2*(n // 4) + i]\n"
OPEN = {
    "spine": LEAVES + "  switch spine[?]: SW\n" + UP,
    "guard": LEAVES + "  let s = ? where s >= 3 and s % 2 == 1\n  switch spine[s]: BIG\n" + UP,
    "guard_met": LEAVES + "  let s = ? where s in [3, 4, 6]\n  switch spine[s]: SW\n" + UP,
    "two": LEAVES + "  switch spine[?]: SW\n  switch core[?]: SW\n" + UP +
           "  connect spine[*] to core[*] spread\n",
    "two_least": LEAVES + "  minimize switches\n  switch spine[?]: SW\n  switch core[?]: BIG\n" + UP +
                 "  connect spine[*] to core[*] spread x 2\n",
    "cables": LEAVES + "  minimize cables\n  switch spine[?]: SW\n" + UP,
    "cost": LEAVES + "  minimize cost\n  switch spine[?]: SW\n" + UP,
    "least_omitted": LEAVES + "  minimize cost\n  switch spine[?]: DEAR\n  switch x[?]: DEAR\n" + UP +
                     "  connect x[*] each\n  omit spine[0], x[1]\n",
    "least_power": LEAVES + "  minimize power\n  switch spine[?]: DEAR\n  switch core[?]: DEAR\n" + UP +
                   "  connect spine[*] to core[*] spread x 2\n  omit core[0]\n",
    "hosts": "  host node[?]: BOX\n  switch leaf[2]: SW\n  connect node[n].nic[i] to leaf[i]\n  require hosts >= 3\n",
    "too_many": LEAVES + "  switch spine[?]: SW\n  connect leaf[*] to spine[*] spread x 5\n",
    "uneven": LEAVES + "  switch spine[?]: SW\n  connect leaf[*] to spine[*] spread x 4\n  require switches == 9\n",
    "required": LEAVES + "  switch spine[?]: SW\n  connect leaf[*] to spine[*] spread x 4\n  require switches >= 11\n",
    "ratio": LEAVES + "  switch spine[?]: SW\n  connect leaf[*] to spine[*] spread\n  require oversubscription <= 1:1\n",
    "each": LEAVES + "  switch spine[?]: SW\n  connect leaf[*] to spine[*] each\n",
    "each_two": LEAVES + "  switch spine[?]: SW\n  connect leaf[*] to spine[*] each x 2\n  require links == 40\n",
    "groups": "  group g[2] {\n    host node[4]: BOX\n    switch leaf[2]: SW\n    switch top[?]: SW\n"
              "    connect node[n].nic[i] to leaf[i]\n    connect leaf[*] to top[*] spread x 4\n  }\n"
              "  switch spine[?]: SW\n  connect g[*].top[*] to spine[*] spread\n",
    "used": LEAVES + "  let n = ?\n  switch a[n]: SW\n  switch b[n]: SW\n  connect leaf[*] to a[*] spread x 2\n"
            "  connect leaf[*] to b[*] spread x 2\n",
    "unused": LEAVES + "  let n = ?\n  switch spine[2]: SW\n  connect leaf[*] to spine[*] spread x 2\n",
    "wrong_model": LEAVES + "  switch spine[?]: NONE # and no NODE\n" + UP,
    "no_end": "  switch a[?]: SW\n",
    "pairs": LEAVES + "  switch other[?]: SW\n  connect leaf[*] to other[*] pairs x 2\n",
    "ports": LEAVES + "  switch spine[?]: SW\n  connect leaf[*].p[5..8] to spine[*].p[1..4] spread\n",
    "within": LEAVES + "  param most: int = 3\n  let s = ? where s <= most\n  switch spine[s]: SW\n" + UP,
}  # fmt: skip
FIXED = {
    "spread": "  switch leaf[{a}]: SW\n  switch spine[{b}]: SW\n  connect leaf[*] to spine[*] spread x {c}\n",
    "counts": "  param n: int = {a}\n  let m = {b} * n - 1\n  switch leaf[n]: BIG\n  switch spine[m]: BIG\n"
              "  connect leaf[*] to spine[*] spread x {c}\n  require switches <= 9\n",
    "links": "  group g[{a}] {{\n    switch leaf[{b}]: BIG\n  }}\n  switch spine[2 + {c}]: BIG\n"
             "  connect g[*].leaf[*] to spine[*] each\n  require links == 24 and switches != 8\n",
    "hosts": "  host node[{a}]: BOX\n  switch leaf[{b}]: SW\n  connect node[n].nic[i] to leaf[n % {c}]\n",
    "shared": "  switch leaf[{a}]: SW\n  switch spine[{b}]: SW\n  switch top: BIG\n  connect leaf[*] to spine[*] each x {c}\n"
              "  connect spine[*] to top x {a}\n",
}  # fmt: skip


def said(text: str, folder: Path, **options: object) -> list[str]:
    """Everything that is said of a design, and the sizes of its device sets."""
    result = compile_text(text, folder, select=("switches", "links", "oversubscription", "name_collision"), **options)
    out = []
    for d in result.findings:
        at = f"{d.span.begin[0]}:{d.span.begin[1]} {d.span.text!r}" if d.span is not None else ""
        out.append(f"{d.code} {d.severity.word} {at} {d.message}")
        out += [f"    at {n.span.begin[0]}:{n.span.begin[1]} {n.span.text!r} {n.message}" for n in d.labels]
        out += [f"    note {n}" for n in d.notes] + ([f"    help {d.help}"] if d.help else [])
        out += [f"    edit {at.begin[0]}:{at.begin[1]} {at.text!r} to {new!r}" for at, new in d.fix.edits] if d.fix else []
    for design in result.designs:
        if design.fabric is not None:
            out.append(f"{design.name}: " + ", ".join(f"{s.path} {s.count}" for s in design.fabric.sets))
        out += [f"{r.requirement} {r.status} {r.text}" for r in design.results if r.requirement is not None]
    return out


@pytest.mark.parametrize("name", OPEN)
def test_numbers_that_are_found(name: str, golden: Golden, tmp_path: Path) -> None:
    text = f"fabric f {{\n{OPEN[name]}}}\nmodel switch DEAR {{ port p[1..8]: 400Gbps {{ type NDR }}; price $9; power 1W }}\n"
    out = [f"==== {name}", *said(text, tmp_path), "with the second best", *said(text, tmp_path, second_best=True)]
    golden(f"sizes/found_{name}.txt", "\n".join(out) + "\n")


@pytest.mark.parametrize("name", FIXED)
def test_lines_that_hold_or_not(name: str, golden: Golden, tmp_path: Path) -> None:
    out = []
    for a, b, c in product((1, 3), (2, 5), (1, 4)):
        text = f"fabric f {{\n{FIXED[name].format(a=a, b=b, c=c)}}}\n"
        out += [f"==== {a}, {b}, {c}", *said(text, tmp_path)]
    golden(f"sizes/lines_{name}.txt", "\n".join(out) + "\n")


SIZES = (
    "n", "n + m", "n - 1", "2*n - m", "n // 2 + 1", "n % 3", "n // (m - 1)", "n % (0 - 2) + 3", "n if n > m else m", "n ** 2",
    "-n + 9", "twice", "both(n)", "n if flag else 2", "n if not flag or m == 2 else 1", "n if 1 < n <= m else 3", "n of 5",
    "[1, n][0]", "k", "0x10", "n if flag == (m > 2) else m", "n if n != m and m >= 2 else 1", "2.5", "n // 1.5", "1..n",
)  # fmt: skip
CLAIMS = ("switches <= 7", "switches >= 1", "switches == n + m", "switches > 2*m", "switches != 4", "switches < n * m + 99")
SHAPES = {
    "plain": "  switch s[{size}]: SW\n",
    "groups": "  group g[m] {{ switch s[{size}]: SW; host h[2]: BOX }}\n  switch one: SW\n",
    "branches": "  if n > 2 {{ switch s[{size}]: SW }} else if flag {{ switch s[1]: SW }} else {{ switch a[3]: SW }}\n",
    "twice": "  plane p[2 of 3] {{ switch s[{size}, 2]: SW }}\n  naming p[i].s[j, k] \"x\"\n",
    "loop": "  for k in 0..n {{ switch s[{size}]: SW }}\n",
    "omit": "  switch s[{size}]: SW\n  omit s[0]\n",
}  # fmt: skip
HEAD = "let twice = 2 * n\ndef both(k: int): int = k + m\n"


def right(size: str, claim: str, answer: object) -> bool:
    """Whether an answer is that of all values tried, one by one: it holds for all, or not for those given."""

    def holds(given: dict[str, object]) -> bool:
        n, m = int(str(given["n"])), int(str(given["m"]))
        known = {**given, "twice": 2 * n, "both": lambda k: k + m}
        switches = eval({"n of 5": "n", "1..n": "n"}.get(size, size), {}, known)
        return switches >= 1 and bool(eval(claim, {}, {**known, "switches": switches}))

    if isinstance(answer, dict):
        return not holds(answer)
    return all(holds({"n": n, "m": m, "flag": f}) for n, m, f in product(range(1, 6), (1, 2, 3), (False, True)))


@pytest.mark.parametrize("shape", SHAPES)
def test_all_values_of_parameters(shape: str, golden: Golden) -> None:
    """What is decided of each requirement: that it holds, values for which it does not, or nothing; beside all values tried."""
    file = SourceFile("a.fab", "n m flag")
    domains = [
        Domain(name, SourceSpan(file, 0, 1), choices[0], choices, lambda _: True, True)
        for name, choices in (("n", range(1, 6)), ("m", [1, 2, 3]), ("flag", [False, True]))
    ]
    out = []
    for size, claim in product(SIZES, CLAIMS) if shape == "plain" else product(SIZES[::3], CLAIMS[::4]):
        text = f"{HEAD}fabric f {{\n{SHAPES[shape].format(size=size)}  require {claim}\n}}\n"
        body = parse_source_file(SourceFile("d.fab", text), Diagnostics()).body
        answer = prove_switch_count(body, "f", claim, domains, {}, ())
        if shape == "plain" and answer is not None:
            assert right(size, claim, answer), (size, claim, answer)
        told = f"[{size}] {claim}: {answer}"
        if size in SIZES[::5]:
            told += f"; with flag {prove_switch_count(body, 'f', claim, domains[:2], {'flag': True}, ())}"
            told += f"; where 2 were counted {prove_switch_count(body, 'f', claim, domains, {}, [({'n': 2, 'm': 3, 'flag': True}, 2)])}"
        out.append(told)
    golden(f"sizes/all_{shape}.txt", "\n".join(out) + "\n")
