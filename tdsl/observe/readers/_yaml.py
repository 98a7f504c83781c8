"""YAML of captures: documents whose aliases are none or bounded, and the lines of names in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.record import Malformed

LONGEST_YAML = 1 << 24
"""Characters of a YAML text that is read: a reader of YAML takes about a second for each million."""


LONGEST_NUMBER = 1000
"""Characters of a number: one to the base 60 takes time that grows with their square."""


class MappingAtLine(dict[Any, Any]):
    """A mapping of YAML, and the line where it begins."""

    line = 1


def documents_of_yaml(file: SourceFile, help: str, most_values: int = 0) -> list[Any]:
    """The documents of a YAML text as plain values; mappings know their line. Raises Malformed where it is
    not YAML, is too long, has a key twice, and where it has aliases: a few lines of these stand for more
    values than there is memory. With ``most_values`` aliases are read where all that they stand for is at
    most so many values."""
    import yaml

    if len(file.text) > LONGEST_YAML:
        raise Malformed(1, f"this YAML has more than {LONGEST_YAML:,} characters", help)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if "*" in file.text:  # without which there is no alias
            _refuse_too_many_values(yaml, yaml.parse(file.text, Loader=loader), help, most_values)
        return list(yaml.load_all(file.text, Loader=_loader_with_lines(loader, help)))
    except yaml.YAMLError as wrong:
        mark = getattr(wrong, "problem_mark", None)
        raise Malformed(mark.line + 1 if mark is not None else 1, "this is not YAML", help) from None
    except (ValueError, RecursionError):  # a date that is none; lists within lists
        raise Malformed(1, "a value of this YAML cannot be read", help) from None


def _refuse_too_many_values(yaml: Any, events: Iterator[Any], help: str, most: int) -> None:
    """Raise Malformed at an alias that is not permitted: one within its own value, or one with which the text
    stands for more values than ``most``."""
    sizes: dict[str, int] = {}
    open_values: list[tuple[str | None, int]] = []
    within: Counter[str | None] = Counter()
    total = 0
    for event in events:
        line = event.start_mark.line + 1
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            open_values.append((event.anchor, total))
            within[event.anchor] += 1
            total += 1
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            anchor, before = open_values.pop()
            within[anchor] -= 1
            sizes |= {anchor: total - before} if anchor else {}
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            sizes |= {event.anchor: 1} if event.anchor else {}
        elif isinstance(event, yaml.AliasEvent):
            if not most:
                raise Malformed(line, "an alias of YAML, which repeats a value", help)
            if within[event.anchor]:
                raise Malformed(line, "an alias of YAML within the value that it repeats", help)
            total += sizes.get(event.anchor, 1)
            if total > most:
                raise Malformed(line, f"with its aliases this YAML has more than {most:,} values", help)


def _loader_with_lines(loader: Any, help: str) -> Any:
    """A loader whose mappings know their line, and that refuses a key that is there twice."""

    class WithLines(loader):  # type: ignore[misc]
        pass

    def mapping_at_line(self: Any, node: Any) -> Iterator[MappingAtLine]:
        found = MappingAtLine()
        found.line = node.start_mark.line + 1
        yield found
        keys: set[tuple[str, str]] = set()
        for key, _ in node.value:
            named = key.tag, str(key.value)
            if named in keys and key.tag != "tag:yaml.org,2002:merge":
                raise Malformed(
                    key.start_mark.line + 1, f"{named[1][:60]!r} is there twice in one mapping", help
                )
            keys.add(named)
        found.update(self.construct_mapping(node))

    def number(self: Any, node: Any) -> Any:
        if len(node.value) > LONGEST_NUMBER:
            raise Malformed(node.start_mark.line + 1, f"a number of {len(node.value):,} characters", help)
        return getattr(self, f"construct_yaml_{node.tag.rpartition(':')[2]}")(node)

    WithLines.add_constructor("tag:yaml.org,2002:map", mapping_at_line)
    for kind in ("int", "float"):
        WithLines.add_constructor(f"tag:yaml.org,2002:{kind}", number)
    return WithLines


def lines_of_names(file: SourceFile, keys: str) -> dict[str, int]:
    """The first line that gives a name to one of some keys (``switch|block``), by name."""
    found: dict[str, int] = {}
    form = re.compile(rf"\b(?:{keys})\"?[ \t]*+:[ \t]*+[\"']?([^\"'\s,}}]*+)")
    for number, line in enumerate(file.text.split("\n"), 1):
        for match in form.finditer(line):
            found.setdefault(match[1], number)
    return found
