"""Headings and cells of tables of cables as people write them: words for the two ends, title rows above the
heading, headings of two rows, cells that hold a device and its port, boxes that are ticked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

A_WORDS = frozenset(("a", "from", "source", "src", "start", "near", "local", "origin", "begin"))
B_WORDS = frozenset(
    ("b", "z", "to", "destination", "dest", "dst", "far", "remote", "target", "peer", "neighbor", "neighbour")
)
DEVICE_WORDS = frozenset(
    ("device", "host", "hostname", "node", "switch", "system", "server", "equipment", "machine")
)
PORT_WORDS = frozenset(("port", "interface", "intf", "iface", "if", "termination", "jack"))
END_WORD = "termination"
"""NetBox's word for an end, of which a column has the device, or the name of the port."""
FILLERS = frozenset(("name", "id", "label", "no", "number", "nr", "side", "end", "the", "of"))
DONE = frozenset(("done", "completed", "installed", "cabled", "connected?", "done?"))
FOUND = frozenset(("found instead", "found", "as found", "actual", "instead"))
"""Headings of what a technician fills in: whether a cable is plugged, and where it was found to end."""


def words_listed(text: str) -> frozenset[str]:
    """The words of a list that commas separate."""
    return frozenset(map(str.strip, text.split(",")))


UNTOUCHED = words_listed(",☐,□,no,0,false,-,open,todo,n")
"""What a column ``done`` says before anybody has filled it in."""
TICKS = words_listed(
    "x,v,y,✓,✔,☑,✅,☒,√,🗸,yes,ok,okay,done,true,1,100%,installed,connected,cabled,plugged,complete,completed,"
    "finished,checked"
)
"""What says that a cable is plugged."""
NO_CABLE = words_listed(
    "absent,disconnected,missing,no cable,not cabled,not connected,not installed,not plugged,not there,"
    "unplugged"
)
"""What plainly says that no cable is there, in any column."""
NOT_DONE = (UNTOUCHED | NO_CABLE) | words_listed(
    "✗,✘,❌,✖,–,—,n/a,na,none,pending,partial,partly,failed,incomplete,to do,not yet,not done,in progress"
)
"""What says that a cable is not plugged, or not wholly."""
FAULTY = words_listed(
    "bad,broken,damaged,dead,defect,defective,disabled,down,fail,failed,failing,"
    "failure,fault,faulty,inactive,offline,rma,unusable"
)
"""What says that a cable is not in service, as one of several words, too: ``offline since May``."""
NEGATIONS = words_listed("no,not,without")
IN_SERVICE = words_listed("active,light,link,ok,okay,online,operational,serviceable,signal,up,usable,working")
"""What says so behind ``not`` or ``no``; ``out of service`` and ``out of order`` say it, too."""
MENDED = words_listed("ex,fixed,formerly,mended,repaired,replaced,resolved,was")
"""Words beside which a fault may be one of the past, so that nothing is known."""
TOTAL = re.compile(r"(grand |sub ?|sub-)?totals?\b|sum\b|count\b", re.IGNORECASE)
"""How a row begins that sums up others."""
SUM_OF_ROWS = "the row is a total"
LONE_CELL = "the row has one cell alone, as a remark or a title does"
"""Why a row is no cable."""
NOTHING = NO_CABLE | words_listed("nothing,none,empty,dark,nowhere,not found,n/a")
"""What a column ``found instead`` says of an end without a cable."""
AS_PLANNED = words_listed("✓,✔,☑,✅,ok,okay,yes,same,correct,as planned,as designed")
"""What it says of an end that is where it should be."""
DATE = re.compile(r"(\d{4}([-/.])\d\d?\2\d\d?|\d\d?([-/.])\d\d?\3(\d{4}|\d\d))([ t]\d\d?:\d\d(:\d\d)?z?)?")
SEPARATORS = (" / ", " : ", " - ", " | ")
HEADING = 20
"""Rows among which the heading of a table is."""
WIDEST = 256
"""Columns of a table among which those of two ends are."""
LONGEST_TITLE = 200
"""Characters of the heading of a column."""
TITLE = 3
"""Different texts in the columns of two ends, from which on a row above the heading may be of a cable: two
devices, and a port whose name may be the same at both."""


