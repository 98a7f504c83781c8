"""A drawing of what the time of a step goes to: a bar for each job, a piece for each phase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from tdsl.commands._pareto import axis_range, axis_ticks
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.jobs.step import StepModel

WIDTH, LEFT, RIGHT, TOP = 900, 30, 40, 64
ROW, BAR = 112, 30
COLOURS = {
    "compute": "#4a6fa5", "bubble": "#b9bfc7", "tensor": "#c8553d", "context": "#8e5ba6",
    "pipeline": "#e0a458", "data": "#3c8d6e", "expert": "#a63d6f", "experts' data": "#6aa84f",
}  # fmt: skip
OTHER = "#777777"


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of a step: seconds that it takes at least, and how much more at most; None where no most is
    known."""

    name: str
    least: Fraction
    more: Fraction | None

    @property
    def text(self) -> str:
        """Its name and seconds in words."""
        from tdsl.jobs.table import seconds_text

        most = None if self.more is None else self.least + self.more
        return f"{self.name} {seconds_text((self.least, most))}"


def phases_of_step(model: StepModel) -> list[Phase]:
    """Compute, the bubble, and what is exposed of each dimension's communication, innermost first."""
    out = [Phase("compute", model.compute, Fraction(0)), Phase("bubble", model.bubble, Fraction(0))]
    for part in model.times:
        least, most = model.exposed_of(part)
        out.append(Phase(part.dimension, least, None if most is None else most - least))
    return out


def step_svg(models: Sequence[tuple[str, StepModel]]) -> str:
    """An SVG of steps with their names, all to one scale. What a phase takes at least is filled; behind these
    pieces, pale, what communication takes more by the schedules that are known."""
    longest = max(float(model.step[1] or model.step[0]) for _, model in models)
    _, high, step = axis_range([longest, 0.0])
    height = TOP + ROW * len(models) + 30

    def across(seconds: float) -> float:
        return round(LEFT + seconds / high * (WIDTH - LEFT - RIGHT), 1)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="28" font-size="17" font-weight="bold">What the time of a step goes to</text>',
        f'<text x="{LEFT}" y="46" fill="#555555">filled: at least; pale: what communication takes more by '
        "the schedules that are known. A model, not a measurement.</text>",
    ]
    for value in axis_ticks(0.0, high, step):
        x = across(value)
        out += [
            f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{height - 30}" stroke="#dddddd"/>',
            f'<text x="{x}" y="{height - 12}" text-anchor="middle">{value:g} s</text>',
        ]
    for number, (name, model) in enumerate(models):
        out += _step_bar(name, model, TOP + ROW * number, [across(0.0), across(1.0)])
    return "\n".join([*out, "</svg>"]) + "\n"


def _step_bar(name: str, model: StepModel, top: int, scale: Sequence[float]) -> Iterator[str]:
    """One step: its name and times, its bar and what the pieces are."""
    from tdsl.jobs.table import percent_text_of_ends, seconds_text

    said = f"{name}: {seconds_text(model.step)} a step, MFU {percent_text_of_ends(model.mfu)}"
    yield f'<text x="{LEFT}" y="{top + 20}" font-size="13">{escape(said)}</text>'
    phases, x = phases_of_step(model), scale[0]
    pieces = [(p.name, p.least, 1.0) for p in phases] + [(p.name, p.more or Fraction(0), 0.4) for p in phases]
    for piece, seconds, opacity in pieces:
        wide = float(seconds) * (scale[1] - scale[0])
        if wide > 0:
            yield (
                f'<rect x="{x:.1f}" y="{top + 28}" width="{wide:.1f}" height="{BAR}" '
                f'fill="{COLOURS.get(piece, OTHER)}" fill-opacity="{opacity:g}"/>'
            )
        x += wide
    at, line = float(LEFT), top + 28 + BAR + 18
    for phase in (p for p in phases if p.least or p.more or p.more is None):
        wide = 34 + 7.2 * len(phase.text)
        if at + wide > WIDTH - RIGHT:
            at, line = float(LEFT), line + 17
        fill = COLOURS.get(phase.name, OTHER)
        yield f'<rect x="{at:.1f}" y="{line - 9}" width="10" height="10" fill="{fill}"/>'
        yield f'<text x="{at + 15:.1f}" y="{line}">{escape(phase.text)}</text>'
        at += wide
