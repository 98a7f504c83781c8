"""Values of options: what a target's manifest says that each of its options takes.

``[values]`` of a ``target.toml`` has an entry an option: a list of words, ``{from = 0, to = 7}`` for whole
numbers, or ``{form = 'REGEX', says = "a time, such as 0.5ms"}`` for texts. An option without an entry takes
any value of its default's type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tdsl.semantics.fault import closest_known_name
from tdsl.system.lazy_dataclass import dataclass

KINDS = {bool: "true or false", int: "a whole number", str: "a text"}


class OptionUnfit(Exception):
    """What is wrong with the entry of a manifest."""


@dataclass(frozen=True, slots=True)
class Values:
    """What one option takes: ``words``, else numbers from ``least`` to ``most``, else texts of a ``form``
    that ``says`` names."""

    words: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    form: str = ""
    says: str = ""

    @property
    def takes(self) -> str:
        """What the option takes, in words."""
        if self.words:
            return f"one of {', '.join(w or 'nothing' for w in self.words)}"
        if self.form:
            return self.says
        if self.least is None:
            return f"a whole number up to {self.most}"
        return (
            f"a whole number of at least {self.least}"
            if self.most is None
            else f"a whole number from {self.least} to {self.most}"
        )

    def fits(self, value: object) -> bool:
        """Whether the option takes this value of the right type."""
        if self.words or self.form:
            return (
                value in self.words
                if self.words
                else re.fullmatch(self.form, str(value), re.ASCII) is not None
            )
        number = int(str(value))
        return (self.least is None or number >= self.least) and (self.most is None or number <= self.most)


def read_option_values(data: object, options: Mapping[str, object]) -> dict[str, Values]:
    """``[values]`` of a manifest; raises ``OptionUnfit``."""
    if not isinstance(data, Mapping):
        raise OptionUnfit("`values` is a table of options and what they take")
    out = {}
    for name, entry in data.items():
        if name not in options:
            raise OptionUnfit(f"`values` has `{name}`, and `options` has not")
        out[name] = found = _values_of_option(name, entry)
        if isinstance(options[name], str) == (
            found.least is not None or found.most is not None
        ) or not found.fits(options[name]):
            raise OptionUnfit(f"the default of option `{name}` is not {found.takes}")
    return out


def _values_of_option(name: str, entry: object) -> Values:
    if isinstance(entry, list) and entry and all(isinstance(w, str) for w in entry):
        return Values(words=tuple(entry))
    if (
        isinstance(entry, Mapping)
        and entry
        and set(entry) <= {"from", "to"}
        and all(type(n) is int for n in entry.values())
    ):
        return Values(least=entry.get("from"), most=entry.get("to"))
    if (
        isinstance(entry, Mapping)
        and set(entry) == {"form", "says"}
        and all(isinstance(t, str) for t in entry.values())
    ):
        try:
            re.compile(entry["form"])
        except re.error as fault:
            raise OptionUnfit(f"`values`: `{name}` has a form that is none: {fault}") from fault
        return Values(form=entry["form"], says=entry["says"])
    raise OptionUnfit(
        f"`values`: `{name}` is a list of words, {{from = 0, to = 7}}, or {{form = 'REGEX', says = \"a "
        'time"}'
    )


def why_option_is_unfit(
    options: Mapping[str, object], values: Mapping[str, Values], name: str, value: object
) -> str:
    """Why an option of a target cannot have a value, "" if it can."""
    if name not in options:
        near = closest_known_name(name, options)
        known = f"there are {', '.join(options)}" if options else "this target has none"
        return f"there is no option `{name}`; " + (f"did you mean `{near}`? " if near else "") + known
    if type(value) is not type(options[name]):
        return f"`{name}` is {KINDS.get(type(options[name]), type(options[name]).__name__)}, not {value!r}"
    return (
        f"`{name}` is {values[name].takes}, not {value!r}"
        if name in values and not values[name].fits(value)
        else ""
    )


def option_description_lines(options: Mapping[str, object], values: Mapping[str, Values]) -> list[str]:
    """A line an option: its name, what it takes, and its default."""
    out = []
    for name, default in options.items():
        takes = values[name].takes if name in values else KINDS.get(type(default), "")
        shown = str(default).lower() if isinstance(default, bool) else default
        out.append(
            f"- `{name}`: {takes}; " + ("nothing" if default == "" else f"`{shown}`") + " if not given"
        )
    return out
