"""Ports of a class of which some are split: every port and lane in order, by its definition."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.devices import DeviceSettings, Split, split_model
from tdsl.semantics.library import Library
from tdsl.semantics.loader import Loader, ParsedFile
from tdsl.semantics.model import DeviceModel
from tdsl.syntax.parser import parse_source_file

AT = SourceSpan(SourceFile("t.fab", "x"), 0, 1)
RATE = 400 * 10**9


def model(low: int, sockets: int) -> DeviceModel:
    text = (
        "model switch M { port a: 100Gbps; "
        f"port p[{low}..{low + 7}]: 400Gbps {{ type X; cage 2 OSFP; split 2, 4;"
        f' sockets {sockets}; os "e{{p}}", "e{{p}}l{{lane}}";'
        f' netdev "n{{p}}", "n{{p}}l{{lane}}"; sonic 8*(p - {low}) lanes 8 }}; port z[2]: 100Gbps }}'
    )
    found = Diagnostics()
    library = Library(Loader(found), found)
    file = SourceFile("t.fab", text)
    library.build_all(library.link(ParsedFile(file, parse_source_file(file, found).body, Path("nowhere"), "t")))
    assert not list(found)
    (made,) = [m for m in library.models.values() if m is not None]
    return made


@pytest.mark.parametrize("low", [0, 1, 5])
@pytest.mark.parametrize("sockets", [1, 2, 3])
def test_every_lane(low: int, sockets: int) -> None:
    """Splits in any order of writing; what is between them stays whole."""
    rng = Random(100 * low + sockets)
    m = model(low, sockets)
    for _ in range(12):
        ends = sorted(rng.sample(range(9), rng.choice([2, 3, 4, 5])))
        ranges = [(a, b) for a, b in pairwise(ends) if rng.random() < 0.6]
        splits = [Split("p", low + a, low + b - 1, rng.choice([2, 4]), AT) for a, b in ranges]
        ways = {i: s.ways for s in splits for i in range(s.low or 0, (s.high or 0) + 1)}
        expected = []
        for i in range(low, low + 8):
            n, cage, at = ways.get(i, 1), (i - low) // 2 + 1, 8 * (i - low)
            if n == 1:
                expected.append((f"p{i}", RATE, cage, i - low, f"e{i}", f"n{i}", 1, at))
                continue
            each = min(sockets, n)
            expected += [
                (
                    f"p{i}/{k + 1}",
                    RATE // n,
                    cage,
                    (i - low) * each + k * each // n,
                    f"e{i}l{k}",
                    f"n{i}l{k}",
                    n,
                    at + k * (8 // n),
                )
                for k in range(n)
            ]
        rng.shuffle(splits)
        made = split_model(m, splits)
        assert made.classes[0] == m.classes[0] and made.variant == ",".join(sorted(map(str, splits)))
        parts = made.classes[1:-1]
        assert all(c.name == "p" and c.types == ("X",) for c in parts) and made.classes[-1].name == "z"
        found = [
            (c.labels[k], c.rate, c.cages[k], c.connectors[k], c.systems[k], c.netdevs[k], c.split, c.sonic[k].number)
            for c in parts
            for k in range(c.size)
        ]
        assert found == expected
        assert [c.first for c in made.classes] == [sum(c.size for c in made.classes[:n]) for n in range(len(made.classes))]
        indices = [i for c in parts for i in range(c.axes[0].low, c.axes[0].low + c.axes[0].size)]
        assert indices == list(range(low, low + 8))
        assert all([a.size for a in c.axes[1:]] == ([c.split] if c.split > 1 else []) for c in parts)


def test_settings_as_they_are_written() -> None:
    splits = (Split("p", None, None, 2, AT), Split("q", 3, 3, 4, AT), Split("r", 0, 5, 8, AT))
    assert [str(s) for s in splits] == ["p/2", "q[3..3]/4", "r[0..5]/8"]
    made = DeviceSettings("storage", 3, splits, "sonic", True)
    assert made.text == "role storage; spares 3; split p 2; split q[3] 4; split r[0..5] 8; nos sonic; forwards"
    assert made.kept() == {"spares": 3, "nos": "sonic", "forwards": True}
    assert DeviceSettings().text == "" and DeviceSettings().kept() == {}
    assert DeviceSettings(nos="own").text == 'nos "own"' and DeviceSettings(spares=1).kept() == {"spares": 1}
