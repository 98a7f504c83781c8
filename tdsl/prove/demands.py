"""Traffic patterns: who sends how much to whom, as whole numbers over the units of a view.

A pattern is a word and its arguments (``ring``, ``shift 3``, ``permutation "file.csv"``) or the name of a
file with a matrix. Files lie beside the design; they are read, never written.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal, DecimalException
from pathlib import Path, PurePosixPath

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Ints
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun
from tdsl.system.read import FileTooLarge, folder_entries, read_text_file
from tdsl.system.similar import closest_name

BYTES = 32 * 1024 * 1024
"""Size of a file that is read at most."""

DIGITS = 6
"""Decimal places of an amount; more are refused rather than rounded."""

MOST = 10**12
"""The greatest amount."""


PERMUTATION = "permutation"
RAILS = "rail_allreduce"
"""The pattern that is by rail whatever lies inside the hosts."""


class UnfitDemand(Exception):
    """A pattern that says nothing about this fabric; the text says why, with file and line."""


def unreachable_pair(view: View, demand: TrafficDemand | None) -> tuple[int, int] | None:
    """Two units (their places) that exchange traffic and have no path, the first such pair; None if all have
    one. ``demand`` None: every pair exchanges."""
    at = view.attachment
    place = np.full(view.fabric.device_count, -1, dtype=np.int64)
    place[view.units] = np.arange(len(view.units))
    mine = place[at.end] >= 0
    unit, hub = place[at.end[mine]], at.hub[mine]
    if len(view.units) and len(np.unique(unit)) == len(view.units) and len(np.unique(hub)) == 1:
        return None
    kinds: dict[frozenset[int], int] = {}
    hubs_of = _hub_sets_of_units(len(view.units), unit, hub)
    kind = [kinds.setdefault(hubs, len(kinds)) for hubs in hubs_of]
    apart = {(i, j) for i, x in enumerate(kinds) for j, y in enumerate(kinds) if not x & y}
    if not apart:
        return None
    if demand is None:
        first = {k: u for u, k in reversed(list(enumerate(kind)))}
        return min(
            (min(first[i], first[j]), max(first[i], first[j]))
            for i, j in apart
            if i != j or not list(kinds)[i]
        )
    pairs = zip(demand.source.tolist(), demand.target.tolist(), strict=True)
    return next(((s, t) for s, t in pairs if (kind[s], kind[t]) in apart), None)


def _hub_sets_of_units(count: int, unit: Ints, hub: Ints) -> list[frozenset[int]]:
    """The hubs of each of so many units, of rows of a unit and a hub."""
    found: list[set[int]] = [set() for _ in range(count)]
    for u, h in zip(unit.tolist(), hub.tolist(), strict=True):
        found[u].add(h)
    return [frozenset(hubs) for hubs in found]


@dataclass(frozen=True, slots=True)
class TrafficDemand:
    """What is to be sent: from unit ``source[i]`` to ``target[i]`` (places among the view's units)
    ``amount[i]``, whole numbers of which only the proportions count. ``ring``: it is each to the next one."""

    source: Ints
    target: Ints
    amount: Ints
    ring: bool = False


def demand_of(view: View, claim: ResolvedClaim) -> TrafficDemand:
    """The demand that a requirement's arguments name. After failures a ring or a shift goes over the units
    that are left, and a file names those of the intact view: what a lost unit would send or receive is left
    out. Raises Unfit."""
    head, *rest = claim.args
    whole = view.intact or view
    if isinstance(head, str) and "." in head and not rest:
        return _surviving_demand(whole, view, _matrix_demand(whole, claim, head))
    if head == PERMUTATION:
        return _surviving_demand(whole, view, _permutation_demand(whole, claim, *rest))
    make = PATTERNS.get(str(head))
    if make is None:
        known = sorted({*PATTERNS, PERMUTATION, "all_to_all"})
        if str(head) in known:
            more = " ".join(str(a) for a in rest)
            raise UnfitDemand(
                f"`throughput {head}` takes nothing like `{more}` behind it; a layer follows `through`"
            )
        near = closest_name(str(head), known)
        raise UnfitDemand(
            f"there is no pattern `{head}`; "
            + (f"did you mean `{near}`? There are " if near else "there are ")
            + f"{', '.join(known)}, and files such as "
            '"matrix.csv"'
        )
    return make(view, claim, *rest)


def _surviving_demand(whole: View, view: View, demand: TrafficDemand) -> TrafficDemand:
    """A demand between the units of the intact view, as far as its units are left."""
    if view is whole:
        return demand
    place = np.full(view.fabric.device_count, -1, dtype=np.int64)
    place[view.units] = np.arange(len(view.units))
    source, target = place[whole.units[demand.source]], place[whole.units[demand.target]]
    kept = (source >= 0) & (target >= 0)
    if not kept.any():
        raise UnfitDemand("no two that exchange traffic are left")
    return TrafficDemand(source[kept], target[kept], demand.amount[kept])


def _shift_demand(view: View, claim: ResolvedClaim, *args: object) -> TrafficDemand:
    count = len(view.units)
    if len(args) != 1 or isinstance(args[0], bool) or not isinstance(args[0], int):
        raise UnfitDemand("`shift` takes how far: write `throughput shift 1`")
    if args[0] % count == 0:
        raise UnfitDemand(f"a shift by {args[0]} sends all {count} {view.unit_word} to themselves")
    order = np.arange(count)
    return TrafficDemand(order, (order + args[0] % count) % count, np.ones(count, dtype=np.int64))


def _ring_demand(view: View, claim: ResolvedClaim, *args: object) -> TrafficDemand:
    if args:
        raise UnfitDemand("`ring` takes nothing more")
    return replace(_shift_demand(view, claim, 1), ring=True)


def _rail_allreduce(view: View, claim: ResolvedClaim, *args: object) -> TrafficDemand:
    if view.direct:
        raise UnfitDemand("endpoints that forward have no rails: ask for `ring`")
    return _ring_demand(view, claim, *args)


def _permutation_demand(view: View, claim: ResolvedClaim, *args: object) -> TrafficDemand:
    if len(args) != 1 or not isinstance(args[0], str):
        raise UnfitDemand(
            '`permutation` takes a file of lines `from,to`: write `throughput permutation "pairs.csv"`'
        )
    apart = {a: b for a, b in _pairs_of_permutation(view, claim, args[0]).items() if a != b}
    if not apart:
        raise UnfitDemand(f"{args[0]}: nobody sends to anybody else")
    return TrafficDemand(np.array([*apart]), np.array([*apart.values()]), np.ones(len(apart), dtype=np.int64))


def _pairs_of_permutation(view: View, claim: ResolvedClaim, name: str) -> dict[int, int]:
    """The target of each source that a file names. Raises Unfit where one occurs twice."""
    known = _unit_by_name(view)
    pairs: dict[int, int] = {}
    taken: dict[int, int] = {}
    for line, cells in _csv_rows_beside_design(claim, name):
        if len(cells) != 2:
            raise UnfitDemand(
                f"{name}:{line}: a line is `from,to`, and this has {counted_noun(len(cells), 'field')}"
            )
        if line == 1 and [c.lower() for c in cells] == ["from", "to"]:
            continue
        a, b = (_unit_named(known, c, name, line) for c in cells)
        if a in pairs or b in taken:
            raise UnfitDemand(f"{name}:{line}: {cells[0] if a in pairs else cells[1]} occurs twice")
        pairs[a] = taken[b] = b
    return pairs


PATTERNS: Mapping[str, Callable[..., TrafficDemand]] = {
    PERMUTATION: _permutation_demand,
    RAILS: _rail_allreduce,
    "ring": _ring_demand,
    "shift": _shift_demand,
}
"""The patterns by name."""


ORDERED = frozenset({"ring", "shift", RAILS})
"""Patterns that read the order of the units and nothing else of who they are."""


# ---------------------------------------------------------------- files


def _matrix_demand(view: View, claim: ResolvedClaim, name: str) -> TrafficDemand:
    """A square of amounts, a line a sender in the order of the design; or lines ``from,to,amount`` under that
    header."""
    rows = list(_csv_rows_beside_design(claim, name))
    count = len(view.units)
    found: dict[tuple[int, int], int] = {}
    if rows and [c.lower() for c in rows[0][1]] == ["from", "to", "amount"]:
        known = _unit_by_name(view)
        for line, cells in rows[1:]:
            if len(cells) != 3:
                raise UnfitDemand(
                    f"{name}:{line}: a line is `from,to,amount`, and this has "
                    f"{counted_noun(len(cells), 'field')}"
                )
            key = _unit_named(known, cells[0], name, line), _unit_named(known, cells[1], name, line)
            found[key] = found.get(key, 0) + _scaled_amount(cells[2], name, line)
    else:
        if len(rows) != count:
            raise UnfitDemand(
                f"{name}: {counted_noun(len(rows), 'line')}, and there are {count} {view.unit_word}"
            )
        for sender, (line, cells) in enumerate(rows):
            if len(cells) != count:
                raise UnfitDemand(
                    f"{name}:{line}: {counted_noun(len(cells), 'field')}, and there are {count} "
                    f"{view.unit_word}"
                )
            found |= {
                (sender, to): amount
                for to, c in enumerate(cells)
                if (amount := _scaled_amount(c, name, line))
            }
    found = {pair: amount for pair, amount in found.items() if amount and pair[0] != pair[1]}
    if not found:
        raise UnfitDemand(f"{name}: nobody sends to anybody else")
    source, target = np.array(list(found), dtype=np.int64).T
    return TrafficDemand(source, target, np.array(list(found.values()), dtype=np.int64))


def _csv_rows_beside_design(claim: ResolvedClaim, name: str) -> Iterator[tuple[int, list[str]]]:
    """Lines of a file beside the design, with their numbers; empty ones and those that begin with `#` are
    left out."""
    reader = csv.reader(_text_beside_design(claim, name).splitlines())
    try:
        for row in reader:
            cells = [c.strip() for c in row]
            if any(cells) and not cells[0].startswith("#"):
                if len(cells) == 1 and (sign := next((c for c in ";\t" if c in cells[0]), "")):
                    shown = "a tab" if sign == "\t" else f"`{sign}`"
                    raise UnfitDemand(f"{name}:{reader.line_num}: write `,` between fields, not {shown}")
                yield reader.line_num, cells
    except csv.Error as wrong:
        raise UnfitDemand(f"{name}:{reader.line_num}: {wrong}") from None


def _text_beside_design(claim: ResolvedClaim, name: str) -> str:
    """The text of a file of demands in the folder of the design. Raises Unfit."""
    inside = PurePosixPath(name)
    home = claim.origin.span.file.name
    if inside.is_absolute() or ".." in inside.parts or "\\" in name:
        raise UnfitDemand(f"{name}: the file must be in the folder of the design")
    if inside.suffix != ".csv":
        raise UnfitDemand(f"{name}: a file of demands ends in `.csv`")
    if home.startswith("stdlib:"):
        raise UnfitDemand(f"{name}: a design of the standard library has no files beside it")
    path = Path(home).parent / name
    try:
        return read_text_file(path, BYTES, within=[path.parent], encoding="utf-8-sig")
    except FileTooLarge:
        raise UnfitDemand(f"{name}: larger than {BYTES // 2**20} MiB") from None
    except FileNotFoundError as fault:
        beside = [n.removesuffix(".csv") for n in folder_entries(path.parent) if n.endswith(".csv")]
        near = closest_name(path.stem, beside[:200], 0.8)
        meant = f"; did you mean {inside.with_name(near)}.csv?" if near else ""
        raise UnfitDemand(f"{path}: {fault.strerror}{meant}") from None
    except OSError as fault:
        raise UnfitDemand(f"{path}: {fault.strerror or fault}") from None
    except UnicodeDecodeError:
        raise UnfitDemand(f"{name}: this is not a text file") from None


def _scaled_amount(text: str, name: str, line: int) -> int:
    """A number of at most so many decimal places, as a whole number of the smallest."""
    try:
        given = Decimal(text)
        value = given.scaleb(DIGITS)  # rounds to 28 digits
        if len(given.as_tuple().digits) > 28:
            raise ValueError("more digits than are kept")
        whole = int(value) if value.is_finite() and value.adjusted() < 60 else -1
    except (DecimalException, ValueError, OverflowError):
        raise UnfitDemand(f"{name}:{line}: {text[:40]!r} is not a number") from None
    if not 0 <= whole <= MOST * 10**DIGITS or whole != value:
        raise UnfitDemand(
            f"{name}:{line}: {text[:40]} is not an amount: from 0 to {MOST:,}, with {DIGITS} decimal "
            "places at most"
        )
    return whole


def _unit_by_name(view: View) -> dict[str, int]:
    """Units by path, by name and by their number in the order of the design."""
    out: dict[str, int] = {}
    for at, d in enumerate(view.units.tolist()):
        for word in (str(at), view.fabric.device_name(d), view.fabric.device_path(d)):
            out[word] = at
    return out


def _unit_named(known: dict[str, int], text: str, name: str, line: int) -> int:
    if text not in known:
        heading = text.lower() in ("source", "src", "sender", "dest", "dst", "target", "receiver", "a", "b")
        if line == 1 and heading:
            raise UnfitDemand(f"{name}:{line}: the columns are `from` and `to`; write `from,to` in this line")
        near = closest_name(text, known, 0.75) if len(known) < 20_000 and text[:1].isalpha() else ""
        range_ = f"; numbers go from 0 to {max(known.values())}" if text.isdigit() and known else ""
        meant = f"; did you mean {near}?" if near else range_
        raise UnfitDemand(f"{name}:{line}: {text[:60]!r} is none of the ends of this fabric{meant}")
    return known[text]
