"""What is said of files of the library that are not as a lock has them: which, how many, and where."""

from __future__ import annotations

from tdsl.fabric.pins import UsedFile
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.physical.standing import library_change_finding

LOCK = SourceFile("d.fab.lock", "".join(f"uses f{n}\n" for n in range(20)))
LATER = "compare the designs with `tdsl diff`; if what differs is meant, write the lock anew with `tdsl lock`"


def used(*names: str) -> list[UsedFile]:
    """Files of the lock, each on a line of its own; each has its own name as its digest."""
    return [UsedFile(name, name, SourceSpan(LOCK, 8 * n, 8 * n + 7)) for n, name in enumerate(names)]


def test_the_files_that_differ() -> None:
    """The design itself is no file of the library, and the first one that differs is marked."""
    now = {"d.fab": "x", "a.fab": "a.fab", "b.fab": "x", "e.fab": "x", "new.fab": "x"}
    for locked in (True, False):
        found = library_change_finding("d.fab", used("a.fab", "d.fab", "b.fab", "c.fab", "e.fab"), {}, now, [], locked)
        assert found is not None and (found.code, found.severity.word, found.labels) == ("E0494", "note", ())
        assert found.message == "3 of 4 library files that this design uses have changed since the lock was written"
        assert found.span == SourceSpan(LOCK, 16, 23) and found.help == LATER
        assert list(found.notes) == [
            "b.fab has changed", "c.fab is not used any more", "e.fab has changed", "new.fab is used now, and was not",
            "no figure differs",
        ]  # fmt: skip


def test_a_design_that_changed_by_itself() -> None:
    now = {"d.fab": "x", "a.fab": "a.fab"}
    assert library_change_finding("d.fab", used("d.fab", "a.fab"), {}, now, [], True) is None
    assert library_change_finding("d.fab", used("d.fab"), {}, {"d.fab": "d.fab", "new.fab": "x"}, [], True) is None


def test_many_notes_are_cut() -> None:
    """Eight, and one more where that is the last."""
    for count, last in ((7, "no figure differs"), (8, "no figure differs"), (9, "and 2 more")):
        found = library_change_finding("d.fab", used(*(f"{n}.fab" for n in range(count))), {}, {}, [], False)
        assert found is not None and found.notes[-1] == last and len(found.notes) == min(count + 1, 9)
        assert found.span == SourceSpan(LOCK, 0, 7) and found.message.startswith(f"{count} of {count} library files")
