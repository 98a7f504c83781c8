"""The part of highspy that tdsl uses, over HiGHS as the npm package ``highs`` has it.

It is the same solver, compiled for the browser. Its answers are proposals, as everywhere in tdsl: every bound
is computed from them in whole numbers.
"""

from __future__ import annotations

from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import numpy as np
from engine import EngineAbsent

kHighsInf = float("inf")
_engine: Any = None


class MatrixFormat(IntEnum):
    """How a matrix is given: column by column is the only one that tdsl uses."""

    kColwise = 1


class HighsStatus(IntEnum):
    """How a call ended, with HiGHS' numbers; what fails raises an error of JavaScript here."""

    kError = -1
    kOk = 0


class HighsModelStatus(IntEnum):
    """What became of a model, with HiGHS' numbers."""

    kNotset = 0
    kOptimal = 7


class HighsLp(SimpleNamespace):
    """A linear program; attributes are those of HiGHS."""

    def __init__(self) -> None:
        super().__init__(a_matrix_=SimpleNamespace(format_=MatrixFormat.kColwise))


def connect_engine(engine: Any) -> None:
    """Use this object of the npm package from now on."""
    global _engine
    _engine = engine


class Highs:
    """One solver, with its own options."""

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.model: Any = None
        self.answer: tuple[np.ndarray, np.ndarray] | None = None
        self.status = HighsModelStatus.kNotset

    def setOptionValue(self, name: str, value: Any) -> None:
        """Set an option of HiGHS; threads are one, whatever is said."""
        if name != "threads":
            self.options[name] = value

    def __del__(self) -> None:
        if self.model is not None:
            self.model.dispose()

    def passModel(self, program: HighsLp) -> None:
        """Take the program that the next run solves."""
        if _engine is None:
            raise EngineAbsent
        if self.model is not None:
            self.model.dispose()
        self.model = _engine.createModel(
            _javascript_of(
                {
                    "numCols": int(program.num_col_),
                    "numRows": int(program.num_row_),
                    "colCost": _floats(program.col_cost_),
                    "colLower": _floats(program.col_lower_),
                    "colUpper": _floats(program.col_upper_),
                    "rowLower": _floats(program.row_lower_),
                    "rowUpper": _floats(program.row_upper_),
                    "starts": _integers(program.a_matrix_.start_),
                    "indices": _integers(program.a_matrix_.index_),
                    "values": _floats(program.a_matrix_.value_),
                }
            )
        )

    def addCol(self, cost: float, lower: float, upper: float, count: int, rows: Any, values: Any) -> None:
        """Add a column with ``count`` entries; the next run goes on from what the last one found."""
        entries = {"indices": _integers(rows[:count]), "values": _floats(values[:count])}
        self.model.addCol(cost, lower, upper, _javascript_of(entries))

    def clearSolver(self) -> None:
        """Forget what the last run left."""
        self.model.clearSolver()

    def run(self) -> HighsStatus:
        """Solve the program."""
        self.status, columns, rows = _engine.solve(self.model, _javascript_of(self.options))
        self.answer = np.asarray(columns.to_py()), np.asarray(rows.to_py())
        return HighsStatus.kOk

    def getModelStatus(self) -> int:
        """HiGHS' number for what became of the last run."""
        return self.status

    def getSolution(self) -> SimpleNamespace:
        """Values of the columns and prices of the rows."""
        assert self.answer is not None
        return SimpleNamespace(col_value=self.answer[0], row_dual=self.answer[1])


def _javascript_of(value: Any) -> Any:
    from js import Object
    from pyodide.ffi import to_js

    return to_js(value, dict_converter=Object.fromEntries)


def _floats(values: Any) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.float64)


def _integers(values: Any) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.int32)
