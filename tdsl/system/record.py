"""What is asked of the disk, and its answers, as a record that can later be compared with the disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from pathlib import Path
from typing import TypeVar

from tdsl.system.lazy_dataclass import dataclass

T = TypeVar("T")
Question = tuple[str, str, int, tuple[str, ...]]
"""What was asked of the disk: a kind of question, the path, and the limit and folders that
``read_regular_file`` takes."""


@dataclass(slots=True)
class Record:
    """What was asked of the disk, and its answers: digests of what was read. What lies below the folders
    ``apart`` is left out. ``lasting`` is False where one question had two answers."""

    apart: tuple[str, ...] = ()
    answers: dict[Question, str] = field(default_factory=dict)
    lasting: bool = True

    def note(self, question: Question, answer: str) -> None:
        """Keep an answer."""
        place = absolute_path(Path(question[1]))
        if not any(place == f or place.startswith(f + os.sep) for f in self.apart):
            self.lasting = self.lasting and self.answers.setdefault(question, answer) == answer


_record: ContextVar[Record | None] = ContextVar("record", default=None)


@contextmanager
def record_disk_questions(record: Record) -> Iterator[None]:
    """Record what is asked of the disk inside; a record that is being made outside has it, too."""
    outer = _record.get()
    token = _record.set(record)
    try:
        yield
    finally:
        _record.reset(token)
        if outer is not None:
            outer.lasting = outer.lasting and record.lasting
            for question, answer in record.answers.items():
                outer.note(question, answer)


def ask_and_record(
    kind: str, path: Path, ask: Callable[[], T], limit: int = 0, within: Sequence[Path] = ()
) -> T:
    """The answer of the disk to a question, which is recorded where that is wanted."""
    record = _record.get()
    if record is None:
        return ask()
    question = kind, os.fspath(path), limit, tuple(map(os.fspath, within))
    try:
        found = ask()
    except OSError as fault:
        record.note(question, f"{type(fault).__name__} {fault.errno} {fault.strerror}")
        raise
    from hashlib import sha256

    data = found if isinstance(found, bytes) else repr(found).encode("utf-8", "backslashreplace")
    record.note(question, sha256(data).hexdigest())
    return found


def absolute_path(path: Path) -> str:
    """An absolute path without ``.`` and ``..``, links not followed."""
    return os.path.abspath(path)
