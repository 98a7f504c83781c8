"""``tdsl.toml``: what a project settles once for every call. It lies in the folder of the call or in one
above it.

``path`` names folders that `use` searches; ``[COMMAND]`` holds values of that command's options by their long
names, ``[severity]`` how much findings matter, by name, and ``[site]`` what all devices of a site share.
Folders are meant from where the file lies, and nothing outside of its folder may be named: the file may come
with somebody else's checkout.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.read import read_text_file
from tdsl.system.similar import closest_name
from tdsl.system.toml_lines import place_of_toml_fault, toml_line_meant

NAME = "tdsl.toml"
LIMIT = 1 << 20
SEVERITIES = ("error", "warning", "note")


class ConfigError(Exception):
    """The file cannot be followed. The text names it and says why."""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a project. ``commands`` holds options by command; ``severities`` words by name of a
    finding; ``targets`` options of targets by the target's name, ``site`` what `--site` says in a file of its
    own."""

    file: Path | None = None
    folder: Path | None = None
    path: tuple[Path, ...] = ()
    commands: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    severities: Mapping[str, str] = field(default_factory=dict)
    targets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    site: Mapping[str, Any] = field(default_factory=dict)

    def fault(self, words: str) -> ConfigError:
        """An error that names the file."""
        return ConfigError(f"{self.file}: {words}")

    def below(self, place: Path) -> bool:
        """Whether a path lies in the folder of the file, links followed, and not in what git keeps there."""
        if self.folder is None:
            return True
        if "\0" in str(place):
            return False
        real = Path(os.path.realpath(place))
        return real.is_relative_to(self.folder) and ".git" not in (
            p.lower() for p in real.relative_to(self.folder).parts
        )


def find_config_file(folder: Path) -> Path | None:
    """The nearest file at or above a folder."""
    return next((f for f in (p / NAME for p in (folder, *folder.parents)) if f.is_file()), None)


def _is_existing_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long
        return False


def _is_owned_by_stranger(file: Path, folder: Path) -> bool:
    """Whether a file belongs to somebody else than the folder of the call, its user and the superuser:
    whoever may write to a folder above, such as /tmp, can put one there."""
    try:
        return hasattr(os, "geteuid") and os.stat(file).st_uid not in (
            0,
            os.geteuid(),
            os.stat(folder).st_uid,
        )
    except OSError:
        return False


def load_config(folder: Path, file: Path | None = None) -> Config:
    """The settings that hold in a folder, empty where there is no file; ``file`` is read instead of the
    nearest one. Raises ConfigError."""
    found = file is None
    file = find_config_file(folder.resolve()) if file is None else folder.resolve() / file
    if file is None:
        return Config()
    shown = file.relative_to(folder.resolve()) if file.parent == folder.resolve() else file
    config = Config(shown, file.parent)
    if found and _is_owned_by_stranger(file, folder):
        raise config.fault(
            f"another user owns it, and not {folder.resolve()}; `--config {file}` follows it all the same"
        )
    given = _settings_in_file(config, file)
    paths = given.pop("path", [])
    severities = given.pop("severity", {})
    targets = given.pop("target", {})
    site = given.pop("site", {})
    if not isinstance(site, dict):
        raise config.fault('`[site]` is a table of what all devices of a site share: `ntp = ["192.0.2.10"]`')
    if not isinstance(targets, dict) or not all(isinstance(v, dict) for v in targets.values()):
        raise config.fault("`[target.NAME]` is a table of a target's options: `[target.eos]`")
    folders = _library_folders(config, file.parent, paths)
    if not isinstance(severities, dict):
        raise config.fault('`[severity]` is a table, such as `size_found = "warning"`')
    for name, word in severities.items():
        if word not in SEVERITIES:
            near = closest_name(str(word), SEVERITIES)
            advice = f'write `{name} = "{near}"`' if near else f"it is one of {', '.join(SEVERITIES)}"
            raise config.fault(f"`[severity]`: `{name}` cannot be {word!r}; {advice}")
    _refuse_unknown_settings(config, given)
    return Config(shown, file.parent, folders, given, severities, targets, site)


def _library_folders(config: Config, folder: Path, paths: object) -> tuple[Path, ...]:
    """The folders that `path` names. Raises ConfigError unless they are in the folder of the file."""
    if not isinstance(paths, list) or not all(isinstance(p, str) for p in paths):
        example = f'["{paths}"]' if isinstance(paths, str) and paths.isprintable() else '["lib"]'
        raise config.fault(f"`path` is a list of folders; write `path = {example}`")
    folders = tuple(folder / p for p in paths)
    for folder_ in folders:
        if not config.below(folder_):
            raise config.fault(f"`path` names {folder_}, which is outside {folder}; give it with --path")
        if not _is_existing_folder(folder_):
            raise config.fault(f"there is no folder {folder_}, which `path` names")
    return folders


def _settings_in_file(config: Config, file: Path) -> dict[str, Any]:
    """All that a file says. Raises ConfigError where it cannot be read or is not TOML."""
    text = ""
    try:
        text = read_text_file(file, LIMIT, within=[file.parent])
        given = tomllib.loads(text)
    except OSError as wrong:
        raise config.fault(wrong.strerror or str(wrong)) from None
    except ValueError as wrong:  # not TOML, not text, or a number that Python does not read
        low, high = place_of_toml_fault(text, str(wrong))
        new = toml_line_meant(text[low:high])
        raise config.fault(f"{wrong}; write `{new}`" if new else str(wrong)) from None
    except RecursionError:
        raise config.fault("it is nested too deeply") from None
    return given


def _refuse_unknown_settings(config: Config, given: Mapping[str, object]) -> None:
    """Raises ConfigError where something is neither a setting nor a table for a command."""
    for name, options in given.items():
        if not isinstance(options, dict):
            near = closest_name(name, ("path", "severity", "target", "site"))
            if near == "path":
                raise config.fault(f"`{name}` is not a setting; did you mean `path`?")
            raise config.fault(
                f"`{name}` is not a setting; known are `path`, `[severity]` and a table for a command: "
                "`[check]`"
            )
