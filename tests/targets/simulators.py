"""Designs for the targets of simulators, and readers of the formats of SimAI and ASTRA-sim as these read them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tdsl.emit.build import BuildOptions, build_files
from tdsl.findings.diagnostic import Diagnostic, Diagnostics
from tests.harness import fabric_of

RAILS = """
fabric rails {
  host node[4]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 2
  host ufm: UFM { role manager }
  connect ufm.p[1] to leaf[(0)]
}
"""
SHARED = """
model chip GPU { port lane: 400Gbps }
model switch SW { port p[1..64]: 400Gbps { type GE400 } }
model host NODE { port nic[2]: 400Gbps { type GE400 }; chip gpu[4]: GPU }
fabric shared {
  pod pod[2] {
    host node[2]: NODE
    switch leaf[2]: SW
    connect node[n].nic[i] to leaf[i]
  }
  switch spine: SW
  connect pod[*].leaf[*] to spine each
}
"""
SPECTRUM_X = """
model switch WIDE { port p[1..128]: 400Gbps { type NDR } }
fabric spectrum_x {
  host node[2]: DGX_H100
  switch leaf[8]: WIDE
  switch spine[64]: WIDE
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] each
}
"""
Graph = tuple[list[int], list[tuple[int, int, float]]]


def made(text: str, place: Path, *targets: str, **settings: object) -> tuple[dict[str, bytes], list[Diagnostic]]:
    """The files of targets and fabric.json, and the findings of their own."""
    found = Diagnostics()
    options = BuildOptions(settings=dict.fromkeys(targets, settings) if settings else {})
    files = build_files(fabric_of(text, place, models=False), [*targets, "json"], found, options)
    return files, list(found)


def rows(files: dict[str, bytes], table: str) -> list[dict[str, Any]]:
    data = json.loads(files["fabric.json"])[table]
    return [dict(zip(data["columns"], r, strict=True)) for r in data["rows"]]


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


RACKS = """
fabric racks {
  rack rack[2] {
    host tray[18]: GB200_TRAY
    switch nvswitch[9, 2]: NVLINK5_SWITCH
    connect tray[t].gpu[g].nvlink[2*s + c] to nvswitch[s, c].p[4*t + g] { layer scaleup; medium backplane }
  }
  switch leaf[4, 2]: QM9700
  switch spine[2]: QM9700
  connect rack[k].tray[t].nic[r] to leaf[r, (18*k + t)//32]
  connect leaf[*, *] to spine[*] spread x 4
}
"""