class Titled(NamedTuple):
    """A column's heading: the end that it is of ("a", "b" or "") and what of it: "device", "port" or both."""

    side: str
    what: tuple[str, ...]


@lru_cache(maxsize=1 << 14)
def parse_heading(text: str) -> Titled:
    """What a heading such as ``From Host`` or ``Device A / Port A`` names. A heading with words of another
    kind, such as ``From Rack``, names nothing."""
    if len(text) > LONGEST_TITLE:
        return Titled("", ())
    parts = [part for part in re.split(r"[/&+,|:\n]", text.lower()) if part.strip()]
    found = [_parse_words(part) for part in parts]
    if len(found) == 1:
        return found[0]
    sides = {f.side for f in found if f.side}
    whats = tuple(w for f in found for w in f.what)
    if len(found) == 2 and len(sides) == 1 and sorted(whats) == ["device", "port"]:
        return Titled(sides.pop(), ("device", "port"))
    return Titled("", ())


def _thing_named(words: set[str]) -> str:
    """Whether a heading is of ports or of devices; "" where it says neither."""
    of_port, of_device = PORT_WORDS & words, DEVICE_WORDS & words
    if of_port == {END_WORD} and "name" in words:
        return "port"
    return "port" if of_port and not (of_device and of_port == {END_WORD}) else "device" if of_device else ""


def _parse_words(text: str) -> Titled:
    words = re.findall(r"[a-z0-9]+", text)
    sides = {side for side, known in (("a", A_WORDS), ("b", B_WORDS)) for w in words if w in known}
    what = _thing_named(set(words))
    known = A_WORDS | B_WORDS | DEVICE_WORDS | PORT_WORDS | FILLERS
    if len(sides) > 1 or not set(words) <= known:
        return Titled("", ())
    if not sides and words[:1] == ["end"]:  # beside a `Start Device`
        sides = {"b"}
    return Titled(sides.pop() if sides else "", (what,) if what else ())


NUMBERED = re.compile(r"(?:device|end|side)[ _]?([12])|port[ _]?([12])")
"""Headings such as ``Device 1`` and ``Port 2``; of ``Switch 1`` a device may have its name."""
WANTED = ("a_device", "a_port", "b_device", "b_port")


def columns_of_ends(row: Sequence[str], above: Sequence[str] = ()) -> dict[str, int] | None:
    """The columns of the four names of two ends, as ``a_device`` …; None where a heading does not name all.
    ``above`` is the row above, whose cells say which end the columns below them are of."""
    found: dict[str, int] = {}
    alone: dict[str, int] = {}  # `Source`, which is the device where there is a `Source Port`
    for k, titled in enumerate(_titles_of_row(row, above)):
        for what in titled.what if titled.side else ():
            found.setdefault(f"{titled.side}_{what}", k)
        if titled.side and not titled.what:
            alone.setdefault(f"{titled.side}_device", k)
    if set(found) == {"a_port", "b_port"} and all(END_WORD in row[k].lower() for k in found.values()):
        found |= {"a_device": found["a_port"], "b_device": found["b_port"]}  # both in one cell
    else:
        found = {name: k for name, k in alone.items() if f"{name[0]}_port" in found} | found
    return {name: found[name] for name in WANTED} if set(WANTED) <= set(found) else None


def _titles_of_row(row: Sequence[str], above: Sequence[str]) -> list[Titled]:
    """What each column's heading names; one without a side has that of the last cell above it that is
    filled."""
    titles, over = [], ""
    for k, text in enumerate(row):
        over = above[k].strip() if k < len(above) and above[k].strip() else over
        titled = parse_heading(text)
        if above and not titled.side and titled.what:
            titled = Titled(parse_heading(over).side, titled.what)
        titles.append(titled)
    return titles


