"""What the rules for both kinds of NCCL's files share: findings about attributes, and numbers as C reads
them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceSpan
from tdsl.nccl.text import NcclElement

_WHOLE = re.compile(r"[-+]?(?:0x[0-9a-f]+|[0-9]+)", re.IGNORECASE)


def whole_number_of_c(text: str) -> int | None:
    """A whole number as ``strtol`` reads it with base 0; None where that would stop early or take it for
    octal."""
    if not _WHOLE.fullmatch(text) or re.match(r"[-+]?0[0-9]", text):
        return None
    value = int(text, 0)
    return value if -(1 << 31) <= value < 1 << 31 else None


class NcclFileJudge:
    """What judges of both kinds of file share."""

    def __init__(self, top: NcclElement, found: Diagnostics) -> None:
        self.top, self.found = top, found
        self.elements = top.walk()

    def tell(
        self, code: str, at: SourceSpan, message: str, help: str, severity: Severity = Severity.ERROR
    ) -> None:
        """One finding."""
        self.found.add(code, at, message, help=help, severity=severity)

    def misread(
        self, e: NcclElement, name: str, why: str, help: str, severity: Severity = Severity.ERROR
    ) -> None:
        """A value that NCCL takes for something else."""
        self.tell("E0524", e.place(name), f'{name}="{e.attributes[name]}": {why}', help, severity)

    def lacks(self, e: NcclElement, name: str, why: str = "NCCL gives up") -> None:
        """An attribute without which NCCL refuses the file."""
        self.tell("E0523", e.span, f"<{e.name}> lacks `{name}`: {why}", f'write {name}="…"')

    def unknown(self, e: NcclElement, known: Mapping[str, tuple[str, ...]]) -> None:
        """Attributes that NCCL never looks at."""
        for name in e.attributes:
            if name and name not in known[e.name]:
                names = ", ".join(known[e.name]) or "no attributes"
                text = f"NCCL knows no `{name}` of <{e.name}>"
                self.tell("E0522", e.place(name), text, f"it knows {names}", Severity.WARNING)

    def version(self) -> None:
        """The version of the format."""
        if "version" not in self.top.attributes:
            self.lacks(self.top, "version")
        elif (
            strtol_result_text(self.top.attributes["version"]) == "it takes 1"
            and whole_number_of_c(self.top.attributes["version"]) is None
        ):
            self.misread(self.top, "version", "NCCL takes 1", 'write version="1"', Severity.WARNING)
        elif whole_number_of_c(self.top.attributes["version"]) != 1:
            self.misread(self.top, "version", "NCCL reads version 1 only", 'write version="1"')

    def once(self, elements: list[NcclElement], name: str, severity: Severity = Severity.ERROR) -> None:
        """A value that tells elements apart may stand once; a warning where NCCL does not need it."""
        seen = Counter(e.attributes.get(name) for e in elements)
        for e in elements:
            value = e.attributes.get(name)
            if value is not None and value != "-1" and seen[value] > 1:
                text = f'{name}="{value}" occurs {seen[value]} times; NCCL uses the first'
                self.tell("E0526", e.place(name), text, "give each its own", severity)


def strtol_result_text(text: str) -> str:
    """What C's ``strtol`` with base 0 makes of a value, in words."""
    found = re.match(r"\s*([-+]?)(0x[0-9a-f]+|0[0-7]*|[1-9][0-9]*)", text, re.IGNORECASE)
    if not found:
        return "it takes 0"
    digits = found[2]
    base = 16 if digits[:2].lower() == "0x" else 8 if digits[0] == "0" else 10
    return f"it takes {found[1]}{int(digits, base)}"
