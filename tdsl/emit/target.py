"""Targets: folders that say in ``target.toml`` which files they make of a fabric, and from which
templates."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path

from tdsl.emit import choices
from tdsl.emit.limits import MATCH, NameMatcher, TimedPattern
from tdsl.emit.records import Router
from tdsl.findings.diagnostic import Diagnostics
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.read import Stamp, file_stamp, is_below_folders, is_file, read_text_file
from tdsl.system.resources import packaged_folder
from tdsl.system.similar import closest_name

LARGEST = 1 << 20
"""Bytes of a manifest or a template that are read at most."""
SCOPES = ("fabric", "plane", "device", "model", "host", "adapters", "rdma_host", "router", "standby", "pod")
PARTS = frozenset(("adapters", "device", "host", "model", "rdma_host", "router"))
"""Scopes whose records are devices or their models."""
_TARGET_KEYS = {
    "title", "consumer", "needs", "options", "values", "router", "file", "layer", "transport", "purpose",
}  # fmt: skip
OF_CLUSTERS = ("", "once", "also")
"""Of what a file is made in a cluster: of each network, of all as one, of both."""
TRANSPORT_NEEDS = frozenset(("infiniband", "ethernet"))
"""What a target may need that depends on what the links speak."""
_ROUTER_KEYS = {"nos", "kind", "interface", "management", "mtu", "sonic", "channel", "evpn"}
_FILE_KEYS = {
    "path",
    "single",
    "scope",
    "template",
    "program",
    "lint",
    "identity",
    "needs",
    "kind",
    "part",
    "cluster",
}


@dataclass(frozen=True, slots=True)
class FileSpec:
    """A file that a target makes, once for every record of its scope.

    ``path`` may name the record (``{plane}``); ``single`` is the path to use where there is one record only.
    It is made by ``template`` or, in tdsl's own targets, by the function ``render`` of ``program``. ``lint``
    names the check it must pass. The file with ``identity`` is a function of the design alone: its hash is
    the design's. Where the fabric lacks what the file ``needs``, the target goes without it. With a ``kind``
    (``host``) it is made for records of that kind alone. A build of a part of the fabric makes it if its
    records are devices or their models, or if it is a ``part``: a list of which some rows are of use. Of
    a cluster it is made for each network; ``once`` in ``cluster``: for all of them as one instead, ``also``:
    for both.
    """

    path: str
    scope: str
    template: str = ""
    program: str = ""
    single: str = ""
    lint: str = ""
    kind: str = ""
    identity: bool = False
    needs: tuple[str, ...] = ()
    part: bool = False
    cluster: str = ""

    @property
    def of_parts(self) -> bool:
        """Whether a build of a part of the fabric makes it."""
        return self.part or self.scope in PARTS


@dataclass(frozen=True, slots=True)
class RouterSelection:
    """The routers that a target's files of scope ``router`` are for: those of a ``kind``, whose system names
    ports like ``interface`` and ``management`` and takes an MTU of at most ``mtu`` bytes. What is not said is
    any. ``sonic``: whose model says how SONiC numbers all ports that have links. ``nos`` is the operating
    system of the switches among them: a switch that names another is left to others, one that names none is
    configured only if the target is asked for by name. ``channel`` is what the system calls a port channel
    before its number, "" if the target configures none; ``evpn``: it configures Ethernet segments."""

    nos: str = ""
    kind: str = ""
    interface: NameMatcher = re.compile(".*")
    management: NameMatcher = re.compile(".*")
    mtu: int = 65535
    sonic: bool = False
    channel: str = ""
    evpn: bool = False

    @property
    def plural(self) -> str:
        """What such routers are called."""
        return {"switch": "switches", "host": "hosts"}.get(self.kind, "routers")

    def refuses(self, router: Router) -> str:
        """Why a router of the kind gets no file, "" if it gets one."""
        why = self._why_name_is_refused(router)
        if why:
            return why
        if router.channels and not self.channel:
            return (
                f"its links form port channels, such as that of {router.name} to "
                f"{router.channels[0].description}"
            )
        if router.overlay is not None and not self.evpn:
            return f"it has no EVPN multihoming, and {router.name} has Ethernet segments (`across evpn`)"
        ports = [x.name for x in (*router.interfaces, *router.channels)]
        if len(set(ports)) < len(ports):
            return f"two ports of {router.name} have one name"
        if self.sonic and not all(i.sonic for i in router.interfaces):
            return f"nothing says how SONiC numbers the ports of {router.name}: `sonic 8*(i - 1) lanes 8`"
        return f"its MTU is at most {self.mtu}" if router.mtu and int(router.mtu) > self.mtu else ""

    def _why_name_is_refused(self, router: Router) -> str:
        """Why the system has no port of the name that one of a router's has, "" if it has all."""
        ports = [i.name for i in router.interfaces]
        for pattern, names in (
            (self.interface, ports),
            (self.management, [m.interface for m in router.management]),
        ):
            strange = next((n for n in names if not pattern.fullmatch(n)), None)
            if strange is not None and isinstance(pattern, TimedPattern) and pattern.late:
                return (
                    f"the pattern {pattern.pattern.pattern[:100]!r} takes more than {MATCH} seconds "
                    "for the name of a port"
                )
            if strange is not None:
                return f"`{strange}` of {router.name} is not a name of a port there"
        return ""

    def named(self, router: Router) -> Router:
        """The router with the system's names of its port channels."""
        if not router.channels or not self.channel:
            return router
        own = {c.name: self.channel + c.name.rpartition(" ")[2] for c in router.channels}
        return replace(
            router,
            interfaces=tuple(
                replace(i, channel=own[i.channel]) if i.channel else i for i in router.interfaces
            ),
            channels=tuple(replace(c, name=own[c.name]) for c in router.channels),
            sessions=tuple(replace(s, peer=own.get(s.peer, s.peer)) for s in router.sessions),
            overlay=router.overlay
            and replace(router.overlay, uplinks=tuple(own.get(u, u) for u in router.overlay.uplinks)),
        )


