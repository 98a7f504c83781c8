"""Opens captures: files and folders of files, each read by the format that it is of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tdsl.findings.source import SourceFile
from tdsl.observe.readers import Reader, capture_readers, p2p
from tdsl.observe.record import CaptureLine, Malformed, Observed
from tdsl.observe.spreadsheets import is_workbook, sheets_of_workbook, table_texts, with_work_done
from tdsl.observe.unwrapping import (
    decoded_capture,
    opened_envelope,
    outputs_of_session,
    without_terminal,
)
from tdsl.system.nouns import counted_noun
from tdsl.system.read import folder_entries, is_dir, is_file, read_regular_file

LIMIT = 1 << 30
"""Bytes of one capture: as many as a file that tdsl writes may have."""
MOST_FILES = 1 << 16
LLDP = "lldp"
"""The option that takes captures which tools wrap."""
LONGEST_LINE = 1 << 20
"""Characters of a line of JSON or XML, or of what a tool wraps."""
LONGEST_ROW = 1 << 12
"""Characters of a line of a capture that is read line by line: no command writes longer ones."""
ENDING = ".db_csv"
"""Of the many files that ibdiagnet writes into a folder, the one that has nodes and links."""
HEAD = 1 << 16
"""Characters by which a format is recognised."""


class CaptureUnreadable(Exception):
    """A capture that cannot be opened: a wrong call, not a finding."""


def read_capture_files(
    captures: Iterable[tuple[str, Path]], into: Observed, columns: Mapping[str, str] | None = None
) -> None:
    """Read captures, each by the option that gave it ("" for any format). ``columns`` are names of columns of
    tables of cables. Raises Unreadable."""
    files = [
        (option, one, [] if one == path else [path])
        for option, path in captures
        for one in _capture_files(path, ENDING if option == "ibdiagnet" else "")
    ]
    into.parts_follow = len(files) > 1
    for option, one, within in files:
        _read_one_capture(option, one, into, columns or {}, within)
    into.settle()


def _capture_files(path: Path, ending: str = "") -> list[Path]:
    """A file, or the files of a folder in order, hidden ones and those of another ending left out."""
    if not is_dir(path):
        return [path]
    found = [
        path / n
        for n in folder_entries(path)
        if not n.startswith(".") and n.endswith(ending) and is_file(path / n)
    ]
    if not found:
        raise CaptureUnreadable(f"{path}: the folder has no {f'*{ending} file' if ending else 'files'}")
    if len(found) > MOST_FILES:
        raise CaptureUnreadable(f"{path}: the folder has more than {MOST_FILES:,} files")
    return found


def _read_one_capture(
    option: str, path: Path, into: Observed, columns: Mapping[str, str], within: Sequence[Path]
) -> None:
    """Read one file, of a folder one that lies in it; what is wrong in it is a finding."""
    try:
        data = read_regular_file(path, LIMIT, within)
    except OSError as fault:
        raise CaptureUnreadable(f"{path}: {fault.strerror or fault}") from None
    into.files += 1
    if is_workbook(data):
        _read_workbook(option, path, data, into, columns)
        return
    try:
        whole, wrong = decoded_capture(data), None
        text = without_terminal(whole)
    except UnicodeDecodeError as fault:
        whole = text = data.decode("utf-8-sig", "replace")
        wrong = data.count(b"\n", 0, fault.start) + 1, f"a byte that is not UTF-8: 0x{data[fault.start]:02x}"
    file = SourceFile(path.as_posix(), text)
    if not text.strip():
        into.fault(file, 1, "the capture is empty", "capture it again", "E0602")
        return
    wrong = wrong or _first_unreadable_line(text)
    if wrong is not None:
        into.fault(file, wrong[0], wrong[1], "this is not text: capture it again")
        return
    if option in ("", LLDP) and _read_session(option, file, whole, path.stem, into):
        return
    if option not in ("", LLDP) or not _read_wrapped_captures(option, file, path.stem, into, columns):
        _read_text(option, file, path.stem, into, columns)


def _read_session(option: str, file: SourceFile, text: str, stem: str, into: Observed) -> bool:
    """Read the outputs of a terminal's log with several commands, which may be of several devices; False
    where it is no such log, or none of its outputs is in a known format. ``stem`` names a single device."""
    try:
        outputs = [(d, part) for d, part in outputs_of_session(file.name, text) if part.text.strip()]
    except Malformed as fault:
        into.fault(file, fault.line, fault.message, fault.help)
        return True
    known = [(d, part) for d, part in outputs if _reader_of_capture(option, part) is not None]
    if not known:
        return False
    several = len({d for d, _ in outputs}) > 1
    for device, part in known:
        name = device if several else stem
        if not _read_wrapped_captures(option, part, name, into, {}):
            _read_text(option, part, name, into, {})
    for device in sorted({d for d, _ in outputs} - {d for d, _ in known}):
        line = next(p.position(len(p.text) - len(p.text.lstrip()))[0] for d, p in outputs if d == device)
        into.fault(
            file,
            line,
            f"the output of {device} holds no neighbours in a known format",
            "capture this device again, or remove its output",
        )
    return True


def _read_wrapped_captures(
    option: str, file: SourceFile, stem: str, into: Observed, columns: Mapping[str, str]
) -> bool:
    """Read the captures that a tool has put into one file; False where the file is a capture itself. ``stem``
    is the name of the device where nothing says it."""
    try:
        inside = opened_envelope(file)
    except Malformed as fault:
        into.fault(file, fault.line, fault.message, fault.help)
        return True
    for one in inside or ():
        if one.refused:
            into.fault(file, one.line, one.refused, "ask this host again, or remove its answer")
            continue
        _read_text(option, one.file, one.device or stem, into, columns)
    return inside is not None


def _read_workbook(option: str, path: Path, data: bytes, into: Observed, columns: Mapping[str, str]) -> None:
    """Read the sheets of a workbook that are tables of cables; the others are noted."""
    whole = SourceFile(path.as_posix(), "\n")
    try:
        if option not in ("", p2p.OPTION):
            raise Malformed(1, "this is a workbook", f"--{p2p.OPTION} takes tables of cables")
        tables = table_texts(path, with_work_done(sheets_of_workbook(data)))
    except Malformed as fault:
        into.fault(whole, fault.line, fault.message, fault.help)
        return
    known = [
        t
        for t in tables
        if _reader_of_capture(p2p.OPTION, t) is not None or p2p.heading_of_table(t.text, columns) is not None
    ]
    for table in known:
        _read_text(p2p.OPTION, table, path.stem, into, columns)
    names = [t.name.rpartition("[")[2].removesuffix("]") for t in tables if t not in known]
    if not known:
        listed = f": {', '.join(names[:8])}" if names else ""
        into.fault(
            whole,
            1,
            f"no sheet of this workbook has the columns of two ends{listed}",
            "name them a_device,a_port,b_device,b_port, or give --column a_device=NAME",
        )
    elif names:
        into.note(
            "E0606",
            CaptureLine(whole, 1),
            f"{counted_noun(len(names), 'sheet')} without the columns of two ends: {', '.join(names[:8])}",
        )


def _read_text(option: str, file: SourceFile, stem: str, into: Observed, columns: Mapping[str, str]) -> None:
    """Read a text by the reader that recognises it; ``stem`` is the name of the device where it does not say
    it."""
    reader = _reader_of_capture(option, file)
    other = _reader_of_other_option(option, file, columns)
    if other is not None:
        into.fault(
            file,
            1,
            f"this is a capture of the format {other.FORMAT}, which --{option} does not take",
            f"give it with --{other.OPTION}" if other.OPTION != "import" else "`tdsl import` reads it",
        )
        return
    if reader is None and (option == p2p.OPTION or (columns and option == "")):
        reader = capture_readers()[p2p.FORMAT]  # which says what is amiss
    if reader is None:
        known = ", ".join(n for n, r in capture_readers().items() if option in ("", r.OPTION))
        help = f"formats that are read here: {known}"
        if p2p.FORMAT in known and p2p.has_columns(file.text):
            help = (
                "if this is a table of cables, say which columns are those of two ends: --column a_device=…"
            )
        into.fault(file, 1, "this is not a capture in a known format", help)
        return
    _run_reader(reader, file, stem, into, columns)


def _reader_of_other_option(option: str, file: SourceFile, columns: Mapping[str, str]) -> Reader | None:
    """The reader of a file of which no reader of its option recognises the text, and one of another does."""
    head = file.text[:HEAD]
    readers = capture_readers().values()
    mine = any(r.recognises(head) for r in readers if option in ("", r.OPTION))
    if not option or mine or (option == p2p.OPTION and p2p.heading_of_table(file.text, columns) is not None):
        return None
    return next((r for r in readers if r.recognises(head)), None)


def _run_reader(
    reader: Reader, file: SourceFile, stem: str, into: Observed, columns: Mapping[str, str]
) -> None:
    """Read a file in a known format; a fault that stops the reader is a finding."""
    try:
        _refuse_long_rows(reader, file)
        if columns and reader.FORMAT == p2p.FORMAT:
            p2p.read_cable_table(file, into, columns)
        else:
            reader.read(file, stem, into)
    except Malformed as fault:
        into.fault(file, fault.line, fault.message, fault.help)


def _refuse_long_rows(reader: Reader, file: SourceFile) -> None:
    """Raise Malformed at the first line that is longer than a reader of lines takes."""
    most = getattr(reader, "LONGEST_ROW", LONGEST_ROW)
    if file.text.lstrip().startswith(("{", "[", "<")) or len(file.text) <= most:
        return
    for number, line in enumerate(file.text.split("\n"), 1):
        if len(line) > most:
            raise Malformed(
                number,
                f"a line of {len(line):,} characters: more than {most:,} are no line of {reader.FORMAT}",
                "capture it again, and save it as it is printed",
            )


def _first_unreadable_line(text: str) -> tuple[int, str] | None:
    """The first line that is not text, and why; None where all are."""
    at = text.find("\0")
    if at >= 0:
        return text.count("\n", 0, at) + 1, "a zero byte"
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE and not text.lstrip().startswith(("{", "[")):
            return number, f"a line of more than {LONGEST_LINE:,} characters"
    return None


def _reader_of_capture(option: str, file: SourceFile) -> Reader | None:
    """The reader of a file: of those that the option allows, the first that recognises it."""
    head = file.text[:HEAD]
    allowed = [r for r in capture_readers().values() if option in ("", r.OPTION)]
    if len(allowed) == 1:
        return allowed[0]
    return next((r for r in allowed if r.recognises(head)), None)
