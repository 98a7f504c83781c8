"""How names get into each format: quoted where the format can quote, refused where it cannot.

A name may hold anything a string can, so nothing reaches a file but through one of these.
"""

from __future__ import annotations

import json as json_module
import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from shlex import quote

from tdsl.emit.rows import RowLines, csv_line, csv_rows, json_rows, spreadsheet_cell
from tdsl.fabric.columns import Table, natural_sort_key

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]+")
"""What steers, ends a line, or is no character: YAML and XML refuse a file with one."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IBDM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:@+-]{0,63}")
_IBDM_WORDS = frozenset(("CA", "CFG", "HCA", "NODE", "SUBSYSTEM", "SW", "SYSTEM", "TOPSYSTEM"))
_STEM_AND_NUMBER = re.compile(r"(.*?)(\d{0,9})")
_NOT_IN_FILE_NAMES = re.compile(r"[^\w.+~@=-]+")
_DEVICES = re.compile(r"(CON|PRN|AUX|NUL|(COM|LPT)[0-9\u00b9\u00b2\u00b3])(\..*)?|.*\.", re.IGNORECASE)
"""What Windows takes for a device, whatever follows its first dot, and names whose last dot it drops."""


class NameRefused(Exception):
    """A name that a format has no way to hold."""


class FileLeftOut(Exception):
    """A file that is better not written; the message says why."""


def csv_row(values: Sequence[object]) -> str:
    """Values as one line of a CSV file."""
    return csv_line(values)


def url_slug(value: object) -> str:
    """A name as part of an address of a web page: small letters, digits, ``-`` and ``_``, at most 100; one
    that has to be changed beyond its case ends in a few digits of its hash, so that two of them stay two."""
    text = str(value)
    made = re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-")[:80]
    if made == text.lower() and made:
        return made
    mark = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{made}-{mark}" if made else mark


def column_headings(columns: Sequence[str]) -> list[str]:
    """What the chosen columns are called in the file."""
    return [c.partition("=")[0] for c in columns]


def _chosen_fields(columns: Sequence[str]) -> list[str]:
    """Fields of the chosen columns; ``heading=field`` renames one, ``heading=`` is an empty one."""
    parts = [c.partition("=") for c in columns]
    return [field if renamed else heading for heading, renamed, field in parts]


def csv_table_text(table: Table[object], columns: Sequence[str]) -> str:
    """A table as comma-separated values with a heading, without the last line's end."""
    return b"".join(csv_rows(table, _chosen_fields(columns), column_headings(columns))).decode()


def json_value_text(value: object) -> str:
    """A value as JSON."""
    return json_module.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def json_list(table: Table[object], columns: Sequence[str]) -> str:
    """A table as JSON arrays, one a line. Empty is null, since no column has the empty string as a value of
    its own."""
    return b"".join(json_rows(table, _chosen_fields(columns))).decode()


def _want_all_fields(table: Table[object], columns: Sequence[str]) -> None:
    """Raises KeyError for a field that the table does not have."""
    for field in filter(None, _chosen_fields(columns)):
        table.want(field)


def csv_table_pieces(table: Table[object], columns: Sequence[str]) -> RowLines:
    """What `csv` gives, made while the file is written."""
    _want_all_fields(table, columns)
    return RowLines.of(lambda: csv_rows(table, _chosen_fields(columns), column_headings(columns)))


def json_rows_pieces(table: Table[object], columns: Sequence[str]) -> RowLines:
    """What `json_rows` gives, made while the file is written."""
    _want_all_fields(table, columns)
    return RowLines.of(lambda: json_rows(table, _chosen_fields(columns)))


PRINTED = {"csv": csv_table_pieces, "json_rows": json_rows_pieces}
"""Filters with another that goes to the file piece by piece, where a template prints what it gives as it
is."""


_UP_TO_COMMA = re.compile(r'((?:[^",]++|"(?:[^"\\]++|\\.)*+"|,(?!\s*[}\]])|")*+)(?:,|\Z)', re.S)
"""JSON up to a comma that stands before a closing bracket, or to the end."""
_QUOTED = json_module.encoder.encode_basestring_ascii


