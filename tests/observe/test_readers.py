"""Readers: fixtures of every format, captures of real devices, and hostile ones."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tdsl.cli import cli
from tdsl.commands import audit
from tdsl.findings.diagnostic import Severity
from tdsl.findings.source import SourceFile
from tdsl.observe.readers import Reader, capture_readers
from tdsl.observe.reading import CaptureUnreadable, read_capture_files
from tdsl.observe.record import (
    CapturedEnd,
    CapturedFact,
    CapturedHealth,
    CapturedModule,
    CapturedTable,
    CapturedTopology,
    Malformed,
    Observed,
)
from tdsl.observe.speeds import infiniband_rate
from tests.cli.run import tdsl, write
from tests.fabrics import superpod
from tests.harness import none
from tests.observe.captures import BY_DEVICE, OF_OTHER_THINGS, WHOLE, ibdiagnet, netlist
from tests.observe.plant import Cables

DATA = Path(os.environ.get("TDSL_TEST_DATA", "/nowhere")) / "asbuilt"
SUBNET = Cables(superpod(1, 2, 2, 1).build())
GOOD = netlist(SUBNET)
SWITCH = 'Switch\t4 "S-1"\t# "sw"\n'


def observed(*paths: Path) -> Observed:
    made = Observed()
    read_capture_files([("", p) for p in paths], made)
    return made


def real(name: str) -> Path:
    if not (DATA / name).exists():
        pytest.skip("TDSL_TEST_DATA does not name a folder with asbuilt captures")
    return DATA / name


def faults(made: Observed) -> list[tuple[str, int]]:
    return [(d.code, d.span.begin[0] if d.span else 0) for d in made.findings if d.severity is not Severity.NOTE]


FIXTURES = {p.stem: p.read_text(encoding="utf-8") for p in sorted((Path(__file__).parent / "readers").glob("*.txt"))}
"""Captures by name: a line with the reader and who recognises it, the capture, ``====``, and all that is read of it."""
SEPARATOR = re.compile(r"^==== expected(, and no line end before)?\n", re.MULTILINE)


def fixture(name: str) -> tuple[str, str, str, list[str]]:
    """Reader, readers that recognise the capture, the capture, and what is expected."""
    head, _, rest = FIXTURES[name].partition("\n")
    first = re.fullmatch(r"# reader (\S+), recognised by (.+)", head)
    assert first is not None, f"{name}: its first line is not `# reader NAME, recognised by NAME`"
    reader, recognised = first.groups()
    text, cut, expected = SEPARATOR.split(rest)
    text = re.sub(r"\\(x07|u202e)", lambda m: chr(int(m[1][1:], 16)), text.removesuffix("\n") if cut else text)
    return reader, recognised, text, expected.splitlines()


def shown(made: Observed) -> Iterator[str]:
    """A line a node, a link, an alias and a finding; rates in Gb/s."""

    def end(e: CapturedEnd) -> str:
        return f"{e.node} {'|'.join(e.port) or '-'}" + (f" ({e.id})" if e.id else "")

    for n in made.nodes.values():
        heard = " heard" if n.key in made.heard else ""
        yield f"{n.at.line}: node {n.key} {n.description!r} {n.kind or '-'} {','.join(n.ids) or '-'} {n.ports}{heard}"
    for w in made.wires:
        known = w.rate or w.lanes or w.could
        yield f"{w.at.line}: {end(w.a)} -- {end(w.b)}" + (f" {w.rate / 1e9:g} {w.lanes} {w.could / 1e9:g}" if known else "")
    yield from (f"alias {k} {v}" for k, v in made.alias.items())
    yield from (f"{r.at.line}: left out: {r.why}: {r.text}" for r in (*made.left, *made.facts_left))
    yield from (f"{f.at.line}: {fact_shown(f)}" for f in made.facts)
    for f in made.findings:
        yield f"{f.span.begin[0] if f.span else 0}: {f.code} {f.message}"
        if f.help:
            yield f"    {f.help}"
    if made.whole:
        yield "whole"


def fact_shown(fact: CapturedFact) -> str:
    """What a capture says that is no link."""
    if isinstance(fact, CapturedModule):
        return f"module {fact.end.node} {'|'.join(fact.end.port)}: {fact.vendor!r} {fact.part!r} {fact.serial!r} {fact.present}"
    if isinstance(fact, CapturedHealth):
        of = f"{fact.end.node} {fact.end.port[0]}: {fact.state} {fact.rate / 1e9:g} Gb/s {fact.lanes}"
        return f"health {of} {fact.errors_per_bit:g} {fact.errors}"
    if isinstance(fact, CapturedTopology):
        cells = " ".join(f"{a}-{b}:{w}" for (a, b), w in fact.cells.items() if w != "X")
        return f"topology {fact.node} {','.join(fact.accelerators)} {','.join(fact.adapters)} {cells}"
    if isinstance(fact, CapturedTable):
        return f"table {fact.node}: " + ", ".join(f"{r.lid} {r.port} {r.kind} {r.name!r}" for r in fact.rows)
    return f"placement {fact.node} {fact.source} {fact.level} {fact.group}"


def module(reader: str) -> Reader:
    return capture_readers()[reader.replace("_", "-")]


@pytest.mark.parametrize("name", FIXTURES)
def test_a_capture_is_read_as_its_fixture_says(name: str) -> None:
    reader, recognised, text, expected = fixture(name)
    made = Observed()
    try:
        module(reader).read(SourceFile("x", text), "here", made)
    except Malformed as wrong:
        said = [*shown(made), f"refused at {wrong.line}: {wrong.message}", f"    {wrong.help}"]
    else:
        said = list(shown(made))
    assert [line for line in said if line.strip()] == expected
    assert " ".join(n.replace("-", "_") for n, r in capture_readers().items() if r.recognises(text)) == recognised.replace(
        "none", ""
    )


def shape_read(name: str, text: str) -> tuple[int, Counter[str]]:
    """How many rows a reader takes or sets aside, and what it says, each with its number."""
    made = Observed()
    try:
        module(fixture(name)[0]).read(SourceFile("x", text), "here", made)
    except Malformed as wrong:
        return 0, Counter([wrong.message])
    return len(made.wires) + len(made.left) + made.fact_rows, Counter(f.message for f in made.findings)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        *((n, r"\Z") for n in ("junos_detail", "lldpd_text", "lldpd_text_key_and_value", "nxos", "mlxlink")),
        ("transceivers_of_sonic", ".* not detected"),
        ("ethtool", "netlink|ethtool"),
        ("iblinkinfo", ".*==>"),
        ("ptm", ".* -- "),
    ],
)
def test_a_line_of_a_block_that_is_lost_loses_no_row_unseen(name: str, own: str) -> None:
    """``own`` is how lines begin that are a row by themselves."""
    lines = fixture(name)[2].split("\n")
    rows, said = shape_read(name, "\n".join(lines))
    for k, line in enumerate(lines):
        left, told = shape_read(name, "\n".join([*lines[:k], *lines[k + 1 :]]))
        assert left >= rows or told - said or re.match(own, line), line


def test_every_reader_has_a_sample_a_planted_set_and_a_row_in_the_page() -> None:
    """A sample in tests/observe/readers that it recognises, a writer in captures.py, and its option and name in docs/audit.md."""
    samples = {fixture(name)[1] for name in FIXTURES}
    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    options = {option for p in audit.command.params for option in p.opts}
    missing = []
    for n, r in capture_readers().items():
        row = any(f"--{r.OPTION}" in row and PAGE.get(n, n).lower() in row.lower() for row in rows)
        missing += [f"{n}: no sample in tests/observe/readers"] * (n.replace("-", "_") not in samples)
        if r.OPTION == "import":  # designs in other languages, which test_designs.py imports
            continue
        written = {*WHOLE, *BY_DEVICE, *OF_OTHER_THINGS}
        missing += [f"{n}: no function in tests/observe/captures.py writes it"] * (n not in written)
        missing += [f"{n}: no row of docs/audit.md has its option and name"] * (not row)
        missing += [f"{n}: tdsl audit has no option --{r.OPTION}"] * (f"--{r.OPTION}" not in options)
    none(missing)


PAGE = {
    "eos": "Arista EOS", "junos": "Juniper Junos", "lldpd-text": "lldpd, as text", "nvue": "Cumulus Linux",
    "nxos": "Cisco NX-OS", "p2p": "tables",
    "netq": "NetQ", "ptm": "PTM",
}  # fmt: skip
"""What docs/audit.md calls the format of a reader, where that is not its own name."""


def test_codes_of_speeds_and_widths_of_ibdiagnet() -> None:
    """LinkSpeedActive, LinkSpeedExtActive in the second byte, FDR10 and XDR above; LinkWidthActive. Source: InfiniBand
    Architecture Specification, volume 1, PortInfo, and infiniband/iba/ib_types.h of OpenSM."""
    names = "1 SDR, 2 DDR, 4 QDR, 256 FDR, 512 EDR, 1024 HDR, 2048 NDR, 65536 FDR10, 16777216 XDR, 3, 8, N/A"
    capture = ibdiagnet(Cables(superpod(1, 1, 1, 1).build()))
    for number, *name in map(str.split, names.split(",")):
        for width, lanes in ((1, 1), (2, 4), (4, 8), (8, 12), (16, 2), (3, 0)):
            made = Observed()
            text = re.sub(r",2,2048,0$", f",{width},{number},0", capture, flags=re.MULTILINE)
            module("ibdiagnet").read(SourceFile("x", text), "here", made)
            assert not faults(made)
            assert {w.rate for w in made.wires} == {infiniband_rate(lanes, *name) if name and lanes else 0}, (width, number)


def test_a_folder_of_ibdiagnet(tmp_path: Path) -> None:
    (tmp_path / "ibdiagnet2.db_csv").write_text(ibdiagnet(SUBNET))
    (tmp_path / "ibdiagnet2.log").write_text("no table\n")
    made = Observed()
    read_capture_files([("ibdiagnet", tmp_path)], made)
    assert not faults(made) and len(made.wires) == superpod(1, 2, 2, 1).build().link_count
    (tmp_path / "ibdiagnet2.db_csv").unlink()
    with pytest.raises(CaptureUnreadable, match="db_csv file"):
        read_capture_files([("ibdiagnet", tmp_path)], Observed())


# ---------------------------------------------------------------- real captures


@pytest.mark.parametrize(
    ("name", "nodes", "links"),
    [
        ("ibnetdiscover/loginoff-sx6036-8sw-144ca.ibnetdiscover.txt", 152, 192),
        ("ibnetdiscover/ibtopotool-1.topo", 6, 7),
        ("ibnetdiscover/ibtopotool-2.topo", 3, 2),
        ("ibnetdiscover/ibtopotool-4.topo", 2, 1),
        ("ibnetdiscover/exporter-ports-test.out", 7, 4),
        ("lldp/lldpctl-json-sonic.json", 4, 33),
        ("lldp/lldpctl-json-interface_only.json", 2, 2),
        ("lldp/lldpctl-json-empty.json", 1, 0),
        ("lldp/eos-lldp-neighbors.json", 2, 2),
        ("lldp/napalm-nxos.json", 3, 3),
        ("other/layer1-asymmetric.json", 4, 2),
        ("other/example_layer1_topology.json", 15, 40),
        ("other/topologyGraph.json", 11, 79),
        ("ufm_ndt/ndt.csv", 29, 400),
        ("ufm_ndt/ndth2s.csv", 52, 320),
    ],
)
def test_real_captures(name: str, nodes: int, links: int) -> None:
    made = observed(real(name))
    assert (faults(made), len(made.nodes), len(made.wires)) == ([], nodes, links)


@pytest.mark.parametrize(
    ("one", "other", "ports"),
    [
        ("lldpctl-json-sonic", "sonic-LLDP_ENTRY_TABLE", True), ("eos-lldp-detail-issue903", "napalm-eos-issue903", False),
        ("eos-lldp-detail-issue1153", "napalm-eos-issue1153", False),
    ],
)  # fmt: skip
def test_two_readers_agree_on_one_switch(one: str, other: str, ports: bool) -> None:
    known = [
        {(w.a.port[0], made.nodes[w.b.node].description, w.b.port[0] if ports else "") for w in made.wires}
        for made in (observed(real(f"lldp/{name}.json")) for name in (one, other))
    ]
    assert known[0] == known[1] != set()


def test_nxos_detail() -> None:
    made = observed(real("lldp/nxos-lldp-detail.txt"))
    assert not faults(made) and made.wires
    assert [c for c, _ in faults(observed(real("lldp/nxos-lldp-neighbors.txt")))] == ["E0601"]


@pytest.mark.parametrize("name", ["garbage.ndt", "incorrect_columns.ndt"])
def test_malformed_tables_of_ufm(name: str) -> None:
    assert faults(observed(real(f"ufm_ndt/{name}"))) == [("E0601", 1)]


# ---------------------------------------------------------------- hostile captures


HOSTILE: list[tuple[str, str, str, int]] = [
    ("ibnetdiscover", "", "E0602", 1),
    ("ibnetdiscover", "hello\n", "E0601", 1),
    ("ibnetdiscover", SWITCH + '[9]\t"S-1"[1]\t# lid 0 4xHDR\n', "E0601", 2),
    ("ibnetdiscover", SWITCH + '[1]\t"S-2"[1]\t# lid 0 4xHDR\n', "E0602", 2),
    ("ibnetdiscover", SWITCH + SWITCH, "E0601", 2),
    ("ibnetdiscover", SWITCH + '[1]\t"S-1', "E0601", 2),
    ("ibnetdiscover", SWITCH + "x" * (2 << 20), "E0601", 2),
    ("ibnetdiscover", SWITCH + "\x1b[2Jboo\n", "E0601", 2),
    ("ibnetdiscover", 'Switch\t4 "S-1"\t# "sw\x07"\n', "E0601", 1),
    ("ibnetdiscover", SWITCH + "\0\n", "E0601", 2),
    ("ibnetdiscover", 'Switch\t99999 "S-1"\t# "sw"\n', "E0601", 1),
    ("ibnetdiscover", 'Switch\t4 "S-1"\t# "' + "n" * 600 + '"\n', "E0601", 1),
    ("lldp", "{", "E0601", 1),
    ("lldp", '{"lldp": {"interface": [\n{"swp1": 5}]}}', "E0601", 2),
    ("lldp", '{"lldp": {"interface": {"swp1": {"chassis": {}, "port": {"id": {"value": NaN}}}}}}', "E0601", 1),
    ("lldp", '{"lldp": ' + "[" * 100_000, "E0601", 1),
    ("lldp", '{"LLDP_ENTRY_TABLE:Ethernet0": 7}', "E0601", 1),
    ("lldp", '{"lldpNeighbors": [7]}', "E0601", 1),
    ("lldp", '{"edges": [{"node1": 1, "node2": 2}]}', "E0601", 1),
    ("lldp", '{"swp1": {"lldp": {"neighbor": {"x": 1}}}}', "E0601", 1),
    ("lldp", '{"Ethernet1": [{"remote_system_name": ["x"]}]}', "E0601", 1),
    ("lldp", '[{"links": [{"compounded_links": [{"interfaces": []}]}]}]', "E0601", 1),
    ("lldp", 'graph G {\n"a":"b" -> "c":"d";\n"a":"b" -- "c":"d";\n}', "E0601", 2),
    ("lldp", "junk\n", "E0601", 1),
]


@pytest.mark.parametrize(("option", "text", "code", "line"), HOSTILE)
def test_hostile_captures(option: str, text: str, code: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    made = Observed()
    read_capture_files([(option, tmp_path / "a.json")], made)
    assert (code, line) in faults(made) and (option != "lldp" or len(faults(made)) == 1)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.topo").write_bytes(b"# fine\n\xff\xfe\n")
    assert faults(observed(tmp_path / "a.topo")) == [("E0601", 2)]


def test_a_cut_capture_is_a_finding_and_no_missing_cables(tmp_path: Path) -> None:
    design = write(tmp_path)
    whole = netlist(Cables(superpod(1, 4, 8, 2).build()))
    for share in (1, 4, 8):
        (tmp_path / "cut.topo").write_text(whole[: len(whole) * share // 9])
        done = tdsl("audit", design, "--ibnetdiscover", tmp_path / "cut.topo", "--format", "json")
        assert done.exit_code == 1
        assert {"E0601", "E0602"} >= {d["code"] for d in json.loads(done.stdout)["fabrics"][0]["findings"]}


def test_a_wrong_call(tmp_path: Path) -> None:
    design = write(tmp_path)
    (tmp_path / "empty").mkdir()
    assert tdsl("audit", design).exit_code == 2
    for args in (["--lldp", tmp_path / "empty"], ["--map", "(=x"], ["--only", "nothing[9]"]):
        (tmp_path / "c.topo").write_text(GOOD)
        done = tdsl("audit", design, "--ibnetdiscover", tmp_path / "c.topo", *args)
        assert done.exit_code == 2 and "Traceback" not in done.output
    assert "audit" in cli.list_commands(None)  # type: ignore[arg-type,attr-defined]
