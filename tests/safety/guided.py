"""Random inputs guided by coverage: ``python -m tests.safety.guided KIND SECONDS`` (atheris, the extra ``fuzz``).

Inputs that reach new branches of tdsl are kept in ``out/fuzz/corpus-KIND`` and changed further, half of them as
``tests.safety.fuzz`` changes texts. The first that raises, or takes longer than the limit, ends the run and is written to
``out/fuzz``. Kinds are those of ``tests.safety.fuzz``.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def mutator(engine: Any, change: Callable[[bytes, random.Random], bytes]) -> Callable[[bytes, int, int], bytes]:
    """What changes an input: the repository's way, or libFuzzer's."""

    def changed(data: bytes, most: int, seed: int) -> bytes:
        chance = random.Random(seed)
        return change(data, chance)[:most] if chance.random() < 0.5 else bytes(engine.Mutate(data, most))

    return changed


def main() -> int:
    """Run one kind for as long as asked."""
    try:
        import atheris
    except ImportError:
        print("atheris is not installed: pip install '.[fuzz]'", file=sys.stderr)
        return 2
    with atheris.instrument_imports(include=["tdsl"], enable_loader_override=False):
        from tests.safety import fuzz
    kind, seconds = sys.argv[1], int(sys.argv[2])
    if kind not in fuzz.KINDS:
        print(f"no kind {kind}: one of {', '.join(fuzz.KINDS)}", file=sys.stderr)
        return 2
    read, texts, _ = fuzz.KINDS[kind]
    corpus = Path("out/fuzz") / f"corpus-{kind}"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(texts()):
        (corpus / f"own-{number}").write_bytes(text)
    folder = Path(tempfile.mkdtemp(prefix="tdsl-fuzz-"))

    def one(data: bytes) -> None:
        with fuzz.limited():
            read(data, folder)

    options = [
        str(corpus),
        f"-max_total_time={seconds}",
        f"-artifact_prefix=out/fuzz/{kind}-",
        "-max_len=20000",
        "-rss_limit_mb=0",
    ]
    atheris.Setup([sys.argv[0], *options, "-rss_limit_mb=0", *sys.argv[3:]], one, custom_mutator=mutator(atheris, fuzz.mutated))
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