def merged_json_tables(text: str) -> str:
    """Objects of JSON, one after the other, as one: tables by name, those of one name put together, empty
    ones left out. A comma may stand before a closing bracket."""
    rest = _UP_TO_COMMA.sub(lambda m: m[1], text).strip()
    decoder = json_module.JSONDecoder()
    found: dict[str, dict[str, object]] = {}
    while rest:
        part, end = decoder.raw_decode(rest)
        rest = rest[end:].lstrip()
        for name, table in part.items():
            _merge_tables(found.setdefault(name, {}), table)
    return _indented_json({n: t for n, t in sorted(found.items()) if t}, "\n") + "\n"


def _indented_json(value: object, margin: str) -> str:
    """What ``json.dumps`` gives with an indent of 2, which that does object by object in Python."""
    inner = margin + "  "
    if isinstance(value, dict) and value:
        inside = [
            f"{_QUOTED(key)}: {_QUOTED(v) if type(v) is str else _indented_json(v, inner)}"
            for key, v in value.items()
        ]
        return f"{{{inner}{f',{inner}'.join(inside)}{margin}}}"
    if isinstance(value, list) and value:
        return f"[{inner}{f',{inner}'.join(_indented_json(v, inner) for v in value)}{margin}]"
    return json_module.dumps(value)


def _merge_tables(into: dict[str, object], table: dict[str, object]) -> None:
    """Add the rows of a table to another, and the fields of a row to the row of that name."""
    for key, value in table.items():
        there = into.get(key)
        if isinstance(there, dict) and isinstance(value, dict):
            _merge_tables(there, value)
        else:
            into[key] = value


def xml_escaped_text(value: object) -> str:
    """Text or an attribute's value in real XML, such as SVG."""
    text = _NOT_XML.sub("\ufffd", str(value))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def unescaped_attribute(value: object) -> str:
    """An attribute's value for a reader that knows no entities and has room for 253 bytes."""
    text = str(value)
    if set(text) & set("<>&\"'") or _CONTROL.search(text):
        raise NameRefused(f"{text!r} cannot be written in an attribute: the format has no escapes")
    if not text or len(text.encode()) > 253:
        raise NameRefused(f"{text!r} has {len(text.encode())} bytes; 1 to 253 fit")
    return text


def unquoted_setting(value: object) -> str:
    """A value of a file of ``NAME=value`` lines in which nothing is quoted, trimmed or escaped."""
    text = str(value)
    if not text or text != text.strip() or _CONTROL.search(text) or len(text.encode()) > 1000:
        raise NameRefused(f"{text!r} cannot be written after `=`: the value extends to the end of the line")
    return text


def adapter_list_name(value: object) -> str:
    """The name of an adapter in a list that is split at commas and colons."""
    text = unquoted_setting(value)
    if set(text) & set(",:^= #"):
        raise NameRefused(
            f"{text!r} cannot be written in a list of adapters, which is split at commas and colons"
        )
    return text


def dot_quoted_string(value: object) -> str:
    """A quoted string of the graph language DOT."""
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{_CONTROL.sub(" ", text)}"'


def infiniband_node_name(value: object) -> str:
    """A name in an InfiniBand netlist: at most 64 bytes, no quotes, marks of comments or module names,
    brackets, or blanks at an end, which tables of assets are read without."""
    text = str(value)
    fit = text and text == text.strip() and not set(text) & set('"#@[]') and not _CONTROL.search(text)
    if not fit or len(text.encode()) > 64:
        raise NameRefused(
            f'{text!r} is not a name for an InfiniBand node: 1 to 64 bytes without " # @ [ ], control '
            "characters and "
            "spaces at an end"
        )
    return text


def ibutils_name(value: object) -> str:
    """A name in the files of ibutils, which know no quotes; their own words, and a single character, get a
    ``_`` at the end."""
    text = str(value)
    if text.upper() in _IBDM_WORDS or len(text) == 1:
        text += "_"
    if not _IBDM.fullmatch(text):
        raise NameRefused(f"{text!r} is not a name for ibutils: 1 to 64 letters, digits and . _ : @ + -")
    return text


