"""Files of a design: the one asked for, what it uses, and the standard catalogue. Reads; never runs or
fetches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import Fault, closest_known_name
from tdsl.syntax import tree
from tdsl.syntax.characters import report_misleading_characters
from tdsl.syntax.parser import (
    MAX_BYTES,
    decode_source_file,
    parse_source_file,
    report_oversized_designs,
    report_oversized_file,
)
from tdsl.system import resources
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.read import (
    FileTooLarge,
    Stamp,
    bound_exceeded_by_design,
    file_stamp,
    files_with_stamps,
    folder_entries,
    is_below_folders,
    is_dir,
    is_file,
    read_regular_file,
    read_text_file,
    resolve_links,
    stamp_counted_as_read,
)

if TYPE_CHECKING:
    from tdsl.semantics.model import DeviceModel

DECLARED = re.compile(
    r"^(?:[ \t]*(?:model[ \t]+\w+|topology|fabric|cluster|def|job)|let|param)[ \t]+([A-Za-z_]\w*)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file that was read and parsed, and the folder in which its own uses are looked up first. ``models``
    are those of a file of the library that were built before; None elsewhere."""

    file: SourceFile
    body: tuple[tree.Stmt, ...]
    folder: Path
    key: str
    models: dict[tuple[str, bool], KeptModel] | None = None


@dataclass(frozen=True, slots=True)
class KeptModel:
    """A model, and those that it holds, by the names in its file."""

    model: DeviceModel
    inner: Mapping[str, DeviceModel]


Parsed = dict[str, tuple[ParsedFile | None, list[Diagnostic]]]
"""Files that were read before, by their resolved path, and what was found in them."""


@dataclass(slots=True)
class Loader:
    """Reads files once. Compilations that share ``parsed`` read a file once among them.

    ``paths`` are folders searched after the design's own and before the standard library.
    """

    diagnostics: Diagnostics
    paths: tuple[Path, ...] = ()
    overlay: dict[str, str] = field(default_factory=dict)  # unsaved buffers: resolved path -> text
    parsed: Parsed = field(default_factory=dict)
    modules: dict[str, ParsedFile | None] = field(default_factory=dict)
    catalogue_names: Mapping[str, Path] | None = None

    def design(self, source: str) -> Path | None:
        """The file of a design: a path, or the name of one in the standard library; None if there is
        neither."""
        path = Path(source)
        if is_file(path) or source in self.overlay:
            return path
        if re.fullmatch(r"[A-Za-z_]\w*", source):
            standard = resources.packaged_folder("stdlib") / "designs" / f"{source}.fab"
            if is_file(standard):
                return standard
        return None

    def read(self, path: Path, given: str = "") -> ParsedFile | None:
        """A file's module, shown as ``given``; None (with findings) if it is not text. Raises OSError if it
        cannot be opened."""
        key = str(resolve_links(path))
        if key not in self.parsed:
            text = self.overlay.get(key)
            stamp = (
                stamp_counted_as_read(path)
                if text is None and path.is_relative_to(resources.packaged_folder("stdlib"))
                else None
            )
            self.parsed[key] = (
                _parse_library_file(path, key, stamp)
                if stamp
                else _parse_design_file(path, key, self.shown(path, given), text)
            )
        if key not in self.modules:
            self.modules[key], found = self.parsed[key]
            self.diagnostics.extend(found)
        return self.modules[key]

    def shown(self, path: Path, given: str = "") -> str:
        """A file's name in findings: as given, or ``stdlib:…``."""
        return (
            _name_in_library(path)
            if path.is_relative_to(resources.packaged_folder("stdlib"))
            else given or path.as_posix()
        )

    def roots(self, folder: Path) -> list[Path]:
        """Folders in which a ``use`` looks, in order."""
        standard = resources.packaged_folder("stdlib")
        return [folder, *self.paths, standard, standard / "hardware", standard / "cables"]

    def find(self, use: tree.Use, folder: Path) -> list[Path]:
        """The file a ``use`` names, or the files of the folder it names."""
        parts = [m.name for m in use.module]
        span = use.module[0].span.to(use.module[-1].span)
        for root in self.roots(folder):
            base = root.joinpath(*parts)
            if is_file(base.with_suffix(".fab")):
                return self.inside([base.with_suffix(".fab")], folder, span)
            if is_dir(base):
                found = [base / name for name in folder_entries(base) if name.endswith(".fab")]
                return self.inside([f for f in found if is_file(f)], folder, span)
        inner = [r / name for r in self.roots(folder) for name in folder_entries(r)]
        known = {p.stem for p in inner if p.suffix == ".fab" or is_dir(p)}
        near = closest_known_name(parts[-1], known)
        shown = "/".join(parts)
        raise Fault(
            "E0112",
            span,
            f"there is no file `{shown}.fab` and no folder `{shown}` to use",
            notes=[
                f"looked in the folder of this file, {len(self.paths)} folders given by --path, and the "
                "standard library"
            ],
            help=f"did you mean `{near}`?" if near else "give the folder that holds it with `--path`",
            fix=Fix(f"write `{near}`", ((use.module[-1].span, near),), safe=False) if near else None,
        )

    def inside(self, found: list[Path], folder: Path, span: SourceSpan) -> list[Path]:
        """The files, if none lies elsewhere by a link: a design reads the folders that are searched and
        nothing else."""
        for path in found:
            if not is_below_folders(path, self.roots(folder)) or resolve_links(path).suffix != ".fab":
                raise Fault(
                    "E0112",
                    span,
                    f"`{path.as_posix()}` is a link out of the folders that are searched",
                    help="put the file itself there, or give the folder that holds it with `--path`",
                )
        return found

    def catalogue(self) -> Mapping[str, Path]:
        """Models of the standard catalogue: name -> file. Found by their text, not parsed."""
        if self.catalogue_names is None:
            library = resources.packaged_folder("stdlib")
            found = tuple(
                f
                for kind in ("hardware", "cables")
                for f in sorted(files_with_stamps(library / kind, ".fab"))
            )
            of_disk = file_stamp(library) is not None
            self.catalogue_names = (
                _library_files_by_name(found) if of_disk else _library_files_by_name.__wrapped__(found)
            )
        return self.catalogue_names


