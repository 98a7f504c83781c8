"""Messages of an editor, read so that no header can end the server, take its memory or hide the messages
behind it."""

from __future__ import annotations

import re
from io import BufferedIOBase

LARGEST_MESSAGE = 64 << 20
"""Bytes of one message. A larger one is read past and not kept."""
LONGEST_HEADER = 1 << 12
"""Bytes of one line of a header."""
_STEP = 1 << 16
_HEADER = re.compile(rb"Content-Length:[ \t]*\d{1,30}\r\n", re.I)
"""No JSON holds this: a line end is none of the characters of its texts, and outside of a text these are no
words of it."""
_WIDEST = 64


class BoundedStream:
    """A stream of the Language Server Protocol: ``readline`` gives lines of headers, ``read`` the bytes of a
    message.

    A ``Content-Length`` above LARGEST_MESSAGE is answered with an empty line, after that many bytes were read
    past; one that is no number, and a line that is too long, likewise. Where a length was wrong or missing,
    the next header stands inside of a message or at the end of a line that is none: it is found there, so
    that one wrong header does not lose what follows. Other lines and bytes are given as they are, and b"" at
    the end.
    """

    def __init__(self, stream: BufferedIOBase) -> None:
        self._stream = stream
        self._held = bytearray()  # read, and not yet given

    def readline(self) -> bytes:
        """The next line of a header."""
        line = self._line()
        name, _, value = line.partition(b":")
        if name.strip().lower() != b"content-length":
            found = _HEADER.search(line)
            if found is None:
                return line if len(line) <= LONGEST_HEADER else b"\r\n"
            value = found.group().partition(b":")[2]
        digits = value.strip()
        if not digits.isdigit() or len(digits) > 30:
            return b"\r\n"
        length = int(digits)
        if length <= LARGEST_MESSAGE:
            return b"Content-Length: %d\r\n" % length
        while (line := self._line()).strip():
            pass
        while length > 0 and line:
            line = self._take(min(length, _STEP))
            length -= len(line)
        return b"\r\n" if line else b""

    def read(self, count: int) -> bytes:
        """The bytes of a message: fewer where the header of another stands among them, or the stream ends."""
        seen = 0
        while True:
            found = _HEADER.search(self._held, max(0, seen - _WIDEST), count + _WIDEST)
            if found is not None and found.start() < count:
                count = found.start()
            seen = len(self._held)
            if seen >= count or not self._fill():
                return self._take(count)

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def _line(self) -> bytes:
        """The bytes up to the next end of a line; of a long line its end, longer than LONGEST_HEADER by one
        byte."""
        long, seen = False, 0
        while (end := self._held.find(b"\n", seen)) < 0:
            if len(self._held) > LONGEST_HEADER:
                del self._held[: -LONGEST_HEADER - 1]
                long = True
            seen = len(self._held)
            if not self._fill():
                last = self._take(seen)
                return b"" if long else last
        return self._take(end + 1)

    def _fill(self) -> bool:
        """Read what there is; false at the end of the stream."""
        more = self._stream.read1(_STEP)
        self._held += more
        return bool(more)

    def _take(self, count: int) -> bytes:
        """The next bytes of those read."""
        if not self._held and count:
            self._fill()
        out = bytes(self._held[:count])
        del self._held[:count]
        return out
