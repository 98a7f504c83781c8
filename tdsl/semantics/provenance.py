"""Where the figures of a model come from: which were measured or derived, and where one was looked for that
nobody publishes."""

from __future__ import annotations

from tdsl.semantics.fault import Fault
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.values import Value, text_of
from tdsl.syntax import tree
from tdsl.system.similar import closest_name

FACTS = ("basis", "searched")
"""Facts of models that say where others come from."""

FIGURES = ("power", "latency", "mass", "height", "airflow", "flops", "reach", "price")
"""The facts that a ``basis`` or a ``searched`` may name."""

BASES = ("published", "measured", "derived", "reported", "estimated")
"""What a figure is: what the maker states (where a model says nothing), what somebody has measured, what
follows from published figures by arithmetic, what others say that the maker states (a catalogue of users, the
press), or what a rule of thumb gives, or another maker's similar product has: that proves nothing."""


def read_provenance_fact(s: tree.Setting, items: list[list[Value]]) -> tuple[tuple[str, str], ...]:
    """``basis power measured, mass derived`` or ``searched power "documents"`` as pairs. Raises Fault for a
    fact that is no figure, a basis that there is none of, or a figure named twice."""
    name = s.name.name
    example = {"basis": "basis power measured", "searched": 'searched power "Data sheet, table 3"'}[name]
    pairs: dict[str, str] = {}
    for item in items:
        figure, said = (text_of(v) for v in (item if len(item) == 2 else ((), ())))
        if figure not in FIGURES:
            near = closest_name(figure, FIGURES, 0.5)
            hint = f"did you mean `{near}`?" if near else f"it is one of {', '.join(FIGURES)}"
            raise Fault("E0120", s.span, f"`{name}` is a figure and a word", help=f"{hint} (`{example}`)")
        if not said or not isinstance(item[1], str) or (name == "basis" and said not in BASES):
            help = f"write `{example}`" + (f": {', '.join(BASES)}" if name == "basis" else "")
            raise Fault("E0120", s.span, f"`{name}` of `{figure}` has no meaning", help=help)
        if figure in pairs:
            raise Fault("E0104", s.span, f"`{name}` of `{figure}` is set twice")
        pairs[figure] = said
    if not pairs:
        raise Fault("E0120", s.span, f"`{name}` is a figure and a word", help=f"write `{example}`")
    return tuple(pairs.items())


def _provenance_of(model: DeviceModel, fact: str, figure: str) -> str:
    pairs = model.facts.get(fact, ())
    found = (p for p in pairs if isinstance(p, tuple)) if isinstance(pairs, tuple) else iter(())
    return next((str(said) for name, said in found if name == figure), "")


def basis_of_figure(model: DeviceModel, figure: str) -> str:
    """One of ``BASES`` for a figure that the model states, "" for one that it does not."""
    return (_provenance_of(model, "basis", figure) or BASES[0]) if figure in model.facts else ""


def searched_by_model(model: DeviceModel, figure: str) -> str:
    """Where a model says that a figure was looked for, "" where it does not say."""
    return _provenance_of(model, "searched", figure)


def sources_searched(model: DeviceModel, figure: str) -> str:
    """Where a figure was looked for that the model does not state: what it says, else that only its own
    source was; "" for a model without either."""
    own = model.facts.get("source")
    return searched_by_model(model, figure) or (f"its source alone: {own}" if own else "")
