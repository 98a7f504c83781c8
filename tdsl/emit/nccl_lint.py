"""What is wrong with an NCCL topology file, told before NCCL says nothing and runs at half speed.

NCCL's reader is no XML reader: it wants a tag on one line, one blank between attributes, no prolog, no tabs, no entities, and
it has room for 16 attributes and 255 elements. Wrong values it takes without a word. The rules here are those of its reader
and its topology search; ``lint`` reads a file by the first and judges it by the second.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from tdsl.diagnostic import Severity

CHILDREN = {
    "": {"system"},
    "system": {"cpu"},
    "cpu": {"pci", "nic"},
    "pci": {"pci", "gpu", "nic", "pcilink"},
    "nic": {"net"},
    "gpu": {"nvlink", "c2c"},
    "net": set(),
    "nvlink": set(),
    "c2c": set(),
    "pcilink": set(),
}
IDS = ("vendor", "device", "subsystem_vendor", "subsystem_device")
NEEDED = {
    "system": ("version",),
    "cpu": ("numaid", "affinity", "arch"),
    "pci": ("busid", "class", "link_speed", "link_width"),
    "gpu": ("dev", "sm", "rank", "gdr"),
    "nvlink": ("count", "tclass"),
    "c2c": ("count", "bw"),
    "net": ("name", "dev", "speed", "port", "guid", "latency", "maxconn", "gdr"),
}
X86 = ("vendor", "familyid", "modelid")
VENDORS = ("GenuineIntel", "AuthenticAMD", "CentaurHauls", "  Shanghai  ")
SPEEDS = ("2.5 GT/s", "5 GT/s", "8 GT/s", "16 GT/s", "32 GT/s")
FULL_SPEEDS = ("2.5 GT/s PCIe", "5.0 GT/s PCIe", "8.0 GT/s PCIe", "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe")
CLASSES = ("0x060400", "0x080100", "0x068000", "0x068001", "0x03", "0x02")
MAX_ELEMENTS, SAFE_ELEMENTS, MAX_ATTRIBUTES, SAFE_ATTRIBUTES, MAX_BYTES = 255, 199, 16, 8, 253

_TAG = re.compile(r"</(?P<end>\w+)>|<(?P<name>\w+)(?P<attributes>(?: \w+=(?:\"[^\"]*\"|'[^']*'))*)(?P<slack> *)(?P<empty>/?)>")
_ATTRIBUTE = re.compile(r" (\w+)=(?:\"([^\"]*)\"|'([^']*)')")
_BUS = re.compile(r"(?:[0-9a-f]{4}|[1-9a-f][0-9a-f]{4,7}):[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")
_AFFINITY = re.compile(r"[0-9a-f]{1,8}(?:,[0-9a-f]{8})*")
_WHOLE = re.compile(r"-?\d+|0x[0-9a-fA-F]+")


class _Wrong(Protocol):
    """Takes note of an attribute's wrong value."""

    def __call__(self, e: Element, name: str, why: str, severity: Severity = Severity.ERROR) -> None: ...


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong, at a line counted from 1."""

    line: int
    severity: Severity
    message: str


@dataclass(slots=True)
class Element:
    """An element as NCCL holds it: of attributes given twice the first counts."""

    name: str
    line: int
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)

    def walk(self) -> list[Element]:
        """It and all below it."""
        return [self, *(e for c in self.children for e in c.walk())]


def lint(text: str) -> list[Problem]:
    """Everything wrong with a topology file; errors are what NCCL refuses or what makes its result wrong."""
    problems: list[Problem] = []
    root = _read(text, problems)
    if root is not None:
        _structure(root, problems)
        _values(root, problems)
        _whole_file(root, problems)
    return sorted(problems, key=lambda p: (p.line, p.message))


# ---------------------------------------------------------------- reading


def _read(text: str, problems: list[Problem]) -> Element | None:
    """The tree of the first top element; None after something that stops NCCL's reader."""
    top = Element("", 1, {})
    stack, at, line = [top], 0, 1
    while at < len(text):
        if text[at] in " \n\r":
            line += text[at] == "\n"
            at += 1
        elif text.startswith("<!--", at):
            end = text.find("-->", at)
            if end < 0:
                _stop(problems, line, "this comment has no end")
                return None
            line += text.count("\n", at, end)
            at = end + 3
        elif (found := _TAG.match(text, at)) is None:
            _stop(problems, line, _unreadable(text, at))
            return None
        else:
            at = found.end()
            if not _take(found, stack, line, problems):
                return None
            if len(stack) == 1 and top.children:
                return top.children[0]
    _stop(problems, line, f"<{stack[-1].name}> is not closed" if len(stack) > 1 else "there is no element in it")
    return None


