"""``tdsl show``: the fabric that a design describes, as tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._jobs import JOB, JobView, print_jobs
from tdsl.commands._rows import FORMATS, OutputRows, print_csv, print_json, print_table
from tdsl.commands._shared import (
    OK,
    Source,
    Wrong,
    compile_sources,
    design_options,
    exit_status_of,
    fail_options,
    failed_elements,
    limit_options,
    options_from_command,
    output_format_option,
    places_option,
    save_text,
    show_findings,
    write_to_stream,
)
from tdsl.commands._untrusted import with_untrusted_option
from tdsl.report.paint import terminal_safe_line

if TYPE_CHECKING:
    from fractions import Fraction

    from tdsl.compile.compiler import Compilation, Design
    from tdsl.fabric.addresses import Addressing
    from tdsl.fabric.graph import Fabric
    from tdsl.findings.source import Origin
    from tdsl.verify.schedules import ShownSchedule

PORT_STATES = ("free", "used", "reserved", "used inside")


def table_of_devices(fabric: Fabric) -> OutputRows:
    """Every device that is built."""
    linked = _link_count_by_device(fabric)

    def body() -> Iterator[tuple[object, ...]]:
        for d in range(fabric.device_count):
            if fabric.built[d]:
                s, model = fabric.set_of(d), fabric.model_of(d)
                tier, plane = int(fabric.tier[d]), int(fabric.plane[d])
                yield (
                    fabric.device_name(d),
                    fabric.device_path(d),
                    s.kind,
                    s.role,
                    model.name,
                    tier if tier >= 0 else None,
                    plane if plane >= 0 else None,
                    model.port_count,
                    linked[d],
                    *_network_cell(fabric, s.prefix),
                )

    head = ("device", "path", "kind", "role", "model", "tier", "plane", "ports", "links")
    return OutputRows((*head, *_network_heading(fabric)), body())


def _network_heading(fabric: Fabric) -> tuple[str, ...]:
    """The column of a cluster's tables that says which network a row is of; shared devices are of none."""
    return ("network",) if fabric.members else ()


def _network_cell(fabric: Fabric, name: str) -> tuple[str, ...]:
    return (name,) if fabric.members else ()


def _networks_of_links(fabric: Fabric) -> list[str]:
    """The network of every link of a cluster."""
    out = [""] * fabric.link_count
    for member, rows in zip(fabric.members, fabric.member_links, strict=True):
        for row in rows.tolist():
            out[row] = member.name
    return out


def _link_count_by_device(fabric: Fabric) -> list[int]:
    import numpy as np

    ends = np.concatenate((fabric.device_a, fabric.device_b))
    counts: list[int] = np.bincount(ends, minlength=fabric.device_count).tolist()
    return counts


def table_of_ports(fabric: Fabric) -> OutputRows:
    """Every port of the devices that are built, and what it is linked to."""

    def body() -> Iterator[tuple[object, ...]]:
        link_a, link_b, port_link = fabric.link_a.tolist(), fabric.link_b.tolist(), fabric.port_link.tolist()
        for d in range(fabric.device_count):
            if not fabric.built[d]:
                continue
            name = fabric.device_name(d)
            for p in range(int(fabric.port_base[d]), int(fabric.port_base[d + 1])):
                c, i = fabric.port_class(p)
                link, far = port_link[p], ""
                if link >= 0:
                    far = _device_and_port(fabric, link_b[link] if link_a[link] == p else link_a[link])
                yield (
                    name,
                    c.path(i),
                    fabric.port_label(p),
                    fabric.port_system(p),
                    fabric.port_cage(p),
                    c.rate / 1e9 if c.rate is not None else None,
                    PORT_STATES[int(fabric.port_state[p])],
                    far,
                )

    return OutputRows(
        ("device", "port", "label", "system", "cage", "rate_gbps", "state", "linked_to"), body()
    )


def _device_and_port(fabric: Fabric, port: int) -> str:
    c, i = fabric.port_class(port)
    return f"{fabric.device_name(int(fabric.port_device[port]))} {c.path(i)}"


