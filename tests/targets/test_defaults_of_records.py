"""What records that templates see say where nothing is given for them, as their descriptions have it."""

from __future__ import annotations

from tdsl.drawing.records import Box, Caption, Frame, Stroke
from tdsl.emit.records import HostAdapters, Interface, Model, Router, WiredPort


def test_defaults_of_interfaces_and_routers() -> None:
    """A whole port of a cage of an unknown form, to no switch; times that are left to the system, and no routes."""
    port = Interface("swp1", "to a", (), 400)
    assert (port.split, port.lanes, port.sonic, port.between) == (1, 0, False, False)
    assert (port.routes, port.channel, port.members) == ((), "", ())
    router = Router("a", "switch", 65000, "10.0.0.1", 2, (), (), (), (), (), (), False, False, "")
    assert (router.bfd_ms, router.bfd_multiplier, router.route_count) == (0, 0, 0)
    assert (router.aggregates, router.own, router.channels) == ((), (), ())


def test_defaults_of_models_and_ports() -> None:
    assert Model("S", "S", "switch", "", ()).accelerators == 0
    assert WiredPort(1, "S-1", 2, "leaf", "4x NDR").rate_gbps == 0
    host = HostAdapters("H", "", (), 0, 0, *[False] * 6, "")  # type: ignore[call-arg, arg-type]
    assert (host.domain_hosts, host.domain_accelerators) == (0, 0)


def test_defaults_of_drawings() -> None:
    assert Frame(0, 0, 1, 1, "pod").stack is False
    stroke = Stroke("M0 0", "#fff")
    assert (stroke.opacity, stroke.width) == (0.8, 1.0)
    box = Box("n0", 0, 0, 1, 1, "host", (), "")
    assert (box.glyph, box.glyph_x, box.glyph_y, Caption(0, 0, "").colour) == (None, 0, 0, "")
