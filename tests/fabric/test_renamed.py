"""Renamed declarations: what the rule asks for, on links worked out by hand and on random ones against every assignment."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from tdsl.fabric.renamed import DesignDevices, design_devices_of, find_renamed_devices, path_without_indices
from tests.harness import fabric_of


def side(devices: str, links: str) -> DesignDevices:
    """Devices as ``path`` or ``path=what``, links as ``path-path``."""
    return DesignDevices(
        {p: w for p, _, w in (d.partition("=") for d in devices.split())}, [tuple(x.split("-")) for x in links.split()]
    )  # type: ignore[misc]


CASES = {
    "two of four links": ("a x y", "a-x a-x a-y a-y", "n x y", "n-x", {"a": "n"}),
    "one of three links": ("a x y z", "a-x a-y a-z", "n x y z", "n-x", {}),
    "two of three links": ("a x y z", "a-x a-y a-z", "n x y z", "n-x z-n", {"a": "n"}),
    "no links": ("a x", "", "n x", "n-x", {}),
    "its only link": ("a x", "a-x", "n x", "x-n", {"a": "n"}),
    "nothing is gone": ("x", "", "n x", "n-x", {}),
    "nothing has come": ("a x", "a-x", "x", "", {}),
    "another model": ("a=one x", "a-x", "n=two x", "n-x", {}),
    "the same model": ("a=one x", "a-x", "n=one x", "n-x", {"a": "n"}),
    "an unknown model": ("a=one x", "a-x", "n x", "n-x", {"a": "n"}),
    "a model of a device not known before": ("a x", "a-x", "n=two x", "n-x", {"a": "n"}),
    "another number of indices": ("a[0] x", "a[0]-x", "n[0,0] x", "n[0,0]-x", {}),
    "indices in another notation": ("a[0,1] x", "a[0,1]-x", "n[0,1].m x", "n[0,1].m-x", {"a[0,1]": "n[0,1].m"}),
    "more members before": ("a[0] a[1] a[2] x", "a[0]-x a[1]-x a[2]-x", "n[0] n[1] x", "n[0]-x n[1]-x",
                            {"a[0]": "n[0]", "a[1]": "n[1]"}),
    "links inside a declaration": ("a[0] a[1] a[2]", "a[0]-a[1] a[1]-a[2]", "n[0] n[1] n[2]", "n[2]-n[1] n[1]-n[0]",
                                   {"a[0]": "n[0]", "a[1]": "n[1]", "a[2]": "n[2]"}),
    "links between two that are renamed": ("a b x", "a-b b-x", "m n x", "m-n n-x", {"a": "m", "b": "n"}),
    "the second candidate": ("a=t x", "a-x", "l=s m=t n=t x", "n-x", {"a": "n"}),
    "one candidate of two": ("a b x y", "a-x b-y", "n x y", "n-y", {"b": "n"}),
    "one device for two": ("a b x", "a-x b-x", "n x", "n-x", {"a": "n"}),
    "one that rests on another": ("a b x y", "a-b a-b a-x a-y b-a", "m n x y", "m-n", {"a": "m", "b": "n"}),
    "one falls with the other": ("a b x y z", "a-b b-x b-y b-z", "m n x y z", "m-n", {}),
    "three in a circle": ("a b c x y z", "a-x a-x b-y b-y c-z c-z", "l m n x y z", "n-x l-y m-z", {"a": "n", "b": "l", "c": "m"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_a_rename(name: str) -> None:
    """At least half of the links of a declaration lead to the same devices; kind, model and number of indices are the same."""
    old, old_links, new, new_links, expected = CASES[name]
    assert find_renamed_devices(side(old, old_links), side(new, new_links)) == expected


def by_rule(old: DesignDevices, new: DesignDevices, chosen: dict[str, str]) -> dict[str, int]:
    """How many links of each renamed declaration the newer text has."""
    known = {frozenset(x) for x in new.links}

    def called(path: str) -> str:
        now = chosen.get(path_without_indices(path))
        other = path.replace(path_without_indices(path), now) if now else path
        return other if other in new.devices else path

    return {
        d: sum(
            frozenset((called(a), called(b))) in known
            for a, b in old.links
            if d in (path_without_indices(a), path_without_indices(b))
        )
        for d in chosen
    }


@pytest.mark.parametrize("seed", range(60))
def test_the_assignment_with_the_most_links(seed: int) -> None:
    """Two declarations are renamed to two: of both assignments that with more links counts, less what has fewer than half of its
    links."""
    rng = Random(seed)
    count = rng.randint(1, 3)
    rest = [f"x[{k}]" for k in range(rng.randint(1, 3))]

    def made(names: str) -> DesignDevices:
        paths = [f"{n}[{k}]" for n in names for k in range(count)]
        pairs = [(rng.choice(paths), rng.choice(paths + rest)) for _ in range(rng.randint(1, 7))]
        return DesignDevices(dict.fromkeys([*paths, *rest], "switch"), [x for x in pairs if x[0] != x[1]])

    old, new = made("ab"), made("mn")
    scores = []
    for names in permutations("mn"):
        chosen = dict(zip("ab", names, strict=True))
        scores.append((sum(by_rule(old, new, chosen).values()), chosen))
    best = [c for total, c in scores if total == max(x for x, _ in scores)]
    expected = []
    for chosen in best:
        touching = {d: sum(d in (path_without_indices(a), path_without_indices(b)) for a, b in old.links) for d in chosen}
        while bad := [d for d, n in by_rule(old, new, chosen).items() if 2 * n < touching[d] or not touching[d]]:
            for d in bad:
                del chosen[d]
        expected.append({f"{d}[{k}]": f"{n}[{k}]" for d, n in chosen.items() for k in range(count)})
    assert find_renamed_devices(old, new) == expected[0]


def test_a_fabric_as_devices_and_links(tmp_path: Path) -> None:
    f = fabric_of("fabric f { switch a[2]: SW; host h: BOX; connect h.nic[i] to a[i]; connect a[0] to a[1] }", tmp_path)
    found = design_devices_of(f)
    assert found.devices == {"a[0]": "switch SW", "a[1]": "switch SW", "h": "host BOX"}
    assert sorted(found.links) == [("a[0]", "a[1]"), ("h", "a[0]"), ("h", "a[1]")]
