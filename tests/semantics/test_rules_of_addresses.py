"""`address` and `asn` as they are kept, and every refusal as a whole."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin, SourceFile
from tdsl.semantics import addressing
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file

CONTEXT: Any = SimpleNamespace()


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Rules of the statements of a text. Paths mean themselves, those that begin with `g` are of groups."""

    def resolve(plan: Any, context: Any, path: tree.PathExpr, *, ports: bool = False) -> Any:
        text = path.span.text
        return SimpleNamespace(device=None if text.startswith("g") else text, span=path.span, ports=ports)

    monkeypatch.setattr(addressing, "resolve_path", resolve)

    def made(text: str) -> list[addressing.AddressRule]:
        found = Diagnostics()
        (s,) = parse_source_file(SourceFile("t.fab", f"fabric f {{\n{text}\n}}\n"), found).body
        assert isinstance(s, tree.Decl)
        plan: Any = SimpleNamespace(rules=[], evaluator=Evaluator())
        for x in s.body or ():
            at, scope = Origin(x.span), Scope()
            if isinstance(x, tree.Override):
                for inner in x.body or ():
                    addressing.plan_address_override(plan, x, inner, scope, CONTEXT, at)
            else:
                assert isinstance(x, tree.Setting)
                (addressing.plan_asn_statement if x.name.name == "asn" else addressing.plan_address_statement)(
                    plan, x, scope, CONTEXT, at
                )
        return plan.rules

    return made


def short(r: addressing.AddressRule) -> tuple[Any, ...]:
    sides = tuple(tuple(t.device for t in side) for side in (r.targets, r.far))
    return (r.kind, *sides, r.value.span.text, r.each, r.replaces, (r.interface, r.vrf, r.gateway))


NONE = ("", "", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("address a[*] loopback from 10.0.0.0/16", ("loopback", ("a[*]",), (), "10.0.0.0/16", True, False, NONE)),
        ("address a[0] loopback 10.9.9.9", ("loopback", ("a[0]",), (), "10.9.9.9", False, False, NONE)),
        ("address a[*], b[*] loopback from 10.0.0.0/16", ("loopback", ("a[*]", "b[*]"), (), "10.0.0.0/16", True, False, NONE)),
        ("address a[*] to b[*] links from 10.0.0.0/16", ("links", ("a[*]",), ("b[*]",), "10.0.0.0/16", True, False, NONE)),
        ("address a[*] links from 10.0.0.0/16", ("links", ("a[*]",), (), "10.0.0.0/16", True, False, NONE)),
        ("address a[*] management from 10.0.0.0/16",
         ("management", ("a[*]",), (), "10.0.0.0/16", True, False, ("eth0", "mgmt", ""))),
        ('address a[*] management from 10.0.0.0/16 { vrf x; gateway "10.0.0.1"; interface e7 }',
         ("management", ("a[*]",), (), "10.0.0.0/16", True, False, ("e7", "x", "10.0.0.1"))),
        ("asn a[*] from 65000", ("asn", ("a[*]",), (), "65000", True, False, NONE)),
        ("asn a[*], b 65000", ("asn", ("a[*]", "b"), (), "65000", False, False, NONE)),
        ("override a[0] { asn 65001 }", ("asn", ("a[0]",), (), "65001", False, True, NONE)),
        ("override a[0] { address loopback 10.9.9.9 }", ("loopback", ("a[0]",), (), "10.9.9.9", False, True, NONE)),
        ("override a[0] { address management 10.9.9.9 { vrf x } }",
         ("management", ("a[0]",), (), "10.9.9.9", False, True, ("eth0", "x", ""))),
    ],
)  # fmt: skip
def test_rules(text: str, expected: tuple[Any, ...], rules: Any) -> None:
    (rule,) = rules(text)
    assert short(rule) == expected
    assert all(t.ports is (rule.kind == "links") for t in rule.targets) and not any(t.ports for t in rule.far)
    assert rule.origin.span.text == (text if not rule.replaces else text.partition("{ ")[2].removesuffix(" }"))


