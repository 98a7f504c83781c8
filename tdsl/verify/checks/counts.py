"""Counts that a design may require: links, cables, switches, ports."""

from __future__ import annotations

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.order import distinct_values
from tdsl.fabric.subject import used_ports_of_devices
from tdsl.prove.view import View
from tdsl.system.nouns import noun_for_count
from tdsl.verify.check import Check, Judgement, exactly


class Links(Check):
    """How many links there are.

    ## What it means
    A link is what the network sees: two ports that talk to each other. `links of S` counts those of a device
    with all that is in it, or those among a group's devices and to the ends attached; `links of A to B` those
    between any device of A and any of B. Panels and optical switches are crossed by links and end none: ask
    for their `cables` or `ports`.

    ## Formula and source
    A count of the rows of the link table. Lanes of a split port are links of their own.

    ## What it assumes
    Nothing: planned but omitted members carry none.

    ## A design that passes
    ```fab
    require links of leaf[*] to spine[*] == 1024
    ```

    ## A design that fails
    ```fab
    require links >= 12_000
    ```

    ### What it prints
    ```
    E0421: `links >= 12_000` does not hold: 2044 links
    ```
    """

    code = "E0421"
    name = "links"
    wrong = "A number of links that is not as required"
    kind = "number"
    cost = 0
    unit = "links"
    on_demand = True
    of_design = True
    together = "added"
    takes = frozenset({"of", "to"})
    joins = True

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        count = len(view.rows)
        return exactly(count, f"{count} {noun_for_count(count, 'link')}")


class CableCount(Check):
    """How many cables there are.

    ## What it means
    A cable is what is pulled: a break-out with eight legs is one, and a link through a panel takes two.
    `cables of S` counts those plugged into S, or into what is in it, those that leave a group too; `cables of
    A to B` those from any device of A to any of B, and both cables of a link between them that crosses a
    panel.

    ## Formula and source
    A count of distinct cables in the cable table, which joins links that leave one connector.

    ## What it assumes
    Traces and backplanes are no cables.

    ## A design that passes
    ```fab
    require cables of node[*] == 8
    ```

    ## A design that fails
    ```fab
    require cables <= 2000
    ```

    ### What it prints
    ```
    E0422: `cables <= 2000` does not hold: 2044 cables
    ```
    """

    code = "E0422"
    name = "cables"
    wrong = "A number of cables that is not as required"
    kind = "number"
    cost = 0
    unit = "cables"
    on_demand = True
    of_design = True
    together = "added"
    takes = frozenset({"of", "to"})
    joins = True

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        count = len(distinct_values(view.fabric.cable_group[view.legs]))
        return exactly(count, f"{count} {noun_for_count(count, 'cable')}")


class Switches(Check):
    """How many switches are built.

    ## What it means
    Packet switches of this network; optical circuit switches and panels are none. `switches of S` counts
    those in a group, and those in a chassis beside it.

    ## Formula and source
    A count of the devices of kind `switch` that are built.

    ## What it assumes
    Planned but omitted switches do not count.

    ## A design that passes
    ```fab
    require switches == 48
    ```

    ## A design that fails
    ```fab
    require switches <= 40
    ```

    ### What it prints
    ```
    E0423: `switches <= 40` does not hold: 48 switches
    ```
    """

    code = "E0423"
    name = "switches"
    wrong = "A number of switches that is not as required"
    kind = "number"
    cost = 0
    unit = "switches"
    on_demand = True
    of_design = True
    together = "added"
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        count = int((view.core & view.fabric.is_switch).sum())
        return exactly(count, f"{count} {noun_for_count(count, 'switch', 'switches')}")


class PortCount(Check):
    """How many ports are in use.

    ## What it means
    Ports that carry a link or a drawn cable. `ports of S` asks each element of S alone, with what is in it,
    so `require ports of ocs[*] <= 128` keeps eight of 136 ports spare on every one.

    ## Formula and source
    A count of the ports in the state *used*.

    ## What it assumes
    Ports kept for planned but omitted members are not in use.

    ## A design that passes
    ```fab
    require ports of spine[*] <= 64
    ```

    ## A design that fails
    ```fab
    require ports of spine[*] <= 60
    ```

    ### What it prints
    ```
    E0424: `ports of spine[*] <= 60` does not hold: 64 ports in use in spine[0]
    ```
    """

    code = "E0424"
    name = "ports"
    wrong = "A number of ports that is not as required"
    kind = "number"
    cost = 0
    unit = "ports"
    on_demand = True
    of_design = True
    together = "added"
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        count = used_ports_of_devices(view.fabric, view.core)
        return exactly(count, f"{count} {noun_for_count(count, 'port')} in use")
