"""What NCCL will make of a file: every rule with a file that breaks it, the files of others, and files spoilt at random."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.findings.source import SourceFile
from tdsl.nccl.lint import lint_nccl_file
from tests.targets import nccl_reader
from tests.targets.build import dgx_h100
from tests.targets.test_nccl import made

GOOD = made(dgx_h100())[0]
GRAPH = """\
<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="24" speedinter="24" typeintra="NVL" \
typeinter="PIX" samechannels="0">
    <channel>
      <net dev="0"/>
      <gpu dev="0"/>
      <gpu dev="1"/>
      <net dev="0"/>
    </channel>
    <channel>
      <net dev="1"/>
      <gpu dev="1"/>
      <gpu dev="0"/>
      <net dev="1"/>
    </channel>
  </graph>
</graphs>
"""
NOTHING: list[Diagnostic] = []


def found(text: str) -> list[Diagnostic]:
    """What there is to say about a text."""
    return lint_nccl_file(SourceFile("topo.xml", text))


def test_good_files() -> None:
    assert found(GOOD) == NOTHING and found(GRAPH) == NOTHING


RULES = [
    # what stops the reader
    ('<system version="1">', '<?xml version="1.0"?>\n<system version="1">', "E0521", "prolog"),
    ('<system version="1">', '<!DOCTYPE system>\n<system version="1">', "E0521", "prolog"),
    ('<system version="1">', '\ufeff<system version="1">', "E0521", "text between tags"),
    (
        '<system version="1">',
        '<!--a=b-->\n<system version="1">',
        "E0521",
        "a `=` in the first word of a comment",
    ),
    ('<system version="1">', '<!-- a\n<system version="1">', "E0521", "no end"),
    ("  <cpu", "\t<cpu", "E0521", "a tab between tags"),
    ('"0x060400" vendor', '"0x060400"\n vendor', "E0521", "goes on after a line end"),
    ('"0x060400" vendor', '"0x060400"\tvendor', "E0521", "goes on after a tab"),
    ('version="1"', "version=1", "E0521", "no quotes"),
    ('version="1"', 'version="1', "E0524", "is a quote missing"),
    ('version="1"', 'version="1"x', "E0521", "where NCCL expects its end"),
    ("</system>\n", "", "E0521", "<system> is not closed"),
    ("</system>", "</cpu>", "E0521", "</cpu> closes <system>"),
    ("</system>", "</system>\n</system>", "E0521", "closes nothing"),
    ("</system>", "</system >", "E0521", "not closed at once"),
    ("</system>", "</system>\nmore", "E0521", "text between tags"),
    ("</system>\n", "</system>\n<a", "E0521", "ends inside"),
    ("mlx5_0", "m" * 254, "E0521", "longer than 253"),
    # what it passes by
    ("<nic>", "<nic><gpu/></nic><nic>", "E0522", "does not look for <gpu> in <nic>"),
    ("<nic>", "<nix/><nic>", "E0522", "does not look for <nix> in <pci>"),
    ("</nic>", '</nic><nic><net name="x" dev="9"/></nic>', "E0522", "first <nic>"),
    ("</nic>", '</nic><pci busid="0000:ff:00.0"/>', "E0522", "below an adapter"),
    ("</system>", '</system>\n<system version="1"/>', "E0522", "second <system>"),
    ('busid="0000:1b', 'bus="1" busid="0000:1b', "E0522", "knows no `bus` of <pci>"),
    ('gdr="1"/>', '="1"/>', "E0522", "has no name"),
    ('gdr="1"/>', 'gdr="1"/x>', "E0522", "between `/` and `>`"),
    ('sm="90"', 'sm="90" sm="80"', "E0522", "given twice"),
    # what it cannot do without
    ('<system version="1">', "<system>", "E0523", "lacks `version`"),
    ('numaid="0" ', "", "E0523", "lacks `numaid`"),
    ('vendor="GenuineIntel" ', "", "E0523", "lacks `vendor`"),
    (' link_width="16">', ">", "E0523", "lacks `link_width`"),
    ('name="mlx5_0" ', "", "E0523", "no adapter matches"),
    (' count="18"', "", "E0523", "lacks `count`"),
    (
        'target="fffffff:ffff:ff" count="18" tclass="0x068000"',
        'count="18" tclass="0x030200"',
        "E0523",
        "lacks `target`",
    ),
    # what it misreads
    ("mlx5_0", "m\0", "E0524", "NUL"),
    ('version="1"', 'version="2"', "E0524", "version 1 only"),
    ('version="1"', 'version="1.0"', "E0524", "NCCL takes 1"),
    ("0000:1b:00.0", "0000:1B:00.0", "E0524", "letter by letter"),
    ("0000:1b:00.0", "1b:00.0", "E0524", "letter by letter"),
    ("0000:1b:00.0", "00000000:1b:00.0", "E0524", "letter by letter"),
    ("0000:1b:00.0", "0000:1b:00.1", "E0524", "two lowest bits"),
    ("0x030200", "030200", "E0524", "takes it for a switch"),
    ("32.0 GT/s PCIe", "32.0 GT/s", "E0524", "generation 3"),
    ('link_width="16"', 'link_width="016"', "E0524", "it takes 14"),
    ('link_width="16"', 'link_width="x16"', "E0524", "reads one (it"),
    ('vendor="0x1000"', 'vendor="10zz"', "E0524", "it takes 10"),
    ('speed="400000"', 'speed="400"', "E0524", "less than 1 Gb/s"),
    ('speed="400000"', 'speed="400Gb/s"', "E0524", "it takes 400"),
    ('speed="400000"', 'speed="-1"', "E0524", "counts 10 Gb/s"),
    ('sm="90"', 'sm="9.0"', "E0524", "it takes 9"),
    ('sm="90"', 'sm=""', "E0524", "takes 0"),
    ('sm="90"', 'sm="9"', "E0524", "less than any"),
    ('gpu dev="0"', 'gpu dev="40"', "E0524", "32 GPUs"),
    ('gdr="1">', 'gdr="1" keep="1">', "E0524", "own mark"),
    ('gdr="1">', "gdr>", "E0524", "no value"),
    ("000000ff,ffffffff", "0-55,ffffffff", "E0524", "mask"),
    ('arch="x86_64"', 'arch="amd64"', "E0524", "unknown to NCCL"),
    ("GenuineIntel", "Intel", "E0524", "no limit between processors"),
    ("mlx5_0", "a&amp;b", "E0524", "entities"),
    ("mlx5_0", "m</system>", "E0524", "entities"),
    ('guid="0x0000000000000002"', 'guid="9c:63"', "E0524", "hexadecimal"),
    ('latency="0"', 'latency="fast"', "E0524", "not a number"),
    ('count="18"', 'count="0"', "E0524", "no links"),
    ("0x068000", "0x06", "E0524", "takes it for an NVSwitch"),
    # room
    ('"0x060400" vendor', '"0x060400"  vendor', "E0525", "an extra space"),
    ('sm="90"', 'sm="90"' + "".join(f' a{i}=""' for i in range(14)), "E0525", "18 attributes"),
    ('sm="90"', 'sm="90"' + "".join(f' a{i}=""' for i in range(12)), "E0525", "NCCL adds up to 2"),
    # what does not fit together
    ("0000:1b:00.0", "0000:43:00.0", "E0526", "occurs 2 times"),
    ('numaid="0"', 'numaid="1"', "E0526", "occurs 2 times"),
    ('name="mlx5_3"', 'name="mlx5_0"', "E0526", "occurs 2 times"),
    ('guid="0x0000000000000002"', 'guid="1"', "E0526", "share one port"),
    (
        'target="fffffff:ffff:ff" count="18" tclass="0x068000"',
        'target="0000:43:00.0" count="18" tclass="0x030200"',
        "E0526",
        "but 0 back",
    ),
    (
        'target="fffffff:ffff:ff" count="18" tclass="0x068000"',
        'target="0000:77:00.0" count="18" tclass="0x030200"',
        "E0526",
        "no <pci>",
    ),
    # what NCCL plans badly with
    ('count="18"', 'count="19"', "E0526", "has 18: NCCL plans"),
    ('count="18"', 'count="17"', "E0526", "another GPU has 18"),
    ('sm="90"', 'sm="80"', "E0526", 'beside GPUs of sm="90"'),
    ('class="0x030200"', 'class="0x020700"', "E0526", "NCCL gives up"),
    ('class="0x060400"', 'class="0x068000"', "E0526", "takes this for an NVSwitch"),
    ('gdr="1">', 'gdr="1" keep="1">', "E0526", "twice"),
    ("</gpu>", '</gpu><nic><net name="mlx5_9" dev="9"/></nic>', "E0526", "two devices"),
    ("</gpu>", '</gpu><pcilink target="0000:99:00.0"/>', "E0526", "has none back"),
    ("</gpu>", '<c2c count="0" bw="1"/></gpu>', "E0526", "without bandwidth"),
    ('familyid="6"', 'familyid="15"', "E0526", "family 6"),
    ('maxconn="131072" gdr="1"', 'maxconn="131072" gdr="0"', "E0526", "half the rate"),
    ('speed="400000"', 'speed="200000"', "E0526", "beside adapters of 400000"),
    ('gpu dev="0"', 'gpu dev="-1"', "E0524", "not there"),
    ('gpu dev="0"', 'gpu dev="9"', "E0526", "order of their bus ids"),
    ('name="mlx5_0" ', 'name="mlx5_0" name="mlx5_9" ', "E0526", "different values"),
    ('class="0x060400"', 'class="0x060401"', "E0526", "two switches come of one"),
    ('class="0x060400"', 'class="0x0604"', "E0526", "two switches come of one"),
    ('busid="ffff:ff:01.0" class="0x060400"', 'busid="ffff:ff:01.0"', "E0523", "no machine has"),
    ('sm="90"', 'sm="100"', "E0526", "has 90: NCCL plans for another"),
    (
        'link_speed="32.0 GT/s PCIe" link_width="16">\n        <gpu',
        'link_speed="32.0 GT/s PCIe" link_width="8">\n        <gpu',
        "E0526",
        "those of other GPUs",
    ),
    ('speed="400000"', 'speed="40000"', "E0526", "plans with the lower"),
    # what ranks would disagree about
    (' vendor="0x1000"', "", "E0527", "lacks vendor"),
    (' affinity="000000ff,ffffffff,ffff0000,00000000,00ffffff,ffffffff"', "", "E0527", "lacks affinity"),
    # what it takes from the machine
    (' sm="90"', "", "E0528", "1 <gpu> without `sm`"),
    (' speed="400000"', "", "E0528", "1 <net> without `speed`"),
    (' vendor="0x15b3"', "", "E0528", "1 <pci> without `vendor`"),
    ('link_width="16"', 'link_width="0"', "E0528", "16 lanes"),
    (
        'target="fffffff:ffff:ff" count="18" tclass="0x068000"',
        'target="0000:1b:00.0" count="18" tclass="0x030200"',
        "E0526",
        "itself",
    ),
]
WARNINGS = {
    "E0526": (
        "another GPU",
        "beside",
        "without bandwidth",
        "family 6",
        "half",
        "order of",
        "itself",
        "for another",
        "other GPUs",
        "the lower",
    ),
    "E0525": ("an extra space", "NCCL adds"),
    "E0522": ("nix", "second", "knows no", "twice", "between `/`", "no name"),
    "E0524": (
        "switch",
        "mark",
        "no value",
        "missing",
        "takes 0",
        "NCCL takes 1",
        "not a number",
        "reads one (it",
        "takes it for an NV",
    ),
}


@pytest.mark.parametrize(("old", "new", "code", "says"), RULES)
def test_a_rule(old: str, new: str, code: str, says: str) -> None:
    """One change breaks one rule, told at the line of the change or where what it leaves open began."""
    assert old in GOOD
    at = GOOD.index(old)
    text = GOOD.replace(old, new, 1)
    told = found(text)
    mine = [d for d in told if d.code == code and says in d.message]
    assert mine, told
    mild = any(w in says for w in WARNINGS.get(code, ()))
    assert mine[0].severity is (Severity.NOTE if code == "E0528" else Severity.WARNING if mild else Severity.ERROR)
    lines = {d.span.begin[0] for d in mine if d.span}
    assert GOOD.count("\n", 0, at) + 1 in lines or any(
        w in says for w in ("not closed", "ends inside", "stray", "second", "text", "nothing", "goes on")
    ), lines
    assert all(d.help for d in told)
    assert code == "E0521" or "missing" in says or "E0521" not in {d.code for d in told}


GRAPH_RULES = [
    ('version="1"', 'version="2"', "E0524", "version 1 only"),
    ("<channel>", "<chanel>", "E0522", "<chanel>"),
    ('pattern="4" ', "", "E0523", "gives up"),
    ('typeintra="NVL" ', "", "E0523", "crashes"),
    ('typeinter="PIX"', 'typeinter="C2C"', "E0524", "LOC"),
    ('pattern="4"', 'pattern="9"', "E0524", "no such number"),
    ('speedinter="24"', 'speedinter="fast"', "E0524", "not a number"),
    ('nchannels="2"', 'nchannels="3"', "E0526", "there are 2 <channel>"),
    ('      <gpu dev="1"/>\n      <net dev="0"/>', '      <net dev="0"/>', "E0526", "GPUs in this channel"),
    ('<gpu dev="1"/>', '<gpu dev="0"/>', "E0526", "twice in a channel"),
    ('      <net dev="0"/>\n', "", "E0526", "both ends"),
    ('<gpu dev="0"/>', "<gpu/>", "E0523", "lacks `dev`"),
    ('<gpu dev="0"/>', '<gpu dev="GPU0"/>', "E0524", "hexadecimal"),
    ('<gpu dev="0"/>', '<gpu dev="0" rank="1.5"/>', "E0524", "whole number"),
    ('<gpu dev="0"/>', '<gpu dev="0" sm="90"/>', "E0522", "knows no `sm`"),
    ("<channel>", "<channel>stray", "E0521", "text between tags"),
]


@pytest.mark.parametrize(("old", "new", "code", "says"), GRAPH_RULES)
def test_a_rule_for_graphs(old: str, new: str, code: str, says: str) -> None:
    assert old in GRAPH
    assert any(d.code == code and says in d.message and d.help for d in found(GRAPH.replace(old, new, 1))), found(GRAPH)


def test_a_narrow_link_of_an_adapter() -> None:
    """By the rate that NCCL counts for it: 192 Gb/s for 8 lanes of generation 5, less than the adapter and than its fellows."""
    at = GOOD.index('class="0x020700"')
    told = found(GOOD[:at] + GOOD[at:].replace('link_width="16"', 'link_width="8"', 1))
    assert [(d.code, d.severity) for d in told] == [("E0526", Severity.WARNING)] * 2
    assert "192000 of the adapter's 400000" in told[0].message + told[1].message
    assert found(GOOD[:at] + GOOD[at:].replace('link_width="16"', 'link_width="-16"', 1))[0].severity is Severity.ERROR


NIC = re.search(r' *<pci busid="0000:18:00.0".*?</pci>\n', GOOD, re.DOTALL)[0]  # type: ignore[index]


def test_adapters_far_from_their_gpus() -> None:
    """On the processor, below another GPU's switch, or without switches at all: NCCL plans for the farthest pair."""
    for text in (
        GOOD.replace(NIC, "", 1).replace("  </cpu>", NIC + "  </cpu>", 1),
        GOOD.replace(NIC, "", 1).replace(' <pci busid="0000:43', f' {NIC.strip()}\n <pci busid="0000:43', 1),
    ):
        (d,) = found(text)
        assert (d.code, d.severity) == (
            "E0526",
            Severity.WARNING,
        ) and "1 of 8 GPUs have no adapter" in d.message
    flat = re.sub(r' *<pci busid="ffff[^\n]*\n', "", GOOD).replace("\n    </pci>\n", "\n")
    assert not [d for d in found(flat) if d.code == "E0521"]
    alone = re.sub(
        r'( *<pci busid="0000:[0-9a-f]+:00.0" class="0x0207.*?</pci>\n)(    </pci>\n)',
        r"\2\1",
        GOOD,
        flags=re.DOTALL,
    )
    assert ["through the processor" in d.message for d in found(alone)] == [True]


