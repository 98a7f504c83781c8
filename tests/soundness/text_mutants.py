"""Mutants of designs: what the compiler must answer with findings, whatever is written.

A mutant is a text of the corpus with a few changes: a number made extreme, a token dropped, doubled, swapped or exchanged for one
of another design, a line moved, a statement or a character put in. The numbers decide which: a seed and a number give one text.
"""

from __future__ import annotations

import os
import re
import signal
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType

from tdsl.compile import compiler
from tdsl.compile.compiler import Request, Session, UsageError
from tdsl.report.paint import Paint
from tdsl.report.terminal import finding_blocks
from tdsl.system import resources
from tests.harness import MODELS

ROOT = Path(__file__).parents[2]
TOKEN = re.compile(r"\"[^\"\n]*\"|[A-Za-z_]\w*|\d+(?:\.\d+)?|\.\.|//|\*\*|[<>=!]=|[^\w\s]|[ \t]+|\n")
NUMBERS = tuple(
    x
    for line in """
0 | 1 | 2 | 3 | 5 | 7 | 8 | 64 | -1 | 1/3 | 0.5 | 2.0 | 1e3 | 0x10 | 1_000 | 255 | 256 | 4096 | 65536 | 100_000 | 2**31
2**32 - 1 | 2**53 + 1 | 2**62 | 2**63 - 1 | 2**63 | 2**64 | 10**18 | 10**30 | 10**400 | (-1) | (0) | ? | 3:2 | 0..3
3..0 | 1..10**9 | -5..5 | [0, 1] | [] | 2x2 | (1, 2) | true | "two" | 1 of 2 | 2 of 1 | n | i
""".strip().splitlines()
    for x in line.split(" | ")
)
QUANTITIES = tuple(
    x
    for line in """
0bps | 1bps | 3bps | 400Gbps | 100Ebps | 10**30 * 1Gbps | 4611686018427387903bps | 1/3 * 1Gbps | -1Gbps | 50GB/s | 3m
-3m | 0m | 10**20 * 1m | 230ns | 10**30 * 1s | 1kW | 5U | $3 | 2kg | 1dB | 10% | 100% | 1:1 | 0:1 | 1:0
""".strip().splitlines()
    for x in line.split(" | ")
)
WORDS = tuple(
    word
    for line in """
fabric model switch host chip ocs panel cable port connect circuit to via each spread uneven pairs ring mesh torus
random degree seed shift x of if else for in let param def where require report survives any with group plane pod omit
naming extend override use split role manager storage rate class medium length colour hosts chips rails planes pods clos
tier oversubscription minimize layer scaleup address routing roce partition subnet_manager and or not at under through
throughput bisection latency phase place numa pcie on asn cluster topology links switches blast_radius allreduce intact
""".splitlines()
    for word in line.split()
)
STATEMENTS = tuple(
    """
switch zz[3]: BIG
host zh[4]: BOX
chip zc[2x2x2]: GPU
ocs zo[2]: OPTIC
panel zp: PATCH
connect zz[*] each
connect zh[n].nic[i] to zz[i]
connect zz[*] ring x 2
connect zc[*] torus { rate 100Gbps, 200Gbps, 400Gbps }
connect zz[*] spread x 6
connect zz[*] spread uneven
connect zc[i].nv[j] to zo[j % 2]
circuit zc[*] ring
connect zh[*] to zz[*] spread x 2 via zp
connect zz[*] random degree 2 seed 3
omit zz[0]
omit zh[n] where n > 1
naming zz[i] "z{i:03}"
group zg[2] { switch s[2]: BIG; connect s[*] each }
extend zg[0] { switch t: BIG }
override zz[0]: SW
hosts 8 x BOX
clos { leaf BIG; spine BIG }
rails 2
planes 2
pods 2
clos { tier rack of ? hosts { switch BIG }; tier top of ? rack { switch BIG; oversubscription at most 2:1 } }
let zl = [i * i for i in 0..9]
let zq = 400Gbps * 7 / 3
def zf(n: int): int = n // 2
param zn: int = 2 where 1 <= zn <= 4
if 1 < 2 { switch zi: SW } else { switch zi: BIG }
for q in 0..2 { connect zz[(q)] to zz[(q + 1) % 3] }
require survives any 1 of zz with throughput ring >= 50%
require throughput of zh[0..1] to zh[2..3] >= 1bps
require oversubscription <= 1:1 and latency <= 3us
report bisection and edge_redundancy and mean_hops and diameter
require survives any 1 of zh
report blast_radius of zz
report allreduce 1GB and all_to_all_time 1MB
require bisection of intact >= 1/2
report throughput all_to_all and throughput shift 3 and throughput permutation "none.csv"
minimize power
layer scaleup
address 10.0.0.0/24 { }
address loopback 10.0.0.0/28 of zz
routing bgp { asn 64512.. }
partition zk 0x8001 { full zh; limited zz }
subnet_manager zh[0]
roce { }
use topologies.clos (clos)
model switch ZM { port p[1..4]: any; port q[2]: 800Gbps { split 2, 4; cage 2 OSFP } }
switch zk[2]: ZM { split q 2 }
""".strip().splitlines()
)
CHARACTERS = "{}[]()*?.,;:=<>!\"'#$%&|\\/+-~^@\x00\t\x7f\u00e9\u2013\u201c\u2603\U0001f600\ufeff\r"
SKIP = re.compile(r"gpu131k|jupiter|llama3|imbue")
"""Designs whose texts do what smaller ones do, in more time."""


