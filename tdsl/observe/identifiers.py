"""The table of assets as an audit reads it: GUIDs, MAC addresses and serial numbers of devices and of their
ports."""

from __future__ import annotations

import csv

from tdsl.fabric.assets import read_assets_table as read_guids
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.observe.match import DesignNames, Identifiers
from tdsl.observe.record import hexadecimal_digits

MORE = ("mac", "chassis_id", "serial")


def read_identifiers(fabric: Fabric, file: SourceFile, diagnostics: Diagnostics) -> Identifiers:
    """All identifiers of a table; rows and GUIDs that are not understood are findings."""
    owner: dict[str, tuple[int, int]] = {}
    try:
        rows = [r for r in csv.reader(file.text.split("\n")) if r and not r[0].startswith("#")]
    except csv.Error:  # `read_guids` says so
        rows = []
    heading = [c.strip().lower() for c in rows[0]] if rows else []
    if any(c in heading for c in ("node_guid", "port_guid")) or not any(c in heading for c in MORE):
        guids = read_guids(fabric, file, diagnostics)
        for (device, local), guid in guids.node.items():
            known = owner.get(guid)
            owner[guid] = (device, local if known is None else -1)  # the adapters of a host may share a node
        for (device, local), guid in guids.port.items():
            owner.setdefault(guid, (device, local))
    names = DesignNames(fabric)
    for row in rows[1:]:
        cells = dict(zip(heading, (c.strip() for c in row), strict=False))
        device = names.device(cells.get("device", ""))
        if device < 0:
            continue
        port = cells.get("port", "")
        found = names.local(device, (port,)) if port else ()
        for column in MORE:
            written = cells.get(column, "")
            if written:
                owner.setdefault(hexadecimal_digits(written) or written, (device, found[0] if found else -1))
    return Identifiers(owner)
