"""Deadlock freedom: no cycle of channels that wait for each other."""

from __future__ import annotations

import numpy as np

from tdsl.prove.channel_order import ChannelCycle, ChannelOrder, NoRoute, order_or_cycle
from tdsl.prove.view import View
from tdsl.semantics.transport import TRANSPORTS
from tdsl.system.nouns import counted_noun
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds
from tdsl.verify.engine_routes import RoutesOfEngine

INSTEAD = {
    "bgp": "give the spines of a pod one AS number, which refuses paths that go up again (RFC 7938)",
    "": "route by `updn`, whose paths may be longer, or by an engine with virtual lanes: torus-2QoS, dfsssp",
}


class DeadlockFree(RoutesOfEngine[ChannelOrder | ChannelCycle], Check):
    """No cycle of channels that wait for each other.

    ## What it means
    In a lossless network (InfiniBand, or Ethernet with PFC) a packet holds the buffer that it is in until the
    next one has space. If some routes hold buffers around a cycle, each waits for the next, and traffic stops
    for good: a credit loop, or a cyclic buffer dependency. The answer is of the routes that an engine makes:
    `under minhop`, `updn`, `ftree` or `dor` of OpenSM, or `under bgp` of the routers of the design.

    ## Formula and source
    A channel is one direction of the links between two switches. A route that enters a switch by one channel
    and leaves by another makes the second wait for the first. There is no deadlock if and only if this
    relation has no cycle (Dally and Seitz, IEEE Transactions on Computers C-36, 1987; for PFC: Hu et al.,
    "Deadlocks in datacenter networks", HotNets 2016). It is found by strongly connected components. The proof
    is an order of the channels along which every route ascends, which certificates have; the witness is a
    cycle with a route for each of its turns.

    | engine | routes to each switch with endpoints |
    |---|---|
    | `minhop` | all shortest paths, whichever are chosen |
    | `updn` | up to lower ranks, then down |
    | `ftree` | the same in a tree that OpenSM's rules for `ftree` allow (opensm(8)); others it refuses |
    | `dor` | in a grid, torus or HyperX one index after the other, each by the shortest way |
    | `bgp` | the shortest AS paths without the own number, all equally short ones (RFC 7938, section 6) |

    A rank is the distance from the roots: the switches of the highest tier where every link joins one tier to
    the next, as the file `root-guids` of the target `opensm` has them; else the first switch of that tier.

    ## What it assumes
    One virtual lane or priority for all traffic. All endpoints send to all others; links of hosts hold no
    cycle, since hosts do not forward. Parallel links are all in use. OpenSM's `minhop` and `dor` choose one
    of the routes that are judged for each destination, so that a cycle here may be absent from its tables:
    `tdsl audit --routes FILE` judges these. OpenSM's `updn` must be given the roots (`root_guid_file`): it
    looks for some itself, and where it finds none it falls back to `minhop`. A pair without a route refutes
    it. With `pfc off` nothing is paused, and routes in a cycle lose packets in place of waiting.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread x 2
    require deadlock_free under ftree and deadlock_free under minhop
    ```

    ## A design that fails
    ```fab
    connect sw[*] ring                                      # eight switches with hosts
    require deadlock_free under minhop
    ```

    ### What it prints
    ```
    E0445: `deadlock_free under minhop` does not hold: 8 channels wait for each other: sw1 - sw0 - … - sw1
    ```
    """

    code = "E0445"
    name = "deadlock_free"
    wrong = "Routes that wait for each other in a cycle"
    example = "deadlock_free under updn"

    def found_in_routes(self, view: View, engine: str) -> ChannelOrder | ChannelCycle | NoRoute:
        return order_or_cycle(view, engine)

    def judgement_of_found(self, view: View, engine: str, found: ChannelOrder | ChannelCycle) -> Judgement:
        if isinstance(found, ChannelCycle):
            return _cycle_judgement(view, engine, found)
        channels = counted_noun(len(found.order), "channel")
        roots = counted_noun(len(found.roots), "root")
        how = f" up and down from {roots}" if engine in ("updn", "ftree") else ""
        apart = f"; {found.parts} parts that no link joins" if found.parts > 1 else ""
        order = "in an order along which every route ascends"
        return property_holds(f"{channels}{how}, {order}{apart}{_paused(view)}")


def _cycle_judgement(view: View, engine: str, found: ChannelCycle) -> Judgement:
    names = view.names(np.array([*found.devices, found.devices[0]]))
    routes = [view.names(np.array(way)) for way in found.routes]
    around = names if len(names) <= 12 else [*names[:8], "…", names[-1]]
    message = f"{len(found.devices)} channels wait for each other: {' - '.join(around)}"
    notes = tuple(f"a route from {way[0]} to {way[-1]}: {' - '.join(way)}" for way in routes[:4])
    help = INSTEAD.get(engine, INSTEAD[""])
    witness = {"cycle": names[:-1], "routes": routes}
    return property_fails(message, (PropertyFault(None, message, notes=notes, help=help),), witness)


def _paused(view: View) -> str:
    """That nothing is paused where the design says so."""
    f = view.fabric
    roce = f.addressing.roce if f.addressing is not None else None
    if roce is not None:
        return "" if roce.pfc else "; nothing is paused: the priority is not lossless"
    lossy = f.transport in TRANSPORTS and TRANSPORTS[f.transport].lossy
    return f"; nothing is paused: `{f.transport}` needs no lossless priority" if lossy else ""
