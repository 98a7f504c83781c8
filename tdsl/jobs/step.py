"""The time of a step of a job: compute, the pipeline's bubble and what of the communication is exposed.

A model: the efficiency is the user's (or follows from what was measured), phases that do not overlap follow
each other, and communication lies between the two ends of ``tdsl.jobs.communication``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from tdsl.fabric.job_ranks import RankedJob
from tdsl.jobs.arithmetic import (
    DAY,
    all_parameters,
    bubble_of_pipeline,
    days_of_tokens,
    hardware_flops,
    imbalance_of_stages,
    measured_step,
    model_flops,
    utilisation_of_step,
)
from tdsl.jobs.communication import DimensionTime, JobTraffic
from tdsl.jobs.placed import PlacedRanks
from tdsl.prove.view import View
from tdsl.semantics.jobs import ASSUMED, DESIGN, PUBLISHED, Job
from tdsl.system.lazy_dataclass import dataclass

Ends = tuple[Fraction, Fraction | None]
"""The least and the most of a figure; None where no upper end is known."""

DEFAULT, CALIBRATED, CHIP = "default", "calibrated", "catalogue"
"""Where figures are from that nobody wrote: the language's default, what was measured, the chip's model."""


@dataclass(frozen=True, slots=True)
class JobInput:
    """A figure that an answer rests on: its name, its value in words, and where it is from."""

    name: str
    value: str
    origin: str


def exposed_seconds(took: Fraction, overlap: Fraction, compute: Fraction) -> Fraction:
    """What of a communication is not hidden: the share that cannot overlap, and what of the other share takes
    longer than compute."""
    hidden = took * overlap
    return took - hidden + max(Fraction(0), hidden - compute)


@dataclass(eq=False)  # no slots: what is asked for is kept
class StepModel:
    """A step of a job whose communication takes ``times``. ``stated_peak`` are FLOP/s of its chips by format,
    as their models state them."""

    job: Job
    times: tuple[DimensionTime, ...]
    stated_peak: dict[str, Fraction]
    unknown_delays: tuple[str, ...] = ()

    @classmethod
    def of(cls, view: View, ranked: RankedJob, job: Job | None = None) -> StepModel:
        """The model of a job on a view, or of one with other numbers on the same ranks. Raises
        JobNotOnNetwork."""
        ranks = PlacedRanks.of(view, ranked)
        traffic = JobTraffic(ranks)
        job = job or ranked.job
        return cls(job, tuple(traffic.times_of_job(job)), ranks.peak, traffic.delays.missing)

    @cached_property
    def peak(self) -> Fraction:
        """FLOP/s of a rank; 0 where neither the job nor the chips say."""
        return self.job.peak or self.stated_peak.get(self.peak_format, Fraction(0))

    @property
    def peak_format(self) -> str:
        """The number format whose peak is taken: that of the job. Chips that state bf16 alone do fp16 as fast
        (A100, H100: their data sheets print one figure for both)."""
        other = self.job.format == "fp16" and "fp16" not in self.stated_peak
        return "bf16" if other else self.job.format

    @cached_property
    def efficiency(self) -> Fraction:
        """The share of the peak that compute reaches while nothing waits; 0 where nothing says it."""
        if self.job.efficiency:
            return self.job.efficiency
        measured = measured_step(self.job, self.peak) if self.peak else None
        return calibrated_efficiency(self, measured) if measured is not None else Fraction(0)

    @property
    def why_no_time(self) -> str:
        """What is missing for a time; "" if nothing."""
        if not self.peak:
            return f"the chips state no `flops {self.job.format}`: write `peak 989Tflops` in the job"
        if self.job.measured and not self.job.efficiency and self.efficiency <= 0:
            return "its communication alone takes longer than the step that was measured: state `overlap`"
        if self.efficiency > 1:
            return f"what was measured needs {_percent(self.efficiency)} of the peak"
        if self.efficiency <= 0:
            return "the job states no `efficiency`: the share of the peak that its matrix products reach"
        return ""

    @cached_property
    def ideal_compute(self) -> Fraction:
        """Seconds of compute of the fullest stage at the full peak."""
        return hardware_flops(self.job) / (self.job.ranks * self.peak) * imbalance_of_stages(self.job)

    @cached_property
    def compute(self) -> Fraction:
        """Seconds of compute of the fullest stage."""
        return self.ideal_compute / self.efficiency

    @cached_property
    def bubble(self) -> Fraction:
        """Seconds that a stage waits for others to begin and end."""
        return self.compute * bubble_of_pipeline(self.job)

    def overlap_of(self, dimension: str) -> Fraction:
        """The share of a dimension's communication that may run beside compute."""
        return self.job.overlap.get(dimension.removeprefix("experts' "), Fraction(0))

    def exposed_of(self, part: DimensionTime) -> Ends:
        """Seconds of a dimension that are not hidden behind compute."""
        overlap = self.overlap_of(part.dimension)
        most = None if part.most is None else exposed_seconds(part.most, overlap, self.compute)
        return exposed_seconds(part.least, overlap, self.compute), most

    @cached_property
    def exposed(self) -> Ends:
        """Seconds of all communication that are not hidden."""
        return _sum_of_ends([self.exposed_of(t) for t in self.times])

    @cached_property
    def step(self) -> Ends:
        """Seconds of a step."""
        fixed = self.compute + self.bubble
        least, most = self.exposed
        return fixed + least, None if most is None else fixed + most

    @property
    def mfu(self) -> Ends:
        """The share of the peak that the model needs: least, and most, which is always known."""
        least, most = self.step
        low = utilisation_of_step(self.job, most, self.peak) if most is not None else Fraction(0)
        return low, utilisation_of_step(self.job, least, self.peak)

    @property
    def hfu(self) -> Ends:
        """The share of the peak that is computed, recomputed parts with it."""
        more = Fraction(hardware_flops(self.job), model_flops(self.job))
        low, high = self.mfu
        return low * more, None if high is None else high * more

    @property
    def tokens_per_second(self) -> Ends:
        """Tokens a second: least and most."""
        least, most = self.step
        return (self.job.tokens / most if most is not None else Fraction(0)), self.job.tokens / least

    def days_over(self, tokens: int) -> Ends:
        """Days that so many tokens take."""
        least, most = self.step
        return days_of_tokens(self.job, least, tokens), (
            None if most is None else days_of_tokens(self.job, most, tokens)
        )

    @property
    def bytes_per_day(self) -> Ends:
        """Bytes that all ranks send in a day."""
        sent = sum((t.sent for t in self.times), Fraction(0)) * self.job.ranks * DAY
        least, most = self.step
        return (sent / most if most is not None else Fraction(0)), sent / least

    @property
    def limit(self) -> str:
        """What takes most of a step, in words."""
        parts = [(self.compute, "compute"), (self.bubble, "the bubble of the pipeline")]
        for part in self.times:
            least, most = self.exposed_of(part)
            words = f"communication of {part.dimension}" + (f", by {part.limit}" if part.limit else "")
            parts.append((least if most is None else most, words))
        return max(parts, key=lambda p: p[0])[1]

    @property
    def network_limit(self) -> str:
        """The link class that the slowest exposed communication waits for, in words; "" where nothing is
        sent."""
        sending = [(self.exposed_of(t)[0], t) for t in self.times if t.limit]
        return max(sending, key=lambda p: p[0])[1].limit if sending else ""

    # ------------------------------------------------------------ where figures are from
    def inputs(self) -> list[JobInput]:
        """The figures that the answer rests on, with where each is from."""
        job, origins = self.job, self.job.origins
        efficiency = origins.get("efficiency", CALIBRATED if job.measured else DEFAULT)
        out = [
            JobInput("efficiency", _percent(self.efficiency), efficiency),
            JobInput(
                "peak", f"{float(self.peak) / 1e12:g} Tflops {self.peak_format}", origins.get("peak", CHIP)
            ),
            JobInput(
                "parameters", f"{all_parameters(job) / 1e9:.4g} B", _origin(origins, "parameters", "layers")
            ),
            JobInput("batch", f"{job.batch:,} sequences of {job.sequence:,}", _origin(origins, "batch")),
            JobInput("microbatch", str(job.microbatch), _origin(origins, "microbatch")),
            JobInput("precision", job.format, _origin(origins, "format")),
        ]
        said = [f"{name} {_percent(share)}" for name, share in job.overlap.items()]
        out.append(JobInput("overlap", ", ".join(said) or "0%", _origin(origins, "overlap")))
        return out


