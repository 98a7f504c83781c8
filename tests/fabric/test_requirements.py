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


def elements(f: Fabric, found: Selector) -> list[str]:
    """Names of the elements; each has the device of its name, or all devices of a group of its name, in order."""
    for e in found.elements:
        paths = [f.device_path(d) for d in range(f.device_count)]
        mine = [path for path in paths if path == e.name or path.startswith(f"{e.name}.")]
        assert [paths[d] for d in e.devices.tolist()] == mine != []
    return [e.name for e in found.elements]


@pytest.mark.parametrize(
    ("path", "kind", "found"),
    [
        ("first", "host", ["first"]),
        ("a", "switch", ["a[0]", "a[1]"]),
        ("g[1].in[2].s[0]", "switch", ["g[1].in[2].s[0]"]),
        ("g[*].in[1].s[1]", "switch", ["g[1].in[1].s[1]", "g[2].in[1].s[1]"]),
        ("s", "switch", ["s[0]", "s[1]"]),
        ("g", "group", ["g[1]", "g[2]"]),
        ("g[2]", "group", ["g[2]"]),
        ("g[*].in[1]", "group", ["g[1].in[1]", "g[2].in[1]"]),
        ("g[1].in", "group", ["g[1].in[0]", "g[1].in[1]", "g[1].in[2]"]),
        ("two[*, 1]", "group", ["two[0, 1]", "two[1, 1]"]),
        ("two[1, *].deep", "group", ["two[1, 0].deep", "two[1, 1].deep"]),
        ("e", "group", []),
        ("network", "network", []),
        # a bare name of declarations that stand in groups alone: all of them
        ("t", "switch", [f"g[{i}].t[{k}]" for i in (1, 2) for k in range(2)]),
        ("n", "host", [f"g[{i}].in[{j}].n[{k}]" for i in (1, 2) for j in range(3) for k in range(2)]),
        ("u", "switch", [f"two[{i}, {j}].u" for i in range(2) for j in range(2)]),
    ],
)
def test_what_a_path_names(path: str, kind: str, found: list[str], tmp_path: Path) -> None:
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
    assert elements(f, selector) == devices


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
    scopes: dict[str, list[str | None]] = {}
    for c in found:
        scopes.setdefault(c.metric, []).append(c.scope.name if c.scope else None)
        if c.scope:
            paths = [f.device_path(d) for d in range(f.device_count)]
            assert [paths[d] for d in c.scope.devices.tolist()] == [p for p in paths if p.startswith(f"{c.scope.name}.")]
    two = [f"two[{i}, {j}]" for i in range(2) for j in range(2)]
    assert scopes == {"links": ["g[1]", "g[2]", *two], "switches": two, "diameter": [None]}
