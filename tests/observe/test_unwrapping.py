"""Captures as tools, terminals and editors hand them over: the same links, or a refusal that says what it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tdsl.observe.reading import read_capture_files
from tdsl.observe.record import Observed
from tests.harness import fabric_of, sampled
from tests.observe.captures import BY_DEVICE, WHOLE, audited, capture, codes
from tests.observe.plant import Cables
from tests.observe.test_readers import faults

POD = """fabric pod {
  host node[2]: NODE
  switch leaf[2]: SW
  connect node[n].nic[r] to leaf[r]
  connect leaf[0] to leaf[1]
}
model host NODE { port nic[2]: 400Gbps { type NDR; os "mlx5_{i}" } }
model switch SW { port p[1..8]: 400Gbps { type NDR; os "swp{i}" } }
"""
Links = set[frozenset[tuple[str, str]]]


def links(made: Observed) -> Links:
    """Links by the descriptions of their devices and the first names of their ports."""
    return {frozenset((made.nodes[e.node].description, e.port[0] if e.port else "") for e in (w.a, w.b)) for w in made.wires}


def read(option: str, *paths: Path) -> Observed:
    made = Observed()
    read_capture_files([(option, p) for p in paths], made)
    return made


@pytest.fixture(scope="module")
def cables(tmp_path_factory: pytest.TempPathFactory) -> Cables:
    return Cables(fabric_of(POD, tmp_path_factory.mktemp("pod"), models=False))


def files(reader: str, cables: Cables, folder: Path) -> list[Path]:
    """The cabling in the format of a reader, in as many files as it takes."""
    path = capture(reader, cables, folder)
    return sorted(path.iterdir()) if path.is_dir() else [path]


# ---------------------------------------------------------------- envelopes


def rpc(device: str, value: Any, text: str) -> Any:
    return {"jsonrpc": "2.0", "id": "1", "result": [{"version": "4.31"}, value]}


def rpc_of_text(device: str, value: Any, text: str) -> Any:
    return {"jsonrpc": "2.0", "id": 1, "result": [{"output": text}]}


def registered(device: str, value: Any, text: str) -> Any:
    return {"changed": False, "failed": False, "stdout": [value], "stdout_lines": [value]}


def registered_text(device: str, value: Any, text: str) -> Any:
    return {"changed": False, "stdout": text, "stdout_lines": text.split("\n"), "rc": 0}


def callback(device: str, value: Any, text: str) -> Any:
    return {"plays": [{"tasks": [{"hosts": {device: {"stdout": [text]}}}]}], "stats": {device: {"ok": 1}}}


def by_minion(device: str, value: Any, text: str) -> Any:
    return {device: {"result": True, "out": value, "comment": ""}}


def databases(device: str, value: Any, text: str) -> Any:
    return {"COUNTERS_DB": {"x": 1}, "APPL_DB": value}


def repeated(device: str, value: Any, text: str) -> Any:
    return [{"item": "show", "stdout": [value]}]


ENVELOPES = [rpc, rpc_of_text, registered, registered_text, callback, by_minion, databases, repeated]
WRAPPED = ["eos", "lldpd", "napalm", "nvue", "sonic"]
PLAIN = ["junos", "lldpd-text", "nxos"]


@pytest.mark.parametrize("wrap", ENVELOPES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("reader", [*WRAPPED, *PLAIN])
def test_an_envelope_changes_nothing(reader: str, wrap: Callable[..., Any], cables: Cables, tmp_path: Path) -> None:
    """The links are those of the bare capture; the device is the one that the envelope names, else that of the file's name."""
    bare = files(reader, cables, tmp_path)
    expected = links(read("lldp", *bare))
    assert expected
    (tmp_path / "in").mkdir()
    for k, path in enumerate(bare):
        text = path.read_text()
        value = json.loads(text) if reader in WRAPPED else text
        named = wrap in (callback, by_minion)
        inner = tmp_path / "in" / (f"{k}.json" if named else f"{path.stem}.json")
        inner.write_text(json.dumps(wrap(path.stem, value, text), indent=1))
    for option in ("lldp", ""):
        made = read(option, tmp_path / "in")
        assert faults(made) == [] and links(made) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"jsonrpc": "2.0", "id": "1", "result": [{"version": 4}]}', "an answer of JSON-RPC"),
        ('{"jsonrpc": "2.0", "id": "1", "error": {"code": 1002, "message": "CLI command 1 of 1\\nfailed"}}', "1 of 1 failed"),
        ('{"jsonrpc": "2.0", "result": [{"x": {"lldpNeighbor": []}}]}', "an answer of JSON-RPC"),
        ('{"changed": false, "stdout": ["% Invalid input"]}', "a result of Ansible"),
        ('{"swp1": {"lldp": {"neighbours": {}}}}', "its keys are 'swp1'"),
        ('{"LLDP_LOC_CHASSIS": {"lldp_loc_sys_name": "x"}}', "its keys are 'LLDP_LOC_CHASSIS'"),
        ('[{"lldp_rem_port_id": "x"}]', "its keys are 'lldp_rem_port_id'"),
    ],
)
def test_what_is_around_no_capture_is_refused_by_its_name(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "leaf0.json").write_text(text)
    made = read("lldp", tmp_path / "leaf0.json")
    (finding,) = made.findings
    assert finding.code == "E0601" and said in finding.message and not made.nodes


