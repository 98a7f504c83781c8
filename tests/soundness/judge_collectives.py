"""Times that a design asks for against what algorithms need and reach: the interval holds, and the verdict is what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import inf, isinf
from pathlib import Path
from random import Random

from tdsl.certificates.write import verified_certificates
from tdsl.compile import compiler
from tdsl.compile.compiler import Design, Request
from tdsl.prove.switch_messages import SwitchMessages
from tdsl.verify.result import Result
from tdsl.verify.schedules import OPERATIONS, schedule_as_data, schedule_of_claim
from tdsl.verify.second.judge import SecondOpinionJudge, results_with_claims
from tests.harness import written
from tests.soundness.arena import SECOND, fabric_json, fraction_of, said
from tests.soundness.families.collective_times import METRICS, SIZES, TimedDesign
from tests.soundness.judge_certified_times import is_time_true, times_of_sets
from tests.soundness.judge_schedules import wrong_schedule
from tests.soundness.judge_times import (
    TrueTimes,
    delays_round_ring,
    exact_milliseconds,
    longest_window,
    times_in_network,
    times_of_collective,
    times_of_transfer,
    times_over_scale_up,
    wires_of,
)
from tests.soundness.judges import Claim, Left, Unjudged, World, concurrent
from tests.soundness.verdicts import Compared, Difference, answer_text, first_error, internal_errors

SLACK = 1 + 2e-6
"""How far two times of linear programs may be apart."""


def judged_times(design: TimedDesign, folder: Path) -> Compared:
    """Compile a design and compare its times with the judge's."""
    out, rng = Compared(designs=1), Random(design.seed)
    path = folder / "design.fab"

    def differ(kind: str, claim: Claim | None, answer: str, judge: str) -> None:
        text = claim.text() if claim else ""
        shown = design.text((text,) if text else ())
        failed = f"# checked with --fail {design.fail[0]}\n" if design.fail else ""
        out.found.append(
            Difference("collective_times", kind, claim.metric if claim else "", text, answer, judge, design.seed, failed + shown)
        )

    try:
        written(path, design.text())
        plain = compiler.compile_without_checks(str(path))
        made = plain.designs[0]
        if made.fabric is None or not made.fabric.complete:
            out.refused = 1
            out.verdicts[f"refused: collective_times: {first_error(plain)}"] += 1
            return out
        world = World(json.loads(fabric_json(made)))
        gone = frozenset().union(*(world.select(x)[x] for x in design.fail)) if design.fail else frozenset[int]()
        left = world.left(gone)
        known = dict(asked_times(design, left, rng))
        written(path, design.text(tuple(c.text() for c in known)))
        compilation = compiler.compile_and_verify(str(path), Request(fail=design.fail))
    except AssertionError:
        raise
    except KeyError:
        out.refused = 1
        out.verdicts["refused: collective_times: nothing of that name"] += 1
        return out
    except Exception as fault:
        if isinstance(fault, Unjudged):
            return out
        differ("internal error", None, said(fault), "")
        return out
    for code, message in internal_errors(compilation):
        differ("internal error", None, f"{code} {message}", "")
    results = {r.requirement: r for r in compilation.designs[0].results}
    for claim, true in known.items():
        result = results.get(claim.text())
        if result is None:
            differ("no answer", claim, "nothing", first_error(compilation))
            continue
        out.figures += 1
        out.verdicts[f"{claim.metric} {result.status}"] += 1
        for kind, judge in wrong_interval(claim, result, true, left):
            differ(kind, claim, answer_text(result), judge)
            break
    for kind, result, told in replayed_schedules(compilation.designs[0], left, out):
        differ(kind, next((c for c in known if c.text() == result.requirement), None), answer_text(result), told)
    if not design.fail and rng.random() < 0.2:
        for kind, name, told in certified_times(compilation.designs[0], world, out):
            differ(kind, None, name, told)
    if not design.fail and rng.random() < 0.3:
        for kind, result, told in second_opinions(compilation.designs[0], out):
            differ(kind, next((c for c in known if c.text() == result.requirement), None), answer_text(result), told)
    return out


def replayed_schedules(design: Design, left: Left, out: Compared) -> Iterator[tuple[str, Result, str]]:
    """Answers whose schedule, as it is shown, does not do what it says in the time that it says."""
    assert design.fabric is not None
    for result, claim in results_with_claims(design.claims, design.results):
        if claim is None or claim.metric not in OPERATIONS or claim.through or claim.of_all:
            continue
        try:
            shown = schedule_of_claim(design.fabric, claim, design.failed)
            if isinstance(shown, str) or isinstance(shown.messages, str):
                out.verdicts["no schedule shown"] += 1
                continue
            if shown.name != result.witness.get("schedule", shown.name):
                yield "another schedule shown", result, shown.name
            wrong = next(wrong_schedule(left, schedule_as_data(shown)), None)
        except Unjudged:
            continue
        kind = "trees of switches" if isinstance(shown.messages, SwitchMessages) else "trees" if shown.trees else "schedule"
        out.verdicts[f"{kind} replayed{' after failures' * (design.failed is not None)}"] += 1
        if wrong is not None:
            yield f"{wrong[0]} ({shown.name})", result, wrong[1]


