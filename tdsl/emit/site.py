"""``site.yaml``: what all devices of a site share and no design says, such as time servers and a banner.

Values are taken as they are written: none is looked up in the environment or in another file, and YAML's tags
and aliases are refused. A secret is written by its name only; templates see ``@@NAME@@`` in its place, and
``tdsl render`` puts the value there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from ipaddress import ip_address
from typing import Any

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import closest_known_name
from tdsl.system.lazy_dataclass import dataclass

SECRET = re.compile(r"[A-Z][A-Z0-9_]{0,62}")
"""The name of a secret."""
PLACEHOLDER = re.compile(rb"@@([A-Z][A-Z0-9_]{0,62})@@")
LONGEST, DEEPEST = 4000, 8
"""Characters of a text; levels of the file."""
_HOST = re.compile(
    r"(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
)
_LINE = re.compile(r"[ -~]*")
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dns:
    """Name servers, by address, and the domain of names without dots."""

    servers: tuple[str, ...] = ()
    domain: str = ""


@dataclass(frozen=True, slots=True)
class Aaa:
    """Servers of TACACS+, and the placeholder of the key they share with the devices."""

    tacacs: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True, slots=True)
class Snmp:
    """The placeholder of a community that may read, and where the device says that it is and whom to ask."""

    community: str = ""
    location: str = ""
    contact: str = ""


@dataclass(frozen=True, slots=True)
class Gnmi:
    """The TCP port on which the device answers gNMI, 0 if it does not."""

    port: int = 0


@dataclass(frozen=True, slots=True)
class Bgp:
    """The placeholder of the password of all sessions (RFC 2385)."""

    password: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """What ``--site`` or ``[site]`` says; empty where it says nothing. ``ntp`` and ``syslog`` are addresses
    or names.

    ``banner`` is what a login shows first, without the last line's end. ``facts`` and ``secrets`` are for
    templates of one's own: texts, and placeholders of further secrets, by names that the file chooses.
    """

    ntp: tuple[str, ...] = ()
    syslog: tuple[str, ...] = ()
    dns: Dns = Dns()
    aaa: Aaa = Aaa()
    snmp: Snmp = Snmp()
    gnmi: Gnmi = Gnmi()
    bgp: Bgp = Bgp()
    banner: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the secrets that it uses, in order."""
        used = [self.aaa.key, self.snmp.community, self.bgp.password, *self.secrets.values()]
        return tuple(sorted({u.strip("@") for u in used if u}))


SHAPE: Mapping[str, Any] = {
    "ntp": ["host"],
    "syslog": ["host"],
    "dns": {"servers": ["address"], "domain": "host"},
    "aaa": {"tacacs": ["host"], "key": "secret"},
    "snmp": {"community": "secret", "location": "text", "contact": "text"},
    "gnmi": {"port": "port"},
    "bgp": {"password": "secret"},
    "banner": "lines",
    "facts": {"*": "lines"},
    "secrets": {"*": "secret"},
}
"""What a file may say: a list has its kind inside; ``*`` is any name."""
KINDS = {
    "host": "an address or a host name, such as `192.0.2.10`",
    "address": "an IPv4 or IPv6 address, such as `192.0.2.10`",
    "text": "one line of at most 240 printable ASCII characters",
    "lines": f"a text of at most {LONGEST:,} printable ASCII characters without `@@`",
    "port": "a number from 1 to 65535",
    "secret": "the name of a secret, such as `BGP_PASSWORD`: capital letters, digits and _; its value "
    "belongs in the file of "
    "`tdsl render --secrets`",
}


def read_site_file(file: SourceFile, diagnostics: Diagnostics) -> Site:
    """What a YAML file says; with findings, empty."""
    import yaml

    spans: dict[Path, SourceSpan] = {}
    before = len(diagnostics)
    data: object = {}
    try:
        deep = 0
        for event in yaml.parse(file.text, Loader=yaml.BaseLoader):
            deep += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if deep > 2 * DEEPEST:  # its time is that of the square of its depth
                raise RecursionError
            if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None:
                at = SourceSpan(
                    file, event.start_mark.index, max(event.end_mark.index, event.start_mark.index + 1)
                )
                diagnostics.add(
                    "E0514", at, "a site file has no tags and no aliases", help="write the value itself"
                )
                return Site()
        node = yaml.compose(file.text, Loader=yaml.BaseLoader)
        data = _yaml_node_as_value(file, node, (), spans, diagnostics) if node is not None else {}
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        place = (
            SourceSpan(file, mark.index, min(mark.index + 1, len(file.text))) if mark is not None else None
        )
        diagnostics.add("E0514", place, f"this is not YAML: {fault.problem or fault.context}")
    except yaml.YAMLError as fault:
        diagnostics.add("E0514", SourceSpan(file, 0, 0), f"this is not YAML: {fault}".splitlines()[0])
    except RecursionError:
        diagnostics.add("E0514", SourceSpan(file, 0, 0), f"the file has more than {DEEPEST} levels")
    if len(diagnostics) > before:
        return Site()
    return site_from_values(data, diagnostics, spans)


def _yaml_node_as_value(
    file: SourceFile, node: Any, path: Path, spans: dict[Path, SourceSpan], diagnostics: Diagnostics
) -> object:
    """A node of YAML as mappings, lists and texts, with the place of each value."""
    spans[path] = span = SourceSpan(
        file, node.start_mark.index, max(node.end_mark.index, node.start_mark.index)
    )
    if len(path) > DEEPEST:
        diagnostics.add("E0514", span, f"the file has more than {DEEPEST} levels")
        return ""
    if node.id == "scalar":
        return node.value
    if node.id == "sequence":
        return [
            _yaml_node_as_value(file, n, (*path, str(i)), spans, diagnostics)
            for i, n in enumerate(node.value)
        ]
    out: dict[str, object] = {}
    for key, value in node.value:
        name = str(key.value) if key.id == "scalar" else ""
        if name in out:
            at = SourceSpan(file, key.start_mark.index, key.end_mark.index)
            diagnostics.add(
                "E0514", at, f"`{name}` is given twice", labels=[(spans[(*path, name)], "here first")]
            )
            continue
        out[name] = _yaml_node_as_value(file, value, (*path, name), spans, diagnostics)
    return out


