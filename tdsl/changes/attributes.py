"""What two fabrics hold beside which devices and cables there are, and what differs of it.

Settings of declarations, of connects (by the links that they make) and of the fabric itself, links and
devices that are planned and not built, and where devices are. All of it is compared as it was evaluated: two
ways to write one value are no difference. What has fields is read over its fields, so that one that is added
is compared unless a table here says why not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tdsl.changes.model import Change
from tdsl.emit.link_tables import Wires
from tdsl.fabric.columns import natural_sort_key
from tdsl.fabric.graph import HOLE, MEDIA, USED, Fabric, Ints, LinkStatement
from tdsl.fabric.places import RackPlaces
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.model import DeviceModel, DeviceSet
from tdsl.semantics.place_statements import Hall, RackRow
from tdsl.semantics.quantity import POWER, RATE, Quantity, quantity_text
from tdsl.semantics.values import text_of
from tdsl.syntax import tree

NO_DIFFERENCE: Mapping[str, Mapping[str, str]] = {
    "Fabric": {
        "title": "a title: people read it, and nothing is built or judged by it",
        "origin": "a place in the text",
        "device_set": "rows; devices are compared by their paths",
        "tier": "follows from the kinds of devices and the links, planned ones included",
        "plane": "follows from the kinds of the groups",
        "port_base": "rows; ports are compared by their paths",
        "port_link": "rows; links are compared by the paths of their ports",
        "cable_links": "`links` of a cable",
        "cable_class": "the class of its links; cables to a panel are named after the devices at their ends",
        "cable_statement": "the statement of its links, or of the connect that draws the cable",
        "cable_leg": "follows from the legs of one cable and the order of their ports",
        "circuit_a": "`via` of a link",
        "circuit_b": "`via` of a link",
        "circuit_link": "`via` of a link",
        "link_run": "follows from the places; `length` of a cable",
        "named_by": "places in the text",
        "cluster": "its fabrics are compared",
        "members": "each is compared",
        "member_rows": "rows",
        "member_links": "rows",
        "whole": "the fabric itself",
        "sealed": "whether it may be written",
        "complete": "only complete fabrics are compared",
    },
    "DeviceSet": {
        "index": "a row",
        "first": "a row",
        "model": "compared device by device, an override included",
        "origin": "a place in the text",
        "extents": "as written; devices, planned ones too, show what it says",
        "scope": "names; values are compared",
        "prefix": "the name of the fabric",
    },
    "DeviceModel": {
        "name": "the model of a device",
        "origin": "a place in the text",
        "variant": "`split` of the declaration",
        "wiring": "as written; `links` show what it says",
        "scope": "names; values are compared",
    },
    "PortClass": {
        "name": "what it is known by",
        "first": "a row",
        "origin": "a place in the text",
    },
    "Chip": {
        "name": "what it is known by",
        "origin": "a place in the text",
    },
    "Addressing": {
        "fabric": "itself",
        "assigned": "rows; addresses are compared one by one",
        "asns": "compared device by device",
    },
    "Pool": {
        "first": "the addresses",
        "step": "the addresses",
        "count": "the room of the network",
        "network": "as written; the addresses show it",
        "prefix": "the addresses",
        "origin": "a place in the text",
    },
    "Partition": {
        "port": "compared by their paths",
        "full": "compared with the ports",
        "origin": "a place in the text",
    },
    "RackPlaces": {
        "rack_hall": "rows of the halls",
        "rack_row": "rows of the halls",
        "rack_number": "racks of the halls",
        "rack_x": "follows from the pitch",
        "rack_y": "follows from the pitch",
        "rack_kind": "racks of the halls",
        "device_place": "a place in the text",
        "origins": "places in the text",
        "automatic": "how places were found; the places are compared",
    },
    "GroupDistance": {
        "a": "compared by its devices",
        "b": "compared by its devices",
        "text": "as written",
    },
    "RiskGroup": {
        "name": "its path",
        "path": "what it is known by",
        "devices": "compared by their paths",
        "origin": "a place in the text",
    },
    "LinkStatement": {"origin": "a place in the text"},
}
"""Fields that are not compared, by their class, each with the reason."""
COMPARED_ELSEWHERE: Mapping[str, str] = {
    "name": "design",
    "parameters": "parameters",
    "models": "models",
    "device_model": "devices",
    "built": "devices",
    "names": "names",
    "cable_a": "cables",
    "cable_b": "cables",
    "classes": "settings",
    "colours": "settings",
    "parts": "models",
}
"""Fields of a fabric that the other sections of a comparison show."""
COMPARED_HERE = frozenset(
    (
        "layer", "sets", "statements", "port_state", "link_a", "link_b", "link_rate", "link_class",
        "link_medium", "link_statement", "link_via_a", "link_via_b", "link_bundle", "link_colour",
        "cable_group", "absent_a", "absent_b", "absent_rate", "absent_reserved", "absent_statement",
        "addressing", "management", "nos", "transport", "transport_stated", "purpose", "prices", "supply",
        "places", "spans", "risks",
    )
)  # fmt: skip
"""Fields of a fabric that are compared in this module."""
OF_EACH_LINK: Mapping[str, str] = {
    "rate": "each link has its own",
    "class": "each link has its own",
    "medium": "what each link is laid in; `medium` of a cable",
    "colour": "each link has its own",
    "bundle": "how many links the bundle of each link has, and which these are",
    "part": "the model that `cable` names; its facts are compared",
}
"""Settings of a connect that are compared as each link has them, or follow from another one."""
OF_CABLES = {"cable": "part", "length": "length", "medium": "medium", "colour": "colour", "rate": "Gb/s"}
"""Settings of a connect that cables show, too, and what it is called there."""
CABLE_COLUMNS = ("fibre", "polarity", "a_optic", "b_optic", "via")
"""Columns of the table of cables that are compared beside the facts of a cable."""
COMPARED_WORDS = (
    "layer",
    "nos",
    "transport",
    "purpose",
    "routing",
    "roce",
    "hall",
    "distance",
    "risk",
    "feed",
)
COMPARED_WORDS_IF_BUILT = ("partition", "subnet_manager")
"""Statements of a fabric whose values are compared: one that is only written otherwise is no difference. The
second ones only where all that is planned is built: else they may be about more."""
LONGEST_TEXT, SHOWN_PART, EXACT_DIGITS = 60, 40, 12
"""Characters of a list that is shown whole; those shown of a longer one; digits up to which the text of an
amount is exact."""


def fact_text(value: object) -> str:
    """A value of a design as text: equal texts for equal values only."""
    if isinstance(value, DeviceModel):
        return value.name
    if isinstance(value, DeviceSet):
        return value.path
    if isinstance(value, (tuple, list)):
        said = ", ".join(map(fact_text, value))
        digest = sha256(said.encode(errors="backslashreplace")).hexdigest()[:8]
        return said if len(said) <= LONGEST_TEXT else f"{said[:SHOWN_PART]}… ({len(value)} values, {digest})"
    if isinstance(value, Quantity):
        exact = len(str(value.amount.numerator)) + len(str(value.amount.denominator)) > EXACT_DIGITS
        return f"{text_of(value)}{f' ({value.amount})' * exact}"
    if isinstance(value, Mapping):
        return fact_text([f"{name} {fact_text(v)}" for name, v in value.items()])
    if is_dataclass(value) and not isinstance(value, type):
        rows = [(name, getattr(value, name)) for name in compared_fields(value)]
        return " ".join(
            f"{name} {fact_text(x)}" for name, x in rows if not isinstance(x, (Origin, SourceSpan))
        )
    try:
        return text_of(value)
    except (TypeError, AttributeError):
        return str(value)


def compared_fields(value: object) -> list[str]:
    """The names of a record's fields but those that ``NO_DIFFERENCE`` lists."""
    left_out = NO_DIFFERENCE.get(type(value).__name__, {})
    return [f.name for f in fields(value) if f.name not in left_out]  # type: ignore[arg-type]


