"""Grow leaf-spine fabrics at random, and count how many change less than a quarter of their cables.

    benchmarks/growth.py [CASES] [SEED]

The comparison is with Zhao et al., "Minimal Rewiring: Efficient Live Expansion for Clos Data Center Networks"
(NSDI 2019), which says that 99% of 2,250 synthetic fabrics change less than 25% of their connections. Each
case has 2 to 24 leaves, uplinks and spines such that the links spread over all pairs, evenly or with one more
for some, and grows by leaves, by spines, or by both. The old cabling is the lock of the new design, as `tdsl
plan` has it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))

MODELS = """\
model host H { port n: 100Gbps }
model switch S { port p[128]: 100Gbps }
"""


def text(leaves: int, spines: int, uplinks: int) -> str:
    """A fabric of these sizes."""
    return (
        f"{MODELS}fabric f {{\n  host h[{leaves}]: H\n  switch leaf[{leaves}]: S\n  switch "
        f"spine[{spines}]: S\n"
        f"  connect h[i].n to leaf[i]\n  connect leaf[*] to spine[*] spread uneven x {uplinks}\n}}\n"
    )


def changed(old: str, new: str, folder: Path) -> tuple[int, int]:
    """How many of the old links between leaves and spines are not there any more, and how many there were."""
    from tdsl.compile import compiler
    from tdsl.compile.compiler import Request
    from tdsl.fabric.pins import lock_text
    from tdsl.findings.source import SourceFile

    made = []
    stands = None
    for name, body in (("old.fab", old), ("new.fab", new)):
        (folder / name).write_text(body)
        (design,) = compiler.compile_without_checks(str(folder / name), Request(stands=stands)).designs
        assert design.fabric is not None and design.fabric.complete, [d.message for d in design.findings]
        f = design.fabric
        stands = SourceFile("new.fab.lock", lock_text([f], name))
        ends = zip(f.link_a.tolist(), f.link_b.tolist(), strict=True)
        made.append({(f.port_path(a), f.port_path(b)) for a, b in ends if not f.is_end[f.port_device[a]]})
    return len(made[0] - made[1]), len(made[0])


def main() -> None:
    """Run the cases and print the shares."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 2250
    chance = Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    begin, shares, least = time.perf_counter(), [], []
    with TemporaryDirectory() as name:
        while len(shares) < cases:
            leaves, spines, uplinks = (
                chance.randint(2, 20),
                chance.randint(2, 12),
                chance.choice((8, 12, 16, 24, 32)),
            )
            more = chance.choice(((1, 0), (0, 1), (1, 1)))
            wide = leaves + more[0] * chance.randint(1, 4), spines + more[1] * chance.randint(1, 2)
            if any(n * uplinks > 127 * s or uplinks < s for n, s in ((leaves, spines), wide)):
                continue
            moved, total = changed(text(leaves, spines, uplinks), text(*wide, uplinks), Path(name))
            shares.append(moved / total)
            least.append(max(0, leaves * (uplinks - spines * -(-uplinks // wide[1]))) / total)
    free = [s for s, forced in zip(shares, least, strict=True) if forced < 0.25]
    few, able = (sum(s < 0.25 for s in found) for found in (shares, free))
    shares.sort()
    print(
        f"{cases:,} fabrics grown: {few:,} ({few / cases:.2%}) change less than 25% of the cables between "
        "leaves and spines; "
        f"median {shares[cases // 2]:.2%}, most {shares[-1]:.2%}. The sizes alone force 25% or more for "
        f"{cases - len(free):,}; "
        f"of the others {able:,} ({able / max(len(free), 1):.2%}) change less; "
        f"{time.perf_counter() - begin:.0f} s"
    )


if __name__ == "__main__":
    main()
