"""What the checks of the times of collective operations have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.view import View
from tdsl.semantics.quantity import TIME, Dim
from tdsl.verify.check import Judgement, Kind

if TYPE_CHECKING:
    from tdsl.verify.workload import Operation


class TimedOperation:
    """A check of the time of an operation among ranks, as an interval. ``name`` is the check's."""

    name: ClassVar[str]
    kind: ClassVar[Kind] = "quantity"
    cost: ClassVar[int] = 2
    unit: ClassVar[str] = "s"
    dim: ClassVar[Dim] = TIME
    on_demand: ClassVar[bool] = True
    after_failures: ClassVar[bool] = True
    reads: ClassVar[frozenset[str] | None] = frozenset({"lengths", "rails", "domains"})
    of_ends: ClassVar[bool] = True
    reads_halves: ClassVar[bool] = True
    takes: ClassVar[frozenset[str]] = frozenset({"of", "among", "through", "args"})
    needs: ClassVar[frozenset[str]] = frozenset({"args"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        """The interval of the operation among all units of a view."""
        from tdsl.verify.workload import time_of_operation

        return time_of_operation(self.name, view, claim, self.operation())

    def operation(self) -> Operation:
        """The operation that a check times."""
        raise NotImplementedError
