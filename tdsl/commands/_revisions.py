"""Designs of git revisions: ``REVISION:FILE`` in the place of a file, for every command that compiles a
design.

The design and all that it uses are read from git's objects into memory, those of the working tree are not
looked at, and nothing is written. ``tdsl.toml`` of the revision says how much findings matter, where the call
follows such a file at all.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tdsl.commands._shared import Wrong, severities_from_table
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.changes.revision import Revision
    from tdsl.compile.compiler import Compilation, Request
    from tdsl.config import Config
    from tdsl.system.record import Record


class Read(dict[str, bytes]):
    """The files of a revision by their path; ``asked`` are those that were read."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__(files)
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> bytes:
        self.asked.add(name)
        return super().__getitem__(name)


@dataclass(slots=True)
class OpenedSource:
    """A design that can be compiled while it is open: ``source`` and ``options`` are for the compiler.
    ``shown`` is what people call it; ``held`` the files of the revision below ``folder``, a name that no file
    has, or None for one of the disk."""

    source: str
    options: Request
    shown: str
    record: Record
    revision: str = ""
    folder: Path = field(default_factory=Path)
    held: Read | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def compile_with(self, step: Callable[[str, Request], Compilation]) -> Compilation:
        """The design, compiled by a function of the compiler. Raises Wrong where that calls it a wrong
        call."""
        from tdsl.compile.compiler import UsageError

        try:
            return self.name_revision(step(self.source, self.options))
        except UsageError as wrong:
            raise Wrong(self.named(str(wrong))) from None

    def name_revision(self, compilation: Compilation) -> Compilation:
        """The compilation, with the name of the revision in the place of the folder that stands for it."""
        if self.held is None:
            return compilation
        for file in compilation.read:
            file.name = self.named(file.name)
        for design in compilation.judged:
            for d in design.findings:
                for span in (d.span, *(x.span for x in d.labels)):
                    if span is not None:
                        span.file.name = self.named(span.file.name)
        if not compilation.sealed:
            compilation.file = self.named(compilation.file)
            compilation.findings = [self._finding(d) for d in compilation.findings]
            for design in compilation.judged:
                design.file = self.named(design.file)
                design.findings = [self._finding(d) for d in design.findings]
        return compilation

    @contextmanager
    def names_of_disk(self, compilation: Compilation) -> Iterator[None]:
        """Have the files of a compilation bear the names by which they are read, inside: proofs read tables
        beside a design."""
        files = {id(f): f for f in compilation.read} if self.held is not None else {}
        prefix, named = f"{self.revision}:", []
        for file in files.values():
            if file.name.startswith(prefix):
                named.append((file, file.name))
                file.name = str(self.folder / file.name.removeprefix(prefix))
        try:
            yield
        finally:
            for file, name in named:
                file.name = name

    def named(self, text: str) -> str:
        """A text that may name the folder."""
        if self.held is None:
            return text
        for folder in (self.folder.as_posix(), os.path.relpath(self.folder)):
            text = text.replace(f"{folder}/", f"{self.revision}:").replace(folder, f"{self.revision}:")
        return text

    def _finding(self, d: Any) -> Any:
        name = self.folder.name
        if not any(name in x for x in (d.message, d.help or "", *d.notes)):
            return d
        notes = tuple(map(self.named, d.notes))
        return replace(
            d, message=self.named(d.message), help=self.named(d.help) if d.help else d.help, notes=notes
        )

    def files_read(self) -> dict[Path, bytes]:
        """What was read for the design, by absolute path, but for the library."""
        from tdsl.system import resources
        from tdsl.system.read import is_file, read_regular_file

        library, out = resources.packaged_folder("stdlib"), {}
        for kind, path, limit, within in list(self.record.answers):
            place = Path(os.path.abspath(path))
            if kind == "read" and not place.is_relative_to(library) and is_file(place):
                out[place] = read_regular_file(place, limit, [Path(f) for f in within])
        held = self.held or Read({})
        return out | {self.folder / name: held[name] for name in held.asked if name in held}


def is_design_here(source: str) -> bool:
    """Whether a source is a file, standard input, or a design of the library, whatever its name looks
    like."""
    from tdsl.system import resources

    library = resources.packaged_folder("stdlib") / "designs"
    return source in ("-", "<stdin>") or os.path.lexists(source) or (library / f"{source}.fab").is_file()


def split_revision(source: str, other: str = "") -> tuple[str, str]:
    """The revision and the file that a source means; "" for a file of the disk. A revision alone means the
    file of ``other``."""
    if is_design_here(source):
        return "", source
    revision, _, file = source.partition(":")
    if revision and file:
        return revision, file
    file = other.partition(":")[2] or other
    return (source, file) if file.endswith(".fab") and not source.endswith(".fab") else ("", source)


