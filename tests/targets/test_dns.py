"""The target dns: BIND's own checker loads the zone."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.site import Dns, Site
from tdsl.findings.diagnostic import Diagnostics
from tests.conftest import need_program
from tests.harness import fabric_of
from tests.targets.inventories import DESIGN, made, run


def test_named_loads_the_zone(tmp_path: Path) -> None:
    program = need_program("named-checkzone", "bind9-utils")
    path = tmp_path / "zone.db"
    path.write_bytes(made(DESIGN, tmp_path, "dns", zone="gpu.example.net", serial=7)["dns/zone.db"])
    done = run(program, "-D", "gpu.example.net", path)
    assert done.returncode == 0 and "loaded serial 7" in done.stdout + done.stderr
    records = [line.split() for line in done.stdout.splitlines() if re.search(r"\sIN\s+A+\s", line)]
    known = Counter(r[3] for r in records)
    assert (known["A"], known["AAAA"]) == (1 + 14 + 6, 6)
    assert ["su0-leaf0.gpu.example.net.", "192.168.0.10"] in [[r[0], r[-1]] for r in records]


def test_the_zone_is_that_of_the_site(tmp_path: Path) -> None:
    """Its domain and its name servers, unless the option says another zone."""
    site = Site(dns=Dns(("192.0.2.12", "2001:db8::53"), "gpu.example.com"))
    for zone in ("", "other.example"):
        options = BuildOptions(site=site, settings={"dns": {"zone": zone}} if zone else {})
        made = build_files(fabric_of(DESIGN, tmp_path, models=False), ["dns"], Diagnostics(), options)
        text = made["dns/zone.db"].decode()
        assert text.startswith(f"$ORIGIN {zone or 'gpu.example.com'}.\n")
        assert "ns IN A 192.0.2.12\nns IN AAAA 2001:db8::53\n" in text and "127.0.0.1" not in text
