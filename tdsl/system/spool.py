"""Contents of files that are too large for memory: they wait in one temporary file without a name until they
are written."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO

KEPT = 1 << 20
"""Bytes up to which a content stays in memory."""
BLOCK = 1 << 20


class Spooled:
    """A content in a temporary file: its size is `len`, its hash is known."""

    __slots__ = ("_file", "_offset", "_size", "digest")

    def __init__(self, file: IO[bytes], offset: int, size: int, digest: str) -> None:
        self._file, self._offset, self._size, self.digest = file, offset, size, digest

    def __len__(self) -> int:
        return self._size

    def chunks(self) -> Iterator[bytes]:
        """The content in blocks. Raises OSError."""
        for at in range(0, self._size, BLOCK):
            self._file.seek(self._offset + at)
            yield self._file.read(min(BLOCK, self._size - at))


Content = bytes | Spooled


class Spool:
    """A temporary file for the contents of one build. It has no name: nothing is left of it when the build
    ends, however that is."""

    def __init__(self, near: Path | None = None) -> None:
        """``near``: a folder of the file system on which the file is to be, if one can be written there."""
        self._near = near
        self._file: IO[bytes] | None = None
        self._end = 0

    def keep(self, chunks: Iterable[bytes | bytearray]) -> Content:
        """A content of these pieces: in memory while it is small, else in the file. Raises OSError."""
        held: list[bytes | bytearray] = []
        size, start = 0, self._end
        digest = sha256()
        for chunk in chunks:
            held.append(chunk)
            size += len(chunk)
            if size > KEPT and (self._end > start or sum(map(len, held)) > KEPT):
                digest.update(block := b"".join(held))
                self._write(block)
                held = []
        if self._end == start:
            return b"".join(held)
        digest.update(block := b"".join(held))
        self._write(block)
        return Spooled(self._open(), start, size, digest.hexdigest())

    def _write(self, block: bytes) -> None:
        file = self._open()
        file.seek(self._end)
        file.write(block)
        self._end += len(block)

    def _open(self) -> IO[bytes]:
        if self._file is None:
            try:
                # It is open for as long as its contents are used.
                self._file = tempfile.TemporaryFile(dir=self._near)  # noqa: SIM115
            except OSError:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115
        return self._file


def chunks_of_content(content: Content) -> Iterator[bytes]:
    """A content in blocks."""
    if isinstance(content, bytes):
        yield content
    else:
        yield from content.chunks()


def digest_of_content(content: Content) -> str:
    """The SHA-256 of a content."""
    return sha256(content).hexdigest() if isinstance(content, bytes) else content.digest


def content_in_memory(content: Content) -> bytes:
    """A content in memory."""
    return content if isinstance(content, bytes) else b"".join(content.chunks())