def test_an_adapter_without_its_nic_is_left_to_nccl() -> None:
    bare = GOOD.replace("<nic>", "", 1).replace("</nic>", "", 1)
    assert [(d.code, d.severity) for d in found(bare) if "<net> in <pci>" in d.message] == [("E0522", Severity.WARNING)]


def test_places_are_exact() -> None:
    d = found(GOOD.replace('sm="90"', 'sm="9.0"', 1))[0]
    line = next(n for n, text in enumerate(GOOD.splitlines(), 1) if 'sm="90"' in text)
    assert d.span is not None and d.span.begin == (line, GOOD.splitlines()[line - 1].index('"90"') + 1) and d.span.text == '"9.0"'


def test_elements_are_counted() -> None:
    extra = (
        '<pci busid="ffff:fe:{:02x}.0" class="0x060400" vendor="0x1" device="0x1" subsystem_vendor="0x1" subsystem_device="0x1" '
    )
    tail = 'link_speed="8.0 GT/s PCIe" link_width="16"/>'

    def grown(n: int) -> str:
        return GOOD.replace("</cpu>", "".join(extra.format(i) + tail for i in range(n)) + "</cpu>", 1)

    have = len(nccl_reader.read(GOOD).all("pci")) + 1 + 2 + 8 + 8 + 8 + 8
    assert found(grown(199 - have)) == NOTHING
    assert [(d.code, d.severity) for d in found(grown(200 - have))] == [("E0525", Severity.WARNING)]
    assert [(d.code, d.severity) for d in found(grown(255 - have))] == [("E0525", Severity.WARNING)]
    assert [(d.code, d.severity) for d in found(grown(256 - have))] == [("E0525", Severity.ERROR)]


