"""What a site shares, from the command line to the files of four systems; secrets stay out of built files and go into rendered
ones only."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.emit.site import LONGEST, PLACEHOLDER, Aaa, Bgp, Dns, Gnmi, Site, Snmp, read_site_file
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tests.cli.run import tdsl
from tests.conftest import need_program
from tests.targets import nvue_grammar, sonic_yang

yaml = pytest.importorskip("yaml")
SITE = """\
ntp: [192.0.2.10, time.example.com]
syslog: [192.0.2.11]
dns: {servers: [192.0.2.12, "2001:db8::12"], domain: gpu.example.com}
aaa: {tacacs: [192.0.2.13], key: TACACS_KEY}
snmp: {community: SNMP_READ, location: "hall 1, row $HOME", contact: noc@example.com}
gnmi: {port: 8080}
bgp: {password: BGP_PASSWORD}
banner: |
  Property of the platform team.
  Authorized access only.
facts: {owner: "${USER}"}
secrets: {radius_key: RADIUS_KEY}
"""
SECRETS = "# of this site\nTACACS_KEY=tac-3f9\nSNMP_READ=rd0nly77\n\nBGP_PASSWORD=b6p!pw\nRADIUS_KEY=r4d\nUNUSED=x\n"
PLAIN = """\
ntp: [192.0.2.10]
banner: Authorized access only.
"""
DESIGN = """\
model host NODE { port nic[4]: 400Gbps { type GE400; os "mlx5_{i}"; netdev "eth{i + 1}" }; chip gpu: GPU }
model chip GPU { port lane: 400Gbps }
model switch EOS { port p[1..4]: 400Gbps { type GE400; os "Ethernet{i}/1" } }
model switch CL { port p[1..4]: 400Gbps { type GE400; os "swp{i}" } }
fabric f {
  host node[2]: NODE
  switch arista: EOS { nos eos }
  switch cumulus: CL { nos nvue }
  switch white: SN5600 { nos sonic }
  switch linux: CL { nos frr }
  connect node[n].nic[0] to arista
  connect node[n].nic[1] to cumulus
  connect node[n].nic[2] to white { rate 400Gbps }
  connect node[n].nic[3] to linux
  connect arista to white { rate 400Gbps }
  connect cumulus to white { rate 400Gbps }
  connect linux to white { rate 400Gbps }
  address arista, cumulus, white, linux loopback from 10.255.0.0/24
  address node[*].nic[0] links from 172.16.0.0/24
  address arista management from 192.168.0.10/24 { interface Management1; gateway 192.168.0.1 }
  address cumulus, white, node management from 192.168.0.20/24 { gateway 192.168.0.1 }
  routing bgp { mtu 9214 }
}
"""
SYSTEMS = {
    "sonic": "sonic/white/config_db.json", "eos": "eos/arista.cfg", "nvue": "nvue/cumulus.yaml", "frr": "frr/linux/frr.conf",
}  # fmt: skip
BUILD = ("build", "f.fab", *(x for t in (*SYSTEMS, "cabling") for x in ("--target", t)))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a design, a site file and secrets."""
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("f.fab", DESIGN),
        ("site.yaml", SITE),
        ("secrets.txt", SECRETS),
        ("plain.yaml", PLAIN),
    ):
        Path(name).write_text(text)
    return tmp_path


def files(folder: str) -> dict[str, bytes]:
    """What lies in a folder, but for its manifest."""
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in Path(folder).rglob("*")
        if p.is_file() and "manifest" not in p.name
    }


