"""The topology file of htsim: a few numbers for each tier of a fat tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tdsl.emit.quote import single_line_text
from tdsl.emit.records import SwitchTree
from tdsl.emit.view import FabricView


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The file; nothing where the fabric is no such tree, for which the target is skipped."""
    tree = fabric.switch_tree
    return b"" if isinstance(tree, str) else "".join(_lines(fabric.title, tree, options)).encode()


def _lines(title: str, tree: SwitchTree, options: Mapping[str, object]) -> Iterator[str]:
    link, switch = int(str(options["link_latency_ns"])), int(str(options["switch_latency_ns"]))
    yield f"# {single_line_text(title)}\n"
    yield f"Nodes {len(tree.nodes)}\nTiers {len(tree.tiers)}\n"
    yield f"Podsize {tree.pod_size}\n"
    for n, tier in enumerate(tree.tiers):
        yield f"\nTier {n}\nDownlink_speed_Gbps {int(tier.gbps)}\nRadix_Down {tier.down}\n"
        if n < len(tree.tiers) - 1:
            yield f"Radix_Up {tier.up}\n"
        if n < len(tree.ratios) and tree.ratios[n] > 1:
            yield f"Oversubscribed {tree.ratios[n]}\n"
        if tier.bundle > 1:
            yield f"Bundle {tier.bundle}\n"
        yield f"Downlink_Latency_ns {link + round(tier.cable_ns)}\n"
        if switch:
            yield f"Switch_Latency_ns {switch}\n"
