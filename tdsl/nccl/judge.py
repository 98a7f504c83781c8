"""What the rules for both kinds of NCCL's files share: findings about attributes, and numbers as C reads
them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceSpan
from tdsl.nccl.dialects import NCCL, NIC, Dialect, in_words_of
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

    def __init__(self, top: NcclElement, found: Diagnostics, dialect: Dialect = NCCL) -> None:
        self.top, self.found, self.dialect = top, found, dialect
        self.elements = top.walk()

    def tell(
        self, code: str, at: SourceSpan, message: str, help: str, severity: Severity = Severity.ERROR
    ) -> None:
        """One finding."""
        message, help = (in_words_of(self.dialect, text) for text in (message, help))
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

    def version(self, needed: int = 1) -> None:
        """The version of the format, of which ``needed`` is read."""
        text = self.top.attributes.get("version")
        if text is None:
            self.lacks(self.top, "version")
        elif whole_number_of_c(text) == needed:
            return
        elif whole_number_of_c(text) is None and strtol_result_text(text) == f"it takes {needed}":
            help = f'write version="{needed}"'
            self.misread(self.top, "version", f"NCCL takes {needed}", help, Severity.WARNING)
        else:
            help = f'write version="{needed}"'
            self.misread(self.top, "version", f"NCCL reads version {needed} only", help)

    def is_gpu(self, e: NcclElement) -> bool:
        """Whether an element is the PCIe function of a GPU."""
        gpu_class = e.attributes.get("class", "").startswith(self.dialect.gpu_classes)
        return e.name == "pci" and (bool(e.own("gpu")) or gpu_class)

    def is_adapter(self, e: NcclElement) -> bool:
        """Whether an element is the PCIe function of an adapter."""
        nic_class = not e.own("gpu") and e.attributes.get("class", "").startswith(NIC)
        return e.name == "pci" and (bool(e.own("nic")) or nic_class)

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