@dataclass(frozen=True, slots=True)
class BuildTarget:
    """One folder under ``targets/``. ``own`` are tdsl's: only those may bring a program."""

    name: str
    title: str
    consumer: str
    folder: Path
    files: tuple[FileSpec, ...]
    own: bool
    needs: tuple[str, ...] = ()
    options: Mapping[str, object] = field(default_factory=dict)
    values: Mapping[str, choices.Values] = field(default_factory=dict)
    routers: RouterSelection = RouterSelection()
    network: bool = False  # it is of the network alone, where there are scale-up links beside it
    transport: bool = False  # what it writes differs with what the links speak, InfiniBand or Ethernet
    compute: bool = False  # it is about accelerators' traffic: of a cluster, of the networks that carry it

    def of_share(self, share: str) -> BuildTarget | None:
        """The target with the files that it makes of a cluster as a whole (``whole``), of one of its networks
        (``network``), or of a fabric that is built by itself (""); None where that is none."""
        left_out = {"whole": "", "network": "once"}.get(share)
        files = tuple(spec for spec in self.files if spec.cluster != left_out)
        return self if files == self.files else replace(self, files=files) if files else None

    @property
    def reads_transport(self) -> bool:
        """Whether the design has to say what the links speak before it can be built."""
        every = {*self.needs, *(need for spec in self.files for need in spec.needs)}
        return self.transport or not every.isdisjoint(TRANSPORT_NEEDS)


class _ManifestUnfit(Exception):
    """What is wrong with a manifest."""


