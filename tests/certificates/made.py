"""Certificates as tdsl writes them, and what tests change in them."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import networkx as nx

from tdsl.certificates import checker
from tdsl.certificates.checker import Rejected, verify
from tdsl.certificates.write import Certified, certificates_by_file_name, json_of_fabric_target, verified_certificates
from tdsl.findings.diagnostic import Diagnostics
from tdsl.prove.budget import DEFAULT
from tdsl.verify.runner import judge_requirements
from tests.fabrics import claim
from tests.harness import compile_text
from tests.verify import judges

SCRIPT = Path(checker.__file__)
READ = {
    "devices": ("name", "path", "kind", "role", "model", "inside", "tier"),
    "planned_links": ("device", "tier", "rate_bps", "links"),
    "links": (
        "a_device",
        "b_device",
        "rate_bps",
        "rail",
        "via",
        "a_port",
        "b_port",
        "a_cage",
        "b_cage",
        "cable_id",
        "far_cable_id",
    ),
}
"""The columns of fabric.json that the checker reads."""


def as_json(f):
    """What the target `json` writes of a fabric, as far as the checker reads it."""
    data = json.loads(json_of_fabric_target(f))
    out = {"schema": data["schema"], "fabric": data["fabric"]}
    for name, columns in READ.items():
        rows = [dict(zip(data[name]["columns"], row, strict=True)) for row in data[name]["rows"]]
        out[name] = {"columns": list(columns), "rows": [[row[c] for c in columns] for row in rows]}
    return out


def net_of(fabric):
    """The checker's view of a fabric.json."""
    return checker.CertifiedNetwork(checker.CertifiedFabric(fabric), checker.WorkSteps())


def shown(certificate, fabric, end):
    """The bound of a throughput that one proof shows, in bit/s; None where the checker rejects it."""
    try:
        stated = checker.value_of_form(certificate, checker.HEAD | checker.FORMS["throughput"], "certificate")
        wide = {"lower_bps": Fraction(0), "upper_bps": Fraction(10**60)}
        return checker.verify_throughput_bounds(net_of(fabric), stated | wide)[end == "upper"]
    except (Rejected, LookupError, TypeError, ValueError, ArithmeticError):
        return None


def headed(f, bodies):
    """Bodies of certificates as they are read from their files."""
    head = {"schema": checker.SCHEMA, "fabric": f.name}
    return {name: json.loads(json.dumps(head | body)) for name, body in bodies.items()}


def made(f, *claims, budget=DEFAULT):
    asked = [claim(f, "bisection", ">=", Fraction(1, 100)), *claims]
    return headed(f, certificates_by_file_name(f, asked, judge_requirements(f, asked, Diagnostics(), budget=budget), budget))


def rejected(certificate, fabric):
    try:
        verify(certificate, fabric)
    except Rejected:
        return True
    return False


def leaves(value, way=()):
    """Ways to every plain value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*way, key))
    elif isinstance(value, list):
        for key, inner in enumerate(value):
            yield from leaves(inner, (*way, key))
    else:
        yield way


def put(value, way, new):
    for key in way[:-1]:
        value = value[key]
    value[way[-1]] = new


def at(value, way):
    for key in way:
        value = value[key]
    return value


HEADLINES = ("lower_bps", "upper_bps", "units", "check", "schema", "fabric", "holds", "count", "value")
MODELS = """
model host N { port nic: 400Gbps; chip gpu: G }
model host ST { port nic: 400Gbps }
model chip G { port lane: 400Gbps }
model switch SW { port p[1..16]: 400Gbps }
model host TR { chip gpu[2]: GV }
model chip GV { port nv[2]: 200Gbps }
model switch X { port p[1..16]: any }
"""


@cache
def design(text: str, folder: Path) -> tuple[str, Certified]:
    """The fabric.json and the certificates of a text."""
    (made,) = compile_text(text + MODELS, folder, models=False).designs
    assert made.fabric is not None, made.findings
    return json_of_fabric_target(made.fabric), verified_certificates(made.fabric, made.claims, made.results)


def judged(body: dict[str, object], fabric: str) -> tuple[int, str]:
    """The checker's answer about a certificate with an honest head."""
    head = {"schema": checker.SCHEMA, "fabric": "f", "design": sha256(fabric.encode()).hexdigest()}
    return checker.check(json.dumps(head | body), fabric)


def body(made: Certified, name: str) -> dict[str, object]:
    """What a certificate states, without its head."""
    out = json.loads(made.texts[name])
    return {k: out[k] for k in out if k not in ("schema", "fabric", "design")}


def least_over_all_splits(f):
    """Exhaustive: every balanced split, a maximum flow each."""
    units, inner = judges.units(f), judges.forwarders(f)
    g = nx.DiGraph()
    for (a, b), rate in zip(judges.pairs(f), f.link_rate.tolist(), strict=True):
        if {a, b} <= inner | set(units) and a != b:
            for x, y in ((a, b), (b, a)):
                g.add_edge(x, y, capacity=g.get_edge_data(x, y, {"capacity": 0})["capacity"] + rate)
    values = []
    for side in combinations(units, len(units) // 2):
        h = g.copy()
        h.add_edges_from(("source", u) for u in side)
        h.add_edges_from((u, "sink") for u in units if u not in side)
        values.append(nx.maximum_flow_value(h, "source", "sink"))
    return min(values)
