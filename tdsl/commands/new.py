"""``tdsl new``: a folder to start a target from."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import click

from tdsl.commands._everywhere import print_unless_quiet
from tdsl.commands._shared import Wrong

MANIFEST = """\
title = "One line a device"  # shown by `tdsl list targets`
consumer = "people"          # what reads the files
needs = []                   # "links", "cables", "infiniband", "accelerator_hosts", "routing": \
skipped if one is missing
# transport = true           # what it writes differs between InfiniBand \
and Ethernet, as names of interfaces do

# [router]                   # of scope router: only those that
# kind = "switch"            # are of this kind,
# interface = 'swp[0-9]+'    # name every port so, their management port as `management` says,
# mtu = 9216                 # and have at most this MTU

[options]                    # known to templates as `options.heading`
heading = "Devices of"

[values]                     # what they take: a list of words, {{from = 0, to = 7}}, \
or a form; without an entry, any
heading = {{form = "[ -~]{{1,80}}", says = "a text of 1 to 80 printable ASCII characters"}}

[[file]]                     # one table for each file
path = "{name}/devices.txt"
template = "devices.txt.j2"

[[file]]                     # scope: one file for each device; also plane, model, host and router
path = "{name}/devices/{{device}}.txt"
scope = "device"
template = "device.txt.j2"
"""

DEVICES = """\
{{ options.heading }} {{ fabric.title | line }}
{% for device in fabric.devices %}
{{ device.name | line }} {{ device.model | line }}
{% endfor %}
"""

DEVICE = """\
{{ device.name | line }}: {{ device.model | line }} with {{ device.port_count }} ports
"""

README = """\
# {name}: one line a device

Build it with `tdsl build FILE --target {name} --target-path {place}`. \
`target.toml` says which files there are; `templates/`
holds them, in Jinja. Names reach a file through a filter of its format: \
`line`, `csv`, \
`json`, `xml`, `dot`, `bare`, `node_id`.
"""


@click.group(
    "new",
    short_help="Write a folder to start a target from.",
    epilog="\b\nExample:\n  tdsl new target inventory",
)
def command() -> None:
    """Write a folder to start from."""


@command.command(
    "target",
    short_help="Write a small target: a manifest, templates, a page.",
    epilog="\b\nExample:\n  tdsl new target inventory && tdsl build pod.fab --target-path . --target "
    "inventory",
)
@click.argument("name")
@click.option(
    "--in",
    "place",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Where to put it; here, if not given.",
)
@click.option("--from", "base", metavar="TARGET", help="Extend the templates of this target instead.")
def target(name: str, place: Path, base: str | None) -> None:
    """Write the folder NAME, a small target: a manifest, two templates and a page. What is there is left
    alone.

    With --from, the manifest is that of another target, and each template extends its template: what you
    write into a block replaces that part, and the rest follows the target.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise click.UsageError(
            f"{name!r} cannot name a target: small letters, digits and _ only, a letter first"
        )
    files = (
        _files_of_extended_target(name, base)
        if base is not None
        else {
            "target.toml": MANIFEST.format(name=name),
            "templates/devices.txt.j2": DEVICES,
            "templates/device.txt.j2": DEVICE,
            "README.md": README.format(name=name, place=place.as_posix()),
        }
    )
    folder = place / name
    _write_new_folder(files, folder)
    print_unless_quiet(
        f"{folder} is written; try: tdsl build FILE --target {name} --target-path {place.as_posix()}"
    )


def _write_new_folder(files: Mapping[str, str], folder: Path) -> None:
    """Write a new folder, all of it or nothing: what is there, a link as well, belongs to somebody."""
    from tdsl.system.replace import folders_made_on_way, unique_name_part
    from tdsl.system.signals import exit_if_signalled, hold_signals

    stage = folder.with_name(f".{folder.name[:100]}.{unique_name_part()}.tmp")
    try:
        with hold_signals(), folders_made_on_way(stage, folder.parent):
            if os.path.lexists(folder):
                raise FileExistsError
            try:
                (stage / "templates").mkdir(parents=True)
                for path, text in files.items():
                    exit_if_signalled()
                    (stage / path).write_text(text, encoding="utf-8")
                stage.rename(folder)
            except BaseException:
                shutil.rmtree(stage, ignore_errors=True)
                raise
    except FileExistsError:
        raise Wrong(f"{folder} is there already; choose another name") from None
    except OSError as fault:
        raise Wrong(f"{folder}: {fault.strerror or fault}") from None


def _files_of_extended_target(name: str, base: str) -> dict[str, str]:
    """A manifest like another target's, and templates that extend its templates."""
    from tdsl.emit.target import targets_by_name
    from tdsl.findings.diagnostic import Diagnostics

    known = targets_by_name(Diagnostics())
    if base not in known:
        raise Wrong(f"there is no target {base!r}; there are {', '.join(known)}")
    found = known[base]
    programs = [f.path for f in found.files if f.program]
    if len(programs) == len(found.files):
        raise Wrong(
            f"target {base!r} has no template: {programs[0]} is made by a program, which cannot be extended"
        )
    manifest = (found.folder / "target.toml").read_text(encoding="utf-8")
    head, *tables = re.split(r"^(?=\[\[file\]\]$)", manifest, flags=re.M)
    manifest = head + "".join(t for t in tables if not re.search(r"^program = ", t, re.M))
    said = f" {', '.join(programs)}: made by a program, and left out here." if programs else ""
    files = {
        "target.toml": re.sub(rf'((?:path|single) = ")(?:{re.escape(base)}/)?', rf"\g<1>{name}/", manifest),
        "README.md": f"# {name}: like {base}\n\nEach template extends one of `{base}`. Build it with "
        "`tdsl build FILE "
        f"--target {name} --target-path .`, and name no other target for the same switches.{said}\n",
    }
    for template in dict.fromkeys(f.template for f in found.files if f.template):
        text = (found.folder / "templates" / template).read_text(encoding="utf-8")
        blocks = re.findall(r"{% block (\w+) %}", text)
        more = "".join(f"{{# {{% block {b} %}}{{{{ super() }}}}{{% endblock %}} #}}\n" for b in blocks)
        files[f"templates/{template}"] = f'{{% extends "{base}/{template}" %}}\n{more}'
    return files
