"""What communication takes: by hand on small fabrics, against the checks of collectives on random ones, and what cannot help."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.jobs.communication import DimensionTime
from tdsl.jobs.grid import groups_of_dimension
from tdsl.jobs.step import StepModel
from tdsl.semantics.quantity import Quantity
from tests.harness import compile_text, sampled
from tests.jobs.published import model_of_text

SHAPE = "transformer { layers 8; hidden 1024; heads 16; vocab 1024 }; sequence 1024"
HOSTS = """use nvidia (DGX_H100)
model switch LEAF { port p[1..64]: 400Gbps }
"""


def part_of(model: StepModel, dimension: str) -> DimensionTime:
    """What a dimension takes."""
    (found,) = [t for t in model.times if t.dimension == dimension]
    return found


def on_leaves(job: str, hosts: int = 4, up: int = 16, order: str = "host[*].gpu") -> str:
    """Hosts on leaves of two hosts each, 16 ports down and so many up to one spine, with a job."""
    return f"""{HOSTS}fabric f "f" {{
  host host[{hosts}]: DGX_H100
  switch leaf[{hosts // 2}]: LEAF
  switch spine: LEAF
  connect host[n].nic[r] to leaf[n // 2]
  connect leaf[l] to spine x {up}
  job run {{ {SHAPE}; on {order}; {job} }}
}}
"""


def test_a_tensor_group_inside_of_a_host(tmp_path: Path) -> None:
    """Two all-gathers and two reduce-scatters of b·s·h numbers each way, for each of 8 layers and of 4 microbatches, over 18
    NVLinks of 25 GB/s: a schedule sends 7/8 of the bytes at 450 GB/s."""
    model = model_of_text(tmp_path, on_leaves("tensor 8; data 4; batch 16; efficiency 50%"))
    found = part_of(model, "tensor")
    count, size = 8 * 8 * 4, 1024 * 1024 * 2
    assert found.sent == Fraction(7, 8) * size * count
    assert found.most == found.sent / (450 * 10**9)
    assert found.crossed == (("scale-up links", Fraction(1)),)
    assert found.most is not None and Fraction(4, 5) < found.least / found.most <= 1  # ports of the host could help


def test_gradients_over_a_network_that_is_oversubscribed(tmp_path: Path) -> None:
    """Each of eight groups has one rank in each of four hosts: a leaf holds two of four, so half of a reduce-scatter leaves it,
    and what leaves it has 16, 4 or 1 links of 400 Gb/s."""
    seconds = []
    for up in (16, 4, 1):
        model = model_of_text(tmp_path, on_leaves("tensor 8; data 4; batch 16; shard optimizer; efficiency 50%", up=up))
        found = part_of(model, "data")
        held = sum(o.operation.bytes for o in found.operations)
        assert found.least >= Fraction(1, 2) * held * 8 * 8 / (up * 400 * 10**9) * Fraction(999_999, 1_000_000)
        assert found.most is not None and found.least <= found.most
        seconds.append(found.most)
    assert seconds == [seconds[0], 2 * seconds[0], 8 * seconds[0]]  # eight flows, one of each group, over the links of a leaf


def test_a_tensor_group_that_leaves_its_host_costs(tmp_path: Path) -> None:
    """The same groups are aligned or not by the order alone: crossing hosts takes more than three times as long."""
    job = "tensor 8; data 4; batch 16; efficiency 50%"
    aligned, apart = (
        part_of(model_of_text(tmp_path, on_leaves(f"{job}; order {order}")), "tensor")
        for order in ("tensor, data", "data, tensor")
    )
    assert aligned.most is not None and apart.least > 3 * aligned.most
    assert apart.sent == aligned.sent


def test_a_pipeline_over_one_leaf_and_over_two(tmp_path: Path) -> None:
    """What a stage sends to the next is there when its bytes have left the ports of its host."""
    model = model_of_text(tmp_path, on_leaves("tensor 8; pipeline 4; batch 16; efficiency 50%"))
    found = part_of(model, "pipeline")
    each = Fraction(1024 * 1024 * 2, 8)
    assert found.sent == 2 * 16 * each  # forward and backward, 16 microbatches
    assert found.most == found.least * 1 == 2 * 16 * each * 8 / (400 * 10**9)


def test_every_rank_is_in_one_group_of_each_dimension(tmp_path: Path) -> None:
    """For random shapes and orders; and neighbours in the innermost dimension are neighbours in `on`."""
    base = model_of_text(tmp_path, on_leaves("tensor 8; data 4; batch 16; efficiency 50%")).job
    random = Random(7)
    for _ in range(50):
        sizes = {name: random.choice((1, 2, 3, 4)) for name in ("tensor", "context", "pipeline", "data")}
        order = tuple(random.sample([*sizes], 4))
        job = replace(base, **sizes, expert=sizes["data"], order=order)  # type: ignore[arg-type]
        for dimension in (*sizes, "expert", "experts' data"):
            groups = groups_of_dimension(job, dimension)
            assert sorted(groups.reshape(-1).tolist()) == list(range(job.ranks)), (dimension, sizes)
        inner = next(name for name in order if sizes[name] > 1) if job.ranks > 1 else ""
        if inner in ("tensor", "pipeline"):
            assert (np.diff(groups_of_dimension(job, inner), axis=1) == 1).all()


@pytest.mark.parametrize("seed", sampled(range(6), 2))
def test_the_ends_agree_with_the_checks_of_collectives(tmp_path: Path, seed: int) -> None:
    """One group over all accelerators of a random fabric: what the checks of a reduce-scatter and an all-gather prove by other
    code holds, so neither interval lies beyond the other."""
    random = Random(seed)
    hosts, rate, up = random.choice((4, 6, 8)), random.choice((100, 200, 400)), random.randint(1, 12)
    text = f"""model chip GPU {{ port nv[2]: {random.choice((200, 400, 800))}Gbps }}
model switch NVS {{ port p[1..8]: any }}
model host NODE {{ port nic[{random.choice((1, 2, 4))}]: {rate}Gbps; chip gpu[4]: GPU; switch nvs[2]: NVS
  connect gpu[g].nv[k] to nvs[k] {{ layer scaleup; medium trace }} }}
model switch LEAF {{ port p[1..64]: {rate}Gbps }}
fabric f "f" {{
  host host[{hosts}]: NODE
  switch leaf[2]: LEAF
  connect host[n].nic[r] to leaf[n % 2]
  connect leaf[0] to leaf[1] x {up}
  job run {{ {SHAPE}; data {4 * hosts}; batch {4 * hosts}; shard optimizer; efficiency 50%; peak 100Tflops }}
  report reduce_scatter_time SIZE and all_gather_time SIZE
}}
"""
    probe = model_of_text(tmp_path, text.replace("SIZE", "1GB"))
    found = part_of(probe, "data")
    size = found.operations[0].operation.bytes
    whole = compile_text(text.replace("SIZE", f"{int(size)}B"), tmp_path, models=False)
    results = {r.check: r for r in whole.designs[0].results}
    for operation, check in zip(found.operations, ("reduce_scatter_time", "all_gather_time"), strict=True):
        lower, value = results[check].lower, results[check].value
        assert isinstance(lower, Quantity) and isinstance(value, Quantity)  # the best schedule, where no delay is stated
        assert operation.least <= value.amount * Fraction(1_000_001, 1_000_000)
        assert operation.most is not None and operation.most * Fraction(1_000_001, 1_000_000) >= lower.amount