def test_comments_and_line_ends() -> None:
    assert found("<!-- a > b -- c -->\r\n" + GOOD.replace("\n", "\r\n") + "<!-- end -->") == NOTHING


def test_files_that_leave_their_adapters_to_nccl_may_leave_more() -> None:
    """Without a named net every rank fills in the same; with one, what is missing above it is told apart."""
    bare = '<pci busid="0000:10:00.0" class="0x030200"/><pci busid="0000:11:00.0" class="0x020700"/>'
    text = f'<system version="1"><cpu numaid="0"><pci busid="ffff:ff:01.0" class="0x060400">{bare}</pci></cpu></system>'
    assert {d.severity for d in found(text)} == {Severity.NOTE}
    named = text.replace('"0x020700"/>', '"0x020700" link_speed="" link_width=""><nic><net name="mlx5_0"/></nic></pci>')
    codes = {d.code for d in found(named)}
    assert {"E0523", "E0527"} <= codes


def test_a_dump_with_one_adapter_of_two_ports_is_fine() -> None:
    """One guid and two ports, as a dual-port adapter has; the processor's host_hash is of NCCL's own making."""
    text = GOOD.replace("<cpu numaid", '<cpu host_hash="0x1" numaid', 1)
    second = 'name="mlx5_99" dev="99" speed="400000" port="2" guid="0x0000000000000001" latency="0" maxconn="1" gdr="1"/>'
    assert found(text.replace("      </nic>", f"<net {second}\n      </nic>", 1)) == NOTHING


