"""Hosts of several declarations in groups of several kinds: each has its kind, or a finding names those that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text, links_of

TEXT = """
model host A {{ port nic[2]: 200Gbps }}
model host B {{ port nic: 200Gbps }}
model switch R {{ port p[64]: 200Gbps }}
fabric f {{
  host a[{a}]: A
  rack k[2] {{ host b[{b}]: B }}
  hosts a.nic, k.b.nic
  dragonfly {{ router R; groups x {x} of {of} hosts 2 routers, {more}y 2 of 4 hosts 2 routers; arc x to y 2; arc x to x 1 {arc}}}
}}
"""
EMPTY = ("service 1 of 1 routers, ", "; arc x to service 1")


def seated(text: str, folder: Path) -> tuple[dict[str, set[str]], list[str]]:
    """The hosts of each kind of groups, and the messages of findings that are no notes."""
    result = compile_text(text, folder, verify=False)
    fabric = result.designs[0].fabric
    assert fabric is not None
    kinds: dict[str, set[str]] = {}
    for one, other in links_of(fabric):
        for a, b in ((one, other), (other, one)):
            if a.startswith(("a[", "k[")) and b.startswith("g["):
                group = int(b[2 : b.index("]")])
                kinds.setdefault(str(group), set()).add(a.rpartition(".nic")[0])
    return kinds, [f"{d.code} {d.message}" for d in result.findings if d.severity.word != "note"]


@pytest.mark.parametrize(
    ("a", "b", "x", "of", "service"),
    [(10, 4, 2, 6, False), (12, 4, 2, 6, False), (1, 1, 2, 6, False), (7, 3, 2, 6, True), (5, 4, 3, 2, False)],
)
def test_each_declaration_has_its_kind(a: int, b: int, x: int, of: int, service: bool, tmp_path: Path) -> None:
    more, arc = EMPTY if service else ("", "")
    kinds, found = seated(TEXT.format(a=a, b=b, x=x, of=of, more=more, arc=arc), tmp_path)
    assert found == []
    for group, hosts in kinds.items():
        assert len({h[0] for h in hosts}) == 1, kinds
        assert hosts and (next(iter(hosts))[0] == "a") == (int(group) < x)
    assert len(set().union(*kinds.values())) == a + 2 * b


def test_hosts_that_do_not_fit_their_kind_are_named(tmp_path: Path) -> None:
    """13 hosts for 12 seats: the last is with the hosts of the other declaration."""
    kinds, found = seated(TEXT.format(a=13, b=2, x=2, of=6, more="", arc=""), tmp_path)
    assert {"a[12]", "k[0].b[0]"} <= kinds["2"]
    (message,) = found
    assert message.startswith("E0466 the 13 hosts of `a` are in groups of 2 kinds: ")
    assert "a[0] to a[11] in `x`, a[12] in `y` beside hosts of `k.b`" in message
