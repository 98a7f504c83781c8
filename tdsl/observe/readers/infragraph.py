"""InfraGraph: an infrastructure of devices, instances and edges, as YAML or JSON.

Source: Keysight/infragraph, ``schema/*.yaml`` (3.1): an instance is a number of devices, an edge joins slices
of their components by the scheme ``one2one`` or ``many2many``, and its link has a bandwidth. What a device
has inside is set aside, but for what says whether it is a host: an accelerator (``xpu``) or an adapter
(``nic``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._designs import (
    PartsSetAside,
    line_of_mapping,
    list_of,
    mapping_of,
    rate_from_gigabits,
    shown_value,
)
from tdsl.observe.readers._neighbours import Lines, json_of_capture, json_text
from tdsl.observe.readers._yaml import documents_of_yaml
from tdsl.observe.record import (
    MOST_LINKS,
    MOST_NODES,
    CapturedEnd,
    CapturedLink,
    CapturedModel,
    CaptureLine,
    Malformed,
    Observed,
    plain_capture_name,
)
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun

FORMAT = "infragraph"
OPTION = "import"
LONGEST_ROW = 1 << 20
SLICE = re.compile(r"([^\[\]]+)(?:\[(\d{0,9})(?:(:)(\d{0,9})(?::(\d{0,9}))?)?\])?")
GIGABITS = {"gigabits_per_second": 1, "gigabytes_per_second": 8}
"""Units of bandwidth that say bit/s, in Gbit/s; transfers do not, without a number of lanes."""
PORTS = ("port", "nic")
"""Kinds of components that a cable can be at; of others those alone are ports that an edge names."""
DEEPEST = 8
"""Devices within devices."""
HELP = "write it as InfraGraph of release 3.1 does"


@dataclass(slots=True)
class GraphDevice:
    """A kind of device: the number of its components and what they are, by name."""

    name: str
    counts: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    inside: int = 0
    """Edges within the device."""


MOST_DEVICES = 1 << 18
"""Devices of an infrastructure; one line of text may have them all."""


@dataclass(slots=True)
class GraphInstance:
    """A number of devices of one kind, with the key of each."""

    device: GraphDevice
    keys: list[str]
    used: set[int] = field(default_factory=set)


def recognises(head: str) -> bool:
    """Whether a text begins as such a design."""
    keys = ("devices", "components", "count", "choice")
    return all(re.search(rf"""(?:^|[\s"'{{,-]){key}["']?\s*+:""", head) for key in keys)


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add a link for each pair of components that an edge joins."""
    lines = Lines(file)
    if file.text.lstrip().startswith("{"):
        top = json_of_capture(file)
    else:
        documents = documents_of_yaml(file, HELP)
        if len(documents) != 1:
            raise Malformed(1, f"{len(documents)} documents of YAML: an infrastructure is one", HELP)
        top = documents[0]
    whole = mapping_of(top, 1, "the infrastructure")
    whole = mapping_of(whole.get("infrastructure", whole), 1, "the infrastructure")
    if "edges" not in whole or "instances" not in whole:
        raise Malformed(1, "an infrastructure without `instances` or `edges`", HELP)
    _GraphReader(file, into, lines).read(whole)


class _GraphReader:
    def __init__(self, file: SourceFile, into: Observed, lines: Lines) -> None:
        self.file, self.into, self.lines = file, into, lines
        self.aside = PartsSetAside(file)
        self.devices: dict[str, GraphDevice] = {}
        self.instances: dict[str, GraphInstance] = {}
        self.rates: dict[str, int] = {}
        self.taken: dict[str, str] = {}  # names of devices, and the instance of each

    def read(self, whole: Mapping[str, Any]) -> None:
        """All of it."""
        for one in list_of(whole.get("devices"), 1, "`devices`"):
            self.add_device_kind(one)
        for one in list_of(whole.get("links"), 1, "`links`"):
            self.add_rate(one)
        for one in list_of(whole.get("instances"), 1, "`instances`"):
            self.add_instance(one)
        for one in list_of(whole.get("edges"), 1, "`edges`"):
            line = line_of_mapping(one) if hasattr(one, "line") else self.lines.place("ep1").line
            try:
                self.add_edge(mapping_of(one, line, "an edge"), line)
            except Malformed as wrong:
                self.into.fault(self.file, wrong.line, wrong.message, wrong.help)
        for key in sorted(set(whole) - {"name", "description", "devices", "links", "instances", "edges"}):
            self.aside.add(f"`{key}`")
        self.count_what_is_lost()

    def count_what_is_lost(self) -> None:
        """Note what devices have inside, and the devices without a link."""
        inside: Counter[str] = Counter()
        for one in self.instances.values():
            for name, count in one.device.counts.items():
                if one.device.kinds[name] in ("xpu", "cpu", "memory"):
                    inside[f"{one.device.kinds[name]} components of devices"] += count * len(one.used)
        for what, count in inside.items():
            self.aside.add(what, 1, count)
        self.aside.add("edges within kinds of devices", 1, sum(d.inside for d in self.devices.values()))
        bare = sum(len(i.keys) - len(i.used) for i in self.instances.values())
        self.aside.add("devices without a link", 1, bare)
        used = sum(len(i.used) for i in self.instances.values())
        self.aside.note(
            self.into, f"{counted_noun(used, 'device')} of {counted_noun(len(self.instances), 'instance')}"
        )

    def add_device_kind(self, value: object) -> None:
        """A kind of device with its components."""
        line = line_of_mapping(value) if hasattr(value, "line") else self.lines.place("components").line
        facts = mapping_of(value, line, "a device")
        made = GraphDevice(self.named(facts, line, "a device"))
        for one in list_of(facts.get("components"), line, "`components`"):
            at = line_of_mapping(one, line)
            part = mapping_of(one, at, "a component")
            name = self.named(part, at, "a component")
            made.counts[name] = self.count(part.get("count"), at, f"the count of `{name}`")
            made.kinds[name] = json_text(part.get("choice"))
        edges = list_of(facts.get("edges"), line, "`edges`")
        made.inside = len(edges)
        if not hasattr(value, "line"):
            for _ in edges:
                self.lines.place("ep1")
        if made.name in self.devices:
            raise Malformed(line, f"two devices are named `{made.name}`", HELP)
        self.devices[made.name] = made

    def add_rate(self, value: object) -> None:
        """The rate of a kind of link; 0 where it says none in bits or bytes."""
        line = line_of_mapping(value) if hasattr(value, "line") else self.lines.place("physical").line
        facts = mapping_of(value, line, "a link")
        name = self.named(facts, line, "a link")
        physical = mapping_of(facts.get("physical"), line, "`physical`")
        bandwidth = mapping_of(physical.get("bandwidth"), line, "`bandwidth`")
        given = [u for u in bandwidth if u != "choice"]
        unit = json_text(bandwidth.get("choice")) or next(iter(given), "")
        if unit in GIGABITS and unit in bandwidth:
            said = rate_from_gigabits(bandwidth[unit], line, f"the bandwidth of `{name}`")
            self.rates[name] = said * GIGABITS[unit]
        else:
            self.rates[name] = 0
            self.aside.add("bandwidths that say no bit/s", line, len(bandwidth) and 1)
        self.aside.add("latencies of kinds of links", line, int(bool(physical.get("latency"))))

    def add_instance(self, value: object) -> None:
        """The devices of an instance: under its name alone where it is one, else with their numbers."""
        line = line_of_mapping(value) if hasattr(value, "line") else self.lines.place("device").line
        facts = mapping_of(value, line, "an instance")
        name = self.named(facts, line, "an instance")
        given = shown_value(facts.get("device"))
        kind = self.devices.get(json_text(facts.get("device")))
        if kind is None:
            raise Malformed(
                line,
                f"instance `{name}` is of {given}, which is not a device here",
                HELP,
            )
        if name in self.instances:
            raise Malformed(line, f"two instances are named `{name}`", HELP)
        count = self.count(facts.get("count"), line, f"the count of `{name}`")
        if len(self.taken) + count > MOST_DEVICES:
            raise Malformed(line, f"there are more than {MOST_DEVICES:,} devices")
        host = any(k in ("xpu", "nic") for k in self.components_in(kind, 0, line))
        ports = [p for c in kind.counts if kind.kinds[c] in PORTS for p in self.ports_of_path(c, kind, line)]
        model = CapturedModel(kind.name, tuple(ports))
        at, keys = CaptureLine(self.file, line), []
        for shown in self.free_names(name, count):
            self.taken[shown] = name
            keys.append(f"name:{shown}")
            self.into.node(keys[-1], shown, "host" if host else "forwarder", (), 0, at)
            self.into.models[keys[-1]] = model
        self.instances[name] = GraphInstance(kind, keys)

    def free_names(self, name: str, count: int) -> list[str]:
        """Names for the devices of an instance that no other has: ``leaf7``, or ``leaf-7`` where these are
        taken or the instance ends in a digit itself."""
        if count == 1 and name not in self.taken:
            return [name]
        between = "-" if name[-1:].isdigit() else ""
        while True:
            made = [f"{name}{between}{i}" for i in range(count)]
            if self.taken.keys().isdisjoint(made):
                return made
            between += "-"

    def components_in(self, kind: GraphDevice, depth: int, line: int) -> Iterator[str]:
        """What the components of a device are, with those of devices in it."""
        if depth > DEEPEST:
            raise Malformed(line, f"device `{kind.name}` has devices in it more than {DEEPEST} deep", HELP)
        for name, choice in kind.kinds.items():
            yield choice
            if choice == "device" and name in self.devices:
                yield from self.components_in(self.devices[name], depth + 1, line)

    def add_edge(self, edge: Mapping[str, Any], line: int) -> None:
        """Add the links of an edge. Raises Malformed."""
        link = json_text(edge.get("link"))
        if link not in self.rates:
            raise Malformed(
                line,
                f"the link of an edge is {shown_value(edge.get('link'))}, which is not a link here",
                HELP,
            )
        one, other = (self.ends(edge.get(side), line, side) for side in ("ep1", "ep2"))
        scheme = json_text(edge.get("scheme"))
        if scheme == "one2one":
            pairs = list(zip(one, other, strict=False))
            self.aside.add("ends of `one2one` without a partner", line, abs(len(one) - len(other)))
        elif scheme == "many2many":
            if len(one) * len(other) > MOST_LINKS:
                raise Malformed(line, f"an edge of more than {MOST_LINKS:,} links")
            pairs = [(a, b) for a in one for b in other]
        else:
            raise Malformed(
                line,
                f"the scheme of an edge is {shown_value(edge.get('scheme'))}",
                "write one2one or many2many",
            )
        at = CaptureLine(self.file, line)
        for a, b in pairs:
            self.aside.links += 1
            if a[0] is b[0] and a[1] == b[1]:
                self.into.leave_out("an edge between the components of one device", at, self.taken_name(a))
                continue
            ends = [CapturedEnd(i.keys[k], (port,)) for i, k, port in (a, b)]
            a[0].used.add(a[1])
            b[0].used.add(b[1])
            self.into.wire(CapturedLink(ends[0], ends[1], at, self.rates[link]))

    def taken_name(self, end: tuple[GraphInstance, int, str]) -> str:
        """A device as it is shown."""
        return end[0].keys[end[1]].removeprefix("name:")

    def ends(self, value: object, line: int, side: str) -> list[tuple[GraphInstance, int, str]]:
        """Instance, number and port of each end that an endpoint is, in InfraGraph's order: ports within
        devices."""
        facts = mapping_of(value, line, side)
        name, numbers = self.slice_of(json_text(facts.get("instance")), line, None)
        instance = self.instances.get(name)
        if instance is None:
            raise Malformed(line, f"{side} is at {name!r}, which is not an instance here", HELP)
        devices = self.in_range(numbers, len(instance.keys), line, name)
        ports = self.ports_of_path(json_text(facts.get("component")), instance.device, line)
        if len(devices) * len(ports) > MOST_LINKS:
            raise Malformed(line, f"an endpoint of more than {MOST_LINKS:,} components")
        return [(instance, k, port) for k in devices for port in ports]

    def ports_of_path(self, path: str, kind: GraphDevice, line: int) -> list[str]:
        """Names of the components of a path, such as ``cx5[0:2].port[0]``."""
        made = [""]
        parts = path.split(".")
        for place, part in enumerate(parts):
            name, numbers = self.slice_of(part, line, kind)
            if name not in kind.counts:
                raise Malformed(line, f"device `{kind.name}` has no component {name!r}", HELP)
            count = kind.counts[name]
            chosen = self.in_range(numbers, count, line, name)
            if len(made) * len(chosen) > MOST_LINKS:
                raise Malformed(line, f"an endpoint of more than {MOST_LINKS:,} components")
            words = [name if count == 1 else f"{name}{'-' * name[-1:].isdigit()}{k}" for k in chosen]
            made = [f"{m}.{w}" if m else w for m in made for w in words]
            if place + 1 < len(parts):
                if kind.kinds[name] != "device" or name not in self.devices:
                    raise Malformed(line, f"{name!r} of `{kind.name}` is not a device", HELP)
                kind = self.devices[name]
        return made

    def slice_of(self, text: str, line: int, kind: GraphDevice | None) -> tuple[str, slice]:
        """The name of an endpoint and the numbers that it has, as Python's slices write them."""
        found = SLICE.fullmatch(text)
        if found is None or (kind is None and "." in found[1]):
            raise Malformed(line, f"{text[:60]!r} is not a name with a slice such as `leaf[0:4]`", HELP)
        first, colon, last, step = found[2], found[3], found[4], found[5]
        if first and not colon:
            return found[1], slice(int(first), int(first) + 1, 1)
        if step and not int(step):
            raise Malformed(line, f"{text[:60]!r} has a step of 0", HELP)
        end = int(last) if last else None
        return found[1], slice(int(first or 0), end, int(step or 1))

    def in_range(self, numbers: slice, count: int, line: int, name: str) -> range:
        """The numbers of a slice; those that there are not are a fault. Raises Malformed."""
        last = count if numbers.stop is None else numbers.stop
        if last > count or numbers.start >= max(last, 1):
            raise Malformed(
                line,
                f"`{name}` has {count:,}, and a slice is of {numbers.start} up to {last}",
                "end it earlier",
            )
        return range(numbers.start, last, numbers.step)

    def named(self, facts: Mapping[str, Any], line: int, what: str) -> str:
        """The name of something. Raises Malformed where it has none."""
        name = plain_capture_name(json_text(facts.get("name")), line)
        if not name:
            raise Malformed(line, f"{what} has no name", HELP)
        return name

    def count(self, value: object, line: int, what: str) -> int:
        """A number of devices or components. Raises Malformed."""
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_NODES:
            raise Malformed(
                line, f"{what} is {str(value)[:40]!r}, not a number from 0 to {MOST_NODES:,}", HELP
            )
        return value
