"""What an element, a selector and a requirement are where nothing more is stated."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import FabricElement, ResolvedClaim, Selector
from tdsl.findings.source import Origin, SourceFile, SourceSpan


def test_what_is_not_stated() -> None:
    """No links and no ports, one copy of a failure, spares included, and ends that are judged one by one."""
    element = FabricElement("su[0]", np.arange(3))
    assert element.copies == 1 and element.links.tolist() == [] and element.links.dtype == np.int64
    selector = Selector("su[*]", "group", (element,))
    assert selector.ports == "" and selector.port_rows.tolist() == [] and selector.port_rows.dtype == np.int64
    origin = Origin(SourceSpan(SourceFile("x.fab", "x"), 0, 1))
    claim = ResolvedClaim(
        "diameter", (), None, "", (selector,), (), (), "", "", "<=", 4, False, None, False, None, "diameter <= 4", origin
    )
    assert (claim.of_active, claim.share_of, claim.of_all) == (False, "", False)
