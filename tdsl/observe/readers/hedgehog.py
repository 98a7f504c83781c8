"""Hedgehog's wiring diagram: objects ``Switch``, ``Server``, ``Gateway`` and ``Connection``, as YAML or JSON.

Source: githedgehog/fabric, ``api/wiring/v1beta1``: ``connection_types.go`` (the kinds of connections and the
ends of their links), ``switch_types.go`` (breakouts and speeds of ports); githedgehog/docs, "Switch Profiles
and Port Naming": ``E1/55`` of a port that is broken out is ``E1/55/1``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
from tdsl.observe.readers._neighbours import json_of_capture, json_text
from tdsl.observe.readers._yaml import documents_of_yaml
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CapturedModel,
    CaptureLine,
    Malformed,
    Observed,
    plain_capture_name,
)
from tdsl.system.nouns import counted_noun

FORMAT = "hedgehog"
OPTION = "import"
GROUP = "githedgehog.com"
HOSTS = ("server", "gateway")
"""Ends of links that are no switches, by the key that gives them."""
ONE_END = ("external", "staticExternal")
"""Kinds of connections that lead out of the fabric, with one end."""
LINKS = {
    "unbundled": ("link",),
    "bundled": ("links",),
    "mclag": ("links",),
    "eslag": ("links",),
    "mclagDomain": ("peerLinks", "sessionLinks"),
    "fabric": ("links",),
    "mesh": ("links",),
    "gateway": ("links",),
    "vpcLoopback": ("links",),
    "external": ("link",),
    "staticExternal": ("link",),
}
"""Kinds of connections, and the keys of their links."""
USED = {"Switch": ("profile", "portBreakouts", "portSpeeds", "role"), "Server": (), "Gateway": ()}
"""Kinds of objects that are devices, and what is used of them."""
BREAKOUT = re.compile(r"\d{1,2}x(\d{1,4})G")
SPEED = re.compile(r"(\d{1,4})G")
HELP = "write it as `hhfab` reads it"


def recognises(head: str) -> bool:
    """Whether a text begins as such a diagram."""
    return re.search(r"\bapiVersion[\"']?\s*+:\s*+[\"']?\w++\.githedgehog\.com/", head) is not None


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the links of all connections."""
    reader = _WiringReader(file, into)
    objects = list(_objects_of_diagram(file))
    for kind, facts, line in objects:
        if kind in USED:
            reader.one(reader.add_device, kind, facts, line)
    for kind, facts, line in objects:
        if kind == "Connection":
            reader.one(reader.add_connection, kind, facts, line)
        elif kind not in USED:
            reader.aside.add(f"{kind} objects", line)
    reader.count_what_is_lost()


def _objects_of_diagram(file: SourceFile) -> Iterator[tuple[str, Mapping[str, Any], int]]:
    """Kind, object and line of all objects, those of lists too. Raises Malformed."""
    if file.text.lstrip().startswith(("{", "[")):
        documents = [json_of_capture(file)]
    else:
        documents = documents_of_yaml(file, HELP)
    for document in documents:
        if document is None:
            continue
        line = line_of_mapping(document)
        whole = mapping_of(document, line, "a document")
        kind = json_text(whole.get("kind"))
        items = list_of(whole.get("items"), line, "`items`") if kind.endswith("List") else [whole]
        for one in items:
            at = line_of_mapping(one, line)
            facts = mapping_of(one, at, "an object")
            yield plain_capture_name(json_text(facts.get("kind")), at) or "nameless", facts, at


