"""Schedules along trees of ranks, or of switches that add up, as ``tdsl show FILE schedule`` prints them, replayed over the
wiring that is recorded.

Nothing of ``tdsl`` is imported. What links carry is what fabric.json has: links of a host are divided among its ranks, or its
ports have all of them. Every tree is replayed step by step: what a rank sends is what it had before, sums count nobody twice, and
in the end each rank has what it asked for. The last chunk starts when all before it have left, and is sent on at every step.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf, isclose
from typing import Any

from tests.soundness.judge_times import INNER
from tests.soundness.judges import METRE, Left, Link

SLACK = 1 + 2e-6

Wrong = Iterator[tuple[str, str]]


@dataclass
class TreeReplay:
    """A schedule along trees, as its data says it, on what is left of a fabric."""

    left: Left
    data: Mapping[str, Any]

    @cached_property
    def device(self) -> dict[str, int]:
        """Devices by their name."""
        return {name: d for d, name in enumerate(self.left.world.names)}

    @cached_property
    def ranks(self) -> list[str]:
        """The names of the ranks."""
        return [r["name"] for r in self.data["ranks"]]

    def home(self, name: str) -> int:
        """The device of a name, or the host that it is inside."""
        d = self.device[name] if name in self.device else self.device[name.partition(" ")[0]]
        inside: int = self.left.world.inside[d]
        return d if inside < 0 else inside

    def is_door(self, name: str) -> bool:
        """Whether a name is of ports of a host that its ranks share."""
        return name not in self.ranks and (" rail " in name or (name in self.device and self.home(name) == self.device[name]))

    def devices(self, name: str) -> set[int]:
        """What a name may be in fabric.json."""
        if name not in self.device:
            return {self.home(name)}
        d = self.device[name]
        return {d, *(c for c, at in enumerate(self.left.world.inside) if at == d)}

    def links(self, one: str, other: str) -> tuple[list[Link], list[Link]]:
        """The links between what two names may be: of the network, where an accelerator has the ports of its host, and scale-up
        links."""
        up = [x for x in self.left.world.up if not {x.a, x.b} & self.left.gone]
        near, far = self.devices(one), self.devices(other)
        inside = [x for x in up if {x.a, x.b} & near and {x.a, x.b} & far]
        near, far = near | {self.home(one)}, far | {self.home(other)}
        return [x for x in self.left.links if {x.a, x.b} & near and {x.a, x.b} & far], inside

    def rate(self, one: str, other: str) -> int:
        """Bit/s between what two names may be, one way."""
        return sum(x.rate for some in self.links(one, other) for x in some)

    def wrong_links(self) -> Wrong:
        """Links that are not there, or have not so much."""
        stated: Counter[tuple[int, int]] = Counter()
        for x in self.data["links"]:
            a, b = x["from"], x["to"]
            homes = self.home(a), self.home(b)
            if homes[0] == homes[1] and not {a, b} <= {*self.device}:
                most = self.left.world.facts[homes[0]].get("nv", 0) * 10**9
            else:
                most = self.rate(a, b)
                stated[homes] += x["rate_bps"]
            if x["rate_bps"] > most * SLACK:
                yield "a link that carries less", f"{a} to {b}: {most} bit/s"
        for (one, other), rate in stated.items():
            names = [self.left.world.names[d] for d in (one, other)]
            most = self.rate(*names)
            if rate > most * SLACK:
                yield "links of a host that carry less together", f"{names[0]} to {names[1]}: {most} bit/s"

    def wrong_loads(self) -> Wrong:
        """Routes of others, over what does not pass data on, or over links that they fill with more than they carry."""
        load: Counter[tuple[str, str]] = Counter()
        for m in self.data["messages"]:
            sent = m["bytes"] * 8 / m["rate_bps"]
            if sent > self.data["stages"][0]["sending_s"] * SLACK:
                yield "a message that takes longer to send", f"{sent:.9g} s: {m['sender']} to {m['receiver']}"
            for r in m["routes"]:
                names, ends = r["devices"], {self.home(m["sender"]), self.home(m["receiver"])}
                if (names[0], names[-1]) != (m["sender"], m["receiver"]):
                    yield "a route of another sender", str(m)
                if any(not self.passes(v, ends) for v in names[1:-1]):
                    yield "a route over what passes nothing on", str(m)
                took = self.delay(names)
                if m["delay_s"] * SLACK < took:
                    yield "a message with less delay than its route", f"{took:.9g} s: {names}"
                for a, b in pairwise(names):
                    if self.home(a) != self.home(b) or not (self.is_door(a) or self.is_door(b)):
                        load[a, b] += r["rate_bps"]
        stated = {(x["from"], x["to"]): x["rate_bps"] for x in self.data["links"]}
        for pair, rate in load.items():
            if rate > stated.get(pair, 0) * SLACK:
                yield "more on a link than it carries", f"{pair[0]} to {pair[1]}: {rate:.6g} bit/s"

    def passes(self, name: str, ends: set[int]) -> bool:
        """Whether data on its way between ranks of these hosts may pass what is named."""
        if name in self.device and self.left.world.kinds[self.device[name]] == "switch":
            return True
        return self.home(name) in ends and name not in self.ranks

    def delay(self, names: list[str]) -> float:
        """Seconds that a route takes."""
        world, total = self.left.world, 0.0
        own = {d: max(world.facts[d].get("ns", 0), 0) * 1e-9 for d in range(len(world.names))}
        for at, (a, b) in enumerate(pairwise(names)):
            if self.home(a) == self.home(b):
                inner = b not in self.ranks and not self.is_door(b)
                total += INNER * inner
                continue
            found = []
            for some, network in zip(self.links(a, b), (True, False), strict=True):
                cable = max((float((world.length(x) or 0) * METRE) for x in some), default=inf)
                leaves = network and all(self.home(x) == self.home(a) for x in names[: at + 1])
                leaves &= world.kinds[self.home(a)] != "switch"
                enters = network or world.kinds[self.home(b)] == "switch"
                found.append(cable + own[self.home(b)] * enters + own[self.home(a)] * leaves)
            total += min(found)
        return total

    def wrong_trees(self) -> Wrong:
        """What trees do not bring, count twice, or take longer for than is said."""
        stage, size, slowest = self.data["stages"][0], self.data["size_bytes"], 0.0
        slot = stage["sending_s"] / stage["chunks"]
        messages: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for m in self.data["messages"]:
            messages[m["tree"]].append(m)
            if not 1 <= m["first_step"] <= m["last_step"] <= stage["steps"]:
                yield "a message in a step that is none", str(m)
        if not isclose(sum(t["bytes"] for t in self.data["trees"]), size, rel_tol=1e-9):
            yield "trees that do not carry all data", ""
        for tree in self.data["trees"]:
            mine = messages[tree["tree"]]
            if self.data["operation"] == "allreduce":
                faults, took = self.sums(mine, tree["bytes"], slot)
            else:
                faults, took = self.gathering(mine, tree["bytes"], slot, stage["steps"])
            yield from ((fault, f"tree {tree['tree']}") for fault in faults)
            slowest = max(slowest, took)
        least = slot * (stage["chunks"] - 1) + slowest
        if self.data["total_s"] * SLACK < least:
            yield "a schedule that takes longer", f"{least:.9g} s"

    def sums(self, messages: list[dict[str, Any]], amount: float, slot: float) -> tuple[list[str], float]:
        """What is wrong with a tree that adds up and hands out, and when the last rank has the sum of a chunk."""
        has, ready, faults = {r: {r} for r in self.ranks}, dict.fromkeys(self.ranks, 0.0), list[str]()
        if self.data.get("sums_in_switches"):
            ends = {m[end] for m in messages for end in ("sender", "receiver")} - {*self.ranks}
            faults += ["a sum in what is no switch" for v in ends if not self.passes(v, {*map(self.home, self.ranks)})]
            has, ready = has | {v: set() for v in ends}, ready | dict.fromkeys(ends, 0.0)
        for step in sorted({m["first_step"] for m in messages}):
            sent = [(m, {*has[m["sender"]]}, ready[m["sender"]]) for m in messages if m["first_step"] == step]
            for m, added, when in sent:
                to = m["receiver"]
                if m["last_step"] != step or not added or not isclose(m["bytes"], amount, rel_tol=1e-9):
                    faults.append("a sum that is not sent once")
                if added & has[to] and not added >= has[to]:
                    faults.append("the data of a rank counts twice")
                has[to] |= added
                ready[to] = max(ready[to], when + slot + m["delay_s"])
        if any(has[r] != {*self.ranks} for r in self.ranks):
            faults.append("a rank that does not get the whole sum")
        return faults, max(ready.values())

    def gathering(self, messages: list[dict[str, Any]], amount: float, slot: float, steps: int) -> tuple[list[str], float]:
        """What is wrong with a tree along which the data of each rank goes to all, a link a step, and when the last of a chunk
        has arrived; of a reduce-scatter the other way in time."""
        turned = self.data["operation"] == "reduce_scatter_time"
        ends = ("receiver", "sender") if turned else ("sender", "receiver")
        span = [(m["first_step"], m["last_step"]) for m in messages]
        span = [(steps + 1 - last, steps + 1 - first) for first, last in span] if turned else span
        # of every rank whose data it has: the step that brought it, when, and from where
        has: dict[str, dict[str, tuple[int, float, str]]] = {r: {r: (0, 0.0, "")} for r in self.ranks}
        count, faults = [0] * len(messages), list[str]()
        for step in range(1, steps + 1):
            new = []
            for i, (m, (first, last)) in enumerate(zip(messages, span, strict=True)):
                one, other = (m[end] for end in ends)
                if first <= step <= last:
                    found = [(r, t) for r, (at, t, by) in has[one].items() if at == step - 1 and by != other]
                    count[i] += len(found)
                    new += [(other, r, (step, t + slot + m["delay_s"], one)) for r, t in found]
            for to, r, what in new:
                if r in has[to]:
                    faults.append("the data of a rank arrives twice")
                has[to][r] = what
        if any(len(got) < len(self.ranks) for got in has.values()):
            faults.append("a rank that does not get all data")
        each = amount / len(self.ranks)
        if any(not isclose(m["bytes"], n * each, rel_tol=1e-9) for m, n in zip(messages, count, strict=True)):
            faults.append("a message of another size")
        return faults, max(t for got in has.values() for _, t, _ in got.values())

    def wrong(self) -> Wrong:
        """What is wrong with the schedule, and what is true."""
        yield from self.wrong_links()
        yield from self.wrong_loads()
        yield from self.wrong_trees()
