"""``--assets``: identifiers that only the real asset knows, for a build and an audit. Nothing here is made
up.

Columns ``device, port, node_guid, port_guid``, and ``mac`` for the management interface, ``bmc_mac`` for the
controller of the board, or ``device, mac`` alone where there is no InfiniBand; further ones are for others. A
switch has a row without a port, and so has the ``mac`` of a host; its port ``aggregation`` is its node of
in-network reduction. A device is named as on its label or as the design writes it, a port as the design, the
operating system or the faceplate names it. An audit takes ``chassis_id`` and ``serial`` as well, and a table
that has one of these or ``mac`` and no GUIDs; these cells are given as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field

from tdsl.fabric.graph import Fabric
from tdsl.fabric.user_csv import DeviceTable
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.semantics.fault import closest_known_name
from tdsl.system.lazy_dataclass import dataclass

AGGREGATION = -2
"""The aggregation node of a switch, in the place of a port."""
COLUMNS = ("device", "port", "node_guid", "port_guid")
MACS = ("device", "mac")
GUIDS = ("node_guid", "port_guid")
WRITTEN = ("mac", "chassis_id", "serial")
"""Identifiers that an audit takes as they are written."""
COMMENTED = "the row begins with `#`, as a comment does"
_MAC = re.compile(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}")
_GUID = re.compile(r"(?:0x)?([0-9a-f]{16})")


@dataclass(eq=False)
class Assets:
    """GUIDs of 16 hexadecimal digits, by (row of the device, port inside it); a switch's port is -1, that of
    its aggregation node -2."""

    node: dict[tuple[int, int], str] = field(default_factory=dict)
    port: dict[tuple[int, int], str] = field(default_factory=dict)
    mac: dict[int, str] = field(default_factory=dict)  # of management interfaces, by row of the device
    bmc_mac: dict[int, str] = field(default_factory=dict)  # of their controllers
    rows: list[dict[str, str]] = field(default_factory=list)  # all cells by column, as they are written
    lines: list[int] = field(default_factory=list)  # the line of each of these rows, from 1
    commented: list[tuple[int, str]] = field(default_factory=list)  # lines of rows behind `#`, their devices


def read_assets_table(
    fabric: Fabric, file: SourceFile, diagnostics: Diagnostics, elsewhere: frozenset[str] = frozenset()
) -> Assets:
    """What a table says of this fabric's devices; ``elsewhere`` are names of devices of other fabrics beside
    it."""
    reader = _AssetTableReader(fabric, file, diagnostics, elsewhere)
    reader.read()
    for line, name in reader.assets.commented:
        diagnostics.add(
            "E0611",
            reader.span(line),
            f"the row of `{name}` is set aside: {COMMENTED}",
            severity=Severity.NOTE,
        )
    return reader.assets


def read_assets_of_audit(fabric: Fabric, file: SourceFile, diagnostics: Diagnostics) -> Assets:
    """What a table says to an audit, which takes any identifiers. Where it has GUIDs, its rows are judged."""
    reader = _AssetTableReader(fabric, file, diagnostics, frozenset())
    reader.read(_has_written_identifiers_alone)
    return reader.assets


def _has_written_identifiers_alone(heading: list[str]) -> bool:
    return "device" in heading and any(c in heading for c in WRITTEN) and not any(c in heading for c in GUIDS)


class _AssetTableReader(DeviceTable):
    """Reads one table, row by row; of a row, the first fault is reported."""

    def __init__(
        self, fabric: Fabric, file: SourceFile, diagnostics: Diagnostics, elsewhere: frozenset[str]
    ) -> None:
        super().__init__(fabric, file, diagnostics)
        self.elsewhere = elsewhere
        self.assets = Assets()
        self.owner: dict[tuple[str, str], tuple[int, int]] = {}  # (column, GUID) -> device and line

    def read(self, unjudged: Callable[[list[str]], bool] = lambda heading: False) -> None:
        """All rows; those of a table whose heading is ``unjudged`` are given as they are."""
        for number, cells in self.rows(COLUMNS, "E0531", "the table", MACS, unjudged):
            self.assets.rows.append(cells)
            self.assets.lines.append(number)
            if not unjudged(self.heading):
                self.row(number, cells)
        for number, comment in self.comments:
            self.comment(number, dict(zip(self.heading, comment, strict=False)))

    def comment(self, number: int, cells: dict[str, str]) -> None:
        """Keep a line behind ``#`` that is a row: it names a device of the design, or has an address."""
        name = cells.get("device", "").lstrip("# ")
        texts = [text.lower().replace("-", ":") for text in cells.values()]
        if name in self.devices or any(_MAC.fullmatch(t) or _GUID.fullmatch(t) for t in texts):
            self.assets.commented.append((number, name))

    def row(self, number: int, cells: dict[str, str]) -> None:
        """One row."""
        name, port = cells.get("device", ""), cells.get("port", "")
        device = self.devices.get(name)
        if device is None:
            self.refuse_unknown_device(number, name)
            return
        mac, bmc = cells.get("mac", ""), cells.get("bmc_mac", "")
        self.warn_of_empty_row(number, name, cells)
        if mac and not self.managed(number, device, mac, self.assets.mac):
            return
        if bmc and not self.managed(number, device, bmc, self.assets.bmc_mac):
            return
        if (mac or bmc) and not port and not cells.get("node_guid") and not cells.get("port_guid"):
            return
        local = self.local(number, device, port)
        if local is not None:
            self.take_guids(number, device, local, cells)

    def warn_of_empty_row(self, number: int, name: str, cells: dict[str, str]) -> None:
        """Warn of a row that has no identifier."""
        if not any(cells.get(c) for c in (*GUIDS, *WRITTEN, "bmc_mac")):
            self.diagnostics.add(
                "E0533",
                self.span(number),
                f"the row of `{name}` has no GUID and no MAC address, so nothing is read of it",
                help="fill them in, or leave the row out",
                severity=Severity.WARNING,
            )

    def refuse_unknown_device(self, number: int, name: str) -> None:
        """Say that the design has no such device, unless it is one of ``elsewhere``."""
        if name in self.elsewhere:
            return
        near = closest_known_name(name, self.devices)
        self.say(
            "E0532",
            number,
            f"the design has no device `{name}`",
            f"did you mean `{near}`?" if near else "write its name as on its label",
        )

    def take_guids(self, number: int, device: int, local: int, cells: dict[str, str]) -> None:
        """The GUIDs that a row gives a port, up to the first that is none or is another's."""
        for column, into in (("node_guid", self.assets.node), ("port_guid", self.assets.port)):
            written = cells.get(column, "")
            if not written:
                continue
            found = _GUID.fullmatch(written.lower().replace(":", ""))
            if found is None or not int(found[1], 16):
                self.say(
                    "E0533",
                    number,
                    f"`{written}` is not a GUID",
                    "16 hexadecimal digits, as ibstat prints them: 0x0002c903000a1b2c",
                )
                return
            if not self.fresh(number, device, local, column, found[1], into):
                return
            into[device, local] = found[1]

    def managed(self, number: int, device: int, written: str, into: dict[int, str]) -> bool:
        """Whether a MAC address is one, and neither this port of the device has another nor another port this
        one."""
        found = _MAC.fullmatch(written.lower().replace("-", ":"))
        if found is None or found[0] == "00:00:00:00:00:00" or int(found[0][:2], 16) % 2:
            of_group = found is not None and int(found[0][:2], 16) % 2
            what = "the MAC address of a group, which no port has" if of_group else "not a MAC address"
            help = "six pairs of hexadecimal digits: 94:6d:ae:00:1b:2c"
            self.say("E0533", number, f"`{written}` is {what}", help)
            return False
        owner = self.owner.setdefault(("mac", found[0]), (device, number))
        other = self.assets.bmc_mac if into is self.assets.mac else self.assets.mac
        if owner[0] != device or into.get(device, found[0]) != found[0] or other.get(device) == found[0]:
            self.say(
                "E0534",
                number,
                f"the mac {found[0]} is on line {owner[1]} already"
                if owner[0] != device
                else f"{self.fabric.device_path(device)} has its mac twice",
                "a MAC address belongs to one device",
            )
            return False
        into[device] = found[0]
        return True

    def local(self, number: int, device: int, port: str) -> int | None:
        """The port inside a device that a cell names; -1 where a switch names none."""
        if not port and self.fabric.is_switch[device]:
            return -1
        ways: dict[str, int] = {}
        if "aggregation" in self.fabric.model_of(device).facts:
            ways["aggregation"] = AGGREGATION
        for c in self.fabric.model_of(device).classes:
            for i in range(c.size):
                for name in (c.labels[i], c.systems[i], c.netdev(i), c.path(i)):
                    ways[name] = c.first + i
        if port and port in ways:
            return ways[port]
        near = closest_known_name(port, ways)
        self.say(
            "E0532",
            number,
            f"{self.fabric.device_path(device)} has no port `{port}`"
            if port
            else f"{self.fabric.device_path(device)} is a host, and the row names no port",
            f"did you mean `{near}`?" if near else "write it as the operating system does: mlx5_0",
        )
        return None

    def fresh(
        self, number: int, device: int, local: int, column: str, guid: str, into: dict[tuple[int, int], str]
    ) -> bool:
        """Whether nobody has this GUID, and this port none. The adapters of one host may share a node."""
        if (device, local) in into:
            self.say(
                "E0534",
                number,
                f"{self.fabric.device_path(device)} has its {column} twice",
                "leave one of the rows out",
            )
            return False
        owner = self.owner.setdefault((column, guid), (device, number))
        if owner[1] != number and (owner[0] != device or column == "port_guid"):
            self.say(
                "E0534",
                number,
                f"the {column} {guid} is on line {owner[1]} already",
                "a GUID belongs to one asset",
            )
            return False
        return True
