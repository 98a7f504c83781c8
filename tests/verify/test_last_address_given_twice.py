"""The last address of all, given twice: none comes after it."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

import pytest

from tests.verify.test_addresses_given_twice import given, judged, pool


@pytest.mark.parametrize(("version", "last"), [(4, "255.255.255.255"), (6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")])
def test_the_last_address_of_all_is_shown(version: int, last: str) -> None:
    """Two pools of one address each, behind which there is no other."""
    pools = [replace(pool(n, version=version), first=int(ip_address(last)), count=1) for n in range(2)]
    found = judged(given(pools, {0: {0: 0}, 1: {1: 0}}))
    assert found.status == "refuted"
    assert found.witness == {"devices": ["leaf[0]", "leaf[1]"], "address": last}
    assert [f.message for f in found.faults] == [f"leaf[1] and leaf[0] both have {last}"]
