"""The bill of random designs, counted again from fabric.json: devices, cables, plugs and cages with a transceiver."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics
from tests.harness import fabric_of, sampled

MODELS = """
model chip DIE {{ port up: 400Gbps }}
model host CARD {{ port nic[2]: 400Gbps {{ type NDR, NDR200; cage 1 OSFP flat }}; height 1U; {sold_card} }}
model host TRAY {{ port nic[4]: 400Gbps {{ type NDR; cage 2 OSFP flat }}; height 1U; chip die[2]: DIE; {sold_tray} }}
model switch ASIC {{ port p[1..8]: 400Gbps {{ type NDR; cage 2 OSFP finned }}; height 1U; {sold_asic} }}
"""
SOLD = {"sold_card": "CARRIER", "sold_tray": "CABINET", "sold_asic": "BOX"}
Articles = dict[str, tuple[str, int, list[tuple[str, int]], bool]]


def random_design(random: Random) -> tuple[str, Articles]:
    """A placed design, and by model what it is sold in: article, pieces, other models and their pieces, whether a rack."""
    articles: Articles = {}
    facts = dict.fromkeys(SOLD, "")
    for fact, article in SOLD.items():
        if random.random() < 0.6:
            name = fact.removeprefix("sold_").upper()
            pieces, by_rack = random.randint(1, 5), random.random() < 0.4 and name != "ASIC"
            holds = [("ASIC", random.randint(1, 3))] if name == "TRAY" and random.random() < 0.6 else []
            articles[name] = article, pieces, holds, by_rack
            facts[fact] = f"sold {'rack ' * by_rack}{article} {pieces}" + "".join(f", {m} {k}" for m, k in holds)
    cards, trays, asics = random.randint(1, 9), random.randint(1, 9), random.randint(0, 5)
    copper = random.random() < 0.4
    part = "MCP4Y10" if copper else random.choice(["MFP7E10", "MFP7E30"])
    splits = random.random() < 0.5
    low = 41 if splits else 57
    text = [
        "fabric f {",
        "  hall h { row A { rack 1..20 { height 48U } }; pitch rack 0.6m; tray above 2.6m; slack 0.5m }",
        f"  host card[{cards} of {cards + random.randint(0, 2)}]: CARD",
        f"  host tray[{trays}]: TRAY",
        "  switch leaf[2]: QM9700",
        f"  switch edge: QM9700 {{ split p[1..{2 * cards}] 2 }}" if splits else "  switch edge: QM9700",
        "  connect tray[t].nic[r] to leaf[r//2] { cable MFP7E10 }",
        *(
            f"  connect leaf[{i}].p[61..64] to edge.p[{low + 4 * i}..{low + 4 * i + 3}] spread {{ cable {part} }}"
            for i in range(2)
        ),
        f"  place card[i] in h.A[i//{random.randint(1, 4)} + 1] at 1U + 1U*i",
        f"  place tray[i] in h.A[i//{random.randint(1, 4)} + 10] at 1U + 1U*i",
        "  place leaf[i] in h.A[20] at 30U + 1U*i",
        "  place edge in h.A[20] at 33U",
    ]
    if splits:  # a port of 400 Gb/s leads to both ports of a card, or to one of them alone
        last = random.randint(0, cards - 1)
        text.append("  connect edge.p[c + 1, k] to card[c].nic[k] where c < " + str(last) + " { rate 200Gbps; cable MFP7E20 }")
        text.append(f"  connect edge.p[{last + 1}, 0] to card[{last}].nic[0] {{ rate 200Gbps; cable MFP7E20 }}")
    else:
        text.append("  connect card[c].nic[(0)] to edge.p[1..40] { cable MFP7E10 }")
    if asics:
        text.append(f"  switch asic[{asics}]: ASIC")
        text.append("  place asic[i] in h.A[19] at 1U + 1U*i")
    return "\n".join([*text, "}"]) + MODELS.format(**facts), articles


def count_again(data: dict[str, Any]) -> tuple[Counter[str], int, int, int]:
    """Devices by model that are inside no other, cables, plugs, and cages that a cable ends in."""
    tables = {
        name: [dict(zip(data[name]["columns"], row, strict=True)) for row in data[name]["rows"]]
        for name in ("devices", "cables", "links")
    }
    names = {m["key"]: m["name"] for m in data["models"]}
    devices = Counter(str(names[d["model"]]) for d in tables["devices"] if d["inside"] is None)
    cables = Counter(str(c["cable_id"]) for c in tables["cables"])
    legs = Counter(str(c["cable_id"]) for c in tables["cables"] if c["leg"] is not None)
    plugs = sum(legs[c] + 1 if legs[c] else 2 for c in cables)
    cages = {(link[f"{s}_device"], link[f"{s}_cage"] or link[f"{s}_port"]) for link in tables["links"] for s in "ab"}
    return devices, len(cables), plugs, len(cages)


@pytest.mark.parametrize("seed", sampled(range(14), 2))
def test_the_bill_is_what_the_fabric_has(seed: int, tmp_path: Path) -> None:
    text, articles = random_design(Random(seed))
    made = build_files(fabric_of(text, tmp_path, models=False), ["bom", "json"], Diagnostics())
    bill, racks = (list(csv.DictReader(io.StringIO(made[f"bom/{name}.csv"].decode()))) for name in ("bom", "racks"))
    devices, cables, plugs, cages = count_again(json.loads(made["fabric.json"]))
    got = Counter[str]()
    for line in bill:
        got[line["model"] if line["kind"] in ("rack", "host", "switch", "chip") else line["kind"]] += int(line["quantity"])
    wanted = Counter(devices)
    for model in sorted(articles, key=lambda m: not articles[m][2]):  # those that hold others first
        article, pieces, holds, by_rack = articles[model]
        if wanted[model]:
            in_racks = sum(model in r["contents"] for r in racks)
            wanted[article] = max(-(-wanted[model] // pieces), in_racks if by_rack else 0)
            wanted[model] = 0
            for other, n in holds:
                wanted[other] = max(0, wanted[other] - n * wanted[article])
    by_rack_models = [m for m, a in articles.items() if a[3]]
    wanted["rack 48U"] = sum(not any(m in r["contents"] for m in by_rack_models) for r in racks)
    wanted += Counter(cable=cables, label=plugs, cord=2 * devices["QM9700"])
    wanted["optic"] = got["optic"]
    assert +got == +wanted, text
    copper = sum(int(r["quantity"]) for r in bill if r["model"] == "MCP4Y10")
    assert got["optic"] + 2 * copper == cages, text  # a plug of copper fills a cage
    assert not [r for r in bill if r["model"] == "?"], text