def columns_without_sides(row: Sequence[str]) -> dict[str, int] | None:
    """The same of a heading whose columns do not all say which end they are of: ``Host, Port, Switch, Port``,
    ``Device, Port, Peer, Peer Port``, ``Device 1, Port 1, Device 2, Port 2``. None where the order of devices
    and ports leaves a doubt."""
    titles = [_numbered_heading(text) or parse_heading(text) for text in row]
    named = [k for k, titled in enumerate(titles) if titled.side or titled.what]
    if [titles[k].what or ("device",) for k in named] != [("device",), ("port",)] * 2:
        return None
    a, b = ({titles[k].side for k in named[at : at + 2]} for at in (0, 2))
    return dict(zip(WANTED, named, strict=True)) if a <= {"", "a"} and b <= {"", "b"} else None


def _numbered_heading(text: str) -> Titled | None:
    """What ``Device 1`` or ``Port 2`` names; None of other headings."""
    found = NUMBERED.fullmatch(text.strip().lower())
    if found is None:
        return None
    return Titled("a" if "1" in found.groups() else "b", ("device" if found[1] else "port",))


def columns_of_work(row: Sequence[str]) -> dict[str, int]:
    """The columns that a technician fills in, as ``done`` and ``found``."""
    names = [" ".join(c.lower().split()) for c in row]
    out = {}
    for key, known in (("done", DONE), ("found", FOUND)):
        place = next((k for k, name in enumerate(names) if name in known), None)
        if place is not None:
            out[key] = place
    return out


def plain_words(cell: str) -> str:
    """A cell in lower case with single spaces: ``Not-Installed`` is ``not installed``."""
    if not cell:
        return ""
    text = cell.replace("\ufe0f", "").casefold()
    return " ".join(re.sub(r"(?<=\w)[-_](?=[^\W\d])", " ", text).rstrip("!").split())


def is_ticked(cell: str) -> bool:
    """Whether a cell of the column ``done`` says that the cable is plugged: a tick, a yes or a date."""
    words = plain_words(cell)
    return words in TICKS or DATE.fullmatch(words) is not None


def is_out_of_service(words: str) -> bool:
    """Whether a state, as ``plain_words`` gives it, says that a cable is not in service: ``failed``,
    ``link down``, ``not working``. A fault that is denied or may be mended says nothing."""
    parts = re.findall(r"\w+", words)
    denied = [i for i, word in enumerate(parts) if word in NEGATIONS]
    if any(word in IN_SERVICE or word == "in" for i in denied for word in parts[i + 1 : i + 2]):
        return True
    if denied or MENDED & set(parts):
        return False
    return bool(FAULTY & set(parts)) or any(f"out of {what}" in words for what in ("service", "order"))


def reason_of_bare_row(cells: Sequence[str]) -> str:
    """Why a row of a table that does not name two ends is no cable: a total, or a remark in one cell; ""
    where it may be a row that was not filled."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    if TOTAL.match(filled[0]):
        return SUM_OF_ROWS
    return LONE_CELL if len(filled) == 1 else ""


def device_and_port(cell: str) -> tuple[str, str]:
    """The device and the port of a cell that holds both, such as ``leaf0 / swp1`` or ``leaf0:swp1``; a cell
    without a separator is a port, and the device is ""."""
    for sign in SEPARATORS:
        device, found, port = cell.partition(sign)
        if found:
            return device.strip(), port.strip()
    for sign in (":", " ", "/"):
        device, found, port = cell.strip().partition(sign)
        if found and device and " " not in device:
            return device, port.strip()
    return "", cell.strip()


def filled_right(row: Sequence[str]) -> list[str]:
    """A row in which each empty cell says what the one before it says, as merged cells do."""
    out: list[str] = []
    for cell in row:
        out.append(cell if cell.strip() or not out else out[-1])
    return out
