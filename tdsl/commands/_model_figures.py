"""What ``tdsl list models`` prints: the figures of the models of the catalogue, and who lacks one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tdsl.commands._rows import OutputRows

if TYPE_CHECKING:
    from tdsl.semantics.model import DeviceModel

HAVE = {
    "power": ("host", "switch", "ocs", "chip", "optic"),
    "latency": ("switch", "ocs"),
    "mass": ("host", "switch", "ocs"),
    "height": ("host", "switch", "ocs"),
    "airflow": ("host", "switch"),
    "flops": ("chip",),
    "reach": ("optic", "cable"),
}
"""The figures that a model may be asked for, and the kinds of models that have them."""

SHOWN = ("power", "latency", "mass", "airflow")


def model_figure_text(model: DeviceModel, figure: str) -> str:
    """A figure of a model as people write it, with its maximum where it has one, and "" where unknown."""
    if figure not in model.facts:
        return ""
    value, most = model.facts[figure], model.facts.get(f"{figure}_max")
    said = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return said if most is None or most == value else f"{said}, {most} at most"


def rows_of_models(models: Sequence[DeviceModel]) -> OutputRows:
    """Every model with its power, latency, mass and airflow, and what those rest on that are not as
    published."""
    from tdsl.semantics.provenance import BASES, basis_of_figure

    rows = []
    for model in models:
        bases = {figure: basis_of_figure(model, figure) for figure in SHOWN}
        other = [f"{figure} {basis}" for figure, basis in bases.items() if basis not in ("", BASES[0])]
        basis = ", ".join(other) or (BASES[0] if any(bases.values()) else "")
        rows.append((model.name, model.kind, *(model_figure_text(model, f) for f in SHOWN), basis))
    return OutputRows(("model", "kind", *SHOWN, "basis"), rows)


def rows_of_models_without(models: Sequence[DeviceModel], figure: str) -> OutputRows:
    """The models that could have a figure and state none, with the sources in which it was looked for."""
    from tdsl.semantics.provenance import sources_searched

    rows = [
        (m.name, m.kind, sources_searched(m, figure))
        for m in models
        if m.kind in HAVE[figure] and figure not in m.facts
    ]
    return OutputRows(("model", "kind", "searched"), rows)
