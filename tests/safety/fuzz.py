"""Random inputs for everything that reads: none may raise. ``python -m tests.safety.fuzz N [SEED]`` runs N of them.

An input is a text of the repository with stretches taken out, doubled, exchanged and bytes put in. What raises, and what takes
longer than a limit, is written to ``out/fuzz`` with its kind and number, and the run goes on. ``tests.safety.guided`` is the same
guided by coverage.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tdsl import config
from tdsl.certificates import checker
from tdsl.commands._beside import answer_of_call
from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.emit import site
from tdsl.emit.build import build_files
from tdsl.emit.target import targets_by_name
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.nccl.lint import lint_nccl_file
from tdsl.observe import importing, reading
from tdsl.observe.record import Observed
from tdsl.output.intact import NoManifest, examine_output
from tdsl.syntax.parser import decode_source_file, parse_source_file
from tdsl.syntax.printer import format_source
from tdsl.system import resources
from tests.cli.run import SMALL
from tests.tables import sections

BITS = [
    b"\0", b"\xff", b"\r\n", b"\n", b'"', b"{", b"}", b"[", b"]", b"(", b")", b"..", b"../", b"/", b"\\", b"=", b"-1", b"1e999",
    b"9" * 60, "\u202e".encode(), "\ud7ff".encode(), b"[" * 200, b"{" * 200, b"null", b"true",
    b"9" * 5000, b"1e99999999", b"$(x)", b"{{ 9**9 }}", b"#", b";",
]  # fmt: skip
CPU_S, WALL_S = 20, 600
"""Seconds of the processor, and of the clock, that one input may take: more is a find."""

LIMITS = Request(max_devices=1 << 12, max_links=1 << 14, solve_seconds=1)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Some stretches taken out, doubled or exchanged, and bits put in."""
    for _ in range(chance.randint(1, 6)):
        a, b = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        b = min(b, a + chance.choice((1, 2, 8, 64, 512)))
        way = chance.randrange(4)
        if way == 0:
            data = data[:a] + data[b:]
        elif way == 1:
            data = data[:b] + data[a:b] * chance.choice((1, 2, 5)) + data[b:]
        elif way == 2:
            data = data[:a] + chance.choice(BITS) + data[a:]
        else:
            at = chance.randrange(len(data) + 1)
            data = data[:a] + data[at : at + b - a] + data[b:]
    return data[:20_000]


Reader = Callable[[bytes, Path], None]


def _syntax(data: bytes, folder: Path) -> None:
    own = Diagnostics()
    file = decode_source_file(data, "a.fab", own)
    if file is not None:
        parse_source_file(file, own)
        if not own.has_errors:
            assert format_source(SourceFile("a.fab", format_source(file))) == format_source(file)


def _whole(data: bytes, folder: Path) -> None:
    (folder / "a.fab").write_bytes(data)
    with contextlib.suppress(compiler.UsageError):
        for design in compiler.compile_and_verify(str(folder / "a.fab"), LIMITS).designs:
            if design.fabric is not None and design.fabric.complete and design.fabric.link_count < 500:
                for path, content in build_files(design.fabric, ["cabling", "json"], Diagnostics()).items():
                    assert not path.startswith("/") and ".." not in path.split("/") and isinstance(content, bytes)


def _lock(data: bytes, folder: Path) -> None:
    (folder / "a.fab").write_text(SMALL)
    (folder / "a.fab.lock").write_bytes(data)
    compiler.compile_without_checks(str(folder / "a.fab"), LIMITS)


def _table(data: bytes, folder: Path) -> None:
    (folder / "a.fab").write_text(SMALL.replace("  require", '  require throughput "pairs.csv" > 0\n  require', 1))
    (folder / "pairs.csv").write_bytes(data)
    compiler.compile_and_verify(str(folder / "a.fab"), Request(select=("throughput",), solve_seconds=1))


def _settings(data: bytes, folder: Path) -> None:
    (folder / "tdsl.toml").write_bytes(data)
    with contextlib.suppress(config.ConfigError):
        config.load_config(folder)


def _target(data: bytes, folder: Path) -> None:
    (folder / "more" / "evil" / "templates").mkdir(parents=True, exist_ok=True)
    (folder / "more" / "evil" / "target.toml").write_bytes(data)
    for target in targets_by_name(Diagnostics(), [folder / "more"]).values():
        for spec in target.files:
            assert not spec.path.startswith("/") and ".." not in spec.path.split("/")


def _manifest(data: bytes, folder: Path) -> None:
    (folder / "manifest.json").write_bytes(data)
    with contextlib.suppress(NoManifest):
        examine_output(folder)


def _lint(data: bytes, folder: Path) -> None:
    lint_nccl_file(SourceFile("a.xml", data.decode("utf-8", "replace")))


def _tables(data: bytes, folder: Path) -> None:
    """Places and prices of a call."""
    (folder / "a.fab").write_text(SMALL)
    text = data.decode("utf-8", "replace")
    for options in (Request(places=SourceFile("p.csv", text)), Request(prices=SourceFile("p.toml", text))):
        compiler.compile_and_verify(str(folder / "a.fab"), dataclasses.replace(options, select=("rate_match",)))


def _site(data: bytes, folder: Path) -> None:
    site.read_site_file(SourceFile("site.yaml", data.decode("utf-8", "replace")), Diagnostics())


def _capture(data: bytes, folder: Path) -> None:
    (folder / "leaf0.json").write_bytes(data)
    seen = Observed()
    with contextlib.suppress(reading.CaptureUnreadable, importing.NoDesign):
        reading.read_capture_files([("", folder / "leaf0.json")], seen)
        if not seen.findings.has_errors:
            importing.design_from_captures(seen, "asbuilt", 400_000_000_000, True, None)


