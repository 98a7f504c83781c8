"""NetBox: the cables of its REST API, ``GET /api/dcim/cables/``, one page, several as a list, or the list of
results; or the requests that tdsl writes to create them (``payloads.json``), all of which are planned.

Source: netbox 4.6, ``dcim/api/serializers_/cables.py`` and ``netbox/api/serializers/generic.py``: a cable has
``a_terminations`` and ``b_terminations``, each with ``object_type`` and ``object``, which has ``device`` and
``name``. NetBox's CSV is read by ``p2p``. Front and rear ports of panels are traced to their ends
(``observe.panels``), by ``GET /api/dcim/front-ports/`` where it is given, too.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.cut_sheets import is_out_of_service, plain_words
from tdsl.observe.panels import FRONT, REAR, CableEnd, PanelCable, PanelCables, PanelPort, front_ports_listed
from tdsl.observe.readers._neighbours import (
    Lines,
    add_device,
    entries_of_list,
    json_object,
    json_of_capture,
    json_text,
)
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    Malformed,
    Observed,
    plain_capture_name,
)
from tdsl.system.nouns import counted_noun

FORMAT = "netbox"
OPTION = "p2p"
INTERFACE = "dcim.interface"
ABSENT = ("decommissioning", "planned")
"""States of a cable that is not plugged (netbox, ``dcim/choices.py``, ``LinkStatusChoices``)."""
REQUEST = "dcim/cables/"
"""Where requests that create cables are sent."""
BREAKOUT = "breakout-"
"""How profiles of cables begin that split one interface (netbox, ``dcim/choices.py``,
``CableProfileChoices``)."""
SHUFFLE = "shuffle"
"""What profiles have in their names that cross the positions of connectors (netbox,
``dcim/cable_profiles.py``). All others join the ends of both sides in their order."""
CONNECTED = ("", "connected", "active", "planned", "decommissioning")
"""States of a cable that NetBox has; users may add others (``FIELD_CHOICES``)."""
OTHER_ENDS = (
    "dcim.powerport",
    "dcim.poweroutlet",
    "dcim.powerfeed",
    "dcim.consoleport",
    "dcim.consoleserverport",
    "circuits.circuittermination",
)
"""Kinds of ends that are no port of a network (netbox, ``CABLE_TERMINATION_MODELS``). Front and rear ports of
panels are none of them: a link runs through them."""


def recognises(head: str) -> bool:
    """Whether a text begins as such a list of cables, or as a table of front ports."""
    return _is_table_of_front_ports(head) or (
        ('"a_terminations"' in head or '"rear_port' in head)
        and head.lstrip()[:1]
        in (
            "{",
            "[",
        )
    )


def _is_table_of_front_ports(text: str) -> bool:
    """Whether a table has the columns of NetBox's front ports."""
    heading = text.lstrip().partition("\n")[0].lower().replace("_", " ")
    return {"device", "name", "rear port"} <= {cell.strip() for cell in heading.split(",")}


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the cables between interfaces that are plugged, and note those at panels; others are left out with
    the reason. A list of front ports says where they lead."""
    lines, paired, unknown = Lines(file), list[CaptureLine](), dict[str, list[CaptureLine]]()
    into.panels = into.panels or PanelCables()
    if _is_table_of_front_ports(file.text):
        into.panels.behind |= front_ports_listed(_rows_of_front_ports(file))
        return
    for entry in _cables_of_pages(json_of_capture(file), file, into):
        at = lines.place("a_terminations")
        try:
            facts = json_object(entry, at, "a cable")
            if "a_terminations" not in facts and ("rear_port" in facts or "rear_ports" in facts):
                into.panels.behind |= front_ports_listed(_rear_ports_of_front_port(facts, at))
                continue
            if _add_cable(into, into.panels, facts, at) > 1 and not _profile(facts) and REQUEST not in facts:
                paired.append(at)
            if _state(facts).casefold() not in CONNECTED and not is_out_of_service(
                plain_words(_state(facts))
            ):
                unknown.setdefault(_state(facts), []).append(at)
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)
    _note_guesses(into, paired, unknown)


def _note_guesses(into: Observed, paired: list[CaptureLine], unknown: dict[str, list[CaptureLine]]) -> None:
    """Report cables of several ends of which no profile says which are joined, and states that are not
    known."""
    if paired:
        into.note(
            "E0606",
            paired[0],
            f"{counted_noun(len(paired), 'cable')} with several ends a side and no profile: the ends are "
            "joined in the order in which NetBox lists them, the first of side A with the first of side B",
            help="give these cables a profile in NetBox (4.5 or newer), or a cable a link",
        )
    if unknown:
        lines = [at for places in unknown.values() for at in places]
        said = ", ".join(f"`{state[:40]}` ({len(at)})" for state, at in list(unknown.items())[:8])
        into.note(
            "E0606",
            lines[0],
            f"{counted_noun(len(lines), 'cable')} taken for plugged, with a status that is not known: {said}",
            help="give a cable that is plugged the status `connected`, and one that is not `planned`",
        )


def _rear_ports_of_front_port(
    facts: Mapping[str, Any], at: CaptureLine
) -> Iterator[tuple[str, str, str, int]]:
    """The rear port of a front port and the position there: ``rear_port`` and ``rear_port_position``, from
    NetBox 4.5 on ``rear_ports``, a list of positions."""
    device, name = _name_of(facts.get("device")), json_text(facts.get("name"))
    listed = facts.get("rear_ports", [facts])
    for one in entries_of_list(listed):
        place = json_object(one, at, "a rear port")
        rear = _name_of(place.get("rear_port"))
        number = place.get("rear_port_position")
        if not (device and name and rear):
            raise Malformed(at.line, "a front port without a device, a name or the name of its rear port")
        yield device, name, rear, number if isinstance(number, int) else 1


def _rows_of_front_ports(file: SourceFile) -> Iterator[tuple[str, str, str, int]]:
    """The same of a table: device, name, rear port, and its position, which is 1 where there is no such
    column. Raises Malformed."""
    reader = csv.reader(file.text.lstrip("\n").split("\n"))
    heading = [cell.strip().lower().replace("_", " ") for cell in next(reader)]
    for row in reader:
        cells = dict(zip(heading, (cell.strip() for cell in row), strict=False))
        device, name, rear = (cells.get(k, "") for k in ("device", "name", "rear port"))
        position = cells.get("rear port position", "") or "1"
        if not any(cells.values()):
            continue
        if not (device and name and rear and position.isdecimal()):
            raise Malformed(
                reader.line_num, "a front port without a device, a name or the name of its rear port"
            )
        yield device, name, rear, int(position)


def _name_of(value: object) -> str:
    return json_text(value.get("name")) if isinstance(value, dict) else ""


def _state(cable: Mapping[str, Any]) -> str:
    """The status of a cable."""
    status = cable.get("status")
    return json_text(status.get("value") if isinstance(status, dict) else status)


def _add_cable(into: Observed, panels: PanelCables, facts: Mapping[str, Any], at: CaptureLine) -> int:
    """Add a cable as a link for each pair of its ends, or leave it out; how many ends each side has, 1 where
    they are legs of one interface. Raises Malformed."""
    state = _state(facts)
    other = sorted(_kinds_of_ends(facts) & set(OTHER_ENDS))
    gone = ABSENT[:1] if REQUEST in facts else ABSENT
    absent = state in gone or is_out_of_service(plain_words(state))
    why = f"NetBox says that the cable is {state[:40]}" if absent else ""
    why = why or (f"an end is not a port of a network: {', '.join(other)}" if other else "")
    if why:
        into.leave_out(why, at, _cable_in_words(facts))
        return 0
    a, b = (_ends_of_side(into, facts.get(f"{side}_terminations"), at, side) for side in "ab")
    if not a and not b:
        into.leave_out("no end is an interface", at, _cable_in_words(facts))
        return 0
    legs = len(a) != len(b) and 1 in (len(a), len(b)) and _is_breakout(facts)
    if legs:  # of one interface, whose lanes have no interfaces of their own
        a, b = (side * (max(len(a), len(b)) if len(side) == 1 else 1) for side in (a, b))
    if len(a) != len(b):
        raise Malformed(
            at.line,
            f"a cable with {counted_noun(len(a), 'interface')} at side A and {len(b)} at side B",
            "say which lanes are joined: a table with a row a link, columns a_device,a_port,b_device,b_port",
        )
    if len(a) > 1 and SHUFFLE in _profile(facts):
        raise Malformed(
            at.line,
            f"a cable with the profile {_profile(facts)[:60]}, which crosses its {len(a)} ends",
            "write a table with a row a link, columns a_device,a_port,b_device,b_port",
        )
    for x, y in zip(a, b, strict=True):
        if isinstance(x, CapturedEnd) and isinstance(y, CapturedEnd):
            into.wire(CapturedLink(x, y, at, leg=legs))
        else:
            panels.cables.append(PanelCable(x, y, at, _cable_in_words(facts)))
    return 1 if legs else len(a)


def _profile(cable: Mapping[str, Any]) -> str:
    """The profile of a cable, "" where it has none."""
    profile = cable.get("profile")
    return json_text(profile.get("value") if isinstance(profile, dict) else profile)


def _is_breakout(cable: Mapping[str, Any]) -> bool:
    """Whether the profile of a cable splits one interface."""
    return _profile(cable).startswith(BREAKOUT)


def _report_missing_pages(pages: list[Any], file: SourceFile, into: Observed) -> None:
    """Report that pages of a list are missing: each says how many entries the whole list has (``count``), and
    whether others follow. Lists of cables and of front ports count for themselves; a page that is there twice
    counts once."""
    there: dict[str, set[str]] = defaultdict(set)
    counts: dict[str, int] = {}
    follows = False
    for number, page in enumerate(pages):
        if not (isinstance(page, dict) and "results" in page):
            continue
        kind, identifiers = _entries_of_page(page, number)
        there[kind] |= identifiers
        count = page.get("count")
        if isinstance(count, int):
            counts[kind] = max(count, counts.get(kind, 0))
        else:
            follows |= bool(page.get("next"))
    lacking = [(kind, n) for kind, n in counts.items() if len(there[kind]) < n]
    help = "add `?limit=0` to the request, or put all pages into one JSON list"
    for kind, n in lacking:
        said = f"the capture has {len(there[kind]):,} of {n:,} {kind}: pages of NetBox's answer are missing"
        into.fault(file, 1, said, help, "E0602")
    if follows and not lacking:
        into.fault(file, 1, "this is one page of NetBox's answer, and others follow", help, "E0602")


def _entries_of_page(page: Mapping[str, Any], number: int) -> tuple[str, set[str]]:
    """What a page lists, cables or other entries, and the identifier of each, its place where it has none."""
    entries = list(entries_of_list(page["results"]))
    kind = "cables" if any(isinstance(e, dict) and "a_terminations" in e for e in entries) else "entries"
    found = (json_text(e.get("id")) if isinstance(e, dict) else "" for e in entries)
    return kind, {known or f"{number}:{k}" for k, known in enumerate(found)}


def _cables_of_pages(value: Any, file: SourceFile, into: Observed) -> Iterator[Any]:
    """The entries of all pages; that pages are missing is reported."""
    pages = list(entries_of_list(value))
    _report_missing_pages(pages, file, into)
    for page in pages:
        if isinstance(page, dict) and "results" in page:
            yield from entries_of_list(page["results"])
        elif isinstance(page, dict) and isinstance(page.get("body"), dict):
            if json_text(page.get("path")) == REQUEST:
                yield page["body"] | {REQUEST: True}
        else:
            yield page


def _owner_and_name(facts: Mapping[str, Any]) -> tuple[str, str]:
    """The device and the name of an end: of an object, or in a request both as text."""
    thing = facts.get("object", facts)
    thing = thing if isinstance(thing, dict) else {}
    owner = thing.get("device")
    known = json_text(owner) or _name_of(owner)
    return known or (json_text(owner.get("display")) if isinstance(owner, dict) else ""), _name_of(thing)


def _kinds_of_ends(cable: Mapping[str, Any]) -> set[str]:
    """The kinds of all ends of a cable."""
    return {
        json_text(one.get("object_type"))
        for side in "ab"
        for one in entries_of_list(cable.get(f"{side}_terminations"))
        if isinstance(one, dict)
    }


def _cable_in_words(cable: Mapping[str, Any]) -> str:
    """A cable by the devices and names of its ends, as far as it says them."""
    sides = []
    for side in "ab":
        ends = []
        for one in entries_of_list(cable.get(f"{side}_terminations")):
            facts = one if isinstance(one, dict) else {}
            device, name = _owner_and_name(facts)
            thing = facts.get("object")
            shown = json_text(thing.get("display")) if isinstance(thing, dict) else ""
            ends.append(f"{device} {name or shown}".strip())
        sides.append(", ".join(filter(None, ends)) or "nothing")
    return " to ".join(sides)


def _ends_of_side(into: Observed, value: Any, at: CaptureLine, side: str) -> list[CableEnd]:
    """The interfaces and ports of panels of a side. Raises Malformed."""
    found: list[CableEnd] = []
    for one in entries_of_list(value):
        facts = json_object(one, at, f"a termination of side {side.upper()}")
        kind = json_text(facts.get("object_type"))
        if kind not in (INTERFACE, FRONT, REAR):
            continue
        if "object" in facts:
            thing = json_object(facts["object"], at, f"the interface of side {side.upper()}")
            json_object(thing.get("device"), at, f"the device of side {side.upper()}")
        name, port = _owner_and_name(facts)
        if not name or not port:
            raise Malformed(
                at.line,
                f"side {side.upper()} has no device or no name of an interface",
                "export the cables again",
            )
        port = plain_capture_name(port, at.line)
        if kind == INTERFACE:
            found.append(CapturedEnd(add_device(into, name, "", at, heard=True), (port,)))
        else:
            found.append(PanelPort(plain_capture_name(name, at.line), kind, port))
    return found
