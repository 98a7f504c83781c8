"""``tdsl new``: a folder to start a target from."""

from __future__ import annotations

import re
from pathlib import Path

import click

from tdsl.commands._shared import Wrong

MANIFEST = """\
title = "One line a device"  # shown by `tdsl list targets`
consumer = "people"          # what reads the files
needs = []                   # "links", "cables", "infiniband", "accelerator_hosts", "routing": passed over where one is lacking

# [router]                   # of scope router: only those that
# kind = "switch"            # are of this kind,
# interface = 'swp[0-9]+'    # name every port so, their management port as `management` says,
# mtu = 9216                 # and have at most this MTU

[options]                    # known to templates as `options.heading`
heading = "Devices of"

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

Build it with `tdsl build FILE --target {name} --target-path {place}`. `target.toml` says which files there are; `templates/`
holds them, in Jinja. Names reach a file through a filter of its format: `line`, `csv`, `json`, `xml`, `dot`, `bare`, `node_id`.
"""


@click.group("new", short_help="Write a folder to start a target from.", epilog="\b\nExample:\n  tdsl new target inventory")
def command() -> None:
    """Write a folder to start from."""


@command.command(
    "target",
    short_help="Write a small target: a manifest, templates, a page.",
    epilog="\b\nExample:\n  tdsl new target inventory && tdsl build pod.fab --target-path . --target inventory",
)
@click.argument("name")
@click.option(
    "--in", "place", type=click.Path(path_type=Path), default=Path(), metavar="DIR", help="Where to put it; here, if not given."
)
def target(name: str, place: Path) -> None:
    """Write the folder NAME, a small target: a manifest, two templates and a page. What is there is left alone."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise click.UsageError(f"{name!r} cannot name a target: small letters, digits and _ only, a letter first")
    files = {
        "target.toml": MANIFEST.format(name=name),
        "templates/devices.txt.j2": DEVICES,
        "templates/device.txt.j2": DEVICE,
        "README.md": README.format(name=name, place=place.as_posix()),
    }
    folder = place / name
    try:
        (folder / "templates").mkdir(parents=True)
        for path, text in files.items():
            (folder / path).write_text(text, encoding="utf-8")
    except FileExistsError:
        raise Wrong(f"{folder} is there already; choose another name") from None
    except OSError as fault:
        raise Wrong(f"{folder}: {fault.strerror or fault}") from None
    click.echo(f"{folder} is written; try: tdsl build FILE --target {name} --target-path {place.as_posix()}", err=True)