def router_name(value: object) -> str:
    """A name in a router's configuration: a letter, then letters, digits and ``. _ -``, at most 63
    characters."""
    text = str(value)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]{0,62}", text):
        raise NameRefused(
            f"{text!r} is not a name for a router: a letter, then at most 62 letters, digits and . _ -"
        )
    return text


def linux_interface_name(value: object) -> str:
    """An interface's name under Linux: 1 to 15 characters without blanks. A slash, which no device can have,
    becomes ``_``."""
    text = str(value).replace("/", "_")
    if not re.fullmatch(r"[!-~]{1,15}", text) or text in (".", "..") or set(text) & set(":%!"):
        raise NameRefused(
            f"{value!r} is not an interface of Linux: 1 to 15 characters without spaces and any of : % !"
        )
    return text


def switch_description(value: object) -> str:
    """A description on a switch: one line of at most 240 letters, digits and marks of ASCII, with ``_`` for
    any other character and for quotes, ``?`` and the backslash. Cumulus Linux parses no others, EOS has room
    for 240."""
    return re.sub(r"[^ -~]|['\"?`\\]", "_", single_line_text(value)).strip()[:240] or "_"


def xml_comment(value: object) -> str:
    """Text inside a comment of XML: printable ASCII without angle brackets, and no two dashes in a row."""
    return re.sub(r"[^ -~]|[<>]", "_", re.sub("-(?=-)", "- ", single_line_text(value))).strip().rstrip("-")


def slurm_node_name(value: object) -> str:
    """A node or switch of Slurm: letters, digits and ``. _ -``, at most 64 bytes; brackets and commas would
    be a list. ``all`` and ``default`` are words of its configuration: slurmctld ends at a node of that name.
    """
    text = str(value)
    if text.lower() in ("all", "default"):
        raise NameRefused(f"{text!r} is a reserved word of Slurm; `naming` gives devices other names")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", text):
        raise NameRefused(f"{text!r} is not a name for Slurm: 1 to 64 letters, digits and . _ -")
    return text


def folded_host_list(names: Sequence[object]) -> str:
    """Nodes or switches of Slurm as a host list: ``rack0-node[0-31],login``. Names that end in a number and
    differ in it alone share a bracket where the numbers follow each other, with the leading zeros that all of
    them have."""
    out: dict[str, list[str]] = {}  # by stem; with a comma behind it, which no stem has, of a whole name
    for stem, text, first, last in _runs_of_numbered_names(map(slurm_node_name, names)):
        part = text if first == last else f"{text}-{last:0{len(text)}d}"
        out.setdefault(stem if text else f"{stem},", []).append(part)
    return ",".join(
        stem.removesuffix(",")
        if stem.endswith(",")
        else f"{stem}[{','.join(parts)}]"
        if len(parts) > 1 or "-" in parts[0]
        else f"{stem}{parts[0]}"
        for stem, parts in out.items()
    )


def _runs_of_numbered_names(names: Iterable[str]) -> list[tuple[str, str, int, int]]:
    """Names that follow each other in their number alone, as one: the stem, the first number as text ("" if
    the name has none), the first and the last number."""
    runs: list[tuple[str, str, int, int]] = []
    for name in names:
        stem, digits = _STEM_AND_NUMBER.fullmatch(name).groups()  # type: ignore[union-attr]
        if digits and runs:
            last_stem, text, first, last = runs[-1]
            if last_stem == stem and text and digits == f"{last + 1:0{len(text)}d}":
                runs[-1] = (stem, text, first, last + 1)
                continue
        runs.append((stem, digits, int(digits or 0), int(digits or 0)))
    return runs


def dns_host_name(value: object, taken: dict[str, str] | None = None, of: object = None) -> str:
    """A label of a DNS name, in small letters: 1 to 63 letters, digits and ``-``, not at the ends (RFC 1123,
    section 2.1).

    ``taken`` holds what each label written so far is ``of``, the device if nothing else is said: one of
    another is refused, since DNS makes no difference between capital and small letters (RFC 4343).
    """
    text = str(value).lower()
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", text):
        raise NameRefused(
            f"{str(value)!r} is not a host name: 1 to 63 letters, digits and -; `naming` gives devices "
            "other names"
        )
    mine = repr(str(value)) if of is None else str(of)
    other = mine if taken is None else taken.setdefault(text, mine)
    if other != mine:
        raise NameRefused(
            f"{other} and {mine} would be one host name, {text}; `naming` gives devices other names"
        )
    return text


