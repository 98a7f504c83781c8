"""Jobs on the command line: `show FILE job`, `compare` and `explore` with jobs and economics."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.run import tdsl
from tests.tables import sections

DESIGN = sections(__file__)["design"]
SPACE = "{http://www.w3.org/2000/svg}"
MONEY = """currency = "USD"
kwh = 0.10
years = 4
pue = 1.5
accelerator = 30000
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pod.fab").write_text(DESIGN, encoding="utf-8")
    (tmp_path / "economics.toml").write_text(MONEY, encoding="utf-8")
    return tmp_path


def test_a_job_is_shown_with_where_its_figures_are_from(here: Path) -> None:
    shown = tdsl("show", "pod.fab", "job", "small")
    assert shown.exit_code == 0 and "from what was measured" in shown.stdout and "stated in the design" in shown.stdout
    (job,) = json.loads(tdsl("show", "pod.fab", "job", "--format", "json").stdout)["jobs"]
    assert job["mfu"][0] == pytest.approx(0.1) and job["mfu"][1] >= job["mfu"][0]
    assert {i["origin"] for i in job["inputs"]} == {"calibrated", "catalogue", "design", "default"}
    assert job["step_s"][0] <= job["step_s"][1] == pytest.approx(job["measured_step_s"])
    table = tdsl("show", "pod.fab", "job", "--format", "csv").stdout.splitlines()
    assert table[0] == "fabric,job,figure,value,detail" and len(table) > 15


def test_other_orders_of_the_ranks(here: Path) -> None:
    """The order as written comes first, and tensor groups that leave their hosts are slower."""
    (first, other) = json.loads(tdsl("show", "pod.fab", "job", "--placement", "--format", "json").stdout)["placements"]
    assert (first["order"], other["order"]) == ("tensor, data", "data, tensor")
    assert other["exposed_least_s"] > 2 * first["exposed_most_s"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (["show", "pod.fab", "job", "smal"], "did you mean `small`?"),
        (["show", "pod.fab", "links", "--placement"], "--placement is of `show FILE job`"),
        (["compare", "pod.fab", "pod.fab", "--job", "llama3_405b_16k"], "did you mean `llama3_405b_16k_gpus`?"),
        (["compare", "pod.fab", "pod.fab", "--economics", "none.toml"], "none.toml"),
        (["compare", "pod.fab", "pod.fab", "--economics", "bad.toml"], "bad.toml:2: E0219: `years` is not an amount that fits"),
        (["compare", "pod.fab", "pod.fab", "--economics", "more.toml"], "more.toml:4: E0219: there is no `tax`"),
        (["compare", "pod.fab", "pod.fab", "--economics", "comma.toml"], "(at line 2, column 8); write `kwh = 0.08`"),
        (
            ["compare", "pod.fab", "pod.fab", "--economics", "share.toml"],
            "share.toml:4: E0219: `interest` is not an amount that fits: it is a share, from 0 to 1; write `interest = 0.06`",
        ),
    ],
)
def test_wrong_calls(here: Path, call: list[str], said: str) -> None:
    (here / "comma.toml").write_text('currency = "USD"\nkwh = 0,08\nyears = 4\n', encoding="utf-8")
    (here / "share.toml").write_text('currency = "USD"\nyears = 4\nkwh = 1\ninterest = 6\n', encoding="utf-8")
    (here / "bad.toml").write_text('currency = "USD"\nyears = 0\nkwh = 1\n', encoding="utf-8")
    (here / "more.toml").write_text('currency = "USD"\nyears = 3\nkwh = 1\ntax = 3\n', encoding="utf-8")
    ran = tdsl(*call)
    assert ran.exit_code == 2 and said in " ".join(ran.stderr.split())


def test_designs_are_compared_by_a_job_and_money(here: Path) -> None:
    """The efficiency follows from what was measured on the first design, so a poorer network is slower; an accelerator-hour by
    hand: 32 accelerators of $30,000 and three switches over four years, and what all use at 1.5 times $0.10 a kWh."""
    call = ["compare", "pod.fab", "--vary", "up=16,1", "--job", "small", "--economics", "economics.toml", "--format", "json"]
    rows = {r["figure"]: r for r in json.loads(tdsl(*call).stdout)["comparison"]}
    steps, mfu = rows["step_s"], rows["mfu"]
    assert float(steps["up=1"]) > float(steps["up=16"]) and mfu["up=16"] == "10%"
    assert rows["efficiency"]["up=1"] == rows["efficiency"]["up=16"]
    assert rows["capital"]["up=16"].removeprefix(">=") == str(32 * 30_000 + 3 * 40_000)
    watts = float(rows["power_kw"]["up=16"].removeprefix(">=")) * 1000
    year = (32 * 30_000 + 120_000) / 4 + watts / 1000 * 1.5 * 8760 * 0.1
    hour = float(rows["accelerator_hour"]["up=16"].removeprefix(">="))
    assert hour == pytest.approx(year / 32 / 8760, rel=1e-3)
    tokens = float(rows["tokens_per_second"]["up=16"])
    each = float(rows["cost_per_million_tokens"]["up=16"].removeprefix(">="))
    assert each == pytest.approx(hour * 32 / 3600 / tokens * 1e6, rel=2e-3)


