"""Ports of meshes and tori by their definition, and locks whose only line is about the first port of all."""

from __future__ import annotations

from itertools import product
from math import prod
from pathlib import Path

import pytest

from tests.harness import compile_text, fabric_of, links_of


def links(shape: tuple[int, ...], copies: int, ports: int, wrap: bool) -> set[tuple[str, str]]:
    """Port 2d of copy 0 leads to the next member along dimension d, at whose port 2d + 1 the link ends; ports of copy c lie
    c x (ports // copies) above."""
    out = set()
    for at in product(*map(range, shape)):
        for d, size in enumerate(shape):
            to = (*at[:d], (at[d] + 1) % size, *at[d + 1 :])
            if size < 2 or (at[d] + 1 == size and not wrap):
                continue
            for c in range(copies):
                block = c * (ports // copies)
                ends = [(at, block + 2 * d), (to, block + 2 * d + 1)]
                a, b = sorted(ends) if at[d] + 1 == size else ends
                out.add((f"a{list(a[0])}.p[{a[1]}]", f"a{list(b[0])}.p[{b[1]}]"))
    return out


@pytest.mark.parametrize(
    ("shape", "copies", "ports", "wrap"),
    [
        ((3,), 1, 2, True),
        ((4,), 2, 4, True),  # exactly as many as two copies need
        ((4,), 2, 7, True),
        ((3,), 3, 11, True),
        ((3,), 2, 6, False),
        ((3, 4), 1, 4, True),
        ((4, 3), 2, 9, True),
        ((2, 3), 1, 4, False),
        ((3, 1, 4), 1, 6, True),  # ports of a dimension of one member stay free
        ((3, 3, 3), 2, 12, True),
    ],
)
def test_directions_have_their_own_ports(shape: tuple[int, ...], copies: int, ports: int, wrap: bool, tmp_path: Path) -> None:
    size, word = "x".join(map(str, shape)), "torus" if wrap else "mesh"
    text = f"fabric f {{ switch a[{size}]: P; connect a[*] {word} x {copies} }}\nmodel switch P {{ port p[{ports}]: 400Gbps }}\n"
    found = links_of(fabric_of(text, tmp_path))
    assert {frozenset(x) for x in found} == {frozenset(x) for x in links(shape, copies, ports, wrap)}
    assert len(found) == copies * sum(prod(shape) // n * (n - 1 + wrap) for n in shape if n > 1)


@pytest.mark.parametrize(("shape", "copies", "ports"), [((3,), 1, 2), ((3,), 2, 5), ((3, 3), 1, 5), ((3, 3), 2, 9)])
def test_one_port_too_few_for_directions(shape: tuple[int, ...], copies: int, ports: int, tmp_path: Path) -> None:
    """A port that is taken before, or too small a block: the links take the lowest free ports, in the order of their far ends."""
    size, first = "x".join(map(str, shape)), ", ".join("0" for _ in shape)
    text = (
        f"fabric f {{\n switch a[{size}]: P\n switch b: P\n connect b.p[0] to a[{first}].p[0]\n"
        f" connect a[*] torus x {copies}\n}}\nmodel switch P {{ port p[{ports + 1}]: 400Gbps }}\n"
    )
    found = links_of(fabric_of(text, tmp_path))
    zero = f"a{[0] * len(shape)}"
    ends = [(x, y) if x.startswith(zero) else (y, x) for x, y in found if any(p.startswith(zero) for p in (x, y))]
    far = sorted((int(x.rpartition("[")[2][:-1]), y.rpartition(".")[0]) for x, y in ends if not y.startswith("b"))
    block = (ports + 1 - 1) // copies
    near = sorted({y for _, y in far})
    assert far == [(1 + c * block + k, y) for c in range(copies) for k, y in enumerate(near)]


@pytest.mark.parametrize(
    "body",
    ["switch a: P; connect a mesh", "switch a[1]: P; connect a[*] mesh", "switch a[1x1]: P; connect a[*] torus"],
)
def test_a_mesh_of_one_has_no_links(body: str, tmp_path: Path) -> None:
    result = compile_text(f"fabric f {{ {body} }}\nmodel switch P {{ port p[4]: 400Gbps }}\n", tmp_path, verify=False)
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.link_count == 0
    assert not [d.message for d in result.findings if d.severity.word == "error"]


@pytest.mark.parametrize(("near", "far"), [(0, 5), (3, 0), (0, 0), (2, 7)])
def test_a_lock_keeps_the_first_port_of_all(near: int, far: int, tmp_path: Path) -> None:
    """The host is declared first, so its first port is the first of the fabric; the lock says other ports than the text's own."""
    text = "fabric f { host a: H; switch b: P; connect a to b }\n"
    models = "model host H { port p[8]: 400Gbps }\nmodel switch P { port p[8]: 400Gbps }\n"
    (tmp_path / "design.fab.lock").write_text(f"fabric f\nfigure links 1\na.p[{near}]  b.p[{far}]\n")
    assert links_of(fabric_of(text + models, tmp_path)) == {(f"a.p[{near}]", f"b.p[{far}]")}
