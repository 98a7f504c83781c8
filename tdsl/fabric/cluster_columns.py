"""Columns of a cluster's links and cables, put together from those of its fabrics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tdsl.fabric.graph import Fabric, Ints


def link_column_of_members(cluster: Fabric, column: Callable[[Fabric], Ints]) -> Ints:
    """Of every link of a cluster what ``column`` says of it in its own fabric."""
    out = np.full(cluster.link_count, -1, dtype=np.int64)
    for f, links in zip(cluster.members, cluster.member_links, strict=True):
        out[links] = column(f)
    return out


def member_of_links(cluster: Fabric) -> Ints:
    """The number of the fabric that each link of a cluster is of."""
    out = np.zeros(cluster.link_count, dtype=np.int64)
    for k, links in enumerate(cluster.member_links):
        out[links] = k
    return out


def member_of_legs(cluster: Fabric) -> Ints:
    """The number of the fabric that each cable leg of a cluster is of: they stand fabric after fabric."""
    return np.repeat(np.arange(len(cluster.members)), [len(f.cable_a) for f in cluster.members])
