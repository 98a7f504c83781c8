"""``tdsl show FILE schedule``: what it prints is replayed here, by code that shares nothing with the engine."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import tdsl, write
from tests.harness import compile_text
from tests.soundness.arena import fabric_json
from tests.soundness.judge_schedules import wrong_schedule
from tests.soundness.judges import World
from tests.tables import sections

TABLE = sections(__file__)
CASES = [tuple(line.split(None, 1)) for line in TABLE["cases"].splitlines()]


def schedule(folder: Path, design: str, text: str, fail: str = "") -> tuple[dict[str, Any], dict[tuple[str, str], float]]:
    """The schedule as JSON, and bit/s from device to device as the table of links has them."""
    file = write(folder, TABLE[design], "f.fab")
    shown = tdsl("show", file, "schedule", text, "--format", "json", *(["--fail", fail] if fail else []))
    assert shown.exit_code == 0, shown.output
    links = csv.DictReader(io.StringIO(tdsl("show", file, "links", "--format", "csv").stdout))
    capacity: Counter[tuple[str, str]] = Counter()
    for row in links:
        for pair in ((row["a_device"], row["b_device"]), (row["b_device"], row["a_device"])):
            capacity[pair] += round(float(row["rate_gbps"]) * 1e9)
    return json.loads(shown.stdout)["designs"][0]["schedule"], capacity


def runs_of_stages(made: dict[str, Any]) -> list[tuple[int, list[dict[str, Any]]]]:
    """The stages as so many steps of messages; a ring that goes round twice is one."""
    out: list[tuple[int, list[dict[str, Any]]]] = []
    for stage in made["stages"]:
        mine = [m | {"stage": 0} for m in made["messages"] if m["stage"] == stage["stage"]]
        if out and out[-1][1] == mine and stage["steps"] > 1 and not made["overlapped"]:
            out[-1] = out[-1][0] + stage["steps"], mine
        else:
            out.append((stage["steps"], mine))
    return out


def seconds_of_steps(steps: int, messages: list[dict[str, Any]], each: int) -> float:
    """When the last piece arrives: every message carries so many pieces, one a step and ``each`` of them all that
    it has; a rank sends the next piece once it has all that were sent to it a step ago, and its channel is free."""
    free = [0.0] * len(messages)
    arrived = {m["receiver"]: 0.0 for m in messages}
    for _ in range(steps):
        after = dict.fromkeys(arrived, 0.0)
        for i, m in enumerate(messages):
            begin = max(free[i], arrived.get(m["sender"], 0.0))
            free[i] = begin + m["bytes"] * 8 / each / m["rate_bps"]
            after[m["receiver"]] = max(after[m["receiver"]], free[i] + m["delay_s"])
        arrived = after
    return max(arrived.values())


def seconds_overlapped(made: dict[str, Any]) -> float:
    """When the last chunk has passed the last stage: a stage takes a chunk once it is through with the one before,
    and the chunk has come through the stage before."""
    done = 0.0
    stages = [m for _, m in runs_of_stages(made)]
    chunks = made["stages"][0]["chunks"]
    send = [max(m["bytes"] * 8 / m["rate_bps"] for m in messages) / chunks for messages in stages]
    delay = [max(m["delay_s"] for m in messages) for messages in stages]
    free = [0.0] * len(stages)
    for _ in range(chunks):
        done = 0.0
        for k in range(len(stages)):
            free[k] = max(free[k], done) + send[k]
            done = free[k] + delay[k]
    return done


@pytest.mark.parametrize(("design", "text"), CASES)
def test_a_schedule_replays_in_the_time_that_is_stated(design: str, text: str, here: Path) -> None:
    """All messages get there in that time, no link carries more than it can, and all ranks hear from all."""
    made, capacity = schedule(here, design, text)
    load: Counter[tuple[int, str, str]] = Counter()
    for m in made["messages"]:
        assert sum(r["rate_bps"] for r in m["routes"]) == pytest.approx(m["rate_bps"], rel=1e-9)
        for r in m["routes"]:
            assert (r["devices"][0], r["devices"][-1]) == (m["sender"], m["receiver"])
            for a, b in pairwise(r["devices"]):
                load[0 if made["overlapped"] else m["stage"], a, b] += r["rate_bps"]
    assert load and all(rate <= capacity[a, b] * (1 + 1e-9) for (_, a, b), rate in load.items())
    knows = {r["name"]: {r["name"]} for r in made["ranks"]}
    for steps, messages in runs_of_stages(made):
        for _ in range(steps):
            before = {name: set(known) for name, known in knows.items()}
            for m in messages:
                knows[m["receiver"]] |= before[m["sender"]]
    assert all(known == {*knows} for known in knows.values())
    if made["overlapped"]:
        total = seconds_overlapped(made)
    else:
        ring = [(steps, messages, s["steps"]) for (steps, messages), s in zip(runs_of_stages(made), made["stages"], strict=False)]
        total = sum(seconds_of_steps(*run) for run in ring)
    slack = made["total_s"] * 1e-9
    assert made["floor_s"] <= made["total_s"] + slack
    filling = made["total_s"] / 4000 if made["overlapped"] and any(s["steps"] > 1 for s in made["stages"]) else 0.0
    assert made["total_s"] - made["delays_s"] - slack - filling <= total <= made["total_s"] + slack
    got: Counter[str] = Counter()
    for m in made["messages"]:
        got[m["receiver"]] += m["bytes"]
    share = made["size_bytes"] * (len(knows) - 1) / len(knows)
    least = 2 * share if made["operation"] == "allreduce" else share
    assert sum(got.values()) >= least * len(knows) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("design", "text", "fail", "milliseconds"),
    [
        ("ring_of_hosts", "allreduce 1GB", "", 0),
        ("ring_of_hosts", "all_gather_time 1GB", "", 0),
        ("ring_of_hosts", "all_gather_time 1GB", "n[3]", 0),
        ("rails_apart", "reduce_scatter_time 1GB", "", 0),
        ("equal_hosts", "allreduce 1GB", "", 0),
        ("equal_hosts", "allreduce 1GB", "link s[0] s[2]", 0),
        ("two_spines", "allreduce 1GB with in_network", "", 26.67),  # 8 Gbit over 200 + 100 Gb/s from each leaf
        ("two_spines", "allreduce 1GB with in_network", "spine[0]", 80),
        ("rails_apart", "allreduce 1GB of n[0] through scaleup with in_network", "", 160),
    ],
)
def test_trees_replay_over_the_wiring(design: str, text: str, fail: str, milliseconds: float, here: Path) -> None:
    """Each tree of ranks or switches brings every byte in the steps that it says, no link carries more than it can; nothing that
    is left out, begins too early, carries more or takes another way would do so; also on what failures leave."""
    made, _ = schedule(here, design, text, fail)
    (compiled,) = compile_text(TABLE[design], here, models=False, verify=False).designs
    world = World(json.loads(fabric_json(compiled)))
    cut = {world.names.index(x.replace("[", "").replace("]", "")) for x in fail.split()[1:]}
    rows = frozenset(x.row for x in world.links if {x.a, x.b} == cut)
    left = world.left(frozenset() if cut or not fail else world.select(fail)[fail], rows)
    assert made["trees"] and not [*wrong_schedule(left, made)]
    assert made["floor_s"] <= made["total_s"] * (1 + 1e-9) and made.get("failed", []) == [fail] * bool(fail)
    assert not milliseconds or made["total_s"] * 1000 == pytest.approx(milliseconds, rel=1e-3)
    assert not fail or [*wrong_schedule(left, schedule(here, design, text)[0])]
    options = ["--format", "csv", *(["--fail", fail] * bool(fail))]
    listed = tdsl("show", here / "f.fab", "schedule", text, *options).stdout.splitlines()
    assert len(listed) - 1 == len(made["messages"])
    first, *others = made["messages"]
    late = max(made["messages"], key=lambda m: m["last_step"] - m["first_step"])
    last = max(made["messages"], key=lambda m: m["first_step"])
    changed: list[list[dict[str, Any]]] = [
        others,
        *([[m | {"first_step": 1} if m is last else m for m in made["messages"]]] * (made["operation"] == "allreduce")),
        [first | {"bytes": first["bytes"] * 1.01}, *others],
        [m | {"last_step": m["first_step"] - 1} if m is late else m for m in made["messages"]],
        [
            m | {"rate_bps": m["rate_bps"] * 2, "routes": [r | {"rate_bps": r["rate_bps"] * 2} for r in m["routes"]]}
            for m in others
        ],
    ]
    for messages in changed:
        assert [*wrong_schedule(left, made | {"messages": messages})]


def test_a_transfer_is_a_flow_whose_paths_fit(here: Path) -> None:
    """1 GB over two links of 400 Gb/s and 100 km: 10 ms, and 490 µs of fibre."""
    made, capacity = schedule(here, "two_sites", "transfer 1GB of dc[0] to dc[1]")
    (message,) = made["messages"]
    assert message["rate_bps"] == 8e11 and made["total_s"] == pytest.approx(0.01 + 491.049e-6, rel=1e-12)
    assert made["floor_s"] == pytest.approx(made["total_s"], rel=1e-12)
    links = {(x["from"], x["to"]): x["rate_bps"] for x in made["links"]}
    assert links[message["routes"][0]["devices"][1], message["routes"][0]["devices"][2]] == 8e11
    assert sum(r["rate_bps"] for r in message["routes"]) == 8e11
    assert capacity["dc0-leaf", "dc1-leaf"] == 8e11


def test_it_says_in_a_few_lines_what_reaches_the_floor(here: Path) -> None:
    file = write(here, TABLE["uneven"], "f.fab")
    said = tdsl("show", file, "schedule", "allreduce 1GB")
    assert said.exit_code == 0 and said.stdout.strip() == TABLE["told uneven allreduce 1GB"].strip()
    assert " ".join(said.stdout.split()) in " ".join(tdsl("explain", "allreduce").stdout.split())
    listed = tdsl("show", file, "schedule", "allreduce 1GB", "--format", "csv").stdout.splitlines()
    assert listed[0] == "fabric,stage,sender,receiver,bytes,rate_bps,delay_s,routes,way,tree,steps"
    assert len(listed) - 1 == sum(int(line.split()[2]) for line in said.stdout.splitlines() if line.startswith("stage"))


@pytest.mark.parametrize(
    ("design", "asked", "why"),
    [
        ("two_paths", "all_reduce 1GB", "no requirement of a time is `all_reduce 1GB`"),
        ("two_paths", "allreduce 1Gbps", "no requirement of a time is"),
        ("two_paths", "allreduce 1GB of n", "no requirement of a time is"),
        ("two_paths", "allreduce 0GB", "takes one size, more than 0 B"),
        ("two_paths", "allreduce 2EB", "2000PB are more than can be judged: 1152.92PB, 2^63 bits"),
        ("two_paths", "diameter", "no requirement of a time is"),
        ("two_paths", "allreduce 1GB --fail spine", "some hosts do not reach each other"),
        ("circle", "allreduce 1GB of all c[0..2]", "the chips that it leaves out pass traffic on"),
    ],
)
def test_what_has_no_schedule_is_said(design: str, asked: str, why: str, here: Path) -> None:
    text, *fail = asked.split(" --fail ")
    said = tdsl("show", write(here, TABLE[design], "f.fab"), "schedule", text, *(x for f in fail for x in ("--fail", f)))
    assert said.exit_code == 2 and why in said.output


def test_too_many_messages_are_counted_and_not_listed() -> None:
    said = tdsl("show", "torus3d", "schedule", "all_to_all_time 1GB", "--format", "csv")
    assert said.exit_code == 2 and "is not listed" in said.output
