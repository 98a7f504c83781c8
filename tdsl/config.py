"""``tdsl.toml``: what a project settles once for every call. It lies in the folder of the call or in one above it.

``path`` names folders that `use` searches; ``[COMMAND]`` holds values of that command's options by their long names, and
``[severity]`` how much findings matter, by name. Folders are meant from where the file lies.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAME = "tdsl.toml"
SEVERITIES = ("error", "warning", "note")


class ConfigError(Exception):
    """The file cannot be followed. The text names it and says why."""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a project. ``commands`` holds options by command; ``severities`` words by name of a finding."""

    file: Path | None = None
    path: tuple[Path, ...] = ()
    commands: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    severities: Mapping[str, str] = field(default_factory=dict)

    def fault(self, words: str) -> ConfigError:
        """An error that names the file."""
        return ConfigError(f"{self.file}: {words}")


def find(folder: Path) -> Path | None:
    """The nearest file at or above a folder."""
    return next((f for f in (p / NAME for p in (folder, *folder.parents)) if f.is_file()), None)


def load(folder: Path) -> Config:
    """The settings that hold in a folder, empty where there is no file. Raises ConfigError."""
    file = find(folder.resolve())
    if file is None:
        return Config()
    shown = file.relative_to(folder.resolve()) if file.parent == folder.resolve() else file
    config = Config(shown)
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as wrong:
        raise config.fault(wrong.strerror or str(wrong)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise config.fault(str(wrong)) from None
    paths = given.pop("path", [])
    severities = given.pop("severity", {})
    if not isinstance(paths, list) or not all(isinstance(p, str) for p in paths):
        raise config.fault('`path` is a list of folders, such as ["lib"]')
    folders = tuple(file.parent / p for p in paths)
    for folder_ in folders:
        if not folder_.is_dir():
            raise config.fault(f"there is no folder {folder_}, which `path` names")
    if not isinstance(severities, dict) or not all(v in SEVERITIES for v in severities.values()):
        raise config.fault(f"`[severity]` gives a finding one of {', '.join(SEVERITIES)}")
    for name, options in given.items():
        if not isinstance(options, dict):
            raise config.fault(f"`{name}` is no setting; known are `path`, `[severity]` and a table for a command: `[check]`")
    return Config(shown, folders, given, severities)
