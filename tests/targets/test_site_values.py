"""The values that a site file may have, at their limits: how long, how many, how deep, and what is said of others and where."""
# ruff: noqa: E501

from __future__ import annotations

import pytest

from tdsl.emit.site import DEEPEST, LONGEST, Aaa, Bgp, Dns, Gnmi, Site, Snmp, read_site_file, site_from_values
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile

pytest.importorskip("yaml")


def findings(text: str) -> list[tuple[str, str, str]]:
    """Message, help and the text underlined; a site with findings is empty."""
    found = Diagnostics()
    site = read_site_file(SourceFile("site.yaml", text), found)
    assert site == Site() or not len(found)
    assert all(d.code == "E0514" and d.span is not None for d in found)
    return [(d.message, d.help, d.span.text if d.span else "") for d in found]


def site(text: str) -> Site:
    found = Diagnostics()
    out = read_site_file(SourceFile("site.yaml", text), found)
    assert not len(found), list(found)
    return out


def test_all_values() -> None:
    assert site(
        'ntp: [192.0.2.10, time.example.com, "2001:db8::1"]\n'
        "syslog: [192.0.2.11]\n"
        "dns: {servers: [192.0.2.12], domain: a.example}\n"
        "aaa: {tacacs: [192.0.2.13], key: K}\n"
        "snmp: {community: C_1, location: hall 1, contact: x}\n"
        "gnmi: {port: 8080}\n"
        "bgp: {password: P}\n"
        "banner: |\n  one\n  two\n"
        "facts: {a: b}\n"
        "secrets: {r: R}\n"
    ) == Site(
        ntp=("192.0.2.10", "time.example.com", "2001:db8::1"),
        syslog=("192.0.2.11",),
        dns=Dns(("192.0.2.12",), "a.example"),
        aaa=Aaa(("192.0.2.13",), "@@K@@"),
        snmp=Snmp("@@C_1@@", "hall 1", "x"),
        gnmi=Gnmi(8080),
        bgp=Bgp("@@P@@"),
        banner="one\ntwo",
        facts={"a": "b"},
        secrets={"r": "@@R@@"},
    )
    assert site("") == site("{}\n") == site("# nothing\n") == Site()


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("gnmi: {port: 0}", False),
        ("gnmi: {port: 1}", True),
        ("gnmi: {port: 65535}", True),
        ("gnmi: {port: 65536}", False),
        ("gnmi: {port: 00080}", True),
        ("gnmi: {port: 000080}", False),
        ("gnmi: {port: x}", False),
        ('gnmi: {port: "-1"}', False),
        (f"snmp: {{location: {'a' * 240}}}", True),
        (f"snmp: {{location: {'a' * 241}}}", False),
        ('snmp: {location: ""}', False),
        ('snmp: {location: "a\\nb"}', False),
        ('snmp: {location: "é"}', False),
        ('snmp: {location: "a@@b"}', False),
        ('snmp: {location: "a@b"}', True),
        ('snmp: {location: "EOF"}', False),
        ('snmp: {location: " EOF "}', False),
        ('snmp: {location: "EOF 1"}', True),
        (f"banner: {'a' * LONGEST}", True),
        (f"banner: {'a' * (LONGEST + 1)}", False),
        ('banner: "a\\nb\\n\\n"', True),
        ('banner: "a\\nEOF\\n"', False),
        ('banner: "a\\tb"', False),
        ('banner: "\\n"', True),
        ("ntp: [a_b.example]", False),
        ("ntp: [-a.example]", False),
        ("ntp: [a-.example]", False),
        ("ntp: [a--b.example]", True),
        (f"ntp: [{'a' * 63}.example]", True),
        (f"ntp: [{'a' * 64}.example]", False),
        (f"ntp: [{'.'.join(['a' * 49] * 5)}.abc]", True),
        (f"ntp: [{'.'.join(['a' * 49] * 5)}.abcd]", False),
        ('ntp: ["fe80::1%eth0"]', False),
        ("dns: {servers: [name.example]}", False),
        ('dns: {servers: ["2001:db8::1"]}', True),
        (f"bgp: {{password: {'A' * 63}}}", True),
        (f"bgp: {{password: {'A' * 64}}}", False),
        ("bgp: {password: Ab}", False),
        (f"facts: {{{'a' * 63}: b}}", True),
        (f"facts: {{{'a' * 64}: b}}", False),
        ("facts: {A: b}", False),
        ("facts: {}", True),
    ],
)
def test_limits_of_values(text: str, fits: bool) -> None:
    assert (findings(text) == []) is fits