SELF = "NVLinks from a GPU to itself: NCCL makes no use of them"
BESIDE = "{0} adapters are below a PCIe switch without a GPU, and {0} GPUs have none beside them"
WARNED = {
    # the bridges of this machine lead from each GPU to both of the pair
    "azure-ncv4-topo.xml": [(line, SELF) for line in (5, 15, 22, 29)],
    # dumps of machines whose adapter is itself the switch above its GPU, one bridge farther: GPU and adapter share that switch,
    # and the rule compares the nearest switches alone
    "oci-b300.xml": [(6, BESIDE.format(8))],
    "oci-gb300-1tray.xml": [(4, BESIDE.format(4))],
}


def test_files_of_cloud_providers_get_notes(test_data: Path) -> None:
    files = sorted(test_data.glob("nccl/*.xml"))
    assert len(files) >= 5 and set(WARNED) <= {p.name for p in files}
    for path in files:
        more = [d for d in found(path.read_text()) if d.severity is not Severity.NOTE]
        assert {(d.code, d.severity) for d in more} <= {("E0526", Severity.WARNING)}
        assert [(d.span.begin[0] if d.span else 0, d.message) for d in more] == WARNED.get(path.name, []), path.name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "<",
        "<a",
        "<!--",
        "text",
        "<a>" * 3,
        "<a>" * 3000,
        "</a>",
        '<system version="1"/>',
        "<graphs/>",
        "\0",
    ],
)
def test_no_text_breaks_the_check(text: str) -> None:
    assert isinstance(found(text), list)