ASN = "write `asn leaf[*] from 4_200_000_000`"
WHERE = "write `address leaf[*] loopback from 10.255.0.0/16`"
FROM = "write `loopback from 10.255.0.0/16`"
KNOWN = "a management address takes `interface`, `vrf` and `gateway`; others take none"
SAYS = "`address` does not say what it addresses, and from where"
NET = "10.0.0.0/16"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("address", ("E0120", "address", "`address` names no device", WHERE)),
        ("asn", ("E0120", "asn", "`asn` names no device", ASN)),
        ("address 5 loopback", ("E0120", "5", "expected a path to devices", WHERE)),
        ("address a loopback, b", ("E0120", "a loopback", "one `address` says one thing; write a statement for each", WHERE)),
        ("address a", ("E0120", "address a", "`address` does not say what it addresses", FROM)),
        ("address a loopback", ("E0120", "address a loopback", SAYS, FROM)),
        (f"address a loopback to b from {NET}",
         ("E0120", "b", "`to` is for addresses of links, not for loopback", "leave `to` out, or write `links`")),
        (f"address a loopback from {NET} from {NET}",
         ("E0120", f"address a loopback from {NET} from {NET}", SAYS, FROM)),
        (f"address a loopback x {NET}",
         ("E0120", f"address a loopback x {NET}", "`address` says more than one network", FROM)),
        (f"address a lopback from {NET}",
         ("E0101", "lopback", "there is no kind of address `lopback` here", "did you mean `loopback`?")),
        (f"address a loopback from {NET} {{ vrf x }}", ("E0118", "vrf x", "this is not a setting of an address", KNOWN)),
        (f"address a management from {NET} {{ vlan x }}", ("E0118", "vlan x", "this is not a setting of an address", KNOWN)),
        (f"address a management from {NET} {{ vrf }}", ("E0103", "vrf", "`vrf` is a name", "")),
        (f'address a management from {NET} {{ vrf "" }}', ("E0103", 'vrf ""', "`vrf` is a name", "")),
        (f"address a management from {NET} {{ vrf 5 }}", ("E0103", "vrf 5", "`vrf` is a name", "")),
        (f"address a management from {NET} {{ vrf x, y }}", ("E0118", "y", "`vrf` takes one value here", "write `vrf NAME`")),
        (f"address a to 5 links from {NET}", ("E0120", "5", "expected a path to devices after `to`", "")),
        (f"address g[*] loopback from {NET}",
         ("E0120", "g[*]", "`g[*]` is a group; addresses are of devices", "name the devices in it: `g[*].NAME[*]`")),
        (f"address a to g links from {NET}",
         ("E0120", "g", "`g` is a group; addresses are of devices", "name the devices in it: `g.NAME[*]`")),
        ("asn a[*]", ("E0120", "asn a[*]", "an asn names devices and a number", ASN)),
        ("asn a[*] to 5", ("E0120", "asn a[*] to 5", "an asn names devices and a number", ASN)),
        ("asn a[*] from 5 from 6", ("E0120", "asn a[*] from 5 from 6", "an asn names devices and a number", ASN)),
        ("override a { switch b: S }",
         ("E0118", "switch b: S", "an override's braces hold settings only", "known: `address`, `asn`")),
        ("override a { asm 5 }", ("E0118", "asm", "there is no setting of an override `asm` here", "did you mean `asn`?")),
        ("override a { asn 5, 6 }", ("E0120", "asn 5, 6", "`asn` in an override has one value", "")),
        ("override a { asn }", ("E0120", "asn", "`asn` in an override has one value", "")),
        (f"override a {{ address links {NET} }}",
         ("E0120", f"links {NET}", "an override has addresses of devices; those of links are written by `address`", "")),
    ],
)  # fmt: skip
def test_refused(text: str, expected: tuple[str, str, str, str], rules: Any) -> None:
    with pytest.raises(Fault) as fault:
        rules(text)
    d = fault.value.diagnostic
    assert (d.code, d.span and d.span.text, d.message, d.help) == expected