def _take(found: re.Match[str], stack: list[Element], line: int, problems: list[Problem]) -> bool:
    """Put a tag where it belongs; False if the file cannot be read on."""
    if found["end"]:
        if stack[-1].name != found["end"]:
            _stop(problems, line, f"</{found['end']}> closes <{stack[-1].name}>")
            return False
        stack.pop()
        return True
    pairs = [(n, a or b) for n, a, b in _ATTRIBUTE.findall(found["attributes"])]
    element = Element(found["name"], line, {})
    for name, value in pairs:
        element.attributes.setdefault(name, value)
        if max(len(name.encode()), len(value.encode())) > MAX_BYTES:
            _stop(problems, line, f"`{name}` is longer than {MAX_BYTES} bytes")
            return False
    if found["slack"]:
        problems.append(Problem(line, Severity.WARNING, "blanks before the tag's end count as an attribute without a name"))
    if len(pairs) > MAX_ATTRIBUTES:
        problems.append(Problem(line, Severity.ERROR, f"{len(pairs)} attributes: NCCL has room for {MAX_ATTRIBUTES} and its own"))
    elif len(pairs) > SAFE_ATTRIBUTES:
        problems.append(
            Problem(line, Severity.WARNING, f"{len(pairs)} attributes: NCCL adds its own to them; {SAFE_ATTRIBUTES} are safe")
        )
    stack[-1].children.append(element)
    if not found["empty"]:
        stack.append(element)
    return True


def _stop(problems: list[Problem], line: int, message: str) -> None:
    problems.append(Problem(line, Severity.ERROR, message))


def _unreadable(text: str, at: int) -> str:
    """Why NCCL's reader stops here, in words."""
    tag = text[at : text.find(">", at) + 1 or at + 40]
    if text[at] == "\t":
        return "a tab between tags: NCCL knows blanks and line ends only"
    if text[at] != "<":
        return f"text between tags: {text[at : at + 12].split(chr(10))[0]!r}"
    if tag.startswith(("<?", "<!")):
        return "a prolog or declaration: NCCL knows none"
    if "\n" in tag or "\t" in tag:
        return "a tag and its attributes stand on one line, with single blanks between them"
    if "  " in tag:
        return "two blanks between attributes count as an attribute without a name"
    return f"{tag[:40]} is no tag that NCCL can read"


# ---------------------------------------------------------------- judging


def _structure(root: Element, problems: list[Problem]) -> None:
    """Elements where NCCL looks for them, with what it needs of each."""
    if root.name != "system":
        problems.append(
            Problem(root.line, Severity.ERROR, f"the top element is <{root.name}>, not <system>: NCCL passes the file over")
        )
    named_nets = any(e.name == "net" for e in root.walk())
    for e in root.walk():
        for child in e.children:
            if child.name not in CHILDREN.get(e.name, ()):
                problems.append(Problem(child.line, Severity.ERROR, f"NCCL does not look for <{child.name}> in <{e.name}>"))
        needed = [*NEEDED.get(e.name, ())]
        if e.name == "cpu" and e.attributes.get("arch") == "x86_64":
            needed += X86
        for name in needed:
            if not e.attributes.get(name):
                empty = name in e.attributes and name.startswith("link_")
                filled = empty or (e.name == "pci" and name != "busid" and not named_nets)
                why = ": NCCL counts 16 lanes of generation 3" if empty else ": NCCL takes it from the machine" if filled else ""
                text = f"<{e.name}> lacks `{name}`{why}"
                problems.append(Problem(e.line, Severity.WARNING if filled else Severity.ERROR, text))
        missing = [n for n in IDS if e.name == "pci" and n not in e.attributes]
        if missing:
            text = f"<pci> lacks {', '.join(missing)}: with named nets in the file, ranks disagree about it"
            problems.append(Problem(e.line, Severity.ERROR if named_nets else Severity.WARNING, text))


def _values(root: Element, problems: list[Problem]) -> None:
    """Values that NCCL misreads without a word."""

    def wrong(e: Element, name: str, why: str, severity: Severity = Severity.ERROR) -> None:
        problems.append(Problem(e.line, severity, f'{name}="{e.attributes[name]}": {why}'))

    for e in root.walk():
        have = e.attributes
        for name, value in have.items():
            if set(value) & set("<>&"):
                wrong(e, name, "NCCL decodes no entities")
        for name in ("numaid", "link_width", "dev", "sm", "rank", "gdr", "count", "speed", "port", "maxconn", "bw"):
            if have.get(name) and e.name in NEEDED and not _WHOLE.fullmatch(have[name]):
                wrong(e, name, "not a whole number")
        if e.name == "system" and have.get("version", "1") != "1":
            wrong(e, "version", "NCCL wants 1")
        if e.name == "cpu":
            _cpu_values(e, wrong)
        elif e.name == "pci":
            _pci_values(e, wrong)
        elif e.name == "net" and _WHOLE.fullmatch(have.get("speed", "")) and 0 < int(have["speed"], 0) < 1000:
            wrong(e, "speed", "in Mb/s; this is less than 1 Gb/s")
        elif e.name == "gpu" and _WHOLE.fullmatch(have.get("sm", "")) and int(have["sm"], 0) < 60:
            wrong(e, "sm", "10 × major + minor, such as 90")


