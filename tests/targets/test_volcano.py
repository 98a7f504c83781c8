"""The target volcano: Volcano's own definition takes the HyperNodes, and they are one tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.targets.build import design
from tests.targets.crds import documents, jsonschema
from tests.targets.inventories import DESIGN, PLANES, made


def tree(data: bytes) -> dict[str, tuple[int, set[str]]]:
    """HyperNode -> its tier and its nodes; each node in one of tier 1, each HyperNode in at most one of a higher tier."""
    found, parents = {}, {}
    for h in documents(data, "volcano_hypernode"):
        name, tier, nodes = h["metadata"]["name"], h["spec"]["tier"], set()
        for member in h["spec"]["members"]:
            (how,) = member["selector"]
            of = member["selector"][how]["name"]
            assert how == "exactMatch" and re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", of)  # the admission policy
            assert (of, member["type"]) not in parents
            parents[of, member["type"]] = name
            assert (tier == 1) == (member["type"] == "Node")
            assert member["type"] == "Node" or found[of][0] < tier
            nodes |= {of} if member["type"] == "Node" else found[of][1]
        found[name] = tier, nodes
    tops = [name for name in found if (name, "HyperNode") not in parents]
    assert sum(len(found[t][1]) for t in tops) == len({n for n, kind in parents if kind == "Node"})
    return found


def test_groups_of_a_leaf_spine(tmp_path: Path) -> None:
    units = {f"su{u}-leaf0": (1, {f"su{u}-node{n}" for n in range(4)}) for u in range(2)}
    top = {"spine0": (2, units["su0-leaf0"][1] | units["su1-leaf0"][1])}
    data = made(DESIGN, tmp_path, "volcano")["volcano/hypernodes.yaml"]
    assert tree(data) == units | top
    assert {tier for tier, _ in tree(made(PLANES, tmp_path, "volcano")["volcano/hypernodes.yaml"]).values()} == {1, 2}
    for wrong in (
        data.replace(b"exactMatch", b"exact"),
        data.replace(b"tier: 1", b"tier: -1"),
        data.replace(b"tier: 1", b"level: 1"),
    ):
        with pytest.raises(jsonschema.ValidationError):
            documents(wrong, "volcano_hypernode")


def test_a_scale_up_domain_is_nearer_than_leaf_switches(tmp_path: Path) -> None:
    """Two racks of 18 trays below leaves of 32: a leaf parts the second rack, so there is no tier of leaves."""
    racks = {f"rack{k}-nvswitch0-0": (1, {f"rack{k}-tray{t}" for t in range(18)}) for k in range(2)}
    found = tree(made(design("racks"), tmp_path, "volcano")["volcano/hypernodes.yaml"])
    assert found == racks | {"spine0": (2, set.union(*(nodes for _, nodes in racks.values())))}
    whole = design("racks").replace("(18*k + t)//32", "k")  # a leaf a rack: nothing more than the domain
    assert tree(made(whole, tmp_path, "volcano")["volcano/hypernodes.yaml"]) == found
