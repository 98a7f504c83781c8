"""The limits of reading and diagnosing as they stand, without the work that would reach them."""

import pytest

from tdsl.findings.source import SourceFile
from tdsl.observe import diagnose, record
from tdsl.observe.difference import Cabling, Mistake
from tdsl.observe.record import CapturedEnd, CapturedLink, CaptureLine, Malformed, Observed

AT = CaptureLine(SourceFile("a.csv", "x\n"), 1)


class Nodes(dict[str, record.CapturedNode]):
    """As many nodes as are said."""

    size = 0

    def __len__(self) -> int:
        return self.size


class Wires(list[CapturedLink]):
    """As many links as are said."""

    size = 0

    def __len__(self) -> int:
        return self.size


def test_devices_and_links_of_captures() -> None:
    """2,097,152 devices and 8,388,608 links are read, and not one more."""
    nodes, wires = Nodes(), Wires()
    made = Observed(nodes=nodes, wires=wires)
    wire = CapturedLink(CapturedEnd("a", ()), CapturedEnd("b", ()), AT)
    nodes.size, wires.size = 2_097_151, 8_388_607
    made.node("a", "", "", (), 0, AT)
    made.wire(wire)
    nodes.size, wires.size = 2_097_152, 8_388_608
    with pytest.raises(Malformed, match=r"^there are more than 2,097,152 devices$"):
        made.node("b", "", "", (), 0, AT)
    with pytest.raises(Malformed, match=r"^there are more than 8,388,608 links$"):
        made.wire(wire)


def test_rounds_and_choices_of_a_diagnosis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mistakes that touch one another are found one a round, in 64 rounds; then 120 other choices are tried."""
    state = Cabling(lambda p: -1, lambda p: -1)
    choices = [Mistake("wrong port", ((p, p + 1),)) for p in range(0, 400, 2)]
    with monkeypatch.context() as m:
        m.setattr(diagnose, "_make_best_mistakes", lambda *_: (choices[:1], []))
        found, _, _ = diagnose._greedy_explanation(state, [], None, lambda p: False, frozenset(), ())  # type: ignore[arg-type]
        assert len(found) == 64
    tried: list[tuple[Mistake, ...]] = []

    def greedy(*given: object) -> tuple[list[Mistake], int, list[Mistake]]:
        tried.append(given[-1])  # type: ignore[arg-type]
        return [], 9, choices

    monkeypatch.setattr(diagnose, "_greedy_explanation", greedy)
    assert diagnose._best_explanation(state, [], None, lambda p: False) == []  # type: ignore[arg-type]
    assert tried == [(), *((c,) for c in choices[:120])]