def table_of_links(fabric: Fabric) -> OutputRows:
    """Every link: what the network sees."""
    from tdsl.fabric.graph import MEDIA

    network = _networks_of_links(fabric)

    def body() -> Iterator[tuple[object, ...]]:
        for i in range(fabric.link_count):
            via = int(fabric.link_via_a[i])
            yield (
                *_devices_and_ports(fabric, int(fabric.link_a[i]), int(fabric.link_b[i])),
                int(fabric.link_rate[i]) / 1e9,
                fabric.classes[int(fabric.link_class[i])],
                MEDIA[int(fabric.link_medium[i])],
                fabric.device_name(int(fabric.port_device[via])) if via >= 0 else "",
                *_network_cell(fabric, network[i]),
            )

    head = ("a_device", "a_port", "b_device", "b_port", "rate_gbps", "class", "medium", "via")
    return OutputRows((*head, *_network_heading(fabric)), body())


def table_of_cables(fabric: Fabric) -> OutputRows:
    """Every cable that is pulled, a row a leg."""

    network = [f.name for f in fabric.members for _ in range(len(f.cable_a))] or [""] * len(fabric.cable_a)

    def body() -> Iterator[tuple[object, ...]]:
        for i in range(len(fabric.cable_a)):
            yield (
                int(fabric.cable_group[i]),
                int(fabric.cable_leg[i]) or None,
                *_devices_and_ports(fabric, int(fabric.cable_a[i]), int(fabric.cable_b[i])),
                int(fabric.cable_links[i]),
                fabric.classes[int(fabric.cable_class[i])],
                *_network_cell(fabric, network[i]),
            )

    head = ("cable", "leg", "a_device", "a_port", "b_device", "b_port", "links", "class")
    return OutputRows((*head, *_network_heading(fabric)), body())


def table_of_addresses(fabric: Fabric) -> OutputRows:
    """Every address and ASN that the design gives, planned members included, and file and line of the
    statement that does; of a cluster those that each of its fabrics gives, what two give in the same way
    once."""
    head = ("device", "kind", "interface", "address", "network", "vrf", "peer", "asn", "file", "line")
    rows = [row for f in fabric.members or (fabric,) if f.addressing for row in _address_table_rows(f)]
    return OutputRows(head, list({row[:-2]: row for row in rows}.values()) if fabric.members else rows)


def _address_table_rows(fabric: Fabric) -> Iterator[tuple[object, ...]]:
    from tdsl.fabric.addresses import DEVICE_KINDS
    from tdsl.fabric.segments import EthernetSegments

    found = fabric.addressing
    assert found is not None
    for d in range(fabric.device_count):
        name = fabric.device_name(d)
        asn = int(found.asn[d])
        if asn:
            origin = found.asns.origin(d) if found.asns else None
            if (
                origin is None and found.routing
            ):  # of a switch that no `asn` names, the plan that `routing` stands for
                origin = found.routing.origin
            yield name, "asn", "", "", "", "", "", asn, *_location_of_origin(origin)
        for kind in DEVICE_KINDS:
            for address, pool in found.each(kind, d):
                text = f"{address}/{pool.prefix}"
                yield (
                    name,
                    kind,
                    pool.interface,
                    text,
                    pool.network,
                    pool.vrf,
                    "",
                    None,
                    *_location_of_origin(pool.origin),
                )
    for d, number, text, pool in EthernetSegments(fabric, found).addresses:
        at = _location_of_origin(pool.origin)
        yield fabric.device_name(d), "vlan", f"vlan{number}", text, pool.network, "", "", None, *at
    yield from _link_address_rows(fabric, found)


