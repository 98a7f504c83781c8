"""Where a name is declared and used, over all files of a folder, and what must be written to give it another
one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from itertools import islice
from pathlib import Path

from tdsl.compile.parsed_library import keep_parsed_library_files, parsed_library_files
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.ide import positions
from tdsl.ide.names import FileNames
from tdsl.ide.scopes import GIVEN, Key, Name, Scopes
from tdsl.semantics.fault import Fault
from tdsl.semantics.library import Library
from tdsl.semantics.loader import Loader
from tdsl.syntax import tree
from tdsl.syntax.grammar import load_grammar_tables
from tdsl.system import resources
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.read import read_text_file

LOCAL = ("index variable", "loop variable")
FILES = 2000
"""How many files of a folder are looked at."""


class RenameRefused(Exception):
    """A name that cannot be given, or cannot be changed; the reason is for people."""


@dataclass(frozen=True, slots=True)
class RenameIndex:
    """The names of a folder's files, as they are with the texts of ``overlay``; each file is read once."""

    folders: tuple[Path, ...]
    paths: tuple[Path, ...] = ()
    overlay: Mapping[str, str] = field(default_factory=dict)
    scopes: Scopes = field(init=False)
    files: dict[str, FileNames | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        loader = Loader(Diagnostics(), self.paths, dict(self.overlay), parsed_library_files(self.overlay))
        object.__setattr__(self, "scopes", Scopes(Library(loader, Diagnostics())))

    def names(self, path: Path) -> FileNames | None:
        """The names of a file; None if it cannot be read."""
        key = str(path.resolve())
        if key not in self.files:
            library = self.scopes.library
            try:
                module = library.loader.read(path)
            except OSError:
                module = None
            self.files[key] = FileNames(self.scopes, library.link(module)) if module is not None else None
            keep_parsed_library_files(library.loader.parsed, self.overlay)
        return self.files[key]

    def at(self, path: Path, offset: int) -> tuple[SourceSpan, tuple[Name, ...]] | None:
        """The name at an offset of a file, and what it stands for."""
        names = self.names(path)
        return names.at(offset) if names is not None else None

    def definition(self, path: Path, offset: int) -> list[SourceSpan]:
        """Where the name at an offset is declared; of another name given by ``as``, where that is declared
        which it renames."""
        found = self.at(path, offset)
        if found is None:
            return []
        return [(n.target if n.target is not None and found[0] != n.place else n).place for n in found[1]]

    # ------------------------------------------------------------ uses
    def holding(self, word: str) -> Iterator[Path]:
        """Files of the folders, and open ones, in which a word stands."""
        found = list(islice((p for folder in self.folders for p in _design_files_below(folder)), FILES))
        known = {str(p.resolve()): p for p in (*found, *map(Path, self.overlay))}
        for key, path in known.items():
            try:
                text = self.overlay[key] if key in self.overlay else read_text_file(path)
            except (OSError, UnicodeDecodeError):
                continue
            if re.search(rf"\b{re.escape(word)}\b", text):
                yield path

    def reads(self, path: Path) -> set[Path]:
        """The file itself and those that it uses, and these use, resolved; what the library holds reads
        nothing else."""
        found: set[Path] = set()
        todo = [path.resolve()]
        while todo:
            at = todo.pop()
            names = self.names(at) if at not in found and not _is_in_stdlib(at) else None
            found.add(at)
            for s in names.home.module.body if names is not None else ():
                if isinstance(s, tree.Use):
                    with suppress(Fault, OSError):  # reported with the findings
                        todo += [p.resolve() for p in self.scopes.library.loader.find(s, at.parent)]
        return found

    def concerned(self, wanted: Iterable[Name], path: Path, *words: str) -> list[Path]:
        """The files in which declarations may be named: those with such words in them that see where they are
        declared."""
        wanted = list(wanted)
        out = [path.resolve()]
        if all(n.what in LOCAL for n in wanted):
            return out
        homes = {positions.path_of_finding_file(n.place.file.name).resolve() for n in wanted}
        paths = [p.resolve() for p in self.paths]
        everyone = any(_is_in_stdlib(h) or any(h.is_relative_to(p) for p in paths) for h in homes)
        held = (p.resolve() for word in words for p in self.holding(word))
        return list(
            dict.fromkeys([*out, *sorted(homes), *(p for p in held if everyone or homes & self.reads(p))])
        )

    def uses(self, wanted: Iterable[Name], path: Path) -> tuple[set[Key], list[SourceSpan]]:
        """Where declarations, and all that one word may mean besides them, stand in the files that hold their
        name."""
        wanted = list(wanted)
        keys = {n.key for n in wanted}
        files = self.concerned(wanted, path, *{n.name for n in wanted})
        before = -1
        spans: dict[tuple[Path, int], SourceSpan] = {}
        while len(keys) > before:
            before = len(keys)
            for file in files:
                names = self.names(file)
                for (start, end), meant in names.found.items() if names is not None else ():
                    if any(n.key in keys for n in meant):
                        keys.update(n.key for n in meant)
                        assert names is not None
                        spans[file, start] = SourceSpan(names.file, start, end)
        return keys, [spans[k] for k in sorted(spans)]

    def references(self, path: Path, offset: int, declared: bool = True) -> list[SourceSpan]:
        """Where the name at an offset stands, in all files; with its declarations or without."""
        found = self.at(path, offset)
        if found is None:
            return []
        keys, spans = self.uses(found[1], path)
        return [s for s in spans if declared or not _span_declares_key(s, keys)]

    def highlights(self, path: Path, offset: int) -> list[tuple[SourceSpan, bool]]:
        """Where the name at an offset stands in its file, and whether it is declared there."""
        found = self.at(path, offset)
        names = self.names(path)
        if found is None or names is None:
            return []
        keys = {n.key for n in found[1]}
        spans = [
            SourceSpan(names.file, *k)
            for k, meant in names.found.items()
            if any(n.key in keys for n in meant)
        ]
        return [(s, _span_declares_key(s, keys)) for s in sorted(spans, key=lambda s: s.start)]

    # ------------------------------------------------------------ renaming
    def renamed(self, path: Path, offset: int) -> SourceSpan:
        """The name at an offset, if it can be given another. Raises Refused."""
        found = self.at(path, offset)
        if found is None:
            raise RenameRefused("there is no name here that a design declares")
        for n in found[1]:
            if n.fixed:
                raise RenameRefused(f"{n.fixed}, and cannot be changed")
            if n.place.file.name.startswith(positions.LIBRARY):
                raise RenameRefused(
                    f"`{n.name}` is declared in {n.place.file.name}, the standard library, which is not "
                    "yours to change"
                )
        return found[0]

    def edits(self, path: Path, offset: int, new: str) -> list[SourceSpan]:
        """The places at which a new name is to be written. Raises Refused if it is none, or would change what
        any name means."""
        self.renamed(path, offset)
        found = self.at(path, offset)
        assert found is not None
        old = found[0].text
        tokens = load_grammar_tables().scanner.scan(SourceFile("name", new))
        if len(tokens) != 1 or tokens[0].type != "NAME" or tokens[0].text != new:
            raise RenameRefused(
                f"`{new}` is not a name: letters, digits and `_` make one, and it begins with no digit"
            )
        if new in GIVEN and any(n.type for n in found[1]):
            raise RenameRefused(f"fabrics fill `{new}` by its name, so another parameter cannot have it")
        _, spans = self.uses(found[1], path)
        spans = [s for s in spans if s.text == old]
        if new == old:
            return spans
        files = self.concerned(found[1], path, old, new)
        for p in files:
            names = self.names(p)
            if names is not None and (fault := self.fault(p)) is not None:
                line = fault.begin[0]
                raise RenameRefused(
                    f"`{p.name}` has a fault of syntax at line {line}, so what it means by `{old}` is not "
                    "known: fix it first"
                )
        for span in spans:
            self.renamed(positions.path_of_finding_file(span.file.name), span.start)
        self.unchanged(files, spans, new)
        return spans

    def fault(self, path: Path) -> SourceSpan | None:
        """The first place at which a file does not parse."""
        _, found = self.scopes.library.loader.parsed[str(path.resolve())]
        return next(
            (d.span for d in found if d.severity is Severity.ERROR and d.code.startswith("E00") and d.span),
            None,
        )

    def unchanged(self, files: list[Path], spans: list[SourceSpan], new: str) -> None:
        """Refuse a new name that would change what a name means: all are read once more, with the new
        text."""
        moved = Moves(spans, len(new))
        after = RenameIndex(self.folders, self.paths, {**self.overlay, **moved.texts(new)})
        for p in files:
            one, two = self.names(p), after.names(p)
            if one is None or two is None:
                continue
            if (fault := after.fault(p)) is not None:
                raise RenameRefused(
                    f"with `{new}`, line {fault.begin[0]} of `{p.name}` does not read as a statement"
                )
            before = {
                (moved.to(one.file, a), moved.to(one.file, b)): {self._meaning(n, moved) for n in names}
                for (a, b), names in (one.found | one.crowded).items()
            }
            now = {
                k: {after._meaning(n, None) for n in names} for k, names in (two.found | two.crowded).items()
            }
            for at in sorted(before.keys() | now.keys()):
                if before.get(at) != now.get(at):
                    line = two.file.position(at[0])[0]
                    raise RenameRefused(f"`{new}` has another meaning already, at line {line} of `{p.name}`")

    @staticmethod
    def _meaning(name: Name, moved: Moves | None) -> tuple[str, int]:
        file, start = name.place.file, name.place.start
        return file.name + ":" + name.what, start if moved is None else moved.to(file, start)


class Moves:
    """How places move when some are given a text of another length."""

    def __init__(self, spans: Iterable[SourceSpan], length: int) -> None:
        self.length = length
        self.files: dict[str, list[SourceSpan]] = {}
        for s in spans:
            self.files.setdefault(s.file.name, []).append(s)

    def to(self, file: SourceFile, offset: int) -> int:
        """Where an offset is then; what stands at the start of a place stays there."""
        earlier = [s for s in self.files.get(file.name, ()) if s.start < offset]
        return offset + sum(self.length - (s.end - s.start) for s in earlier)

    def texts(self, new: str) -> dict[str, str]:
        """The new texts, by resolved path."""
        out = {}
        for name, spans in self.files.items():
            text = spans[0].file.text
            for s in sorted(spans, key=lambda s: -s.start):
                text = text[: s.start] + new + text[s.end :]
            out[str(positions.path_of_finding_file(name).resolve())] = text
        return out


def _span_declares_key(span: SourceSpan, keys: set[Key]) -> bool:
    return any(k[0] == id(span.file) and k[1] == span.start for k in keys)


def _design_files_below(folder: Path) -> Iterator[Path]:
    """The ``.fab`` files of a folder and those inside it, hidden ones left out."""
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        yield from (Path(at) / f for f in sorted(names) if f.endswith(".fab"))


def _is_in_stdlib(path: Path) -> bool:
    return path.is_relative_to(resources.packaged_folder("stdlib").resolve())
