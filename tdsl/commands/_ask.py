"""The questions of ``tdsl init --ask``, and the design that they lead to."""

from __future__ import annotations

import re
from math import prod

import click

from tdsl.commands._shared import Wrong
from tdsl.findings.diagnostic import Diagnostic, Severity

TEXT = """\
# {name}: {hosts} {host} on leaves and spines of {switch}. `tdsl check {name}.fab` proves what \
is required below.
# `tdsl expand {name}.fab` prints the devices and links that these lines describe.

fabric {name} {{
{transport}  hosts {hosts} x {host}
{rails}  clos {{ leaf {switch}; spine {switch}; oversubscription at most {ratio} }}  \
# the numbers of switches are found

  require reachability{aligned}
  require oversubscription <= {ratio}
{survives}}}
"""


def design_from_answers(name: str) -> str:
    """The text of a design that passes, from the answers given at the terminal. Raises Wrong where no such
    design passes."""
    hosts = click.prompt("Number of hosts", type=click.IntRange(2, 1_000_000), default=64)
    host = click.prompt(
        "Model of the hosts (`tdsl list hardware`)", default="DGX_H100", value_proc=_model_name_from_text
    )
    switch = click.prompt("Model of the switches", default="QM9700", value_proc=_model_name_from_text)
    ratio = click.prompt(
        "Oversubscription, capacity below to capacity above", default="1:1", value_proc=_ratio_from_text
    )
    lost = click.prompt("Number of spines that may fail at once", type=click.IntRange(0, 64), default=1)
    nics = _nic_count_of_host(host)
    given = {
        "name": name,
        "hosts": hosts,
        "host": host,
        "switch": switch,
        "ratio": ratio,
        "transport": "",
        "rails": f"  rails {nics}  # NIC k of every host connects to a leaf of rail k\n" if nics > 1 else "",
        "aligned": " and rail_alignment" if nics > 1 else "",
        "survives": f"  require survives any {lost} of spine  # every host still reaches every other\n"
        if lost
        else "",
    }
    wrong = _findings_of_text(name, TEXT.format(**given))
    if any(d.code == "E0212" for d in wrong):
        which = click.prompt("Transport", type=click.Choice(["infiniband", "roce"]), default="infiniband")
        given["transport"] = f"  transport {which}\n"
        wrong = _findings_of_text(name, TEXT.format(**given))
    errors = [d for d in wrong if d.severity is Severity.ERROR]
    if errors:
        first = errors[0]
        more = f"; {first.help}" if first.help else ""
        raise Wrong(f"no such design passes, and nothing is written: {first.message} ({first.code}){more}")
    return TEXT.format(**given)


def _findings_of_text(name: str, text: str) -> list[Diagnostic]:
    from pathlib import Path

    from tdsl.compile import compiler
    from tdsl.compile.compiler import Request

    path = Path(f"{name}.fab").resolve()
    return list(compiler.compile_and_verify(str(path), Request(overlay={str(path): text})).findings)


def _nic_count_of_host(host: str) -> int:
    """Ports of the first class of a host model, which are those that networks of hosts use."""
    from pathlib import Path

    from tdsl.compile import compiler
    from tdsl.compile.compiler import Request

    path = Path("ask.fab").resolve()
    text = f"fabric ask {{ host h[2]: {host}; connect h[*] each }}\n"
    designs = compiler.compile_without_checks(str(path), Request(overlay={str(path): text})).designs
    fabric = designs[0].fabric if designs else None
    if fabric is None or not fabric.device_count or not fabric.model_of(0).classes:
        raise Wrong(f"{host} is not a host model with ports; `tdsl list hardware` lists the models")
    return prod(a.size for a in fabric.model_of(0).classes[0].axes)


def _model_name_from_text(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", text.strip(), re.ASCII):
        raise click.UsageError("the name of a model has letters, digits and _ only")
    return text.strip()


def _ratio_from_text(text: str) -> str:
    if not re.fullmatch(r"[1-9]\d{0,3}:[1-9]\d{0,3}", text.strip()):
        raise click.UsageError("a ratio such as 1:1 or 2:1")
    return text.strip()