def ansible_host_name(value: object) -> str:
    """A host in an inventory of Ansible: a ``word`` that is no group's name, since a group would take its
    place."""
    text = router_name(value)
    if re.fullmatch(r"all|ungrouped|hosts|switches|(tier|plane|role|nos)_.*", text):
        raise NameRefused(
            f"{text!r} is the name of a group in the inventory; `naming` gives devices other names"
        )
    return text


def kubernetes_label(value: object) -> str:
    """A label's value in Kubernetes: 1 to 63 letters, digits and ``. _ -``, a letter or digit at both
    ends."""
    text = str(value)
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", text):
        raise NameRefused(f"{text!r} is not a value of a label: 1 to 63 letters, digits and . _ -")
    return text


def prometheus_label_value(value: object) -> str:
    """The value of a label in Prometheus' text format, in quotes."""
    text = _CONTROL.sub(" ", str(value)).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def naturally_sorted(records: Sequence[object], field: str) -> list[object]:
    """Records ordered by a field as people count: ``swp10`` after ``swp9``."""
    return sorted(records, key=lambda r: natural_sort_key(str(getattr(r, field))))


def option_among(value: object, *known: str) -> str:
    """An option that has one of these values."""
    if value not in known:
        raise NameRefused(f"{value!r} is not a value of this option; known: {', '.join(known)}")
    return str(value)


def refused_value(reason: object) -> str:
    """Nothing: an option and a design do not go together, for the reason. Raises NameRefused."""
    raise NameRefused(str(reason))


def dotted_mac_address(value: object) -> str:
    """A MAC address in three groups of four digits: ``02aa.bbcc.ddee``."""
    digits = str(value).replace(":", "").lower()
    return ".".join(digits[k : k + 4] for k in (0, 4, 8))


def shell_word(value: object) -> str:
    """A word of a shell script."""
    return quote(str(value))


def single_line_text(value: object) -> str:
    """Text that must stay on its line, such as a comment."""
    return _CONTROL.sub(" ", str(value))


def safe_file_name(text: str) -> str:
    """A name as a file or folder: letters, digits and ``. _ + ~ @ = -``, at most 100 bytes, never hidden or a
    way upwards.

    One that has to be changed, or that Windows has no file for, ends in a few digits of its hash, so that two
    of them stay two.
    """
    made = _NOT_IN_FILE_NAMES.sub("_", text).lstrip(".-~")
    if made == text and made and len(made.encode()) <= 100 and not _DEVICES.fullmatch(made):
        return made
    mark = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    short = made.encode()[:90].decode("utf-8", "ignore")
    if _DEVICES.fullmatch(short):
        short = short.replace(".", "_")
    return f"{short}-{mark}" if short else mark


FILTERS: dict[str, Callable[..., object]] = {
    "csv": csv_table_text, "headings": column_headings, "json": json_value_text, "json_rows": json_rows,
    "xml": xml_escaped_text, "xml_comment": xml_comment, "bare": unescaped_attribute,
    "dot": dot_quoted_string, "node_id": infiniband_node_name, "ibdm": ibutils_name,
    "line": single_line_text, "setting": unquoted_setting, "hca": adapter_list_name, "word": router_name,
    "interface": linux_interface_name, "remark": switch_description, "slurm": slurm_node_name,
    "row": csv_row, "slug": url_slug, "host_name": dns_host_name, "tables": merged_json_tables,
    "label": kubernetes_label, "label_value": prometheus_label_value, "natural": naturally_sorted,
    "hostlist": folded_host_list, "dotted_mac": dotted_mac_address, "refused": refused_value,
    "cell": spreadsheet_cell, "one_of": option_among, "shell": shell_word, "inventory": ansible_host_name,
}  # fmt: skip
