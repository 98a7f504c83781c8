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
from tests.targets import frr_lab, nvue_grammar, sonic_yang
from tests.targets.build import design

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
DESIGN = design("site")
SYSTEMS = {
    "sonic": "sonic/white/config_db.json", "eos": "eos/arista.cfg", "nvue": "nvue/cumulus.yaml", "frr": "frr/linux/frr.conf",
}  # fmt: skip
BUILD = ("build", "f.fab", *(x for t in (*SYSTEMS, "cabling") for x in ("--target", t)))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a design, a site file and secrets."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("f.fab", DESIGN), ("site.yaml", SITE), ("secrets.txt", SECRETS), ("plain.yaml", PLAIN)):
        Path(name).write_text(text)
    return tmp_path


def files(folder: str) -> dict[str, bytes]:
    """What lies in a folder, but for its manifest."""
    there = [p for p in Path(folder).rglob("*") if p.is_file() and "manifest" not in p.name]
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in there}


RENDER = ("render", "out", "--secrets", "secrets.txt", "--to", "load")


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
    assert sonic["SYSLOG_SERVER"] == {"192.0.2.11": {"vrf": "mgmt"}}
    assert sonic["SNMP"]["CONTACT"] == {"Contact": "noc@example.com"}
    assert {p for p in before if before[p] != after[p]} >= set(SYSTEMS.values()) and before.items() & after.items()


def test_rendered_files_are_valid_and_private(test_data: Path, tmp_path: Path) -> None:
    """yanglint, vtysh and AVD take what is rendered; nothing that is built holds a secret."""
    assert tdsl(*BUILD, "--site", "site.yaml").exit_code == 0
    done = tdsl(*RENDER)
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
    assert frr_lab.reads(loaded[SYSTEMS["frr"]], tmp_path)


def test_avd_renders_the_same_text() -> None:
    from tests.targets.test_eos import structured

    for text in (SITE.replace("gnmi: {port: 8080}", "").replace("bgp: {password: BGP_PASSWORD}", ""), PLAIN):
        Path("site.yaml").write_text(text)
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
    assert tdsl(*RENDER).exit_code == 0
    assert files("out") == files("load")
    assert tdsl(*RENDER).exit_code == 0, "a second time"


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
    done = tdsl(*RENDER, "--untrusted")
    assert done.exit_code == 2 and "secrets are not given to designs of strangers" in done.stderr and not Path("load").exists()