def test_a_finding_in_an_envelope_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"result": [\n {"lldpNeighbors": [7]}]}')
    made = read("lldp", tmp_path / "a.json")
    assert faults(made) == [("E0601", 2)]


# ---------------------------------------------------------------- terminals and encodings


def prompts(text: str, r: Random) -> str:
    shells = "admin@leaf0:~$ ", "leaf0#", "leaf0(config)# ", "[root@ufm ~]# ", "leaf0.example.com>", "{master:0}\nroot@leaf0> "
    before = r.choice(shells)
    return f"{before}show lldp neighbors detail\n{text.rstrip()}\n{before}\n{before}exit\n"


def colours(text: str, r: Random) -> str:
    lines = [f"\x1b[{r.choice(['32', '1;31', '38;5;9'])}m{line}\x1b[0m\x1b[K" for line in text.split("\n")]
    return "\x1b]0;title\x07" + "\n".join(lines)


def carriage_returns(text: str, r: Random) -> str:
    return text.replace("\n", r.choice(["\r\n", "\r\r\n"]))


def pager(text: str, r: Random) -> str:
    lines = text.split("\n")
    at = r.randrange(len(lines))
    lines[at] = (
        r.choice(["--More--\r        \r", " --More-- \r           \r", "---(more 52%)---\r                \r"]) + lines[at]
    )
    return "\n".join(lines)


def recorded(text: str, r: Random) -> str:
    """With what PuTTY or script(1) writes around a log."""
    if r.random() < 0.5:
        return f"{'=~' * 12}= PuTTY log 2026.11.27 10:00:00 {'=~' * 12}=\n{text}"
    return f'Script started on 2026-11-27 10:00:00+00:00 [TERM="xterm"]\n{text}\nScript done on 2026-11-27 10:01:00+00:00\n'


DRESSED = [recorded, prompts, colours, carriage_returns, pager]


