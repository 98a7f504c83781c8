"""What NCCL will make of a file: every rule with a file that breaks it, the files of others, and files spoilt at random."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.findings.source import SourceFile
from tdsl.nccl.lint import lint_nccl_file
from tests.harness import each
from tests.targets import nccl_reader
from tests.targets.build import dgx_h100
from tests.targets.test_nccl import made

GOOD = made(dgx_h100())[0]
HERE = Path(__file__).parent
GRAPH = (HERE / "graph.xml").read_text(encoding="utf-8")


def found(text: str) -> list[Diagnostic]:
    """What there is to say about a text."""
    return lint_nccl_file(SourceFile("topo.xml", text))


def test_good_files() -> None:
    assert found(GOOD) == [] and found(GRAPH) == []


def rules(name: str) -> list[list[str]]:
    """Code with severity, words of the finding, and the old and the new text of each rule of a file."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    parts = [line.split(" | ") for line in lines if not line.startswith("#")]
    return [[p.encode().decode("unicode_escape") if p != "nothing" else "" for p in rule] for rule in parts]


ELSEWHERE = ("not closed", "ends inside", "stray", "second", "text", "nothing", "goes on")
"""What is told where the text was left open that has the change."""


def broken(text: str, rule: list[str]) -> None:
    """One change breaks one rule, told at the line of the change or where what it leaves open began."""
    coded, says, old, new = rule
    code, severity = coded.split()
    assert old in text
    told = found(text.replace(old, new, 1))
    mine = [d for d in told if d.code == code and says in d.message]
    assert mine and mine[0].severity is Severity[severity.upper()] and all(d.help for d in told), told
    if text == GOOD:
        lines = {d.span.begin[0] for d in mine if d.span}
        assert GOOD.count("\n", 0, GOOD.index(old)) + 1 in lines or any(w in says for w in ELSEWHERE), lines
        assert code == "E0521" or "missing" in says or "E0521" not in {d.code for d in told}


@pytest.mark.parametrize(("text", "name"), [(GOOD, "rules.txt"), (GRAPH, "graph_rules.txt")], ids=["topology", "graphs"])
def test_every_rule(text: str, name: str) -> None:
    each(rules(name), partial(broken, text))


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
        assert (d.code, d.severity) == ("E0526", Severity.WARNING) and "1 of 8 GPUs have no adapter" in d.message
    flat = re.sub(r' *<pci busid="ffff[^\n]*\n', "", GOOD).replace("\n    </pci>\n", "\n")
    assert not [d for d in found(flat) if d.code == "E0521"]
    adapters = r'( *<pci busid="0000:[0-9a-f]+:00.0" class="0x0207.*?</pci>\n)(    </pci>\n)'
    alone = re.sub(adapters, r"\2\1", GOOD, flags=re.DOTALL)
    assert ["through the processor" in d.message for d in found(alone)] == [True]


def test_an_adapter_without_its_nic_is_left_to_nccl_and_places_are_exact() -> None:
    bare = GOOD.replace("<nic>", "", 1).replace("</nic>", "", 1)
    assert [(d.code, d.severity) for d in found(bare) if "<net> in <pci>" in d.message] == [("E0522", Severity.WARNING)]
    d = found(GOOD.replace('sm="90"', 'sm="9.0"', 1))[0]
    line = next(n for n, text in enumerate(GOOD.splitlines(), 1) if 'sm="90"' in text)
    assert d.span is not None and d.span.begin == (line, GOOD.splitlines()[line - 1].index('"90"') + 1) and d.span.text == '"9.0"'


def test_elements_are_counted() -> None:
    ids = 'vendor="0x1" device="0x1" subsystem_vendor="0x1" subsystem_device="0x1"'
    extra = f'<pci busid="ffff:fe:{{:02x}}.0" class="0x060400" {ids} link_speed="8.0 GT/s PCIe" link_width="16"/>'
    have = GOOD.count("<") - GOOD.count("</")
    for count, severity in ((199, None), (200, Severity.WARNING), (255, Severity.WARNING), (256, Severity.ERROR)):
        grown = GOOD.replace("</cpu>", "".join(map(extra.format, range(count - have))) + "</cpu>", 1)
        assert [(d.code, d.severity) for d in found(grown)] == ([("E0525", severity)] if severity else [])


def test_comments_and_line_ends() -> None:
    assert found("<!-- a > b -- c -->\r\n" + GOOD.replace("\n", "\r\n") + "<!-- end -->") == []


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
    assert found(text.replace("      </nic>", f"<net {second}\n      </nic>", 1)) == []


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


@given(st.text(alphabet="<>/=\"' \n\tabcpunit!-?0", max_size=60))
@example("")
@example("text")
@example("<!--")
@example("<a>" * 3000)
@example("<graphs/>")
@example('<system version="1"/>')
@example("\0")
def test_any_text(text: str) -> None:
    for d in found(text):
        assert d.span is not None and 0 <= d.span.start <= d.span.end <= len(text) and d.help


@settings(max_examples=40)
@given(st.integers(0, len(GOOD) - 1), st.integers(0, 3), st.sampled_from([*'  \t\n<>/"=x&', "", "<a/>"]))
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


@settings(max_examples=25)
@given(st.data())
def test_a_value_taken_away_or_spoilt_is_always_told(data: st.DataObject) -> None:
    """Any attribute of a whole file: left out, emptied or garbled, something is said at its line or above."""
    quotes = [k for k, c in enumerate(GOOD) if c == '"'][::2]
    start = data.draw(st.sampled_from(quotes))
    end = GOOD.index('"', start + 1)
    name = GOOD.rfind(" ", 0, start)
    if GOOD[name + 1 : start] in ("latency=", "maxconn=", "target=", "rank="):  # any value of these is as good as another
        return
    left_out = GOOD[:name] + GOOD[end + 1 :]
    garbled = GOOD[: start + 1] + "<>" + GOOD[end:]
    assert found(left_out) and any(d.severity is Severity.ERROR for d in found(garbled))
