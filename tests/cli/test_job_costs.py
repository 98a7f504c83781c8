"""What failures, faults, changes and moves cost a job: the same wiring by four commands, against the job as it is shown on a
design that is written without the lost links, and money by hand."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tdsl.compile import compiler
from tdsl.compile.request import Request
from tests.cli.run import tdsl, write
from tests.harness import sampled
from tests.observe.captures import p2p
from tests.observe.plant import Cables

MONEY = """currency = "EUR"
kwh = 0.10
years = 4
pue = 1.5
staff = 1000
accelerator = 30000
convergence = "300ms"
repair = "4h"
"""
HOURLY = (16 * 30_000 + 5 * 40_000 + 80 * 100) / 4 + (5 * 1 + 8 * 2) * 1.5 * 8760 * 0.10 + 1000


def pod(links: dict[tuple[int, int], int], efficiency: str, more: str = "") -> str:
    """Four hosts of two accelerators, two leaves and three spines, with so many links from each leaf to each spine."""
    text = """model cable WIRE { rate 400Gbps; medium dac; price $100; reach 9m; lengths 1m, 2m, 3m, 5m, 9m }
model chip GPU { flops bf16 100Tflops; port lane: 400Gbps }
model host NODE { port nic[2]: 400Gbps; chip gpu[2]: GPU; power 2kW max 2kW; price $0 }
model switch SW { port p[1..64]: 400Gbps; power 1kW max 1kW; price $40k }
fabric f {
  host node[8]: NODE
  switch leaf[2]: SW
  switch spine[3]: SW
  connect node[n].nic[k] to leaf[n // 4] { cable WIRE }
"""
    text += "".join(f"  connect leaf[{a}] to spine[{b}] x {n} {{ cable WIRE }}\n" for (a, b), n in links.items() if n)
    text += "  job small {\n    transformer { layers 8; hidden 4096; heads 16; vocab 1024 }\n    sequence 1024; batch 32\n"
    return f"{text}    tensor 2; data 8; shard optimizer\n    {efficiency}\n  }}\n{more}}}\n"


def shown(path: Path) -> Any:
    (job,) = json.loads(tdsl("show", path, "job", "small", "--format", "json").stdout)["jobs"]
    return job


@pytest.mark.parametrize("seed", sampled(range(3), 2))
def test_all_commands_say_what_the_job_on_the_lesser_network_says(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    random = Random(seed)
    full, kept = dict.fromkeys([(a, b) for a in (0, 1) for b in (0, 1, 2)], 1), random.randrange(3)
    full[random.choice(sorted(full))] += random.randrange(3)
    gone = [(random.randrange(2), b) for b in (0, 1, 2) if b != kept]  # two rings then share one spine
    less = {pair: n for pair, n in full.items() if pair not in gone}
    old = write(tmp_path, pod(full, "measured mfu 20%"), "old.fab")
    efficiency = shown(old)["efficiency"]
    new = write(tmp_path, pod(less, f"efficiency {efficiency * 100:.12f}%"), "new.fab")
    write(tmp_path, MONEY, "money.toml")
    was, now = shown(old), shown(new)

    fails = [x for a, b in gone for x in ("--fail", f"link leaf[{a}] spine[{b}]")]
    asked = ["--job", "small", "--economics", "money.toml"]
    (design,) = json.loads(tdsl("check", "old.fab", *fails, *asked, "--output-format", "json").stdout)["designs"]
    (failed,) = design["job_costs"]
    assert failed["before"]["step_s"] == pytest.approx(was["step_s"], rel=1e-6)
    assert failed["after"]["step_s"] == pytest.approx(now["step_s"], rel=1e-6)
    lost = 1 - was["step_s"][1] / now["step_s"][1]
    assert lost > 0
    assert failed["lost_share"] == pytest.approx(lost, abs=1e-9)
    assert failed["lost_accelerator_hours_per_day"] == pytest.approx(16 * 24 * lost, abs=1e-6)
    cables = sum(full.values()) + 16
    hour = (HOURLY + (cables - 80) * 100 / 4) / 8760 / 16
    assert not failed["cost_is_lower_bound"]
    assert failed["cost_per_day"] == pytest.approx(16 * 24 * lost * hour, rel=1e-6)
    whole = 16 * 0.3 / 3600 + 16 * lost * (4 - 0.3 / 3600)
    assert failed["lost_accelerator_hours_until_repaired"] == pytest.approx(whole, rel=1e-6)
    assert failed["cost_until_repaired"] == pytest.approx(whole * hour, rel=1e-6)

    fabric = compiler.compile_without_checks("new.fab", Request()).designs[0].fabric
    assert fabric is not None
    (tmp_path / "now.csv").write_text(p2p(Cables(fabric)))
    audit = tdsl("audit", "old.fab", "--p2p", "now.csv", *asked, "--no-requirements", "--format", "json")
    (fabric_audited,) = json.loads(audit.stdout)["fabrics"]
    (audited,) = fabric_audited["job_costs"]
    assert audited["after"]["step_s"] == pytest.approx(now["step_s"], rel=1e-6)
    assert audited["cost_per_day"] == pytest.approx(failed["cost_per_day"], rel=1e-6, abs=1e-6)

    found = json.loads(tdsl("diff", "old.fab", "new.fab", *asked, "--no-checks", "--output-format", "json").stdout)
    (changed,) = found["fabrics"][0]["job_costs"]
    assert changed["lost_share"] == pytest.approx(lost, abs=1e-6)
    cheaper = (cables - sum(full[x] for x in gone) - cables) * 100 / 4 / 8760 * 24
    paid = (hour * 16 * 24) + cheaper
    assert changed["cost_per_day"] == pytest.approx(paid - 16 * 24 * hour * (1 - lost), rel=1e-6)

    plan = json.loads(tdsl("plan", "old.fab", "new.fab", "--floor", "0%", *asked, "--no-lock", "--format", "json").stdout)
    (planned,) = plan["fabrics"][0]["job_costs"]
    assert planned["states"][-1]["after"]["step_s"] == pytest.approx(now["step_s"], rel=1e-6)
    assert planned["states"][-1]["cost_per_day"] == pytest.approx(failed["cost_per_day"], rel=1e-6, abs=1e-6)
    assert planned["end"]["cost_per_day"] == pytest.approx(changed["cost_per_day"], rel=1e-6)


def test_a_job_that_stops_and_what_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a leaf ranks are not there, without all spines none reaches the others: all its work is lost. What is not stated
    is named."""
    monkeypatch.chdir(tmp_path)
    every = {(a, b): 2 for a in (0, 1) for b in (0, 1, 2)}
    write(tmp_path, pod(every, "measured mfu 20%"), "pod.fab")
    write(tmp_path, pod(every, ""), "plain.fab")
    write(tmp_path, 'currency = "EUR"\nkwh = 0.1\nyears = 4\n', "bare.toml")
    for fails, why in ((["leaf[0]"], "are not there"), (["spine[0]", "spine[1]", "spine[2]"], "no path to the others")):
        done = tdsl("check", "pod.fab", *(x for e in fails for x in ("--fail", e)), "--economics", "bare.toml")
        said = " ".join(done.stdout.split()).replace("| ", "")
        assert "it stops: 8 of its 16 ranks" in said and why in said and "384 accelerator-hours" in said
        assert "how long is unknown: state `convergence` in --economics" in said
        assert "when is unknown: state `repair` in the design or in --economics" in said
    said = " ".join(tdsl("check", "plain.fab", "--fail", "spine[0]", "--job", "small").stdout.split()).replace("| ", "")
    assert "what it costs is unknown: the job states no `efficiency`" in said


def test_the_order_of_repair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a link that is lost at the one leaf that limits the job and one that is not needed, the first is repaired first, and
    then nothing is lost any more."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, pod({(0, 0): 2, (1, 0): 8}, "measured mfu 20%").replace("spine[3]", "spine[1]"), "old.fab")
    fabric = compiler.compile_without_checks("old.fab", Request()).designs[0].fabric
    assert fabric is not None
    cables = Cables(fabric)
    of_leaf = {k: [p for p, q in cables.far.items() if {cables.device[p], cables.device[q]} == {8 + k, 10}] for k in (0, 1)}
    for ports in of_leaf.values():
        cables.unplug(ports[:1])
    (tmp_path / "now.csv").write_text(p2p(cables))
    call = ["audit", "old.fab", "--p2p", "now.csv", "--job", "small", "--no-requirements"]
    (audited,) = json.loads(tdsl(*call, "--format", "json").stdout)["fabrics"]
    first, second = audited["job_costs"][0]["repairs"]
    assert "leaf0" in audited["findings"][first["fault"] - 1]["message"]
    assert first["gained_share"] == pytest.approx(audited["job_costs"][0]["lost_share"]) and first["left"]["lost_share"] == 0
    assert second["gained_share"] == second["alone_lost_share"] == 0
    assert "repair 1: fault" in tdsl(*call).stdout


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (["check", "pod.fab", "--job", "small"], "give --fail, too"),
        (["check", "pod.fab", "--fail", "spine[0]", "--job", "smal"], "did you mean `small`?"),
        (["diff", "none.fab", "none.fab", "--economics", "bad.toml"], "bad.toml:3: E0219: `repair` is not a time that fits"),
        (["diff", "none.fab", "none.fab", "--economics", "money.toml"], "no design declares a job"),
        (["plan", "none.fab", "none.fab", "--job", "megatron_1_7b"], "no design has the accelerators of job `megatron_1_7b`"),
    ],
)
def test_calls_that_ask_for_no_cost(call: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = pod({(a, b): 2 for a in (0, 1) for b in (0, 1, 2)}, "efficiency 20%")
    write(tmp_path, text, "pod.fab")
    write(tmp_path, text.partition("  job small")[0] + "}\n", "none.fab")
    write(tmp_path, MONEY, "money.toml")
    write(tmp_path, 'currency = "EUR"\nyears = 3\nrepair = 4\nkwh = 0.1\n', "bad.toml")
    done = tdsl(*call)
    assert done.exit_code == 2 and said in " ".join(done.stderr.split())
