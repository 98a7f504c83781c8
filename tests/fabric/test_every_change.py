"""What every small change of a design makes of it, as goldens: its fabric, also beside the lock of the unchanged design.

Each number becomes one more and one less, each statement is left out, each name of devices is another. A line of a golden is a
change, what it makes, and a hash of the findings, the results and all that is known of the fabric.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request, Session
from tdsl.emit.build import build_files
from tdsl.fabric import layers, subnets
from tdsl.fabric.as_networkx import as_networkx, node_link
from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.graph import Fabric
from tdsl.fabric.pins import lock_text
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tests.conftest import Golden
from tests.harness import share, written
from tests.test_docs import Block, marked
from tests.verify.test_every_figure import told

HERE = Path(__file__).parent / "changed"
"""Designs with much that the reference names, in few devices."""
LIBRARY = Session()
"""Files of the library, read once."""
SHARES = 8
"""Of the designs of the reference."""
SOME = 5
"""How many changes of each, about."""
NAMES, PARTS = sorted(p.stem for p in HERE.glob("*.fab")), 4
NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\d._]*[\d_])(?=[^\w.]|\.\.|U\b|m\b|x\b|Gbps\b|$)")
NAMED = re.compile(r"^\s*(?:host|switch|chip|panel|ocs|group|pod|plane|rack|site|hall|row) ([a-z]\w*)", re.MULTILINE)


def changes(text: str) -> Iterator[tuple[str, str]]:
    """Every change, in a word, and the changed text."""
    body = text.index("fabric ") if "fabric " in text else 0
    for m in NUMBER.finditer(text):
        if "#" in text[text.rfind("\n", 0, m.start()) + 1 : m.start()]:
            continue
        at = text.count("\n", 0, m.start()) + 1
        for n in (int(m[1]) - 1, int(m[1]) + 1):
            if n >= 0:
                yield f"{at}: {m[1]} is {n}", f"{text[: m.start()]}{n}{text[m.end() :]}"
    lines = text.splitlines(keepends=True)
    for i, line in enumerate(lines):
        if line.strip() not in ("", "}") and not line.rstrip().endswith("{") and not line.lstrip().startswith("#"):
            yield f"{i + 1}: left out", "".join(lines[:i] + lines[i + 1 :])
    for name in sorted(set(NAMED.findall(text[body:]))):
        yield f"{name} is {name}z", text[:body] + re.sub(rf"(?<![\w\"]){name}(?=[\[.,: {{]|$)", f"{name}z", text[body:])


def known(fabric: Fabric) -> Iterator[str]:
    """All that is known of a fabric."""
    yield build_files(fabric, ["json"], Diagnostics())["fabric.json"].decode()
    yield node_link(as_networkx(fabric))
    cables = CableIndex(fabric)
    yield f"{cables.ids} {cables.links_by_id()}"
    network = layers.scaleout_network(fabric)
    subnet = subnets.subnet_of_links(network)
    yield str(subnet.tolist())
    dealt = network.addressing.dealt if network.addressing is not None else {}
    yield str([(key, d.pool.tolist(), d.rank.tolist()) for key, d in dealt.items()])
    yield from (repr(subnets.subnet_shape(network, subnet == n)) for n in sorted(set(subnet.tolist())))
    domains = layers.domains_of(fabric)
    yield str(
        [x.tolist() for x in (domains.of_device, domains.rate, domains.accelerator_bps, layers.scaleup_only_devices(fabric))]
    )


def made(path: Path, text: str, lock: str | None = None, judged: bool = False) -> tuple[str, Fabric | None]:
    """What a text makes, in a line: codes, or numbers of devices and links, and a hash of findings and of all that is known of
    the fabric."""
    written(path, text)
    parsed = LIBRARY.parsed
    for name in [n for n in parsed if n.startswith(str(path.parent))]:
        del parsed[name]
    asked = Request(stands=SourceFile("f.fab.lock", lock) if lock else None)
    *_, found = compiler.compile_in_stages(str(path), asked, LIBRARY, judged)
    shown, words = list(told(found)), sorted({d.code for d in found.findings})
    refused = any(d.severity is Severity.ERROR for d in found.findings)
    fabrics = [d.fabric for d in found.designs if d.fabric is not None and d.fabric.complete and not refused]
    for fabric in fabrics:
        words.append(f"{fabric.device_count} devices, {fabric.link_count} links")
        shown += known(fabric)
    mark = hashlib.sha256("\n".join(shown).replace(f"{path.parent}/", "").encode()).hexdigest()[:10]
    return f"{' '.join(words)} {mark}", fabrics[0] if fabrics else None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("part", range(PARTS))
def test_designs(name: str, part: int, golden: Golden, tmp_path: Path) -> None:
    path, text = tmp_path / "f.fab", (HERE / f"{name}.fab").read_text(encoding="utf-8")
    whole, fabric = made(path, text)
    assert fabric is not None
    lock = lock_text([fabric], "f.fab")
    out = [f"unchanged: {whole}\n"]
    for what, changed in share(list(changes(text)), part, PARTS):
        alone, fabric = made(path, changed, judged=True)
        out.append(f"{what}: {alone}" + (f"; locked: {made(path, changed, lock)[0]}\n" if fabric is not None else "\n"))
    golden(f"changes/{name}-{part}.txt", "".join(out))


@pytest.mark.parametrize("name", NAMES)
def test_what_fails(name: str, golden: Golden) -> None:
    """Every device, set of devices, link, port and cable as an element of ``check --fail``, and some that are not there."""
    design = compiler.compile_without_checks(str(HERE / f"{name}.fab")).designs[0]
    f = design.fabric
    assert f is not None and design.failing is not None
    sets = {f.set_of(d).path for d in range(f.device_count)}
    elements = [
        *sorted(sets), *(f"{s}[*]" for s in sorted(sets)), *map(f.device_path, range(f.device_count)),
        *map(f.device_name, range(f.device_count)),
        *(f"link {f.device_path(a)} to {f.device_name(b)}" for a, b in np.stack((f.device_a, f.device_b), axis=1).tolist()),
        *map(f.port_path, f.link_a.tolist()), *sorted(CableIndex(f).links_by_id()),
        "link", "link a", f"link {f.device_path(0)} {f.device_path(0)}", "nothing", "nothing:1", f"{f.device_name(0)}x",
    ]  # fmt: skip
    out = []
    for element in dict.fromkeys(elements):
        failed, absent = design.failing.fail([element])
        said = absent.get(element) or f"{np.flatnonzero(failed.devices).tolist()} {np.flatnonzero(failed.links).tolist()}"
        out.append(f"{element}: {said}\n")
    golden(f"changes/{name}-fails.txt", "".join(out))


def laid_out(block: Block, folder: Path) -> Path:
    """Where to write a block: beside the files that blocks of its page before it are."""
    folder.mkdir()
    for other in marked("fab", "file"):
        if other.path == block.path and other.line < block.line:
            (path := folder / other.info[2]).parent.mkdir(parents=True, exist_ok=True)
            path.write_text(other.text, encoding="utf-8")
    return folder / "f.fab"


@pytest.mark.parametrize("part", range(SHARES))
def test_designs_of_the_reference(part: int, golden: Golden, tmp_path: Path) -> None:
    """Unchanged, and with some of the changes."""
    out = []
    for number, block in share(list(enumerate(marked("fab", "check"))), part, SHARES):
        path = laid_out(block, tmp_path / str(number))
        first = next((line for line in block.text.splitlines() if line.startswith(("fabric ", "cluster "))), "")
        out.append(f"{block.path.name}, {first.rstrip(' {')}: {made(path, block.text)[0]}\n")
        every = list(changes(block.text))
        some = [x for x in every if int(hashlib.sha256(x[1].encode()).hexdigest(), 16) % len(every) < SOME]
        out += [f"  {what}: {made(path, changed)[0]}\n" for what, changed in some]
    golden(f"changes/reference-{part}.txt", "".join(out))
