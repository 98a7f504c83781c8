"""Lines of TOML files that people write by hand: where a key is, and what a line that is no TOML means."""

from __future__ import annotations

import re

_PLACE = re.compile(r"line (\d+)")
_PAIR = re.compile(r"\s*([\w-]+|\"[^\"]*\")\s*([=:])\s*([^#\n]*?)\s*(?:#.*)?")
_FACTORS = {"k": 1000, "m": 10**6, "b": 10**9}


def place_of_toml_key(text: str, key: str) -> tuple[int, int]:
    """Begin and end of the line that gives a key its value or begins its table, that of the first line where
    there is none."""
    name = re.escape(key)
    found = re.search(rf"^[ \t]*(?:\[{name}\]|\"?{name}\"?[ \t]*=)[^\n]*", text, re.MULTILINE)
    if found is None:
        end = text.find("\n")
        return 0, end if end > 0 else len(text)
    return found.start(), found.end()


def place_of_toml_fault(text: str, fault: str) -> tuple[int, int]:
    """Begin and end of the line that the message of a TOML reader names; the last line where it names
    none."""
    lines = text.split("\n")
    found = _PLACE.search(fault)
    number = int(found[1]) if found is not None else len(lines)
    number = min(max(number, 1), len(lines))
    start = sum(len(line) + 1 for line in lines[: number - 1])
    return start, start + len(lines[number - 1])


def toml_line_meant(line: str) -> str:
    """The line that one which is no TOML means, such as `kwh = 0.08` for `kwh: 0,08`; "" where that is not
    known."""
    found = _PAIR.fullmatch(line)
    if found is None or not found[3]:
        return ""
    value = found[3].rstrip(",;")
    new = _value_meant(value)
    return f"{found[1]} = {new}" if new and (new != value or found[2] == ":" or value != found[3]) else ""


def _value_meant(value: str) -> str:
    """A value as TOML writes it; "" where that is not known."""
    money = re.fullmatch(
        r"(?:[$€£]|[A-Z]{3} )?([0-9][0-9_]*(?:\.[0-9]+)?)([kKmMbB]?)(?: ?(?:[$€£]|[A-Z]{3}))?", value
    )
    if money is not None:
        return _multiplied(money[1], money[2])
    if re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+", value) and not value.startswith("0"):
        return value.replace(",", "_")
    if re.fullmatch(r"[0-9]+,[0-9]+", value):
        return value.replace(",", ".")
    if share := re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?%", value):
        return format(float(share[1]) / 100, "g")
    if re.fullmatch(r"\[[^\[\]\"]+\]", value):
        parts = [part.strip().strip("'\"") for part in value[1:-1].split(",")]
        return f"[{', '.join(_quoted(part) for part in parts if part)}]"
    if re.fullmatch(r"[\w./%-]+(?: [\w./%-]+)*", value):
        return value if value in ("true", "false") else _quoted(value)
    unclosed = re.fullmatch(r"\"([^\"]*)|([^\"]*)\"", value)
    return _quoted((unclosed[1] or unclosed[2] or "").strip()) if unclosed is not None else ""


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[0-9.]+", word) else f'"{word}"'


def _multiplied(number: str, letter: str) -> str:
    """``30`` and ``k`` as 30000."""
    if not letter:
        return number
    return format(float(number.replace("_", "")) * _FACTORS[letter.lower()], ".0f")