def targets_by_name(diagnostics: Diagnostics, further: Sequence[Path] = ()) -> dict[str, BuildTarget]:
    """All targets by name: tdsl's own, then those of further folders, which may not take a name again."""
    out: dict[str, BuildTarget] = {}
    for place, own in ((packaged_folder("targets"), True), *((p, False) for p in further)):
        for manifest in sorted(place.glob("*/target.toml")):
            name = manifest.parent.name
            try:
                if name in out:
                    raise _ManifestUnfit(f"there is already a target `{name}` in {out[name].folder.parent}")
                stamp = file_stamp(manifest) if own else None
                out[name] = (
                    _load_target(manifest, own) if stamp is None else _cached_own_target(manifest, stamp)
                )
            except (_ManifestUnfit, OSError, ValueError, RecursionError) as fault:
                diagnostics.add("E0502", None, f"target `{name}`: {manifest.name}: {fault}")
    return dict(sorted(out.items()))


def chosen_targets(
    known: Mapping[str, BuildTarget], names: Sequence[str], diagnostics: Diagnostics
) -> list[BuildTarget]:
    """The targets of these names, all of them if none is named."""
    out = []
    for name in dict.fromkeys(names or known):
        if name in known:
            out.append(known[name])
            continue
        near = closest_name(name, known)
        hint = f"did you mean `{near}`?" if near else f"known: {', '.join(known)}"
        diagnostics.add("E0501", None, f"there is no target `{name}`", help=hint)
    return out


@lru_cache(maxsize=256)
def _cached_own_target(manifest: Path, stamp: Stamp) -> BuildTarget:
    """One of tdsl's own targets, read again when its manifest changes: a process that builds often reads them
    once."""
    return _load_target(manifest, True)


def _load_target(manifest: Path, own: bool) -> BuildTarget:
    data = tomllib.loads(read_text_file(manifest, LARGEST, within=[manifest.parent.parent]))
    _refuse_unknown_keys(data, _TARGET_KEYS, "the manifest")
    files = data.get("file", [])
    if not isinstance(files, list) or not files:
        raise _ManifestUnfit("it makes no file: write a table `[[file]]`")
    options = data.get("options", {})
    if not isinstance(options, dict):
        raise _ManifestUnfit("`options` is a table of names and defaults")
    try:
        values = choices.read_option_values(data.get("values", {}), options)
    except choices.OptionUnfit as fault:
        raise _ManifestUnfit(fault) from fault
    return BuildTarget(
        manifest.parent.name,
        _text_of_manifest(data, "title"),
        _text_of_manifest(data, "consumer"),
        manifest.parent,
        tuple(_file_spec_of_manifest(f, manifest.parent, own) for f in files),
        own,
        tuple(_word_list_of_manifest(data, "needs")),
        options,
        values,
        _routers_of_manifest(data.get("router", {}), own),
        _layer_of_target(data) == "network",
        data.get("transport") is True,
        _purpose_of_target(data) == "compute",
    )


def _purpose_of_target(data: Mapping[str, object]) -> str:
    """The purpose of the networks that a target is about: ``compute``, or any where nothing is written."""
    said = data.get("purpose", "")
    if said not in ("", "compute"):
        raise _ManifestUnfit('`purpose` is "compute", or not written')
    return str(said)


def _layer_of_target(data: Mapping[str, object]) -> str:
    """What a target is of: ``network``, or both layers where nothing is written."""
    said = data.get("layer", "")
    if said not in ("", "network"):
        raise _ManifestUnfit('`layer` is "network", or not written')
    return str(said)


def _routers_of_manifest(data: object, own: bool) -> RouterSelection:
    if not isinstance(data, dict):
        raise _ManifestUnfit("`router` is a table")
    _refuse_unknown_keys(data, _ROUTER_KEYS, "`router`")
    mtu = data.get("mtu", 65535)
    if type(mtu) is not int:
        raise _ManifestUnfit("`mtu` is a number")
    try:
        patterns = [re.compile(_text_of_manifest(data, k, ".*")) for k in ("interface", "management")]
    except re.error as fault:
        raise _ManifestUnfit(f"`router` has a pattern that is none: {fault}") from fault
    interface, management = (p if own or p.pattern == ".*" else TimedPattern(p) for p in patterns)
    return RouterSelection(
        _text_of_manifest(data, "nos", ""),
        _text_of_manifest(data, "kind", ""),
        interface,
        management,
        mtu,
        data.get("sonic") is True,
        _text_of_manifest(data, "channel", ""),
        data.get("evpn") is True,
    )


