"""What the checker reads: limits of files, columns of tables, and its answer in one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from hashlib import sha256
from os import truncate
from pathlib import Path
from typing import Any

import pytest

from tdsl.certificates import checker
from tests.certificates.by_hand import COLUMNS, certificate, fabric


def pair() -> dict[str, Any]:
    """Two hosts on one switch."""
    return fabric(["h1", "h2"], ["s1"], [("h1", "s1"), ("h2", "s1")])


def text_of(made: dict[str, Any], **change: Any) -> tuple[str, str]:
    """A certificate of two hosts that reach each other, and the fabric, as texts."""
    file = json.dumps(made)
    stated = certificate("reachability", units=2, holds=True, design=sha256(file.encode()).hexdigest()) | change
    return json.dumps(stated), file


def test_the_limits_of_the_documentation() -> None:
    """Of docs/certificates.md: 256 MiB and 1 GiB of text, 60 digits, 100 levels, 500 million steps."""
    assert checker.SCHEMA == 4
    assert (checker.MAX_DEPTH, checker.MAX_DIGITS, checker.MAX_BITS) == (100, 60, 16_384)
    assert (checker.MAX_CERTIFICATE_BYTES, checker.MAX_FABRIC_BYTES) == (268_435_456, 1_073_741_824)
    assert checker.MAX_STEPS == checker.WorkSteps().left == 500_000_000


UNREADABLE = [
    ('{"a": 1.5}', "x: 1.5 is not an integer of at most 60 digits"),
    ('{"a": 1, "b": {"c": 1, "c": 1}}', "x: an object has a key twice"),
    ("[" * 101 + "]" * 101, "x: nested deeper than 100"),
    ("[" * 100_000, "x: too deep or too large"),
    ('{"a": ' + '{"b": ' * 100 + "1" + "}" * 101, "x: nested deeper than 100"),
    ("7" * 61, "x: " + "7" * 20 + " is not an integer of at most 60 digits"),
    ("{", "x: not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
]


@pytest.mark.parametrize(("text", "why"), UNREADABLE)
def test_why_a_text_is_not_read(text: str, why: str) -> None:
    with pytest.raises(checker.InputUnreadable) as found:
        checker.parse_strict_json(text, "x")
    assert str(found.value) == why


ROUTES = [
    {"by": "flows", "share": 1, "parts": 1, "flows": {"h1": [["h1", "s1", 1]]}},
    {"by": "lengths", "share": 1, "parts": 1, "lengths": [["h1", "s1", 1]]},
    {"by": "hubs", "share": 1, "parts": 1, "hubs": {"s1": 1}},
]
ENDS = {"lower_bps": 0, "upper_bps": 0, "lower": {"routes": ROUTES}, "upper": {"lengths": [["h1", "s1", 0]]}}
CUT = {"units": 2, "lower_bps": 0, "upper_bps": 0, "cut": []}
BY_SHARES = {"by": "shares", "parts": [{"hubs": [], "shares": {"s1": {"s2": 0}}}], "restored": [["s1", "s2", 1]]}
BY_SPLITS = {"by": "splits", "parts": [{"least": 0, "order": [[]]}]}
BY_ROUTES = {"by": "routes", "routes": ROUTES, "hubs": {"s1": 1}}
LEFT: list[dict[str, Any]] = [
    *({"check": check, "value": 0} for check in ("diameter", "mean_hops", "edge_redundancy", "node_redundancy")),
    {"check": "reachability", "units": 1, "holds": True},
    *({"check": "bisection", **CUT, "lower": lower} for lower in (BY_SHARES, BY_SPLITS, BY_ROUTES)),
    {"check": "throughput", **ENDS},
]


def condition(left: dict[str, Any]) -> dict[str, Any]:
    """The least condition about what is left."""
    if left["check"] == "reachability":
        return {"check": "reachability"}
    sides = {"from": ["a"], "to": ["b"]} if left["check"] == "throughput" else {}
    return {"check": left["check"], "op": ">=", "value": 0, "share": None, **sides}


LEAST: list[dict[str, Any]] = [
    *(left for left in LEFT if left["check"] != "throughput"),
    {"check": "throughput", **ENDS, "pattern": "file", "units": 2, "demands": [["h1", "h2", 1]]},
    {"check": "oversubscription", "value": 0},
    {"check": "blast_radius", "value": 0, "of": []},
    *(
        {
            "check": "survives",
            "of": [],
            "count": 1,
            "condition": condition(left),
            "symmetries": [{"a": "b"}],
            "cases": [{"failed": [], "left": left}],
        }
        for left in LEFT
    ),
]
"""Certificates in which every number is the least that is read."""


def numbers(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every list or object that holds a number, and the key or index of it there."""
    for key, x in value.items() if isinstance(value, dict) else enumerate(value):
        if type(x) is int:
            yield value, key
        elif isinstance(x, (dict, list)):
            yield from numbers(x)


def read(stated: Any) -> Any:
    """A certificate of the fabric f, as the checker reads it before it judges it."""
    form = checker.HEAD | checker.FORMS[stated["check"]]
    return checker.value_of_form({"schema": 0, "fabric": "f"} | stated, form, "certificate")


@pytest.mark.parametrize("place", range(len(LEAST)))
def test_the_least_of_every_number(place: int) -> None:
    """It is read, and one less is refused."""
    read(LEAST[place])
    stated = deepcopy(LEAST[place])
    for holder, key in numbers(stated):
        holder[key] -= 1
        with pytest.raises(
            checker.Rejected, match=f"an integer of at least {holder[key] + 1} is needed$|no number of the form p/q$"
        ):
            read(stated)
        holder[key] += 1
    assert stated == LEAST[place]