# ---------------------------------------------------------------- rows of both fabrics that are the same


class MatchedRows:
    """Devices, links and legs of cables that both fabrics have, as rows of the one and of the other, in one
    order. ``known`` are devices of the old one with other paths now."""

    def __init__(self, before: Fabric, after: Fabric, known: Mapping[str, str]) -> None:
        self.before, self.after, self.known = before, after, known

    @cached_property
    def aligned(self) -> bool:
        """Whether both have the same devices with the same ports in the same rows."""

        def form(f: Fabric) -> object:
            sets = [(s.prefix, [(p.name, p.axes) for p in s.parts]) for s in f.sets]
            return sets, [[(c.name, c.axes) for c in m.classes] for m in f.models]

        a, b = self.before, self.after
        return (
            not self.known
            and form(a) == form(b)
            and np.array_equal(a.device_model, b.device_model)
            and np.array_equal(a.port_base, b.port_base)
        )

    @cached_property
    def paths(self) -> tuple[list[str], list[str]]:
        """The paths of all devices of both, planned ones included, by today's names."""
        old, new = ([f.device_path(d) for d in range(f.device_count)] for f in (self.before, self.after))
        return [self.known.get(p, p) for p in old], new

    @cached_property
    def devices(self) -> tuple[Ints, Ints]:
        """Devices that both have, planned ones included."""
        if self.aligned:
            every = np.arange(self.before.device_count)
            return every, every
        return _rows_of_equal_keys(*self.paths)

    @cached_property
    def links(self) -> tuple[Ints, Ints]:
        """Links between the same two ports."""
        return self._between("link_a", "link_b")

    @cached_property
    def legs(self) -> tuple[Ints, Ints]:
        """Legs of cables between the same two ports."""
        return self._between("cable_a", "cable_b")

    def _between(self, a: str, b: str) -> tuple[Ints, Ints]:
        old, new = ([getattr(f, a), getattr(f, b)] for f in (self.before, self.after))
        if self.aligned and all(map(np.array_equal, old, new)):
            every = np.arange(len(old[0]))
            return every, every
        return _rows_of_equal_keys(*(self._pairs(side, *ports) for side, ports in enumerate((old, new))))

    def _pairs(self, side: int, a: Ints, b: Ints) -> list[tuple[str, str]]:
        ends = zip(self.port_paths(side, a), self.port_paths(side, b), strict=True)
        return [(x, y) if x <= y else (y, x) for x, y in ends]

    def port_paths(self, side: int, ports: Ints) -> list[str]:
        """The paths of ports of one fabric, by today's names."""
        f, paths = (self.before, self.after)[side], self.paths[side]
        forms = [
            [c.path(port - c.first) for port in range(m.port_count) for c in (m.class_of(port),)]
            for m in f.models
        ]
        at = f.port_device[ports]
        rows = zip(at.tolist(), f.device_model[at].tolist(), (ports - f.port_base[at]).tolist(), strict=True)
        return [f"{paths[d]}.{forms[m][place]}" for d, m, place in rows]


