"""A fabric and the names of targets in; the files of a whole output folder out, in memory, with their manifest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from tdsl import __version__
from tdsl.diagnostic import Diagnostics, Severity
from tdsl.emit.assets import read
from tdsl.emit.quote import file_name
from tdsl.emit.records import Router, Standby
from tdsl.emit.target import FileSpec, Routers, Target, choose, discover
from tdsl.emit.view import FabricView
from tdsl.fabric.graph import Fabric
from tdsl.source import SourceFile

MANIFEST = "manifest.json"
SCHEMA = 1
NEEDS = {
    "cables": "cables",
    "links": "links",
    "infiniband": "InfiniBand links",
    "accelerator_hosts": "hosts with accelerators",
    "routing": "`routing`",
    "roce": "`roce`",
    "partitions": "`partition`",
    "guids": "GUIDs (`--assets`)",
    "torus": "a torus",
}
"""What a target may need, in words."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """``target_paths`` are folders of further targets; ``settings`` are target -> option -> value.

    ``assets`` is a table of real assets' identifiers, ``elsewhere`` the names of devices in it that stand in other fabrics.
    """

    target_paths: tuple[Path, ...] = ()
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    assets: SourceFile | None = None
    elsewhere: frozenset[str] = frozenset()


def build(
    fabric: Fabric, targets: Sequence[str], diagnostics: Diagnostics, options: BuildOptions | None = None
) -> dict[str, bytes]:
    """Path -> bytes of everything these targets make of the fabric (all targets if none is named), manifest included."""
    options = options or BuildOptions()
    known = discover(diagnostics, options.target_paths)
    assets = read(fabric, options.assets, diagnostics, options.elsewhere) if options.assets is not None else None
    view = FabricView(fabric, diagnostics, assets)
    files: dict[str, bytes] = {}
    chosen = choose(known, targets, diagnostics)
    _pass_over(chosen, view, diagnostics)
    for target in chosen:
        for path, content in artefacts(target, view, options, diagnostics).items():
            if path in files:
                diagnostics.add("E0507", None, f"target `{target.name}` would write {path}, which another target writes")
            files[path] = content
    identity = _identity(known, view, files, diagnostics)
    files[MANIFEST] = manifest(fabric, files, identity, __version__)
    return files


def artefacts(target: Target, view: FabricView, options: BuildOptions, diagnostics: Diagnostics) -> dict[str, bytes]:
    """The files of one target; none where the fabric lacks what it needs."""
    from tdsl.emit.render import render  # jinja2 is slow to import and only wanted here

    if not view.capabilities.issuperset(target.needs):
        return {}
    settings = _settings(target, options, diagnostics)
    fitting, unfit = _routers(target, view) if any(spec.scope == "router" for spec in target.files) else ([], [])
    if fitting and unfit:
        text = (
            f"target `{target.name}` is not for {len(unfit)} of {len(unfit) + len(fitting)} {target.routers.kind}es: {unfit[0]}"
        )
        diagnostics.add("E0511", None, text, severity=Severity.NOTE)
    if target.routers.sonic:
        _want_platforms(target, fitting, view, diagnostics)
    files: dict[str, bytes] = {}
    for spec in target.files:
        if not view.capabilities.issuperset(spec.needs):
            _want_guids(target, spec, view, diagnostics)
            continue
        for path, record in _places(spec, view, fitting):
            if path in files:
                diagnostics.add("E0507", None, f"target `{target.name}` would write {path} twice")
                continue
            if spec.kind and getattr(record, "kind", "") != spec.kind:
                continue
            content = render(target, spec, view, record, settings, diagnostics)
            if content and not content.isspace() and _passes(spec, path, content, diagnostics):
                files[path] = content
    return files


def _want_platforms(target: Target, routers: Sequence[Router], view: FabricView, diagnostics: Diagnostics) -> None:
    """A note of models that name no platform of SONiC: their lanes may be a stand-in, and the file has no ``hwsku``."""
    facts = [view.model_facts(r.name) for r in routers]
    nameless = {f["model"] for f in facts if not f.get("hwsku")}
    if nameless:
        diagnostics.add(
            "E0511", None, f"target `{target.name}`: no `hwsku` is said of {' and '.join(sorted(nameless))}",
            severity=Severity.NOTE, help="add it to the file, and compare the lanes with the platform's port_config.ini",
        )  # fmt: skip


def _pass_over(chosen: Sequence[Target], view: FabricView, diagnostics: Diagnostics) -> None:
    """One note of all targets that need what the fabric has not."""
    lacking: dict[str, list[str]] = {}
    for target in chosen:
        missing = [NEEDS.get(need, need) for need in target.needs if need not in view.capabilities]
        if not missing and target.routers != Routers():
            fitting, unfit = _routers(target, view)
            missing = [] if fitting else [f"{target.routers.plural} it can configure" + (f" ({unfit[0]})" if unfit else "")]
        for need in missing:
            lacking.setdefault(need, []).append(f"`{target.name}`")
    if lacking:
        text = "; ".join(f"{' and '.join(names)} for want of {what}" for what, names in lacking.items())
        diagnostics.add("E0506", None, f"passed over: {text}", severity=Severity.NOTE)


def manifest(fabric: Fabric, files: Mapping[str, bytes], identity: str, version: str) -> bytes:
    """What was written, of which design, by which tdsl: no clock and no machine, so the same design gives the same bytes."""
    content = {
        "schema": SCHEMA,
        "tdsl": version,
        "design": {
            "name": fabric.name,
            "sha256": identity,
            "parameters": {k: _plain(v) for k, v in sorted(fabric.parameters.items())},
        },
        "files": {path: {"sha256": sha256(data).hexdigest(), "size": len(data)} for path, data in sorted(files.items())},
    }
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _plain(value: object) -> object:
    """A parameter as JSON has it."""
    return value if isinstance(value, (bool, int, str)) else str(value)


def _identity(known: Mapping[str, Target], view: FabricView, files: Mapping[str, bytes], diagnostics: Diagnostics) -> str:
    """The hash of the file that is a function of the design alone, made for its sake if it was not asked for."""
    from tdsl.emit.render import render

    for target in known.values():
        for spec in target.files:
            if spec.identity and target.own:
                made = files.get(spec.path) or render(target, spec, view, None, dict(target.options), diagnostics)
                return sha256(made or b"").hexdigest()
    return ""


def _settings(target: Target, options: BuildOptions, diagnostics: Diagnostics) -> dict[str, object]:
    """A target's options with what was asked for instead."""
    out = dict(target.options)
    for name, value in options.settings.get(target.name, {}).items():
        if name not in out:
            diagnostics.add(
                "E0502", None, f"target `{target.name}` has no option `{name}`", help=f"known: {', '.join(out) or 'none'}"
            )
        elif type(value) is not type(out[name]):
            diagnostics.add(
                "E0502", None, f"target `{target.name}`: option `{name}` is {type(out[name]).__name__}, not {value!r}"
            )
        else:
            out[name] = value
    return out


