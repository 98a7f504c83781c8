"""Valley-free routes: up, then down, and never up again."""

from __future__ import annotations

import numpy as np

from tdsl.prove.channel_order import NoRoute, valley_or_gap
from tdsl.prove.channel_routes import SwitchGraph
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds
from tdsl.verify.engine_routes import RoutesOfEngine


class ValleyFree(RoutesOfEngine[list[int] | None], Check):
    """Routes go up, then down, and never up again.

    ## What it means
    In a tree of tiers a route climbs to a switch above both ends and descends. One that climbs again after it
    descended passes through a lower switch that is not meant to carry others' traffic: it takes capacity of
    hosts there, is longer, and can close a cycle of buffers that wait for each other (`deadlock_free`).

    ## Formula and source
    For each route of the engine that `under` names (`tdsl explain deadlock_free` has them), the tiers of the
    switches on it: after a link to a lower tier, or between two of one tier, none leads up or aside. Source:
    Gao, "On inferring autonomous system relationships in the Internet", IEEE/ACM Transactions on Networking
    9, 2001; for trees of switches RFC 7938, section 5.2.

    ## What it assumes
    The tiers of the design. All endpoints send to all others. All paths that the engine may choose are in
    use. A pair without a route refutes it.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread
    require valley_free under minhop
    ```

    ## A design that fails
    ```fab
    connect leaf[0..2] to spine[0] each                     # leaf[2] alone has both spines
    connect leaf[2..4] to spine[1] each
    require valley_free under minhop
    ```

    ### What it prints
    ```
    E0446: `valley_free under minhop` does not hold: leaf3 - spine1 - leaf2 - spine0 - leaf0 goes up again
    ```
    """

    code = "E0446"
    name = "valley_free"
    wrong = "A route that goes up again after it went down"
    example = "valley_free under bgp"

    def found_in_routes(self, view: View, engine: str) -> list[int] | NoRoute | None:
        return valley_or_gap(view, engine)

    def judgement_of_found(self, view: View, engine: str, found: list[int] | None) -> Judgement:
        if found is None:
            parts = SwitchGraph.of(view).parts
            apart = f"; {parts} parts that no link joins" if parts > 1 else ""
            return property_holds(f"every route goes up, then down{apart}")
        names = view.names(np.array(found))
        message = f"{' - '.join(names)} goes up again"
        help = "join these switches by one of a higher tier, or refuse such paths in the routing policy"
        return property_fails(message, (PropertyFault(None, message, help=help),), {"route": names})
