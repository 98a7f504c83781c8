"""The bill of materials: what to order for a fabric, line by line, with what is not known said as such."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import Bools, Fabric
from tdsl.fabric.part_facts import MICRO, fact_values, is_built_in, lengths_of, optic_watts, part_display_name
from tdsl.physical.articles import Article, racks_bought_with_contents
from tdsl.physical.cords import cords_of, power_cords
from tdsl.physical.part_choice import PartChoice
from tdsl.physical.power_and_cost import Figures, price_of_part
from tdsl.physical.racks import watts_of_model
from tdsl.physical.stated import stated_lengths
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.provenance import searched_by_model
from tdsl.semantics.quantity import LENGTH, Quantity
from tdsl.semantics.supply import Spares, Supply
from tdsl.system.lazy_dataclass import dataclass

KINDS = ("rack", "host", "chip", "switch", "ocs", "panel", "optic", "cable", "cord", "label")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the bill. ``place`` says where it belongs: the model that a transceiver goes into, the
    class of a cable. ``length_m``, watts and prices are "" where unknown or without meaning; ``note`` says
    what must be settled. ``price`` is that of ``quantity``. ``spares`` are ordered beside it; they are
    counted once for each part and length, on its first line. ``lead_days`` is "" where not stated,
    ``alternative`` the parts that may be bought instead, separated by spaces."""

    kind: str
    model: str
    description: str
    order_number: str = ""
    place: str = ""
    length_m: int | float | str = ""
    quantity: int = 0
    unit_watts: int | float | str = ""
    unit_price: int | float | str = ""
    price: int | float | str = ""
    spares: int | str = ""
    spares_price: int | float | str = ""
    lead_days: int | str = ""
    alternative: str = ""
    note: str = ""


def number_cell(value: Fraction | None) -> int | float | str:
    """An amount as a cell, "" where unknown."""
    if value is None:
        return ""
    return int(value) if value.denominator == 1 else float(value)


def order_number(part: DeviceModel, micrometres: int) -> str:
    """What to order: the part's number, or for a length its code behind the part's name; "" where the
    catalogue has none."""
    lengths = [v.amount for v in fact_values(part, "lengths") if isinstance(v, Quantity) and v.dim == LENGTH]
    codes = [str(c) for c in fact_values(part, "codes")]
    for length, code in zip(lengths, codes, strict=False):
        if int(length * MICRO) == micrometres:
            return code
    return str(part.facts.get("part", ""))


def bill_of_materials(fabric: Fabric) -> list[Line]:
    """All lines, by kind, then by name and length."""
    figures = Figures(fabric)
    lines = [
        *_rack_bill_lines(fabric),
        *_device_bill_lines(figures),
        *_optic_bill_lines(figures),
        *_cable_bill_lines(figures),
        *_cord_bill_lines(fabric),
    ]
    plugs = len(fabric.cable_a) + int(
        (fabric.cable_leg <= 1).sum()
    )  # a break-out has one end that its legs share
    if plugs:
        lines.append(Line("label", "cable label", "one for each plug of each cable", quantity=plugs))
    lines.sort(
        key=lambda x: (
            KINDS.index(x.kind),
            x.model,
            x.place,
            x.length_m if not isinstance(x.length_m, str) else -1,
        )
    )
    return _add_supply_columns(lines, fabric)


def _add_supply_columns(lines: list[Line], fabric: Fabric) -> list[Line]:
    """The lines with spares, lead times and alternatives: those of the user's file by name, then by kind,
    else the model's."""
    facts = {part_display_name(m): m.facts for m in (*fabric.parts, *fabric.models)} | {
        m.name: m.facts for m in fabric.models
    }
    total: Counter[tuple[str, str, object]] = Counter()
    for x in lines:
        total[x.kind, x.model, x.length_m] += x.quantity
    return [
        _with_supply(x, fabric.supply, facts.get(x.model, {}), total.pop((x.kind, x.model, x.length_m), 0))
        for x in lines
    ]


def _with_supply(x: Line, supply: Supply, stated: Mapping[str, object], ordered: int) -> Line:
    """A line with its spares, lead time and alternatives. ``stated`` are the facts of its model, ``ordered``
    is how many pieces its spares are for, 0 where another line has them."""
    name = x.model.replace("-", "_")
    wanted = supply.spares.get(name) or supply.spares.get(x.kind) or stated.get("spares")
    lead = supply.lead_days.get(name, supply.lead_days.get(x.kind, stated.get("lead", "")))
    others = supply.alternatives.get(name) or stated.get("alternative", ())
    spare: int | str = ""
    if isinstance(wanted, Spares) and x.model != "?":
        spare = wanted.of(ordered) if ordered else 0
    each = x.unit_price
    price = round(spare * each, 10) if isinstance(spare, int) and not isinstance(each, str) else ""
    return replace(
        x,
        spares=spare,
        lead_days=lead if isinstance(lead, int) else "",
        spares_price=price,
        alternative=" ".join(map(str, others)) if isinstance(others, tuple) else "",
    )