def certified_times(design: Design, world: World, out: Compared) -> Iterator[tuple[str, str, str]]:
    """Certificates that the checker rejects, that state what is not so, or that contradict the answer."""
    assert design.fabric is not None
    try:
        made = verified_certificates(design.fabric, design.claims, design.results)
    except Exception as fault:
        yield "internal error of certificates", "", said(fault)
        return
    for name, why in made.rejected.items():
        yield "honest certificate rejected", name, why
    for name, text in made.texts.items():
        stated = json.loads(text)
        if "at_least" not in stated:
            continue
        try:
            true = is_time_true(world.whole, stated)
        except Unjudged:
            continue
        out.verdicts["certificate judged"] += 1
        if not true:
            yield "certificate of what is not so", name, f"{stated['at_least']} to {stated['at_most']} s"


def second_opinions(design: Design, out: Compared) -> Iterator[tuple[str, Result, str]]:
    """Answers that the second opinion contradicts, or fails on."""
    assert design.fabric is not None
    judge = SecondOpinionJudge(design.fabric, limits=SECOND)
    for result, claim in results_with_claims(design.claims, design.results):
        if claim is None:
            continue
        try:
            opinion = judge.opinion(result, claim)
        except Exception as fault:
            yield "internal error of the second opinion", result, said(fault)
            continue
        if opinion is None:
            continue
        out.verdicts[f"second opinion: {result.check} {opinion.verdict}"] += 1
        if opinion.verdict == "disagrees":
            yield "second opinion disagrees", result, f"{opinion.by}: {opinion.said}"


def asked_times(design: TimedDesign, left: Left, rng: Random) -> Iterator[tuple[Claim, TrueTimes]]:
    """Requirements with limits around what is true."""
    for metric in METRICS if rng.random() < 0.5 else rng.sample(METRICS, 2):
        size = rng.choice(SIZES)
        try:
            true = times_of_collective(left, metric, size)
        except Unjudged:
            continue
        for limit in limits(rng, true):
            yield Claim(metric, str(size), cmp="<=", value=exact_milliseconds(limit), unit="ms"), true
    yield from asked_beside(design, left, rng)
    yield from asked_of_sets(design, left, rng)
    if len(design.ends) < 2:
        return
    a, b = rng.sample(design.ends, 2)
    each, size = rng.random() < 0.5, rng.choice(SIZES)
    here, there = (frozenset().union(*left.world.select(x).values()) for x in (a, b))
    ends = {d for d, k in enumerate(left.world.kinds) if k == "host"} - left.gone
    here, there = here & ends, there & ends
    if not here or not there or here & there:
        return
    try:
        true = times_of_transfer(left, set(here), set(there), size, each)
    except Unjudged:
        return
    for limit in limits(rng, true):
        yield (
            Claim("transfer", f"{size}B{' each' * each}", of=a, to=b, cmp="<=", value=exact_milliseconds(limit), unit="ms"),
            true,
        )


def asked_of_sets(design: TimedDesign, left: Left, rng: Random) -> Iterator[tuple[Claim, TrueTimes]]:
    """Requirements about one set of hosts, or several that share all links, and their limits."""
    if len(design.ends) < 2 or left.world.direct or left.world.joined_chips or rng.random() < 0.3:
        return
    metric, size, several = rng.choice(METRICS), rng.choice(SIZES), rng.random() < 0.6
    chosen = rng.sample(design.ends, rng.randint(2, min(3, len(design.ends))) if several else rng.randint(1, len(design.ends)))
    if "filer" in chosen:  # which would be members, and are no units of the whole
        return
    sets = [sorted(frozenset().union(*left.world.select(x).values()) & {*left.units}) for x in chosen]
    sets = sets if several else [sorted({u for one in sets for u in one})]
    if any(len(one) < 2 for one in sets) or len({u for one in sets for u in one}) < sum(map(len, sets)):
        return
    try:
        true = times_of_sets(left, metric, size, sets)
    except Unjudged:
        return
    for limit in limits(rng, true):
        shown = exact_milliseconds(limit)
        of = ", ".join(chosen)
        yield Claim(metric, str(size), of=of, every=not several, among=several, cmp="<=", value=shown, unit="ms"), true


