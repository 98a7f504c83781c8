"""Addresses that are given twice, where no design says it: the last address of all, and none. Pools of designs are in ``judged``
and in ``tests/checks``; those of random clusters are judged by the family ``shared_clusters`` (tests/soundness)."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

import numpy as np
import pytest

from tdsl.fabric.addresses import Addressing, AssignedAddresses, Pool
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, checks_by_name
from tests.prove.networks import wired

PAIR = wired("s0-s1")


def judged(addressing: Addressing | None) -> Judgement:
    return checks_by_name()["address_overlap"].judge(View.whole(replace(PAIR, addressing=addressing)), None)


@pytest.mark.parametrize(("version", "last"), [(4, "255.255.255.255"), (6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")])
@pytest.mark.parametrize("vrf", ["", "red"])
def test_the_last_address_of_all(version: int, last: str, vrf: str) -> None:
    """Two pools of one address each, behind which there is no other; in two VRFs it is two addresses."""
    pools = tuple(
        Pool("loopback", version, int(ip_address(last)), 1, 1, "10.0.0.0/8", 24, "", x, "", PAIR.origin) for x in ("", vrf)
    )
    found = judged(Addressing(PAIR, pools, {("loopback", version): AssignedAddresses(np.array([0, 1]), np.array([0, 0]))}))
    if vrf:
        assert (found.status, found.text) == ("proved", "2 addresses, none twice")
        return
    assert found.witness == {"devices": ["s[0]", "s[1]"], "address": last}
    assert [f.message for f in found.faults] == [f"s[1] and s[0] both have {last}"]


def test_a_design_without_addresses() -> None:
    for addressing in (None, Addressing(PAIR)):
        found = judged(addressing)
        assert (found.status, found.reason) == ("skipped", "the design gives no addresses")
