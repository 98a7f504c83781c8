"""Certificates as tdsl writes them, and what tests change in them."""

from __future__ import annotations

import json
from copy import deepcopy
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path

from hypothesis import strategies as st

from tdsl.certificates import checker
from tdsl.certificates.checker import Rejected, verify
from tdsl.certificates.write import Certified, certificates_by_file_name, json_of_fabric_target, verified_certificates
from tdsl.findings.diagnostic import Diagnostics
from tdsl.prove.budget import DEFAULT
from tdsl.verify.runner import judge_requirements
from tests.fabrics import claim
from tests.harness import compile_text
from tests.tables import sections


def as_json(f):
    """What the target `json` writes of a fabric, as far as the checker reads it."""
    data = json.loads(json_of_fabric_target(f))
    out = {"schema": data["schema"], "fabric": data["fabric"]}
    for name, columns in checker.TABLES.items():
        rows = [dict(zip(data[name]["columns"], row, strict=True)) for row in data[name]["rows"]]
        out[name] = {"columns": list(columns), "rows": [[row.get(c) for c in columns] for row in rows]}
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


def tampered(data, honest, fabric, values, parts, least=0):
    """A copy with up to three values inside of its proofs exchanged for others, or for names of devices."""
    certificate = deepcopy(honest)
    inner = [way for way in leaves(certificate) if way[0] in parts]
    for _ in range(data.draw(st.integers(least, 3))):
        new = data.draw(st.sampled_from([*values, *(row[0] for row in fabric["devices"]["rows"])]))
        put(certificate, data.draw(st.sampled_from(inner)), new)
    return certificate


HEADLINES = ("lower_bps", "upper_bps", "units", "check", "schema", "fabric", "holds", "count", "value")
CLOS = """fabric f {
  host node[8]: N
  switch leaf[4]: SW
  switch spine[2]: SW
  connect node[n].nic to leaf[n//2]
  connect leaf[*] to spine[*] spread x 2
  report bisection
  report reachability
  report diameter
  report mean_hops
  report edge_redundancy
  report node_redundancy
  report oversubscription
  report blast_radius of leaf
  report throughput all_to_all
  report throughput ring
  report throughput of node[0..3] to node[4..7]
  report survives any 1 of spine with bisection >= 30%
}"""
MODELS = sections(__file__)["models"]


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
