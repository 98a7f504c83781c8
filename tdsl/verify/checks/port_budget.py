"""Ports: every link has a port of its own, on a device that has it."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import FREE, USED, Bools, Fabric, Ints
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds


class PortBudget(Check):
    """No device needs more ports than it has.

    ## What it means
    Each end of a link takes one port of its device, and a port takes one link. The result also names the
    switch with the fewest free ports, of the classes that its network uses: where growth stops first.

    ## Formula and source
    A recount from the finished wiring: for every port, links and panel crossings on it are at most one, and
    none is on a device that is not built. Free ports of a device: ports, less those used, less those kept for
    what is planned.

    ## What it assumes
    The datasheet's port count, as the model states it. A split port counts as its lanes.

    ## A design that passes
    ```fab
    model switch SW { port p[1..4]: 400Gbps }
    switch sw: SW
    host node[4]: NODE
    connect node[n].nic to sw
    ```

    ## A design that fails
    ```fab
    host node[5]: NODE                                      # five hosts, four ports
    connect node[n].nic to sw
    ```

    ### What it prints
    ```
    E0412: sw.p[2] carries 2 links
    ```
    """

    code = "E0412"
    name = "port_budget"
    wrong = "More links at a device than ports"
    kind = "yes_no"
    cost = 0
    fails_by_default = True
    monotone = True
    of_design = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        f = view.fabric
        ports = np.concatenate([x[view.rows] for x in (f.link_a, f.link_b, f.link_via_a, f.link_via_b)])
        ports = ports[ports >= 0]
        if len(ports) and int(ports.max()) >= int(f.port_base[-1]):
            return self._refuted(view, np.array([ports.max()]), "is beyond the last port")
        load = np.bincount(ports, minlength=int(f.port_base[-1]))
        twice = np.flatnonzero(load > 1)
        if len(twice):
            return self._refuted(view, twice, f"carries {int(load[twice[0]])} links")
        ghost = np.flatnonzero((load > 0) & ~f.built[f.port_device]) if not f.built.all() else twice
        if len(ghost):
            return self._refuted(view, ghost, "carries a link, but its device is not built")
        unmarked = np.flatnonzero((load > 0) & (f.port_state != USED))
        if len(unmarked):
            return self._refuted(view, unmarked, "carries a link that its device does not count")
        return self._tightest(view)

    def _refuted(self, view: View, ports: Ints, what: str) -> Judgement:
        f = view.fabric
        port = int(ports[0])
        inside = port < int(f.port_base[-1])
        name = f.port_path(port) if inside else f"port {port}"
        rows = np.flatnonzero(
            (f.link_a == port) | (f.link_b == port) | (f.link_via_a == port) | (f.link_via_b == port)
        )
        at = f.statements[int(f.link_statement[rows[-1]])].origin
        more = f" ({len(ports)} ports do)" if len(ports) > 1 else ""
        labels = (
            ((f.set_of(int(f.port_device[port])).origin.span, "the device is declared here"),)
            if inside
            else ()
        )
        fault = PropertyFault(
            at,
            f"{name} {what}{more}",
            len(ports),
            labels,
            help="use another port, or a device with more ports",
        )
        return property_fails(fault.message, (fault,), {"port": name, "links": rows[:4].tolist()})

    def _tightest(self, view: View) -> Judgement:
        """The device with the fewest free ports among those that have any link."""
        f = view.fabric
        sizes, free = _ports_for_links(f)
        mine = np.flatnonzero(view.core & f.is_switch & (sizes > 0))
        mine = mine[sizes[mine] > 1] if (sizes[mine] > 1).any() else mine  # one port ends no growth
        if not len(mine):
            return property_holds("every link has a port of its own")
        tiers: dict[str, int] = {}
        for s in dict.fromkeys(f.device_set[mine].tolist()):
            rows = mine[f.device_set[mine] == s]
            tiers[f.sets[s].path] = min(int(free[rows].min()), tiers.get(f.sets[s].path, int(sizes.max())))
        at = int(mine[np.argmin(free[mine])])
        text = f"tightest: {f.device_name(at)} has {int(free[at])} of {int(sizes[at])} ports free"
        return property_holds(text, {"tightest": f.device_name(at), "free": tiers})


def _ports_for_links(f: Fabric) -> tuple[Ints, Ints]:
    """Of every device how many ports it has in the classes that its declaration uses, and how many of them
    are free: a management port is none for the links of another network."""
    sizes, free = np.zeros(f.device_count, np.int64), np.zeros(f.device_count, np.int64)
    for s in f.sets:
        of_set = np.flatnonzero(f.is_switch[s.first : s.first + s.count]) + s.first
        for m in np.unique(f.device_model[of_set]).tolist():
            rows = of_set[f.device_model[of_set] == m]
            free_of: dict[str, list[Bools]] = {}  # by name: the parts of a split class have one
            at = 0
            for c in f.models[m].classes:
                ports = f.port_base[rows][:, None] + np.arange(at, at + c.size)
                free_of.setdefault(c.name, []).append(f.port_state[ports] == FREE)
                at += c.size
            for parts in free_of.values():
                if not all(part.all() for part in parts):
                    sizes[rows] += sum(part.shape[1] for part in parts)
                    free[rows] += sum(part.sum(axis=1) for part in parts)
    return sizes, free
