"""The help of commands: examples within the columns of the terminal."""

from __future__ import annotations

import re

import click

EXAMPLE = re.compile(r"( *)((?:\w+ > \S+; )?tdsl .*?\S)(?: +(\(.+\)))?")


class ExamplesHelpFormatter(click.HelpFormatter):
    """Writes help. Where an example does not fit, the words in brackets that say what it does stand nearer to
    it or on the next line, and its options go on there."""

    def write(self, string: str) -> None:
        """Write a piece of text."""
        super().write("\n".join(self._fitted_example(line) for line in string.split("\n")))

    def _fitted_example(self, line: str) -> str:
        found = EXAMPLE.fullmatch(line) if len(line) > self.width else None
        if found is None:
            return line
        indent, call, words = found.groups()
        near = f"{indent}{call}  {words}"
        if words and len(near) <= self.width:
            return near
        lines = [indent]
        for piece in re.split(r"(?<=\S) (?=--)", call):
            gap = " " if lines[-1].strip() else ""
            if gap and len(lines[-1]) + len(piece) + 3 > self.width:
                lines[-1] += " \\"
                lines.append(f"{indent}    ")
                gap = ""
            lines[-1] += gap + piece
        return "\n".join([*lines, *([f"{indent}    {words}"] if words else [])])


class CommandContext(click.Context):
    """A call of a command, whose help is written so."""

    formatter_class = ExamplesHelpFormatter
