"""The table of assets as an audit knows it: GUIDs, MAC addresses and serial numbers of devices and of their
ports."""

from __future__ import annotations

from tdsl.fabric.assets import WRITTEN, read_assets_of_audit
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.observe.match import DesignNames, Identifiers
from tdsl.observe.record import hexadecimal_digits


def read_identifiers(fabric: Fabric, file: SourceFile, diagnostics: Diagnostics) -> Identifiers:
    """All identifiers of a table; rows and GUIDs that are not understood are findings."""
    owner: dict[str, tuple[int, int]] = {}
    assets = read_assets_of_audit(fabric, file, diagnostics)
    for (device, local), guid in assets.node.items():
        known = owner.get(guid)
        owner[guid] = (device, local if known is None else -1)  # the adapters of a host may share a node
    for (device, local), guid in assets.port.items():
        owner.setdefault(guid, (device, local))
    names = DesignNames(fabric)
    for cells in assets.rows:
        device = names.device(cells.get("device", ""))
        if device < 0:
            continue
        port = cells.get("port", "")
        found = names.local(device, (port,)) if port else ()
        for column in WRITTEN:
            written = cells.get(column, "")
            if written:
                owner.setdefault(hexadecimal_digits(written) or written, (device, found[0] if found else -1))
    return Identifiers(owner)