def test_nothing_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables, other files and tags stay text, or are refused."""
    monkeypatch.setenv("USER", "somebody-else")
    monkeypatch.setenv("BGP_PASSWORD", "from-the-environment")
    assert tdsl(*BUILD, "--site", "site.yaml").exit_code == 0
    assert not any(b"somebody-else" in d or b"from-the-environment" in d for d in files("out").values())


def lines_of(name: str) -> list[str]:
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def test_a_site_that_cannot_be_followed() -> None:
    cases = [line.split(" | ") for line in lines_of("site_faults.txt")]
    for line, says, text in [*cases, ["0", "", "[" * 500], ["0", "", "a: " * 200]]:
        found = Diagnostics()
        assert read_site_file(SourceFile("site.yaml", text.encode().decode("unicode_escape")), found) == Site()
        told = [(d.code, d.span.begin[0], f"{d.message} {d.help}") for d in found if d.span]
        assert told and {code for code, _, _ in told} == {"E0514"} and any(says in words for _, _, words in told), (text, told)
        assert not says or int(line) in [at for _, at, _ in told], (text, told)


def test_a_secret_in_a_site_file_is_not_shown() -> None:
    Path("site.yaml").write_text("bgp: {password: hunter2}")
    done = tdsl(*BUILD, "--site", "site.yaml")
    assert done.exit_code == 1 and "E0514" in done.stderr and "site.yaml:1:" in done.stderr and not Path("out").exists()
    assert "hunter2" not in done.stderr.split("\n")[0] and "it is not shown" in done.stderr


WORDS = st.sampled_from(["ntp", "dns", "servers", "aaa", "key", "banner", "facts", "x"])
TREES = st.recursive(
    st.text(max_size=20), lambda x: st.lists(x, max_size=4) | st.dictionaries(WORDS, x, max_size=4), max_leaves=12
)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200) | TREES.map(json.dumps))
def test_any_text_is_a_site_or_a_finding(text: str) -> None:
    made, codes = site(text)
    assert set(codes) <= {"E0514"} and all(re.fullmatch("[A-Z][A-Z0-9_]*", n) for n in made.names)


def test_a_name_of_the_design_is_no_placeholder() -> None:
    Path("f.fab").write_text(DESIGN.replace("fabric f {", 'fabric f "@@BGP_PASSWORD@@" {'))
    done = tdsl(*BUILD, "--site", "site.yaml")
    assert done.exit_code == 1 and "E0515" in done.stderr and not Path("out").exists()
    assert tdsl(*BUILD, "--site", "plain.yaml").exit_code == 0
    assert tdsl(*RENDER).exit_code == 0
    assert files("out") == files("load"), "nothing that the site file does not name is replaced"


def test_secrets_that_cannot_be() -> None:
    assert tdsl(*BUILD, "--site", "site.yaml").exit_code == 0
    for secrets, says, status in (
        (SECRETS.replace("BGP_PASSWORD=", "BGP_PASSWORT="), "has no BGP_PASSWORD", 1),
        ("bgp=x\n", "line 1: write NAME=value", 2),
        ("A=1\nA=2\n", "line 2: A is given twice", 2),
        ("A=two words\n", "the value of A must be", 2),
        ("A=\n", "must be", 2),
        (SECRETS.replace("b6p!pw", "$HOME/@secrets"), "the value of BGP_PASSWORD must be", 2),
    ):
        Path("secrets.txt").write_text(secrets)
        done = tdsl(*RENDER)
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
    done = tdsl(*RENDER)
    assert done.exit_code == 1 and "arista.cfg was changed after the build" in done.stderr and not Path("load").exists()
    assert "did not write it" in tdsl("render", "mine", "--secrets", "secrets.txt", "--to", "load").stderr


def test_the_page_of_records_is_that_of_the_code() -> None:
    """docs/records.md has every field; `scripts/records-page` writes it."""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, root / "scripts" / "records-page", "--check"], check=False, cwd=root)
    assert done.returncode == 0, "run scripts/records-page"


def site(text: str) -> tuple[Site, list[str]]:
    """A site and the codes of what was found; a site with findings is empty."""
    found = Diagnostics()
    out = read_site_file(SourceFile("site.yaml", text), found)
    assert (not len(found) or out == Site()) and all(d.span is not None for d in found)
    return out, [d.code for d in found]


def test_all_values() -> None:
    assert site(SITE.replace("time.example.com]", 'time.example.com, "2001:db8::1"]')) == (
        Site(
            ntp=("192.0.2.10", "time.example.com", "2001:db8::1"),
            syslog=("192.0.2.11",),
            dns=Dns(("192.0.2.12", "2001:db8::12"), "gpu.example.com"),
            aaa=Aaa(("192.0.2.13",), "@@TACACS_KEY@@"),
            snmp=Snmp("@@SNMP_READ@@", "hall 1, row $HOME", "noc@example.com"),
            gnmi=Gnmi(8080),
            bgp=Bgp("@@BGP_PASSWORD@@"),
            banner="Property of the platform team.\nAuthorized access only.",
            facts={"owner": "${USER}"},
            secrets={"radius_key": "@@RADIUS_KEY@@"},
        ),
        [],
    )
    assert site("") == site("{}\n") == site("# nothing\n") == (Site(), [])


def test_limits_of_values() -> None:
    lines = lines_of("site_limits.txt")
    assert LONGEST == 4000 and len(lines) > 40
    for line in lines:
        text = re.sub(r"([aA])\{(\d+)\}", lambda m: m[1] * int(m[2]), line[4:])
        assert site(text) == (Site(), ["E0514"]) if line.startswith("no") else not site(text)[1], line
