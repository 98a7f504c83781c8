"""``tdsl list models``: the figures of the catalogue, and who lacks one."""

from __future__ import annotations

import json

import pytest

from tests.cli.run import tdsl
from tests.harness import sampled

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
    assert models["SN5600"]["basis"] == "power reported, mass reported" and models["GAUDI3"]["basis"] == "published"
    assert models["Q3400"]["airflow"] == "front-to-rear" and models["QM8700"]["latency"] == "130ns"
    assert {r["basis"] for r in models.values() if not any(r[k] for k in ("power", "latency", "mass", "airflow"))} == {""}


@pytest.mark.parametrize("figure", sampled(HAVE, 4))
def test_those_without_a_figure_say_where_it_was_looked_for(figure: str, models: dict[str, dict[str, str]]) -> None:
    missing = rows_of("--missing", figure)
    assert all(r["searched"] and r["kind"] in HAVE[figure] for r in missing.values())
    if figure in ("power", "latency", "mass", "airflow"):
        assert set(missing) == {m for m, r in models.items() if r["kind"] in HAVE[figure] and not r[figure]}


NOT_SOLD = {"AGG_BLOCK", "BCM_SERVER", "G6E", "GH200_NODE", "H800_NODE", "NVSWITCH2", "NVSWITCH3", "PALOMAR"}
"""What one operator has made for itself and publishes no design of, servers of any maker, an instance of a cloud, chips inside
of hosts."""
PDUS = {"PX3_5747V", "PX3_5878I2R"}
SOLD_IN_RACKS = {"EX235A", "GB200_TRAY", "GB300_TRAY", "NVLINK5_SWITCH"}
OF_CLOUDS = ("A3_", "A4X", "BM_GPU_", "ND_", "P4D", "P5", "SW51T", "SW64x400", "SW102T")
"""Shapes of clouds, and switches of any maker."""


def test_power_of_what_is_sold_by_the_piece(models: dict[str, dict[str, str]]) -> None:
    """Of 30 switches and servers that can be ordered, open designs of the OCP included, 24 have a power, seven of which are
    estimates; of the others more than their own source was searched for it."""
    missing = rows_of("--missing", "power")
    kinds = ("switch", "host", "ocs")
    known = {m for m, r in models.items() if r["kind"] in kinds and not m.startswith(OF_CLOUDS)}
    ordered = known - SOLD_IN_RACKS - PDUS - NOT_SOLD
    lack = {"ARISTA_7800", "MINIPACK2", "MINIPACK3", "QM8700", "QM8790", "R300"}
    assert missing.keys() & ordered == lack and (len(ordered - lack), len(ordered)) == (24, 30)
    assert sum("power estimated" in models[m]["basis"] for m in ordered) == 7
    assert not any(missing[m]["searched"].startswith("its source alone") for m in lack | PDUS)


def test_explain_says_the_same() -> None:
    assert "- power: 170W, 192W at most (measured)" in tdsl("explain", "TPU_V4").stdout
    assert "- power: 940W (reported)" in tdsl("explain", "SN5600").stdout
    assert "- power: not given; looked for in: NVIDIA QM87xx" in tdsl("explain", "QM8700").stdout


def test_only_models_lack_figures() -> None:
    done = tdsl("list", "designs", "--missing", "power")
    assert done.exit_code == 2 and "--missing is for `tdsl list models`" in done.output
