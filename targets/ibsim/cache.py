"""The subnet as ``ibnetdiscover --cache`` stores it, with the GUIDs of real assets: ``ibnetdiscover --diff``
compares with it.

The format is that of libibnetdisc/ibnetdisc_cache.c of rdma-core, version 1: numbers are little-endian, and
NodeInfo, PortInfo and NodeDescription are the 64 bytes of the InfiniBand specification's attributes (volume
1, sections 14.2.5.2, .3 and .6).
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import pack

from tdsl.emit.records import Node, Plane
from tdsl.emit.view import FabricView

MAGIC, VERSION = 0x8FE7832B, 1
ADAPTER, SWITCH = 1, 2
AGGREGATION = "Mellanox Technologies Aggregation Node"
EXTENDED = ((400, 8), (200, 4), (100, 2), (56, 1))
"""LinkSpeedExtActive of four lanes, by their rate in Gb/s from above: NDR, HDR, EDR, FDR."""
End = tuple[str, int]


def render(fabric: FabricView, options: Mapping[str, object], plane: Plane) -> bytes:
    """The cache; none where a GUID of the subnet is unknown, since then a comparison would show that node
    twice."""
    if not plane.known:
        return b""
    found = _Cache()
    guids = {n.id: n.asset for n in plane.switches} | {n.id: n.asset_port for n in plane.adapters}
    for kind, nodes in ((SWITCH, plane.switches), (ADAPTER, plane.adapters)):
        for node in nodes:
            links = {p.number: ((guids[p.far_id], p.far_number), p.rate_gbps) for p in node.ports}
            if node.aggregator:
                links[node.aggregator.number] = (node.aggregator.port_guid, 1), node.ports[0].rate_gbps
            found.add(kind, node.asset, guids[node.id], node.system, node.port_count, links)
            if node.aggregator:
                found.aggregator(node)
    return found.bytes(plane.switches[0].asset)


class _Cache:
    """Nodes and ports, packed."""

    def __init__(self) -> None:
        self.nodes: list[bytes] = []
        self.ports: list[bytes] = []

    def aggregator(self, node: Node) -> None:
        """The aggregation node of a switch: an adapter with one port."""
        a = node.aggregator
        assert a is not None
        self.add(
            ADAPTER,
            a.guid,
            a.port_guid,
            AGGREGATION,
            1,
            {1: ((node.asset, a.number), node.ports[0].rate_gbps)},
        )

    def add(
        self,
        kind: int,
        guid: str,
        port_guid: str,
        description: str,
        count: int,
        links: Mapping[int, tuple[End, int | float]],
    ) -> None:
        """A node with its links and its ports without one; a switch's ports all have its own GUID, and its
        port 0 says what the others can do."""
        info = pack(">BBBBQQQ", 1, 1, kind, count, int(guid, 16), int(guid, 16), int(port_guid, 16)).ljust(
            64, b"\0"
        )
        own = int(port_guid, 16)
        numbers = range(kind != SWITCH, count + 1)
        keys = b"".join(pack("<QB", own, number) for number in numbers)
        self.nodes.append(
            pack("<HBB64x", 0, 0, 0) + pack("<QBB", int(guid, 16), kind, count) + info
            + description.encode()[:63].ljust(64, b"\0") + pack("<B", len(numbers)) + keys
        )  # fmt: skip
        for number in numbers:
            (far, far_number), gbps = links.get(number, (("0", 0), 0))
            self.ports.append(
                pack("<QBBHB", own, number, number, 0, 0) + _port_info(number, gbps, number in links)
                + pack("<QBQB", int(guid, 16), number in links, int(far, 16), far_number)
            )  # fmt: skip

    def bytes(self, first: str) -> bytes:
        """The file; the search began at the node ``first``."""
        head = pack("<IIIIQI", MAGIC, VERSION, len(self.nodes), len(self.ports), int(first, 16), 0)
        return head + b"".join(self.nodes) + b"".join(self.ports)


def _port_info(number: int, gbps: int | float, linked: bool) -> bytes:
    """A port with four lanes, up where it is linked."""
    out = bytearray(64)
    out[20:24] = pack(">I", 1 << 14)  # IsExtendedSpeedsSupported
    out[28:32] = bytes((number, 3, 3, 2))
    out[32:34] = b"\x74\x52" if linked else b"\x71\x22"  # port active, link up; down, polling
    out[35] = 0x47  # QDR
    speed = next((word for rate, word in EXTENDED if gbps >= rate), 0)
    out[62:64] = bytes((speed << 4 | 0x0F, 0x0F))
    return bytes(out)
