"""Where findings lie, as programs outside of a terminal name files: relative, with slashes."""

from __future__ import annotations

import os.path
from hashlib import sha256
from pathlib import Path, PurePosixPath

from tdsl.findings.diagnostic import Diagnostic
from tdsl.report.formats import Report

LIBRARY = "stdlib:"


def relative_file_name(name: str) -> str:
    """A file's name from here, with slashes; one outside of here, or of the library, as it is."""
    path = Path(name)
    if not path.is_absolute() and ".." not in path.parts:
        return path.as_posix()
    try:
        return Path(os.path.normpath(Path.cwd() / path)).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return name


def file_uri(name: str) -> str:
    """A file's name as a URI reference (RFC 3986, section 4.1). One of the library is relative, ``stdlib/…``,
    since GitHub takes no scheme of one's own."""
    if name.startswith(LIBRARY):
        name = f"{LIBRARY.removesuffix(':')}/{name.removeprefix(LIBRARY)}"
    path = PurePosixPath(relative_file_name(name))
    return path.as_uri() if path.is_absolute() else ("/" / path).as_uri().removeprefix("file:///")


def path_from_root(name: str) -> str:
    """The path of a file outside of here from the root of the file system, as a URI reference; "" for one
    below here or of the library."""
    if name.startswith(LIBRARY):
        return ""
    there = PurePosixPath(relative_file_name(name))
    if not there.is_absolute() and ".." not in there.parts:
        return ""
    return Path(os.path.normpath(Path.cwd() / there)).as_uri().removeprefix("file:///")


def finding_location(file: str, d: Diagnostic) -> tuple[str, int, int, int, int]:
    """File, line, column, last line and the column after the end. A finding about a file as a whole lies at
    its beginning."""
    if d.span is None:
        return file, 1, 1, 1, 1
    return (d.span.file.name, *d.span.begin, *d.span.finish)


def findings_with_fingerprints(report: Report) -> list[tuple[str, Diagnostic, str]]:
    """Findings, those allowed last, with the file each is about and a mark that stays when lines move.

    The mark is of code, file and the text of the line, and which of those with the same text it is.
    """
    seen: dict[str, int] = {}
    out = []
    for file, d in [*report.reported_findings, *report.allowed]:
        name, line, *_ = finding_location(file, d)
        text = d.span.file.line(line).strip() if d.span is not None else d.message
        key = sha256(
            "\0".join((d.code, relative_file_name(name), text)).encode("utf-8", "surrogatepass")
        ).hexdigest()[:32]
        seen[key] = seen.get(key, 0) + 1
        out.append((file, d, f"{key}:{seen[key]}"))
    return out


def finding_text_in_full(d: Diagnostic) -> str:
    """Cause, notes and help as lines of plain text."""
    others = [d.others_in_words] if d.others_in_words else []
    return "\n".join([d.message, *others, *d.notes, *([f"help: {d.help}"] if d.help else [])])
