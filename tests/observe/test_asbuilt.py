"""Requirements that what is built does not keep, and the links of a fabric as it is built."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.graph import USED, Fabric
from tdsl.observe.asbuilt import BuiltCabling, Promise, as_built_fabric, fabric_with_faults_mended
from tdsl.observe.audit import AuditSettings
from tests.observe.captures import audited, netlist
from tests.observe.plant import Cables, plant

SLOW = {"1xHDR": 50, "4xHDR": 200}


def test_kept_requirements() -> None:
    def result(status: str) -> Any:
        return SimpleNamespace(status=status)

    wanted = {
        ("proved", "proved"), ("proved", "modelled"), ("modelled", "proved"), ("modelled", "modelled"), ("refuted", "proved"),
        ("refuted", "modelled"), ("refuted", "refuted"), ("unknown", "unknown"), ("unknown", "proved"), ("unknown", "modelled"),
    }  # fmt: skip
    words = ("proved", "modelled", "refuted", "unknown")
    assert {(d, b) for d in words for b in words if Promise(result(d), result(b)).kept} == wanted


@pytest.mark.parametrize("seed", range(10))
def test_what_is_built_is_what_was_plugged(seed: int, small: Fabric, tmp_path: Path) -> None:
    """Whatever was mistaken: each link with the rate that was seen, and every column in step with the links."""
    cables, _ = plant(small, seed, seed) if seed else (Cables(small), [])
    speed = {p: Random(seed).choice(list(SLOW)) for p in Random(seed).sample(sorted(cables.far), 2)}
    everywhere = dict.fromkeys(cables.far, "4xNDR") | {q: word for p, word in speed.items() for q in (p, cables.far[p])}
    (tmp_path / "now.topo").write_text(netlist(cables, everywhere))
    made = as_built_fabric(audited(small, ("ibnetdiscover", tmp_path / "now.topo")))
    rate = dict.fromkeys(cables.far, 400) | {q: SLOW[word] for q, word in everywhere.items() if word in SLOW}
    built = list(zip(made.link_a.tolist(), made.link_b.tolist(), strict=True))
    assert {(frozenset(ends), r // 10**9) for ends, r in zip(built, made.link_rate.tolist(), strict=True)} == {
        (frozenset((p, q)), rate[p]) for p, q in cables.far.items()
    }
    tier = made.tier[made.port_device]
    assert all(tier[a] <= tier[b] for a, b in built) and made.link_a.tolist() == sorted(made.link_a.tolist())
    number = {end: k for k, ends in enumerate(built) for end in ends}
    assert made.port_link.tolist() == [number.get(p, -1) for p in range(len(made.port_device))]
    assert [s == USED for s in made.port_state.tolist()] == [p in number for p in range(len(made.port_device))]
    columns = {f.name: len(getattr(made, f.name)) for f in fields(made) if f.name.startswith(("link_", "cable_"))}
    assert {name for name, n in columns.items() if n != made.link_count} <= {"link_run", "link_bundle"}, columns


@pytest.mark.parametrize("seed", range(3, 6))
def test_links_that_are_not_asked_for_are_built_as_designed(seed: int, small: Fabric, tmp_path: Path) -> None:
    """Where no cable of the others is in their ports; the others as they are plugged, and as designed once all faults are
    mended."""
    cables, _ = plant(small, seed, 4)
    devices = np.arange(small.device_count)
    for d in devices[seed:].tolist():
        row = [p for p in range(small.port_base[d], small.port_base[d + 1]) if p in cables.far]
        cables.move(dict(zip(row, (*row[1:], *row[:1]), strict=True)))
    asked = np.isin(devices, Random(seed).sample(devices.tolist(), 5))
    (tmp_path / "now.topo").write_text(netlist(cables, dict.fromkeys(cables.far, "4xNDR")))
    found = audited(small, ("ibnetdiscover", tmp_path / "now.topo"), settings=AuditSettings(only=asked))
    free = np.flatnonzero((small.port_link < 0) & asked[small.port_device]).tolist()
    judged = {*free, *small.link_a[found.judged].tolist(), *small.link_b[found.judged].tolist()}
    seen = {frozenset((p, q)) for p, q in cables.far.items() if p in judged or q in judged}
    taken = frozenset[int]().union(*seen)
    assert links_of(as_built_fabric(found)) == seen | {ends for ends in links_of(small) if not ends & (judged | taken)}
    whole = fabric_with_faults_mended(found, BuiltCabling(found), range(1, len(found.faults) + 1))
    assert links_of(whole) == links_of(small) != seen


def links_of(fabric: Fabric) -> set[frozenset[int]]:
    return {frozenset(ends) for ends in zip(fabric.link_a.tolist(), fabric.link_b.tolist(), strict=True)}