def _link_address_rows(fabric: Fabric, found: Addressing) -> Iterator[tuple[object, ...]]:
    """The addresses of links at both of their ends."""
    across = _switch_ports_of_bundles(fabric)
    for i in range(fabric.link_count):
        ports = across.get(int(fabric.link_bundle[i]), [int(fabric.link_b[i])])
        for second, near, far in (
            (False, fabric.link_a[i], ports),
            (True, fabric.link_b[i], [int(fabric.link_a[i])]),
        ):
            for address, pool in found.each("links", i, second):
                c, k = fabric.port_class(int(near))
                device, text = fabric.device_name(int(fabric.port_device[near])), f"{address}/{pool.prefix}"
                interface = c.netdev(k) or c.systems[k] or c.path(k)
                peer = ", ".join(_device_and_port(fabric, p) for p in far)
                yield (
                    device,
                    "link",
                    interface,
                    text,
                    pool.network,
                    "",
                    peer,
                    None,
                    *_location_of_origin(pool.origin),
                )


def _switch_ports_of_bundles(fabric: Fabric) -> dict[int, list[int]]:
    """The ports of switches of each bundle that leads to two, by its number: an address at the host is
    behind all of them."""
    import numpy as np

    from tdsl.fabric.cables.bundles import switch_pairs_of_bundles

    out: dict[int, list[int]] = {n: [] for n in switch_pairs_of_bundles(fabric)}
    for link in np.flatnonzero(np.isin(fabric.link_bundle, list(out))).tolist():
        out[int(fabric.link_bundle[link])].append(int(fabric.link_b[link]))
    return out


def table_of_places(fabric: Fabric) -> OutputRows:
    """Where every device is that is built and stands for itself: the table that `--places` reads."""
    from tdsl.fabric.places import COLUMNS, rows_of_places

    return OutputRows(COLUMNS, rows_of_places(fabric))


def table_of_models(fabric: Fabric) -> OutputRows:
    """Every model of the devices that are built and of what is in them: how many, rates of all ports one way
    and both ways, power, latency, FLOP/s, and the source of these figures."""
    import numpy as np

    from tdsl.semantics.model_figures import ModelFigures, contents_of_model

    outermost = np.array([s.inside is None for s in fabric.sets] or [True])[fabric.device_set]
    used, built = np.unique(fabric.device_model[fabric.built & outermost], return_counts=True)
    count: dict[tuple[str, str], int] = {}
    models = {}
    for m, devices in zip(used.tolist(), built.tolist(), strict=True):
        model = fabric.models[m]
        for each, n in ((model, 1), *contents_of_model(model)):
            key = each.name, each.variant
            count[key], models[key] = count.get(key, 0) + n * devices, each

    def body() -> Iterator[tuple[object, ...]]:
        for key, model in models.items():
            found = ModelFigures.of(model)
            yield (
                model.name,
                model.kind,
                count[key],
                model.port_count,
                *(None if found.bps is None else n * found.bps / 1e9 for n in (1, 2)),
                _float_or_none(found.watts),
                _float_or_none(found.most_watts),
                None if found.seconds is None else float(found.seconds * 10**9),
                ", ".join(f"{f} {float(x) / 1e12:g}" for f, x in found.flops),
                found.source,
            )

    head = ("model", "kind", "count", "ports", "one_way_gbps", "both_ways_gbps", "power_w", "power_max_w")
    return OutputRows((*head, "latency_ns", "tflops", "source"), body())


