"""Readers of the formats of SimAI and ASTRA-sim as these read them, and what the tests of these targets build."""

from __future__ import annotations

import re

from tests.targets.build import design

RAILS, SHARED = design("rails"), design("shared")
Graph = tuple[list[int], list[tuple[int, int, float]]]


def read_simai(text: str) -> Graph:
    """As SimAI's common.h reads it: six words, the numbers of switches, and five words a link."""
    words = text.split()
    nodes, _, inner, switches, links = map(int, words[:5])
    assert re.fullmatch(r"[A-Z]+\d*", words[5])
    return _links(words[6:], nodes, inner + switches, links)


def read_astra(text: str) -> Graph:
    """As ASTRA-sim's ns-3 back end reads it: three words, the numbers of switches, and five words a link."""
    words = text.split()
    nodes, switches, links = map(int, words[:3])
    return _links(words[3:], nodes, switches, links)


def _links(words: list[str], nodes: int, switches: int, links: int) -> Graph:
    numbers = [int(w) for w in words[:switches]]
    rest = words[switches:]
    assert len(rest) == 5 * links and len(set(numbers)) == switches and all(n < nodes for n in numbers)
    out = []
    for a, b, rate, latency, error in zip(*(rest[k::5] for k in range(5)), strict=True):
        assert int(a) < nodes and int(b) < nodes and latency.endswith("ms") and float(latency[:-2]) > 0 and float(error) >= 0
        out.append((int(a), int(b), float(rate.removesuffix("Gbps"))))
    return numbers, out
