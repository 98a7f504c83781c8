"""Names as each format writes them: the longest that fits, the first that does not, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from tdsl.emit import quote

ROUTER = "{!r} is not a name for a router: a letter, then at most 62 letters, digits and . _ -"
ATTRIBUTE = "{!r} cannot be written in an attribute: the format has no escapes"
SETTING = "{!r} cannot be written after `=`: the value extends to the end of the line"
ADAPTER = "{!r} cannot be written in a list of adapters, which is split at commas and colons"
NODE = '{!r} is not a name for an InfiniBand node: 1 to 64 bytes without " # @ [ ], control characters and spaces at an end'
IBUTILS = "{!r} is not a name for ibutils: 1 to 64 letters, digits and . _ : @ + -"
LINUX = "{!r} is not an interface of Linux: 1 to 15 characters without spaces and any of : % !"
RESERVED = "{!r} is a reserved word of Slurm; `naming` gives devices other names"
SLURM = "{!r} is not a name for Slurm: 1 to 64 letters, digits and . _ -"
HOST = "{!r} is not a host name: 1 to 63 letters, digits and -; `naming` gives devices other names"
GROUP = "{!r} is the name of a group in the inventory; `naming` gives devices other names"
LABEL = "{!r} is not a value of a label: 1 to 63 letters, digits and . _ -"


@pytest.mark.parametrize(
    ("made", "texts", "message"),
    [
        (quote.router_name, ("", "1a", "-a", "a b", "a" * 64, "a\n", "\u00e9"), ROUTER),
        (quote.unescaped_attribute, ("<", ">", "&", '"', "'", "a\x00", "a\n"), ATTRIBUTE),
        (quote.unescaped_attribute, ("",), "'' has 0 bytes; 1 to 253 fit"),
        (quote.unescaped_attribute, ("\u00e9" * 127,), "{!r} has 254 bytes; 1 to 253 fit"),
        (quote.unquoted_setting, ("", " a", "a ", "a\tb", "a" * 1001, "\u00e9" * 501), SETTING),
        (quote.adapter_list_name, ("", "a "), SETTING),
        (quote.adapter_list_name, ("a,b", "a:b", "^a", "=a", "a b", "a#"), ADAPTER),
        (quote.infiniband_node_name, ("", " a", "a ", 'a"', "a#", "a@", "a[", "a]", "a\n", "a" * 65, "\u00e9" * 33), NODE),
        (quote.ibutils_name, ("", "-a", "a b", "a" * 65, "a/b"), IBUTILS),
        (quote.linux_interface_name, ("", "a b", "a" * 16, ".", "..", "a:b", "a%b", "a!b", "\u00e9"), LINUX),
        (quote.slurm_node_name, ("all", "ALL", "default", "Default"), RESERVED),
        (quote.slurm_node_name, ("", "-a", "a,b", "a[0]", "a" * 65), SLURM),
        (quote.dns_host_name, ("", "-a", "a-", "a_b", "A.B", "a" * 64), HOST),
        (quote.ansible_host_name, ("all", "ungrouped", "hosts", "switches", "tier_0", "plane_x", "role_", "nos_x"), GROUP),
        (quote.ansible_host_name, ("0",), ROUTER),
        (quote.kubernetes_label, ("", "-a", "a-", "a/b", "a" * 64), LABEL),
    ],
)
def test_names_that_a_format_cannot_hold(made: Callable[[object], str], texts: tuple[str, ...], message: str) -> None:
    for text in texts:
        with pytest.raises(quote.NameRefused) as why:
            made(text)
        assert str(why.value) == message.format(text)


@pytest.mark.parametrize(
    ("made", "same", "changed"),
    [
        (quote.router_name, ("a", "A.b_c-1", "a" * 63), {}),
        (quote.unescaped_attribute, ("a", "a b", "\u00e9" * 126 + "x"), {}),
        (quote.unquoted_setting, ("a", "a b", "a" * 1000, '"'), {}),
        (quote.adapter_list_name, ("mlx5_0", "a.b"), {}),
        (quote.infiniband_node_name, ("a", "a b", "a" * 64, "leaf/0"), {}),
        (
            quote.ibutils_name,
            ("ab", "a.b_c:d@e+f-g", "a" * 64, "CA_", "SWITCH"),
            {n: f"{n}_" for n in ("sw", "Node", "x", "hca")},
        ),
        (quote.linux_interface_name, ("swp1", "a" * 15, "...", "a.b", "~"), {"Ethernet1/1": "Ethernet1_1"}),
        (quote.slurm_node_name, ("a", "0", "alle", "a.b_c-d", "a" * 64), {}),
        (quote.dns_host_name, ("a", "0", "a-b", "a" * 63), {"LEAF-0": "leaf-0"}),
        (quote.ansible_host_name, ("node0", "tier0", "tiers_1", "allx", "a" * 63), {}),
        (quote.kubernetes_label, ("a", "9", "a._-b", "A" * 63), {}),
    ],
)
def test_names_that_fit(made: Callable[[object], str], same: tuple[str, ...], changed: dict[str, str]) -> None:
    for text, wanted in {**dict(zip(same, same, strict=True)), **changed}.items():
        assert made(text) == wanted


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
