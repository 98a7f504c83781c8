"""Names as each format writes them: the longest that fits, the first that does not, and what is said of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from tdsl.emit import quote

LINES = Path(__file__).with_name("quote_names.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", [line for line in LINES if not line.startswith("#")])
def test_names(line: str) -> None:
    """The longest that fits, the first that does not."""
    function, message, told = line.split(" | ")
    for short in json.loads(told):
        text = re.sub(r"(.)\{(\d+)\}", lambda m: m[1] * int(m[2]), short)
        if message == "nothing":
            assert getattr(quote, function)(text) == text
            continue
        with pytest.raises(quote.NameRefused) as why:
            getattr(quote, function)(text)
        assert str(why.value) == message.format(text)


def test_two_devices_of_one_host_name() -> None:
    taken: dict[str, str] = {}
    assert [quote.dns_host_name(t, taken) for t in ("Leaf", "Leaf", "spine")] == ["leaf", "leaf", "spine"]
    assert quote.dns_host_name("node", taken, "port 1 of X") == "node" and taken["node"] == "port 1 of X"
    for text, of, message in (
        ("leaf", None, "'Leaf' and 'leaf' would be one host name, leaf; `naming` gives devices other names"),
        ("NODE", "port 2", "port 1 of X and port 2 would be one host name, node; `naming` gives devices other names"),
    ):
        with pytest.raises(quote.NameRefused) as why:
            quote.dns_host_name(text, taken, of)
        assert str(why.value) == message
    assert quote.dns_host_name("leaf") == quote.dns_host_name("LEAF") == "leaf"


@pytest.mark.parametrize(
    ("made", "text", "wanted"),
    [
        *((quote.ibutils_name, n, f"{n}_") for n in ("sw", "Node", "x", "hca")),
        (quote.linux_interface_name, "Ethernet1/1", "Ethernet1_1"),
        (quote.dns_host_name, "LEAF-0", "leaf-0"),
        (quote.xml_escaped_text, 'a<b>"&\x00\x0b\ufffe\t', "a&lt;b&gt;&quot;&amp;\ufffd\ufffd\ufffd\t"),
        (quote.dot_quoted_string, 'a"\\\n\x07b', '"a\\"\\\\\\n b"'),
        (quote.switch_description, "a?\u00e9'\"`\\b\n", "a______b"),
        (quote.switch_description, " ", "_"),
        (quote.switch_description, "a" * 241, "a" * 240),
        (quote.xml_comment, " a---b<c>\u00e9 --", "a- - -b_c__ - "),
        (quote.prometheus_label_value, 'a\n\r"\\', '"a \\"\\\\"'),
        (quote.single_line_text, "a\n\tb\u2028c", "a b c"),
        (quote.shell_word, "a b", "'a b'"),
    ],
)
def test_texts_with_marks(made: Callable[[object], str], text: str, wanted: str) -> None:
    assert made(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", {}),
        ('{"A": {}}', {}),
        ('{"B": {"x": {"p": "1",},},}\n{"A": {"y": {}}}', {"A": {"y": {}}, "B": {"x": {"p": "1"}}}),
        ('{"A": {"x": {"p": "1"}}} {"A": {"x": {"q": ["a, ]", "b"]}, "z": 3}}',
         {"A": {"x": {"p": "1", "q": ["a, ]", "b"]}, "z": 3}}),
        ('{"A": {"x": {"p": "1"}}} {"A": {"x": "flat"}} {"A": {"x": {"r": []}}}', {"A": {"x": {"r": []}}}),
        ('{"A": {"x": "\\u00fc", "l": [1, {"k": true}, [], {}], "n": null}}',
         {"A": {"x": "\u00fc", "l": [1, {"k": True}, [], {}], "n": None}}),
    ],
)  # fmt: skip
def test_tables_put_together(text: str, wanted: dict[str, object]) -> None:
    """Tables by name, rows of one name as one, in the form that json gives with an indent of 2."""
    assert quote.merged_json_tables(text) == json.dumps(wanted, indent=2) + "\n"


def test_records_as_people_count() -> None:
    records = [SimpleNamespace(name=n) for n in ("swp10", "swp9", "eth2", "swp1")]
    assert [r.name for r in quote.naturally_sorted(records, "name")] == ["eth2", "swp1", "swp9", "swp10"]  # type: ignore[attr-defined]


def test_rows_and_options_with_known_values() -> None:
    assert quote.csv_row(["a,b", 1, ""]) == '"a,b",1,'
    assert quote.option_among("a", "a", "b") == "a" and quote.option_among(3, 3) == "3"
    with pytest.raises(quote.NameRefused) as why:
        quote.option_among("c", "a", "b")
    assert str(why.value) == "'c' is not a value of this option; known: a, b"
