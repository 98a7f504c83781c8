"""Published training runs of the library on wiring that a test writes: what the model makes of them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from tdsl.compile.compiler import Request, compile_without_checks
from tdsl.findings.diagnostic import Severity
from tdsl.jobs.arithmetic import hardware_flops, measured_step, model_flops, utilisation_of_step
from tdsl.jobs.step import StepModel, calibrated_efficiency, with_efficiency
from tdsl.prove.view import View
from tests.harness import written

MEGASCALE = {f"megascale_175b_{gpus}_gpus": gpus for gpus in (256, 512, 768, 1024, 3072, 6144, 8192, 12288)}
MEGATRON = {
    "megatron_1_7b": 32, "megatron_3_6b": 64, "megatron_7_5b": 128, "megatron_18_4b": 256, "megatron_39_1b": 512,
    "megatron_76_1b": 1024, "megatron_145_6b": 1536, "megatron_310_1b": 1920, "megatron_529_6b": 2520, "megatron_1008b": 3072,
}  # fmt: skip
"""Rows of the library's tables with their GPUs."""


def model_of_text(folder: Path, text: str, name: str = "run") -> StepModel:
    """The model of a job of the one fabric of a text."""
    found = compile_without_checks(str(written(folder / "design.fab", text)), Request())
    assert not [d.message for d in found.findings if d.severity is Severity.ERROR]
    (design,) = found.designs
    assert design.fabric is not None
    (job,) = [j for j in design.jobs if j.job.name == name]
    return StepModel.of(View.whole(design.fabric.network), job)


def model_of_row(folder: Path, file: str, name: str, gpus: int, more: str = "") -> StepModel:
    """The model of a run on DGX A100, each of whose eight ports leads to a non-blocking switch of its own."""
    hosts = gpus // 8
    text = f"""use jobs.{file} ({name})
model switch ONE "One non-blocking switch" {{ port p[1..{max(hosts, 2)}]: 200Gbps }}
fabric f "A run" {{
  host node[{hosts}]: DGX_A100
  switch rail[8]: ONE
  connect node[n].nic[r] to rail[r]
  job run: {name} {{ {more} }}
}}
"""
    return model_of_text(folder, text)


def predicted_shares(models: dict[str, StepModel], hardware: bool) -> dict[str, tuple[Fraction, Fraction]]:
    """Of each run the share of the peak as published and as predicted at the efficiency of the first one; of what is computed
    where ``hardware``, else of what the model needs."""
    found: dict[str, tuple[Fraction, Fraction]] = {}
    efficiency = Fraction(0)
    for name, model in models.items():
        seconds = measured_step(model.job, model.peak)
        assert seconds is not None
        efficiency = efficiency or calibrated_efficiency(model, seconds)
        scale = Fraction(hardware_flops(model.job), model_flops(model.job)) if hardware else Fraction(1)
        published = utilisation_of_step(model.job, seconds, model.peak) * scale
        found[name] = published, with_efficiency(model, efficiency).mfu[0] * scale
    return found
