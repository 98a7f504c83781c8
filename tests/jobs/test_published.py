"""Published runs: their figures come out of the formulas, and rows of a table out of the efficiency of its first row, with the
errors that docs/jobs.md states."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from tdsl.jobs.arithmetic import (
    DAY,
    all_parameters,
    attention_flops_of_token,
    days_of_tokens,
    expert_exchange_bytes,
    measured_step,
    model_flops_of_token,
    step_of_rate,
    utilisation_of_step,
)
from tdsl.jobs.step import StepModel
from tests.cli.run import report, write
from tests.harness import none
from tests.jobs.published import MEGASCALE, MEGATRON, model_of_row, model_of_text, predicted_shares

PAGE = Path(__file__).parents[2] / "docs" / "jobs.md"
LLAMA = {"llama3_405b_8k_gpus": 1024, "llama3_405b_16k_gpus": 2048, "llama3_405b_long": 2048}


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StepModel]:
    """The three rows of Llama 3 on the library's cluster."""
    out = {}
    for name, hosts in LLAMA.items():
        text = f"use designs.llama3_24k (llama3_24k)\nuse jobs.llama3 ({name})\n"
        text += f"extend llama3_24k {{ job run: {name} {{ on host[0..{hosts - 1}].gpu }} }}\n"
        out[name] = model_of_text(tmp_path_factory.mktemp("llama"), text)
    return out


def near(found: Fraction | float | None, wanted: float, share: float = 1e-3) -> bool:
    """Whether a figure is one that was printed."""
    return found is not None and abs(float(found) / wanted - 1) <= share


def test_llama_3(llama: dict[str, StepModel]) -> None:
    """430, 400 and 380 TFLOP/s are 43.5, 40.4 and 38.4 % of 989; a step takes 6.22 s; causal attention is 4.2 % more."""
    for model, wanted in zip(llama.values(), (0.435, 0.404, 0.384), strict=True):
        seconds = measured_step(model.job, model.peak)
        assert seconds is not None
        assert near(utilisation_of_step(model.job, seconds, model.peak), wanted, 2e-3)
        assert model.job.tokens == 16_777_216
    job = llama["llama3_405b_16k_gpus"].job
    assert job.ranks == 8 * 1 * 16 * 128 == 16_384 and llama["llama3_405b_long"].job.ranks == 8 * 16 * 16 * 8
    assert near(step_of_rate(job, Fraction(400 * 10**12)), 6.22)
    assert near(Fraction(attention_flops_of_token(job, "causal"), model_flops_of_token(job)), 0.042, 0.01)


def test_megascale(tmp_path: Path) -> None:
    """531,900 tokens a second are 59.1 %, and 300 billion tokens at 1,984,000 a second take 1.75 days."""
    model = model_of_row(tmp_path, "megascale", "megascale_175b_3072_gpus", 3072)
    assert near(utilisation_of_step(model.job, Fraction(model.job.tokens, 531_900), model.peak), 0.591, 1e-3)
    last = model_of_row(tmp_path, "megascale", "megascale_175b_12288_gpus", 12288).job
    assert near(days_of_tokens(last, Fraction(last.tokens, 1_984_000), 300 * 10**9), 1.75, 1e-3)
    assert near(last.tokens / Fraction(634, 100), 1_984_700, 1e-3)


def test_deepseek_v3(tmp_path: Path) -> None:
    """19.926 s a step of 15,360 sequences are 3.157 M tokens a second, 272.8 billion a day; the exchange of experts of the paper
    takes 120.96 us, and 14.76 ms for two of them in each of 61 layers."""
    text = "use designs.deepseek_v3_2048 (deepseek_v3_2048)\nuse jobs.deepseek_v3 (deepseek_v3)\n"
    model = model_of_text(tmp_path, text + "extend deepseek_v3_2048 { job run: deepseek_v3 { on host.gpu } }\n")
    assert near(model.step[1], 19.926, 1e-9) and near(model.tokens_per_second[0], 3.157e6)
    assert near(model.tokens_per_second[0] * DAY, 272.8e9, 1e-4)
    assert near(model.mfu[0], 0.4373, 0.015)  # the width of attention is a mean: docs/jobs.md
    halves = (expert_exchange_bytes(Fraction(32), 9, 7000, Fraction(n)) for n in (1, 2))
    took = sum(halves) / Fraction(50 * 10**9)
    assert took == Fraction(12096, 10**8) and near(took * 2 * 61, 14.76e-3, 1e-3)


