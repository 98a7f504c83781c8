"""``tdsl init``: a small design to start from."""

from __future__ import annotations

import re
from pathlib import Path

import click

from tdsl.commands._shared import Wrong

TEMPLATE = """\
# {name}: 8 DGX H100 on 8 leaves and 4 spines. Change a number, then run `tdsl check {name}.fab`.
# `tdsl list hardware` shows the models that are known, `tdsl explain E0101` the page of a finding.

fabric {name} {{
  param nodes: int = 8 where 2 <= nodes <= 32  # tdsl check {name}.fab --set nodes=16

  host node[nodes]: DGX_H100  # node[0] .. node[7], each with nic[0] .. nic[7]
  switch leaf[8]: QM9700      # one leaf a rail, 64 ports of 400 Gb/s
  switch spine[4]: QM9700

  connect node[n].nic[r] to leaf[r]        # for every n and r: rail r of a node meets leaf r
  connect leaf[*] to spine[*] spread x 32  # 32 uplinks of each leaf, dealt evenly

  require reachability             # every node reaches every other
  require oversubscription <= 1:1  # no leaf has more below than above
  require edge_redundancy >= 8     # eight paths between any two nodes share no cable
}}
"""


@click.command(
    "init",
    short_help="Write a small commented design to start from.",
    epilog="\b\nExample:\n  tdsl init my_fabric && tdsl check my_fabric.fab",
)
@click.argument("name", default="my_fabric")
def command(name: str) -> None:
    """Write NAME.fab, a small commented design to start from. A file that is there is left alone."""
    name = name.removesuffix(".fab")
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise click.UsageError(f"{name!r} cannot name a fabric: letters, digits and _ only, and no digit first")
    path = Path(f"{name}.fab")
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(TEMPLATE.format(name=name))
    except FileExistsError:
        raise Wrong(f"{path} is there already; choose another name") from None
    except OSError as fault:
        raise Wrong(f"{path}: {fault.strerror or fault}") from None
    click.echo(f"{path} is written; try: tdsl check {path}", err=True)