def _rows_of_equal_keys(old: Sequence[object], new: Sequence[object]) -> tuple[Ints, Ints]:
    at = {key: row for row, key in enumerate(new)}
    pairs = [(row, at[key]) for row, key in enumerate(old) if key in at]
    found = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    return found[:, 0], found[:, 1]


def model_pairs(rows: MatchedRows) -> list[tuple[DeviceModel, DeviceModel]]:
    """Models of one name on both sides: those of the same devices, and parts that cables of both use."""
    old, new = rows.devices
    pairs = np.unique(
        np.stack((rows.before.device_model[old], rows.after.device_model[new])), axis=1
    ).T.tolist()
    found = [(rows.before.models[a], rows.after.models[b]) for a, b in pairs]
    parts = [_parts_in_use(f) for f in (rows.before, rows.after)]
    found += [(part, parts[1][name]) for name, part in parts[0].items() if name in parts[1]]
    return [(a, b) for a, b in found if a.name == b.name]


def _parts_in_use(fabric: Fabric) -> dict[str, DeviceModel]:
    """Cables and transceivers that connects name, and those that were chosen, by name."""
    from tdsl.fabric.part_facts import part_display_name

    named = [
        x
        for s in fabric.statements
        for v in s.settings.values()
        for x in (v if isinstance(v, tuple) else (v,))
    ]
    out = {x.name: x for x in named if isinstance(x, DeviceModel)}
    wires = Wires(fabric)
    said = {str(v) for name in ("part", "a_optic", "b_optic") for v in set(wires.cables.column(name))}
    return {p.name: p for p in fabric.parts if {p.name, part_display_name(p)} & said} | out


# ---------------------------------------------------------------- comparison


def changed_attributes(rows: MatchedRows) -> dict[str, list[Change]]:
    """What differs, by the word of the statement that says it; "" for what no statement of the fabric
    says."""
    before, after = rows.before, rows.after
    out: dict[str, list[Change]] = defaultdict(list)
    own = [fabric_attributes(f, known) for f, known in ((before, rows.known), (after, {}))]
    for word, name in dict.fromkeys((*own[0], *own[1])):
        was, now = (x.get((word, name), "") for x in own)
        if was != now:
            out[word].append(Change(name, was, now))
    out[""] += [
        *_changed_declarations(rows),
        *_changed_links(rows),
        *_changed_legs(rows),
        *_changed_plans(rows),
    ]
    return {word: changes for word, changes in out.items() if changes}