def test_four_systems_say_what_the_site_shares(test_data: Path, tmp_path: Path) -> None:
    assert tdsl(*BUILD, "--out", "without").exit_code == 0
    assert tdsl(*BUILD, "--site", "site.yaml").exit_code == 0
    before, after = files("without"), files("out")
    assert all(before[path] != after[path] for path in SYSTEMS.values())
    text = {t: after[path].decode() for t, path in SYSTEMS.items()}
    for line in (
        "logging vrf mgmt host 192.0.2.11", "ip name-server vrf mgmt 192.0.2.12", "dns domain gpu.example.com",
        "snmp-server community @@SNMP_READ@@ ro", "snmp-server location hall 1, row $HOME", "Authorized access only.", "EOF",
        "      port 8080", "tacacs-server host 192.0.2.13 vrf mgmt key 0 @@TACACS_KEY@@", "ntp server vrf mgmt time.example.com",
        "aaa authentication login default group tacacs+ local", "   neighbor FABRIC password 0 @@BGP_PASSWORD@@",
    ):  # fmt: skip
        assert line in text["eos"].split("\n"), line
    (nvue,) = yaml.load(text["nvue"], Loader=yaml.BaseLoader)
    assert nvue_grammar.wrong(nvue["set"]) == []
    said = {" ".join(w) for w in nvue_grammar.commands(nvue["set"])}
    for command in (
        "service ntp mgmt server time.example.com iburst on", "service dns mgmt server 2001:db8::12",
        "service syslog mgmt server 192.0.2.11 port 514", "system aaa tacacs server 1 secret @@TACACS_KEY@@",
        "service snmp-server readonly-community @@SNMP_READ@@ access any",
        "system message pre-login Property of the platform team.\nAuthorized access only.",
        "vrf default router bgp peer-group FABRIC password @@BGP_PASSWORD@@",
    ):  # fmt: skip
        assert command in said, command
    assert " neighbor FABRIC password @@BGP_PASSWORD@@" in text["frr"] and "banner motd line Property of the" in text["frr"]
    assert after["frr/linux/timesyncd.conf"].endswith(b"NTP=192.0.2.10 time.example.com\n")
    sonic = json.loads(text["sonic"])
    assert sonic["NTP_SERVER"] == {"192.0.2.10": {}, "time.example.com": {}} and sonic["GNMI"]["gnmi"]["port"] == "8080"
    assert sonic["BGP_PEER_GROUP"]["default|FABRIC"]["auth_password"] == "@@BGP_PASSWORD@@"
    assert sonic["SYSLOG_SERVER"] == {"192.0.2.11": {"vrf": "mgmt"}} and sonic["SNMP"]["CONTACT"] == {
        "Contact": "noc@example.com"
    }
    assert {p for p in before if before[p] != after[p]} >= set(SYSTEMS.values()) and before.items() & after.items()


def test_rendered_files_are_valid_and_private(test_data: Path, tmp_path: Path) -> None:
    """yanglint, vtysh and AVD take what is rendered; nothing that is built holds a secret."""
    assert tdsl(*BUILD, "--site", "site.yaml").exit_code == 0
    done = tdsl("render", "out", "--secrets", "secrets.txt", "--to", "load")
    assert done.exit_code == 0 and "with secrets" in done.stderr, done.stderr
    values = [line.partition("=")[2] for line in SECRETS.splitlines() if "=" in line and not line.startswith("UNUSED")]
    built, loaded = files("out"), files("load")
    for value in values[:3]:
        assert not any(value.encode() in data for data in built.values())
        assert any(value.encode() in data for data in loaded.values())
    assert not any(PLACEHOLDER.search(data) for data in loaded.values()) and set(built) == set(loaded)
    assert [d for d in built if built[d] == loaded[d]] and [d for d in built if built[d] != loaded[d]]
    assert stat.S_IMODE(os.stat("load").st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) & 0o077 for p in Path("load").rglob("*")} == {0}
    yanglint = need_program("yanglint", "libyang2-tools")
    assert sonic_yang.judge(yanglint, test_data / "sonic-yang", tmp_path, json.loads(loaded[SYSTEMS["sonic"]])) == ""
    vtysh = need_program("vtysh", "frr")
    assert subprocess.run([vtysh, "-C", "-f", "load/frr/linux/frr.conf"], check=False).returncode == 0


def test_avd_renders_the_same_text() -> None:
    from tests.targets.test_eos import structured

    for site in (
        SITE,
        SITE.replace("gnmi: {port: 8080}", "").replace("bgp: {password: BGP_PASSWORD}", ""),
        PLAIN,
    ):
        Path("site.yaml").write_text(site)
        assert tdsl(*BUILD, "--site", "site.yaml").exit_code == 0
        structured(files("out"), "arista")
    Path("f.fab").write_text(DESIGN.replace("interface Management1", "interface Management1; vrf default"))
    Path("site.yaml").write_text(SITE)
    assert tdsl(*BUILD, "--site", "site.yaml").exit_code == 0
    assert structured(files("out"), "arista")["ntp"] == {"servers": [{"name": "192.0.2.10"}, {"name": "time.example.com"}]}


