"""``tdsl list models``: the figures of the catalogue, and who lacks one."""

from __future__ import annotations

import json

import pytest

from tests.cli.run import tdsl

HAVE = {
    "power": {"host", "switch", "ocs", "chip", "optic"},
    "latency": {"switch", "ocs"},
    "mass": {"host", "switch", "ocs"},
    "height": {"host", "switch", "ocs"},
    "airflow": {"host", "switch"},
    "flops": {"chip"},
    "reach": {"optic", "cable"},
}


def rows_of(*words: str) -> dict[str, dict[str, str]]:
    done = tdsl("list", "models", *words, "--format", "json")
    assert done.exit_code == 0, done.output
    return {r["model"]: r for r in json.loads(done.stdout)["models"]}


@pytest.fixture(scope="module")
def models() -> dict[str, dict[str, str]]:
    return rows_of()


def test_every_model_with_its_figures(models: dict[str, dict[str, str]]) -> None:
    hardware = json.loads(tdsl("list", "hardware", "--format", "json").stdout)["hardware"]
    assert [*models] == [r["model"] for r in hardware]
    assert models["QM9700"] == {
        "model": "QM9700", "kind": "switch", "power": "747W, 1.72kW at most", "latency": "", "mass": "14.8kg", "airflow": "",
        "basis": "published",
    }  # fmt: skip
    assert (models["TPU_V4"]["power"], models["TPU_V4"]["basis"]) == ("170W, 192W at most", "power measured")
    assert models["Q3400"]["airflow"] == "front-to-rear" and models["QM8700"]["latency"] == "130ns"
    assert {r["basis"] for r in models.values() if not any(r[k] for k in ("power", "latency", "mass", "airflow"))} == {""}


@pytest.mark.parametrize("figure", HAVE)
def test_those_without_a_figure_say_where_it_was_looked_for(figure: str, models: dict[str, dict[str, str]]) -> None:
    missing = rows_of("--missing", figure)
    assert all(r["searched"] and r["kind"] in HAVE[figure] for r in missing.values())
    if figure in ("power", "latency", "mass", "airflow"):
        assert set(missing) == {m for m, r in models.items() if r["kind"] in HAVE[figure] and not r[figure]}


def test_explain_says_the_same() -> None:
    assert "- power: 170W, 192W at most (measured)" in tdsl("explain", "TPU_V4").stdout
    assert "- power: not given; looked for in: NVIDIA Spectrum-4 SN5000" in tdsl("explain", "SN5600").stdout


def test_only_models_lack_figures() -> None:
    done = tdsl("list", "designs", "--missing", "power")
    assert done.exit_code == 2 and "--missing is for `tdsl list models`" in done.output
