"""What NCCL will make of a file: every rule with a file that breaks it, the files of others, and files spoilt at random."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.findings.source import SourceFile
from tdsl.nccl.against import nothing_to_judge_error
from tdsl.nccl.lint import lint_nccl_file
from tests.cli.run import tdsl
from tests.harness import each, none
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


def test_a_dump_has_an_interface_without_a_pcie_function_below_each_processor() -> None:
    """Each rank puts it below the first processor that it knows; in a file that is written by hand it is one too many."""
    nic = '<nic><net name="eth0" dev="0" latency="0" speed="10000" port="0" guid="0x0" maxconn="65536" gdr="0"/></nic>'
    bare = re.sub(r" *<nic>.*?</nic>\n", "", GOOD, flags=re.DOTALL).replace("</cpu>", f"{nic}</cpu>")
    errors = [d for d in found(bare) if d.severity is Severity.ERROR]
    dump = bare.replace("<cpu numaid", '<cpu host_hash="0x1" numaid')
    assert errors and not [d for d in found(dump) if d.severity is not Severity.NOTE], found(dump)


def test_files_of_cloud_providers_get_notes(test_data: Path) -> None:
    """Azure's list GPUs and adapters by their PCI class alone, which is enough to be judged."""
    files = sorted([*test_data.glob("nccl/*.xml"), *test_data.glob("rccl/*.xml")])
    assert len(files) >= 14
    none([f"{path.name}: {d.message}" for path in files for d in found(path.read_text()) if d.severity is not Severity.NOTE])
    texts = [SourceFile(path.name, path.read_text()) for path in files]
    none([f.name for f in texts if nothing_to_judge_error(f) is not None])
    bare = next(f.text for f in texts if f.name == "azure-ndv5-topo.xml")
    assert any("8 GPUs by class alone" in d.message for d in found(bare))
    assert nothing_to_judge_error(SourceFile("x.xml", re.sub(r"0x03\d+|0x02\d+", "0x060400", bare))) is not None


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


# ---------------------------------------------------------------- machines as they are


def test_a_gpu_whose_nvlinks_are_down() -> None:
    """In a dump it is a fault; of a file NCCL asks the machine. By the PCI device where the file has no `sm`."""
    link = '<nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/>'
    (d,) = [d for d in found(GOOD.replace(link, "", 1)) if d.severity is not Severity.NOTE]
    assert d.severity is Severity.WARNING and "no NVLinks, and another GPU has 18: NCCL asks" in d.message
    dump = GOOD.replace("<cpu numaid", '<cpu host_hash="0x1" numaid').replace(link, "", 1)
    (d,) = found(dump)
    assert (d.code, d.severity) == ("E0526", Severity.ERROR) and "through PCIe" in d.message
    bare = re.sub(r' (?:sm|dev|rank|gdr)="[0-9]+"', "", GOOD)
    for count, severity in (("17", Severity.WARNING), ("19", Severity.ERROR)):
        told = {d.severity for d in found(bare.replace('count="18"', f'count="{count}"')) if d.severity is not Severity.NOTE}
        assert told == {severity}


def test_a_virtual_machine_is_not_called_wrong() -> None:
    """GPUs and adapters at the processor, links without a speed, no GPUDirect RDMA at all."""
    text = re.sub(r' *<pci busid="[^"]*" class="0x060400[^\n]*\n', "", GOOD).replace("\n    </pci>\n", "\n")
    text = re.sub(r'link_speed="[^"]*" link_width="16"', 'link_speed="Unknown" link_width="0"', text).replace(
        'gdr="1"', 'gdr="0"'
    )
    assert {d.severity for d in found(text)} == {Severity.NOTE}


RING = "".join(
    f"""    <pci busid="0000:0{i}:00.0" class="0x120000" vendor="0x1002" device="0x74a1" subsystem_vendor="0x1002" \
subsystem_device="0x74a1" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="{i - 1}" sm="304" gcn="gfx942" arch="38911" rank="{i - 1}" gdr="1">
        <xgmi target="0000:0{3 - i}:00.0" count="1" tclass="0x120000"/>
      </gpu>
    </pci>
"""
    for i in (1, 2)
)
NET = """    <pci busid="0000:05:00.0" class="0x020700" vendor="0x15b3" device="0x1021" \
subsystem_vendor="0x15b3" subsystem_device="0x1" \
link_speed="32.0 GT/s PCIe" link_width="16">
      <nic>
        <net name="mlx5_0" dev="0" speed="400000" port="1" latency="0.000000" guid="0x1" maxconn="131072" gdr="1"/>
      </nic>
    </pci>
"""
OF_RCCL = (
    '<system version="2">\n  <cpu numaid="0" affinity="ff" arch="x86_64" vendor="AuthenticAMD" familyid="175" modelid="1">\n'
    f"{RING}{NET}  </cpu>\n</system>\n"
)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('version="2"', 'version="1"', "RCCL reads version 2 only"),
        ('gcn="gfx942"', 'gcn="MI300X"', "RCCL counts 24 GB/s for an xGMI link"),
        ('<xgmi target="0000:02:00.0" count="1" tclass="0x120000"/>', "", "no xGMI links, and another GPU has 1"),
        ('count="1"', 'count="2"', "2 xGMI links from 0000:01:00.0 to 0000:02:00.0, but 1 back"),
        ("<xgmi", '<nvlink target="x" count="1"/><xgmi', "RCCL does not look for <nvlink> in <gpu>"),
        ('tclass="0x120000"', 'tclass="0x12"', "RCCL takes it for an NVSwitch"),
        (' class="0x020700"', "", "<pci> lacks `class`: RCCL fills in what is above GPUs alone"),
        ('gcn="gfx942"', 'gfx="gfx942"', "RCCL knows no `gfx` of <gpu>"),
    ],
)
def test_files_of_rccl_are_judged_by_its_rules(old: str, new: str, said: str) -> None:
    assert found(OF_RCCL) == [] and old in OF_RCCL
    told = [d.message for d in found(OF_RCCL.replace(old, new, 1)) if d.severity is not Severity.NOTE]
    assert any(said in m for m in told) and not any(re.search(r"\bNCCL\b(?!_)", m) for m in told), told


@pytest.mark.parametrize("options", [(), ("--option", "rccl.complete=true")], ids=["bare", "complete"])
def test_what_tdsl_writes_for_rccl_is_clean(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "d.fab").write_text(
        "fabric f {\n  host node[2]: MI300X_HOST\n  switch leaf[8]: QM9700\n  connect node[n].nic[r] to leaf[r]\n}\n"
    )
    done = tdsl("build", tmp_path / "d.fab", "--out", tmp_path / "out", "--target", "rccl", *options)
    assert done.exit_code == 0, done.output
    file = tmp_path / "out" / "rccl" / "MI300X_HOST.xml"
    assert [d.message for d in found(file.read_text()) if d.severity is not Severity.NOTE] == []
    done = tdsl("lint-nccl", file)
    assert done.exit_code == 0 and "of RCCL's dialect" in done.stdout
    (document,) = json.loads(tdsl("lint-nccl", file, "--output-format", "json").stdout)["files"]
    assert document["dialect"] == "RCCL"
