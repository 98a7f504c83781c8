"""What the paths of requirements name: devices, groups, ports and whole tiers, with every word of a requirement resolved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tdsl.fabric.claims import ResolvedClaim, Selector
from tdsl.fabric.graph import Fabric
from tests.harness import compile_text

TEXT = """fabric f {{
  host first: BOX
  group g[1..2] {{ group in[3] {{ switch s[2]: SW; host n[2]: BOX }}; switch t[2]: SW; {} }}
  group e {{ }}
  group two[2, 2] {{ switch u: SW; group deep {{ switch s: SW }}; {} }}
  switch a[2]: SW
  host h[2]: MIX
  switch s[2]: BIG
  connect g[i].in[j].s[k] to s[0] x 2
  connect g[i].in[j].n[k].nic[(0)] to s[1]
  connect g[i].t[k] to a[k]
  connect h[i].p[(1)] to a[(i)]
  connect first.nic[(0)] to s[0]
  connect two[i, j].u to two[i, j].deep.s
  connect two[i, j].u to s[1]
  connect a[0] to s[1]
  connect s[0] to s[1]
  {}
}}
model host MIX {{ port m: 400Gbps; port p[1..3]: 400Gbps; port q[2]: 400Gbps }}
"""


def claims(text: str, folder: Path, inner: str = "", deep: str = "") -> tuple[list[ResolvedClaim], Fabric, list[Any]]:
    result = compile_text(TEXT.format(inner, deep, text), folder, verify=False)
    (design,) = result.designs
    assert design.fabric is not None
    errors = [d for d in result.findings if d.severity.word == "error"]
    return list(design.claims), design.fabric, errors


def elements(f: Fabric, found: Selector) -> dict[str, list[str]]:
    return {e.name: [f.device_path(d) for d in e.devices.tolist()] for e in found.elements}


def inside(*groups: str) -> dict[str, list[str]]:
    """The devices of some groups, declaration by declaration."""
    out = {}
    for g in groups:
        if ".in" in g:
            out[g] = [f"{g}.{x}[{k}]" for x in "sn" for k in range(2)]
        elif g.startswith("two"):
            out[g] = [f"{g}.u", f"{g}.deep.s"]
        else:
            out[g] = [f"{g}.in[{j}].s[{k}]" for j in range(3) for k in range(2)]
            out[g] += [f"{g}.in[{j}].n[{k}]" for j in range(3) for k in range(2)] + [f"{g}.t[{k}]" for k in range(2)]
    return out


def single(*paths: str) -> dict[str, list[str]]:
    return {p: [p] for p in paths}


@pytest.mark.parametrize(
    ("path", "kind", "found"),
    [
        ("first", "host", single("first")),
        ("a", "switch", single("a[0]", "a[1]")),
        ("g[1].in[2].s[0]", "switch", single("g[1].in[2].s[0]")),
        ("g[*].in[1].s[1]", "switch", single("g[1].in[1].s[1]", "g[2].in[1].s[1]")),
        ("s", "switch", single("s[0]", "s[1]")),
        ("g", "group", inside("g[1]", "g[2]")),
        ("g[2]", "group", inside("g[2]")),
        ("g[*].in[1]", "group", inside("g[1].in[1]", "g[2].in[1]")),
        ("g[1].in", "group", inside("g[1].in[0]", "g[1].in[1]", "g[1].in[2]")),
        ("two[*, 1]", "group", inside("two[0, 1]", "two[1, 1]")),
        ("two[1, *].deep", "group", {f"two[1, {j}].deep": [f"two[1, {j}].deep.s"] for j in range(2)}),
        ("e", "group", {}),
        ("network", "network", {}),
        # a bare name of declarations that stand in groups alone: all of them
        ("t", "switch", single(*(f"g[{i}].t[{k}]" for i in (1, 2) for k in range(2)))),
        ("n", "host", single(*(f"g[{i}].in[{j}].n[{k}]" for i in (1, 2) for j in range(3) for k in range(2)))),
        ("u", "switch", single(*(f"two[{i}, {j}].u" for i in range(2) for j in range(2)))),
    ],
)
def test_what_a_path_names(path: str, kind: str, found: dict[str, list[str]], tmp_path: Path) -> None:
    """Each device or instance of a group is an element with its path; a group has all devices in it."""
    (claim,), f, errors = claims(f"report links of {path}", tmp_path)
    assert errors == []
    (selector,) = claim.of
    assert (selector.text, selector.kind, elements(f, selector), selector.ports) == (path, kind, found, "")
    assert selector.port_rows.tolist() == []


@pytest.mark.parametrize(
    ("path", "name", "ports"),
    [
        ("h[*].p[2..3]", "p", ["h[0].p[2]", "h[0].p[3]", "h[1].p[2]", "h[1].p[3]"]),
        ("h[(1)].p", "p", ["h[1].p[1]", "h[1].p[2]", "h[1].p[3]"]),
        ("h.q[(1)]", "q", ["h[0].q[1]", "h[1].q[1]"]),
        ("h[(0)].m", "m", ["h[0].m"]),
        ("h.q", "q", ["h[0].q[0]", "h[0].q[1]", "h[1].q[0]", "h[1].q[1]"]),
        ("g[1].in[*].n[(0)].nic[(0)]", "nic", [f"g[1].in[{j}].n[0].nic[0]" for j in range(3)]),
    ],
)
def test_ports_that_a_path_names(path: str, name: str, ports: list[str], tmp_path: Path) -> None:
    (claim,), f, errors = claims(f"report links of {path}", tmp_path)
    assert errors == []
    (selector,) = claim.of
    assert (selector.kind, selector.ports) == ("host", name)
    assert [f.port_path(p) for p in selector.port_rows.tolist()] == ports
    devices = list(dict.fromkeys(p.rpartition(".")[0] for p in ports))
    assert elements(f, selector) == single(*devices)


def test_ports_of_a_class_that_is_split_in_part(tmp_path: Path) -> None:
    """The class is in three parts then: those before, the lanes, and those behind."""
    text = """fabric f { switch a[2]: S { split p[2] 2 }; connect a[0].p[1] to a[1].p[1]; report links of a[(1)].p
  report links of a.p[3..4] }
