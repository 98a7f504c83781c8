"""``tdsl explore --topology``: networks of the library's topologies for a job and a budget, side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tdsl.commands._compared_figures import number_of_figure, written_in_digits
from tdsl.commands._shared import Wrong, compile_sources, save_text
from tdsl.commands._trials import MoneyAndJob, Trial, rows_of_trials
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun
from tdsl.system.similar import closest_name
from tdsl.system.workers import Workers

if TYPE_CHECKING:
    from tdsl.commands._candidate_frames import CandidateFrame, WantedParts
    from tdsl.commands._sized_topologies import SizedNetwork
    from tdsl.compile.compiler import Request
    from tdsl.findings.diagnostic import Diagnostic
    from tdsl.jobs.step import StepModel

OVER_BUDGET, WITHOUT_SIZE = "E0486", "E0487"
SHOWN = (
    "switches", "cables", "network_power_kw", "network_cost", "step_s", "mfu", "cost_per_million_tokens",
    "bisection", "diameter", "network_limited_by", "errors", "why",
)  # fmt: skip
"""Figures of the table; other formats have all."""
AMOUNT = re.compile(r"\s*+\$?+([0-9][0-9_,]*+(?:\.[0-9]++)?+)\s*+([kMB]?+)\s*+")
SCALE = {"": 1, "k": 10**3, "M": 10**6, "B": 10**9}


@dataclass(frozen=True, slots=True)
class TopologyCall:
    """What a call asks: the topologies, the parts, the efficiency of the job where the call says it, and what
    the network may cost at most."""

    topologies: tuple[str, ...]
    wanted: WantedParts
    efficiency: Fraction | None = None
    budget: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of a call as rows of figures, the text of each that could be written, by its name, and
    what the figures rest on: (where from, what), in words."""

    rows: list[dict[str, object]]
    texts: dict[str, str]
    rests_on: tuple[tuple[str, str], ...]