def _call(data: bytes, folder: Path) -> None:
    """A text that an assistant gives: an answer, or a refusal that is no fault of tdsl's own."""
    for args in (("check", "-", "--select", "rate_match", "--output-format", "json"), ("expand", "-")):
        assert "internal error" not in answer_of_call(args, data.decode("utf-8", "surrogateescape")).refused


def _certificate(data: bytes, folder: Path) -> None:
    """The stand-alone checker, as it is called: it accepts, or says why not."""
    for name in ("a.json", "b.json"):
        (folder / name).write_bytes(data)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        assert checker.check_files_of_arguments([str(folder / "a.json"), str(folder / "b.json")]) != 0
    assert said.getvalue().count("\n") == 1


def _texts() -> list[bytes]:
    root = resources.packaged_folder("stdlib")
    return [SMALL.encode(), *(p.read_bytes() for p in sorted((root / "designs").glob("*.fab"))[:8] if p.stat().st_size < 6000)]


def _small() -> list[bytes]:
    return [SMALL.encode(), SMALL.replace("leaf[*] to spine[*] spread x 8", "leaf[i] to spine[i % 2] x 2").encode()]


SAMPLES = {name: text.encode() for name, text in sections(__file__).items()}
CAPTURES = [text for name, text in SAMPLES.items() if name.startswith("capture")]
MANIFEST = json.dumps(
    {"schema": 1, "tdsl": "0", "design": {"name": "a", "sha256": "0"}, "files": {"b": {"sha256": "0" * 64, "size": 3}}}
)
KINDS: dict[str, tuple[Reader, Callable[[], list[bytes]], int]] = {
    "syntax": (_syntax, _texts, 20),
    "whole": (_whole, _small, 3),
    "lock": (_lock, lambda: [b"fabric small\nnode[0].nic[0]  leaf[0].p[1]\nnode[1].nic[0]  leaf[0].p[2]\n"], 2),
    "table": (_table, lambda: [b"from,to,amount\n0,1,2\n1,2,0.5\n", b"0,1,1,1\n1,0,1,1\n1,1,0,1\n1,1,1,0\n"], 1),
    "settings": (_settings, lambda: [b'path = ["lib"]\n[check]\nfail-on = "warning"\n[severity]\nsize_found = "note"\n'], 20),
    "target": (_target, lambda: [SAMPLES["target"]], 5),
    "manifest": (_manifest, lambda: [MANIFEST.encode()], 20),
    "lint": (_lint, lambda: [b'<system version="1"><cpu numaid="0"><pci busid="0" class="1"/></cpu></system>'], 20),
    "certificate": (_certificate, lambda: [b'{"schema": 1, "check": "bisection", "design": "0", "lower": {"kind": "flow"}}'], 10),
    "tables": (_tables, lambda: [SAMPLES["places"], SAMPLES["prices"]], 2),
    "site": (_site, lambda: [SAMPLES["site"]], 5),
    "capture": (_capture, lambda: CAPTURES, 10),
    "call": (_call, _small, 2),
}
"""What reads, the texts that are changed, and how many of this kind come for one of the slowest."""


class TooLong(BaseException):
    """An input took longer than the limit. No handler of the code under test catches it."""


@contextlib.contextmanager
def limited(cpu: float = CPU_S, wall: float = WALL_S) -> Iterator[None]:
    """Raise TooLong where the block takes more seconds of the processor, or of the clock. In the main thread only."""

    def late(*_: object) -> None:
        raise TooLong(f"more than {cpu:g} s of the processor, or {wall:g} s")

    timers = ((signal.SIGPROF, signal.ITIMER_PROF, cpu), (signal.SIGALRM, signal.ITIMER_REAL, wall))
    before = [signal.signal(number, late) for number, _, _ in timers]
    try:
        for _, timer, seconds in timers:
            signal.setitimer(timer, seconds)
        yield
    finally:
        for (number, timer, _), old in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, old)


def inputs(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Kinds and inputs, the same for the same seed; one of each kind comes first."""
    chance = random.Random(seed)
    names = [name for name, (_, _, weight) in KINDS.items() for _ in range(weight)]
    texts = {name: make() for name, (_, make, _) in KINDS.items()}
    for name in (*KINDS, *chance.choices(names, k=max(0, count - len(KINDS))))[:count]:
        yield name, mutated(chance.choice(texts[name]), chance)


def run(
    count: int, seed: int, seconds: float = 1e9, cpu: float = CPU_S, wall: float = WALL_S
) -> tuple[Counter[str], list[tuple[str, bytes, str]]]:
    """How many inputs of each kind were read, and those that raised or took longer than their limit, with what."""
    done: Counter[str] = Counter()
    raised = []
    late = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        for kind, data in inputs(count, seed):
            if time.monotonic() > late:
                break
            try:
                with limited(cpu, wall):
                    KINDS[kind][0](data, Path(name))
            except (Exception, TooLong) as fault:
                raised.append((kind, data, f"{type(fault).__name__}: {fault}"))
            done[kind] += 1
    return done, raised


def main() -> int:
    """Run as many as are asked for."""
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    done, raised = run(count, seed)
    print(f"seed {seed}: " + ", ".join(f"{name} {n:,}" for name, n in sorted(done.items())))
    for number, (kind, data, words) in enumerate(raised):
        path = Path("out/fuzz") / f"{kind}-{seed}-{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"{path}: {words}")
    return bool(raised)


if __name__ == "__main__":
    sys.exit(main())
