"""All networks of a cluster as templates see them together: what is bought, placed, named and run once,
whatever networks a device is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from tdsl.emit.data.planned import PlannedLinks
from tdsl.emit.data.rdma import join_rdma_hosts
from tdsl.emit.data.routers import management_records
from tdsl.emit.limits import NameMatcher
from tdsl.emit.records import HostAdapters, Management, Membership, RdmaHost, Router
from tdsl.emit.view import FabricView
from tdsl.fabric.assets import Assets
from tdsl.fabric.columns import Table
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.physical.stages import Stage

OF_ANY_NETWORK = frozenset(("routing", "roce", "partitions", "torus", "infiniband", "ethernet"))
"""What a cluster has if one of its networks has it; the rest is judged of all of them as one."""


class ClusterView(FabricView):
    """A cluster: its devices, links, cables, places and addresses are those of all networks, a shared device
    once. How a network routes, and who manages it, is said by network."""

    def __init__(
        self,
        cluster: Fabric,
        networks: Sequence[FabricView],
        diagnostics: Diagnostics,
        assets: Assets | None = None,
        interfaces: Mapping[str, NameMatcher] | None = None,
        stages: Sequence[Stage] = (),
    ) -> None:
        """``networks``: a view of each fabric, in the order of the text; the rest as for a fabric."""
        super().__init__(cluster, diagnostics, assets, interfaces, stages)
        self._networks = tuple(networks)

    @property
    def networks(self) -> tuple[FabricView, ...]:
        """The networks of the cluster."""
        return self._networks

    @property
    def title(self) -> str:
        """The cluster's title, or its name where it has none."""
        return self._fabric.title or self._fabric.name

    @cached_property
    def capabilities(self) -> frozenset[str]:
        """What a target may ask for in ``needs``: of any network, or of all as one."""
        some = frozenset[str]().union(*(n.capabilities for n in self._networks))
        return (super().capabilities - OF_ANY_NETWORK) | (some & OF_ANY_NETWORK)

    def routers(self, kind: str) -> tuple[Router, ...]:
        """Hosts as routers, each once with what it is in all networks. Switches are configured with their own
        network."""
        return () if kind == "switch" else tuple(self._hosts_as_routers.values())

    @cached_property
    def _hosts_as_routers(self) -> dict[str, Router]:
        """By name the hosts that a network configures, with the management addresses that any gives them."""
        found: dict[str, list[Router]] = {}
        for network in self._networks:
            for router in network.routers("host"):
                found.setdefault(router.name, []).append(replace(router, network=network.name))
        names = self._wires.devices.name.tolist() if found else []
        rows = {name: d for d, name in enumerate(names) if name in found}
        return {
            name: replace(join_host_networks(each), management=self._management_of(rows[name]))
            for name, each in found.items()
        }

    def _management_of(self, device: int) -> tuple[Management, ...]:
        addressing = self._fabric.addressing
        assert addressing is not None  # of a network that routes
        return management_records(addressing, device)

    @cached_property
    def adapters(self) -> tuple[HostAdapters, ...]:
        """The adapters of host models with accelerators, network by network; a model may be there twice."""
        return tuple(a for n in self._networks for a in n.adapters)

    @cached_property
    def rdma_hosts(self) -> tuple[RdmaHost, ...]:
        """Host models with adapters for RDMA over Ethernet, each once with all of its networks."""
        return join_rdma_hosts(h for n in self._networks for h in n.rdma_hosts)

    @cached_property
    def partitions(self) -> Table[Membership]:
        """Every port in every partition, network by network."""
        return _joined_table(Membership, [n.partitions for n in self._networks])

    @cached_property
    def planned_links(self) -> Table[PlannedLinks]:
        """Links that are planned and not built, and whose ports are kept, network by network."""
        return _joined_table(PlannedLinks, [n.planned_links for n in self._networks])

    @property
    def managers(self) -> tuple[str, ...]:
        """Hosts that run subnet managers, network by network."""
        return tuple(dict.fromkeys(m for n in self._networks for m in n.managers))


def join_host_networks(routers: Sequence[Router]) -> Router:
    """A host as one router, of what it is in each of its networks; in one alone, as it is there."""
    first = routers[0]
    if len(routers) == 1:
        return replace(first, network="")
    once: dict[str, Any] = {
        name: tuple(dict.fromkeys(x for r in routers for x in getattr(r, name)))
        for name in (
            "loopbacks",
            "management",
            "interfaces",
            "sessions",
            "routes",
            "accepted",
            "own",
            "channels",
        )
    }
    return replace(
        first,
        asn=next(filter(None, (r.asn for r in routers)), 0),
        router_id=next((r.router_id for r in routers if r.loopbacks), first.router_id),
        width=max(r.width for r in routers),
        mtu=first.mtu if len({r.mtu for r in routers}) == 1 else "",
        graceful_restart=any(r.graceful_restart for r in routers),
        network="",
        networks=tuple(routers),
        **once,
    )


def _joined_table(record: type[Any], tables: Sequence[Table[Any]]) -> Table[Any]:
    """The rows of several tables, one after the other."""

    def column(name: str) -> list[object]:
        return [value for table in tables for value in table.column(name)]

    return Table(record, sum(map(len, tables)), {n: partial(column, n) for n in tables[0].names})
