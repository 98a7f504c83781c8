"""What a design requires or reports, with its paths resolved to devices: the input of the verification."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.findings.source import Origin
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.fabric.job_ranks import RankedJob


@dataclass(frozen=True, slots=True)
class FabricElement:
    """What a requirement names or a failure takes: a device, a group with all its devices, or ``links`` (rows
    of the fabric's links) where a link, a port, a cable or a cage fails. ``name`` is its path
    (``su[0].leaf[3]``).

    ``copies`` is how many of the things counted by `any K` take down just these links: both ports of a link
    do. ``beside`` are scale-up links that fail beside the network, as rows of the fabric with both layers.
    """

    name: str
    devices: Ints
    links: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    copies: int = 1
    beside: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Selector:
    """A resolved path of a claim.

    ``text`` is the path as written; ``kind`` the last part's kind (``host``, ``plane`` …); ``ports`` is the
    port class it ends in, "" if none, and ``port_rows`` are those ports. The word ``ports`` (``reachability
    of ports``) is a Selector without elements whose text is ``ports``.
    """

    text: str
    kind: str
    elements: tuple[FabricElement, ...]
    ports: str = ""
    port_rows: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class ResolvedClaim:
    """One claim of a require or report.

    ``value`` is an int, Fraction, Quantity or str; ``scope`` is None for the whole fabric, else the instance
    of the group in whose block the statement stands (one ResolvedClaim for each instance).
    """

    metric: str
    args: tuple[object, ...]
    any_count: int | None
    any_of: str  # what fails of them: "" the devices and groups themselves, or links, ports, cables, cages
    of: tuple[Selector, ...]
    of_to: tuple[Selector, ...]
    at: tuple[Selector, ...]
    under: str
    through: str
    op: str  # "", or one of == != < <= > >=
    value: object
    of_intact: bool
    given: ResolvedClaim | None
    report: bool
    scope: FabricElement | None
    text: str  # as written, blanks made single: "oversubscription <= 1:1"
    origin: Origin
    of_active: bool = False  # spares left out
    share_of: str = ""  # what a percentage is of: ``network`` or ``total``
    of_all: bool = False  # the ends that `of` names, judged as one set
    among: bool = False  # each path of `of` names a set that does it for itself, all at once
    job: RankedJob | None = None  # the job that `of` names in the place of devices
    over: int | None = None  # `over 15T tokens`: how many
