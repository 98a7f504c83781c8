"""The target gnmic: the keys that its types have, and the switches of the design."""

from __future__ import annotations

from pathlib import Path

from tests.targets.build import design
from tests.targets.inventories import DESIGN, made, yaml

TARGET = {"name", "address", "subscriptions", "encoding", "event-tags"}
"""Keys of TargetConfig in gnmic's pkg/api/types/target.go that are used here."""
SUBSCRIPTION = {"paths", "mode", "stream-mode", "sample-interval"}
"""The same of SubscriptionConfig in pkg/api/types/subscription.go."""


def test_every_switch_is_asked(tmp_path: Path) -> None:
    told = yaml.safe_load(made(DESIGN, tmp_path, "gnmic", sample_interval="30s")["gnmic/gnmic.yaml"])
    assert set(told) == {"subscriptions", "targets"}
    assert all(set(s) <= SUBSCRIPTION and s["sample-interval"] == "30s" for s in told["subscriptions"].values())
    assert all(set(t) <= TARGET and set(t["subscriptions"]) <= set(told["subscriptions"]) for t in told["targets"].values())
    names = [f"su{u}-leaf{k}" for u in range(2) for k in range(2)] + ["spine0", "spine1"]
    assert [t["name"] for t in told["targets"].values()] == names
    assert [t["address"] for t in told["targets"].values()] == [f"192.168.0.{10 + n}:9339" for n in range(6)]
    assert told["targets"]["192.168.0.10"]["event-tags"] == {"device": "su0-leaf0", "model": "SW", "tier": "1"}


def test_ports_are_those_of_the_system(tmp_path: Path) -> None:
    """A switch without a management address is asked by its name."""
    told = yaml.safe_load(made(design("every_file_routed"), tmp_path, "gnmic")["gnmic/gnmic.yaml"])["targets"]
    found = {t["name"]: (t["address"].rpartition(":")[2], t.get("encoding")) for t in told.values()}
    assert found["routed-0-eos"] == ("6030", None) and found["pod0-white"] == ("8080", "json_ietf")
    assert found["spine"] == ("9339", None) and len(found) == 10 and told["pod0-linux"]["address"] == "pod0-linux:9339"
