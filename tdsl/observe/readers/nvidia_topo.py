"""``nvidia-smi topo -m``: how the accelerators and adapters of a host are joined, as a matrix with a
legend. The file is named after its host.

Source: nvidia-smi(1), ``topo --matrix``: X, SYS, NODE, PHB, PXB, PIX, NV#.
"""

from __future__ import annotations

import re
from dataclasses import field

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import add_device
from tdsl.observe.record import CapturedTopology, CaptureLine, Malformed, Observed, plain_capture_name
from tdsl.system.lazy_dataclass import dataclass

FORMAT = "nvidia-topo"
OPTION = "gpus"
NAME = re.compile(r"(?:GPU|NIC)\d+|mlx\d+_\w+|rocep\w+|ibp\w+|bnxt_re\d+|irdma\d+|efa_\d+")
HEADING = re.compile(r"^[ \t]*+GPU0\s.*$", re.MULTILINE)
FIRST_ROW = re.compile(r"^[ \t]*+GPU0[ \t]++X\b", re.MULTILINE)
WORD = re.compile(r"X|SYS|NODE|PHB|PXB|PIX|PIXI?|NV\d+|C2C|P2P")
LEGEND = re.compile(r"\s*(NIC\d+)\s*:\s*(\S+)\s*")


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return HEADING.search(head) is not None and FIRST_ROW.search(head) is not None


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the matrix of the host that the file is named after."""
    here = add_device(into, stem, "", CaptureLine(file, 1))
    matrix = _Matrix()
    for number, line in enumerate(file.text.split("\n"), 1):
        wrong = matrix.read_line(line, number)
        if wrong:
            into.fault(file, number, wrong, "capture it again")
    columns = matrix.columns
    rows = [c for c in columns if (c, c) in matrix.cells]
    if not columns or len(rows) != len(columns):
        raise Malformed(
            matrix.heading,
            f"the matrix has {len(rows)} rows under {len(columns)} columns",
            "capture it again",
        )
    shown = {c: matrix.legend.get(c, c) for c in columns}
    into.fact(
        CapturedTopology(
            here,
            tuple(c for c in columns if c.startswith("GPU")),
            tuple(shown[c] for c in columns if not c.startswith("GPU")),
            {(shown[a], shown[b]): w for (a, b), w in matrix.cells.items()},
            CaptureLine(file, matrix.heading),
        )
    )


@dataclass(slots=True)
class _Matrix:
    """A matrix as far as it is read: its columns and the line that names them, the word of each pair of a row
    and a column, and what the legend calls the adapters."""

    columns: list[str] = field(default_factory=list)
    heading: int = 1
    cells: dict[tuple[str, str], str] = field(default_factory=dict)
    legend: dict[str, str] = field(default_factory=dict)

    def read_line(self, line: str, number: int) -> str:
        """Take what a line says; what is wrong with it, "" where nothing is. Raises Malformed."""
        words = line.split()
        named = LEGEND.fullmatch(line)
        if named is not None:
            self.legend[named[1]] = plain_capture_name(named[2], number)
        elif not self.columns and words[:1] == ["GPU0"] and words[1:2] != ["X"]:
            self.columns = [w for w in words if NAME.fullmatch(w)]
            self.heading = number
        elif self.columns and words and NAME.fullmatch(words[0]):
            return self.read_row(words[0], words[1 : len(self.columns) + 1])
        return ""

    def read_row(self, name: str, row: list[str]) -> str:
        """Take the words of a row; what is wrong with it, "" where nothing is."""
        if name not in self.columns:
            return f"{name} has a row and no column"
        if len(row) < len(self.columns) or not all(WORD.fullmatch(w) for w in row):
            return f"the row of {name} has not a word for each column"
        self.cells.update({(name, c): w for c, w in zip(self.columns, row, strict=True)})
        return ""