WHOLE = re.compile(r"^\s*(fabric|cluster|topology|model)\b", re.MULTILINE)


def corpus(data: Path | None = None) -> list[str]:
    """Designs of the library, examples of the documentation, faulty designs of the tests, and cases from elsewhere."""
    texts = [
        p.read_text() for p in sorted((resources.packaged_folder("stdlib") / "designs").glob("*.fab")) if not SKIP.search(p.name)
    ]
    texts += [p.read_text() for p in sorted((resources.packaged_folder("stdlib") / "topologies").glob("*.fab"))]
    texts += [p.read_text() for p in sorted((ROOT / "tests" / "errors" / "design").glob("*.fab"))]
    for page in sorted((ROOT / "docs").glob("*.md")):
        texts += re.findall(r"^```fab[^\n]*\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    if data is not None:
        texts += [p.read_text() for p in sorted((data / "cases").glob("*/*.fab")) if p.parent.name != "slow"]
    texts.append("fabric f {\n" + "\n".join(STATEMENTS[:24]) + "\n}\n")
    whole = [t if WHOLE.search(t) else f"fabric f {{\n{t}\n}}\n" for t in texts if len(t) < 4000]
    return list(dict.fromkeys(whole))


def with_models(text: str) -> str:
    """The text and the models of the tests that it names and does not declare."""
    lines = [line for line in MODELS.splitlines() if line]
    named = {line: line.split()[2] for line in lines}
    used = [
        line for line in lines if re.search(rf"\b{named[line]}\b", text) and not re.search(rf"model \w+ {named[line]}\b", text)
    ]
    if any("gpu[4]: GPU" in line for line in used) and not any(named[line] == "GPU" for line in used):
        used += [line for line in lines if named[line] == "GPU" and "model chip GPU" not in text]
    return "\n".join([text, *used]) + "\n"


def data_folder() -> Path | None:
    """Designs from elsewhere, where they are given."""
    given = os.environ.get("TDSL_TEST_DATA", "")
    return Path(given) if given and Path(given).is_dir() else None


# ---------------------------------------------------------------- mutation


def mutant(texts: Sequence[str], seed: int, number: int) -> str:
    """The mutant of this number."""
    random = Random(seed * 1_000_003 + number)
    tokens = TOKEN.findall(random.choice(texts))
    if random.random() < 0.3:  # large designs as small ones, so that what comes after elaboration is met
        tokens = [str(1 + int(t) % 5) if t.isdigit() and int(t) > 8 else t for t in tokens]
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
        tokens = _changed(tokens, texts, random)
    return with_models("".join(tokens))


KINDS = (*("number",) * 5, *("name",) * 3, *("statement",) * 3, "word", "drop", "swap", "double", "character", "lines", "move")


def _changed(tokens: list[str], texts: Sequence[str], random: Random) -> list[str]:
    """One change."""
    if not tokens:
        return list(STATEMENTS[0])
    at = random.randrange(len(tokens))
    out = list(tokens)
    kind = random.choice(KINDS)
    numbers = [i for i, t in enumerate(tokens) if t[0].isdigit()]
    names = [i for i, t in enumerate(tokens) if t[0].isalpha() and t not in WORDS]
    if kind == "number" and numbers:
        i = random.choice(numbers)
        unit = i + 1 < len(tokens) and tokens[i + 1][0].isalpha()
        if unit and random.random() < 0.7:
            out[i : i + 2] = [random.choice(QUANTITIES)]
        else:
            out[i] = random.choice(NUMBERS)
    elif kind == "name" and names:
        out[random.choice(names)] = tokens[random.choice(names)]
    elif kind == "word" and names:
        out[random.choice(names)] = random.choice(WORDS)
    elif kind == "drop":
        del out[at : at + random.choice((1, 1, 2, 4, 9))]
    elif kind == "swap":
        other = random.randrange(len(tokens))
        out[at], out[other] = out[other], out[at]
    elif kind == "double":
        out[at:at] = tokens[at : at + random.choice((1, 3, 9))]
    elif kind == "character":
        out.insert(at, random.choice(CHARACTERS))
    elif kind == "statement":
        out.insert(_inside(tokens, at), random.choice(STATEMENTS) + "\n")
    elif kind == "lines":
        lines = random.choice(texts).splitlines(keepends=True)
        start = random.randrange(len(lines)) if lines else 0
        out.insert(_line(tokens, at), "".join(lines[start : start + random.choice((1, 1, 2, 5))]))
    else:
        begin, end = _line(tokens, at), _line(tokens, min(at + 1, len(tokens)), after=True)
        line = out[begin:end]
        del out[begin:end]
        if random.random() < 0.7:
            where = _line(out, random.randrange(len(out) + 1))
            out[where:where] = line
    return out


def _inside(tokens: list[str], at: int) -> int:
    """Where a line inside a block begins, near a token."""
    opened = [i for i, t in enumerate(tokens) if t == "{" and i < at] or [i for i, t in enumerate(tokens) if t == "{"]
    return max(_line(tokens, at), opened[0] + 1) if opened else _line(tokens, at)


def _line(tokens: list[str], at: int, after: bool = False) -> int:
    """Where the line of a token begins, or the next one."""
    step = range(at, len(tokens)) if after else range(at - 1, -1, -1)
    return next((i + 1 for i in step if tokens[i] == "\n"), len(tokens) if after else 0)


# ---------------------------------------------------------------- judging


class TooSlow(Exception):
    """A mutant took longer than it may."""


@dataclass(slots=True)
class Run:
    """Mutants so far: how many there were, how many elaborated without an error, and those that broke the compiler."""

    verify: bool
    seconds: int = 60
    count: int = 0
    sound: int = 0
    codes: dict[str, int] = field(default_factory=dict)
    broken: list[tuple[str, str]] = field(default_factory=list)  # what happened, text
    session: Session = field(default_factory=Session)

    def judge(self, text: str) -> None:
        """Compile a text; anything but findings is a fault of the compiler."""
        path = "/nowhere/mutant.fab"
        self.session.parsed.pop(path, None)
        links = 4000 if self.verify else 20_000
        options = Request(overlay={path: text}, max_devices=2000, max_links=links, solve_seconds=1, lock=False)
        self.count += 1
        try:
            with _limited(self.seconds):
                *_, done = compiler.compile_in_stages(path, options, self.session, self.verify)
                for design in done.designs:
                    finding_blocks(design, Paint(False), 100)
                    rates = design.fabric.link_rate if design.fabric is not None else []
                    assert all(r > 0 for r in rates), "a link without a rate"
        except UsageError:
            return
        except (Exception, RecursionError, MemoryError) as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno} in {last.name}"
            self.broken.append((f"{type(error).__name__}: {str(error)[:120]} at {place}", text))
            return
        for code in {d.code for d in done.findings}:
            self.codes[code] = self.codes.get(code, 0) + 1
            if code >= "E09":
                self.broken.append((code, text))
        self.sound += any(d.fabric is not None and d.fabric.complete for d in done.designs)


@contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of the processor, so that a busy machine changes nothing
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