def test_palm_and_gpt_3(tmp_path: Path) -> None:
    """238,300 tokens a second are 46.2 % of 6,144 TPU v4; 140 TFLOP/s on 1,024 A100 are 34 days for 300 billion tokens."""
    text = """use jobs.palm (palm_540b)
model host TPUS { port ici[4]: 200Gbps; chip tpu[12]: TPU_V4 }
model switch ONE { port p[1..2048]: 200Gbps }
fabric f "f" { host node[512]: TPUS; switch sw: ONE; connect node[n].ici to sw; job run: palm_540b { } }
"""
    model = model_of_text(tmp_path, text)
    seconds = measured_step(model.job, model.peak)
    assert seconds is not None and near(utilisation_of_step(model.job, seconds, model.peak), 0.462, 1e-3)
    gpt = model_of_row(tmp_path, "gpt3", "gpt3_175b", 1024)
    seconds = measured_step(gpt.job, gpt.peak)
    assert seconds is not None and near(days_of_tokens(gpt.job, seconds, 300 * 10**9), 34, 0.01)


@pytest.mark.parametrize(
    ("file", "rows", "hardware", "most"), [("megascale", MEGASCALE, False, 10), ("megatron", MEGATRON, True, 15)]
)
def test_rows_of_a_table_by_the_efficiency_of_its_first_row(
    tmp_path: Path, file: str, rows: dict[str, int], hardware: bool, most: float
) -> None:
    """The errors are those of the page, and none is greater than it says."""
    models = {name: model_of_row(tmp_path, file, name, gpus) for name, gpus in rows.items()}
    found = predicted_shares(models, hardware)
    assert max(abs(float(b - a)) for a, b in found.values()) * 100 <= most
    none(faults_of_page(found))


def test_rows_of_llama_3_by_the_efficiency_of_the_first(llama: dict[str, StepModel]) -> None:
    found = predicted_shares(llama, False)
    assert max(abs(float(b - a)) for a, b in found.values()) * 100 <= 5
    none(faults_of_page(found))


def faults_of_page(found: dict[str, tuple[Fraction, Fraction]]) -> list[str]:
    """Rows of docs/jobs.md that say something else."""
    page = PAGE.read_text(encoding="utf-8")
    out = []
    for name, (published, predicted) in found.items():
        shown = re.search(rf"^\| `{name}` \| [\d,]+ \| ([\d.]+) % \| ([\d.]+) % \| ([+−±][\d.]+) \|", page, re.MULTILINE)
        error = (predicted - published) * 100
        sign = "±" if abs(error) < Fraction(1, 20) else "+" if error > 0 else "−"
        wanted = f"{float(published) * 100:.1f}", f"{float(predicted) * 100:.1f}", f"{sign}{abs(float(error)):.1f}"
        if shown is None or shown.groups() != wanted:
            out.append(f"{name}: {wanted}, the page has {shown.groups() if shown else 'no row'}")
    return out


def test_parameters_of_transformers(tmp_path: Path) -> None:
    """Those that the paper prints, to half of the last digit or half a per cent, by the shape of the transformer alone."""
    printed = {"megatron_1_7b": 1.7, "megatron_18_4b": 18.4, "megatron_145_6b": 145.6, "megatron_1008b": 1008.0}
    for name, billions in printed.items():
        job = model_of_row(tmp_path, "megatron", name, MEGATRON[name]).job
        assert near(all_parameters(job), billions * 1e9, 0.035 if billions < 2 else 0.005), name


PRICES = """
model switch SW { port p[1..64]: 400Gbps; price $83_000 }
model cable LINK { rate 400Gbps; medium aoc; price $504 }
model host H { port n[8]: 400Gbps }
"""
NETWORKS = {  # millions of dollars that the table states, and the network
    9: "host h[2048]: H; switch leaf[64]: SW; switch spine[32]: SW; connect h[*].n[0] to leaf[*] spread;"
    " connect leaf[*] to spine[*] each { cable LINK }",
    72: "host h[2048]: H; plane p[8] { switch leaf[64]: SW; switch spine[32]: SW; connect leaf[*] to spine[*] each"
    " { cable LINK } };"
    " connect h[*].n[k] to p[k].leaf[*] spread",
    491: "pod p[64] { host h[1024]: H; switch leaf[32]: SW; switch agg[32]: SW; connect h[*].n[0] to leaf[*] spread;"
    " connect leaf[*] to agg[*] each { cable LINK } }; group plane[32] { switch core[32]: SW };"
    " connect p[*].agg[a] to plane[a].core[*] each { cable LINK }",
}


@pytest.mark.parametrize("millions", NETWORKS)
def test_what_networks_of_a_published_table_cost(millions: int, tmp_path: Path) -> None:
    """Zhao et al., arXiv 2505.09343, table 3: FT2, MPFT and FT3, at the prices that its sums follow from: switches and the links
    between them. Links of hosts have no price there, so the sum is a lower bound here."""
    design = write(tmp_path, f"{PRICES}fabric f {{ {NETWORKS[millions]}; report cost of network }}")
    (found,) = report(design, "--select", "cost")["designs"][0]["results"]
    assert found["status"] == "bounded" and round(found["lower"] / 1e6) == millions
