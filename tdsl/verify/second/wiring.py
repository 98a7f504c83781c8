"""What a figure is about, as a networkx graph: the whole fabric, a part of it, or what failures leave.

Nothing here comes from the proof engine or from the resolver of requirements: units, forwarding and
components are found again from the graph of `Fabric.graph`, and what a requirement names from its text.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.second.selection import Chosen, asks_all_ports, elements_named_by_paths

if TYPE_CHECKING:
    import networkx

ENDS = ("host", "chip")


@dataclass(eq=False)
class WiringGraph:
    """The devices and links that a figure is about; ``core`` are the devices named, without what is only
    attached to them.

    ``intact`` is the wiring before failures, ``lost`` the links that failures took. ``failed`` are the
    devices that failed, with all that they contain; ``beside`` the links that failed by themselves beside the
    network, as rows of the fabric with both layers."""

    fabric: Fabric
    graph: networkx.MultiGraph[int]
    core: frozenset[int]
    intact: WiringGraph | None = None
    lost: frozenset[int] = frozenset()
    failed: frozenset[int] = frozenset()
    beside: frozenset[int] = frozenset()

    @classmethod
    def whole(cls, fabric: Fabric) -> WiringGraph:
        """All that is built."""
        graph = fabric.graph()
        return cls(fabric, graph, frozenset(graph))

    def part(self, devices: Collection[int], alone: bool) -> WiringGraph:
        """Of a group its devices with what is in them, the links among them and the ends attached; of a
        device ``alone`` all links of it and of what is in it."""
        named = self.contents(devices)
        kept = []
        for a, b, row in self.graph.edges(keys=True):
            inside = (a in named) + (b in named)
            end = any(self.kind(d) in ENDS for d in (a, b) if d not in named)
            if inside == 2 or (inside == 1 and (alone or end)):
                kept.append((a, b, row))
        graph = self.graph.edge_subgraph(kept).copy()
        graph.add_nodes_from((d, self.graph.nodes[d]) for d in named & set(self.graph))
        core = frozenset(named & set(self.graph))
        return WiringGraph(self.fabric, graph, core, self.intact, self.lost, self.failed, self.beside)

    def chosen(self, claim: ResolvedClaim, clause: str) -> list[Chosen]:
        """What the paths of a clause (``of``, ``of_to``, ``at``) name, read from their text."""
        texts = [s.text for s in getattr(claim, clause)]
        return elements_named_by_paths(
            self.fabric, texts, claim.scope.name if claim.scope is not None else ""
        )

    def without(
        self, devices: Collection[int], links: Collection[int] = (), beside: Collection[int] = ()
    ) -> WiringGraph:
        """What is left when devices fail with all that they contain and all that crosses them, and some
        links.

        Units that lost their last link are no ends any more; those that had none before still are.
        """
        f = self.fabric
        failed = self.contents(devices)
        passive = {d for d in failed if self.kind(d) not in (*ENDS, "switch")}
        via = (
            {row for *_, row in self.graph.edges(keys=True) if self._crosses(row, passive)}
            if passive
            else set()
        )
        graph = self.graph.copy()
        gone = {
            r for a, b, r in graph.edges(keys=True) if a in failed or b in failed or r in via or r in links
        }
        graph.remove_edges_from([(a, b, r) for a, b, r in graph.edges(keys=True) if r in gone])
        graph.remove_nodes_from(failed & set(graph))
        left = WiringGraph(f, graph, self.core - failed, self.intact or self)
        before = (self.intact or self).graph
        bare = [u for u in left.units if u in graph and not graph.degree(u) and before.degree(u)]
        graph = graph.copy()
        graph.remove_nodes_from(bare)
        core, every = self.core - failed - set(bare), self.failed | failed
        return WiringGraph(
            f, graph, core, self.intact or self, self.lost | gone, every, self.beside | set(beside)
        )

    @cached_property
    def both_layers(self) -> WiringGraph:
        """What failures leave of the scale-up links too, where the fabric is the network of one that has both
        layers."""
        whole = WiringGraph.whole(self.fabric.whole or self.fabric)
        return whole.without(self.failed, self.beside) if self.failed or self.beside else whole

    @cached_property
    def scaleup(self) -> networkx.Graph[int]:
        """The scale-up links that are left beside the network."""
        import networkx

        from tdsl.fabric.layers import scaleup_links

        every = self.both_layers
        up = set(scaleup_links(every.fabric).nonzero()[0].tolist())
        return networkx.Graph((a, b) for a, b, row in every.graph.edges(keys=True) if row in up)

    def contents(self, devices: Collection[int]) -> set[int]:
        """Devices with all that they contain, at any depth."""
        out: set[int] = set(devices)
        while held := {d for d in self.graph if self.graph.nodes[d].get("container", -1) in out} - out:
            out |= held
        return out

    def _crosses(self, row: int, failed: set[int]) -> bool:
        """Whether a link runs through one of these panels or optical switches."""
        f = self.fabric
        ports = (int(f.link_via_a[row]), int(f.link_via_b[row]))
        return any(p >= 0 and int(f.port_device[p]) in failed for p in ports)

    # ------------------------------------------------------------ devices
    def kind(self, device: int) -> str:
        """host, chip, switch, ocs or panel."""
        return self.fabric.set_of(device).kind

    def names(self, devices: Collection[int]) -> list[str]:
        """Names of devices, in order."""
        return [self.fabric.device_name(d) for d in sorted(devices)]

    @cached_property
    def chips_joined(self) -> bool:
        """Whether some chip is joined to a chip, so that chips pass on what is not theirs, whatever fails."""
        if self.intact is not None:
            return self.intact.chips_joined
        return any(self.kind(a) == "chip" == self.kind(b) for a, b in self.graph.edges())

    @cached_property
    def direct(self) -> bool:
        """Whether some ends pass on what is not theirs, whatever fails."""
        if self.intact is not None:
            return self.intact.direct
        return self.chips_joined or any(
            self.graph.nodes[d].get("forwards") for pair in self.graph.edges() for d in pair
        )

    @cached_property
    def forwards(self) -> frozenset[int]:
        """Devices that a path may pass through."""
        passing = ("switch", "chip") if self.chips_joined else ("switch",)
        return frozenset(
            d for d in self.graph if self.kind(d) in passing or self.graph.nodes[d].get("forwards")
        )

    @cached_property
    def units(self) -> tuple[int, ...]:
        """What figures are between: hosts with accelerators, or the chips in them where those are wired;
        where there are none, ends without a written role, then all ends, then switches."""
        sets = self.fabric.sets
        every = [s for s in sets if s.kind in ENDS]
        ends = self._endpoint_sets()
        roles = [role for role in ("accelerator", "") if any(s.role == role for s in every)]
        main = {s.index for s in every if not roles or s.role == roles[0]}
        chosen = ends & main or ends or {s.index for s in sets if s.kind == "switch"}
        return tuple(sorted(d for d in self.graph if int(self.fabric.device_set[d]) in chosen))

    def _endpoint_sets(self) -> set[int]:
        """The declarations of hosts and chips that count: chips in hosts where they are wired before any
        failure, in the place of these hosts."""
        sets = self.fabric.sets
        before = (self.intact or self).graph
        wired = {int(self.fabric.device_set[d]) for d in before if before.degree(d)}
        opened = {
            s.inside.index for s in sets if s.inside is not None and s.kind == "chip" and s.index in wired
        }
        return {
            s.index
            for s in sets
            if s.kind in ENDS and s.index not in opened and (s.inside is None or s.index in wired)
        }

    @cached_property
    def others(self) -> tuple[int, ...]:
        """Managers, storage and the like that have a link."""
        mine = set(self.units)
        return tuple(
            sorted(d for d in self.graph if self.kind(d) in ENDS and d not in mine and self.graph.degree(d))
        )

    # ------------------------------------------------------------ the network
    @cached_property
    def inner(self) -> networkx.Graph[int]:
        """The forwarding devices and the links among them, parallel ones counted in ``links``."""
        return self.among(self.forwards)

    def among(self, devices: Collection[int], bundled: bool = False) -> networkx.Graph[int]:
        """Some devices and the links among them, parallel ones as one edge with ``links`` and ``rate``; of a
        bundle only one link between two devices where ``bundled``."""
        import networkx

        kept = devices if isinstance(devices, (set, frozenset)) else set(devices)
        out: networkx.Graph[int] = networkx.Graph()
        out.add_nodes_from(sorted(d for d in kept if d in self.graph))
        seen: set[tuple[int, int, int]] = set()
        for a, b, row, facts in self.graph.edges(keys=True, data=True):
            bundle = int(self.fabric.link_bundle[row]) if bundled else -1
            channel = bundle, min(a, b), max(a, b)
            if bundle >= 0 and channel in seen:
                continue
            if a != b and a in kept and b in kept:
                seen.add(channel)
                edge = out.get_edge_data(a, b, {"links": 0, "rate": 0})
                out.add_edge(a, b, links=edge["links"] + 1, rate=edge["rate"] + facts["rate_bps"])
        return out

    @cached_property
    def component(self) -> dict[int, int]:
        """For every forwarding device the least device that it is joined to over forwarding devices."""
        import networkx

        return {d: min(part) for part in networkx.connected_components(self.inner) for d in part}

    @cached_property
    def attachments(self) -> dict[int, list[tuple[int, int]]]:
        """For every end and unit: each of its links as (the forwarding device at the other end, its
        component). A unit that forwards is attached to itself; a link of two ends that do not forward is a
        component of its own, with a number below zero."""
        out: dict[int, list[tuple[int, int]]] = {}
        for d in {*self.units, *self.others}:
            if d in self.forwards:
                out[d] = [(d, self.component[d])]
                continue
            links = []
            for _, other, row in self.graph.edges(d, keys=True):
                forwards = other in self.forwards
                links.append((other, self.component[other]) if forwards else (-1 - row, -1 - row))
            out[d] = links
        return out

    @cached_property
    def access(self) -> frozenset[int]:
        """Forwarding devices that units are connected to."""
        return frozenset(node for u in self.units for node, _ in self.attachments[u] if node >= 0)

    def of_all_ports(self, claim: ResolvedClaim) -> bool:
        """Whether a claim is about all ports: `of ports`."""
        scope = claim.scope.name if claim.scope is not None else ""
        return asks_all_ports(self.fabric, [s.text for s in claim.of], scope)

    def members(self, claim: ResolvedClaim, clause: str) -> frozenset[int]:
        """What a path of `of A to B` names: of a group the units in it, or all of it where it has none before
        any failure."""
        mine, out = set((self.intact or self).units), set[int]()
        for path in self.chosen(claim, clause):
            for devices in path.elements:
                named = (self.intact or self).contents(devices)
                out |= (named & mine) or named
        return frozenset(out & set(self.graph))