class _WiringReader:
    def __init__(self, file: SourceFile, into: Observed) -> None:
        self.file, self.into = file, into
        self.aside = PartsSetAside(file)
        self.keys: dict[str, str] = {}  # of devices by name
        self.kinds: dict[str, str] = {}  # of objects by name
        self.speeds: dict[tuple[str, str], int] = {}  # of ports that say it, in bit/s
        self.split: set[tuple[str, str]] = set()  # ports that are broken out
        self.connections = 0

    def one(self, add: Any, kind: str, facts: Mapping[str, Any], line: int) -> None:
        """Add one object; what is wrong in it is a finding."""
        try:
            name = plain_capture_name(
                json_text(mapping_of(facts.get("metadata"), line, "`metadata`").get("name")), line
            )
            if not name:
                raise Malformed(line, f"a {kind} has no name", HELP)
            for key in mapping_of(facts["metadata"], line, "`metadata`"):
                if key not in ("name", "namespace"):
                    self.aside.add(f"{key} of {kind} objects", line)
            add(kind, name, mapping_of(facts.get("spec"), line, "`spec`"), line)
        except Malformed as wrong:
            self.into.fault(self.file, wrong.line, wrong.message, wrong.help)

    def add_device(self, kind: str, name: str, spec: Mapping[str, Any], line: int) -> None:
        """A switch, a server or a gateway. Raises Malformed."""
        if name in self.kinds:
            raise Malformed(line, f"two devices are named `{name}`", HELP)
        self.kinds[name] = kind
        key = self.device(name, kind != "Switch", line)
        for field in spec:
            if field not in USED[kind] and spec[field] not in (None, {}, [], ""):
                self.aside.add(f"{field} of {kind} objects", line)
        if kind != "Switch":
            return
        self.into.models[key] = CapturedModel(plain_capture_name(json_text(spec.get("profile")), line))
        for port, mode in mapping_of(spec.get("portBreakouts"), line, "`portBreakouts`").items():
            found = BREAKOUT.fullmatch(json_text(mode))
            if found is None:
                raise Malformed(
                    line, f"the breakout of {port} is {str(mode)[:40]!r}", "write one such as 4x100G"
                )
            self.split.add((name, port))
            self.speeds[name, port] = rate_from_gigabits(found[1], line, f"the breakout of {port}")
        for port, speed in mapping_of(spec.get("portSpeeds"), line, "`portSpeeds`").items():
            found = SPEED.fullmatch(json_text(speed))
            if found is None:
                raise Malformed(line, f"the speed of {port} is {str(speed)[:40]!r}", "write one such as 100G")
            self.speeds[name, port] = rate_from_gigabits(found[1], line, f"the speed of {port}")

    def device(self, name: str, host: bool, line: int) -> str:
        """The key of a device, which is added."""
        if name not in self.keys:
            self.keys[name] = f"name:{name}"
            at = CaptureLine(self.file, line)
            self.into.node(self.keys[name], name, "host" if host else "forwarder", (), 0, at)
        return self.keys[name]

    def add_connection(self, kind: str, name: str, spec: Mapping[str, Any], line: int) -> None:
        """The links of a connection. Raises Malformed."""
        self.connections += 1
        if len(spec) != 1 or next(iter(spec)) not in LINKS:
            said = ", ".join(spec) or "nothing"
            raise Malformed(line, f"connection `{name}` is of kind {said[:60]}", f"one of {', '.join(LINKS)}")
        form = next(iter(spec))
        facts = mapping_of(spec[form], line, f"`{form}`")
        for key in facts:
            if key not in LINKS[form]:
                self.aside.add(f"{key} of {form} connections", line)
        for key in LINKS[form]:
            value = facts.get(key)
            for link in [value] if key == "link" else list_of(value, line, f"`{key}`"):
                at = line_of_mapping(link, line)
                self.aside.links += 1
                self.add_link(form, name, mapping_of(link, at, "a link"), at)

    def add_link(self, form: str, name: str, link: Mapping[str, Any], line: int) -> None:
        """A link between two ports; one that leads out of the fabric or around is left out. Raises
        Malformed."""
        at = CaptureLine(self.file, line)
        sides = [(side, self.port(value, side, form, line)) for side, value in link.items()]
        if form in ONE_END:
            self.into.leave_out(f"a connection `{form}` leads out of the fabric", at, name)
            return
        if len(sides) != 2:
            raise Malformed(line, f"a link of `{name}` has {counted_noun(len(sides), 'end')}, not 2", HELP)
        (_, (a, _)), (_, (b, _)) = sides
        if a == b:
            self.into.leave_out("a loopback between two ports of one switch", at, name)
            return
        ends = [CapturedEnd(self.device(d, side in HOSTS, line), (port,)) for side, (d, port) in sides]
        known = [s for _, end in sides if (s := self.speed(*end))]
        self.into.wire(CapturedLink(ends[0], ends[1], at, min(known, default=0)))

    def port(self, value: object, side: str, form: str, line: int) -> tuple[str, str]:
        """Device and port of ``leaf-01/E1/8``. Raises Malformed."""
        facts = mapping_of(value, line, f"`{side}`")
        for key in facts:
            if key != "port":
                self.aside.add(f"{key} of ends of {form} connections", line)
        device, _, port = plain_capture_name(json_text(facts.get("port")), line).partition("/")
        if not device or not port:
            raise Malformed(
                line,
                f"the port of `{side}` is {shown_value(facts.get('port'))}",
                "write DEVICE/PORT, such as leaf-01/E1/8",
            )
        return device, f"{port}/1" if (device, port) in self.split else port

    def speed(self, device: str, port: str) -> int:
        """Bit/s of a port of which the diagram says it, else 0."""
        whole = port.rpartition("/")[0]
        return self.speeds.get((device, port)) or (
            self.speeds[device, whole] if (device, whole) in self.split else 0
        )

    def count_what_is_lost(self) -> None:
        """Note what is set aside."""
        wires = [w for w in self.into.wires if w.at.file is self.file]
        met = {e.node for w in wires for e in (w.a, w.b)}
        self.aside.add(
            "devices without a link", 1, len(self.keys.keys() - {k.removeprefix("name:") for k in met})
        )
        self.aside.add("devices without an object of their own", 1, len(self.keys.keys() - self.kinds.keys()))
        used = [counted_noun(len(met), "device"), counted_noun(self.connections, "connection")]
        self.aside.note(self.into, " and ".join(used))