@given(st.text(alphabet="<>/=\"' \n\tabcpunit!-?0", max_size=60))
def test_any_text(text: str) -> None:
    for d in found(text):
        assert d.span is not None and 0 <= d.span.start <= d.span.end <= len(text) and d.help


@settings(max_examples=60)
@given(
    st.integers(0, len(GOOD) - 1),
    st.integers(0, 3),
    st.sampled_from(["", " ", "\t", "\n", "<", ">", "/", '"', "=", "x", "<a/>", "&"]),
)
def test_what_a_second_reader_refuses_is_an_error(at: int, cut: int, put: str) -> None:
    """Another reader, written letter by letter, is never stricter than the check."""
    text = GOOD[:at] + put + GOOD[at + cut :]
    try:
        tree = nccl_reader.read(text)
        whole = tree.name == "system" and tree.attributes.get("version") == "1"
    except (nccl_reader.Unreadable, ValueError):
        whole = False
    errors = [d for d in found(text) if d.severity is not Severity.NOTE]
    assert whole or errors


@settings(max_examples=40)
@given(st.data())
def test_a_value_taken_away_or_spoilt_is_always_told(data: st.DataObject) -> None:
    """Any attribute of a whole file: left out, emptied or garbled, something is said at its line or above."""
    quotes = [k for k, c in enumerate(GOOD) if c == '"'][::2]
    start = data.draw(st.sampled_from(quotes))
    end = GOOD.index('"', start + 1)
    name = GOOD.rfind(" ", 0, start)
    if GOOD[name + 1 : start] in (
        "latency=",
        "maxconn=",
        "target=",
        "rank=",
    ):  # any value of these is as good as another
        return
    left_out = GOOD[:name] + GOOD[end + 1 :]
    garbled = GOOD[: start + 1] + "<>" + GOOD[end:]
    assert found(left_out) and any(d.severity is Severity.ERROR for d in found(garbled))
