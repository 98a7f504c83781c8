"""Schedules as ``tdsl show FILE schedule`` prints them, replayed over the wiring that is recorded: what their routes load and how
long these are, what each step waits for, and what ranks of one scale-up domain then hand each other.

Nothing of ``tdsl`` is imported. A message has arrived when the slowest of its routes has brought its share. A sender hands on a
piece once it has all that it was sent a step before. What ranks of a domain exchange takes at least the least delay between the
two that are farthest apart, over scale-up links; over the network where no such links join them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from math import inf
from typing import Any

import networkx as nx

from tests.soundness.judge_times import Node, Wires, wires_of
from tests.soundness.judge_trees import TreeReplay
from tests.soundness.judges import METRE, Left

PASSES = {"allreduce": 2, "all_gather_time": 1, "reduce_scatter_time": 1, "all_to_all_time": 0}
"""How often ranks of a domain gather or reduce inside it."""

SLACK = 1 + 2e-6


@dataclass
class Replay:
    """A schedule, as its data says it, on what is left of a fabric."""

    left: Left
    data: Mapping[str, Any]

    @cached_property
    def device(self) -> dict[str, int]:
        """Devices by their name."""
        return {name: d for d, name in enumerate(self.left.world.names)}

    @cached_property
    def wires(self) -> Wires:
        """The network of ranks, without what is not described."""
        return wires_of(self.left, False)

    def place(self, name: str) -> tuple[int, int | None]:
        """The device of an end, and its rail where the end is one."""
        if name in self.device:
            return self.device[name], None
        host, _, rail = name.rpartition(" rail ")
        return self.device[host], int(rail)

    def hop(self, one: str, other: str) -> tuple[float, float]:
        """Bit/s between two neighbours of a route, and the seconds of the longest cable and of what is entered."""
        (a, rail), (b, also) = self.place(one), self.place(other)
        rails = {rail, also} - {None}
        links = [x for x in self.left.links if {x.a, x.b} == {a, b} and (not rails or x.rail in rails)]
        own = max(self.left.world.facts[b].get("ns", 0), 0) * 1e-9
        cable = max((float((self.left.world.length(x) or 0) * METRE) for x in links), default=inf)
        return sum(x.rate for x in links), cable + own

    def delay(self, devices: Sequence[str]) -> float:
        """Seconds that a route takes."""
        first, _ = self.place(devices[0])
        own = max(self.left.world.facts[first].get("ns", 0), 0) * 1e-9
        return own + sum(self.hop(a, b)[1] for a, b in pairwise(devices))

    @cached_property
    def home(self) -> dict[int, int]:
        """The domain of every host and chip: what scale-up links join."""
        graph = nx.Graph()
        world = self.left.world
        for d, kind in enumerate(world.kinds):
            if kind in ("host", "chip"):
                graph.add_edge(d, world.inside[d] if world.inside[d] >= 0 else d)
        graph.add_edges_from((x.a, x.b) for x in world.up if not {x.a, x.b} & self.left.gone)
        return {d: k for k, part in enumerate(nx.connected_components(graph)) for d in part}

    @cached_property
    def inner_delay(self) -> float:
        """Seconds between the two ranks of a domain that are farthest apart, at least."""
        inside = self.wires.graph.copy()
        inside.remove_nodes_from([v for v in self.wires.nodes if v[0] in ("in", "out")])
        groups: dict[int, list[Node]] = defaultdict(list)
        for r in self.wires.ranks:
            groups[self.home[self.wires.home[r]]].append(r)
        worst = 0.0
        for mine in groups.values():
            for s, t in combinations(mine, 2):
                for graph in (inside, self.wires.graph):
                    if nx.has_path(graph, s, t):
                        worst = max(worst, nx.dijkstra_path_length(graph, s, t, weight="delay"))
                        break
        return worst

    @cached_property
    def runs(self) -> list[tuple[int, list[dict[str, Any]]]]:
        """The stages as so many steps of messages; a ring that goes round twice is one."""
        out: list[tuple[int, list[dict[str, Any]]]] = []
        for stage in self.data["stages"]:
            mine = [m | {"stage": 0} for m in self.data["messages"] if m["stage"] == stage["stage"]]
            if out and out[-1][1] == mine and stage["steps"] > 1 and not self.data["overlapped"]:
                out[-1] = out[-1][0] + stage["steps"], mine
            else:
                out.append((stage["steps"], mine))
        return out

    def waiting(self) -> float:
        """Seconds of delay in all: each step waits for the one before, and so does every gathering inside."""
        total = PASSES[self.data["operation"]] * self.inner_delay
        for steps, messages in self.runs:
            delays = [max(self.delay(r["devices"]) for r in m["routes"]) for m in messages]
            arrived: dict[str, float] = {}
            for _ in range(steps):
                after: dict[str, float] = {}
                for m, took in zip(messages, delays, strict=True):
                    after[m["receiver"]] = max(after.get(m["receiver"], 0.0), arrived.get(m["sender"], 0.0) + took)
                arrived = after
            total += max(arrived.values(), default=0.0)
        return max(total, self.inner_delay)

    def sending(self) -> float:
        """Seconds that the messages take at their rates."""
        each = [max(m["bytes"] * 8 / m["rate_bps"] for m in messages) for _, messages in self.runs]
        return max(each, default=0.0) if self.data["overlapped"] else sum(each)

    def handed_inside(self) -> float:
        """Seconds that hosts whose accelerators are joined inside take at least to gather or reduce there."""
        passes, worst = PASSES[self.data["operation"]], 0.0
        for h in self.left.units:
            facts = self.left.world.facts[h]
            count, rate = facts.get("acc", 1), facts.get("nv", 0)
            if count > 1 and rate and not self.left.world.up:
                ports = sum(x.rate for x in self.left.links if h in (x.a, x.b))  # or over these and back
                each = min((count - 1) / count / rate / 1e9, (count - 1) / ports if ports else inf)
                worst = max(worst, passes * each * self.data["size_bytes"] * 8)
        return worst

    def wrong(self) -> Iterator[tuple[str, str]]:
        """What is wrong with the schedule, and what is true."""
        load: Counter[tuple[int, str, str]] = Counter()
        for m in self.data["messages"]:
            for r in m["routes"]:
                if self.place(r["devices"][0])[0] != self.place(m["sender"])[0]:
                    yield "a route of another sender", str(m)
                for a, b in pairwise(r["devices"]):
                    load[0 if self.data["overlapped"] else m["stage"], a, b] += r["rate_bps"]
            took = max(self.delay(r["devices"]) for r in m["routes"])
            if m["delay_s"] * SLACK < took:
                yield "a message with less delay than its routes", f"{took:.9g} s: {m['sender']} to {m['receiver']}"
        for (stage, a, b), rate in load.items():
            if rate > self.hop(a, b)[0] * SLACK:
                yield "more on a link than it carries", f"stage {stage}, {a} to {b}: {rate:.6g} bit/s"
        knows: dict[int, set[int]] = {self.home[d]: {self.home[d]} for d in map(self.end, self.data["ranks"])}
        every = {*knows}
        for steps, messages in self.runs:
            for _ in range(steps):
                before = {k: {*v} for k, v in knows.items()}
                for m in messages:
                    knows[self.home[self.place(m["receiver"])[0]]] |= before[self.home[self.place(m["sender"])[0]]]
        if any(known != every for known in knows.values()):
            yield "ranks that do not hear of all others", ""
        inside = self.handed_inside()
        sent = max(self.sending(), inside) if self.data["overlapped"] else self.sending() + inside
        least = sent + self.waiting()
        if self.data["total_s"] * SLACK < least:
            yield "a schedule that takes longer", f"{least:.9g} s: {sent:.9g} of sending"

    def end(self, rank: Mapping[str, Any]) -> int:
        """The device of a rank of the data."""
        return self.place(rank["name"])[0]


def wrong_schedule(left: Left, data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with a schedule as its data says it, and what is true; nothing of what lacks a length, but along trees."""
    if "trees" in data:
        yield from TreeReplay(left, data).wrong()
        return
    replay = Replay(left, data)
    if not replay.wires.unknown and not left.world.direct:
        yield from replay.wrong()