def _with_watts_and_price(line: Line, watts: Fraction | None, each: Fraction | None) -> Line:
    """A line with the power and the price of one piece, None where unknown."""
    total = None if each is None else each * line.quantity
    return replace(
        line, unit_watts=number_cell(watts), unit_price=number_cell(each), price=number_cell(total)
    )


def _rack_bill_lines(f: Fabric) -> list[Line]:
    """Racks that hold devices: those with accelerators, and the others, for switches and management."""
    p = f.places
    if p is None:
        return []
    rows = np.flatnonzero(f.built & (f.container < 0) & (p.device_rack >= 0))
    bought = racks_bought_with_contents(f)
    compute = set(p.device_rack[rows[f.role[rows] == "accelerator"]].tolist())
    count = Counter((p.rack_kind[r].height, r in compute) for r in set(p.device_rack[rows].tolist()) - bought)
    out = []
    for (height, with_hosts), n in sorted(count.items(), key=lambda x: (x[0][0] or 0, not x[0][1])):
        what = "compute rack" if with_hosts else "management rack"
        name = f"rack {height}U" if height is not None else "rack"
        note = "" if height is not None else "the height is not stated"
        holds = "holds hosts with accelerators" if with_hosts else "holds switches, managers and other hosts"
        out.append(Line("rack", name, holds, place=what, quantity=n, note=note))
    return out


def _device_bill_lines(figures: Figures) -> list[Line]:
    f = figures.fabric
    rows = np.flatnonzero(figures.mounted)
    alone = dict(figures.purchases.alone)
    models = {m.name: m for m in f.models}
    out = [_article_line(x, models) for x in figures.purchases.articles]
    count: dict[
        tuple[str, str], list[int]
    ] = {}  # a model whose ports are split in several ways is one thing to order
    for m, n in enumerate(np.bincount(f.device_model[rows], minlength=len(f.models)).tolist()):
        if n:
            count.setdefault((f.models[m].kind, f.models[m].name), [m, 0])[1] += n
    for m, n in count.values():
        model = f.models[m]
        n = min(n, alone.get(model.name, 0))  # the others are in an article
        if not n:
            continue
        note = "" if f.places is None else "; ".join(_open_facts_of_device(model))
        line = Line(
            model.kind, model.name, model.title, str(model.facts.get("part", "")), quantity=n, note=note
        )
        out.append(_with_watts_and_price(line, watts_of_model(model), price_of_part(model, f.prices)))
    return out


def _open_facts_of_device(model: DeviceModel) -> list[str]:
    """What has to be stated of a device before it can be ordered with all that it needs."""
    out: list[str] = []
    if model.kind == "panel":
        return out
    if model.kind == "switch" and "airflow" not in model.facts:
        out.append("state the direction of airflow")
    if watts_of_model(model) is None:
        searched = searched_by_model(model, "power")
        out.append("its power is not published: state yours" if searched else "state its power")
    if not cords_of(model)[0]:
        out.append("state its power cords (`cords N, PLUG`): none are in this bill")
    return out


def _article_line(x: Article, models: Mapping[str, DeviceModel]) -> Line:
    """The line of an article with what it holds, and its power where that of all of it is known."""
    s = x.sold
    inside = ((x.model, s.pieces), *s.holds)
    held = ", ".join(f"{n} {name}" for name, n in inside)
    holds = f"holds {held}" if s.pieces > 1 or s.holds else f"holds a {x.model}"
    whole = s.pieces * x.quantity
    unused = f"; {x.used} of {whole} {x.model} are used" if x.used != whole else ""
    text = "; ".join(t for t in (s.title, holds) if t) + unused
    place = "compute rack" if s.by_rack else ""
    each = {name: watts_of_model(models[name]) if name in models else None for name, _ in inside}
    known = sum((w * n for name, n in inside if (w := each[name]) is not None), Fraction(0))
    unknown = [name for name, _ in inside if each[name] is None]
    note = f"its power is more than {number_cell(known)} W: that of {', '.join(unknown)} is not stated"
    line = Line(x.kind, s.article, text, place=place, quantity=x.quantity, note=note if unknown else "")
    return _with_watts_and_price(line, None if unknown else known, x.each)


def _cord_bill_lines(f: Fabric) -> list[Line]:
    """Power cords of the devices that have a place, by the model that they go into."""
    count = Counter((c.model, c.plug) for c in power_cords(f))
    out = []
    for (model, plug), n in sorted(count.items()):
        note = (
            "choose the length to the feed"
            if plug
            else "state the plug (`cords N, PLUG`), and choose the length to the feed"
        )
        name = f"power cord {plug}".strip()
        out.append(Line("cord", name, "one for each power supply", place=model, quantity=n, note=note))
    return out