@contextmanager
def opened_source(
    source: str, options: Request, other: str = "", read: Revision | None = None, recording: bool = False
) -> Iterator[OpenedSource]:
    """A design that a call names, to compile inside. A revision alone means the file of ``other``; ``read``
    is the revision where that was read already. With ``recording``, what is read of the disk is known
    afterwards. Raises Wrong."""
    from tdsl.system.read import serve_snapshot
    from tdsl.system.record import Record, record_disk_questions
    from tdsl.system.replace import unique_name_part

    record = Record()
    revision, file = (read.name, source) if read is not None else split_revision(source, other)
    if not revision:
        followed = _settings_here() if recording else {}
        with record_disk_questions(record) if recording else nullcontext():
            yield OpenedSource(source, options, source, record, settings=followed)
        return
    place = Path(os.path.abspath(file)) if read is None else read.top / file
    if read is None:
        read = _revision_of_call(revision, file, place)
    top = read.top.resolve()
    held = _readable_files_of_revision(read)
    name = _name_in_revision(file, place, top, held)
    if name is None:
        raise Wrong(
            f"{revision}:{file}: there is no such file in this "
            f"revision{_similar_file_in_revision(file, read, held)}"
        )
    folder = top / f".tdsl-revision-{unique_name_part()}"  # it stands for the revision and never exists
    paths = [p.resolve() for p in options.paths]
    paths = [folder / p.relative_to(top) if p.is_relative_to(top) else p for p in paths]
    settings = _settings_in(held, top)
    asked = replace(options, paths=tuple(paths))
    if settings is not None:
        asked = replace(
            asked,
            severities=severities_from_table(_settings_table(settings, "severity"), f"{revision}:tdsl.toml"),
        )
    flat = _flat_settings(settings) if settings is not None else _settings_here()
    opened = OpenedSource(
        str(folder / name), asked, f"{revision}:{name}", record, revision, folder, held, flat
    )
    with serve_snapshot(folder, held), record_disk_questions(record):
        yield opened


def _readable_files_of_revision(read: Revision) -> Read:
    """The files of a revision; those below the current folder where reading is confined to that."""
    from tdsl.system.read import is_confined

    top = read.top.resolve()
    held = Read(read.files)
    if is_confined():
        here = Path.cwd().resolve()
        held = Read({name: data for name, data in held.items() if (top / name).is_relative_to(here)})
    return held


def _revision_of_call(revision: str, file: str, place: Path) -> Revision:
    """The revision that a call names, of the repository in which ``place`` is. Raises Wrong."""
    from tdsl.changes.revision import RevisionError, read_revision

    try:
        return read_revision(revision, place.parent if place.parent.is_dir() else Path.cwd())
    except RevisionError as wrong:
        raise Wrong(f"{revision}:{file}: {wrong}") from None


def _name_in_revision(file: str, place: Path, top: Path, held: Mapping[str, bytes]) -> str | None:
    """The path of a file from the top of the repository: it is meant from the folder of the call, or else
    from the top."""
    for path in (place, place.parent.resolve() / place.name, place.resolve(), top / file):
        if path.is_relative_to(top) and path.relative_to(top).as_posix() in held:
            return path.relative_to(top).as_posix()
    return None


def _similar_file_in_revision(file: str, read: Revision, held: Mapping[str, bytes]) -> str:
    """A file of the revision that may be meant: of the same contents, or nearly, as the one of the disk."""
    from tdsl.changes.revision import designs_in_revision, renamed_files
    from tdsl.system.read import read_regular_file

    try:
        now = read_regular_file(Path(file))
    except OSError:
        return ""
    gone = {name: held[name] for name in designs_in_revision(held)}
    was = next(iter(renamed_files(gone, {file: now})), None)
    return f"; it may be {read.name}:{was}, renamed since" if was is not None else ""


# ---------------------------------------------------------------- tdsl.toml


def _config_of_call() -> Config | None:
    from tdsl.config import Config

    context = click.get_current_context(silent=True)
    return context.find_object(Config) if context is not None else None


def _settings_here() -> dict[str, str]:
    """The settings that the call follows, by their full names."""
    from tdsl.system.read import read_text_file

    config = _config_of_call()
    if config is None or config.file is None or config.folder is None:
        return {}
    try:
        return _flat_settings(tomllib.loads(read_text_file(config.folder / config.file.name)))
    except (OSError, ValueError):
        return {}


def _settings_in(held: Mapping[str, bytes], top: Path) -> dict[str, Any] | None:
    """The settings of a revision for the folder of the call; None where the call follows a file that is not
    of the repository, or none as a matter of trust. Raises Wrong."""
    from tdsl.config import NAME
    from tdsl.system.read import is_confined

    config, here = _config_of_call(), Path.cwd().resolve()
    if is_confined() or not here.is_relative_to(top):
        return None
    if config is not None and config.file is not None and config.folder is not None:
        inside = config.folder.resolve().is_relative_to(top)
    else:
        inside = True
    if not inside or (config is not None and config.file is not None and config.file.name != NAME):
        return None
    for folder in (here, *here.parents):
        if not folder.is_relative_to(top):
            break
        data = held.get((folder / NAME).relative_to(top).as_posix())
        if data is not None:
            try:
                return tomllib.loads(data.decode())
            except (ValueError, RecursionError) as wrong:
                raise Wrong(f"{NAME} of the revision: {wrong}") from None
    return {}


def _settings_table(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = settings.get(name, {})
    return table if isinstance(table, dict) else {}


def _flat_settings(table: Mapping[str, Any], above: str = "") -> dict[str, str]:
    """Values by their full names: ``check.ignore``."""
    out: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            out |= _flat_settings(value, f"{above}{name}.")
        else:
            out[f"{above}{name}"] = value if isinstance(value, str) else json.dumps(value, default=str)
    return out
