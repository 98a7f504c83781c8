"""Losses of links through panels: how many ferrules light passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric, Ints
from tdsl.fabric.part_facts import part_display_name
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import View
from tdsl.semantics.model import DeviceModel
from tdsl.verify.check import Check, Judgement, PropertyFault, skipped
from tdsl.verify.checks.reach import OfCables
from tdsl.verify.result import Status

if TYPE_CHECKING:
    from tdsl.physical.model import Physical

OF_A_PANEL = 2
"""Ferrule-to-ferrule connections of a panel whose model states none: one in front, one behind."""
NO_LIMIT = 1 << 30


class LossBudget(OfCables, Check):
    """No link passes more ferrules than its parts allow for.

    ## What it means
    The figure is the largest number of ferrule-to-ferrule connections between the transceivers of a link:
    where two fibre connectors are joined in a panel, light is lost. A design fails where a link passes more
    of them than the stated reach of its fibre or of a transceiver includes.

    ## Formula and source
    Sum over the panels that a link crosses of `ferrules` of the panel's model, 2 where it states none; at
    most `ferrules` of each of its fibres and transceivers. The reach that NVIDIA states for its fibres
    includes two patch panels, or four ferrule-to-ferrule connections (Interconnect Structured Cabling
    Requirements, docs.nvidia.com/networking). A splitter divides lanes and not light, so it adds no ferrule;
    it shortens the reach, which `cable_length` judges.

    ## What it assumes
    A trunk between two panels that the design draws as one panel states `ferrules 4`. Optical circuit
    switches count as panels. Where no part of a link states `ferrules`, the answer is open.

    ## A design that passes
    ```fab
    model panel TRUNK { port front[4]: any; port back[4]: any; ferrules 4 }
    connect leaf[0] to leaf[1] x 4 via trunk { cable MFP7E10 }
    ```

    ## A design that fails
    ```fab
    model panel TRUNK { port front[4]: any; port back[4]: any; ferrules 6 }
    ```

    ### What it prints
    ```
    E0233: leaf[0].p[1] to leaf[1].p[1] passes 6 ferrules, and the reach of MFP7E10 includes 4 (4 links)
    ```
    """

    code = "E0233"
    name = "loss_budget"
    wrong = "More ferrules than the reach of a part includes"
    kind = "number"

    def applies_to(self, fabric: Fabric) -> bool:
        return bool((fabric.link_via_a >= 0).any())

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.fabric.cables.identity import CableIndex
        from tdsl.physical.model import physical_of

        f = view.fabric
        links, at = CableIndex(f).crossings
        asked = np.zeros(f.link_count, dtype=np.bool_)
        asked[links[view.leg_columns[at]]] = True
        rows = np.flatnonzero(asked & (f.link_via_a >= 0))
        if not asked.any():
            return skipped("no link here has a cable")
        if not len(rows):
            return Judgement("proved", "no link passes a panel", 0, 0, 0)
        each = np.array([_ferrules_of_model(m, OF_A_PANEL) for m in f.models], dtype=np.int64)
        passed = np.zeros(f.link_count, dtype=np.int64)
        passed[rows] = each[f.device_model[f.port_device[f.link_via_a[rows]]]]
        most = int(passed.max())
        first = int(np.argmax(passed))
        text = f"{most} on {_link_end_paths(f, first)}"
        limit, number, of_leg = self._limits(f, physical_of(f), links, at)
        over = np.flatnonzero(passed > limit)
        faults: list[PropertyFault] = []
        for statement in np.unique(f.link_statement[over]).tolist():
            mine = over[f.link_statement[over] == statement]
            link = int(mine[np.argmax(passed[mine])])
            words = f"{_link_end_paths(f, link)} passes {int(passed[link])} ferrules, "
            part = min(of_leg[int(k)] for k in number[at[links == link]].tolist())[1]
            words += f"and the reach of {part} includes {int(limit[link])}"
            several = f" ({len(mine):,} links)" if len(mine) > 1 else ""
            panel = f.model_of(int(f.port_device[f.link_via_a[link]]))
            labels = ((panel.origin.span, "the panel is declared here"),)
            help = "cross fewer panels, or splice trunks"
            faults.append(
                PropertyFault(f.statements[statement].origin, words + several, len(mine), labels, help=help)
            )
        open_links = rows[limit[rows] == NO_LIMIT]
        if not faults and len(open_links) and claim is None:
            panels = np.unique(f.device_model[f.port_device[f.link_via_a[open_links]]])
            names = sorted({f.models[m].name for m in panels.tolist()})
            return skipped(f"no part of the links through {first_names_and_more(names, 3)} states `ferrules`")
        status: Status = "refuted" if faults else "proved"
        return Judgement(
            status, text, most, most, most, witness={"link": _link_end_paths(f, first)}, faults=tuple(faults)
        )

    @staticmethod
    def _limits(
        f: Fabric, physical: Physical | None, links: Ints, at: Ints
    ) -> tuple[Ints, Ints, list[tuple[int, str]]]:
        """The fewest ferrules that a part of each link allows for; the kind of every cable leg, and of each
        kind the fewest with the part that allows for no more."""
        if physical is None:
            number = f.cable_statement
            of_leg = [_fewest_ferrules_allowed(_pinned_parts(s.settings)) for s in f.statements]
        else:
            number, choices = physical.parts.group
            of_leg = [_fewest_ferrules_allowed([c.cable, c.optic_a, c.optic_b]) for c in choices]
        limit = np.full(f.link_count, NO_LIMIT, dtype=np.int64)
        least = np.array([x[0] for x in of_leg] or [NO_LIMIT], dtype=np.int64)[number]
        np.minimum.at(limit, links, least[at])
        return limit, number, of_leg


def _pinned_parts(settings: Mapping[str, object]) -> list[object]:
    """The cable and the transceivers that a connect names."""
    optics = settings.get("optics")
    return [settings.get("part"), *(optics if isinstance(optics, tuple) else ())]


def _fewest_ferrules_allowed(parts: list[object]) -> tuple[int, str]:
    """The fewest ferrules that one of some parts allows for, and its name."""
    found = [
        (_ferrules_of_model(p, NO_LIMIT), part_display_name(p)) for p in parts if isinstance(p, DeviceModel)
    ]
    return min(found, default=(NO_LIMIT, ""))


def _ferrules_of_model(model: DeviceModel, default: int) -> int:
    value = model.facts.get("ferrules")
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default


def _link_end_paths(f: Fabric, link: int) -> str:
    return f"{f.port_path(int(f.link_a[link]))} to {f.port_path(int(f.link_b[link]))}"
