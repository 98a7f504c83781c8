"""What is said of inputs of targets, as they are and with each line left out or changed: whole answers, as goldens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.emit import choices, site
from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.target import chosen_targets, targets_by_name
from tdsl.fabric.assets import read_assets_table as read_assets
from tdsl.findings.diagnostic import Diagnostic, Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.nccl import against
from tdsl.nccl.lint import lint_nccl_file
from tests.conftest import Golden
from tests.targets.build import dgx_h100, pod
from tests.targets.test_every_file import ROUTED, SITE, TARGETS
from tests.targets.test_nccl import made
from tests.targets.test_nccl_lint import GRAPH

WRONG_VALUES = ("", '"\\u0000"', "[x]", "{x: y}", "5", "true", "x" * 300, "lower_case", "a b", "<", "'@@X@@'", "!!int 3", "*a")


def told(found: Iterable[Diagnostic]) -> Iterator[str]:
    """Findings as they are told."""
    for d in found:
        at = f"{d.span.begin[0]}:{d.span.begin[1]}-{d.span.finish[0]}:{d.span.finish[1]} " if d.span is not None else ""
        yield f"{d.code} {d.severity.word} {at}{d.message}"
        yield from (f"    at {n.span.begin[0]}:{n.span.begin[1]} {n.message}" for n in d.labels)
        yield from (f"    note {n}" for n in d.notes)
        if d.help:
            yield f"    help {d.help}"


def varied(text: str, values: Iterable[str], pattern: str) -> Iterator[tuple[str, str]]:
    """A text with each line left out, each twice, and each place of a pattern with other values, in turn one of them."""
    lines = text.splitlines(keepends=True)
    given = list(values)
    for n, line in enumerate(lines):
        yield f"without line {n + 1}", "".join(lines[:n] + lines[n + 1 :])
        yield f"line {n + 1} twice", "".join([*lines[: n + 1], line, *lines[n + 1 :]])
    for n, found in enumerate(re.finditer(pattern, text)):
        for value in (given[n % len(given)], given[(n * 7 + 3) % len(given)]):
            line = text.count("\n", 0, found.start(1)) + 1
            yield f"line {line} {found[1]} is {value[:30]}", text[: found.start(1)] + value + text[found.end(1) :]


def answers(text: str, say: Callable[[str], Iterable[str]], values: Iterable[str], pattern: str) -> str:
    """What is said of a text as it is, and what else of it when it is changed."""
    whole = list(say(text))
    out = ["as it is", *whole]
    for what, changed in varied(text, values, pattern):
        now = list(say(changed))
        out.append(what)
        out += [f"  - {x}" for x in whole if x not in now] + [f"  + {x}" for x in now if x not in whole]
    return "\n".join(out) + "\n"


SITES = (
    "", "a", "[]", "[[[[[[[[[[[[[1]]]]]]]]]]]]]", "ntp: [a, a]\nntp: [b]\n", "aaa: {key: K}", "aaa: {tacacs: [1.1.1.1]}",
    "gnmi: {port: 0}", "gnmi: {port: 65535}", "gnmi: {port: 65536}", "gnmi: {port: '١'}", "dns: {servers: ['fe80::1%eth0']}",
    "dns: {domain: -a}", "a: &x 1\nb: *x", "banner: |\n  one\n\n  two\n", "banner: EOF", f"banner: {'x' * 4000}",
    f"banner: {'x' * 4001}", f"snmp: {{location: {'y' * 241}}}", f"snmp: {{location: {'y' * 240}}}", "facts: {Big: x}",
    "facts: {a: '@@'}", "secrets: {a: lower}", "? [a]\n: b\n", "ntpp: []", "syslog: 5", "\t", "ntp: [é.example]", "a: {b",
)  # fmt: skip


def test_site_files(golden: Golden) -> None:
    def say(text: str) -> Iterator[str]:
        found = Diagnostics()
        given = site.read_site_file(SourceFile("site.yaml", text), found)
        yield from told(found)
        yield repr(given) if given != site.Site() else "nothing"

    others = "".join(f"==== {t!r}\n" + "\n".join(say(t)) + "\n" for t in SITES)
    golden("targets/refused/site.txt", answers(SITE, say, WRONG_VALUES, r"(?::|[\[,]) ?([^\s\[\]{},|]+)") + others)


MANIFEST = """\
title = "t"
consumer = "c"
needs = ["cables"]
layer = "network"
[options]
n = 3
word = "a"
on = true
many = ["x"]
[values]
n = {from = 1, to = 5}
word = ["a", "b"]
[router]
nos = "eos"
kind = "switch"
interface = "Ethernet.*"
management = "M.*"
mtu = 9000
sonic = false
channel = "Po"
[[file]]
path = "mine/{device}.txt"
scope = "device"
template = "a.j2"
single = "mine/one.txt"
identity = true
part = true
needs = ["places"]
"""


def test_manifests_of_targets(golden: Golden, tmp_path: Path) -> None:
    (tmp_path / "mine" / "templates").mkdir(parents=True)
    (tmp_path / "mine" / "templates" / "a.j2").write_text("x")

    def say(text: str) -> Iterator[str]:
        (tmp_path / "mine" / "target.toml").write_text(text)
        found = Diagnostics()
        known = targets_by_name(found, [tmp_path])
        yield from (x.replace(str(tmp_path), "") for x in told(found))
        mine = known.get("mine")
        yield repr(mine).replace(str(tmp_path), "").replace(str(tmp_path.as_posix()), "") if mine is not None else "none"

    values = (
        '"x"',
        "7",
        "[]",
        "[1]",
        "true",
        '""',
        '"("',
        '"../up"',
        '"a:b"',
        '"a.j2"',
        "{}",
        '"mine/{router}"',
        '"\\u0001"',
        "-1",
    )
    golden("targets/refused/manifests.txt", answers(MANIFEST, say, values, r"= (.+)"))
    found = Diagnostics()
    assert [t.name for t in chosen_targets(targets_by_name(found), ["eos", "dns", "eos"], found)] == ["eos", "dns"]
    assert (
        chosen_targets(targets_by_name(found), ["eoss", "zzzz"], found) == []
        and list(chosen_targets(targets_by_name(found), [], found)) != []
    )
    assert [(d.code, d.message, d.help) for d in found] == [
        ("E0501", "there is no target `eoss`", "did you mean `eos`?"),
        ("E0501", "there is no target `zzzz`", f"known: {', '.join(TARGETS)}"),
    ]


def test_values_of_options(golden: Golden) -> None:
    given = {"n": {"from": 1, "to": 5}, "word": ["a", "b"], "free": {"form": "[a-c]+", "says": "letters"}}
    defaults = {"n": 3, "word": "a", "free": "abc"}
    out = []
    for wrong in (
        5, {"x": {"from": 1}}, {"n": {}}, {"n": {"from": 5}}, {"n": {"to": 2}}, {"n": ["a"]}, {"word": ["b"]},
        {"word": {"from": 1}}, {"free": {"form": "("}}, {"free": {"form": "x", "says": "y"}}, {"free": {"form": "[a-c]+"}},
        {"n": {"from": 1, "more": 2}}, given,
    ):  # fmt: skip
        try:
            made_of = choices.read_option_values(wrong, defaults)
            out.append(f"{wrong}: {made_of}")
            for name, values in made_of.items():
                right = (0, 1, 3, 5, 6) if values.takes.startswith("a whole") else ("", "3", "a", "ab", "d", "abd")
                out += [f"  {name} takes {values.takes}, {v!r}: {values.fits(v)}" for v in right]
        except choices.OptionUnfit as why:
            out.append(f"{wrong}: refused: {why}")
    golden("targets/refused/options.txt", "\n".join(out) + "\n")


MODELS = ROUTED[: ROUTED.index("fabric routed")]
FEW = "fabric f {\n  host node: NODE\n  switch leaf: EOS\n  connect node.nic[0..1] to leaf each\n}\n"
GOOD = made(dgx_h100())[0]
VALUES = ("", "x", "-1", "0", "1", "99999999999", "0x03", "true", "0000:1b:00.0", "64.0 GT/s PCIe", "9.5")


def xml(say: Callable[[str], Iterable[str]], text: str) -> str:
    return answers(text, say, VALUES, r'[a-z_]+="([^"]*)"')


def short(text: str) -> str:
    """The first processor of a machine, with its first three switches."""
    head, *parts = re.split(r"(?m)^(?=    <pci )", text[: text.index('<cpu numaid="1"')])
    return head + "".join(parts[:3]) + "  </cpu>\n</system>\n"


@pytest.mark.parametrize(("name", "text"), [("topology", short(GOOD)), ("graph", GRAPH)])
def test_files_for_nccl(name: str, text: str, golden: Golden) -> None:
    golden(f"targets/refused/nccl_{name}.txt", xml(lambda t: told(lint_nccl_file(SourceFile("topo.xml", t))), text))


def test_files_beside_a_machine(golden: Golden) -> None:
    """A topology and a list of adapters beside the dump of a machine that differs in one value or line."""
    text = short(GOOD)
    conf = "NCCL_IB_HCA==mlx5_0:1,mlx5_3:1\nNCCL_SOCKET_IFNAME=^lo\n"
    one, two = SourceFile("topo.xml", text), SourceFile("nccl.conf", conf)

    def say(dump: str) -> Iterator[str]:
        machine = SourceFile("dump.xml", dump)
        yield from told(against.compare_with_dump(one, machine).findings)
        yield from (f"conf {x}" for x in told(against.compare_with_dump(two, machine).findings))

    golden("targets/refused/nccl_against.txt", xml(say, text))
    lists = (
        "",
        "mlx5_0",
        "=mlx5_0",
        "^mlx5_0",
        "^=mlx5_0",
        "mlx5_9",
        "=mlx5",
        "mlx5",
        "mlx5_0:1,mlx5_9:2",
        ",,",
        "=",
        "mlx5_1:0",
    )
    machine = SourceFile("dump.xml", text)
    made = {x: against.compare_with_dump(SourceFile("c.conf", f"NCCL_IB_HCA={x}"), machine).findings for x in lists}
    out = [f"{x}: {' | '.join(told(found))}" for x, found in made.items()]
    golden("targets/refused/nccl_adapters.txt", "\n".join(out) + "\n")


def test_models_without_a_fact(golden: Golden, tmp_path: Path) -> None:
    """The model of a host with each of its facts left out, or with another value."""
    facts = list(re.finditer(r"; (\w+) ([^;{}]+?)(?=[;}])", MODELS))
    facts += re.finditer(r"\{ (\w+) ([^;{}]+?)(?=[;}])", MODELS)
    out = []
    for m in facts:
        for new in ("", f"; {m[1]} 0"):
            text = (
                ROUTED[: m.start()]
                + m[0][: 1 if m[0][0] == "{" else 0]
                + new.replace(";", "", m[0][0] == "{")
                + MODELS[m.end() :]
                + FEW
            )
            path = tmp_path / "d.fab"
            path.write_text(text)
            result = compiler.compile_without_checks(str(path))
            found = Diagnostics()
            wrong = [d for d in result.findings if d.severity.word == "error"]
            if not wrong and result.designs and result.designs[0].fabric is not None:
                files = build_files(result.designs[0].fabric, ["nccl", "astra_sim"], found, BuildOptions())
                out.append(f"{m[1]} {new}: {', '.join(files)}")
            else:
                out.append(f"{m[1]} {new}: refused {wrong[0].code if wrong else ''}")
            out += [x for x in told(found) if "skipped" not in x]
    golden("targets/refused/models.txt", "\n".join(out).replace(str(tmp_path), "") + "\n")


ASSETS = """\
# of the store
device,port,node_guid,port_guid,mac,serial
su0-leaf0,,0x0002c90300000001,,00:02:c9:00:00:01,S1
su[0].leaf[1],aggregation,0002c90300000002,,,
su0-node0,nic0,0002c90300000003,0002c90300000004,,
su0-node0,nic[1],0002c90300000005,0002c90300000006,,
su0-node1,mlx5_0,0002c90300000007,0002c90300000008,,
su0-node2,4P2,,0002c90300000009,,
ufm,p1,,000000000000000a,00-02-c9-00-00-0b,
"""


def test_tables_of_assets(golden: Golden) -> None:
    fabric = pod()

    def say(text: str) -> Iterator[str]:
        found = Diagnostics()
        known = read_assets(fabric, SourceFile("assets.csv", text), found, frozenset({"elsewhere"}))
        yield from told(found)
        yield from (f"node {d} {p} {guid}" for (d, p), guid in known.node.items())
        yield from (f"port {d} {p} {guid}" for (d, p), guid in known.port.items())
        yield from (f"mac {d} {mac}" for d, mac in known.mac.items())

    values = ("", "x", "elsewhere", "su0-leaf0", "nic0", "0002c90300000001", "0", "0002c90300000004", "00:02:c9:00:00:01", '"')
    golden("targets/refused/assets.txt", answers(ASSETS, say, values, r"(?m)(?:^|,)([^,\n]*)"))
