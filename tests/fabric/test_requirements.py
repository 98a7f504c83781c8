"""What the paths of requirements name: devices, groups, ports and whole tiers, with every word of a requirement resolved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tdsl.fabric.claims import ResolvedClaim, Selector
from tdsl.fabric.graph import Fabric
from tests.harness import compile_text, sections

TEXTS = sections(Path(__file__).parent / "requirements.txt")
TEXT = f"{TEXTS['TEXT']}\n"


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


def test_the_word_ports(tmp_path: Path) -> None:
    """All ports of hosts, unless a group is called so."""
    (claim,), _, errors = claims("report reachability of ports", tmp_path)
    assert errors == [] and [(s.text, s.kind, s.elements) for s in claim.of] == [("ports", "ports", ())]
    text = "fabric f { group ports[2] { switch s: SW }; connect ports[0].s to ports[1].s; report links of ports }"
    (design,) = compile_text(text, tmp_path, verify=False).designs
    assert [e.name for s in design.claims[0].of for e in s.elements] == ["ports[0]", "ports[1]"]


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
