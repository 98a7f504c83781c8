"""Rails that no switch joins: each accelerator reaches all of them inside its host."""

from __future__ import annotations

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.fabric.rail_access import RailAccess, UnreachedNetwork, has_separate_networks, rail_access
from tdsl.fabric.rails import link_rail
from tdsl.prove.view import View
from tdsl.system.nouns import noun_for_count
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds, skipped


class RailAccessOfAccelerators(Check):
    """Each accelerator reaches every rail of its host that no switch joins.

    ## What it means
    In a rail-only design, or one of isolated planes, data for another rail leaves the host by an adapter of
    that rail. An accelerator reaches it over NVLink or xGMI, by a neighbour beside that adapter (PXN). In a
    server without these links, or with bridges that join pairs, some accelerators have no such neighbour:
    NCCL then copies through the processors at a fraction of the rate, and where it takes the network between
    two GPUs of one host, as it does if that is faster than PCIe, the job hangs, since no switch joins their
    rails. `NCCL_NET_DISABLE_INTRA=1` prevents the second; the file `nccl/MODEL.conf` of a build sets it.

    ## Formula and source
    An accelerator reaches the networks of the adapters that are nearest to it, or nearest to an accelerator
    of its scale-up domain: of the PCIe layout of the model, those below the lowest switch or processor that
    both share.
    The answer is about networks of which it reaches some others. Source: NCCL 2.30.7, src/graph/paths.cc
    (ncclTopoComputePaths, ncclTopoCheckNet).

    ## What it assumes
    Networks are what links between switches join. A host whose model does not say where its adapters or
    NVLinks lead is not judged, unless one scale-up domain holds all its accelerators. Where nothing requires
    `rail_access`, a violation is a warning.

    ## A design that passes
    ```fab
    host node[4]: DGX_H100                                  # NVSwitches join all eight GPUs
    connect node[n].nic[r] to leaf[r]                       # eight leaves, no spine
    ```

    ## A design that fails
    ```fab
    host node[4]: L40S_SERVER                               # no NVLink
    connect node[n].nic[r] to leaf[r]
    ```

    ### What it prints
    ```
    E0414: node0.gpu[0] cannot reach rail 1: neither it nor a neighbour by NVLink has an adapter there
    help: join the leaves by spines, connect all adapters of a host to one switch, or use hosts whose GPUs
    NVLink joins
    ```
    """

    code = "E0414"
    name = "rail_access"
    wrong = "An accelerator that cannot reach a rail of its host"
    kind = "yes_no"
    cost = 0
    fails_by_default = True
    mild = True
    of_design = True
    of_network = True
    takes = frozenset()

    def applies_to(self, fabric: Fabric) -> bool:
        return has_separate_networks(fabric)

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        found = rail_access(view.fabric)
        if not found.of:
            return skipped("no host has rails or planes that no switch joins")
        if found.unreached:
            return _judge_unreached(view.fabric, found)
        if not found.judged:
            return skipped(found.reason)
        hosts = f"{found.judged} {noun_for_count(found.judged, 'host')}"
        if found.judged < found.of:
            text = f"{hosts} of {found.of} judged; {found.reason}"
            return Judgement("skipped", reason=text, judged=found.judged, of=found.of)
        return property_holds(f"{hosts}, each accelerator reaches every rail of its host over scale-up links")


def _judge_unreached(f: Fabric, found: RailAccess) -> Judgement:
    """Refuted, with a finding at each connect whose network some accelerators do not reach."""
    faults, by_statement = [], _unreached_by_statement(f.network, found.unreached)
    for statement, missing in by_statement.items():
        first, count = missing[0], sum(m.hosts for m in missing)
        more = f" (and {count - 1} more such pairs)" if count > 1 else ""
        network = _network_text(f.network, first.link)
        message = (
            f"{f.device_name(first.host)}.{first.accelerator} cannot reach {network}: "
            f"neither it nor a neighbour by NVLink has an adapter there{more}"
        )
        declared = f.set_of(first.host)
        faults.append(PropertyFault(
            f.statements[statement].origin, message, count,
            ((declared.origin.span, f"{f.device_name(first.host)} is declared here"),),
            notes=(
                "NCCL passes data for it through the processors; between GPUs of one host it may take the "
                "network, and hang: set NCCL_NET_DISABLE_INTRA=1, as the file nccl/MODEL.conf does",
            ),
            help="join the leaves by spines, connect all adapters of a host to one switch, or use hosts "
            "whose GPUs NVLink joins",
        ))  # fmt: skip
    first = found.unreached[0]
    witness = {
        "host": f.device_name(first.host),
        "accelerator": first.accelerator,
        "adapter": f.port_path(int(f.network.link_a[first.link])),
        "hosts": first.hosts,
    }
    return property_fails(faults[0].message, tuple(faults), witness)


def _unreached_by_statement(
    f: Fabric, unreached: tuple[UnreachedNetwork, ...]
) -> dict[int, list[UnreachedNetwork]]:
    out: dict[int, list[UnreachedNetwork]] = {}
    for missing in unreached:
        out.setdefault(int(f.link_statement[missing.link]), []).append(missing)
    return out


def _network_text(f: Fabric, link: int) -> str:
    """``rail 1``, or the network of a switch where links have no rail."""
    rail = int(link_rail(f)[link])
    return f"rail {rail}" if rail >= 0 else f"the network of {f.device_name(int(f.device_b[link]))}"
