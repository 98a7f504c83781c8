"""Hosts and chips that forward: BCube and DCell as their papers have them. How it is said, and what is refused, is in designs of
``checks/judged``: ``forwards_…``.

That every figure agrees with brute force is tested by random designs of the kinds ``servers`` and ``relays`` (tests/soundness).
"""

from __future__ import annotations

import hashlib
import json
from itertools import combinations
from pathlib import Path

import networkx as nx
import pytest

from tdsl.certificates.checker import check
from tdsl.certificates.write import json_of_fabric_target, verified_certificates
from tests.harness import compile_text

MODELS = """
model host SERVER { port nic[4]: 10Gbps }
model chip DIE { port nic[4]: 10Gbps }
model switch MINI { port p[1..8]: 10Gbps }
"""


def answers(body: str, folder: Path) -> dict[str, tuple[str, object]]:
    result = compile_text(f"fabric f {{\n{body}\n}}\n{MODELS}", folder, models=False)
    assert not [d for d in result.findings if d.code in ("E0118", "E0120")], result.findings
    return {r.check: (r.status, r.lower) for r in result.designs[0].results}


@pytest.mark.parametrize("ends", ["hosts {} x SERVER", "chips {} x DIE"])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 1), (2, 2)])
def test_bcube(ends: str, n: int, k: int, tmp_path: Path) -> None:
    """Guo et al., theorems 1 and 3: the diameter is k + 1 switches, and k + 1 parallel paths join any two servers."""
    found = answers(f"{ends.format(n ** (k + 1))}\nbcube {{ n {n}; k {k}; switch MINI }}", tmp_path)
    assert found["reachability"][0] == "proved"
    assert found["diameter"] == ("proved", 2 * (k + 1))
    assert found["node_redundancy"] == ("proved", k + 1) == found["edge_redundancy"]


def test_dcell(tmp_path: Path) -> None:
    """Guo et al.: the diameter of DCell(4, 1) is at most 2^(k+1) - 1 hops of servers; here against all shortest paths."""
    text = f"fabric f {{\nhosts 20 x SERVER\ndcell {{ n 4; k 1; switch MINI }}\n}}\n{MODELS}"
    result = compile_text(text, tmp_path, models=False)
    f = result.designs[0].fabric
    assert f is not None
    g = nx.Graph(f.graph())
    longest = max(nx.shortest_path_length(g, a, b) for a, b in combinations(range(20), 2))
    found = {r.check: (r.status, r.lower) for r in result.designs[0].results}
    assert found["diameter"] == ("proved", longest) and longest <= 7
    assert nx.node_connectivity(g, 0, 19) == 2 == found["node_redundancy"][1]


def test_certificates_read_who_forwards(tmp_path: Path) -> None:
    """The checker verifies with the column, and rejects the same certificates where hosts do not forward."""
    result = compile_text(
        f"fabric f {{\nhosts 9 x SERVER\nbcube {{ n 3; k 1; switch MINI }}\n}}\n{MODELS}", tmp_path, models=False
    )
    (made,) = result.designs
    assert made.fabric is not None
    stated = json.loads(json_of_fabric_target(made.fabric))
    heads = stated["devices"]["columns"]
    assert heads[-1] == "forwards" and [row[-1] for row in stated["devices"]["rows"]].count(True) == 9
    written = verified_certificates(made.fabric, made.claims, made.results).texts
    assert {"bisection.json", "diameter.json", "reachability.json"} <= written.keys()
    for text in written.values():
        assert check(text, json_of_fabric_target(made.fabric))[0] == 0
    for row in stated["devices"]["rows"]:
        row[-1] = False
    other = json.dumps(stated)
    design = hashlib.sha256(json_of_fabric_target(made.fabric).encode()).hexdigest()
    for text in (written["diameter.json"], written["reachability.json"]):
        status, said = check(text.replace(design, hashlib.sha256(other.encode()).hexdigest()), other)
        assert status == 1 and "design" not in said, said
