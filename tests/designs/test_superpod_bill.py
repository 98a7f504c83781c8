"""Whole DGX SuperPODs as `tdsl build` lists them for purchase, row by row against NVIDIA's list of parts.

A row of the text beside this file: what is counted, how many are published, where they are counted here and, where the design has
another number, that number and why."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.cli.run import tdsl
from tests.harness import sampled
from tests.tables import table
from tests.targets.build import csv_rows

DESIGNS = sampled(["superpod_cluster_racks", "superpod_cluster_b200_racks"], 2)
WHOLE = "all-networks"
Files = dict[str, bytes]


@pytest.fixture(scope="module", params=DESIGNS)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Files]:
    """A design and the lists of its build, by path."""
    out = tmp_path_factory.mktemp(request.param) / "out"
    done = tdsl("build", request.param, "--out", out, *(x for name in ("bom", "cabling", "netbox") for x in ("--target", name)))
    assert done.exit_code == 0, done.output
    return request.param, {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*.csv")}


def stem(device: str) -> str:
    """The name of a device without its number and its fabric."""
    return re.sub(r"\d+$", "", device).rpartition("-")[2]


def joined(row: dict[str, str]) -> str:
    """The two kinds of devices that a cable joins, in the order of the alphabet."""
    return "-".join(sorted((stem(row["a_device"]), stem(row["b_device"]))))


class Lists:
    """What the files say, counted without tdsl."""

    def __init__(self, files: Files) -> None:
        self.bill = csv_rows(files, f"{WHOLE}/bom/bom.csv")
        self.cables = csv_rows(files, f"{WHOLE}/cabling/cables.csv")
        self.racks = csv_rows(files, f"{WHOLE}/bom/racks.csv")

    def count(self, where: str) -> int:
        """The number at a place such as ``cables inband MFA1A00 ileaf-node``."""
        what, *words = where.split()
        return int(getattr(self, f"count_{what}")(*words))

    def count_bill(self, kind: str, model: str = "") -> int:
        """Pieces of a kind and model."""
        return sum(int(r["quantity"]) for r in self.bill if r["kind"] == kind and model in ("", r["model"]))

    def count_switches(self, fabric: str, *stems: str) -> int:
        """Switches that cables of a fabric end at."""
        ends = {r[f"{s}_device"] for r in self.cables if r["fabric"] == fabric for s in "ab"}
        return sum(stem(d) in stems for d in ends)

    def count_cables(self, fabric: str, part: str, *pairs: str) -> int:
        """Cables of a part, of those between certain devices; a break-out has a row for each of its legs."""
        return len(
            {
                r["cable_id"]
                for r in self.cables
                if (r["fabric"], r["part"]) == (fabric, part) and (not pairs or joined(r) in pairs)
            }
        )

    def count_optics(self, fabric: str, part: str) -> int:
        """Cages of a fabric that hold a part."""
        return len(
            {
                (r[f"{s}_device"], r[f"{s}_cage"] or r[f"{s}_port"])
                for r in self.cables
                if r["fabric"] == fabric
                for s in "ab"
                if r[f"{s}_optic"] == part
            }
        )


def test_the_bill_is_the_published_one(built: tuple[str, Files]) -> None:
    name, files = built
    lists = Lists(files)
    for what, published, where, *other in table(__file__, name):
        found = lists.count(where)
        if other:
            ours, why = other
            assert found == int(ours) != int(published) and why, (what, found)
        else:
            assert found == int(published), (what, found)


def test_nothing_is_bought_twice(built: tuple[str, Files]) -> None:
    """The bill is the sum of what cables.csv has of each network; every part is named, and each device is in one rack."""
    lists = Lists(built[1])
    fabrics = sorted({r["fabric"] for r in lists.cables})
    assert len(fabrics) == 4
    for kind, count in (("cable", lists.count_cables), ("optic", lists.count_optics)):
        models = sorted({r["model"] for r in lists.bill if r["kind"] == kind})
        assert {m: lists.count_bill(kind, m) for m in models} == {m: sum(count(f, m) for f in fabrics) for m in models}
        assert "?" not in models
    labels = Counter((r["cable_id"], r["device"], r["port"]) for r in csv_rows(built[1], f"{WHOLE}/cabling/labels.csv"))
    assert set(labels.values()) == {1} and len(labels) == lists.count_bill("label"), "a label a plug"
    assert len(lists.racks) == lists.count_bill("rack") == len({(r["hall"], r["rack"]) for r in lists.racks})
    devices = Counter(r["name"] for r in csv_rows(built[1], f"{WHOLE}/netbox/6-devices.csv"))
    assert set(devices.values()) == {1}
    assert (
        sum(devices.values())
        == lists.count_bill("host") + lists.count_bill("switch")
        == sum(int(r["devices"]) for r in lists.racks)
    )
