"""Messages of an editor, read so that no header can end the server or take its memory."""

from __future__ import annotations

from typing import BinaryIO

LARGEST_MESSAGE = 64 << 20
"""Bytes of one message. A larger one is read past and not kept."""
LONGEST_HEADER = 1 << 12
"""Bytes of one line of a header."""
_STEP = 1 << 20


class Bounded:
    """A stream of the Language Server Protocol: ``readline`` gives lines of headers, ``read`` the bytes of a message.

    A ``Content-Length`` above LARGEST_MESSAGE is answered with an empty line, after that many bytes were read past; one that is
    no number, and a line that is too long, likewise. Other lines and bytes are given as they are, and b"" at the end.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """The next line of a header."""
        line = self._stream.readline(LONGEST_HEADER)
        if len(line) == LONGEST_HEADER and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = self._stream.readline(LONGEST_HEADER)
            return b"\r\n" if line else b""
        name, _, value = line.partition(b":")
        if name.strip().lower() != b"content-length":
            return line
        digits = value.strip()
        if not digits.isdigit() or len(digits) > 30:
            return b"\r\n"
        length = int(digits)
        if length <= LARGEST_MESSAGE:
            return b"Content-Length: %d\r\n" % length
        while (line := self._stream.readline(LONGEST_HEADER)).strip():
            pass
        while length > 0 and line:
            line = self._stream.read(min(length, _STEP))
            length -= len(line)
        return b"\r\n" if line else b""

    def read(self, count: int) -> bytes:
        """The bytes of a message."""
        return self._stream.read(count)

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