model switch S { port m: 1Gbps; port p[1..4]: 800Gbps { split 2 } }"""
    (design,) = compile_text(text, tmp_path, models=False, verify=False).designs
    f = design.fabric
    assert f is not None and len(design.claims) == 2
    base = f.port_base.tolist()
    assert design.claims[0].of[0].port_rows.tolist() == [base[1] + 1 + k for k in range(5)]
    assert [f.port_path(p) for p in design.claims[1].of[0].port_rows.tolist()] == [
        f"a[{i}].p[{k}]" for i in range(2) for k in (3, 4)
    ]


def test_the_word_ports(tmp_path: Path) -> None:
    """All ports of hosts, unless a group is called so."""
    (claim,), _, errors = claims("report reachability of ports", tmp_path)
    assert errors == [] and [(s.text, s.kind, s.elements) for s in claim.of] == [("ports", "ports", ())]
    text = "fabric f { group ports[2] { switch s: SW }; connect ports[0].s to ports[1].s; report links of ports }"
    (design,) = compile_text(text, tmp_path, verify=False).designs
    assert [e.name for s in design.claims[0].of for e in s.elements] == ["ports[0]", "ports[1]"]


ROW = {
    "metric": "links", "args": (), "any_count": None, "any_of": "", "of": [], "of_to": [], "at": [], "under": "", "through": "",
    "op": "", "value": None, "of_intact": False, "given": None, "report": True, "scope": None, "of_active": False,
    "share_of": "", "of_all": False,
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("report links of h.p to a", {"of": ["h.p"], "of_to": ["a"]}),
        ("require links  of h.p   >= 1", {"of": ["h.p"], "op": ">=", "value": 1, "report": False}),
        ("report survives any 2 links of g[1] with reachability",
         {"metric": "survives", "any_count": 2, "any_of": "links", "of": ["g[1]"], "given": "reachability"}),
        ("require survives any 1 of s with bisection >= 50% of intact",
         {"metric": "survives", "any_count": 1, "of": ["s"], "given": "bisection", "report": False}),
        ("report survives any 1 ports", {"metric": "survives", "any_count": 1, "any_of": "ports"}),
        ("report survives any 1 bundles", {"metric": "survives", "any_count": 1, "any_of": "bundles"}),
        ("report survives any 1 cages", {"metric": "survives", "any_count": 1, "any_of": "cages"}),
        ("report oversubscription at s", {"metric": "oversubscription", "at": ["s"]}),
        ("report throughput shift 2", {"metric": "throughput", "args": ("shift", 2)}),
        ("report blast_radius of s through scaleup", {"metric": "blast_radius", "of": ["s"], "through": "scaleup"}),
        ("require switches == 1 + 2", {"metric": "switches", "op": "==", "value": 3, "report": False}),
    ],
)  # fmt: skip
def test_words_of_a_requirement(text: str, facts: dict[str, Any], tmp_path: Path) -> None:
    (claim,), _, errors = claims(text, tmp_path)
    assert errors == []
    found = {name: getattr(claim, name) for name in ROW}
    found |= {name: [s.text for s in getattr(claim, name)] for name in ("of", "of_to", "at")}
    found["given"] = claim.given.metric if claim.given else None
    assert found == ROW | facts
    assert claim.text == " ".join(text.split()[1:]) and claim.origin.span.text == text.partition(" ")[2]
    if claim.given is not None and claim.given.op:
        assert (claim.given.op, claim.given.of_intact, claim.given.report) == (">=", True, claim.report)


@pytest.mark.parametrize(
    ("text", "code", "span", "message", "help"),
    [
        ("report survives any 1 foo", "E0492", "foo", "`any K foo` fails nothing that tdsl knows",
         "write one of bundles, cables, cages, links, ports"),
        ("report survives any 1.5 links", "E0103", "1.5", "the number of failures must be a whole number", ""),
        ("report survives any (1 < 2) links", "E0103", "1 < 2", "the number of failures must be a whole number", ""),
        ("report links of nothing", "E0101", "nothing", "there is no device or group `nothing` here",
         "known here: `a`, `e`, `first`, `g`, `h`, `s`, `two`"),
        ("report links of nothing[0]", "E0101", "nothing", "there is no device or group `nothing` here",
         "known here: `a`, `e`, `first`, `g`, `h`, `s`, `two`"),
        ("report links of a[9]", "E0108", "9", "`a[9]` is outside 0..1", "`a` has indices 0..1"),
    ],
)  # fmt: skip
def test_requirements_that_are_refused(text: str, code: str, span: str, message: str, help: str, tmp_path: Path) -> None:
    """The others are there all the same."""
    found, _, errors = claims(f"{text}\n  report diameter", tmp_path)
    said = [(d.code, d.span.text.strip("()") if d.span else "", d.message, d.help or "") for d in errors]
    assert said == [(code, span, message, help)]
    assert [c.metric for c in found] == ["diameter"]


def test_requirements_of_each_instance(tmp_path: Path) -> None:
    """In the block of a group with two indices, and of one that begins at 1; each instance by its path and with its devices."""
    found, f, errors = claims("report diameter", tmp_path, "require links >= 4", "report links; require switches == 2")
    assert errors == []
    scopes = [(c.metric, c.scope and (c.scope.name, [f.device_path(d) for d in c.scope.devices.tolist()])) for c in found]
    g, two = inside("g[1]", "g[2]"), inside(*(f"two[{i}, {j}]" for i in range(2) for j in range(2)))
    expected = {("links", k, tuple(v)) for k, v in [*g.items(), *two.items()]} | {
        ("switches", k, tuple(v)) for k, v in two.items()
    }
    assert {(m, s[0], tuple(s[1])) for m, s in scopes if s} == expected and len(scopes) == 11
    assert [s for m, s in scopes if m == "diameter"] == [None]
    assert [s[0] for m, s in scopes if m == "switches" and s] == list(two)
