"""QR codes (ISO/IEC 18004): byte mode, error correction level M, versions 1 to 10, which hold up to 213 bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.int8]

BLOCKS = {  # version -> error-correction codewords a block, and the data codewords of each block: ISO/IEC 18004, table 9, level M
    1: (10, (16,)), 2: (16, (28,)), 3: (26, (44,)), 4: (18, (32, 32)), 5: (24, (43, 43)), 6: (16, (27,) * 4), 7: (18, (31,) * 4),
    8: (22, (38, 38, 39, 39)), 9: (22, (36, 36, 36, 37, 37)), 10: (26, (43, 43, 43, 43, 44)),
}  # fmt: skip
ALIGNMENT = {1: (), 2: (6, 18), 3: (6, 22), 4: (6, 26), 5: (6, 30), 6: (6, 34), 7: (6, 22, 38), 8: (6, 24, 42), 9: (6, 26, 46),
             10: (6, 28, 50)}  # fmt: skip
MASKS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda r, c: (r + c) % 2 == 0, lambda r, c: r % 2 == 0, lambda r, c: c % 3 == 0, lambda r, c: (r + c) % 3 == 0,
    lambda r, c: (r // 2 + c // 3) % 2 == 0, lambda r, c: r * c % 2 + r * c % 3 == 0,
    lambda r, c: (r * c % 2 + r * c % 3) % 2 == 0, lambda r, c: ((r + c) % 2 + r * c % 3) % 2 == 0,
)  # fmt: skip
FINDERS = tuple(np.array([int(b) for b in x], dtype=np.int8) for x in ("10111010000", "00001011101"))
EMPTY = -1


@cache
def _field() -> tuple[list[int], list[int]]:
    """Powers and logarithms of GF(256) with the polynomial x^8 + x^4 + x^3 + x^2 + 1."""
    powers, logs = [0] * 512, [0] * 256
    x = 1
    for i in range(255):
        powers[i] = powers[i + 255] = x
        logs[x] = i
        x <<= 1
        if x & 256:
            x ^= 0x11D
    return powers, logs


def _remainder(data: list[int], count: int) -> list[int]:
    """Error-correction codewords of a block."""
    powers, logs = _field()
    generator = [1]
    for i in range(count):
        grown = [*generator, 0]
        for k, g in enumerate(generator):
            if g:
                grown[k + 1] ^= powers[logs[g] + i]
        generator = grown
    rest = [*data, *[0] * count]
    for i in range(len(data)):
        lead = rest[i]
        if lead:
            for k, g in enumerate(generator):
                if g:
                    rest[i + k] ^= powers[logs[lead] + logs[g]]
    return rest[len(data) :]


def _codewords(data: bytes, version: int) -> list[int]:
    """Data and error-correction codewords, interleaved."""
    each, sizes = BLOCKS[version]
    bits = f"0100{len(data):0{8 if version < 10 else 16}b}" + "".join(f"{b:08b}" for b in data)
    room = 8 * sum(sizes)
    bits += "0" * min(4, room - len(bits))
    bits += "0" * (-len(bits) % 8)
    words = [int(bits[i : i + 8], 2) for i in range(0, len(bits), 8)]
    words += [(0xEC, 0x11)[k % 2] for k in range(sum(sizes) - len(words))]
    blocks, at = [], 0
    for size in sizes:
        blocks.append(words[at : at + size])
        at += size
    checks = [_remainder(b, each) for b in blocks]
    out = [b[i] for i in range(max(sizes)) for b in blocks if i < len(b)]
    return out + [c[i] for i in range(each) for c in checks]


def _bch(value: int, polynomial: int, bits: int) -> int:
    """A value with its check bits behind it."""
    rest = value << bits
    while rest.bit_length() > bits:
        rest ^= polynomial << (rest.bit_length() - bits - 1)
    return value << bits | rest


@cache
def _frame(version: int) -> Matrix:
    """The function patterns of a version; what belongs to format and version is 0, and what holds data is ``EMPTY``."""
    n = 17 + 4 * version
    m = np.full((n, n), EMPTY, dtype=np.int8)
    m[6, :] = m[:, 6] = np.arange(n) % 2 == 0
    finder = np.zeros((9, 9), dtype=np.int8)
    finder[1:8, 1:8], finder[2:7, 2:7], finder[3:6, 3:6] = 1, 0, 1
    m[:8, :8], m[:8, -8:], m[-8:, :8] = finder[1:, 1:], finder[1:, :8], finder[:8, 1:]
    places = ALIGNMENT[version]
    for r in places:
        for c in places:
            if not (r < 9 and (c < 9 or c > n - 9)) and not (r > n - 9 and c < 9):
                m[r - 2 : r + 3, c - 2 : c + 3] = 1
                m[r - 1 : r + 2, c - 1 : c + 2] = 0
                m[r, c] = 1
    for part in (m[8, :9], m[:9, 8], m[8, -8:], m[-8:, 8]):
        part[part == EMPTY] = 0
    if version >= 7:
        m[:6, -11:-8] = m[-11:-8, :6] = 0
    return m


@cache
def _order(version: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the modules that hold data, in the order of the bits."""
    m = _frame(version)
    n = len(m)
    at = []
    for k, right in enumerate(c if c > 6 else c - 1 for c in range(n - 1, 0, -2)):
        for row in range(n) if k % 2 else range(n - 1, -1, -1):
            at += [(row, c) for c in (right, right - 1) if m[row, c] == EMPTY]
    return np.array([r for r, _ in at]), np.array([c for _, c in at])


