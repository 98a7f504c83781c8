"""Numbers at the limit of 64 bits, places that no device has, and parts that are looked up only where they are asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tdsl.fabric import order
from tdsl.fabric.cables import plugs
from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.narrow import narrow_column
from tdsl.fabric.ports import PortTable
from tests.fabric.test_plugs_and_cages import GBPS, ORIGIN, part, port
from tests.harness import compile_text, fabric_of

FACES = """
model cable PLUGGED { rate 800Gbps; medium dac; form OSFP; reach 3m }
model ocs CAGED { port o[1..16]: any { cage 2 OSFP } }
model switch LANED { port p[4]: 100Gbps { connector 2 } }
"""
WRONG_RATE = [("E0103", "`rate` of a model is one amount such as `400Gbps`, not a length")]


def test_a_key_of_one_number_more_than_a_word_holds() -> None:
    """From -1 to 2^63 - 1: the difference of the two does not fit into 64 bits."""
    key = np.zeros(order.SMALL + 1, dtype=np.int64)
    key[0], key[1] = 2**63 - 1, -1
    assert order.by_keys(key).tolist() == np.lexsort((key,)).tolist()


def test_different_numbers_without_a_sign_far_apart() -> None:
    """Beyond 2^63, and a little farther apart than numbers are that get a flag each; or all the same."""
    rows = order.SMALL + 1
    values = np.full(rows, 2**63, dtype=np.uint64)
    found, place = order.rank_values(values)
    assert found.tolist() == [2**63] and not place.any()
    values[1] += np.uint64(4 * rows + 1)
    assert order.distinct_values(values).tolist() == [2**63, 2**63 + 4 * rows + 1]
    found, place = order.rank_values(values)
    assert found.tolist() == [2**63, 2**63 + 4 * rows + 1] and np.flatnonzero(place).tolist() == [1]


def test_a_narrow_column_beside_a_number_that_64_bits_do_not_hold() -> None:
    with pytest.raises(OverflowError):
        _ = narrow_column(np.arange(5)) < 2**70


def test_places_that_the_only_port_of_a_fabric_does_not_have() -> None:
    """They are not free; nor is a port looked up for them."""
    one = replace(part("switch"), classes=(port(),))
    ports = PortTable([], [one], np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.bool_))
    counts = ports.free_counts(np.zeros(1, dtype=np.int64), "p", np.array([0, 5]), ORIGIN.span)
    assert counts.tolist() == [1]


def test_cables_without_legs_have_no_undivided_end(tmp_path: Path) -> None:
    """Though the ports of an OCS whose circuits say a cable with plugs leave a cage together."""
    text = "fabric f { host h[4]: NODE\n ocs x: CAGED\n connect h[i].nic[k] to x\n circuit h[*] ring { cable PLUGGED }\n}"
    fabric = fabric_of(text + FACES, tmp_path)
    cables = CableIndex(fabric)
    assert len(np.unique(cables.ports.connector_of(fabric.cable_b))) < len(fabric.cable_b) == 16
    assert not fabric.cable_leg[:].any() and not cables.head_at_b.any()


def test_no_break_out_leads_to_cages_of_no_stated_form() -> None:
    """A model may say how many ports share a cage and not its form: then it has outlets, and nothing is known to fit."""
    stated, unstated = port("OSFP"), replace(port(), per_cage=1)
    assert plugs.outlets_of_cage(unstated) == 1 and plugs.cage_form(unstated) == ""
    cable = part("cable", rate=800, medium="dac", legs=2, form="OSFP")
    for head, tail, found in ((stated, stated, [cable]), (stated, unstated, []), (unstated, stated, [])):
        assert plugs.break_outs([cable], head, tail, 2, 400 * GBPS) == found


def _found(fabric: str, folder: Path) -> list[tuple[str, str]]:
    """Codes and messages of a fabric beside which a cable is used that is declared wrongly, and that no connect names."""
    (folder / "lib.fab").write_text("model cable BAD { rate 5m; legs 2 }\n", encoding="utf-8")
    found = compile_text(f"use lib (BAD)\nfabric f {{\n{fabric}\n}}{FACES}", folder, verify=False).findings
    return [(d.code, d.message) for d in found]


def test_parts_are_looked_up_for_break_outs_alone(tmp_path: Path) -> None:
    """The fault of a cable that is used from another file is told once a break-out may need it: not by straight cables, and not
    by cables that join many connectors to many."""
    straight = "host h[2]: BOX\nswitch s: SW\nconnect h[i].nic[0] to s"
    tangled = "switch a[2]: LANED\nswitch b[2]: LANED\nconnect a[*] to b[*] each"
    split = "switch a: LANED\nswitch b[2]: BIG\nconnect a.p[i] to b[i] where i < 2 { rate 100Gbps }"
    assert _found(straight, tmp_path) == []
    assert [code for code, _ in _found(tangled, tmp_path)] == ["E0201"]
    assert WRONG_RATE[0] in _found(split, tmp_path)
