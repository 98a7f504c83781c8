"""YAML of captures: documents without aliases, and the lines of names in them."""

from __future__ import annotations

import re
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.record import Malformed


def documents_of_yaml(file: SourceFile, help: str) -> list[Any]:
    """The documents of a YAML text as plain values. Raises Malformed where it is not YAML, and where it has
    aliases: a few lines of these stand for more values than there is memory."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(file.text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line + 1
                raise Malformed(line, "an alias of YAML, which repeats a value", help)
        return list(yaml.load_all(file.text, Loader=loader))
    except yaml.YAMLError as wrong:
        mark = getattr(wrong, "problem_mark", None)
        raise Malformed(mark.line + 1 if mark is not None else 1, "this is not YAML", help) from None
    except (ValueError, RecursionError):  # a date that is none; lists within lists
        raise Malformed(1, "a value of this YAML cannot be read", help) from None


def lines_of_names(file: SourceFile, keys: str) -> dict[str, int]:
    """The first line that gives a name to one of some keys (``switch|block``), by name."""
    found: dict[str, int] = {}
    form = re.compile(rf"\b(?:{keys})\"?[ \t]*+:[ \t]*+[\"']?([^\"'\s,}}]*+)")
    for number, line in enumerate(file.text.split("\n"), 1):
        for match in form.finditer(line):
            found.setdefault(match[1], number)
    return found
