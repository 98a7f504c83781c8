"""The device table of a fabric while it is made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.vector import Array
from tdsl.semantics.model import DeviceModel, DeviceSet
from tdsl.system.lazy_dataclass import dataclass


@dataclass(slots=True)
class DeviceRows:
    """The device table while it is made: a row a device, in the order of the device sets."""

    sets: list[DeviceSet]
    """All device sets, those inside others last."""
    device_set: Array
    """The set of each device."""
    models: list[DeviceModel]
    """The models that devices have."""
    device_model: Array
    """The model of each device."""
    built: NDArray[np.bool_]
    """Whether each device is built; others are planned only."""
