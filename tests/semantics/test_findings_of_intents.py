"""Intents that are refused: every finding as a whole; what rests on a refused intent is not reported again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text

Found = list[tuple[str, str, str, str]]

CLOS = "clos { leaf SW; spine SW }"
SETS = "write `hosts N x MODEL` before it"


def found(text: str, folder: Path) -> Found:
    """Code, underlined text, message and help of each finding that is no note."""
    findings = compile_text(text, folder, verify=False).findings
    return [(d.code, d.span.text if d.span else "", d.message, d.help) for d in findings if d.severity.name != "NOTE"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"hosts 4 x BOX\nrails 2\nrails 2\n{CLOS}", ("E0104", "rails 2", "`rails` is given twice", "")),
        (f"hosts 4 x BOX\npods\n{CLOS}", ("E0120", "pods", "`pods` takes one number", "`pods 8`")),
        (f"hosts 4 x BOX\npods 1, 2\n{CLOS}", ("E0120", "pods 1, 2", "`pods` takes one number", "`pods 8`")),
        (f"hosts 4 x BOX\npods 1 x\n{CLOS}", ("E0120", "pods 1 x", "`pods` takes one number", "`pods 8`")),
        (f"hosts 4 x BOX\npods 1 {{ }}\n{CLOS}", ("E0120", "pods 1 { }", "`pods` takes one number", "`pods 8`")),
        (f"hosts 4 x BOX\npods 0\n{CLOS}", ("E0120", "0", "there is at least one of `pods`; this is 0", "")),
        (f"hosts 4 x BOX\nplanes -1\n{CLOS}", ("E0120", "-1", "there is at least one of `planes`; this is -1", "")),
        (f"hosts\n{CLOS}", ("E0120", "hosts", "say how many of which model", "`hosts 128 x MODEL`, or `hosts NAME.CLASS`")),
        (f"hosts 4 x BOX, 5\n{CLOS}", ("E0120", "5", "one `hosts` declares devices of one model", "")),
        (f"hosts 4 x 5\n{CLOS}", ("E0120", "5", "expected the name of a model", "`hosts 128 x MODEL`")),
        (f"chips 4 x a.b\n{CLOS}", ("E0120", "a.b", "expected the name of a model", "`chips 128 x MODEL`")),
        (f"hosts 0 x BOX\n{CLOS}", ("E0120", "0", "there is at least one of `hosts`; this is 0", "")),
        (f"hosts 4 x BOX from 3\n{CLOS}", ("E0120", "3", "`hosts` does not use this", "`hosts 128 x MODEL`")),
        (
            f"hosts 4 x BOX {{ switch a: SW }}\n{CLOS}",
            ("E0118", "switch a: SW", "a device's braces hold settings only", "known: `role`, `split`, `nos`"),
        ),
        (
            f"hosts 4 x BOX\nhosts 4 x BOX\n{CLOS}",
            ("E0104", "hosts 4 x BOX", "`host` is already declared by another `hosts`", "declare the hosts, and name them"),
        ),
        (
            f"hosts 4 BOX\n{CLOS}",
            ("E0120", "4 BOX", "`x` is missing between the number and the model", "write `hosts 4 x BOX`"),
        ),
        (
            f"hosts 4 + 4\n{CLOS}",
            ("E0120", "4 + 4", "expected a number and a model, or the name of hosts",
             "`hosts 128 x MODEL`, or `hosts NAME.CLASS` with hosts that are declared"),
        ),
        (
            f"host a[4]: BOX\nhosts a.nic(1)\n{CLOS}",
            ("E0120", "a.nic(1)", "expected a number and a model, or the name of hosts",
             "`hosts 128 x MODEL`, or `hosts NAME.CLASS` with hosts that are declared"),
        ),
        (
            f"host a[4]: BOX\nhosts a[0].nic\n{CLOS}",
            ("E0120", "[0]", "a topology joins all hosts of a declaration, not a part of them",
             "write `a.nic`, or declare the part by a name of its own"),
        ),
        (
            f"host a[2, 2]: BOX\nhosts a[*, 0].nic\n{CLOS}",
            ("E0120", "[*, 0]", "a topology joins all hosts of a declaration, not a part of them",
             "write `a.nic`, or declare the part by a name of its own"),
        ),
        (f"host a[4]: BOX\nhosts a.nic.x\n{CLOS}", ("E0120", "x", "nothing follows a port class", "")),
        (
            f"host a[4]: BOX\nhosts a.nix\n{CLOS}",
            ("E0101", "nix", "there is no port class of BOX called `nix` here", "did you mean `nic`?"),
        ),
        (
            f"group g {{ host a[4]: BOX }}\nhosts g\n{CLOS}",
            ("E0120", "g", "this is a group; ends are the ports of devices", "name the hosts in it"),
        ),
        (
            f"group g {{ host a[4]: BOX }}\nhosts a\n{CLOS}",
            ("E0101", "a", "`a` is declared in `g`", "write `g.a`"),
        ),
        (
            f"group g {{ group k {{ host a[4]: BOX }} }}\nhosts g.a.nic\n{CLOS}",
            ("E0101", "a", "`a` is declared in `k`", "write `g.k.a.nic`"),
        ),
        (
            f"group g {{ group k {{ host a[4]: BOX }} }}\nhosts a\n{CLOS}",
            ("E0101", "a", "`a` is declared in `g.k`", "write `g.k.a`"),
        ),
        (
            f"host node[4]: BOX\nhosts nodes.nic\n{CLOS}",
            ("E0101", "nodes", "there is no declaration `nodes` here", "did you mean `node`?"),
        ),
        (
            f"host a[4]: BOX\ngroup g {{ hosts a.nic\n{CLOS} }}",
            ("E0101", "a", "the intent of a group joins hosts of that group, and `a` is declared outside it",
             "declare `a` inside `g`, or move the intent out of it, to where `a` is"),
        ),
        (CLOS, ("E0120", "clos", "`clos` connects hosts, and the design declares none before it", SETS)),
        (f"{CLOS}\n{CLOS}", ("E0120", "clos", "`clos` connects hosts, and the design declares none before it", SETS)),
        (
            "hosts 4 x BOX\npods 2\nclos { tier a of 4 hosts { switch BIG } }",
            ("E0120", "pods 2", "`pods` cuts the hosts of `leaf` and `spine`; tiers written out say their own groups", ""),
        ),
        (
            "hosts 4 x BOX\npods 2\nclos { tier a of 2 hosts { switch BIG }\ntier b of 2 a { switch BIG } }",
            ("E0120", "pods 2", "`pods` cuts the hosts of `leaf` and `spine`; tiers written out say their own groups", ""),
        ),
        (
            f"hosts 4 x BOX\nrails 3\n{CLOS}",
            ("E0120", "rails 3",
             "rails are the first index of the ends, and `nic` of BOX has one index, of 2: 3 is not its extent",
             "write `rails 2`"),
        ),
        (
            f"hosts 4 x BOX\nplanes 3\n{CLOS}",
            ("E0120", "planes 3",
             "planes are the last index of the ends, and `nic` of BOX has one index, of 2: 3 is not its extent",
             "write `planes 2`"),
        ),
        (
            f"hosts 4 x BOX\nrails 2\nplanes 2\n{CLOS}",
            ("E0120", "planes 2", "`nic` of BOX has one index, of 2, so it has rails or planes, not both", ""),
        ),
    ],
)  # fmt: skip
def test_refused(body: str, expected: tuple[str, str, str, str], tmp_path: Path) -> None:
    assert found(f"fabric f {{\n{body}\n}}\n", tmp_path) == [expected]


NONE = "model host BARE { }\n"
ONE = "model host ONE { port nic: 400Gbps { type NDR } }\nmodel host FOUR { port nic[2, 4]: 400Gbps { type NDR } }\n"


@pytest.mark.parametrize(
    ("models", "body", "expected"),
    [
        (NONE, f"hosts 4 x BARE\n{CLOS}", ("E0452", "hosts 4 x BARE", "BARE has no ports", "")),
        (
            ONE, f"hosts 4 x ONE\nrails 2\n{CLOS}",
            ("E0120", "rails 2", "rails are the first index of the ends, and `nic` of ONE has no index: 2 is not its extent",
             "leave `rails` out"),
        ),
        (
            ONE, f"hosts 4 x FOUR\nrails 4\n{CLOS}",
            ("E0120", "rails 4",
             "rails are the first index of the ends, and `nic` of FOUR has the indices of 2 and of 4: 4 is not its extent",
             "write `rails 2`"),
        ),
        (
            ONE, f"hosts 4 x FOUR\nplanes 2\n{CLOS}",
            ("E0120", "planes 2",
             "planes are the last index of the ends, and `nic` of FOUR has the indices of 2 and of 4: 2 is not its extent",
             "write `planes 4`"),
        ),
    ],
)  # fmt: skip
def test_refused_by_the_ports(models: str, body: str, expected: tuple[str, str, str, str], tmp_path: Path) -> None:
    assert found(f"fabric f {{\n{body}\n}}\n{models}", tmp_path) == [expected]


@pytest.mark.parametrize(
    "body",
    [
        f"hosts 4 x BOX\npods 1\n{CLOS}",
        f"hosts 1 x BOX\n{CLOS}",
        f"host a[4]: BOX\nhosts a.nic\n{CLOS}",
        f"host a[2, 2]: BOX\nhosts a[*, *].nic\n{CLOS}",
        f"host a[4]: BOX\nhosts a\n{CLOS}",
        f"group g {{ group k {{ host a[4]: BOX }} }}\nhosts g.k.a.nic\n{CLOS}",
        f"hosts 3 of 4 x BOX {{ role storage }}\n{CLOS}",
    ],
)
def test_not_refused(body: str, tmp_path: Path) -> None:
    assert found(f"fabric f {{\n{body}\n}}\n", tmp_path) == []


@pytest.mark.parametrize(
    ("body", "rest", "code"),
    [
        ("hosts 0 x BOX", "", "E0120"),
        ("hosts 0 x BOX", CLOS + "\nomit host[0]\nomit pod[0].leaf[1]\nconnect leaf[0] to spine[0]\nomit plane[0]", "E0120"),
        ("hosts 4 x BOX\npods 3", f"{CLOS}\nomit leaf[0]\nswitch more: SW\nconnect more to spine[0]", "E0459"),
        ("hosts 4 x NOBODY", f"{CLOS}\n{CLOS}", "E0102"),
        (
            "hosts 0 x BOX",
            "clos { tier rack of 4 hosts { switch SW }\ntier top of ? rack { switch SW } }\nomit rack[0], top[0]",
            "E0120",
        ),
        ("host a[2: BOX\nhosts a.nic", CLOS, "E0001"),
    ],
)
def test_what_rests_on_a_refused_intent_is_not_reported_again(body: str, rest: str, code: str, tmp_path: Path) -> None:
    assert [c for c, *_ in found(f"fabric f {{\n{body}\n{rest}\n}}\n", tmp_path)] == [code]


def test_ends_that_nothing_joins(tmp_path: Path) -> None:
    """A word that is perhaps a topology is the only finding; without one, the topologies are listed in order."""
    ((code, under, message, help),) = found("topology own(hosts: int) { }\nfabric f {\nhosts 4 x BOX\nrails 2\n}\n", tmp_path)
    assert (code, under, message) == ("E0120", "hosts 4 x BOX", "`hosts` needs a topology that connects the ends")
    names = help.removeprefix("known: ").split(", ")
    assert [n.strip("`") for n in names] == sorted(n.strip("`") for n in names) and {"`own`", "`clos`", "`torus`"} <= set(names)
    ((code, under, message, _),) = found("fabric f {\nrails 2\n}\n", tmp_path)
    assert (code, under, message) == ("E0120", "rails 2", "`rails` needs a topology that connects the ends")
    ((code, under, *_),) = found("fabric f {\nhosts 4 x BOX\nclosx { leaf SW }\n}\n", tmp_path)
    assert (code, under) == ("E0118", "closx")


def test_devices_bear_the_place_of_the_intent(tmp_path: Path) -> None:
    """Hosts that of `hosts`, switches of tiers that of their tier."""
    rack, core = "tier rack of 2 hosts { switch SW }", "tier core of ? rack { switch BIG }"
    result = compile_text(f"fabric f {{\nhosts 12 x BOX\nclos {{ {rack}\n{core} }}\n}}\n", tmp_path, verify=False)
    fabric = result.designs[0].fabric
    assert fabric is not None
    assert {s.name: s.origin.span.text for s in fabric.sets} == {"host": "hosts 12 x BOX", "rack": rack, "core": core}