@pytest.mark.parametrize("reader", sampled(sorted({*WHOLE, *BY_DEVICE}), 2))
def test_a_log_of_a_terminal_says_the_same(reader: str, cables: Cables, tmp_path: Path) -> None:
    """With prompts, colours, line ends of a serial line and a pager, alone and together; as UTF-8 or UTF-16."""
    r = Random(reader)
    bare = files(reader, cables, tmp_path)
    expected = links(read("", *bare))
    assert expected
    for dress in (*((d,) for d in DRESSED), tuple(DRESSED)):
        for encoding in ("utf-8", r.choice(["utf-16", "utf-8-sig", "utf-16-le"])):
            folder = tmp_path / f"{dress[0].__name__}{len(dress)}{encoding}"
            folder.mkdir()
            for path in bare:
                text = path.read_text()
                for one in dress:
                    text = one(text, r)
                (folder / path.name).write_bytes(text.encode(encoding))
            made = read("", folder)
            assert faults(made) == [] and links(made) == expected, (dress, encoding)


def test_tabs_that_a_terminal_lost(cables: Cables, tmp_path: Path) -> None:
    (path,) = files("ibnetdiscover", cables, tmp_path)
    expected = links(read("", path))
    for instead in (" ", "        ", ""):
        (tmp_path / "lost.topo").write_text(path.read_text().replace("\t", instead))
        made = read("ibnetdiscover", tmp_path / "lost.topo")
        assert faults(made) == [] and links(made) == expected


def test_a_prompt_amid_a_capture_is_no_part_of_it(cables: Cables, tmp_path: Path) -> None:
    (path,) = files("ibnetdiscover", cables, tmp_path)
    lines = path.read_text().split("\n")
    half = len(lines) // 2
    path.write_text("\n".join([*lines[:half], "[root@ufm ~]# ibnetdiscover", *lines[half:]]))
    assert ("E0601", half + 1) in faults(read("ibnetdiscover", path))


@pytest.mark.parametrize("reader", sorted(BY_DEVICE))
def test_a_log_of_several_devices_and_commands_is_read_device_by_device(reader: str, cables: Cables, tmp_path: Path) -> None:
    bare = files(reader, cables, tmp_path)
    expected = links(read("", *bare))
    asked = {p.stem: ["show version", "show lldp neighbors", "show clock"] for p in bare}
    said = {p.stem: {"show version": "Release: 4\nUptime: 3 days", "show lldp neighbors": p.read_text()} for p in bare}
    log = "".join(f"{d}# {c}\n{said[d].get(c, '10:00')}\n" for d, commands in asked.items() for c in commands)
    (tmp_path / "log.txt").write_text(log + f"{bare[-1].stem}# ")
    made = read("lldp", tmp_path / "log.txt")
    assert faults(made) == [] and links(made) == expected
    line = log.count("\n") + 2
    (tmp_path / "log.txt").write_text(log + "leaf9# show lldp neighbors\nError: lldpd is not running\n")
    assert faults(read("lldp", tmp_path / "log.txt")) == [("E0601", line)]  # a device of which nothing is known is named


def test_a_key_beside_an_output_names_its_device(cables: Cables, tmp_path: Path) -> None:
    bare = files("lldpd", cables, tmp_path)
    expected = links(read("", *bare))
    rows = [{"item": p.stem, "stdout": p.read_text()} for p in bare]
    for whole in ({"results": rows}, [{"hostname": r["item"], "output": json.loads(r["stdout"])} for r in rows]):
        (tmp_path / "all.json").write_text(json.dumps(whole))
        made = read("lldp", tmp_path / "all.json")
        assert faults(made) == [] and links(made) == expected


def test_a_file_may_have_more_words_in_its_name_than_its_device(cables: Cables, tmp_path: Path) -> None:
    bare = files("lldpd", cables, tmp_path)
    for form, clean in (
        ("show_lldp_{}.json", True),
        ("{}_2026-11-27.json", True),
        ("{}.dc1.json", True),
        ("leaf0-leaf1-{}.json", False),
    ):
        folder = tmp_path / f"named {form[:6]}"
        folder.mkdir()
        for p in bare:
            (folder / form.format(p.stem)).write_text(p.read_text())
        made = audited(cables.fabric, ("lldp", folder))
        assert (codes(made) == []) == clean and (made.matching == cables.fabric.link_count or not clean)