def _origin(origins: object, *names: str) -> str:
    """Where the first of some settings that is written is from."""
    assert hasattr(origins, "get")
    found = next((origins.get(n) for n in names if origins.get(n)), None)
    return str(found or DEFAULT)


def _percent(share: Fraction) -> str:
    return f"{float(share) * 100:.4g}%"


def _sum_of_ends(parts: list[Ends]) -> Ends:
    """The sums of lower and of upper ends; no upper end where one has none."""
    tops = [most for _, most in parts]
    known = [most for most in tops if most is not None]
    top = sum(known, Fraction(0)) if len(known) == len(tops) else None
    return sum((least for least, _ in parts), Fraction(0)), top


def calibrated_efficiency(model: StepModel, seconds: Fraction) -> Fraction:
    """The efficiency at which a step takes so many seconds, communication as its schedules take it (its
    floors, where no schedule is known); 0 where communication alone takes longer. Overlap with compute is
    counted in full."""
    exposed = Fraction(0)
    for part in model.times:
        took = part.least if part.most is None else part.most
        exposed += took * (1 - model.overlap_of(part.dimension))
    left = seconds - exposed
    whole = model.ideal_compute * (1 + bubble_of_pipeline(model.job))
    return whole / left if left > 0 else Fraction(0)


def with_efficiency(model: StepModel, efficiency: Fraction) -> StepModel:
    """The same at another efficiency: that of another row of a table, say."""
    return StepModel(
        replace(model.job, efficiency=efficiency), model.times, model.stated_peak, model.unknown_delays
    )


ORIGINS = {
    DESIGN: "stated in the design",
    PUBLISHED: "published",
    ASSUMED: "assumed",
    DEFAULT: "default",
    CALIBRATED: "from what was measured",
    CHIP: "of the chip's model",
}
"""Where figures are from, in words."""
