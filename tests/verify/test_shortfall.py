"""What a help says is missing is judged by the design with as much, and with one less."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from tests.harness import compile_text

POD = """model host S {{ port nic: 100Gbps }}
model switch W {{ port p[1..999]: 100Gbps }}
fabric f {{
  host node[{hosts}]: S
  switch leaf[2]: W
  switch spine[1]: W
  connect node[n].nic to leaf[n // {half}]
  connect leaf[*] to spine[*] spread x {up}
  require {claim}
}}
"""
PAIR = """model switch W {{ port p[1..999]: 100Gbps }}
fabric f {{
  switch s[2]: W
  connect s[0] to s[1] x {up}
  require {claim}
}}
"""
ABOVE, MORE = r"needs (\d+) links? of 100Gbps above it and has (\d+)", r"needs at least (\d+) more links? of 100Gbps"
CLAIMS = {
    "oversubscription": (ABOVE, "oversubscription {sign} {share}:1"),
    "oversubscription of one": (ABOVE, "oversubscription at leaf[1] {sign} {share}:1"),
    "taper": (r"needs links of (\S+) out of it and has (\S+);", "taper of leaf <= {share}:1"),
    "bisection": (MORE, "bisection >= {percent}%"),
    "bisection in bit/s": (MORE, "bisection >= {rate}Gbps"),
    "throughput": (r"needs at least (\S+) more", "throughput of node[0..{last}] to node[{half}..{end}] >= {percent}%"),
    "edge_redundancy": (r"at least (\d+) more links? between", "edge_redundancy >= {up}"),
}


def links_of(said: str) -> int:
    """A number of links, or a rate as links of 100Gbps, rounded up."""
    number, unit = re.fullmatch(r"([\d.,]+)(\w*)", said).groups()
    return -(-round(float(number.replace(",", "")) * {"": 100, "Gbps": 1, "Tbps": 1000}[unit]) // 100)


@pytest.mark.parametrize("kind", CLAIMS)
def test_as_much_as_is_missing_is_enough_and_one_less_is_not(kind: str, tmp_path: Path) -> None:
    pattern, words = CLAIMS[kind]
    rng, judged = Random(kind), 0
    for _ in range(12):
        half, up, share = rng.randint(4, 30), rng.randint(1, 8), rng.randint(1, 5)
        values = {
            "hosts": 2 * half,
            "half": half,
            "last": half - 1,
            "end": 2 * half - 1,
            "share": share,
            "sign": rng.choice(["<=", "<"]),
        }
        values["claim"] = words.format(**values, percent=100 // share, rate=100 * half // share, up=up + share)
        text = PAIR if kind == "edge_redundancy" else POD

        def said(links: int, text: str = text, values: dict[str, object] = values) -> list[str]:
            found = compile_text(text.format(**values, up=links), tmp_path, models=False).findings
            return [d.help for d in found if d.severity.word == "error"]

        helps = said(up)
        if not helps:
            continue
        judged += 1
        numbers = re.search(pattern, helps[0])
        assert numbers is not None, helps
        assert len(numbers.groups()) == 1 or links_of(numbers[2]) == up
        enough = links_of(numbers[1]) + (up if len(numbers.groups()) == 1 else 0)
        assert said(enough) == [] and said(enough - 1) != [], (helps, enough)
    assert judged >= 4
