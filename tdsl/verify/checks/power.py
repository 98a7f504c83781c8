"""Power: what devices and transceivers take."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Bools, Fabric
from tdsl.prove.view import View
from tdsl.semantics.quantity import MONEY, POWER, Dim, Quantity, quantity_text
from tdsl.system.nouns import counted_noun
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.result import Status, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from tdsl.physical.power_and_cost import Figures
    from tdsl.physical.racks import PartialSum


def devices_of_network(f: Fabric) -> Bools:
    """Devices of the network: switches, optical switches and panels that are declared as such."""
    found: Bools = ((f.kind == "switch") | (f.kind == "ocs") | (f.kind == "panel")) & (f.container < 0)
    return found


def devices_asked_about(view: View, claim: ResolvedClaim | None) -> Bools:
    """What a requirement is about: the devices of a view, or with `of network` those of the network."""
    of_network = claim is not None and any(s.kind == "network" for s in claim.of)
    return view.core & devices_of_network(view.fabric) if of_network else view.core


UNKNOWN = "figures of devices, transceivers or active cables are unknown"


def why_counted_elsewhere(view: View, figures: Figures) -> str:
    """Why what is named has no figures of its own: it is in other devices, of whose figures its own are part;
    else ""."""
    f = view.fabric
    inside = np.flatnonzero(view.core)
    if not len(inside) or figures.mounted[inside].any():
        return ""
    holder = f.device_path(int(figures.top[inside[0]]))
    return f"its figures are part of those of the device that it is in: ask for {holder}"


def part_and_whole_devices(view: View, claim: ResolvedClaim, devices: Bools) -> tuple[Bools, Bools]:
    """The devices of a share and of its whole: `of network` is the network, and what of the devices is in it;
    `of total` all."""
    f = view.fabric
    if claim.share_of == "network":
        return devices & devices_of_network(f), devices_of_network(f)
    return devices, np.ones(f.device_count, dtype=np.bool_)


def missing_in_words(count: int, missing: str) -> str:
    """How many terms are missing: ``3 prices are missing``, ``1 price is missing``."""
    noun, _, rest = missing.partition(" ")
    return (
        f"{count:,} {missing}" if count != 1 else f"1 {noun.removesuffix('s')} {rest.replace('are ', 'is ')}"
    )


def judgement_of_sum(bound: PartialSum, dim: Dim, what: str, missing: str) -> Judgement:
    """A sum as a figure: exact, or a lower bound where terms are missing, which ``missing`` names in the
    plural."""
    known = Quantity(bound.known, dim)
    said = f"{quantity_text(known)} {what}".rstrip()
    if bound.exact:
        return with_estimates(Judgement("proved", said, known, known, known), bound.estimated)
    text = f"at least {said}; {missing_in_words(bound.missing, missing)}"
    found = Judgement("bounded", text, known, known, inf, witness={"missing": bound.missing})
    return with_estimates(found, bound.estimated)


def with_estimates(judged: Judgement, models: frozenset[str]) -> Judgement:
    """A judgement of a sum in which the figures of some models are estimates: these prove nothing."""
    if not models:
        return judged
    status: Status = "modelled" if judged.status in ("proved", "refuted") else judged.status
    satisfied = judged.status != "refuted"
    names = sorted(models)
    more = f" and {counted_noun(len(names) - 2, 'more model')}" if len(names) > 2 else ""
    text = f"{judged.text}; estimated for {', '.join(names[:2])}{more}"
    witness = {**judged.witness, "estimated": names}
    note = f"the power of {names[0]} is an estimate; a model of your own can say what yours takes"
    faults = tuple(replace(f, notes=(*f.notes, note)) for f in judged.faults)
    return replace(
        judged, status=status, text=text, witness=witness, faults=faults, satisfied=satisfied, estimated=True
    )


def judgement_of_share(part: PartialSum, whole: PartialSum, of: str, missing: str) -> Judgement:
    """A sum as a share of another of which it is a part, with bounds where terms of either are unknown."""
    if not whole.known:
        return skipped(f"nothing is known of the {of}")
    share, estimated = part.known / whole.known, part.estimated | whole.estimated
    low: Value = share if whole.exact else Fraction(0)
    high: Value = share if part.exact else inf
    if part.exact and whole.exact:
        said = f"{_percent_of_whole(share)} of {_words_for_whole(of)}"
        return with_estimates(Judgement("proved", said, share, share, share), estimated)
    unknown = part.missing + whole.missing
    said = (
        f"at most {_percent_of_whole(share)}"
        if part.exact
        else f"at least {_percent_of_whole(share)}"
        if whole.exact
        else "an unknown share"
    )
    text = f"{said} of {_words_for_whole(of)}; {missing_in_words(unknown, missing)}"
    found = Judgement("bounded", text, share, low, high, witness={"missing": unknown})
    return with_estimates(found, estimated)


def _judgement_of_watts(
    view: View,
    claim: ResolvedClaim | None,
    sums: tuple[Callable[[Figures, Bools], PartialSum], Callable[[Figures, Bools], PartialSum]],
    what: str,
    missing: str,
) -> Judgement:
    """What the devices asked about take by the first of the ``sums``, or its share of what the whole takes by
    the second. ``what`` and ``missing`` are the words for the kind of the sum, and for what it lacks."""
    from tdsl.physical.power_and_cost import cached_figures

    figures, devices = cached_figures(view.fabric), devices_asked_about(view, claim)
    if why := why_counted_elsewhere(view, figures):
        return skipped(why)
    of_part, of_whole = sums
    if claim is not None and claim.share_of:
        part, every = part_and_whole_devices(view, claim, devices)
        return judgement_of_share(of_part(figures, part), of_whole(figures, every), claim.share_of, UNKNOWN)
    return judgement_of_sum(of_part(figures, devices), POWER, what, missing)


def _words_for_whole(whole: str) -> str:
    return "the network" if whole == "network" else "the total"


def _percent_of_whole(share: Fraction) -> str:
    return f"{float(share * 100):.4g}%"


class PowerDraw(Check):
    """How many watts the devices take at most.

    ## What it means
    The sum of all devices with the transceivers in them, and the plugs of active cables: what the power
    supply must carry. `power of S` judges each element of S alone, `power of network` adds up switches,
    optical switches and their transceivers. `report power typical` takes typical figures. `power of network
    <= 13% of total` asks for a share: of the network, or of all devices.

    ## Formula and source
    Σ over devices of the published maximum (`power … max …` of the model), which includes transceivers; where
    a model has one figure only, that figure and Σ of the maximum of each transceiver in its cages. A chip
    inside a host is part of the host. Transceivers are those that `tdsl show FILE length` and `cables.csv`
    name. `power` of an active cable (`aoc`, `acc`, `aec`, or any that states it) is that of all its plugs:
    half at each end, and that of the divided end of a break-out evenly over its legs; the published maximum
    of a device includes its plugs as well.

    ## What it assumes
    No cooling and no losses of power supplies beyond what the vendors publish. Where a model, a transceiver
    or an active cable has no `power`, or no transceiver is chosen, the sum is a lower bound: `<=` is then
    refuted or open, never proved. Where the power of a model is an estimate (`basis power estimated`), the
    status is `modelled`.

    ## A design that passes
    ```fab
    model switch SW { port p[1..4]: 400Gbps; power 700W max 1500W }
    require power <= 3kW                                    # two of them
    ```

    ## A design that fails
    ```fab
    require power <= 1kW
    ```

    ### What it prints
    ```
    E0230: `power <= 1kW` does not hold: 3kW
    ```
    """

    code = "E0230"
    name = "power"
    wrong = "More power than required"
    kind = "quantity"
    cost = 0
    unit = "W"
    dim = POWER
    on_demand = True
    of_design = True
    together = "added"
    takes = frozenset({"of", "args", "share"})
    words = frozenset({"typical"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        typical = claim is not None and "typical" in map(str, claim.args)

        def power(figures: Figures, devices: Bools) -> PartialSum:
            return figures.power(devices, typical)

        return _judgement_of_watts(view, claim, (power, power), "typical" if typical else "", UNKNOWN)


class OpticsPower(Check):
    """How many watts the transceivers take at most.

    ## What it means
    The sum over all transceivers of the devices and the plugs of active cables: what leaving passive copper
    costs. `optics_power of S` judges each element of S alone, `of network` those in switches. `optics_power
    <= 30% of network` sets those in the network against the power of the network, `of total` all against all.

    ## Formula and source
    Σ of `power … max …` of every transceiver, counted by cage: a twin-port transceiver with one cable counts
    once, and of every active cable as in `power`. For the DGX SuperPOD H100 of four units 2,044 twin-port
    transceivers of 17 W are 34.7 kW (NVIDIA reference architecture RA-11333, table 8).

    ## What it assumes
    The parts that `cables.csv` names. Ends without a chosen transceiver, and active cables without `power`,
    make it a lower bound.

    ## A design that passes
    ```fab
    connect leaf[0] to leaf[1] x 4 { cable MFP7E10 }        # four twin-port transceivers of 17 W
    require optics_power <= 68W
    ```

    ## A design that fails
    ```fab
    require optics_power <= 60W
    ```

    ### What it prints
    ```
    E0231: `optics_power <= 60W` does not hold: 68W
    ```
    """

    code = "E0231"
    name = "optics_power"
    wrong = "Transceivers that take more power than required"
    kind = "quantity"
    cost = 0
    unit = "W"
    dim = POWER
    on_demand = True
    of_design = True
    together = "added"
    takes = frozenset({"of", "share"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.physical.power_and_cost import Figures

        missing = "cable ends have no transceiver, or one or an active plug without a known power"
        return _judgement_of_watts(view, claim, (Figures.optics_power, Figures.power), "", missing)


class Cost(Check):
    """How much the devices, transceivers and cables cost.

    ## What it means
    The sum of the prices of all devices, of the transceivers in them and of the cables plugged into them.
    `cost of network` leaves hosts out, with the transceivers in them, and has all cables. `cost of network <=
    12% of total` asks for its share of all devices, transceivers and cables.

    ## Formula and source
    Σ of the prices in the file given with `--prices`, else of `price` of the model. The catalogue states no
    prices.

    ## What it assumes
    Amounts in the one currency of the file; no discounts, duties or work. Without a price for everything the
    sum is a lower bound: `<=` is then refuted or open, never proved. It says how many prices are missing.

    ## A design that passes
    ```fab
    model switch SW { port p[1..4]: 400Gbps; price $83k }
    model cable WIRE { rate 400Gbps; medium dac; price $504 }
    require cost <= $167k                                   # two switches and one cable
    ```

    ## A design that fails
    ```fab
    require cost <= $100k
    ```

    ### What it prints
    ```
    E0232: `cost <= $100k` does not hold: $166504
    ```
    """

    code = "E0232"
    name = "cost"
    wrong = "A cost above what is required"
    kind = "quantity"
    cost = 0
    unit = "$"
    dim = MONEY
    on_demand = True
    of_design = True
    together = "added"
    takes = frozenset({"of", "share"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.physical.power_and_cost import cached_figures

        f = view.fabric
        devices, legs = devices_asked_about(view, claim), view.leg_columns
        figures = cached_figures(f)
        if why := why_counted_elsewhere(view, figures):
            return skipped(why)
        if claim is not None and claim.share_of:
            devices, every = part_and_whole_devices(view, claim, devices)
            cables = np.ones(len(f.cable_a), dtype=np.bool_)
            return judgement_of_share(
                figures.cost(devices, legs), figures.cost(every, cables), claim.share_of, "prices are missing"
            )
        return judgement_of_sum(figures.cost(devices, legs), MONEY, "", "prices are missing")


__all__ = ["Cost", "OpticsPower", "PowerDraw", "devices_of_network", "judgement_of_sum"]
