"""``nvidia-smi topo -m``: how the accelerators and adapters of a host are joined, as a matrix with a
legend. The file is named after its host.

Source: nvidia-smi(1), ``topo --matrix``: X, SYS, NODE, PHB, PXB, PIX, NV#.
"""

from __future__ import annotations

import re

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import add_device
from tdsl.observe.record import CapturedTopology, CaptureLine, Malformed, Observed, plain_capture_name

FORMAT = "nvidia-topo"
OPTION = "gpus"
NAME = re.compile(r"(?:GPU|NIC)\d+|mlx\d+_\w+|rocep\w+|ibp\w+|bnxt_re\d+|irdma\d+|efa_\d+")
HEADING = re.compile(r"^\s*GPU0\s.*$", re.MULTILINE)
WORD = re.compile(r"X|SYS|NODE|PHB|PXB|PIX|PIXI?|NV\d+|C2C|P2P")
LEGEND = re.compile(r"\s*(NIC\d+)\s*:\s*(\S+)\s*")


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return HEADING.search(head) is not None and re.search(r"^\s*GPU0\s+X\b", head, re.MULTILINE) is not None


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the matrix of the host that the file is named after."""
    at = CaptureLine(file, 1)
    here = add_device(into, stem, "", at)
    columns: list[str] = []
    cells: dict[tuple[str, str], str] = {}
    legend: dict[str, str] = {}
    for number, line in enumerate(file.text.split("\n"), 1):
        words = line.split()
        named = LEGEND.fullmatch(line)
        if named is not None:
            legend[named[1]] = plain_capture_name(named[2], number)
        elif not columns and words[:1] == ["GPU0"] and words[1:2] != ["X"]:
            columns = [w for w in words if NAME.fullmatch(w)]
            at = CaptureLine(file, number)
        elif columns and words and NAME.fullmatch(words[0]):
            row = words[1 : len(columns) + 1]
            if words[0] not in columns:
                into.fault(file, number, f"{words[0]} has a row and no column", "capture it again")
                continue
            if len(row) < len(columns) or not all(WORD.fullmatch(w) for w in row):
                into.fault(
                    file, number, f"the row of {words[0]} has not a word for each column", "capture it again"
                )
                continue
            cells.update({(words[0], c): w for c, w in zip(columns, row, strict=True)})
    rows = [c for c in columns if (c, c) in cells]
    if not columns or len(rows) != len(columns):
        raise Malformed(
            at.line, f"the matrix has {len(rows)} rows under {len(columns)} columns", "capture it again"
        )
    shown = {c: legend.get(c, c) for c in columns}
    into.fact(
        CapturedTopology(
            here,
            tuple(c for c in columns if c.startswith("GPU")),
            tuple(shown[c] for c in columns if not c.startswith("GPU")),
            {(shown[a], shown[b]): w for (a, b), w in cells.items()},
            at,
        )
    )
