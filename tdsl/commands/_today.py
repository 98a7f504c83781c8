"""The day by which what has a last day is judged: waivers, and faults that an audit accepts."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tdsl.commands._shared import Wrong
from tdsl.compile.waivers import date_from_text

F = TypeVar("F", bound=Callable[..., Any])
EPOCH = "SOURCE_DATE_EPOCH"

if TYPE_CHECKING:
    DayType = click.ParamType[date]
else:
    DayType = click.ParamType


class Day(DayType):
    """A date, such as ``2027-01-31``."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """The date, or a wrong call."""
        if isinstance(value, date):
            return value
        try:
            return date_from_text(str(value))
        except ValueError as wrong:
            self.fail(str(wrong), param, ctx)


def today_option(command: F) -> F:
    """``--today``."""
    return click.option(
        "--today",
        type=Day(),
        metavar="DATE",
        help=f"The day by which end dates are judged; {EPOCH} or the clock if not given.",
    )(command)


def day_of_call(given: date | None) -> date:
    """The day: as given, else that of SOURCE_DATE_EPOCH (seconds, UTC), else that of the clock (UTC). Raises
    Wrong."""
    if given is not None:
        return given
    seconds = os.environ.get(EPOCH, "").strip()
    if not seconds:
        return datetime.now(UTC).date()
    try:
        return datetime.fromtimestamp(int(seconds), UTC).date()
    except (ValueError, OverflowError, OSError):
        raise Wrong(f"{EPOCH} is {seconds!r}: give the seconds since 1970-01-01") from None
