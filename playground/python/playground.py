"""What the playground asks of tdsl, in the browser: the command line itself, called in this process.

A question is files of a design and a command; the answer is what the command prints, and for `check` the same
report as JSON, so that the page can show each finding at its line.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from engine import EngineAbsent

FOLDER = Path("/design")
LINKS, DEVICES = 16_000, 40_000
LIMITS = ("--limit-links", str(LINKS), "--limit-devices", str(DEVICES))
"""A browser counts rows in 32 bits: with so many, no product of two numbers of rows wraps."""
TOO_LARGE = re.compile(r"--limit-(?:links|devices)")
"""What the help of a finding names if one of the limits was met."""
WHY = {
    "z3": "this design asks for sizes that the solver z3 finds, and z3 does not run in the browser",
    "scipy": "this design is larger than the playground proves",
    "jinja2": "configurations are not built in the browser",
    "networkx": "second opinions are not computed in the browser",
    "yaml": "captures are not read in the browser",
    "xlsxwriter": "workbooks are not written in the browser",
}
"""What needs a package that the playground lacks, in words."""
COMMANDS = {
    "check": ("check", "--no-cache", "--report", "json=/tmp/report.json", *LIMITS),
    "expand": ("expand", *LIMITS),
    "fmt": ("fmt",),
    "view": ("view", "--check", "--no-open", "-o", "/tmp/view.html", *LIMITS),
}
"""The words of each command, without the file."""


_unexplained: list[str] = []
"""Codes of findings of which z3 would say the lines that contradict each other, in the present question."""


OF_TEXT = ("E00", "E01")
"""Families of findings that stand whatever else is found: of syntax, and of names and values."""


def leave_out_conflicts() -> None:
    """Have findings about sizes stand without the lines that contradict each other, which z3 finds."""

    def add_conflicting_lines(plan: Any, found: Any, codes: Any, **_: Any) -> None:
        _unexplained.extend(d.code for d in found if d.code in codes)

    def explain_conflict(finding: Any, *_: Any) -> Any:
        _unexplained.append(finding.code)
        return finding

    for name, function in (
        ("tdsl.sizing.conflicts", add_conflicting_lines),
        ("tdsl.semantics.contradiction", explain_conflict),
    ):
        module = ModuleType(name)
        setattr(module, function.__name__, function)
        sys.modules.setdefault(name, module)


def begin_session() -> None:
    """Have the operating system be as tdsl expects one. It is no part of an image of Python's memory."""
    os.umask(0o022)  # Emscripten begins with 0o777: nobody may read what is written
    if not hasattr(os, "geteuid"):  # Emscripten has one user alone
        os.geteuid, os.getegid = os.getuid, os.getgid
    importlib.invalidate_caches()


def import_commands() -> None:
    """Load what each command needs, so that the first answer does not wait for it."""
    import numpy as np  # noqa: F401


def find_first_errors(text: str) -> str:
    """Errors of the text of a design that is to be checked, as JSON in the form of a report's findings; "" if
    there is none, or if none is known without numpy.

    The whole answer has each of them again: reading and planning find them, before anything is wired, and no
    comment allows them.
    """
    question = json.loads(text)
    if question["command"] != "check":
        return ""
    from tdsl.compile.compiler import Request, UsageError, expand_intent
    from tdsl.report.json_report import finding_as_json

    name = next(iter(question["files"]))
    _write_files(question["files"])
    leave_out_conflicts()
    try:
        _, found = expand_intent(name, Request(max_links=LINKS, max_devices=DEVICES))
    except (ImportError, UsageError, ArithmeticError, MemoryError, RecursionError):
        return ""  # the whole answer says why
    errors = [finding_as_json(d, name) for d in found.findings if d.code.startswith(OF_TEXT)]
    return json.dumps(errors) if errors else ""


def answer_question(text: str) -> str:
    """The answer to one question, both as JSON: ``command``, ``files`` (name to text; the first is the
    design).

    The answer has ``status``, ``output`` and ``errors`` as printed, and by command ``report``, ``text`` or
    ``page``; ``missing`` says in words what does not run in a browser. Raises EngineAbsent if HiGHS is needed
    and was not loaded: then the question is asked again.
    """
    from wide_integers import use_wide_integers

    use_wide_integers()
    leave_out_conflicts()
    _unexplained.clear()
    question = json.loads(text)
    names = list(question["files"])
    _write_files(question["files"])
    command = question["command"]
    status, output, errors, missing = _call_tdsl([*COMMANDS[command], "--", names[0]])
    if _unexplained and not missing:
        codes = ", ".join(sorted(set(_unexplained)))
        missing = (
            f"the lines that contradict each other in {codes} are found by z3, which does not "
            "run in the browser; tdsl on your own machine lists them"
        )
    told: dict[str, object] = {"status": status, "output": output, "errors": errors, "missing": missing}
    if command == "check":
        told["report"] = _read_if_there("/tmp/report.json")
        if TOO_LARGE.search(str(told["report"])):
            told["missing"] = (
                "this design is larger than the playground takes (16,000 links, 40,000 devices); tdsl on "
                "your own machine takes it"
            )
    elif command == "view":
        told["page"] = _read_if_there("/tmp/view.html")
    elif command == "fmt":
        told["text"] = (FOLDER / names[0]).read_text(encoding="utf-8")
    return json.dumps(told)


def _write_files(files: dict[str, str]) -> None:
    """Have the folder hold these files and no others."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for made in ("/tmp/report.json", "/tmp/view.html"):
        Path(made).unlink(missing_ok=True)
    for name, text in files.items():
        path = (FOLDER / name).resolve()
        if not path.is_relative_to(FOLDER):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    os.chdir(FOLDER)


def _read_if_there(name: str) -> str | None:
    path = Path(name)
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _call_tdsl(arguments: list[str]) -> tuple[int, str, str, str]:
    """Status, standard output, standard error of one call, and what it needs that is not here."""
    from tdsl.cli import cli

    streams = sys.stdout, sys.stderr
    written = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in streams]
    missing, status = "", 2
    sys.stdout, sys.stderr = written
    try:
        status = cli.main(args=arguments, prog_name="tdsl", standalone_mode=False) or 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 2
    except EngineAbsent:
        raise
    except ModuleNotFoundError as fault:
        missing = _words_for_absent(fault)
    except (OverflowError, FloatingPointError, MemoryError, RecursionError) as fault:
        why = str(fault) or type(fault).__name__
        missing = f"this is too large for the playground ({why}); tdsl on your own machine takes it"
    finally:
        sys.stdout, sys.stderr = streams
        for stream in written:
            stream.flush()
    output, errors = (stream.buffer.getvalue().decode("utf-8") for stream in written)
    return status, output, errors, missing


def _words_for_absent(fault: ModuleNotFoundError) -> str:
    """What a package that is not here would have done."""
    name = (fault.name or "").partition(".")[0]
    why = WHY.get(name, f"this needs the package {name}, which does not run in the browser")
    return f"{why}; tdsl on your own machine answers it"
