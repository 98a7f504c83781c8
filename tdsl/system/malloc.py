"""Memory that large arrays leave, kept for the next ones.

The C library gives the memory of every large array back to the kernel, which clears it before it gives it out
again. For fabrics of a million endpoints that is half of the time of a call. Only the command line asks for
it: a program that uses tdsl as a library has an allocator of its own to think of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctypes import CDLL

LARGE = 1 << 17
"""Ports from which on the memory is kept, where arrays have a megabyte or more: smaller ones are kept by the
C library itself."""
M_TRIM_THRESHOLD, M_MMAP_MAX, MMAPS = -1, -4, 65536  # as <malloc.h> has them; -1 and 0 are "never"

_asked: list[bool] = []


def enable_memory_keeping() -> None:
    """Say that this process is that of a call of tdsl."""
    _asked[:] = [True]


def keep_freed_memory(ports: int) -> bool:
    """Have freed memory stay with the process, where that was asked for and a fabric has so many ports.
    Whether it is done: allocators other than glibc's decide for themselves."""
    if not _asked or ports < LARGE:
        return False
    library = _glibc_library()
    return library is not None and bool(
        library.mallopt(M_MMAP_MAX, 0) and library.mallopt(M_TRIM_THRESHOLD, -1)
    )


def return_memory_to_system(ports: int) -> bool:
    """Give what is kept back to the kernel, and keep no more: what a fabric of so many ports has been judged
    with is done with. Whether it is done."""
    if not _asked or ports < LARGE:
        return False
    library = _glibc_library()
    return library is not None and bool(library.mallopt(M_MMAP_MAX, MMAPS)) and library.malloc_trim(0) >= 0


def _glibc_library() -> CDLL | None:
    """The C library, None where it is not glibc."""
    import ctypes

    try:
        found = ctypes.CDLL(None)
        return found if found.mallopt and found.malloc_trim else None
    except (AttributeError, OSError, TypeError):
        return None


__all__ = ["enable_memory_keeping", "keep_freed_memory", "return_memory_to_system"]
