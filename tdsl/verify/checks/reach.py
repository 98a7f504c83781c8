"""Cables and cages: runs within reach, parts that fit their cages, one kind of part in a twin-port
transceiver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tdsl.fabric.cables.cabling import fills_cages
from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.part_facts import MICRO, lengths_of, part_display_name, stated_quantity
from tdsl.findings.source import Origin
from tdsl.prove.view import View
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import LENGTH, Quantity, quantity_text
from tdsl.system.nouns import noun_for_count
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds, skipped
from tdsl.verify.checks.rack_space import NO_PLACES
from tdsl.verify.result import Status, Value

if TYPE_CHECKING:
    from tdsl.physical.model import Physical
    from tdsl.physical.part_choice import PartChoice

NO_LIMIT = 1 << 60
"""Micrometres that mean a part without a reach."""


class OfCables:
    """What checks of cables have in common: they judge the cables as designed, also those between two
    sets."""

    fails_by_default: ClassVar[bool] = True
    of_design: ClassVar[bool] = True
    takes: ClassVar[frozenset[str]] = frozenset({"of", "to"})
    joins: ClassVar[bool] = True


class CableLength(OfCables, Check):
    """Every cable reaches from one end to the other.

    ## What it means
    The figure is the longest run of any cable: the `length` that its connect states, else the way between its
    ends as they are placed, with slack. A design fails where a run is longer than the part or the
    transceivers of its connect reach, or than any length in which the part is sold, and where a stated
    `length` is shorter than the way.

    ## Formula and source
    The route as in `tdsl show FILE length CABLE`, with the `distance` between halls or sites that it spans.
    The run is at most the `reach` of the cable and of the transceivers at its ends, and at most the longest
    of its `lengths` and `unconfirmed` lengths.

    ## What it assumes
    The places, pitches, trays and slack of the design. The figure is that of one cable; reach holds for all
    cables of a link through a panel together, from transceiver to transceiver (NVIDIA, Interconnect
    Structured Cabling Requirements). Where the length of a cable is unknown the figure is a lower bound.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread { cable MFP7E10 }    # multimode fibre: 50 m
    require cable_length of leaf to spine <= 50m
    ```

    ## A design that fails
    ```fab
    connect leaf[*] to spine[*] spread { cable MFP7E10 }    # and 60 m of tray between them
    ```

    ### What it prints
    ```
    E0225: leaf[0].p[1] to spine[0].p[1] runs 63.512m, and MFP7E10 reaches 50m
    ```
    """

    code = "E0225"
    name = "cable_length"
    wrong = "A cable longer than its parts reach"
    kind = "quantity"
    unit = "m"
    dim = LENGTH
    monotone = True

    def applies_to(self, fabric: Fabric) -> bool:
        return (
            fabric.places is not None
            or bool(fabric.spans)
            or any("length" in s.settings for s in fabric.statements)
        )

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.fabric.places import empty_places
        from tdsl.physical.model import Physical, physical_of
        from tdsl.physical.stated import stated_lengths

        f = view.fabric
        if not self.applies_to(f):
            return skipped(NO_PLACES)
        physical = physical_of(f) or Physical(f, empty_places(f.device_count))
        legs = view.leg_columns
        stated = stated_lengths(f)
        every = np.where(stated >= 0, stated, physical.lengths.run)
        run = every[legs]
        if not len(run):
            return skipped("there are no cables")
        unknown = int((run < 0).sum())
        if unknown == len(run):
            first = int(np.flatnonzero(legs)[0])
            return skipped(f"no length is known: {physical.lengths.unknown(first)}")
        longest = int(np.flatnonzero(legs)[int(np.argmax(run))])
        most = Quantity(Fraction(int(run.max()), MICRO), LENGTH)
        text = f"{quantity_text(most)} from {_cable_leg_ends(view.fabric, longest)}"
        if unknown:
            verb = noun_for_count(unknown, "is", "are")
            text = f"at least {text}; {unknown:,} of {len(run):,} lengths {verb} unknown"
        faults = (
            *_cable_reach_faults(f, physical, legs, every),
            *_total_length_faults(f, physical, legs, every),
            *_stated_length_faults(f, physical, legs),
        )
        status: Status = "refuted" if faults else "bounded" if unknown else "proved"
        witness = {"cable": _cable_leg_ends(view.fabric, longest)}
        upper: Value = inf if unknown else most
        return Judgement(status, text, most, most, upper, witness=witness, faults=faults)


def _cable_leg_ends(f: Fabric, leg: int) -> str:
    return f"{f.port_path(int(f.cable_a[leg]))} to {f.port_path(int(f.cable_b[leg]))}"


def _stated_length_faults(f: Fabric, physical: Physical, legs: Bools) -> list[PropertyFault]:
    """A fault for each connect that states a length below the way of one of its cables."""
    from tdsl.physical.stated import stated_lengths

    stated, run = stated_lengths(f), physical.lengths.run
    short = np.flatnonzero(legs & (stated >= 0) & (run > stated))
    out = []
    for statement in np.unique(f.cable_statement[short]).tolist():
        mine = short[f.cable_statement[short] == statement]
        leg = int(mine[np.argmax(run[mine])])
        text = (
            f"{_cable_leg_ends(f, leg)} runs {run[leg] / MICRO:.3f}m, and its connect states "
            f"{stated[leg] / MICRO:g}m"
        )
        several = f" ({len(mine):,} cables)" if len(mine) > 1 else ""
        help = "leave `length` out, or state one that covers the way"
        out.append(PropertyFault(f.statements[statement].origin, text + several, len(mine), help=help))
    return out


def _total_length_faults(f: Fabric, physical: Physical, legs: Bools, every: Ints) -> list[PropertyFault]:
    """A fault for each connect with a link through a panel whose cables together are longer than its parts
    reach."""
    from tdsl.fabric.cables.identity import CableIndex

    number, choices = physical.parts.group
    parts = [[x for x in (c.cable, c.optic_a, c.optic_b) if x is not None] for c in choices]
    limits = [
        min(
            ((r, part_display_name(x)) for x in of if (r := stated_quantity(x, "reach", LENGTH)) is not None),
            default=None,
        )
        for of in parts
    ]
    reach = np.array(
        [NO_LIMIT if x is None else int(x[0] * MICRO) for x in limits] or [NO_LIMIT], dtype=np.int64
    )[number]
    links, at = CableIndex(f).crossings
    run, least = np.zeros(f.link_count, dtype=np.int64), np.full(f.link_count, NO_LIMIT, dtype=np.int64)
    np.add.at(run, links, np.maximum(every[at], 0))
    np.minimum.at(least, links, reach[at])
    asked = np.zeros(f.link_count, dtype=np.bool_)
    asked[links[legs[at]]] = True
    alone = np.zeros(f.link_count, dtype=np.bool_)  # one of its cables is beyond reach by itself
    alone[links[every[at] > reach[at]]] = True
    over = np.flatnonzero(asked & ~alone & (f.link_via_a >= 0) & (run > least))
    out: list[PropertyFault] = []
    for statement in np.unique(f.link_statement[over]).tolist():
        mine = over[f.link_statement[over] == statement]
        link = int(mine[np.argmax(run[mine])])
        weakest = min(x for leg in at[links == link].tolist() if (x := limits[int(number[leg])]) is not None)
        text = (
            f"{f.port_path(int(f.link_a[link]))} to {f.port_path(int(f.link_b[link]))} runs "
            f"{run[link] / MICRO:.3f}m in all, "
        )
        text += f"and {weakest[1]} reaches {quantity_text(Quantity(weakest[0], LENGTH))}"
        more = f" ({len(mine):,} such links)" if len(mine) > 1 else ""
        help = "place the ends nearer to the panel, or use parts that reach further"
        out.append(PropertyFault(f.statements[statement].origin, text + more, len(mine), help=help))
    return out


def _cable_reach_faults(f: Fabric, physical: Physical, legs: Bools, run: Ints) -> list[PropertyFault]:
    """A fault for each connect with a run beyond its parts, at the longest."""
    number, choices = physical.parts.group
    out: list[PropertyFault] = []
    for k, choice in enumerate(choices):
        if choice.cable is None:
            continue
        rows = np.flatnonzero((number == k) & legs & (run >= 0))
        limits = [
            (x, stated_quantity(x, "reach", LENGTH))
            for x in (choice.cable, choice.optic_a, choice.optic_b)
            if x is not None
        ]
        least = min(((r, part_display_name(x)) for x, r in limits if r is not None), default=None)
        sold = max((x for lengths in lengths_of(choice.cable) for x in lengths), default=None)
        beyond: list[tuple[Ints, str]] = []
        if least is not None:
            reach = f"{least[1]} reaches {quantity_text(Quantity(least[0], LENGTH))}"
            beyond.append((rows[run[rows] > int(least[0] * MICRO)], reach))
        if sold is not None:
            beyond.append(
                (rows[run[rows] > sold], f"{part_display_name(choice.cable)} is sold up to {sold / MICRO:g}m")
            )
        for rows_over, why in beyond:
            if not len(rows_over):
                continue
            leg = int(rows_over[np.argmax(run[rows_over])])
            text = f"{_cable_leg_ends(f, leg)} runs {run[leg] / MICRO:.3f}m, and {why}"
            more = f" ({len(rows_over):,} such cables)" if len(rows_over) > 1 else ""
            origin = f.statements[int(f.cable_statement[leg])].origin
            help = "place the ends nearer, or use a part that reaches further"
            out.append(PropertyFault(origin, text + more, len(rows_over), help=help))
            break
    return out


class CageFit(Check):
    """Every transceiver and cable fits the cage it goes into.

    ## What it means
    A transceiver that a connect pins with `optic` must have the form, heat sink, number of ports and rate of
    the cages at its end: a finned twin-port OSFP does not go into a DGX, whose cages take flat tops, nor a
    single-port one into a switch. Both ends need one fibre and one kind of connector, and so does the cable.
    The plugs of a copper cable that a connect pins must have the form and heat sink of the cages, and lanes
    for the rate: a passive cable of 2 × 400 Gb/s does not carry a port of 800 Gb/s.

    ## Formula and source
    NVIDIA LinkX 100G-PAM4 overview, connectors and cages
    (docs.nvidia.com/networking/display/400g100gpam4ovpub): finned OSFP in air-cooled switches only, flat
    twin-port in DGX and liquid-cooled switches, flat single-port and QSFP112 in adapters only. A plug fills
    its cage, so a port has the `rate` of the cable over the ports of the cage. At 200 Gb/s a lane NVIDIA
    sells no passive copper (docs.nvidia.com/networking/display/800g200gpam4list).

    ## What it assumes
    What the models state. A model without `cage`, or without `finned` or `flat` where the transceiver has a
    heat sink, leaves the answer open.

    ## A design that passes
    ```fab
    connect node[n].nic[r] to leaf[r] { optic MMA4Z00_NS_FLT, MMA4Z00_NS; cable MFP7E10 }
    ```

    ## A design that fails
    ```fab
    connect node[n].nic[r] to leaf[r] { optic MMA4Z00_NS }  # the DGX needs the flat top
    ```

    ### What it prints
    ```
    E0226: node[0].nic[0]: MMA4Z00-NS is finned, and the cage takes flat (16 such ends)
    ```
    """

    code = "E0226"
    name = "cage_fit"
    wrong = "A transceiver that does not fit its cage"
    kind = "yes_no"
    fails_by_default = True
    of_design = True
    takes = frozenset({"of"})

    def applies_to(self, fabric: Fabric) -> bool:
        return any("optics" in s.settings or fills_cages(s.settings.get("part")) for s in fabric.statements)

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.fabric.cables.identity import CableIndex

        f = view.fabric
        if not self.applies_to(f):
            return skipped("no connect pins a transceiver or a cable with plugs")
        legs = view.leg_columns
        faults: list[PropertyFault] = []
        open_ends: list[str] = []
        head_at_b = CableIndex(f).head_at_b
        count = np.bincount(f.cable_group)[f.cable_group] if len(f.cable_group) else f.cable_group
        for number, statement in enumerate(f.statements):
            optics = statement.settings.get("optics")
            rows = np.flatnonzero(legs & (f.cable_statement == number))
            part = statement.settings.get("part")
            if len(rows) and isinstance(part, DeviceModel) and fills_cages(part):
                faults += _plug_faults(f, rows, part, statement.origin)
            if not isinstance(optics, tuple) or not len(rows):
                continue
            split = f.cable_leg[rows] > 0
            tails = split & head_at_b[rows], split & ~head_at_b[rows]
            for ports, optic, tail in zip((f.cable_a, f.cable_b), optics, tails, strict=True):
                ends = list(zip(ports[rows].tolist(), count[rows].tolist(), tail.tolist(), strict=True))
                self._end(f, ends, optic, statement.origin, faults, open_ends)
            at_legs = bool(tails[0].any()), bool(tails[1].any())
            faults += _optics_mismatch_faults(optics, part, at_legs, statement.origin, len(rows))
        if faults:
            return property_fails(faults[0].message, tuple(faults))
        if open_ends:
            return skipped(open_ends[0])
        return property_holds("every transceiver fits its cage")

    def _end(
        self,
        f: Fabric,
        ends: list[tuple[int, int, bool]],
        optic: DeviceModel,
        origin: Origin,
        faults: list[PropertyFault],
        open_ends: list[str],
    ) -> None:
        """One end of a connect: faults, and what cannot be judged. Of each cable leg the port, the legs of
        its cable, and whether the port is at the divided end."""
        from tdsl.fabric.cables.plugs import optic_misfit_reason

        wrong: dict[tuple[str, str], list[int]] = {}
        for port, legs, tail in ends:
            c, _ = f.port_class(port)
            link = int(f.port_link[port])
            rate = int(f.link_rate[link]) if link >= 0 else c.rate or 0
            why = optic_misfit_reason(optic, c, rate, legs, tail)
            if why:
                wrong.setdefault((c.name, why), []).append(port)
        for (_, why), found in wrong.items():
            if "does not state" in why:
                open_ends.append(why)
                continue
            more = f" ({len(found):,} such ends)" if len(found) > 1 else ""
            ports_at = f.port_class(found[0])[0].origin.span
            labels = (
                (ports_at, "the ports are declared here"),
                (optic.origin.span, "the transceiver is declared here"),
            )
            help = "pin a transceiver that fits, or none: then one is chosen"
            faults.append(
                PropertyFault(origin, f"{f.port_path(found[0])}: {why}{more}", len(found), labels, help=help)
            )


def _optics_mismatch_faults(
    optics: tuple[object, ...], part: object, at_legs: tuple[bool, bool], origin: Origin, count: int
) -> list[PropertyFault]:
    """Faults of two transceivers and a cable that do not go together; ``at_legs``: whether the transceivers
    are at the split side, where a harness may have a connector of its own."""
    from tdsl.fabric.cables.plugs import fibre_connectors

    a, b = optics
    assert isinstance(a, DeviceModel) and isinstance(b, DeviceModel)
    pairs = [(a, b, "fibre", a.facts.get("fibre"), b.facts.get("fibre"))]
    if not any(at_legs):
        pairs.append((a, b, "connector", a.facts.get("connector"), b.facts.get("connector")))
    if isinstance(part, DeviceModel):
        for x, tail in zip((a, b), at_legs, strict=True):
            pairs.append((x, part, "fibre", x.facts.get("fibre"), part.facts.get("fibre")))
            plug = fibre_connectors(part)[tail]
            pairs.append((x, part, "connector", x.facts.get("connector"), plug))
    for x, y, fact, one, two in pairs:
        if one is not None and two is not None and str(one) != str(two):
            text = (
                f"{part_display_name(x)} has the {fact} {one} and {part_display_name(y)} {two}: they "
                "do not go together"
            )
            labels = ((x.origin.span, "declared here"), (y.origin.span, "declared here"))
            return [PropertyFault(origin, text, count, labels, help="use one kind at both ends")]
    return []


def _plug_faults(f: Fabric, rows: Ints, part: DeviceModel, origin: Origin) -> list[PropertyFault]:
    """Faults of the plugs of a cable that one connect pins: one for each reason, with the first port that it
    concerns."""
    from tdsl.fabric.cables.plugs import ends_wrong

    wrong: dict[str, list[int]] = {}
    for a, b in zip(f.cable_a[rows].tolist(), f.cable_b[rows].tolist(), strict=True):
        link = int(f.port_link[a])
        rate = int(f.link_rate[link]) if link >= 0 else 0
        for port, why in zip(
            (a, b), ends_wrong(part, f.port_class(a)[0], f.port_class(b)[0], rate), strict=True
        ):
            if why:
                wrong.setdefault(why, []).append(port)
    out = []
    for why, found in wrong.items():
        more = f" ({len(found):,} such ends)" if len(found) > 1 else ""
        ports_at = f.port_class(found[0])[0].origin.span
        labels = ((ports_at, "the ports are declared here"), (part.origin.span, "the cable is declared here"))
        help = "pin a cable whose plugs fit, or fibre and transceivers"
        out.append(
            PropertyFault(origin, f"{f.port_path(found[0])}: {why}{more}", len(found), labels, help=help)
        )
    return out


class TwinPort(Check):
    """The ports of one transceiver use one kind of part.

    ## What it means
    The two ports of a twin-port transceiver leave by two fibres of one kind, both straight or both splitters,
    and there is one transceiver in a cage, whatever connects lead to its ports.

    ## Formula and source
    For each cage all cable ends in it have one transceiver, one kind of cable, and the same number of legs.
    NVIDIA MMS4X00-NM product page, application overview: "both fibres must be the same kind, both straight or
    both splitter".

    ## What it assumes
    The parts that `cables.csv` names. Where the part of an end is not known, the answer is `bounded`.

    ## A design that passes
    ```fab
    connect leaf[0].p[1] to leaf[1].p[1] { cable MFP7E10 }
    connect leaf[0].p[2] to leaf[1].p[2] { cable MFP7E10 }  # the same cage
    ```

    ## A design that fails
    ```fab
    connect leaf[0].p[1] to leaf[1].p[1] { cable MFP7E10 }
    connect leaf[0].p[2] to leaf[1].p[2] { cable MFP7E30 }  # single-mode beside multimode
    ```

    ### What it prints
    ```
    E0227: cage OSFP 1 of leaf[0] has MFP7E10 and MFP7E30: a transceiver takes one kind (and 1 more)
    ```
    """

    code = "E0227"
    name = "twin_port"
    wrong = "Two kinds of cable in one transceiver"
    kind = "yes_no"
    fails_by_default = True
    of_design = True
    together = "shared"
    takes = frozenset({"of"})

    def applies_to(self, fabric: Fabric) -> bool:
        return fabric.places is not None

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.physical.model import physical_of

        f = view.fabric
        physical = physical_of(f)
        if physical is None:
            return skipped(NO_PLACES)
        legs = view.legs
        number, choices = physical.parts.group
        port = np.concatenate([f.cable_a[legs], f.cable_b[legs]])
        statement = np.concatenate([f.cable_statement[legs]] * 2)
        caged = physical.parts.caged(port)
        cage = physical.parts.cage_of(port[caged])
        shared = np.bincount(cage)[cage] > 1 if len(cage) else np.zeros(0, bool)
        unknown = 0
        for part in (_chosen_cable_name, _chosen_optic_name):
            names, kinds = _parts_at_ends(part, choices, number[legs])
            kind = kinds[caged]
            known = np.flatnonzero(kind)
            if part is _chosen_cable_name:
                unknown = int(np.count_nonzero(shared & (kind == 0)))
            elif not unknown:  # copper has no transceivers: only beside one is an end without one unknown
                unknown = int(np.count_nonzero((kind == 0) & np.isin(cage, cage[known])))
            order = known[np.lexsort((statement[caged][known], cage[known]))]
            mixed = np.flatnonzero((np.diff(cage[order]) == 0) & (np.diff(kind[order]) != 0))
            if len(mixed):
                pair = order[[mixed[0], mixed[0] + 1]]
                both = sorted({names[int(x)] for x in kind[pair]})
                here, there = np.flatnonzero(caged)[pair].tolist()
                origins = [f.statements[int(statement[x])].origin for x in (here, there)]
                return _two_kinds_in_cage(f, int(port[here]), both, origins, len(mixed))
        if unknown:
            return Judgement(
                "bounded", f"the part of {unknown:,} cable ends in cages of two or more is not known"
            )
        return property_holds("every transceiver has one kind of cable")


def _parts_at_ends(
    part: Callable[[PartChoice, DeviceModel | None], str], choices: Sequence[PartChoice], number: Ints
) -> tuple[list[str], Ints]:
    """Names of parts, first the empty one of a part that is not known, and the number in these of the part at
    every end of legs with such choices, by their numbers: all first ends, then all second ends."""
    ends = [[part(c, c.optic_a) for c in choices], [part(c, c.optic_b) for c in choices]]
    names = sorted({"", *ends[0], *ends[1]})
    number_of = {name: i for i, name in enumerate(names)}
    return names, np.concatenate([np.array([number_of[x] for x in end], int)[number] for end in ends])


def _two_kinds_in_cage(
    f: Fabric, port: int, both: Sequence[str], origins: Sequence[Origin], count: int
) -> Judgement:
    """That the cage of a port has two kinds of part, from these two statements, as do so many cages."""
    more = f" (and {count - 1:,} more)" if count > 1 else ""
    where = f"cage {f.port_cage(port)} of {f.device_path(int(f.port_device[port]))}"
    text = f"{where} has {both[0]} and {both[1]}: a transceiver takes one kind{more}"
    other, origin = origins
    labels = ((other.span, "the other comes from here"),) if other is not origin else ()
    help = "pin one `cable` and one `optic` for both"
    return property_fails(text, (PropertyFault(origin, text, count, labels, help=help),))


def _chosen_cable_name(choice: PartChoice, _: DeviceModel | None) -> str:
    """The cable's name; straight and splitter cables have names of their own."""
    return "" if choice.cable is None else part_display_name(choice.cable)


def _chosen_optic_name(_: PartChoice, optic: DeviceModel | None) -> str:
    return "" if optic is None else part_display_name(optic)