def _float_or_none(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def table_of_racks(fabric: Fabric) -> OutputRows:
    """Every rack, what is in it, and what of it is taken."""
    from dataclasses import astuple, fields

    from tdsl.physical.rack_rows import RackLine, rack_lines

    return OutputRows([x.name for x in fields(RackLine)], [astuple(line) for line in rack_lines(fabric)])


def stretches_of_cable(fabric: Fabric, cable: str) -> list[tuple[object, ...]]:
    """The stretches of every leg of a cable, their sum, and what is ordered; none if there is no such
    cable."""
    from tdsl.fabric.cables.identity import CableIndex
    from tdsl.physical.explain import explain_cable_length
    from tdsl.physical.model import physical_of

    legs = [k for k, name in enumerate(CableIndex(fabric).order[2]) if name == cable]
    physical = physical_of(fabric)
    if physical is None and legs:
        raise Wrong(
            "no device of this design has a place: add `hall` and `place`, or give a table with --places"
        )
    return (
        []
        if physical is None
        else [
            (int(fabric.cable_leg[k]) or None, *row)
            for k in legs
            for row in explain_cable_length(physical, k)
        ]
    )


def _similar_cable_ids(fabric: Fabric, cable: str) -> list[str]:
    """Identifiers like one that no cable has."""
    from tdsl.fabric.cables.identity import CableIndex
    from tdsl.system.similar import closest_name

    near = closest_name(cable, CableIndex(fabric).order[2])
    return [near] if near else []


def _location_of_origin(origin: Origin | None) -> tuple[str | None, int | None]:
    """File and line of an origin."""
    return (origin.span.file.name, origin.span.begin[0]) if origin else (None, None)


def _devices_and_ports(fabric: Fabric, a: int, b: int) -> tuple[str, str, str, str]:
    (c, i), (e, j) = fabric.port_class(a), fabric.port_class(b)
    names = fabric.device_name(int(fabric.port_device[a])), fabric.device_name(int(fabric.port_device[b]))
    return names[0], c.path(i), names[1], e.path(j)


def table_of_summary(fabric: Fabric) -> OutputRows:
    """What the fabric consists of, a line a figure."""
    from tdsl.verify.summary import fabric_summary

    return OutputRows(("figure", "value"), list(_flat_summary(fabric_summary(fabric))))


def _flat_summary(given: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in given.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flat_summary(value, f"{name}.")
        else:
            yield name, value


def table_of_metrics(design: Design) -> OutputRows:
    """Every result of the checks."""
    head = ("metric", "status", "value", "unit", "lower", "upper", "requirement", "answer")
    facts = [r.facts() for r in design.results]
    keys = ("check", "status", "value", "unit", "lower", "upper", "requirement")
    return OutputRows(head, [(*(f[k] for k in keys), f.get("text") or f.get("reason", "")) for f in facts])


def table_of_waivers(compilation: Compilation) -> OutputRows:
    """Every waiver of the files, and whether a finding needs it: ``unknown`` where the design has errors."""
    whole = all(d.fabric is not None and d.fabric.complete for d in compilation.designs)
    head = ("file", "line", "finding", "until", "state", "reason")
    return OutputRows(
        head,
        [
            (
                a.span.file.name,
                a.span.begin[0],
                a.name,
                a.until.isoformat() if a.until else "",
                "used" if a.used else "unused" if whole else "unknown",
                a.reason,
            )
            for a in compilation.waivers
        ],
    )


TABLES: Mapping[str, Callable[[Fabric], OutputRows]] = {
    "summary": table_of_summary,
    "devices": table_of_devices,
    "ports": table_of_ports,
    "links": table_of_links,
    "cables": table_of_cables,
    "addresses": table_of_addresses,
    "places": table_of_places,
    "racks": table_of_racks,
    "models": table_of_models,
}
GRAPHS = ("graphml", "json", "gexf")
SCHEDULE = "schedule"
WHAT = (*TABLES, "metrics", "waivers", "length", SCHEDULE, JOB, "graph")
MESSAGES = ("stage", "sender", "receiver", "bytes", "rate_bps", "delay_s", "routes", "way", "tree", "steps")


@click.command(
    "show",
    short_help="Print the devices, ports, links, cables or figures of a design.",
    epilog="\b\nExamples:\n  tdsl show superpod.fab\n  tdsl show superpod.fab links --output-format csv > "
    "links.csv\n"
    "  tdsl show dgx_superpod_h100 devices --set units=2\n"
    "  tdsl show superpod.fab length leaf0:IB1/1/1\n"
    "  tdsl show superpod.fab schedule 'allreduce 1GB' --format json\n"
    "  tdsl show superpod.fab schedule 'allreduce 1GB' --fail 'spine[0]'\n"
    "  tdsl show superpod.fab job llama3 --placement\n"
    "  tdsl show superpod.fab graph --format graphml -o superpod.graphml",
)
@click.argument("file", type=Source(), metavar="FILE")
@click.argument("what", type=click.Choice(WHAT), default="summary")
@click.argument("named", required=False, metavar="[CABLE|REQUIREMENT|JOB]")
@design_options
@output_format_option(
    [*FORMATS, "graphml", "gexf"],
    None,
    "How to print: table (the default), csv or json; of `graph` graphml (the default), json or gexf.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the graph to a file.",
)
@click.option("--placement", is_flag=True, help="Of `job`: what other orders of its ranks would take.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="SVG",
    help="Of `job`: write a drawing of what the time of a step goes to.",
)
@fail_options("Of `schedule`: what it is without")
@places_option
@limit_options
@with_untrusted_option
def command(
    file: str,
    what: str,
    named: str | None,
    output_format: str | None,
    output: Path | None,
    **given: Any,
) -> int:
    """Show what a design describes: a summary, or its devices, ports, links, cables, models, metrics,
    waivers, or the graph for networkx.

    `show FILE models` prints the figures of each model with their source: the rates of all its ports one way
    and both ways, power, latency, FLOP/s.

    `show FILE length CABLE` prints how the length of a cable comes about; CABLE is its identifier in
    cables.csv. `show FILE schedule REQUIREMENT` prints the best schedule that is known for a time, such as
    `allreduce 1GB` or a requirement of the design; as csv or json with all messages, rates and routes. With
    `--fail ELEMENT` it is on what is left, as `tdsl check --fail` judges it.
    `show FILE job JOB` prints what a training job computes, sends and takes; without JOB all of the design.
    """
    _refuse_unfit_table(what, named, output_format, output)
    view = JobView(given["placement"], given["picture"])
    _refuse_view_of_others(view, what)
    failed = failed_elements(given)
    if failed and what != SCHEDULE:
        raise click.UsageError("--fail and --fail-file are of `show FILE schedule`")
    asked = replace(options_from_command(given), fail=failed)
    (compilation,) = compilations = compile_sources([file], asked, verify=what in ("metrics", "waivers"))
    if what == "waivers":
        return _print_waivers(compilation, output_format)
    show_findings(compilations, sys.stderr)
    if what in (SCHEDULE, JOB):
        _print_schedules_or_jobs(compilation, what, named, output_format, view)
    else:
        cable = named if what == "length" else None
        shown = _designs_with_clusters(compilation, what)
        if what == "racks":
            _refuse_without_places(compilation)
        if cable is not None:
            _refuse_unknown_cable(shown, cable)
        _print_shown(shown, what, cable, output_format, output)
    return exit_status_of([compilation])


def _refuse_view_of_others(view: JobView, what: str) -> None:
    """Refuse options of jobs with another table, and two that do not go together."""
    if view.placement and what != JOB:
        raise click.UsageError("--placement is of `show FILE job`")
    if view.picture is not None and (what != JOB or view.placement):
        raise click.UsageError("--picture is of `show FILE job`, without --placement")


def _print_schedules_or_jobs(
    compilation: Compilation, what: str, named: str | None, form: str | None, view: JobView
) -> None:
    """Print the schedule of a requirement, or jobs, of each fabric by itself."""
    alone = [d for d in compilation.designs if d.fabric is not None]
    if what == SCHEDULE and named is not None:
        _print_schedules(alone, named, form)
    if what == JOB:
        whole = [d for d in alone if d.fabric is not None and d.fabric.complete]
        if compilation.designs and not whole:
            raise Wrong("the design has errors, so nothing is computed of its jobs")
        print_jobs(whole, named, form, view)


def _refuse_without_places(compilation: Compilation) -> None:
    """Refuse a table of racks of designs in which no device has a place."""
    if all(d.fabric is None or d.fabric.places is None for d in compilation.designs):
        raise Wrong(
            "no device of this design has a place: add `hall` and `place`, or give a table with --places"
        )


def _refuse_unknown_cable(shown: list[Design], cable: str) -> None:
    """Refuse a cable that no fabric has."""
    tables = {d.name: stretches_of_cable(d.fabric, cable) for d in shown if d.fabric is not None}
    if not any(tables.values()):
        near = [n for d in shown if d.fabric is not None for n in _similar_cable_ids(d.fabric, cable)]
        raise Wrong(f"there is no cable {cable!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


def _print_shown(
    shown: list[Design], what: str, cable: str | None, form: str | None, output: Path | None
) -> None:
    """Print what is asked for of each fabric."""
    if what == "graph":
        _print_graph(shown, form or "graphml", output)
    elif form == "json":
        print_json({"designs": [_show_document(d, what, cable) for d in shown]})
    elif form == "csv" and shown:
        print_csv(_rows_of_all_fabrics(shown, what, cable))
    elif what == "summary":
        _print_summaries(shown)
    else:
        for design in shown:
            if len(shown) > 1:
                write_to_stream(f"{design.name}\n")
            print_table(_rows_of_table(design, what, cable))


def _print_summaries(shown: list[Design]) -> None:
    """Print the figures of each fabric, and of a cluster one table: the whole, then each of its networks."""
    clusters = [d for d in shown if d.members]
    whole = {d.name: [d] for d in clusters}
    for design in shown:
        if design.members:
            continue
        whole.setdefault(design.cluster if design.cluster in whole else f" {design.name}", []).append(design)
    for each in whole.values():
        if len(whole) > 1:
            write_to_stream(f"{each[0].name}\n")
        print_table(_summary_of_several(each) if len(each) > 1 else _rows_of_table(each[0], "summary"))


def _summary_of_several(designs: list[Design]) -> OutputRows:
    """A row a figure, a column a fabric."""
    rows = [_rows_of_table(d, "summary").body for d in designs]
    tables = [{str(row[0]): row[1] for row in each} for each in rows]
    for design, table in zip(designs[1:], tables[1:], strict=True):
        _call_tiers_as_cluster(table, design.name, tables[0])
    names = dict.fromkeys(name for table in tables for name in table)
    head = ("figure", *(f"{d.name} (all)" if d.members else d.name for d in designs))
    return OutputRows(head, [(name, *(t.get(name) for t in tables)) for name in names])


def _call_tiers_as_cluster(figures: dict[str, object], fabric: str, of_cluster: Mapping[str, object]) -> None:
    """Rename the tiers of a fabric as its cluster calls them, where that has them: ``tiers.leaf`` of compute
    is ``tiers.compute.leaf``."""
    for name in [n for n in figures if n.startswith("tiers.")]:
        called = name.replace("tiers.", f"tiers.{fabric}.")
        if called in of_cluster:
            figures[called] = figures.pop(name)


def _refuse_unfit_table(what: str, named: str | None, output_format: str | None, output: Path | None) -> None:
    """Refuse a name, a format or a file that the table does not have."""
    if what != JOB and (named is None) is (what in ("length", SCHEDULE)):
        raise click.UsageError(
            "`show FILE length CABLE` names one cable, and `show FILE schedule REQUIREMENT` one requirement, "
            "such as 'allreduce 1GB', and `show FILE job JOB` one job; other tables name none"
        )
    allowed = GRAPHS if what == "graph" else FORMATS
    if output_format is not None and output_format not in allowed:
        raise click.UsageError(
            f"`show FILE {what}` has no format {output_format}: it has {', '.join(allowed)}"
        )
    if output is not None and what != "graph":
        raise click.UsageError("-o is of `show FILE graph`; send other output to a file with >")


def _designs_with_clusters(compilation: Compilation, what: str) -> list[Design]:
    """The fabrics and the clusters as a whole: their figures of each, and what they have, which fabrics of a
    cluster share, of the whole."""
    whole = {name for c in compilation.clusters if c.fabric is not None for name in c.members}
    shown = [d for d in compilation.judged if d.fabric is not None]
    return shown if what in ("summary", "metrics") else [d for d in shown if d.members or d.name not in whole]


def _print_waivers(compilation: Compilation, form: str | None) -> int:
    """Print the waivers of a file and of the files that it uses."""
    rows = table_of_waivers(compilation)
    if form == "json":
        print_json({"file": compilation.file, "waivers": rows.records()})
    elif form == "csv":
        print_csv(rows)
    else:
        print_table(rows)
    return OK


def _print_graph(shown: list[Design], form: str, output: Path | None) -> None:
    """Print or write the graph of the one fabric of a file."""
    from tdsl.fabric.as_networkx import FORMATS as WRITERS

    if len(shown) > 1:
        names = ", ".join(d.name for d in shown)
        raise Wrong(
            f"a graph is of one fabric, and this file has several ({names}): give each a file of its own"
        )
    for design in shown:
        assert design.fabric is not None
        text = WRITERS[form](design.fabric.graph())
        if output is None:
            write_to_stream(text)
        else:
            save_text(text, output)


def _print_schedules(shown: list[Design], text: str, form: str | None) -> None:
    """Print the best schedule for a requirement of a time, of every fabric that has it."""
    from tdsl.verify.schedules import lines_of_schedule, rows_of_schedule, schedule_as_data

    found = _schedules_of_designs(shown, text, listed=form is not None)
    if form == "json":
        each = [{"fabric": d.name, "file": d.file, SCHEDULE: schedule_as_data(made)} for d, made in found]
        print_json({"designs": each})
    elif form == "csv":
        rows = ((d.name, *row) for d, made in found for row in rows_of_schedule(made, every=True))
        print_csv(OutputRows(("fabric", *MESSAGES), rows))
    for design, made in found if form in (None, "table") else ():
        if len(found) > 1:
            write_to_stream(f"{design.name}\n")
        if form is not None:
            width = len(MESSAGES) - (0 if made.trees else 2)
            each_row = (row[:width] for row in rows_of_schedule(made, every=False))
            print_table(OutputRows(MESSAGES[:width], each_row))
            continue
        for line in lines_of_schedule(made):
            write_to_stream(f"{terminal_safe_line(line)}\n")


def _schedules_of_designs(shown: list[Design], text: str, listed: bool) -> list[tuple[Design, ShownSchedule]]:
    """The best schedule for a requirement of a time, of every fabric that has it. Raises Wrong where none
    has, or one has no schedule, or where messages are to be ``listed`` and are too many."""
    from tdsl.verify.schedules import claim_of_text, schedule_of_claim

    found = []
    for design in shown:
        claim = claim_of_text(text, design.claims)
        if claim is None or design.fabric is None:
            continue
        made = schedule_of_claim(design.fabric, claim, design.failed)
        if isinstance(made, str):
            raise Wrong(f"{design.name}: `{text}` has no schedule: {made}")
        if listed and isinstance(made.messages, str):
            raise Wrong(f"{design.name}: the schedule of `{text}` is not listed: {made.messages}")
        found.append((design, made))
    if shown and not found:
        raise Wrong(
            f"no requirement of a time is `{text}`: name one of the design, or an operation and a size, such "
            "as 'allreduce 1GB'"
        )
    return found


def _rows_of_table(design: Design, what: str, cable: str | None = None) -> OutputRows:
    assert design.fabric is not None
    if cable is not None:
        return OutputRows(("leg", "stretch", "metres"), stretches_of_cable(design.fabric, cable))
    return table_of_metrics(design) if what == "metrics" else TABLES[what](design.fabric)


def _rows_of_all_fabrics(shown: list[Design], what: str, cable: str | None) -> OutputRows:
    """The rows of all fabrics of a file, each with the fabric it belongs to."""
    parts = [(d.name, _rows_of_table(d, what, cable)) for d in shown]
    head = max((rows.head for _, rows in parts), key=len)  # of a cluster there is a column more
    blank = [("",) * (len(head) - len(rows.head)) for _, rows in parts]
    return OutputRows(
        ("fabric", *head),
        ((name, *row, *more) for (name, rows), more in zip(parts, blank, strict=True) for row in rows.body),
    )


def _show_document(design: Design, what: str, cable: str | None) -> dict[str, object]:
    head: dict[str, object] = {"fabric": design.name, "file": design.file}
    head |= {"members": list(design.members)} if design.members else {}
    if what == "summary":
        from tdsl.verify.summary import fabric_summary

        assert design.fabric is not None
        return head | {what: fabric_summary(design.fabric)}
    if what == "metrics":
        return head | {what: [r.facts() for r in design.results]}
    return head | {what: _rows_of_table(design, what, cable).records()}
