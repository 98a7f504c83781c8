"""Two texts of one design that differ in what is required, waived or given as a parameter, or in nothing but their form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from tests.soundness.families.extended_instances import extended_design
from tests.soundness.families.unequal_sites import unequal_design


@dataclass(frozen=True)
class Change:
    """A design before and after, what was changed, and whether that is a difference."""

    seed: int
    what: str
    before: str
    after: str
    differs: bool


def without_requirement(text: str, rng: Random) -> str:
    """A requirement less, which no other line repeats."""
    lines = text.splitlines()
    at = rng.choice([i for i in requirement_lines(lines) if lines.count(lines[i]) == 1])
    return "\n".join([*lines[:at], *lines[at + 1 :], ""])


def other_value(text: str, rng: Random) -> str:
    """Another value in a requirement."""
    lines = text.splitlines()
    at = rng.choice([i for i in requirement_lines(lines) if re.search(r"[<>=]= ?\d+$", lines[i])])
    lines[at] = re.sub(r"(\d+)$", lambda m: str(int(m[1]) + 1), lines[at])
    return "\n".join([*lines, ""])


def other_operator(text: str, rng: Random) -> str:
    """Another comparison in a requirement."""
    lines = text.splitlines()
    at = rng.choice([i for i in requirement_lines(lines) if re.search(r" (>=|<=) ", lines[i])])
    lines[at] = re.sub(r" (>=|<=) ", lambda m: f" {m[1][0]} ", lines[at])
    return "\n".join([*lines, ""])


def reported_only(text: str, rng: Random) -> str:
    """A report in the place of a requirement."""
    lines = text.splitlines()
    once = [at for at in requirement_lines(lines) if lines.count(lines[at]) == 1]
    at = rng.choice(once or requirement_lines(lines))
    lines[at] = lines[at].replace("require ", "report ", 1)
    return "\n".join([*lines, ""])


def requirement_more(text: str, rng: Random) -> str:
    """A requirement more."""
    more = rng.choice(("require links >= 1", "require rate_match", "require survives any 1 links of s0 with reachability"))
    return text.rstrip().removesuffix("}") + f"  {more.replace('s0', 'su') if 'su[' in text else more}\n}}\n"


def waiver_more(text: str, rng: Random) -> str:
    """A waiver more."""
    lines = text.splitlines()
    at = rng.choice([i for i, line in enumerate(lines) if re.match(r"\s*(host|switch) ", line)])
    lines[at] += "  # tdsl: allow(isolated) they are cabled in the second phase"
    return "\n".join([*lines, ""])


def parameter_of_requirement(text: str, rng: Random) -> str:
    """Another value of a parameter that a requirement alone uses."""
    return text.replace("param least: int = 1", "param least: int = 0")


def comment_more(text: str, rng: Random) -> str:
    """A comment and a blank line more."""
    lines = text.splitlines()
    at = rng.randrange(1, len(lines))
    return "\n".join([*lines[:at], "", "# checked by hand", *lines[at:], ""])


def other_blanks(text: str, rng: Random) -> str:
    """Other blanks between words."""
    return re.sub(r"^( +)(require|connect|host|switch) ", r"\1\2   ", text, flags=re.MULTILINE)


def requirement_lines(lines: list[str]) -> list[int]:
    """The numbers of the lines that require something."""
    return [i for i, line in enumerate(lines) if line.lstrip().startswith("require ")]


CHANGES: Mapping[str, tuple[Callable[[str, Random], str], bool]] = {
    "a requirement less": (without_requirement, True),
    "another value": (other_value, True),
    "another operator": (other_operator, True),
    "a report for a requirement": (reported_only, True),
    "a requirement more": (requirement_more, True),
    "a waiver more": (waiver_more, True),
    "another parameter of a requirement": (parameter_of_requirement, True),
    "a comment more": (comment_more, False),
    "other blanks": (other_blanks, False),
}


def change_of_seed(seed: int) -> Change:
    """A design of another family, and a change of it."""
    rng = Random(seed)
    text = rng.choice((unequal_design, unequal_design, extended_design))(seed).text()
    text = re.sub(r"^ *require (survives|blast_radius).*\n", "", text, flags=re.MULTILINE)
    text = "param least: int = 1\n" + text.rstrip().removesuffix("}") + "  require links >= least\n  require reachability\n"
    text += "  require cables <= 4000\n}\n"
    what = rng.choice([*CHANGES])
    change, differs = CHANGES[what]
    return Change(seed, what, text, change(text, rng), differs)
