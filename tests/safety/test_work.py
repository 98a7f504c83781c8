"""Designs of a few lines, or of a few thousand bytes, that would take years or all memory: refused, or done in seconds."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.cli.run import SMALL, tdsl, write

pytestmark = pytest.mark.timeout(100)
"""A guard against what never ends, many times above what these take."""

CHAIN = "".join(f"  let a{i} = AS\n".replace("AS", f"[a{i - 1}, a{i - 1}]") for i in range(1, 60))
OTHER = CHAIN.replace("a", "b").replace("let b1 = [b0, b0]", "let b1 = [[0], [1]]")
LONG = {
    "nested lists in a text": "  let a0 = [0]\n" + CHAIN + '  let s = "{a59}"\n',
    "nested lists compared": "  let a0 = [0]\n" + CHAIN + OTHER + "  let s = 1 if a59 == b59 else 2\n",
    "texts in texts": '  let a0 = "x"\n' + "".join(f'  let a{i} = "{{a{i - 1}}}{{a{i - 1}}}"\n' for i in range(1, 60)),
    "a sum of fractions": "  let a = sum([1/(i + 2**2000) for i in 0..9999])\n",
    "sums": "  let a = [sum(0..1048575) for i in 0..100000]\n",
    "primes": "  let a = [len(primes(1048576)) for i in 0..100000]\n",
    "elements": "  let a = [i for i in 0..1000000]\n  let b = [1 if (0-1) in a else 0 for i in 0..100000]\n",
    "lists joined": "  let a = [i for i in 0..1000000]\n  let b = [a + [i] for i in 0..100000]\n",
    "long texts": '  let a = "{[i for i in 0..100000]}"\n  let b = ["{a}{i}" for i in 0..100000]\n',
    "phases": "  param n: int = 1\n" + "".join(f"  phase {i} {{ n {i} }}\n" for i in range(1, 2000)),
    "unknown numbers": "".join(f"  switch spare{i}[?]: QM9700\n" for i in range(1000)),
    "large numbers": '  let a = ["{2**2000}" for i in 0..1000000]\n',
}


DAILY = {"sums", "primes"}
"""Those that use up their work slowly: they are in the daily run."""


@pytest.mark.parametrize("what", [pytest.param(k, marks=pytest.mark.daily) if k in DAILY else k for k in LONG])
def test_expressions_of_a_few_lines_that_take_years(what: str, tmp_path: Path) -> None:
    """What a value holds counts as work."""
    design = write(tmp_path, SMALL.replace("fabric small {", "fabric small {\n" + LONG[what]))
    done = tdsl("check", design, "--output-format", "concise", "--no-cache")
    assert done.exit_code == 1 and "error[E0116]" in done.stdout and len(done.stdout) < 100_000, done.output[:1000]


@pytest.mark.parametrize("text", ["  let a = 2**2000 * 1m / 3\n  let b = \"{a}\"\n", "  let a = 2**2000 * 1m / 3 + 1kW\n",
                                  "  require bisection >= 12.5\n", "  require bisection >= 2**2000/3\n"])  # fmt: skip
def test_numbers_that_no_float_holds(text: str, tmp_path: Path) -> None:
    done = tdsl("check", write(tmp_path, SMALL.replace("  require", text + "  require", 1)), "--no-cache")
    assert done.exit_code in (0, 1) and "E09" not in done.output, done.output[:1000]
    assert "12.5 is 1,250%" in done.output or "12.5" not in text


FEW = "fabric f {\n  switch leaf[2]: QM9700\n  connect leaf[*] each\n}\n"
WIDE = {
    "blanks in a waiver": FEW + "# tdsl: allow(a" + " " * 100_000 + "b) x\n",
    "brackets": "def a(" + "):" * 20_000 + " x\n",
    "comments of C": FEW + "/* " * 30_000 + "*/\n",
    "a long line": "fabric f { " + " ".join(f"switch s{i}: QM9700;" for i in range(1500)) + " }",
    "unknown names": "fabric f {\n" + "".join(f"  let abcdefghijklmnop{i} = abcdefghijklmnoq{i}\n" for i in range(250)) + "}\n",
    "a message": "fabric f {\n  let l = [i for i in 0..400000]\n" + "".join(f"  let x{i} = l + 1\n" for i in range(100)) + "}\n",
}


@pytest.mark.parametrize("what", WIDE)
def test_texts_whose_time_grows_with_their_square(what: str, tmp_path: Path) -> None:
    begin = time.process_time()
    done = tdsl("check", write(tmp_path, WIDE[what]), "--no-cache")
    assert done.exit_code in (0, 1) and "E09" not in done.output[:10_000] and len(done.output) < 4_000_000
    assert time.process_time() - begin < 15


LLDP = '{"lldpNeighbors": {"e1": {"lldpNeighborInfo": [{"systemName": "s", "neighborInterfaceInfo": {"interfaceId": "e"}}]}}}'
SLURM = "SwitchName=a Nodes="


@pytest.mark.parametrize(("option", "text"), [
    ("lldp", "a | FAILED => \n" * 66_000), ("lldp", f"a | SUCCESS => {LLDP}\n" * 4_000),
    ("lldp", f"[{','.join([LLDP] * 4_000)}]"),
    ("lldp", "Interface: e1\n  Chassis:\n" + "a" * 500_000 + "\b" * 500_000), ("lldp", "sw1#show lldp\nx\n" * 66_000),
    ("lldp", "Device ID            Local Intf      Hold-time  Capability  Port ID\n" + "x\n" * 500_000 + "Local Port id:\n"),
    ("scheduler", SLURM + "a," * 500_000), ("scheduler", SLURM + "[" * 1_000_000),
    ("scheduler", (SLURM + "n[0-999999]\n") * 32_000),
    ("scheduler", "- topology: a\n  x: 1" + ":1" * 500_000), ("p2p", "\n".join(["a,b," * 1000] * 250)),
], ids=["refusals", "answers", "envelopes", "erased", "session", "nxos", "commas", "brackets", "hosts", "number",
        "columns"])  # fmt: skip
def test_captures_of_a_million_characters(option: str, text: str, tmp_path: Path) -> None:
    """Read or refused in seconds of the processor, with their lines."""
    capture, began = tmp_path / "capture.txt", time.process_time()
    capture.write_text(text)
    done = tdsl("audit", write(tmp_path), f"--{option}", capture, "--output-format", "concise")
    assert done.exit_code in (1, 2) and "E09" not in done.stdout.replace("E0907", ""), done.output[:1000]
    assert time.process_time() - began < 8


@pytest.mark.parametrize("text", [" \n" * 150_000 + "x", "\n" * 300_000, "Interface:  " + "a" * 300_000 + "\n"])
def test_captures_that_are_long_and_say_nothing(text: str, tmp_path: Path) -> None:
    """What a capture is of is found out in one pass over it."""
    (tmp_path / "capture.txt").write_text(text)
    assert tdsl("import", tmp_path / "capture.txt").exit_code in (1, 2)
    assert tdsl("audit", write(tmp_path), "--lldp", tmp_path / "capture.txt").exit_code in (1, 2)


def test_facts_that_no_float_holds(tmp_path: Path) -> None:
    """Drawings and comparisons give them as floating point numbers."""
    model = "model switch M { port p[1..8]: 400Gbps; power (2**2000 * 1W / 3); price ($1 * 2**2000 / 3) }\n"
    design = write(tmp_path, model + "fabric f {\n  switch a[2]: M\n  connect a[0] to a[1] { length 2**1500 * 1m / 3 }\n}\n")
    for call in (("compare", design, design), ("diff", design, design), ("view", design, "--no-open", "-o", tmp_path / "x.html")):
        done = tdsl(*call)
        assert done.exit_code in (1, 2) and "E0901" not in done.output and "Traceback" not in done.output, done.output
    done = tdsl("check", design)
    assert done.exit_code == 1 and "error[E0116]" in done.stdout


REPEATED = {
    "values": ("fab", "", lambda i: f"let a{i} = {i} + 1\n"),
    "functions": ("fab", "", lambda i: f"def d{i}(n: int): int = n + {i}\n"),
    "models": ("fab", "", lambda i: f"model switch M{i} {{ port p[1..32]: 400Gbps }}\n"),
    "braces": ("fab", "", lambda i: "}"),
    "opened braces": ("fab", "fabric a ", lambda i: "{"),
    "numbers and colons": ("fab", "let a = ", lambda i: "1:"),
    "statements cut off": ("fab", "", lambda i: f"let = {i}\n"),
    "lines of a conflict": ("fab", "", lambda i: "<<<<<<< HEAD\nlet a = 1\n=======\nlet a = 2\n>>>>>>> b\n"),
    "unknown checks": ("fab", "fabric f {\n", lambda i: f"require nothing{i} >= {i}\n"),
    "rows": ("csv", "a_device,a_port,b_device,b_port\n", lambda i: f"h{i // 8},p{i % 8},leaf{i // 64},s{i % 64}\n"),
    "devices": ("csv", "a_device,a_port,b_device,b_port\n", lambda i: f"h{i * 7919 % 10007}x,p1,x{i * 104729 % 99991},s1\n"),
}  # fmt: skip


@pytest.mark.parametrize("what", REPEATED)
def test_long_texts_take_time_that_grows_with_their_length(what: str, here: Path) -> None:
    """At four times the length at most eight times the processor time. Faults alike are listed some times, and counted."""
    kind, head, line = REPEATED[what]
    took = []
    for size in (8_000, 32_000):
        text = head
        for i in range(size):
            if len(text) >= size:
                break
            text += line(i)
        write(here, text, f"long.{kind}")
        words = ("import", "--rate", "400Gbps") if kind == "csv" else ("check", "--no-cache", "--output-format", "json")
        begin = time.process_time()
        done = tdsl(*words, f"long.{kind}")
        took.append(time.process_time() - begin)
        assert done.exit_code in (0, 1), done.output[-1000:]
        assert len(done.output) < 8 * size + 120_000, len(done.output)
    assert took[1] < 8 * took[0] + 0.5, took
    if what == "braces":
        found = json.loads(done.stdout)["designs"][0]["findings"]
        assert len(found) <= 200 and sum(one["count"] for one in found) == size
        said = tdsl("check", "long.fab").stdout
        assert "32,000 errors" in said and f"({size - len(found):,} more of this code are not listed)" in said