def test_without_secrets_files_load_as_they_are_built() -> None:
    assert tdsl(*BUILD, "--site", "plain.yaml").exit_code == 0
    assert "secrets" not in json.loads(Path("out/manifest.json").read_text())
    assert not any(PLACEHOLDER.search(data) for data in files("out").values())
    assert tdsl("render", "out", "--secrets", "secrets.txt", "--to", "load").exit_code == 0
    assert files("out") == files("load")
    assert tdsl("render", "out", "--secrets", "secrets.txt", "--to", "load").exit_code == 0, "a second time"


def test_the_project_may_say_it() -> None:
    """``[site]`` is followed, ``--site`` goes before it, and ``--untrusted`` knows neither."""
    Path("tdsl.toml").write_text('[site]\nntp = ["192.0.2.99"]\ngnmi = {port = 9339}\n')
    assert tdsl(*BUILD).exit_code == 0
    assert b"ntp server vrf mgmt 192.0.2.99" in files("out")["eos/arista.cfg"] and b"port 9339" in files("out")["eos/arista.cfg"]
    assert tdsl(*BUILD, "--site", "plain.yaml").exit_code == 0
    assert b"192.0.2.99" not in files("out")["eos/arista.cfg"] and b"192.0.2.10" in files("out")["eos/arista.cfg"]
    assert tdsl(*BUILD, "--untrusted").exit_code == 0
    assert not any(b"192.0.2." in d for d in files("out").values())
    Path("tdsl.toml").write_text('[site]\nntpp = ["192.0.2.99"]\n')
    done = tdsl(*BUILD)
    assert done.exit_code == 2 and "tdsl.toml: `[site]`: a site file has no `ntpp`; did you mean `ntp`?" in done.stderr


def test_untrusted_knows_no_site_and_no_secret() -> None:
    done = tdsl(*BUILD, "--site", "site.yaml", "--untrusted")
    assert done.exit_code == 2 and "--site is for one's own designs" in done.stderr and not Path("out").exists()
    assert tdsl(*BUILD, "--site", "site.yaml").exit_code == 0
    done = tdsl("render", "out", "--secrets", "secrets.txt", "--to", "load", "--untrusted")
    assert done.exit_code == 2 and "secrets are not given to designs of strangers" in done.stderr and not Path("load").exists()