def test_a_fabric_of_no_device_and_one_link_of_the_least_rate() -> None:
    """Of fabric.json: a rate of 1 bit/s, rail 0, tier 0, one planned link; and each of them one lower is refused."""
    made = pair()
    cells = (("devices", "tier", 0), ("links", "rate_bps", 1), ("links", "rail", 0), ("planned_links", "tier", 0))
    made["planned_links"]["rows"] = [["s1", 0, 1, 1]]
    for table, name, least in (*cells, ("planned_links", "rate_bps", 1), ("planned_links", "links", 1)):
        cell = made[table]["rows"][0]
        cell[COLUMNS[table].index(name)] = least
        checker.CertifiedFabric(made)
        cell[COLUMNS[table].index(name)] = least - 1
        with pytest.raises(checker.Rejected, match=rf"^{table}\.{name}: an integer of at least {least} is needed$"):
            checker.CertifiedFabric(made)
        cell[COLUMNS[table].index(name)] = least


def test_columns_in_another_order_or_left_out() -> None:
    """A column is found by its name; one that is not there is null in every row, and others are not read."""
    made = pair()
    names = ["name", "path", "kind", "note"]
    made["devices"] = {
        "columns": [*names[::-1], "model"],
        "rows": [[i, kind, path, name, "M"] for i, (name, path, kind, *_) in enumerate(made["devices"]["rows"])],
    }
    found = checker.table_rows(made, "devices")
    assert found == [
        ["h1", "h[1]", "host", None, "M", None, None, None],
        ["h2", "h[2]", "host", None, "M", None, None, None],
        ["s1", "s[1]", "switch", None, "M", None, None, None],
    ]
    made["devices"]["columns"] = ["name", "path", "kind", "model", "name"]
    with pytest.raises(checker.Rejected, match=r"^devices: rows and columns differ$"):
        checker.table_rows(made, "devices")
    made = pair()
    for wrong in (made["links"]["rows"][1][:-1], [*made["links"]["rows"][1], None]):
        made["links"]["rows"][1] = wrong
        with pytest.raises(checker.Rejected, match=r"^links: rows and columns differ$"):
            checker.table_rows(made, "links")


def test_every_answer() -> None:
    """Status and line of a certificate that is verified, rejected, or not readable."""
    stated, file = text_of(pair())
    assert checker.check(stated, file) == (0, "verified: reachability of f (all 2 units)")
    for change, answer in (
        ({"units": 3}, (1, "rejected: the number of units is another")),
        ({"fabric": "g"}, (1, "rejected: the certificate is of another schema or fabric")),
        ({"schema": 3}, (1, "rejected: the certificate is of another schema or fabric")),
        ({"schema": 5}, (1, "rejected: the certificate is of another schema or fabric")),
        ({"design": "0" * 64}, (1, "rejected: the certificate is of another fabric.json (its `design` is not the SHA-256)")),
        ({"design": None}, (1, "rejected: the certificate is of another fabric.json (its `design` is not the SHA-256)")),
        ({"holds": 1}, (1, "rejected: certificate.holds: a true or false is needed")),
        ({"units": 1.5}, (2, "not readable: certificate: 1.5 is not an integer of at most 60 digits")),
    ):
        assert checker.check(text_of(pair(), **change)[0], file) == answer
    for wrong in ("[]", "null", '"x"', "3"):
        assert checker.check(wrong, file) == checker.check(stated, wrong) == (2, "not readable: a file is not a JSON object")
    assert checker.check("{", file)[1].startswith("not readable: certificate: not JSON: ")
    assert checker.check(stated, "{")[1].startswith("not readable: fabric.json: not JSON: ")
    made = pair() | {"links": {}}
    assert checker.check(*text_of(made)) == (1, "rejected: malformed: KeyError: 'columns'")
    assert checker.check(*text_of(pair() | {"schema": 2})) == (1, "rejected: the schema of fabric.json is not 1")
    assert checker.check(*text_of(pair() | {"fabric": 2})) == (1, "rejected: fabric: a text is needed")


def test_files_above_the_limits_and_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is verified is printed, and all else is an error on the other stream."""
    names = [str(tmp_path / name) for name in ("c.json", "fabric.json")]
    for name, text in zip(names, text_of(pair()), strict=True):
        Path(name).write_text(text)
    assert checker.check_files_of_arguments(names) == 0
    assert capsys.readouterr() == ("verified: reachability of f (all 2 units)\n", "")
    usage = "usage: checker.py CERTIFICATE... fabric.json [--expect REQUIREMENT]..."
    for arguments in ([], names[:1], [names[0], "--expect", "reachability"]):
        assert checker.check_files_of_arguments(arguments) == 2
        assert capsys.readouterr().err == f"not readable: {usage}\n"
    for content, status in ((text_of(pair(), units=3)[0].encode(), 1), (b"\xff", 2)):
        Path(names[0]).write_bytes(content)
        assert checker.check_files_of_arguments(names) == status
    assert checker.check_files_of_arguments([str(tmp_path / "absent.json"), names[1]]) == 2
    capsys.readouterr()
    truncate(names[0], checker.MAX_CERTIFICATE_BYTES + 1)  # a file with a hole, which takes no room on the disk
    assert checker.check_files_of_arguments(names) == 2
    assert f"larger than {checker.MAX_CERTIFICATE_BYTES} bytes" in capsys.readouterr().err