def asked_beside(design: TimedDesign, left: Left, rng: Random) -> Iterator[tuple[Claim, TrueTimes]]:
    """Requirements of times by scale-up links alone, of all reduced in switches, and their limits."""
    size = rng.choice(SIZES)
    try:
        if rng.random() < 0.5:
            true = times_in_network(left, size)
            for limit in limits(rng, true):
                given = Claim("in_network")
                yield Claim("allreduce", str(size), cmp="<=", value=exact_milliseconds(limit), unit="ms", given=given), true
        metric, of = rng.choice(METRICS), rng.choice(design.domains) if design.domains else ""
        hosts = {*frozenset().union(*left.world.select(of).values())} if of else set[int]()
        if hosts:
            true = times_over_scale_up(left, metric, size, hosts)
            for limit in limits(rng, true):
                shown = exact_milliseconds(limit)
                yield Claim(metric, str(size), of=of, every=True, scaleup=True, cmp="<=", value=shown, unit="ms"), true
    except (Unjudged, KeyError):
        return


def limits(rng: Random, true: TrueTimes) -> Iterator[float]:
    """Limits near the bounds that are true."""
    if isinf(true.most):
        yield 1.0
        return
    most = true.most
    yield rng.choice((true.least * 0.97, most * 1.02, most * rng.choice((0.5, 1.5, 3))))
    yield most * rng.choice((1.02, 1.3, 2))


def wrong_interval(claim: Claim, result: Result, true: TrueTimes, left: Left) -> Iterator[tuple[str, str]]:
    """What is wrong with an interval or its verdict, and what is true."""
    told = f"no algorithm below {true.described:.9g} s, one takes {true.most:.9g} s"
    low, high = (inf if x is None else float(x) for x in (fraction_of(result.lower), fraction_of(result.upper)))
    limit = float(claim.value) / 1000
    if result.status == "skipped":
        return
    if low > true.most * SLACK:
        yield f"a floor above an algorithm ({result.witness.get('floor_by', '')})", told
    if high * SLACK < true.described:
        yield f"a ceiling below every algorithm ({result.witness.get('schedule', '')})", told
    verdict = "proved" if high <= limit * (1 + 1e-12) else "refuted" if low > limit else "bounded"
    if result.status != verdict and result.status in ("proved", "refuted"):
        yield "a verdict that is not the interval's", told
    if claim.scaleup or claim.given or claim.every or claim.among:
        return
    least = ring_delay(result, left, claim.metric)
    if result.witness.get("delays_s", least) * SLACK < least:  # type: ignore[operator]
        yield "less delay than a ring has", f"{least:.9g} s"
    if min((result.witness.get("schedules") or {"": inf}).values()) * SLACK < float(result.witness.get("floor_s", 0)):  # type: ignore[attr-defined, arg-type]
        yield "a schedule below its floor", f"{result.witness}"
    for name, seconds in (result.witness.get("schedules") or {}).items():  # type: ignore[attr-defined]
        least = least_of_messages(left, claim.metric, int(claim.arg), name)
        if seconds * SLACK < least:
            yield f"a schedule that its messages do not fit into: {name}", f"{least:.9g} s, not {seconds:.9g} s"


def least_of_messages(left: Left, metric: str, size: int, name: str) -> float:
    """The least time in which what a schedule sends between hosts flows through switches, all at once; 0 of those that are not
    known here."""
    weight = {u: max(left.world.facts[u].get("acc", 1), 1) if left.world.kinds[u] == "host" else 1 for u in left.units}
    n, units = sum(weight.values()), left.units
    if left.world.up or metric == "all_to_all_time" or name not in ("ring", "direct exchange"):
        return 0.0
    if name == "ring":
        sent = {(u, v): n - weight[v] for u, v in zip(units, units[1:] + units[:1], strict=True)}
    else:
        sent = {(u, v): weight[u] for u in units for v in units if u != v}
    demands = dict.fromkeys([*sent, *((v, u) for u, v in sent)], 0) if metric == "allreduce" else dict.fromkeys(sent, 0)
    for (u, v), amount in sent.items():
        demands[u, v] += amount
        if metric == "allreduce":
            demands[v, u] += amount
    arcs: dict[tuple[int, int], int] = {}
    for x in left.counted:
        for a, b in ((x.a, x.b), (x.b, x.a)):
            arcs[a, b] = arcs.get((a, b), 0) + x.rate // 10**9
    if metric == "reduce_scatter_time":
        demands = {(v, u): amount for (u, v), amount in demands.items()}
    try:
        factor = concurrent(arcs, demands, left.forwards)
    except Unjudged:
        return 0.0
    return 8e-9 * size / n / factor if factor > 0 else inf


def ring_delay(result: Result, left: Left, metric: str) -> float:
    """The least that delays take of a ring over all hosts of one rank; 0 of other schedules."""
    if result.witness.get("schedule") != "ring":
        return 0.0
    wires = wires_of(left, False)
    n = len(wires.ranks)
    if n != len(left.units) or wires.unknown or left.world.up or left.world.direct:
        return 0.0
    delays = delays_round_ring(wires)
    if metric != "allreduce":
        return longest_window(delays, n - 1)
    if int(str(result.witness.get("chunks", 1))) > 1:
        return 2 * longest_window(delays, n - 1)
    return longest_window(delays, 2 * (n - 1))
