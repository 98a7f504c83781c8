"""Mutated certificates and fabric.json files, and whether what an accepted one states is true.

A checker may accept a mutation that leaves a true statement; it must reject every other one and never raise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from hashlib import sha256
from itertools import combinations
from random import Random
from typing import Any

from tests.soundness.judge_certified_times import is_time_true
from tests.soundness.judges import Claim, Left, Unjudged, World, blast_radius, figure

SLACK = Fraction(1, 10**7)


# ---------------------------------------------------------------- what is stated


def is_true(stated: Any, world: World) -> bool:
    """Whether what a certificate states of a fabric is so, by the judges. Raises Unjudged."""
    left = world.whole
    match stated["check"]:
        case "reachability":
            return _reach(left, stated)
        case "diameter":
            return bool(left.diameter() == Fraction(stated["value"]))
        case "bisection":
            return _bisection(left, stated)
        case "throughput":
            return _throughput(left, stated)
        case "mean_hops" | "edge_redundancy" | "node_redundancy":
            return bool(getattr(left, stated["check"])() == Fraction(stated["value"]))
        case "oversubscription":
            return _ratio(world, stated.get("at")) == Fraction(stated["value"])
        case "blast_radius":
            return bool(blast_radius(world, ", ".join(stated["of"])).value == stated["value"])
        case "survives":
            return _survives(world, stated)
        case "transfer" | "all_to_all_time" | "allreduce" | "all_gather_time" | "reduce_scatter_time":
            return is_time_true(left, stated)
    raise Unjudged(stated["check"])


def _ratio(world: World, at: list[str] | None) -> Fraction | None:
    """The worst ratio by the tiers that fabric.json states; None where a switch has nothing above."""
    row = {n: i for i, n in enumerate(world.names)}
    below = [(d, x.rate) for x in world.links for d, far in ((x.a, x.b), (x.b, x.a)) if -1 < world.tiers[far] < world.tiers[d]]
    above = [(d, x.rate) for x in world.links for d, far in ((x.a, x.b), (x.b, x.a)) if -1 < world.tiers[d] < world.tiers[far]]
    for x in world.absent:
        if x["tier"] is not None and x["tier"] < world.tiers[row[x["device"]]]:
            below.append((row[x["device"]], x["rate_bps"] * x["links"]))
    switches = [d for d, k in enumerate(world.kinds) if k == "switch"]
    asked = [*switches] if at is None else [d for some in world.select(", ".join(at)).values() for d in some if d in switches]
    tiers = {world.tiers[d] for d, _ in above if d in switches}
    ratios = []
    for d in asked:
        down, up = (sum(rate for v, rate in some if v == d) for some in (below, above))
        if down and not up and world.tiers[d] in tiers:
            return None
        ratios += [Fraction(down, up)] if up else []
    return max(ratios, default=None)


def _reach(left: Left, stated: Any) -> bool:
    if len(left.units) != stated["units"]:
        return False
    if stated["holds"] is True:
        return left.reachability()
    row = {n: i for i, n in enumerate(left.world.names)}
    a, b = (row[n] for n in stated["apart"])
    return a != b and {a, b} <= set(left.units) and not left.hubs[a] & left.hubs[b]


def _bisection(left: Left, stated: Any) -> bool:
    cut, _ = left.bisection()
    return len(left.units) == stated["units"] and int(stated["lower_bps"]) <= cut <= int(stated["upper_bps"])


def _throughput(left: Left, stated: Any) -> bool:
    low, high = Fraction(stated["lower_bps"]), Fraction(stated["upper_bps"])
    word = stated["pattern"]
    row = {n: i for i, n in enumerate(left.world.names)}
    if word == "between":
        found = left.between({row[n] for n in stated["from"]}, {row[n] for n in stated["to"]})
    else:
        if len(left.units) != stated["units"]:
            return False
        by_rail, word = (
            word == "rail_allreduce" or word.endswith(" by rail"),
            word.removesuffix(" by rail").removesuffix(" through scaleup"),
        )
        demands = None
        if word == "file":
            demands = {(row[s], row[t]): amount for s, t, amount in stated["demands"]}
            if not set(left.units) >= {x for pair in demands for x in pair} or len(demands) != len(stated["demands"]):
                return False
        found = left.flow(word, demands, by_rail)
    assert found.bps is not None
    value = found.bps / found.pairs if word == "all_to_all" else found.bps
    slack = Fraction(0) if found.exact else SLACK * value
    return low <= value + slack and high >= value - slack


def _survives(world: World, stated: Any) -> bool:
    count, claim = stated["count"], stated["condition"]
    if stated.get("what"):
        return _survives_links(world, stated)
    elements = [*dict.fromkeys(d for path in stated["of"] for d in world.select(path).values())]
    if type(count) is not int or not 0 < count <= len(elements):
        return False
    whole = world.whole
    for failed in combinations(elements, count):
        left = world.left(frozenset().union(*failed))
        if not _holds(whole, left, claim):
            return False
    return True


def _holds(whole: Left, left: Left, claim: Any) -> bool:
    """Whether two units, or two sets, are left and the condition holds for what is left."""
    if len(left.units) < 2 and claim["check"] != "throughput":
        return False
    if claim["check"] == "reachability":
        return left.reachability()
    bound = Fraction(claim["value"])
    if claim["check"] == "throughput":
        of, to = (", ".join(claim[end]) for end in ("from", "to"))
        flow = figure(left, Claim("throughput", of=of, to=to))
        if isinstance(flow, bool) or flow.bps is None:
            return False
        found = flow.value if claim["share"] else flow.bps
    elif claim["check"] == "bisection":
        share = claim["share"] == "left"
        found = left.bisection_share() if share else Fraction(left.bisection()[0])
        bound *= whole.full if claim["share"] == "intact" else 1
    else:
        found = Fraction(getattr(left, claim["check"])())
    found_is = {">=": found >= bound, ">": found > bound, "<=": found <= bound, "<": found < bound, "==": found == bound}
    return bool(found_is[claim["op"]])


def _survives_links(world: World, stated: Any) -> bool:
    """The same of links, ports, cables, cages and bundles."""
    of, to = (", ".join(stated[side] or ()) for side in ("of", "to"))
    if not world.select(of) or (to and not world.select(to)):
        raise Unjudged("single ports")
    named = world.elements(Claim("survives", of=of, to=to, what=stated["what"], count=stated["count"]))
    links = [found for _, found in named.values()]
    if type(stated["count"]) is not int or not 0 < stated["count"] <= len(links):
        return False
    lost = dict.fromkeys(frozenset().union(*failed) for failed in combinations(links, stated["count"]))
    return all(_holds(world.whole, world.left(frozenset(), rows), stated["condition"]) for rows in lost)


# ---------------------------------------------------------------- mutations


def mutations(rng: Random, certificate: Any, fabric_text: str, count: int) -> Iterator[tuple[str, str, str]]:
    """Texts of a certificate and a fabric.json after a mutation of either, and what was done. The certificate
    names the hash of fabric.json; mostly that of the mutated one is put there, so that the checker looks further."""
    plain = json.dumps(certificate), fabric_text
    fabric = json.loads(fabric_text)
    for _ in range(count):
        what = rng.choice(("leaf", "leaf", "leaf", "part", "part", "meaning", "meaning", "fabric", "fabric", "fabric", "text"))
        if what == "text":
            yield (*_text(rng, *plain), what)
            continue
        stated, text = json.loads(plain[0]), fabric_text
        if what == "fabric":
            wiring = json.loads(fabric_text)
            said = _wiring(rng, wiring)
            text = json.dumps(wiring)
        elif what == "meaning":
            said = _meaning(rng, stated, fabric)
        else:
            said = _node(rng, stated, fabric, what == "part")
        if what == "fabric" or rng.random() < 0.9:
            stated["design"] = sha256(text.encode()).hexdigest()
        yield json.dumps(stated), text, f"{what}: {said}"


def _places(node: Any, inner: bool) -> list[tuple[Any, Any]]:
    """Containers and keys of all leaves of a JSON value, or of all lists and objects in it."""
    out: list[tuple[Any, Any]] = []
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        if isinstance(value, (dict, list)):
            out += _places(value, inner)
            out += [(node, key)] if inner else []
        elif not inner:
            out.append((node, key))
    return out


def _names(fabric: Any) -> list[str]:
    return [row[0] for row in fabric["devices"]["rows"]]


def _node(rng: Random, stated: Any, fabric: Any, inner: bool) -> str:
    """Change one leaf, or one list or object."""
    places = [(node, key) for node, key in _places(stated, inner) if key not in ("schema", "design")]
    if not places:
        return "nothing"
    node, key = rng.choice(places)
    old = node[key]
    if isinstance(old, list):
        change = rng.randrange(5)
        if change == 0 or not old:
            node[key] = []
        elif change == 1:
            old.pop(rng.randrange(len(old)))
        elif change == 2:
            old.append(deepcopy(rng.choice(old)))
        elif change == 3:
            rng.shuffle(old)
        else:
            node[key] = rng.choice((None, {}, old[0]))
    elif isinstance(old, dict):
        change = rng.randrange(4)
        if change == 0 or not old:
            node[key] = {}
        elif change == 1:
            old.pop(rng.choice([*old]))
        elif change == 2 and len(old) > 1:
            a, b = rng.sample([*old], 2)
            old[a], old[b] = old[b], old[a]
        else:
            node[key] = rng.choice((None, [], 0))
    elif isinstance(old, bool) or old is None:
        node[key] = rng.choice((True, False, None, 0, "0"))
    elif isinstance(old, int):
        node[key] = rng.choice((old + 1, old - 1, old * 2, 0, -old, old // 2, 10**25, f"{old}", [old], old + rng.randrange(100)))
    else:
        names = _names(fabric)
        node[key] = rng.choice((rng.choice(names), rng.choice(names), "", "x", f"{old} ", _fraction(rng, old), None, 7))
    return f"{key}: {str(old)[:40]} -> {str(node[key])[:40]}"


def _fraction(rng: Random, old: str) -> str:
    try:
        value = Fraction(old)
    except (ValueError, ZeroDivisionError):
        return old[::-1]
    return str(rng.choice((value * 2, value + 1, -value, value / 3, Fraction(0))))


def _meaning(rng: Random, stated: Any, fabric: Any) -> str:
    """Change what the certificate states, and with it what should have to be shown."""
    names = _names(fabric)
    keys = [k for k in ("lower_bps", "upper_bps", "at_least", "at_most", "bits", "given", "units", "count", "condition",
                        "sets", "cut", "blocks", "divided", "each",
                        "of", "symmetries", "cases",
                        "holds", "pattern", "demands", "lower", "from", "to", "value", "what") if k in stated]  # fmt: skip
    key = rng.choice(keys)
    old = stated[key]
    if key in ("lower_bps", "upper_bps"):
        factor = rng.choice((Fraction(2), Fraction(1, 2), Fraction(9, 8), Fraction(0), Fraction(100)))
        new = Fraction(old) * factor
        stated[key] = str(new) if isinstance(old, str) else int(new)
    elif key in ("at_least", "at_most"):
        stated[key] = str(
            Fraction(old) * rng.choice((Fraction(2), Fraction(1, 2), Fraction(1001, 1000), Fraction(999, 1000), Fraction(0)))
        )
    elif key == "bits":
        stated[key] = rng.choice((old * 2, old // 2, old + 1, old * 8))
    elif key == "given":
        row = rng.choice(old["links"])
        change = rng.randrange(6)
        if change > 3 and old.get("domains"):
            domain = rng.choice(old["domains"])
            kind = rng.choice(("rate_bps", "most_bps", "any", "units"))
            if kind == "any":
                domain[kind] = not domain[kind]
            elif kind == "units":
                domain[kind].remove(rng.choice(domain[kind]))
            else:
                domain[kind] = str(Fraction(domain[kind] or 1) * rng.choice((2, Fraction(1, 4), 100)))
        elif change > 3:
            old["several"] = {rng.choice(names): rng.choice((1, 2, 5))}
        elif change == 0:
            row[rng.randrange(2, 4)] = rng.choice((0, row[2] * 1000, row[3] // 2))
        elif change == 1:
            old["links"].remove(row)
        elif change == 2:
            old["devices"][rng.choice(names)] = rng.choice((1, 10**12))
        else:
            old["ranks"] = rng.choice((1, 2, 8))
    elif key in ("sets", "cut", "blocks", "divided", "each"):
        _sides(rng, stated, names, key)
    elif key == "value":
        stated[key] = old + rng.choice((-1, 1, 2)) if isinstance(old, int) else str(Fraction(old) + Fraction(1, 2))
    elif key == "what":
        stated[key] = rng.choice(("links", "ports", "cables", "cages", None))
    elif key in ("units", "count"):
        stated[key] = old + rng.choice((-1, 1, 2)) if isinstance(old, int) else old
    elif key == "condition":
        stated[key] = old | rng.choice((
            {"value": rng.choice(("1/2", "1", "3/2", 2, 4, None))}, {"op": rng.choice((">=", ">", "<=", "<"))},
            {"share": rng.choice(("intact", "left", None))}, {"check": rng.choice(("diameter", "bisection", "node_redundancy"))},
        ))  # fmt: skip
    elif key in ("cases", "symmetries", "demands") and isinstance(old, list):
        if key == "symmetries":
            a, b = rng.sample(names, 2) if len(names) > 1 else (names[0], names[0])
            old.append({a: b, b: a})
        elif old and rng.random() < 0.6:
            old.pop(rng.randrange(len(old)))
        else:
            stated[key] = []
    elif key in ("of", "from", "to"):
        stated[key] = [rng.choice(names) for _ in range(rng.randint(0, 3))]
    elif key == "holds":
        stated[key] = not old
        stated["apart"] = rng.sample(names, min(2, len(names)))
    elif key == "pattern":
        stated[key] = rng.choice(("all_to_all", "ring", "shift 2", "rail_allreduce", "ring by rail", "between", "file"))
    else:
        stated[key] = rng.choice(({}, {"by": "flows", "least": 1}, {"routes": []}, {"lengths": []}))
    return key


def _sides(rng: Random, stated: Any, names: list[str], key: str) -> None:
    """Change the sets or the sides that a time is shown by."""
    old = stated[key]
    if key == "each":
        old["cut"] = [n for n in old["cut"] if rng.random() < 0.7] + rng.sample(names, 1)
    elif key == "cut":
        stated[key] = rng.sample(names, rng.randint(1, len(names)))
    elif key == "divided":
        stated[key] = [*range(rng.randint(0, 3))]
    else:
        one = rng.choice(old)
        change = rng.randrange(4)
        if change == 0:
            old.remove(one)
        elif change == 1:
            one.append(rng.choice(names))
        elif change == 2 and len(old) > 1:
            other = rng.choice(old)
            other.append(one.pop())
        else:
            one.pop()


def _wiring(rng: Random, wiring: Any) -> str:
    """Change the wiring."""
    devices, links = wiring["devices"], wiring["links"]
    at = {c: i for i, c in enumerate(links["columns"])}
    column = {c: i for i, c in enumerate(devices["columns"])}
    row = rng.choice(links["rows"]) if links["rows"] else None
    device = rng.choice(devices["rows"])
    change = rng.randrange(13)
    if change < 3 and row is not None:
        links["rows"].remove(row)
        for c in wiring["circuits"]["rows"]:
            c[-1] = min(c[-1], max(len(links["rows"]) - 1, 0))
        return "a link removed"
    if change < 5 and row is not None:
        row[at["rate_bps"]] = rng.choice((row[at["rate_bps"]] // 2, 1, row[at["rate_bps"]] * 2, 0, -1, "1"))
        return "a rate"
    if change < 7 and row is not None:
        row[at[rng.choice(("a_device", "b_device"))]] = rng.choice(devices["rows"])[0]
        return "an end of a link"
    if change == 7:
        devices["rows"].remove(device)
        return "a device removed"
    if change == 8:
        device[column["kind"]] = rng.choice(("host", "chip", "switch", "ocs", "router"))
        return "a kind"
    if change == 9:
        device[column["role"]] = rng.choice(("storage", "manager", "accelerator", None))
        return "a role"
    if change == 10:
        device[column["inside"]] = rng.choice((None, rng.choice(devices["rows"])[0]))
        return "what contains a device"
    if change == 11 and row is not None:
        row[at["via"]] = rng.choice((None, rng.choice(devices["rows"])[0]))
        return "what a link runs through"
    if row is not None and "rail" in at:
        row[at["rail"]] = rng.choice((None, 0, 1, 5))
        return "a rail"
    return "nothing"


def _text(rng: Random, certificate: str, fabric: str) -> tuple[str, str]:
    """Texts that are no strict JSON, or barely."""
    change = rng.randrange(7)
    if change == 0:
        return certificate[: rng.randrange(len(certificate))], fabric
    if change == 1:
        return certificate, fabric[: rng.randrange(len(fabric))]
    if change == 2:
        return certificate.replace(": ", ': NaN, "x": ', 1), fabric
    if change == 3:
        return "[" * rng.choice((99, 200, 100_000)) + "]" * 50, fabric
    if change == 4:
        first = certificate.index("{") + 1
        return certificate[:first] + '"check": "reachability", "holds": true, ' + certificate[first:], fabric
    if change == 5:
        digits = rng.choice((61, 400, 5000))
        return certificate.replace('"check"', f'"x": {"9" * digits}, "check"', 1), fabric
    return certificate.replace('"check"', '"x": 1e400, "check"', 1), fabric
