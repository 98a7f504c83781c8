"""What the checker reads: limits of a file, the least value of every field, columns of tables, and its answer in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tdsl.certificates import checker
from tests.verify.test_checker_alone import COLUMNS, certificate, fabric


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


def test_the_last_step_may_be_spent() -> None:
    work = checker.WorkSteps(5)
    work.spend(3)
    work.spend(2)
    assert work.left == 0
    work.spend(0)
    with pytest.raises(checker.TooMuchWork, match=r"^the check takes more steps than its limit$"):
        work.spend(1)


def test_a_common_multiple_is_of_all_numbers() -> None:
    assert [checker.least_common_multiple(x) for x in ([], [1], [7], [4, 6], [4, 6, 9], [2, 3, 5, 7])] == [1, 1, 7, 12, 36, 210]
    assert checker.least_common_multiple([1 << 16_383]) == checker.least_common_multiple([(1 << 16_384) - 1]) - (1 << 16_383) + 1
    with pytest.raises(checker.Rejected, match=r"^fractions or parts are too long numbers$"):
        checker.least_common_multiple([1 << 16_384])


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


def test_what_is_read_is_as_written() -> None:
    for text, value in (
        ("-0", 0),
        ("7" * 60, int("7" * 60)),
        ("-" + "7" * 60, -int("7" * 60)),
        ('[1, {"a": null, "b": [true, "x"]}, []]', [1, {"a": None, "b": [True, "x"]}, []]),
        ('{"a": ' + '{"b": ' * 99 + "1" + "}" * 100, None),
    ):
        found = checker.parse_strict_json(text, "x")
        assert value is None or (found == value and type(found) is type(value))


def test_fractions_of_nothing_and_of_whole_numbers() -> None:
    for value, read in (
        ("0", 0),
        (0, 0),
        (3, 3),
        ("3", 3),
        ("0/5", 0),
        ("4/6", Fraction(2, 3)),
        ("1/1", 1),
        ("9" * 60, int("9" * 60)),
    ):
        found = checker.value_of_form(value, Fraction, "x")
        assert found == read and type(found) is Fraction
    for value in ("3/0", "0/0", "00/00", True, False):
        with pytest.raises(checker.Rejected, match=r"^x: no number of the form p/q$"):
            checker.value_of_form(value, Fraction, "x")


def test_rows_and_lists() -> None:
    """A list of one form has any length; one of several has theirs, and each value its own."""
    assert checker.value_of_form([], [str], "x") == []
    assert checker.value_of_form(["a", "b", "c"], [str], "x") == ["a", "b", "c"]
    assert checker.value_of_form(["a", 5], [str, 5], "x") == ["a", 5]
    for wrong in (["a"], ["a", 5, "a"], ["a", 5, "a", 5]):
        with pytest.raises(checker.Rejected, match=r"^x: a list is needed$"):
            checker.value_of_form(wrong, [str, 5], "x")
    assert checker.value_of_form([["a", 5, "1/2"]], [[str, 5, Fraction]], "x") == [["a", 5, Fraction(1, 2)]]
    for wrong, why in (
        ([["a", 4, "1/2"]], "an integer of at least 5 is needed"),
        ([["a", 5]], "a list is needed"),
        ([["a", 5, "1/2", "b"]], "a list is needed"),
        ([[5, 5, 5]], "a text is needed"),
        ([["a", 5, "a"]], "no number of the form p/q"),
    ):
        with pytest.raises(checker.Rejected, match=f"^x: {why}$"):
            checker.value_of_form(wrong, [[str, 5, Fraction]], "x")


def test_forms_that_a_key_decides() -> None:
    form = ("by", {"one": {"a": 1}, "two": {"b?": str, "*x": bool}})
    assert checker.value_of_form({"by": "one", "a": 1}, form, "x") == {"by": "one", "a": 1}
    assert checker.value_of_form({"by": "two", "*x": True}, form, "x") == {"by": "two", "b": None, "*x": True}
    for wrong, why in (
        ({"by": "three", "a": 1}, "x.by: is none of one, two"),
        ({"a": 1}, "x.by: is none of one, two"),
        ({"by": "one"}, "x: a key is missing"),
        ({"by": "one", "a": 0}, "x.a: an integer of at least 1 is needed"),
        ({"by": "two", "a": 1, "*x": True}, "x: has a key that is not known"),
        ({"by": "two"}, "x: a key is missing"),
        ({"by": "two", "b": None, "*x": True}, "x.b: a text is needed"),
        ([], "x: an object is needed"),
    ):
        with pytest.raises(checker.Rejected, match=f"^{re.escape(why)}$"):
            checker.value_of_form(wrong, form, "x")


def test_objects_of_any_keys_and_null() -> None:
    assert checker.value_of_form({}, {"*": 1}, "x") == {}
    assert checker.value_of_form({"a": 1, "b": 2}, {"*": 1}, "x") == {"a": 1, "b": 2}
    with pytest.raises(checker.Rejected, match=r"^x\.b: an integer of at least 1 is needed$"):
        checker.value_of_form({"a": 1, "b": 0}, {"*": 1}, "x")
    assert checker.value_of_form(None, (None, 1), "x") is None
    assert checker.value_of_form(1, (None, 1), "x") == 1
    assert checker.value_of_form([], set, "x") == [] and checker.value_of_form(["b", "a"], set, "x") == ["b", "a"]
    with pytest.raises(checker.Rejected, match=r"^x: a text twice$"):
        checker.value_of_form(["b", "a", "b"], set, "x")


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
    for row in (made["links"]["rows"][1], made["links"]["rows"][0]):
        for wrong in (row[:-1], [*row, None]):
            made["links"]["rows"][1] = wrong
            with pytest.raises(checker.Rejected, match=r"^links: rows and columns differ$"):
                checker.table_rows(made, "links")
    made["links"]["columns"] = made["links"]["columns"][1:]
    made["links"]["rows"] = []
    assert checker.table_rows(made, "links") == []


def test_the_answer_is_one_line() -> None:
    assert checker.shortened_printable_text("x" * 300) == checker.shortened_printable_text("x" * 301) == "x" * 300
    assert checker.shortened_printable_text("a\nb\u00e9") == "a\\nb\\xe9"


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


def test_a_fabric_that_is_parsed_is_used_as_it_is() -> None:
    made = checker.CertifiedFabric(pair())
    checker.verify(certificate("diameter", value=0), made)
    with pytest.raises(checker.Rejected, match=r"^it is 0$"):
        checker.verify(certificate("diameter", value=1), made)
    with pytest.raises(checker.Rejected, match=r"^malformed: AttributeError: "):
        checker.verify([], made)
    with pytest.raises(checker.Rejected, match=r"^check: is none of bisection, "):
        checker.verify({}, made)


def test_files_as_large_as_the_limit_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And one byte more is not; what is verified is printed, and all else is an error."""
    names = [str(tmp_path / name) for name in ("c.json", "fabric.json")]
    texts = text_of(pair())
    for name, text in zip(names, texts, strict=True):
        Path(name).write_text(text)
    for less in ((0, 0), (1, 0), (0, 1)):
        for limit, text, by in zip(("MAX_CERTIFICATE_BYTES", "MAX_FABRIC_BYTES"), texts, less, strict=True):
            monkeypatch.setattr(checker, limit, len(text) - by)
        status = checker.check_files_of_arguments(names)
        printed = capsys.readouterr()
        if less == (0, 0):
            assert (status, printed.out, printed.err) == (0, "verified: reachability of f (all 2 units)\n", "")
        else:
            wrong, size = names[less[1]], len(texts[less[1]]) - 1
            assert (status, printed.out, printed.err) == (2, "", f"not readable: {wrong}: larger than {size} bytes\n"[:315])
    for arguments in ([], names[:1], [names[0], "--expect", "reachability"]):
        assert checker.check_files_of_arguments(arguments) == 2
        usage = "usage: checker.py CERTIFICATE... fabric.json [--expect REQUIREMENT]..."
        assert capsys.readouterr().err == f"not readable: {usage}\n"
    Path(names[0]).write_text(text_of(pair(), units=3)[0])
    monkeypatch.setattr(checker, "MAX_CERTIFICATE_BYTES", 1000)
    monkeypatch.setattr(checker, "MAX_FABRIC_BYTES", 10_000)
    assert checker.check_files_of_arguments(names) == 1
    assert capsys.readouterr().err == "rejected: the number of units is another\n"
    assert checker.check_files_of_arguments([names[0], str(tmp_path / "absent.json")]) == 2
    Path(names[0]).write_bytes(b"\xff")
    assert checker.check_files_of_arguments(names) == 2