def site_from_values(
    data: object, diagnostics: Diagnostics, spans: Mapping[Path, SourceSpan] | None = None
) -> Site:
    """A site of plain values, each judged; with findings, empty."""
    before = len(diagnostics)
    given = _value_of_shape(data, SHAPE, (), diagnostics, spans or {})
    if len(diagnostics) > before or not isinstance(given, dict):
        return Site()
    parts = {"dns": Dns, "aaa": Aaa, "snmp": Snmp, "gnmi": Gnmi, "bgp": Bgp}
    site = Site(**{k: parts[k](**v) if k in parts else v for k, v in given.items()})
    if bool(site.aaa.tacacs) != bool(site.aaa.key):
        diagnostics.add(
            "E0514",
            (spans or {}).get(("aaa",)),
            f"`aaa` has no `{'key' if site.aaa.tacacs else 'tacacs'}`",
            help="servers of TACACS+ and devices share a key: `aaa: {tacacs: [192.0.2.6], key: TACACS_KEY}`",
        )
        return Site()
    return site


def _value_of_shape(
    value: object, shape: Any, path: Path, diagnostics: Diagnostics, spans: Mapping[Path, SourceSpan]
) -> object:
    """A value as templates see it, where it is of the shape; else a finding."""
    at, name = _place_in_site_file(path, spans)

    def refuse(what: str, help: str = "") -> object:
        diagnostics.add("E0514", at, f"{name} {what}", help=help)
        return None

    if isinstance(shape, dict):
        if not isinstance(value, Mapping):
            return refuse(
                f"must be a mapping of {_quoted_names(shape) if '*' not in shape else 'names to values'}"
            )
        return _mapping_of_shape(value, shape, path, diagnostics, spans)
    if isinstance(shape, list):
        if not isinstance(value, (list, tuple)):
            return refuse("must be a list", f"each entry is {KINDS[shape[0]]}")
        return tuple(
            _value_of_shape(v, shape[0], (*path, str(i)), diagnostics, spans) for i, v in enumerate(value)
        )
    text = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    if not _text_fits_shape(text, shape):
        said = (
            f"has a value of another form: {_quoted_site_value(text, shape)}"
            if text
            else f"must be {KINDS[shape]}"
        )
        return refuse(said, f"write {KINDS[shape]}")
    return f"@@{text}@@" if shape == "secret" else int(text) if shape == "port" else text.rstrip("\n")


def _place_in_site_file(path: Path, spans: Mapping[Path, SourceSpan]) -> tuple[SourceSpan | None, str]:
    """Where a value is in the file, and what a message calls it."""
    return spans.get(path), f"`{'.'.join(path)}`" if path else "the file"


def _mapping_of_shape(
    value: Mapping[str, object],
    shape: Mapping[str, Any],
    path: Path,
    diagnostics: Diagnostics,
    spans: Mapping[Path, SourceSpan],
) -> dict[str, object]:
    """A mapping as templates see it; a finding for each key that the shape does not have."""
    out: dict[str, object] = {}
    for key, inner in value.items():
        form = shape.get(key, shape.get("*"))
        if form is None or ("*" in shape and not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", key)):
            _report_unknown_key(key, shape, path, diagnostics, spans)
            continue
        out[key] = _value_of_shape(inner, form, (*path, key), diagnostics, spans)
    return out


def _report_unknown_key(
    key: str, shape: Mapping[str, Any], path: Path, diagnostics: Diagnostics, spans: Mapping[Path, SourceSpan]
) -> None:
    """A finding about a key that a mapping does not have, or that cannot be a name."""
    at, name = _place_in_site_file(path, spans)
    near = closest_known_name(key, shape) if "*" not in shape else ""
    help = f"did you mean `{near}`?" if near else f"known: {_quoted_names(shape)}" if "*" not in shape else ""
    words = f"{name} has no `{key}`" if path else f"a site file has no `{key}`"
    words = words if "*" not in shape else f"`{key}` in {name} is not a name: small letters, digits and _"
    diagnostics.add("E0514", spans.get((*path, key), at), words, help=help)


def _quoted_site_value(text: str, shape: str) -> str:
    """A value in a message; never one that stands where the name of a secret belongs, since it may be the
    secret itself."""
    return "it is not shown, since it may be the secret itself" if shape == "secret" else repr(text[:60])


def _text_fits_shape(text: str, shape: str) -> bool:
    if shape == "secret":
        return SECRET.fullmatch(text) is not None
    if shape == "port":
        return text.isdecimal() and len(text) <= 5 and 1 <= int(text) <= 65535
    if shape in ("text", "lines"):
        lines = text.rstrip("\n").split("\n") if shape == "lines" else [text]
        most = LONGEST if shape == "lines" else 240
        return (
            0 < len(text) <= most
            and "@@" not in text
            and all(_LINE.fullmatch(x) and x.strip() != "EOF" for x in lines)
        )
    return _is_address(text) or (shape == "host" and _HOST.fullmatch(text) is not None)


def _is_address(text: str) -> bool:
    try:
        return "%" not in text and bool(ip_address(text).version)
    except ValueError:
        return False


def _quoted_names(names: Iterable[str]) -> str:
    return ", ".join(f"`{n}`" for n in names)
