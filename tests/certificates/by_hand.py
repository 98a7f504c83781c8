"""Fabrics and certificates written by hand, and the checker's view of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from tdsl.certificates import checker

COLUMNS = {name: list(columns) for name, columns in checker.TABLES.items()}
Rows = list[dict[str, Any]]


def cells(kind: str, **more: Any) -> dict[str, Any]:
    """The cells of a device."""
    return {"kind": kind, **more}


HOST, CHIP, SWITCH = cells("host"), cells("chip"), cells("switch")


def linked(text: str) -> list[tuple[str, str, int]]:
    """Links written as ``a b 10, c d 20``."""
    return [(a, b, int(rate)) for a, b, rate in map(str.split, text.split(","))]


def design(devices: Mapping[str, Any], links: Rows | list[tuple[Any, ...]]) -> dict[str, Any]:
    """A fabric.json of devices, by name the cells of each, and links, which are cells or (device, device, rate)."""
    made: dict[str, Any] = {name: {"columns": columns, "rows": []} for name, columns in COLUMNS.items()}
    for name, cells in devices.items():
        row = {"name": name, "path": name, "kind": "switch", "model": "M"} | cells
        made["devices"]["rows"].append([row.get(c) for c in COLUMNS["devices"]])
    for i, link in enumerate(links):
        cells = link if isinstance(link, dict) else dict(zip(("a_device", "b_device", "rate_bps"), link, strict=False))
        row = {"rate_bps": 100, "a_port": f"p{i}", "b_port": f"q{i}"} | cells
        made["links"]["rows"].append([row.get(c) for c in COLUMNS["links"]])
    return {"schema": 1, "fabric": "f"} | made


def fabric(hosts: list[str], switches: list[str], links: list[tuple[str, str]], rate: int = 100) -> dict[str, Any]:
    """The same of hosts and switches with links of one rate; the number at the end of a name is an index."""
    digits, letters = "0123456789", "abcdefghijklmnopqrstuvwxyz"
    path = {d: f"{d.rstrip(digits)}[{d.lstrip(letters)}]" for d in (*hosts, *switches)}
    devices = {d: cells("host" if d in hosts else "switch", path=p) for d, p in path.items()}
    return design(devices, [(a, b, rate) for a, b in links])


def certificate(check: str, **fields: Any) -> dict[str, Any]:
    """A certificate of such a fabric."""
    return {"schema": checker.SCHEMA, "fabric": "f", "check": check, **fields}


def network(made: dict[str, Any], steps: int = 10**9, failed: checker.Element | None = None) -> checker.CertifiedNetwork:
    """The checker's view of a fabric, or of what a failure leaves."""
    return checker.CertifiedNetwork(checker.CertifiedFabric(made), checker.WorkSteps(steps), failed)


def rejected(why: str) -> Any:
    """A check that ends with this message, and no other."""
    return pytest.raises(checker.Rejected, match=f"^{re.escape(why)}$")


def taken(stated: dict[str, Any], made: dict[str, Any], unless: str = "") -> None:
    """The checker verifies a certificate, unless it is refused for this reason."""
    if not unless:
        checker.verify(stated, made)
        return
    with rejected(unless):
        checker.verify(stated, made)