FINDINGS: list[tuple[str, list[tuple[str, str, str]]]] = [
    ("ntp: 192.0.2.1", [("`ntp` must be a list", "each entry is an address or a host name, such as `192.0.2.10`", "192.0.2.1")]),
    (
        "ntp: [x y]",
        [("`ntp.0` has a value of another form: 'x y'", "write an address or a host name, such as `192.0.2.10`", "x y")],
    ),
    (
        "ntp: [[a]]",
        [
            (
                "`ntp.0` must be an address or a host name, such as `192.0.2.10`",
                "write an address or a host name, such as `192.0.2.10`",
                "[a]",
            )
        ],
    ),
    (
        "ntp: [{}]",
        [
            (
                "`ntp.0` must be an address or a host name, such as `192.0.2.10`",
                "write an address or a host name, such as `192.0.2.10`",
                "{}",
            )
        ],
    ),
    ("ntp: []", []),
    ("ntpp: [a]", [("a site file has no `ntpp`", "did you mean `ntp`?", "[a]")]),
    (
        "zzzzzz: 1",
        [
            (
                "a site file has no `zzzzzz`",
                "known: `ntp`, `syslog`, `dns`, `aaa`, `snmp`, `gnmi`, `bgp`, `banner`, `facts`, `secrets`",
                "1",
            )
        ],
    ),
    ("gnmi: {prot: 1}", [("`gnmi` has no `prot`", "did you mean `port`?", "1")]),
    ("gnmi: {zzzzzz: 1}", [("`gnmi` has no `zzzzzz`", "known: `port`", "1")]),
    ("gnmi: 1", [("`gnmi` must be a mapping of `port`", "", "1")]),
    ("gnmi: {port: 65536}", [("`gnmi.port` has a value of another form: '65536'", "write a number from 1 to 65535", "65536")]),
    ("gnmi: {port: }", [("`gnmi.port` must be a number from 1 to 65535", "write a number from 1 to 65535", "")]),
    (
        "bgp: {password: hunter2}",
        [
            (
                "`bgp.password` has a value of another form: it is not shown, since it may be the secret itself",
                "write the name of a secret, such as `BGP_PASSWORD`: capital letters, digits and _; its value belongs in the file of `tdsl render --secrets`",
                "hunter2",
            )
        ],
    ),
    (
        "bgp: {password: [a]}",
        [
            (
                "`bgp.password` must be the name of a secret, such as `BGP_PASSWORD`: capital letters, digits and _; its value belongs in the file of `tdsl render --secrets`",
                "write the name of a secret, such as `BGP_PASSWORD`: capital letters, digits and _; its value belongs in the file of `tdsl render --secrets`",
                "[a]",
            )
        ],
    ),
    ("facts: [a]", [("`facts` must be a mapping of names to values", "", "[a]")]),
    ("facts: {A: b}", [("`A` in `facts` is not a name: small letters, digits and _", "", "b")]),
    (
        "facts: {a: [b]}",
        [
            (
                "`facts.a` must be a text of at most 4,000 printable ASCII characters without `@@`",
                "write a text of at most 4,000 printable ASCII characters without `@@`",
                "[b]",
            )
        ],
    ),
    (
        "aaa: {key: K}",
        [
            (
                "`aaa` has no `tacacs`",
                "servers of TACACS+ and devices share a key: `aaa: {tacacs: [192.0.2.6], key: TACACS_KEY}`",
                "{key: K}",
            )
        ],
    ),
    (
        "aaa: {tacacs: [192.0.2.1]}",
        [
            (
                "`aaa` has no `key`",
                "servers of TACACS+ and devices share a key: `aaa: {tacacs: [192.0.2.6], key: TACACS_KEY}`",
                "{tacacs: [192.0.2.1]}",
            )
        ],
    ),
    ("aaa: {}", []),
    (
        "- a",
        [
            (
                "the file must be a mapping of `ntp`, `syslog`, `dns`, `aaa`, `snmp`, `gnmi`, `bgp`, `banner`, `facts`, `secrets`",
                "",
                "- a",
            )
        ],
    ),
    (
        "x",
        [
            (
                "the file must be a mapping of `ntp`, `syslog`, `dns`, `aaa`, `snmp`, `gnmi`, `bgp`, `banner`, `facts`, `secrets`",
                "",
                "x",
            )
        ],
    ),
    ("ntp: [a]\nntp: [b]", [("`ntp` is given twice", "", "ntp")]),
    (
        "a: &b c",
        [
            (
                "a site file has no `a`",
                "known: `ntp`, `syslog`, `dns`, `aaa`, `snmp`, `gnmi`, `bgp`, `banner`, `facts`, `secrets`",
                "&b c",
            )
        ],
    ),
    ("a: !!int 1", [("a site file has no tags and no aliases", "write the value itself", "!!int 1")]),
    ("a: *b", [("a site file has no tags and no aliases", "write the value itself", "*b")]),
    (
        "[1]: 2",
        [
            (
                "a site file has no ``",
                "known: `ntp`, `syslog`, `dns`, `aaa`, `snmp`, `gnmi`, `bgp`, `banner`, `facts`, `secrets`",
                "2",
            )
        ],
    ),
    (
        "dns: {servers: [a.example], domain: x y}",
        [
            (
                "`dns.servers.0` has a value of another form: 'a.example'",
                "write an IPv4 or IPv6 address, such as `192.0.2.10`",
                "a.example",
            ),
            ("`dns.domain` has a value of another form: 'x y'", "write an address or a host name, such as `192.0.2.10`", "x y"),
        ],
    ),
    (
        "snmp: {location: éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé}",
        [
            (
                "`snmp.location` has a value of another form: 'éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé'",
                "write one line of at most 240 printable ASCII characters",
                "éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé",
            )
        ],
    ),
    (
        'banner: "\\x00"',
        [
            (
                "`banner` has a value of another form: '\\x00'",
                "write a text of at most 4,000 printable ASCII characters without `@@`",
                '"\\x00"',
            )
        ],
    ),
    (
        'ntp: [192.0.2.1]\nbanner: "a\tb"\nsyslog: 1',
        [
            (
                "`banner` has a value of another form: 'a\\tb'",
                "write a text of at most 4,000 printable ASCII characters without `@@`",
                '"a\tb"',
            ),
            ("`syslog` must be a list", "each entry is an address or a host name, such as `192.0.2.10`", "1"),
        ],
    ),
]