def test_what_designs_ask_for_is_compared_and_explored(here: Path) -> None:
    """A row for each figure that is required or reported, as the check answers it; what is refused says so and has none."""
    asked = "  report mean_hops\n  report allreduce 1GB\n  report bandwidth of host[0] to host[1]\n"
    head, _, _ = DESIGN.rpartition("}")
    (here / "asks.fab").write_text(head + asked + "}\n")
    (here / "bad.fab").write_text(head.replace("x up", "x 999") + "}\n")
    (here / "torn.fab").write_text("fabric torn {")
    rows = [line.split(",") for line in tdsl("compare", "asks.fab", "bad.fab", "torn.fab", "--format", "csv").stdout.splitlines()]
    assert rows[1] == ["errors", "", "E0452", "E0004"]
    column = {row[0]: row[1] for row in rows}
    assert all(row[2:] == ["", ""] for row in rows[2:])
    (judged,) = json.loads(tdsl("check", "asks.fab", "--output-format", "json").stdout)["designs"]
    for r in judged["results"]:
        if r["requirement"]:
            _, number, unit = re.split(r"([\d.]+)", column[r["requirement"]])
            figure = float(number) * {"": 1, "ms": 1e-3, "Tbps": 1e12}[unit]
            assert figure == pytest.approx(r["lower"], rel=1e-4)
    way = "bandwidth of host[0] to host[1]"
    call = ["explore", "asks.fab", "--vary", "up=1,2", "--x", way, "--y", "mean_hops", "--format", "json"]
    assert any(p["best"] == "yes" and p[way] for p in json.loads(tdsl(*call).stdout)["points"])


def test_combinations_are_explored_by_a_job(here: Path) -> None:
    call = ["explore", "pod.fab", "--vary", "up=1,16", "--x", "cables", "--y", "mfu", "--format", "json"]
    points = json.loads(tdsl(*call).stdout)["points"]
    assert [p["best"] for p in points] == ["yes", "yes"]  # fewer cables, or more MFU
    assert points[0]["efficiency"] == points[1]["efficiency"]


def test_a_curve_has_a_knee_and_a_step_is_drawn_by_phase(here: Path) -> None:
    """MFU over the links up: the knee is the point farthest from the line between the ends, computed here by cross products."""
    call = ["explore", "pod.fab", "--vary", "up=1,2,4,8,16", "--x", "up", "--y", "mfu", "--format", "json", "--plot", "c.svg"]
    points = json.loads(tdsl(*call).stdout)["points"]
    x, y = [int(p["up"]) for p in points], [float(p["mfu"].removesuffix("%")) for p in points]
    off = [abs((x[-1] - x[0]) * (b - y[0]) - (y[-1] - y[0]) * (a - x[0])) for a, b in zip(x, y, strict=True)]
    assert [p["knee"] for p in points] == ["yes" if o == max(off) else "" for o in off]
    assert f"knee: up={x[off.index(max(off))]}" in (here / "c.svg").read_text()
    assert tdsl("show", "pod.fab", "job", "--picture", "s.svg").exit_code == 0
    bar = ET.fromstring((here / "s.svg").read_text())
    (job,) = json.loads(tdsl("show", "pod.fab", "job", "--format", "json").stdout)["jobs"]
    wide = [(r.get("fill-opacity"), float(r.get("width", "0"))) for r in bar.iter(f"{SPACE}rect") if r.get("fill-opacity")]
    scale = sum(w for _, w in wide) / job["step_s"][1]
    assert sum(w for o, w in wide if o == "1") / scale == pytest.approx(job["step_s"][0], rel=0.01)
    assert wide[0][1] / scale == pytest.approx(job["compute_s"], rel=0.01)


def test_a_run_of_the_library_is_compared_on_a_design_that_declares_none(here: Path) -> None:
    call = ["compare", "pod.fab", "dgx_superpod_a100", "--job", "megatron_1_7b", "--format", "json"]
    rows = {r["figure"]: r for r in json.loads(tdsl(*call).stdout)["comparison"]}
    assert all(rows["step_s"][name] for name in rows["step_s"] if name != "figure")


def test_an_unknown_size_is_the_least_with_which_a_job_is_fast_enough(here: Path) -> None:
    """One spine gives at most 12.2 %, two give 12.9 % at least."""
    text = DESIGN.replace("switch spine:", "switch spine[?]:").replace("to spine x up", "to spine[*] each").partition("\n")[2]
    text = text.replace("measured mfu 10%\n  }", "efficiency 50%\n  }\n  require mfu of small >= 12.5%")
    (here / "unknown.fab").write_text(text, encoding="utf-8")
    done = tdsl("check", "unknown.fab")
    assert done.exit_code == 0 and "`spine` is 2, the least number that fits" in done.stdout