def _enter_feeds(places: RackPlaces, enter: Callable[[str, str, object], None]) -> None:
    """Enter what each feed carries, what it is fed from, and its racks."""
    for feed in places.feeds:
        what = f"feed {feed.name}:"
        watts = "" if feed.watts is None else quantity_text(Quantity(feed.watts, POWER))
        enter("feed", f"{what} power", watts)
        enter("feed", f"{what} from", tuple(places.feeds[p].name for p in feed.parents))
        enter("feed", f"{what} racks", tuple(places.rack_names[r] for r in feed.racks))


def fabric_attributes(fabric: Fabric, known: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """What a fabric says of itself: the word that says it and the name of each value, with its text;
    ``known`` are devices with other paths now."""
    out: dict[tuple[str, str], str] = {}

    def enter(word: str, name: str, value: object) -> None:
        if value is not None and value is not False and value not in ("", (), {}):
            out[word, name] = fact_text(value)

    def enter_fields(word: str, name: str, value: object) -> None:
        for own in compared_fields(value) if value is not None else ():
            x = getattr(value, own)
            if isinstance(x, Mapping):
                for key, entry in x.items():
                    enter(word, f"{name} {own} {fact_text(key)}", entry)
            elif not isinstance(x, (Origin, SourceSpan)):
                enter(word, f"{name} {own}", x if x is not False else "off")

    for name in ("layer", "nos", "transport", "purpose"):
        enter(name, name, getattr(fabric, name))
    enter("transport", "transport stated", fabric.transport_stated)
    for name, price in fabric.prices.items():
        enter("", f"price of {name}", Fraction(price))
    enter_fields("", "supply:", fabric.supply)
    _enter_addressing(fabric, enter, enter_fields)
    _enter_management(fabric, known, enter, enter_fields)
    if fabric.places is not None:
        _enter_halls(fabric.places.halls, enter)
        _enter_feeds(fabric.places, enter)
        names = [h.name for h in fabric.places.halls]
        for (a, b), length in fabric.places.distances.items():
            enter("distance", f"distance {' to '.join(sorted((names[a], names[b])))}", f"{length}mm")
    for r in fabric.risks:
        paths = [fabric.device_path(d) for d in r.devices.tolist()]
        enter("risk", f"risk {r.path}: members", tuple(known.get(p, p) for p in paths))
        enter_fields("risk", f"risk {r.path}:", r.rate)
    for span in fabric.spans:
        ends = sorted(_devices_text(fabric, rows, known) for rows in (span.a, span.b))
        enter("distance", f"distance {' to '.join(ends)}", f"{span.length}mm")
    return out


Enter = Callable[[str, str, object], None]


def _enter_addressing(fabric: Fabric, enter: Enter, enter_fields: Enter) -> None:
    found = fabric.addressing
    for name in compared_fields(found) if found is not None else ():
        value = getattr(found, name)
        if name != "pools":
            enter_fields(name, f"{name}:", value)
            enter(name, name, value is not None and "stated")
            continue
        for pool in value:
            kept = {x: getattr(pool, x) for x in compared_fields(pool) if x not in ("kind", "version")}
            said = ", ".join(f"{x} {text}" for x, text in kept.items() if text)
            enter("address", f"address {pool.kind} IPv{pool.version} from {pool.address(0)}", said)


def _enter_management(fabric: Fabric, known: Mapping[str, str], enter: Enter, enter_fields: Enter) -> None:
    found = fabric.management
    if found is None:
        return

    def path(device: int) -> str:
        own = fabric.device_path(device)
        return known.get(own, own)

    enter("subnet_manager", "subnet_manager", tuple(map(path, found.managers)))
    for p in found.partitions:
        enter_fields("partition", f"partition {p.name}:", p)
        members = []
        for port, full in zip(p.port.tolist(), p.full.tolist(), strict=True):
            own = fabric.port_path(port).rpartition(".")[2]
            members.append(f"{path(int(fabric.port_device[port]))}.{own} {'full' if full else 'limited'}")
        enter("partition", f"partition {p.name}: members", tuple(sorted(members)))


def _enter_halls(halls: Iterable[Hall], enter: Enter) -> None:
    """All that halls say: their own fields, and of each row the racks and what each offers."""
    for hall in halls:
        name = f"hall {hall.name}"
        for own in compared_fields(hall):
            value = getattr(hall, own)
            if own == "rows":
                for row in value:
                    for what, said in _row_texts(row).items():
                        enter("hall", f"{name}, row {row.name}: {what}", said)
            elif own not in ("name", "origin"):
                enter("hall", f"{name}: {own}", value)


def _row_texts(row: RackRow) -> dict[str, str]:
    """The racks of a row, and each value that their kinds state, with the racks that have it."""
    out = {"racks": _ranges_text([number for number, _ in row.racks])}
    for own in compared_fields(row.racks[0][1]) if row.racks else ():
        values = [(number, getattr(kind, own)) for number, kind in row.racks]
        if isinstance(values[0][1], SourceSpan):
            continue
        runs = [([n for n, _ in run], value) for value, run in groupby(values, key=lambda x: x[1])]
        said = [
            f"{_ranges_text(numbers)}: {fact_text(value)}" if len(runs) > 1 else fact_text(value)
            for numbers, value in runs
            if value is not None
        ]
        if said:
            out[own] = fact_text(said)
    return out


def _ranges_text(numbers: Sequence[int]) -> str:
    """``1..4, 7``: numbers in their order, runs of successors as a range."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return fact_text([f"{low}..{high}" if low != high else str(low) for low, high in runs])


def _devices_text(fabric: Fabric, rows: Ints, known: Mapping[str, str]) -> str:
    """The first and the last of some devices, and how many they are."""
    ends = [fabric.device_path(int(rows[at])) for at in (0, -1)] if len(rows) else ["nothing"]
    named = " … ".join(dict.fromkeys(known.get(path, path) for path in ends))
    return f"{named} ({len(rows):,} devices)" if len(rows) > 1 else named


# ---------------------------------------------------------------- declarations


def declaration_attributes(declared: DeviceSet) -> dict[str, str]:
    """All that the declaration of devices says, by name; what it does not say has no entry."""
    out: dict[str, str] = {}
    for own in compared_fields(declared):
        value = getattr(declared, own)
        if own == "parts":
            out |= {f"kind of {p.name}": p.kind for p in value[:-1]} | {"kind": value[-1].kind}
        elif own == "settings":
            out |= {name: fact_text(x) for name, x in value.items()}
        elif value not in (None, "", ()):
            out[own] = fact_text(value)
    return out


def _changed_declarations(rows: MatchedRows) -> Iterator[Change]:
    """Settings of declarations that place the same devices, and how ports of these are split."""
    (old, new), before, after = rows.devices, rows.before, rows.after
    columns = before.device_set[old], after.device_set[new], before.device_model[old], after.device_model[new]
    found = np.unique(np.stack(columns), axis=1).T.tolist()
    reported: set[Change] = set()
    for a, b, m, n in sorted(found, key=lambda x: (x[1], x[0])):
        said = [declaration_attributes(f.sets[s]) for f, s in ((before, a), (after, b))]
        models = before.models[m], after.models[n]
        if models[0].name == models[1].name:
            for texts, model in zip(said, models, strict=True):
                texts["split"] = model.variant
        if rows.known and "inside" in said[0] and "inside" in said[1]:
            said[0]["inside"] = said[1]["inside"]  # the devices around are compared by themselves
        path = after.sets[b].path
        for name in dict.fromkeys((*said[0], *said[1])):
            was, now = (texts.get(name, "") for texts in said)
            change = Change(f"{path}: {name}", was, now)
            if was != now and change not in reported and not (rows.known and name.startswith("kind of ")):
                reported.add(change)
                yield change


# ---------------------------------------------------------------- links


def link_settings(statement: LinkStatement) -> dict[str, str]:
    """The settings of a connect, by name, but for those that its links have one by one."""
    return {
        name: fact_text(value)
        for name, value in statement.settings.items()
        if name not in OF_EACH_LINK and not isinstance(value, tree.Str)
    }


Coding = tuple[list[str], NDArray[np.int64]]
"""Texts, and of each row which of them it has."""


def _link_codings(f: Fabric) -> dict[str, Coding]:
    """What each link has, by name."""
    at = f.link_statement.astype(np.int64) + 1
    stated = np.array([False, *("class" in s.settings for s in f.statements)])[at]
    rates, rate_codes = np.unique(f.link_rate, return_inverse=True)
    out: dict[str, Coding] = {
        "rate": ([fact_text(Quantity(Fraction(int(r)), RATE)) for r in rates], rate_codes.ravel()),
        "class": (["", *f.classes], np.where(stated, f.link_class.astype(np.int64) + 1, 0)),
        "medium": (list(MEDIA), f.link_medium.astype(np.int64)),
        "colour": (["", *f.colours], f.link_colour.astype(np.int64) + 1),
        "bundle": _bundle_coding(f.link_bundle),
    }
    said = [link_settings(s) for s in f.statements]
    for name in dict.fromkeys(name for texts in said for name in texts):
        out[name] = ["", *(texts.get(name, "") for texts in said)], at
    return out


def _bundle_coding(bundle: Ints) -> Coding:
    """How many links the bundle of each has."""
    there = bundle >= 0
    sizes = np.bincount(bundle[there]) if there.any() else np.zeros(1, dtype=np.int64)
    size = np.where(there, sizes[np.where(there, bundle, 0)], 0)
    found, codes = np.unique(size, return_inverse=True)
    return [f"{n} links" if n else "" for n in found.tolist()], codes.ravel()


def _changed_links(rows: MatchedRows) -> Iterator[Change]:
    """What links between the same two ports have, one line for all between the same two declarations."""
    old, new = rows.links
    if not len(old):
        return
    codings = [_link_codings(f) for f in (rows.before, rows.after)]
    nothing: Coding = ([""], np.zeros(max(rows.before.link_count, rows.after.link_count), dtype=np.int64))
    for name in dict.fromkeys((*codings[0], *codings[1])):
        sides = [c.get(name, nothing) for c in codings]
        yield from _changes_by_declaration(rows, name, "link", sides)
    same = np.equal(rows.before.link_bundle[old] >= 0, rows.after.link_bundle[new] >= 0)
    other = same & (
        _first_of_group(rows.before.link_bundle[old]) != _first_of_group(rows.after.link_bundle[new])
    )
    yield from _count_by_declaration(rows, "members of bundles", "link", np.flatnonzero(other))
    if (rows.before.link_via_a >= 0).any() or (rows.after.link_via_a >= 0).any():
        vias = [_via_coding(rows, side) for side in (0, 1)]
        yield from _changes_by_declaration(rows, "via", "link", vias)


def _via_coding(rows: MatchedRows, side: int) -> Coding:
    f = (rows.before, rows.after)[side]
    crosses = f.link_via_a >= 0
    crosses[f.circuit_link] = False  # `circuits` shows them
    there = np.flatnonzero(crosses)
    ends = [rows.port_paths(side, column[there]) for column in (f.link_via_a, f.link_via_b)]
    texts = [" and ".join(sorted(pair)) for pair in zip(*ends, strict=True)]
    codes = np.zeros(f.link_count, dtype=np.int64)
    codes[there] = np.arange(len(there)) + 1
    return ["", *texts], codes


def changed_circuits(rows: MatchedRows) -> list[Change]:
    """Circuits that are taken down, then those that are set up: the optical switch, and its two ports."""
    sides = []
    for side, f in enumerate((rows.before, rows.after)):
        names = rows.paths[side]
        at = (names[d] for d in f.port_device[f.circuit_a].tolist())
        ends = [rows.port_paths(side, ports) for ports in (f.circuit_a, f.circuit_b)]
        own = ([x.rpartition(".")[2] for x in pair] for pair in zip(*ends, strict=True))
        circuits = {(ocs, *sorted(pair, key=natural_sort_key)) for ocs, pair in zip(at, own, strict=True)}
        sides.append(dict.fromkeys(sorted(circuits, key=lambda c: [natural_sort_key(x) for x in c])))
    old, new = sides
    out = [Change(ocs, f"{a} to {b}", "") for ocs, a, b in old if (ocs, a, b) not in new]
    return out + [Change(ocs, "", f"{a} to {b}") for ocs, a, b in new if (ocs, a, b) not in old]


def _first_of_group(groups: Ints) -> Ints:
    """Of each row the first row of its group; -1 for a row without a group."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return np.where(groups >= 0, first[inverse.ravel()], -1)


def _changes_by_declaration(
    rows: MatchedRows, name: str, what: str, sides: Sequence[Coding]
) -> Iterator[Change]:
    """Rows whose text is another one, one line for all between the same two declarations with the same two
    texts."""
    old, new = rows.links if what == "link" else rows.legs
    number: dict[str, int] = {}
    joint = [
        np.array([number.setdefault(t, len(number)) for t in texts], dtype=np.int64) for texts, _ in sides
    ]
    was, now = joint[0][sides[0][1][old]], joint[1][sides[1][1][new]]
    texts = list(number)
    differ = np.flatnonzero(was != now)
    count: Counter[tuple[str, int, int]] = Counter(
        zip(
            _between_declarations(rows, what, differ), was[differ].tolist(), now[differ].tolist(), strict=True
        )
    )
    for (between, a, b), n in count.items():
        yield Change(f"{between} ({n:,} {what}{'s' * (n > 1)}): {name}", texts[a], texts[b])


def _count_by_declaration(rows: MatchedRows, name: str, what: str, differ: Ints) -> Iterator[Change]:
    for between, n in Counter(_between_declarations(rows, what, differ)).items():
        yield Change(f"{between} ({n:,} {what}{'s' * (n > 1)}): {name}", "others", "these")


def _between_declarations(rows: MatchedRows, what: str, at: Ints) -> list[str]:
    """The declarations at the ends of matched rows: ``leaf to spine``."""
    f, new = rows.after, (rows.links if what == "link" else rows.legs)[1][at]
    a, b = (f.link_a, f.link_b) if what == "link" else (f.cable_a, f.cable_b)
    paths = [s.path for s in f.sets]
    sets = (f.device_set[f.port_device[ports[new]]].tolist() for ports in (a, b))
    return [f"{paths[x]} to {paths[y]}" for x, y in zip(*sets, strict=True)]


def _changed_legs(rows: MatchedRows) -> Iterator[Change]:
    """What cables between the same two ports have beside their facts."""
    old, new = rows.legs
    if not len(old):
        return
    wires = Wires(rows.before), Wires(rows.after)
    for name in CABLE_COLUMNS:
        sides = []
        for w in wires:
            values = [str(v) for v in w.cables.column(name)]
            if name == "via" and (rows.known or len(w.fabric.circuit_link)):
                values = [""] * len(values)  # `via` of the links shows it by today's names
            found = dict.fromkeys(values)
            number = {text: n for n, text in enumerate(found)}
            codes = np.zeros(len(values), dtype=np.int64)
            codes[w.cable_order[0]] = [number[v] for v in values]
            sides.append((list(found), codes))
        yield from _changes_by_declaration(rows, name, "cable", sides)
    groups = [f.cable_group[at] for f, at in ((rows.before, old), (rows.after, new))]
    other = _first_of_group(groups[0]) != _first_of_group(groups[1])
    yield from _count_by_declaration(rows, "legs of one cable", "cable", np.flatnonzero(other))


# ---------------------------------------------------------------- what is planned and not built


def _changed_plans(rows: MatchedRows) -> Iterator[Change]:
    """Devices and links that are planned and not built, and ports that are held for them."""
    yield from _changed_planned_devices(rows)
    yield from _changed_planned_links(rows)
    yield from _changed_held_ports(rows)


def _changed_planned_devices(rows: MatchedRows) -> Iterator[Change]:
    """Declarations with other planned devices than before, those that are built now or were left out."""
    old, new = (
        {p: bool(b) for p, b in zip(paths, f.built.tolist(), strict=True)}
        for paths, f in zip(rows.paths, (rows.before, rows.after), strict=True)
    )
    changed = {p for p, built in old.items() if p not in new and not built}
    changed |= {p for p, built in new.items() if p not in old and not built}
    if not changed:
        return
    from tdsl.fabric.renamed import path_without_indices

    for name in dict.fromkeys(path_without_indices(p) for p in (*old, *new) if p in changed):
        words = _planned_devices_in_words(
            *(
                [p for p, b in side.items() if not b and path_without_indices(p) == name]
                for side in (old, new)
            )
        )
        yield Change(f"{name}: planned and not built", *words)


def _planned_devices_in_words(before: list[str], after: list[str]) -> tuple[str, str]:
    """How many devices are planned, before and after; where that is equal, with one that the other side does
    not plan."""
    first = second = ""
    if len(before) == len(after):
        first = f" ({next(p for p in before if p not in after)})"
        second = f" ({next(p for p in after if p not in before)})"
    old, new = (f"{len(side):,}" if side else "" for side in (before, after))
    return old + first, new + second


def _changed_planned_links(rows: MatchedRows) -> Iterator[Change]:
    """Links between devices that both plan, with the same state of building in both, that are planned
    otherwise."""
    old, new = rows.devices
    kept = rows.before.built[old] == rows.after.built[new]
    found: list[dict[tuple[str, str], Counter[tuple[str, str, str]]]] = []
    for side, (f, mine) in enumerate(((rows.before, old[kept]), (rows.after, new[kept]))):
        both = np.zeros(f.device_count, dtype=np.bool_)
        both[mine] = True
        paths, said = rows.paths[side], [fact_text(link_settings(s)) for s in f.statements]
        names = [s.path for s in rows.after.sets]
        now = dict(zip(old.tolist(), new.tolist(), strict=True)) if side == 0 else {}
        planned: dict[tuple[str, str], Counter[tuple[str, str, str]]] = defaultdict(Counter)
        for row in np.flatnonzero(both[f.absent_a] & both[f.absent_b]).tolist():
            a, b = int(f.absent_a[row]), int(f.absent_b[row])
            rate = fact_text(Quantity(Fraction(int(f.absent_rate[row])), RATE))
            held = " with ports held" if f.absent_reserved[row] else ""
            about = said[int(f.absent_statement[row])]
            x, y = (names[int(rows.after.device_set[now.get(d, d)])] for d in (a, b))
            ends = sorted((paths[a], paths[b]))
            planned[min(x, y), max(x, y)]["-".join(ends), f"at {rate}{held}", about] += 1
        found.append(planned)
    for pair in dict.fromkeys((*found[0], *found[1])):
        was, now_ = (side.get(pair, Counter()) for side in found)
        if was != now_:
            yield Change(f"{pair[0]} to {pair[1]}: planned links", _planned_text(was), _planned_text(now_))


def _planned_text(links: Counter[tuple[str, str, str]]) -> str:
    """How many, at which rate and with which settings."""
    count: Counter[str] = Counter()
    for (_, how, about), n in links.items():
        count[f"{how}{f', {about}' * bool(about)}"] += n
    return "; ".join(f"{n:,} {how}" for how, n in count.items())


def _changed_held_ports(rows: MatchedRows) -> Iterator[Change]:
    """Ports that are held for what is planned on one side, and free on the other."""
    if not any((f.port_state == HOLE).any() for f in (rows.before, rows.after)):
        return
    sides = (rows.before, rows.after)
    held, used = (
        [set(rows.port_paths(side, np.flatnonzero(f.port_state == state))) for side, f in enumerate(sides)]
        for state in (HOLE, USED)
    )
    devices = [set(paths) for paths in rows.paths]
    count: dict[str, Counter[int]] = defaultdict(Counter)
    from tdsl.fabric.renamed import path_without_indices

    for side in (0, 1):
        for port in held[side] - held[1 - side] - used[1 - side]:
            device = port.rpartition(".")[0]
            if device in devices[1 - side]:
                count[path_without_indices(device)][side] += 1
    for name, n in sorted(count.items()):
        texts = f"{n[0]:,} that are free now", f"{n[1]:,} that were free"
        yield Change(f"{name}: ports held", *(text if n[side] else "" for side, text in enumerate(texts)))


# ---------------------------------------------------------------- how a comparison uses it


def words_without_difference(rows: MatchedRows, changed: Mapping[str, object]) -> frozenset[str]:
    """Words of statements of which both fabrics hold all values, and the same ones: other texts of them say
    the same."""
    own = [{word for word, _ in fabric_attributes(f, {})} for f in (rows.before, rows.after)]
    whole = bool(rows.before.built.all() and rows.after.built.all())
    return (
        frozenset((*COMPARED_WORDS, *COMPARED_WORDS_IF_BUILT) if whole else COMPARED_WORDS)
        & own[0]
        & own[1] - changed.keys()
    )


def unreported_changes(
    changed: Mapping[str, list[Change]], reported: set[str], facts: set[str]
) -> list[Change]:
    """What differs but for statements that are ``reported`` as text and settings whose ``facts`` of cables
    are shown."""
    return [
        x
        for word, changes in changed.items()
        if word not in reported
        for x in changes
        if OF_CABLES.get(x.what.rpartition(": ")[2]) not in facts
    ]


def changed_mounting(rows: MatchedRows) -> list[Change]:
    """Devices of both that are mounted elsewhere now, or in no rack, or not any more."""
    old, new = rows.devices
    sides = (rows.before, old), (rows.after, new)
    texts = [_mounting_texts(f, at) for f, at in sides]
    paths = rows.paths[1] if texts[0] != texts[1] else []
    return (
        [Change(paths[d], a, b) for d, a, b in zip(new.tolist(), *texts, strict=True) if a != b]
        if paths
        else []
    )


def _mounting_texts(fabric: Fabric, devices: Ints) -> list[str]:
    """Hall, rack and unit of devices, "" where they have none."""
    p = fabric.places
    if p is None:
        return [""] * len(devices)
    racks = [f"{p.hall_name(r)} {p.rack_name(r)}" for r in range(p.rack_count)]
    at = zip(p.device_rack[devices].tolist(), p.device_unit[devices].tolist(), strict=True)
    return [f"{racks[r]}{f' unit {u}' * (u > 0)}" if r >= 0 else "" for r, u in at]