def _optic_bill_lines(figures: Figures) -> list[Line]:
    f, found = figures.fabric, figures.optics
    out = []
    names = [m.name for m in f.models]
    count = Counter(
        zip(found.part.tolist(), (names[m] for m in f.device_model[found.device].tolist()), strict=True)
    )
    for (part, name), n in sorted(count.items()):
        optic = found.parts[part]
        if is_built_in(optic):
            continue
        number = str(optic.facts.get("part", ""))
        line = Line("optic", part_display_name(optic), optic.title, number, name, quantity=n)
        out.append(_with_watts_and_price(line, optic_watts(optic), price_of_part(optic, f.prices)))
    whys = (found.whys[k] for k in found.open_why.tolist())
    lacking = Counter(zip((names[m] for m in f.device_model[found.open_ends].tolist()), whys, strict=True))
    for (name, why), n in sorted(lacking.items()):
        what = "no transceiver is chosen for these cable ends"
        note = f"to be settled: {why}" if why else "to be settled"
        out.append(Line("optic", "?", what, place=name, quantity=n, note=note))
    return out


def _cable_bill_lines(figures: Figures) -> list[Line]:
    f, physical = figures.fabric, figures.physical
    plain = f.cable_leg <= 1
    classes = [f.classes[c] if c >= 0 else "" for c in range(len(f.classes))] + [""]
    out = []
    if physical is None:
        return _cable_lines_by_statement(f, plain, classes)
    number_of, choices = physical.parts.group
    sold, confirmed = physical.parts.sold
    run = physical.lengths.run
    keys = zip(
        number_of[plain].tolist(),
        f.cable_class[plain].tolist(),
        sold[plain].tolist(),
        confirmed[plain].tolist(),
        (run[plain] >= 0).tolist(),
        strict=True,
    )
    merged: Counter[tuple[str, str, str, int | float | str, str]] = Counter()
    price_of: dict[str, Fraction | None] = {}
    watts_of: dict[str, Fraction | None] = {}
    titles: dict[str, str] = {}
    for (k, c, length, sure, known), n in Counter(keys).items():
        cable = choices[k].cable
        name = part_display_name(cable) if cable is not None else "?"
        price_of[name] = price_of_part(cable, f.prices) if cable is not None else None
        watts_of[name] = optic_watts(cable) if cable is not None else None
        titles[name] = cable.title if cable is not None else ""
        note = _note_of_cable(choices[k], length, sure, known)
        metres = "" if length < 0 else number_cell(Fraction(length, MICRO))
        code = order_number(cable, length) if cable is not None else ""
        merged[name, code, classes[c], metres, note] += n
    for (name, code, where, length_m, note), n in merged.items():
        line = Line("cable", name, titles[name], code, where, length_m, n, note=note)
        out.append(_with_watts_and_price(line, watts_of[name], price_of[name]))
    return out


def _note_of_cable(choice: PartChoice, length: int, sure: bool, known: bool) -> str:
    """What must be settled about a cable. ``length`` is the one that is sold, negative for none, and ``sure``
    where a list has it; ``known``: whether the run is."""
    cable = choice.cable
    if cable is None:
        note = choice.why
    elif length >= 0:
        note = "" if sure else _note_of_unconfirmed(cable, length)
    elif not known:
        note = "the length is unknown: confirm that the part reaches"
    else:
        listed = {"lengths", "unconfirmed"} & set(cable.facts)
        note = "longer than what is sold" if listed else "no length is stated for this part"
    said = str(cable.facts.get("note", "")) if cable is not None else ""  # such as "no longer sold"
    return "; ".join(x for x in (note, said) if x)


def _note_of_unconfirmed(cable: DeviceModel, length: int) -> str:
    """What must be asked of a length in micrometres that no source has, with the next one that a source
    has."""
    longer = [x for x in lengths_of(cable)[0] if x > length]
    known = f"; the next that is: {number_cell(Fraction(longer[0], MICRO))} m" if longer else ""
    return f"confirm: this length is not in a published list{known}"


def _cable_lines_by_statement(f: Fabric, plain: Bools, classes: list[str]) -> list[Line]:
    """The cables of a fabric without places, by the parts and lengths that its statements name."""
    out = []
    named = [s.settings.get("cable", "?") for s in f.statements]
    stated = stated_lengths(f)[plain].tolist()
    count = Counter(
        zip(f.cable_statement[plain].tolist(), f.cable_class[plain].tolist(), stated, strict=True)
    )
    for (statement, c, length), n in sorted(count.items()):
        part = f.statements[statement].settings.get("part")
        model = part if isinstance(part, DeviceModel) else None
        code = order_number(model, length) if model is not None and length >= 0 else ""
        metres = "" if length < 0 else number_cell(Fraction(length, MICRO))
        note = "no length: no places" if length < 0 else ""
        each = price_of_part(model, f.prices) if model is not None else None
        name, title = (
            (part_display_name(model), model.title) if model is not None else (str(named[statement]), "")
        )
        line = Line("cable", name, title, code, classes[c], metres, n, note=note)
        out.append(_with_watts_and_price(line, None if model is None else optic_watts(model), each))
    return out