def _cpu_values(e: Element, wrong: _Wrong) -> None:
    have = e.attributes
    if "affinity" in have and have["affinity"] and not _AFFINITY.fullmatch(have["affinity"].lower()):
        wrong(e, "affinity", "a mask of 32-bit hexadecimal words, such as 000000ff,ffffffff")
    if have.get("arch") and not have["arch"].startswith(("x86_64", "arm64", "ppc64")):
        wrong(e, "arch", "known: x86_64, arm64, ppc64")
    if have.get("vendor") and have.get("arch") == "x86_64" and have["vendor"] not in VENDORS:
        wrong(e, "vendor", f"known: {', '.join(v.strip() for v in VENDORS)}")


def _pci_values(e: Element, wrong: _Wrong) -> None:
    have = e.attributes
    if have.get("busid") and not _BUS.fullmatch(have["busid"]):
        wrong(e, "busid", "NCCL compares it letter by letter with 0000:1b:00.0: four digits of domain, lower case")
    if have.get("class") and not have["class"].startswith(CLASSES):
        wrong(e, "class", "unknown, so NCCL takes it for a switch", Severity.WARNING)
    speed = have.get("link_speed", "")
    if speed and not speed.startswith((*SPEEDS, *FULL_SPEEDS)):
        wrong(e, "link_speed", f'unknown, so NCCL counts 8 GT/s; write such as "{FULL_SPEEDS[4]}"')
    holds_gpu = any(c.name == "gpu" for c in e.children)
    if holds_gpu and _BUS.fullmatch(have.get("busid", "")) and have["busid"][-1] not in "048c":
        wrong(e, "busid", "the function of a GPU is 0, 4, 8 or c")


def _whole_file(root: Element, problems: list[Problem]) -> None:
    """What concerns several elements: sizes, things that must be unique, links that must be told from both ends."""
    elements = root.walk()
    if len(elements) > MAX_ELEMENTS:
        problems.append(Problem(root.line, Severity.ERROR, f"{len(elements)} elements: NCCL reads {MAX_ELEMENTS} at most"))
    elif len(elements) > SAFE_ELEMENTS:
        problems.append(
            Problem(root.line, Severity.WARNING, f"{len(elements)} elements: NCCL adds its own; stay below {SAFE_ELEMENTS + 1}")
        )
    for name, attribute in (
        ("pci", "busid"),
        ("cpu", "numaid"),
        ("gpu", "dev"),
        ("gpu", "rank"),
        ("net", "name"),
        ("net", "dev"),
    ):
        seen = Counter(e.attributes[attribute] for e in elements if e.name == name and attribute in e.attributes)
        for e in elements:
            value = e.attributes.get(attribute)
            if e.name == name and value is not None and seen[value] > 1:
                problems.append(Problem(e.line, Severity.ERROR, f'{attribute}="{value}" stands {seen[value]} times'))
    channels = Counter((e.attributes.get("guid"), e.attributes.get("port")) for e in elements if e.name == "net")
    for (guid, port), count in channels.items():
        if count > 1 and guid:
            text = f"{count} nets have guid {guid} and port {port}: NCCL lets them share one port's bandwidth"
            problems.append(Problem(root.line, Severity.ERROR, text))
    _direct_links(elements, problems)


def _direct_links(elements: list[Element], problems: list[Problem]) -> None:
    """NVLinks between two GPUs must be told by both, with one count."""
    counts: Counter[tuple[str, str]] = Counter()
    place: dict[tuple[str, str], int] = {}
    for pci in elements:
        for link in (n for g in pci.children if g.name == "gpu" for n in g.children):
            if link.name == "nvlink" and link.attributes.get("tclass", "").startswith("0x03"):
                key = (pci.attributes.get("busid", ""), link.attributes.get("target", ""))
                counts[key] += (
                    int(link.attributes.get("count", "0"), 0) if _WHOLE.fullmatch(link.attributes.get("count", "")) else 0
                )
                place[key] = link.line
    for (a, b), count in counts.items():
        if counts.get((b, a)) != count:
            problems.append(
                Problem(place[a, b], Severity.ERROR, f"{count} NVLinks from {a} to {b}, but {counts.get((b, a), 0)} back")
            )