def _file_spec_of_manifest(data: object, place: Path, own: bool) -> FileSpec:
    if not isinstance(data, dict):
        raise _ManifestUnfit("`file` is written `[[file]]`")
    _refuse_unknown_keys(data, _FILE_KEYS, "a file")
    scope = data.get("scope", "fabric")
    if scope not in SCOPES:
        raise _ManifestUnfit(f"scope `{scope}` is unknown; known: {', '.join(SCOPES)}")
    keys = ("template", "program", "single", "lint", "kind", "cluster")
    texts = {k: _text_of_manifest(data, k, "") for k in keys}
    if texts["cluster"] not in OF_CLUSTERS:
        raise _ManifestUnfit('`cluster` is "once", "also", or not written')
    path = _text_of_manifest(data, "path")
    _refuse_unfit_paths(path, texts["single"], scope)
    _refuse_unfit_maker(path, texts, place, own)
    return FileSpec(
        path,
        str(scope),
        identity=data.get("identity") is True,
        needs=tuple(_word_list_of_manifest(data, "needs")),
        part=data.get("part") is True,
        **texts,
    )


def _refuse_unfit_paths(path: str, single: str, scope: str) -> None:
    """Raises _ManifestUnfit where paths of a file lead out of the output, or are the same for all of its
    scope."""
    if not path:
        raise _ManifestUnfit("`path` is empty")
    if scope != "fabric" and f"{{{scope}}}" not in path:
        raise _ManifestUnfit(f"`{path}` would be written once for every {scope}: put {{{scope}}} in it")
    for written in filter(None, (path, single)):
        if any(p in ("", ".", "..") for p in written.split("/")) or "\\" in written or ":" in written:
            raise _ManifestUnfit(f"`{written}` leads out of the output folder")
        if not written.isprintable() or written.startswith(".tdsl-") or written == "manifest.json":
            raise _ManifestUnfit(f"{written!r} cannot name a file of the output")


def _refuse_unfit_maker(path: str, texts: Mapping[str, str], place: Path, own: bool) -> None:
    """Raises _ManifestUnfit unless a file has one template or program, which is in the target's folder."""
    if bool(texts["template"]) == bool(texts["program"]):
        raise _ManifestUnfit(f"`{path}` needs either a `template` or a `program`")
    if texts["program"] and not own:
        raise _ManifestUnfit("only tdsl's own targets may bring a program; write a template")
    home = place / "templates" if texts["template"] else place
    made = home / (texts["template"] or texts["program"])
    if "\0" in str(made) or not (
        is_file(made) and is_below_folders(made, [place]) and made.is_relative_to(home)
    ):
        raise _ManifestUnfit(f"{texts['template'] or texts['program']!r} is missing")


def _refuse_unknown_keys(data: Mapping[str, object], known: set[str], what: str) -> None:
    extra = sorted(set(data) - known)
    if extra:
        raise _ManifestUnfit(f"{what} has no `{extra[0]}`; known: {', '.join(sorted(known))}")


def _text_of_manifest(data: Mapping[str, object], key: str, default: str | None = None) -> str:
    value = data.get(key, default)
    if not isinstance(value, str):
        raise _ManifestUnfit(f"`{key}` is missing" if value is None else f"`{key}` is a string")
    return value


def _word_list_of_manifest(data: Mapping[str, object], key: str) -> list[str]:
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise _ManifestUnfit(f"`{key}` is a list of strings")
    return value
