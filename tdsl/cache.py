"""The cache folder: private to the user, optional, and never a reason to fail."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def folder() -> Path | None:
    """The folder in which tdsl may keep what it can make again; None if there is no safe, writable one.

    It is used only if it is a real folder of this user that nobody else can enter, since what is read from it is trusted.
    """
    path = _wanted()
    if path is None:
        return None
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = path.lstat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISDIR(facts.st_mode):
        return None
    if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & 0o077):
        return None
    return path if os.access(path, os.W_OK | os.X_OK) else None


def kept(name: str, text: str) -> Path | None:
    """A file of the folder with this text, for other programs to open; None where it cannot be written."""
    home = folder()
    if home is None:
        return None
    path = home / name
    try:
        if path.is_symlink() or not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = unlinked(path.with_name(f"{path.name}.{os.getpid()}"))
            new.write_text(text, encoding="utf-8")
            new.replace(path)
    except (OSError, UnicodeDecodeError):
        return None
    return path


def unlinked(path: Path) -> Path:
    """A place in the folder, without the link that may stand there: what is written would go where it leads."""
    if path.is_symlink():
        path.unlink()
    return path


def _wanted() -> Path | None:
    own = os.environ.get("TDSL_CACHE_DIR")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    if shared:
        return Path(shared) / "tdsl"
    try:
        return Path.home() / ".cache" / "tdsl"
    except RuntimeError:
        return None