def _parse_design_file(
    path: Path, key: str, shown: str, text: str | None = None
) -> tuple[ParsedFile | None, list[Diagnostic]]:
    """A file, or its unsaved text, and what is found in it. Raises OSError."""
    own = Diagnostics()
    try:
        data = (
            text.encode("utf-8", "surrogateescape")
            if text is not None
            else read_regular_file(path, MAX_BYTES)
        )
    except FileTooLarge as fault:
        report_oversized_file(fault.size, shown, own)
        return None, own.items
    if not path.is_relative_to(resources.packaged_folder("stdlib")):
        most = bound_exceeded_by_design(key, len(data))
        if most:
            report_oversized_designs(len(data), most, shown, own)
            return None, own.items
    file = decode_source_file(data, shown, own)
    if file is None:
        return None, own.items
    module = ParsedFile(file, parse_source_file(file, own).body, path.parent, key)
    report_misleading_characters(file, own)
    return module, own.items


@lru_cache(maxsize=256)
def _parse_library_file(path: Path, key: str, stamp: Stamp) -> tuple[ParsedFile | None, list[Diagnostic]]:
    """A file of the library, parsed again when it changes. Raises OSError."""
    module, found = _parse_design_file(path, key, _name_in_library(path))
    return module and replace(module, models={}), found


def _name_in_library(path: Path) -> str:
    return f"stdlib:{path.relative_to(resources.packaged_folder('stdlib')).as_posix()}"


@lru_cache(maxsize=4)
def _library_files_by_name(found: tuple[tuple[str, Stamp], ...]) -> Mapping[str, Path]:
    """Names that files of the library declare, each with the first that does."""
    out: dict[str, Path] = {}
    for file, _ in found:
        path = Path(file)
        for name in declared_in(path):
            out.setdefault(name, path)
    return out


def declared_in(path: Path) -> list[str]:
    """Names that a file seems to declare at its top, without parsing it."""
    try:
        return DECLARED.findall(read_text_file(path))
    except (OSError, UnicodeDecodeError):
        return []
