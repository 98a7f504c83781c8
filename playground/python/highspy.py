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
        self.program: HighsLp | None = None
        self.answer: tuple[np.ndarray, np.ndarray] | None = None
        self.status = HighsModelStatus.kNotset

    def setOptionValue(self, name: str, value: Any) -> None:
        """Set an option of HiGHS; threads are one, whatever is said."""
        if name != "threads":
            self.options[name] = value

    def passModel(self, program: HighsLp) -> None:
        """Take the program that the next run solves."""
        self.program = program

    def clearSolver(self) -> None:
        """Forget what the last run left."""
        self.answer = None

    def run(self) -> None:
        """Solve the program from the start."""
        if _engine is None:
            raise EngineAbsent
        assert self.program is not None
        program = self.program
        self.status, columns, rows = _engine.solve(
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
            ),
            _javascript_of(self.options),
        )
        self.answer = np.asarray(columns.to_py()), np.asarray(rows.to_py())

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