def test_nothing_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables, other files and tags stay text, or are refused."""
    monkeypatch.setenv("USER", "somebody-else")
    monkeypatch.setenv("BGP_PASSWORD", "from-the-environment")
    assert tdsl(*BUILD, "--site", "site.yaml").exit_code == 0
    assert not any(b"somebody-else" in d or b"from-the-environment" in d for d in files("out").values())
    Path("secrets.txt").write_text(SECRETS.replace("b6p!pw", "$HOME/@secrets"))
    assert "the value of BGP_PASSWORD must be" in tdsl("render", "out", "--secrets", "secrets.txt", "--to", "load").stderr


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("ntpp: [192.0.2.1]", 1, "a site file has no `ntpp`"), ("ntp: 192.0.2.1", 1, "`ntp` must be a list"),
        ("ntp: [192.0.2.1, 'a b']", 1, "`ntp.1` has a value of another form: 'a b'"),
        ("dns: {servers: [time.example.com]}", 1, "`dns.servers.0`"),
        ("gnmi:\n  port: 70000", 2, "`gnmi.port`"), ("bgp: {password: hunter2}", 1, "it is not shown"),
        ("ntp: &a [192.0.2.1]\nsyslog: *a", 2, "no tags and no aliases"), ("banner: !include x", 1, "no tags and no aliases"),
        ("ntp: [192.0.2.1]\nntp: [192.0.2.2]", 2, "`ntp` is given twice"), ("ntp: [", 1, "this is not YAML"),
        ("banner: 'a @@BGP@@ b'", 1, "`banner`"), ("banner: |\n  a\n  EOF\n  b", 1, "`banner`"), ("- a", 1, "a mapping"),
        ("aaa: {tacacs: [192.0.2.1]}", 1, "`aaa` has no `key`"), ("snmp: {location: \"a\\nb\"}", 1, "`snmp.location`"),
        ("facts: {Owner: x}", 1, "`Owner` in `facts` is not a name"), ("ntp: [fe80::1%eth0]", 1, "`ntp.0`"),
        ("[" * 500, 1, ""), ("a: " * 200, 1, ""),
    ],
)  # fmt: skip
def test_a_site_that_cannot_be_followed(text: str, line: int, says: str) -> None:
    Path("site.yaml").write_text(text)
    done = tdsl(*BUILD, "--site", "site.yaml")
    assert done.exit_code == 1 and "E0514" in done.stderr and says in done.stderr, done.stderr
    assert "hunter2" not in done.stderr.split("\n")[0] and "Traceback" not in done.stderr and not Path("out").exists()
    assert not says or f"site.yaml:{line}:" in done.stderr


WORDS = st.sampled_from(["ntp", "dns", "servers", "aaa", "key", "banner", "facts", "x"])
TREES = st.recursive(
    st.text(max_size=20),
    lambda x: st.lists(x, max_size=4) | st.dictionaries(WORDS, x, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200) | TREES.map(json.dumps))
def test_any_text_is_a_site_or_a_finding(text: str) -> None:
    found = Diagnostics()
    site = read_site_file(SourceFile("site.yaml", text), found)
    assert {d.code for d in found} <= {"E0514"} and (not len(found) or site == Site())
    assert all(re.fullmatch("[A-Z][A-Z0-9_]*", n) for n in site.names)


def test_a_name_of_the_design_is_no_placeholder() -> None:
    Path("f.fab").write_text(DESIGN.replace("fabric f {", 'fabric f "@@BGP_PASSWORD@@" {'))
    done = tdsl(*BUILD, "--site", "site.yaml")
    assert done.exit_code == 1 and "E0515" in done.stderr and not Path("out").exists()
    assert tdsl(*BUILD, "--site", "plain.yaml").exit_code == 0
    assert tdsl("render", "out", "--secrets", "secrets.txt", "--to", "load").exit_code == 0
    assert files("out") == files("load"), "nothing that the site file does not name is replaced"


@pytest.mark.parametrize(
    ("secrets", "says", "status"),
    [
        (SECRETS.replace("BGP_PASSWORD=", "BGP_PASSWORT="), "has no BGP_PASSWORD", 1), ("bgp=x\n", "line 1: write NAME=value", 2),
        ("A=1\nA=2\n", "line 2: A is given twice", 2), ("A=two words\n", "the value of A must be", 2), ("A=\n", "must be", 2),
    ],
)  # fmt: skip
def test_secrets_that_cannot_be(secrets: str, says: str, status: int) -> None:
    assert tdsl(*BUILD, "--site", "site.yaml").exit_code == 0
    Path("secrets.txt").write_text(secrets)
    done = tdsl("render", "out", "--secrets", "secrets.txt", "--to", "load")
    assert done.exit_code == status and says in done.stderr and not Path("load").exists()
    assert "two words" not in done.stderr and "b6p" not in done.stderr


def test_what_is_not_as_it_was_built_is_not_rendered() -> None:
    assert tdsl(*BUILD, "--site", "site.yaml").exit_code == 0
    for to in ("out", "out/load", "."):
        assert tdsl("render", "out", "--secrets", "secrets.txt", "--to", to).exit_code == 2
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("keep")
    done = tdsl("render", "out", "--secrets", "secrets.txt", "--to", "mine")
    assert done.exit_code == 1 and files("mine") == {"notes.txt": b"keep"}
    Path("out/eos/arista.cfg").write_text("changed @@BGP_PASSWORD@@")
    done = tdsl("render", "out", "--secrets", "secrets.txt", "--to", "load")
    assert done.exit_code == 1 and "arista.cfg was changed after the build" in done.stderr and not Path("load").exists()
    assert "did not write it" in tdsl("render", "mine", "--secrets", "secrets.txt", "--to", "load").stderr


def test_the_page_of_records_is_that_of_the_code() -> None:
    """docs/records.md has every field; `scripts/records-page` writes it."""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, root / "scripts" / "records-page", "--check"], check=False, cwd=root)
    assert done.returncode == 0, "run scripts/records-page"


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