@pytest.mark.parametrize(("text", "wanted"), FINDINGS)
def test_findings(text: str, wanted: list[tuple[str, str, str]]) -> None:
    assert findings(text) == wanted


def test_depth() -> None:
    """The first eight levels may be read; the place is that of the ninth, up to twice the depth, beyond it the file's begin."""
    said = f"the file has more than {DEEPEST} levels"
    assert DEEPEST == 8

    def nested(levels: int) -> list[tuple[str, str, str]]:
        return [f for f in findings("facts: " + "[" * (levels - 1) + "x" + "]" * (levels - 1)) if "levels" in f[0]]

    assert nested(8) == []
    assert nested(9) == [(said, "", "x")]
    assert nested(10) == [(said, "", "[x]")]
    assert nested(16) == [(said, "", "[" * 7 + "x" + "]" * 7)]
    assert nested(17) == [(said, "", "")]
    assert nested(400) == [(said, "", "")]
    wide = "".join(f"a{i}: [[[[[[[x]]]]]]]\n" for i in range(20))
    assert not [f for f in findings(wide) if "levels" in f[0]]


def test_plain_values_have_no_place() -> None:
    found = Diagnostics()
    assert site_from_values({"gnmi": {"port": 8080}, "ntp": ("192.0.2.1",)}, found) == Site(ntp=("192.0.2.1",), gnmi=Gnmi(8080))
    assert not len(found)
    assert site_from_values({"gnmi": {"port": True}, "aaa": {"key": "K"}}, found) == Site()
    assert site_from_values({"aaa": {"key": "K"}}, found) == Site()
    assert site_from_values([], found) == Site()
    assert [(d.message, d.span) for d in found] == [
        ("`gnmi.port` must be a number from 1 to 65535", None),
        ("`aaa` has no `tacacs`", None),
        (
            "the file must be a mapping of `ntp`, `syslog`, `dns`, `aaa`, `snmp`, `gnmi`, `bgp`, `banner`, `facts`, `secrets`",
            None,
        ),
    ]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [("a: b: c", 4, 5), ("ntp: [", 6, 6), ("ntp: [x\n", 8, 8), ("\tx: 1", 0, 1), ("a: '", 4, 4), ("\x01", 0, 0)],
)
def test_places_of_what_is_not_yaml(text: str, start: int, end: int) -> None:
    found = Diagnostics()
    read_site_file(SourceFile("site.yaml", text), found)
    (d,) = found
    assert d.code == "E0514" and d.message.startswith("this is not YAML: ") and "\n" not in d.message
    assert d.span is not None and (d.span.start, d.span.end) == (start, end)
