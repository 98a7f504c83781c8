"""Requirements on numbers of switches that are decided for all values of parameters, against all values tried."""

from __future__ import annotations

from itertools import product

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.ranges import Domain
from tdsl.sizing.all_parameters import prove_switch_count
from tdsl.syntax.parser import parse_source_file

SIZES = (
    "n", "n + m", "n - 1", "2*n - m", "n // 2 + 1", "n % 3", "n // (m - 1)", "n % (0 - 2) + 3", "n if n > m else m", "n ** 2",
    "-n + 9", "twice", "both(n)", "n if flag else 2", "n if not flag or m == 2 else 1", "n if 1 < n <= m else 3", "n of 5",
    "[1, n][0]", "k", "0x10", "n if flag == (m > 2) else m", "n if n != m and m >= 2 else 1", "2.5", "n // 1.5",
)  # fmt: skip
OPEN = ("[1, n][0]", "k", "2.5", "n // 1.5", "n ** 2")
"""What no formula is made of."""
CLAIMS = (
    "switches <= 7",
    "switches >= 1",
    "switches == n + m",
    "switches > 2*m",
    "switches != 4",
    "switches < n * m + 99",
)
SHAPES = {
    "plain": ("  switch s[{size}]: SW\n", lambda size, g: size),
    "groups": (
        "  group g[m] {{ switch s[{size}]: SW; host h[2]: BOX }}\n  switch one: SW\n",
        lambda size, g: size * g["m"] + 1,
    ),
    "branches": (
        "  if n > 2 {{ switch s[{size}]: SW }} else if flag {{ switch s[1]: SW }} else {{ switch a[3]: SW }}\n",
        lambda size, g: size if g["n"] > 2 else 1 if g["flag"] else 3,
    ),
    "twice": ("  plane p[2 of 3] {{ switch s[{size}, 2]: SW }}\n", lambda size, g: 4 * size),
    "omitted": ("  switch s[{size}]: SW\n  omit s[0]\n", lambda size, g: size - 1),
    "loop": ("  for k in 0..n {{ switch s[{size}]: SW }}\n", None),
}
HEAD = "let twice = 2 * n\ndef both(k: int): int = k + m\n"
VALUES = {"n": range(1, 6), "m": [1, 2, 3], "flag": [False, True]}


def holds(size: str, claim: str, shape: str, given: dict[str, object]) -> bool:
    n, m = int(str(given["n"])), int(str(given["m"]))
    known = {**given, "twice": 2 * n, "both": lambda k: k + m}
    count = eval({"n of 5": "n"}.get(size, size), {}, known)
    switches = SHAPES[shape][1](count, given)  # type: ignore[misc]
    return count >= 1 and bool(eval(claim, {}, {**known, "switches": switches}))


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_decided_is_so_for_all_values(shape: str) -> None:
    """It holds for all, or not for those given; what no formula is made of stays open."""
    file = SourceFile("a.fab", "n m flag")
    domains = [Domain(name, SourceSpan(file, 0, 1), values[0], values, lambda _: True, True) for name, values in VALUES.items()]
    decided = 0
    for size, claim in product(SIZES, CLAIMS if shape == "plain" else CLAIMS[::3]):
        text = f"{HEAD}fabric f {{\n{SHAPES[shape][0].format(size=size)}  require {claim}\n}}\n"
        answer = prove_switch_count(parse_source_file(SourceFile("d.fab", text), Diagnostics()).body, "f", claim, domains, {}, ())
        if answer is None:
            continue
        assert shape not in ("loop", "branches", "omitted") and size not in (
            "[1, n][0]",
            "k",
            "2.5",
            "n // 1.5",
            "n ** 2",
        ), (
            size,
            claim,
        )
        if isinstance(answer, dict):
            assert not holds(size, claim, shape, answer), (size, claim, answer)
        else:
            every = (dict(zip(VALUES, given, strict=True)) for given in product(*VALUES.values()))
            assert all(holds(size, claim, shape, given) for given in every), (size, claim)
        decided += 1
    assert decided > 25 or shape in ("loop", "omitted", "branches")