def _routers(target: Target, view: FabricView) -> tuple[list[Router], list[str]]:
    """The routers that a target is for, and why it is not for others of their kind."""
    kind = target.routers.kind
    asked = [(r, target.routers.refuses(r)) for r in view.routers(kind)]
    return [r for r, reason in asked if not reason], [reason for _, reason in asked if reason]


def _places(spec: FileSpec, view: FabricView, routers: Sequence[Router]) -> Iterable[tuple[str, object]]:
    """Path and record of every file of a scope."""
    if spec.scope == "fabric":
        return [(spec.path, None)]
    if spec.scope == "device":
        records: list[tuple[str, object]] = [(d.name, d) for d in view.devices]
    elif spec.scope == "plane":
        records = [(p.name, p) for p in view.planes]
    elif spec.scope == "standby":
        return [(_standby_path(spec, s, view), s) for s in view.standbys]
    elif spec.scope == "router":
        records = [(r.name, r) for r in routers]
    elif spec.scope == "host":
        records = [(h.name, h) for h in view.hosts]
    elif spec.scope == "adapters":
        records = [(a.host, a) for a in view.adapters]
    else:
        records = [(m.key, m) for m in view.models]
    if len(records) == 1 and spec.single:
        return [(spec.single, records[0][1])]
    return [(spec.path.replace(f"{{{spec.scope}}}", file_name(name)), record) for name, record in records]


def _standby_path(spec: FileSpec, standby: Standby, view: FabricView) -> str:
    """The path of a standby's file, in the folder of its subnet where there are several."""
    path = spec.path if len(view.planes) > 1 else spec.path.replace("{plane}/", "")
    return path.replace("{plane}", file_name(standby.plane.name)).replace("{standby}", file_name(standby.name))


def _want_guids(target: Target, spec: FileSpec, view: FabricView, diagnostics: Diagnostics) -> None:
    """A note of a file that the design asks for and that names assets by GUIDs which nobody gave."""
    asked = set(spec.needs) - {"guids", *target.needs}
    if "guids" in spec.needs and asked and view.capabilities.issuperset(asked) and "guids" not in view.capabilities:
        diagnostics.add(
            "E0511", None, f"target `{target.name}`: {spec.single or spec.path} is left out: it names assets by their GUIDs",
            severity=Severity.NOTE, help="give them with `--assets FILE`: device,port,node_guid,port_guid",
        )  # fmt: skip


def _passes(spec: FileSpec, path: str, content: bytes, diagnostics: Diagnostics) -> bool:
    """Whether a file passes the check its target names; a file that does not is not written.

    What the consumer would have to find out by itself is a fault here: a file that is made says all.
    """
    if spec.lint != "nccl":
        return True
    from tdsl.emit.nccl_lint import FILLED_IN, lint
    from tdsl.source import SourceFile

    faults = [f for f in lint(SourceFile(path, content.decode())) if f.severity is Severity.ERROR or f.code == FILLED_IN]
    for fault in faults:
        row, column = fault.span.begin if fault.span else (1, 1)
        diagnostics.add("E0510", None, f"{path}, line {row}, column {column}: {fault.message}", help=fault.help)
    return not faults
