"""What is filled once and then given away: nothing sets its attributes after it was sealed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError


class Sealed:
    """After ``sealed`` was set, setting an attribute raises FrozenInstanceError. Cached properties still
    work."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(self, "sealed", False):
            raise FrozenInstanceError(f"cannot assign to {name!r}: what tdsl gives is frozen")
        object.__setattr__(self, name, value)
