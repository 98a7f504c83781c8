"""What failed of a fabric, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.fabric.graph import Bools, Ints


@dataclass(frozen=True, slots=True)
class FailedElements:
    """What failed: elements as they were named, devices, and links (those of the devices too, and those that
    cross a failed panel or optical switch). ``rows`` are the links of each element."""

    names: tuple[str, ...]
    devices: Bools
    links: Bools
    rows: tuple[Ints, ...] = ()