@cache
def _masks(version: int) -> tuple[Matrix, ...]:
    """What each mask inverts."""
    m = _frame(version)
    r, c = np.indices(m.shape)
    return tuple(((m == EMPTY) & mask(r, c)).astype(np.int8) for mask in MASKS)


def _filled(words: list[int], version: int) -> Matrix:
    """The frame with all codewords, before masking."""
    m = _frame(version).copy()
    rows, columns = _order(version)
    bits = np.unpackbits(np.array(words, dtype=np.uint8))
    m[rows, columns] = 0
    m[rows[: len(bits)], columns[: len(bits)]] = bits
    return m


def _stamped(m: Matrix, version: int, mask: int) -> Matrix:
    """A code with one of the masks, and the format and version that say so."""
    n = len(m)
    out = m ^ _masks(version)[mask]
    form = _bch(mask, 0x537, 10) ^ 0x5412  # level M is 00
    bit = [(form >> i) & 1 for i in range(15)]
    for i in range(15):
        out[(i if i < 6 else i + 1 if i < 8 else n - 15 + i), 8] = bit[i]
        out[8, (n - 1 - i if i < 8 else 7 if i == 8 else 14 - i)] = bit[i]
    out[n - 8, 8] = 1
    if version >= 7:
        number = _bch(version, 0x1F25, 12)
        for i in range(18):
            out[i // 3, n - 11 + i % 3] = out[n - 11 + i % 3, i // 3] = (number >> i) & 1
    return out


def _penalty(m: Matrix) -> int:
    """How hard a code is to read: ISO/IEC 18004, table 11."""
    total = 0
    for lines in (m, m.T):
        fives = np.lib.stride_tricks.sliding_window_view(lines, 5, axis=1).sum(axis=2)
        level = (fives == 0) | (fives == 5)  # a run of n >= 5 has n - 4 of these, and counts n - 2
        begins = level & ~np.pad(level, ((0, 0), (1, 0)))[:, :-1]
        total += int(level.sum()) + 2 * int(begins.sum())
        elevens = np.lib.stride_tricks.sliding_window_view(lines, 11, axis=1)
        total += 40 * sum(int((elevens == like).all(axis=2).sum()) for like in FINDERS)
    same = (m[1:, 1:] == m[:-1, 1:]) & (m[1:, 1:] == m[1:, :-1]) & (m[1:, 1:] == m[:-1, :-1])
    return total + 3 * int(same.sum()) + 10 * int(abs(int(m.sum()) * 20 - 10 * m.size) // m.size)


def qr(text: str, mask: int | None = None) -> Matrix:
    """The modules of a code, 1 for dark, without the quiet zone of four modules around it. ``mask`` is chosen by the standard's
    penalty if it is None. Raises ValueError for a text that is too long."""
    data = text.encode()
    for version, (_, sizes) in BLOCKS.items():
        if 4 + (8 if version < 10 else 16) + 8 * len(data) <= 8 * sum(sizes):
            m = _filled(_codewords(data, version), version)
            tried = [_stamped(m, version, k) for k in ((mask,) if mask is not None else range(8))]
            return min(tried, key=_penalty)
    raise ValueError(f"{len(data)} bytes are more than a QR code of version 10 holds")


def path(m: Matrix) -> str:
    """The dark modules as the path of an SVG, one unit each."""
    out = []
    for r, row in enumerate(m):
        edges = np.flatnonzero(np.diff(np.r_[0, row, 0]))
        out += [f"M{a} {r}h{b - a}v1h-{b - a}z" for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)]
    return "".join(out)
