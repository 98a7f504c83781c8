"""What checks of the routes that an engine makes have in common."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.channel_order import NoRoute
from tdsl.prove.channel_routes import ENGINES, EngineRefuses
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, Kind, PropertyFault, property_fails, skipped

Found = TypeVar("Found")


class RoutesOfEngine(Generic[Found]):
    """A check of the routes that the engine behind ``under`` makes between all switches with endpoints."""

    kind: ClassVar[Kind] = "yes_no"
    cost: ClassVar[int] = 2
    on_demand: ClassVar[bool] = True
    crosses: ClassVar[bool] = True
    takes: ClassVar[frozenset[str]] = frozenset({"of", "under"})
    needs: ClassVar[frozenset[str]] = frozenset({"under"})

    def found_in_routes(self, view: View, engine: str) -> Found | NoRoute:
        """What the check finds in the routes, or a pair without one. Raises EngineRefuses."""
        raise NotImplementedError

    def judgement_of_found(self, view: View, engine: str, found: Found) -> Judgement:
        """What was found, as an answer."""
        raise NotImplementedError

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        """The routes of the engine that the claim names."""
        engine = claim.under if claim is not None else ""
        if engine not in ENGINES:
            known = ", ".join(ENGINES)
            return skipped(f"write which routes are meant, such as `under updn`; known are {known}")
        if not view.forwards[view.devices].any():
            return skipped("it has no switches")
        try:
            found = self.found_in_routes(view, engine)
        except EngineRefuses as why:
            return skipped(str(why))
        if isinstance(found, NoRoute):
            return _judgement_of_gap(view, engine, found)
        return self.judgement_of_found(view, engine, found)


def _judgement_of_gap(view: View, engine: str, found: NoRoute) -> Judgement:
    """Two switches are joined by links, and an engine has no route from one to the other."""
    names = view.names(np.array([found.source, found.target]))
    message = f"`{engine}` has no route from {names[0]} to {names[1]}"
    help = "join them below the same roots, or route by an engine that finds other paths"
    return property_fails(message, (PropertyFault(None, message, help=help),), {"pair": names})