def budget_from_text(context: click.Context, option: click.Parameter, value: str | None) -> Fraction | None:
    """An amount of money: ``40M``, ``$2.5M``, ``800k``."""
    if value is None:
        return None
    found = AMOUNT.fullmatch(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is not an amount such as 40M or 800k", context, option)
    return Fraction(found[1].replace(",", "").replace("_", "")) * SCALE[found[2]]


def share_from_text(context: click.Context, option: click.Parameter, value: str | None) -> Fraction | None:
    """A percentage above zero as a share, to a hundredth of a percent, as candidates have it."""
    if value is None:
        return None
    found = re.fullmatch(r"\s*+(\d{1,3}(?:\.\d{1,2})?)\s*+%?\s*+", value)
    share = Fraction(found[1]) / 100 if found else Fraction(0)
    if not 0 < share <= 1:
        raise click.BadParameter(f"{value!r} is not a percentage such as 52.5%", context, option)
    return share


def tapers_from_text(context: click.Context, option: click.Parameter, value: str) -> tuple[Fraction, ...]:
    """Ratios such as ``1:1,2:1``, each at least 1:1."""
    out = []
    for text in value.split(","):
        found = re.fullmatch(r"\s*+(\d{1,4})\s*+:\s*+(\d{1,4})\s*+", text)
        if found is None or not int(found[2]) or int(found[1]) < int(found[2]):
            raise click.BadParameter(f"{text!r} is not a ratio such as 2:1", context, option)
        out.append(Fraction(int(found[1]), int(found[2])))
    return tuple(dict.fromkeys(out))


def topologies_from_text(value: str) -> tuple[str, ...]:
    """The topologies of a list. Raises Wrong for one that is unknown, or whose sizes are not found here."""
    from tdsl.commands._sized_topologies import SIZED
    from tdsl.semantics.topology import other_names_of_topologies

    others, out = other_names_of_topologies(), []
    for word in filter(None, map(str.strip, value.split(","))):
        name = others.get(word, word)
        if name not in SIZED:
            near = closest_name(word, SIZED)
            advice = f"did you mean `{near}`? " if near else ""
            raise Wrong(f"--topology {word}: {advice}sizes are found of {', '.join(SIZED)}")
        out.append(name)
    if not out:
        raise Wrong("--topology names none: write --topology clos,dragonfly")
    return tuple(dict.fromkeys(out))


def _some_cost_is_known(rows: Iterable[Mapping[str, object]]) -> bool:
    """Whether the network of a candidate has a cost, if only a lower bound."""
    return any(row.get("network_cost") for row in rows)


def find_candidates(
    source: str, folder: str, asked: Request, call: TopologyCall, money: MoneyAndJob, workers: Workers
) -> Candidates:
    """Size, write, check and measure all candidates. They are compiled as files of a ``folder``. Raises
    Wrong."""
    from tdsl.commands._candidate_frames import UNSIZED, read_candidate_frame
    from tdsl.commands._sized_topologies import networks_of_topology
    from tdsl.compile.compilation import UsageError

    try:
        frame = read_candidate_frame(source, asked, call.wanted)
    except UsageError as wrong:
        raise Wrong(str(wrong)) from None
    _refuse_budget_without_prices(call.budget, frame.priced)
    networks = [n for t in call.topologies for n in networks_of_topology(t, frame.parts)]
    writer = _Writer(frame, folder, asked)
    efficiency, rests_on = writer.efficiency_and_inputs(networks, call.efficiency)
    sized = [n for n in networks if n.blocks]
    trials = [Trial((("candidate", n.name),), writer.ways(n, efficiency), UNSIZED, True) for n in sized]
    tried = rows_of_trials(trials, money, workers, "topologies", "candidates") if trials else []
    found = {str(row["candidate"]): row for row in tried}
    rows = [
        found.get(n.name, {"candidate": n.name, "errors": WITHOUT_SIZE, "way": "0", "why": n.why})
        for n in networks
    ]
    texts = {n.name: frame.text(n, n.blocks[int(str(found[n.name]["way"]))], efficiency, True) for n in sized}
    _refuse_budget_without_prices(call.budget, not sized or _some_cost_is_known(rows))
    for row in rows:
        row.pop("way")
        _judge_by_budget(row, call.budget)
    assumed = [("assumed", f"{n.assumed} ({n.name})") for n in sized if n.assumed]
    return Candidates(rows, texts, (*_origins_of_models(frame), *rests_on, *_merged(assumed)))


def _merged(assumed: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Assumptions, each once with the candidates that make it."""
    by_what: dict[str, list[str]] = {}
    for _, text in assumed:
        what, _, name = text.rpartition(" (")
        by_what.setdefault(what, []).append(name.removesuffix(")"))
    yield from (("assumed", f"{what} ({', '.join(names)})") for what, names in by_what.items())


def _origins_of_models(frame: CandidateFrame) -> Iterator[tuple[str, str]]:
    """Who says which models the candidates are made of."""
    for who in dict.fromkeys(w for _, w in frame.origins):
        yield who, ", ".join(name for name, w in frame.origins if w == who)


class _Writer:
    """Writes candidates of a frame as files of a folder, and has them compiled."""

    def __init__(self, frame: CandidateFrame, folder: str, asked: Request) -> None:
        self.frame, self.folder, self.asked = frame, folder, asked

    def ways(self, network: SizedNetwork, efficiency: Fraction | None) -> tuple[tuple[str, Request], ...]:
        """The file of a network and the calls that compile it, one for each way to write it."""
        from tdsl.commands._candidate_frames import candidate_request

        source = (Path(self.folder) / f"{network.name}.fab").as_posix()
        return tuple(
            (source, candidate_request(source, self.frame.text(network, block, efficiency), self.asked))
            for block in network.blocks
        )

    def efficiency_and_inputs(
        self, networks: Sequence[SizedNetwork], asked: Fraction | None
    ) -> tuple[Fraction | None, tuple[tuple[str, str], ...]]:
        """The efficiency to write into each candidate's job, None where it says its own, and what the job's
        figures rest on. What follows from a measurement is that of a Clos without oversubscription of these
        hosts, asked for or not; of the first candidate where there is none. Raises Wrong."""
        from tdsl.jobs.step import ORIGINS

        job = self.frame.job
        if job is None:
            return None, ()
        own = asked is not None or job.efficiency
        if not own and not job.measured:
            raise Wrong(
                f"job `{job.name}` states no efficiency, and nothing was measured of it: write "
                "--efficiency 50%, the share of the peak that its matrix products reach while nothing waits"
            )
        name, model = self._reference(networks, asked)
        if model.why_no_time:
            raise Wrong(f"job `{job.name}`, on {name}: {model.why_no_time}")
        efficiency = asked if own else Fraction(round(model.efficiency * 10000), 10000)
        said = []
        for given in model.inputs():
            where = "the call" if given.name == "efficiency" and asked is not None else ORIGINS[given.origin]
            measured_on = not own and given.name == "efficiency"
            more = f", with {name} as the network of the measurement" if measured_on else ""
            said.append((where, f"{given.name} {given.value}{more}"))
        if model.unknown_delays:
            said.append(("counted as 0", f"delays of {', '.join(model.unknown_delays)}"))
        return efficiency or None, tuple(said)

    def _reference(self, networks: Sequence[SizedNetwork], asked: Fraction | None) -> tuple[str, StepModel]:
        """The first network that can be built, a Clos before others, and the job on it. Raises Wrong."""
        from dataclasses import replace

        from tdsl.commands._jobs import model_of_job
        from tdsl.commands._sized_topologies import networks_of_topology

        plain = replace(self.frame.parts, tapers=(Fraction(1),))
        first = [*networks_of_topology("clos", plain), *networks]
        for network in first:
            for file, request in self.ways(network, asked):
                found = compile_sources([file], request, verify=False)[0]
                if found.designs and found.designs[0].jobs and not _has_errors(found.findings):
                    design = found.designs[0]
                    return network.name, model_of_job(design, design.jobs[0])
        why = "; ".join(dict.fromkeys(n.why for n in networks if n.why)) or "none can be built"
        raise Wrong(f"no network of these topologies holds the job: {why}")


def _has_errors(findings: Sequence[Diagnostic]) -> bool:
    return any(d.severity.word == "error" for d in findings)


def _judge_by_budget(row: dict[str, object], budget: Fraction | None) -> None:
    """Refuse a candidate whose network costs more than the budget for certain."""
    if budget is None or row["errors"]:
        return
    text = str(row.get("network_cost", ""))
    least = number_of_figure(text.removeprefix(">="))
    if least is not None and least > budget:
        row["errors"] = OVER_BUDGET
        row["why"] = f"its network costs {text}, {written_in_digits(least - float(budget))} above the budget"


def _refuse_budget_without_prices(budget: Fraction | None, known: bool) -> None:
    """Raise Wrong where no candidate's cost is known, so that none can be judged by the budget."""
    if budget is not None and not known:
        raise Wrong(
            "--budget needs prices: `price` in the models of FILE, or --prices; --cable names the part of "
            "the links, whose price is that of a link with its ends"
        )


def verdict_on_budget(rows: Sequence[dict[str, object]], budget: Fraction | None) -> str:
    """What the budget buys, in a sentence; "" where no candidate is judged by one."""
    if budget is None:
        return ""
    costs = {id(row): number_of_figure(row.get("network_cost", "")) for row in rows}
    over = [row for row in rows if row["errors"] == OVER_BUDGET]
    within = [row for row in rows if not row["errors"] and costs[id(row)] is not None]
    unknown = [row for row in rows if not row["errors"] and costs[id(row)] is None]
    said = f"budget {float(budget):,.0f}: "
    said += f"{counted_noun(len(within), 'candidate')} within, {len(over)} above"
    said += f", {len(unknown)} of unknown cost" if unknown else ""
    shortest = _shortest_step_within(within)
    if not shortest and over and not within and not unknown:
        cheapest = min(over, key=lambda r: number_of_figure(str(r["network_cost"]).removeprefix(">=")) or 0.0)
        return said + f"; the cheapest is {cheapest['candidate']} at {cheapest['network_cost']}"
    return said + shortest


def _shortest_step_within(within: Sequence[dict[str, object]]) -> str:
    """The candidate of the shortest step, of equal ones the cheapest, in words; "" where no step is known."""
    timed = [row for row in within if number_of_figure(row.get("step_s", "")) is not None]
    if not timed:
        return ""
    best = min(timed, key=lambda r: (number_of_figure(r["step_s"]), number_of_figure(r["network_cost"])))
    return f"; the shortest step within: {best['candidate']}, {best['step_s']} s for {best['network_cost']}"


def write_candidates(found: Candidates, folder: Path) -> list[str]:
    """Write the design of every candidate that is not refused; their files."""
    out = []
    for row in found.rows:
        if not row["errors"]:
            path = folder / f"{row['candidate']}.fab"
            save_text(found.texts[str(row["candidate"])], path, folder.parent)
            out.append(path.as_posix())
    return out


def first_known_figure(rows: Sequence[dict[str, object]]) -> str:
    """The figure that candidates are judged by where the call says none: what the network costs if that is
    known of all, else its power, else its cables."""
    good = [row for row in rows if row["errors"] in ("", OVER_BUDGET)]
    for name in ("network_cost", "network_power_kw"):
        if good and all(number_of_figure(row.get(name, "")) is not None for row in good):
            return name
    return "cables"
