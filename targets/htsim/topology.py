"""The topology file of htsim: a few numbers for each tier of a fat tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tdsl.emit.quote import FileLeftOut, single_line_text
from tdsl.emit.records import FatTree
from tdsl.emit.view import FabricView


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The file; left out where the fabric is not one that htsim builds of such numbers."""
    tree = fabric.fat_tree
    if isinstance(tree, str):
        raise FileLeftOut(f"htsim reads fat trees: {tree}")
    return "".join(_lines(fabric.title, tree, _ratios(tree), options)).encode()


def _ratios(tree: FatTree) -> list[int]:
    """Oversubscription of the tiers that have uplinks, as htsim's ``set_custom_params`` wants it
    (sim/datacenter/fat_tree_topology.cpp): of the lowest tier links down over links up, of the next one the
    same by rate. Raises FileLeftOut for what is no whole number there."""
    first, second = tree.tiers[:2]
    if any(tier.gbps % 1 for tier in tree.tiers):
        raise FileLeftOut("htsim knows rates of whole Gb/s")
    if first.gbps != second.gbps or first.down % first.up:
        raise FileLeftOut(
            "htsim builds leaves whose links up have the rate of those down, and divide them in number: these have "
            f"{first.down} of {first.gbps:g} Gb/s down and {first.up} of {second.gbps:g} Gb/s up"
        )
    out = [first.down // first.up]
    if len(tree.tiers) == 3:
        down, up = int(second.down * second.gbps), int(second.up * tree.tiers[2].gbps)
        if down % up:
            raise FileLeftOut(f"htsim knows whole ratios: spines have {down} Gb/s down and {up} Gb/s up")
        out.append(down // up)
    return out


def _lines(title: str, tree: FatTree, ratios: list[int], options: Mapping[str, object]) -> Iterator[str]:
    link, switch = int(str(options["link_latency_ns"])), int(str(options["switch_latency_ns"]))
    yield f"# {single_line_text(title)}\n"
    yield f"Nodes {len(tree.nodes)}\nTiers {len(tree.tiers)}\n"
    yield f"Podsize {tree.pod_size}\n"
    for n, tier in enumerate(tree.tiers):
        yield f"\nTier {n}\nDownlink_speed_Gbps {int(tier.gbps)}\nRadix_Down {tier.down}\n"
        if n < len(tree.tiers) - 1:
            yield f"Radix_Up {tier.up}\n"
        if n < len(ratios) and ratios[n] > 1:
            yield f"Oversubscribed {ratios[n]}\n"
        if tier.bundle > 1:
            yield f"Bundle {tier.bundle}\n"
        yield f"Downlink_Latency_ns {link + round(tier.cable_ns)}\n"
        if switch:
            yield f"Switch_Latency_ns {switch}\n"
