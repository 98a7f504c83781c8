"""Models, statements and comments in words: for the editor, and as pages of ``tdsl explain``."""
# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.commands import _topics
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.ide import describe
from tdsl.ide.known import KnownNames, port_types
from tdsl.syntax.parser import parse_source_file

TEXT = """\
# Not of it.

# First line,
#second line.
model switch M1 "A title" {
  port p[1..4]: 400Gbps { type NDR; cage 2 OSFP; split 2; sockets 2; os "swp{i}" }
  height 2U; power 1kW max 2kW; mass 20kg; source "of x"
}
model host M2 { port nic[2, 1..3]: 100Gbps { type GE100, HDR; cage 1 QSFP56; split 2, 4 }; port bmc: 1Gbps { os "e0" }; chip c[8]: M3; height 8U }
model chip M3 { port z: any }  # Behind it.
model cable M4 "Cable" { rate 800Gbps; medium dac; legs 2; reach 3m }
model cable M5 { medium aoc; height 1U }
model switch M6 { }
"""
FILE = SourceFile("a.fab", TEXT)
KNOWN = KnownNames(FILE, parse_source_file(FILE, Diagnostics()).body, Path("/none/a.fab"), {}, ())


@pytest.mark.parametrize(
    ("name", "line", "page"),
    [
        (
            "M1",
            "4 × 400G, 2U",
            "**M1**, switch: A title\n\n- `p[1..4]` 4 × 400G, NDR, OSFP with 2 a cage, splits 2 ways\n\n"
            "height 2U, power 1kW (at most 2kW), mass 20kg\n\nFirst line,\nsecond line.\n\nSource: of x",
        ),
        (
            "M2",
            "6 × 100G nic, 1 × 1G bmc, 8 × M3, 8U",
            "**M2**, host\n\n- `nic[2, 1..3]` 6 × 100G, GE100 or HDR, QSFP56, splits 2 or 4 ways\n- `bmc` 1 × 1G\n- `c[8]` 8 × M3\n\n"
            "height 8U",
        ),
        ("M3", "1 × any rate", "**M3**, chip\n\n- `z` 1 × any rate\n\nBehind it."),
        ("M4", "800G, dac, 2 legs, at most 3m", "**M4**, cable: Cable\n\n800G, dac, 2 legs, at most 3m"),
        ("M5", "aoc, 1U", "**M5**, cable\n\naoc, 1U\n\nheight 1U"),
        ("M6", "", "**M6**, switch"),
        ("M9", "", ""),
    ],
)
def test_a_model_in_a_line_and_on_a_page(name: str, line: str, page: str) -> None:
    found = KNOWN.a_model(name)
    assert (found.name, found.kind, found.detail, found.doc) == (name, "model", line, page)


def test_names_of_models() -> None:
    assert KNOWN.is_model("M1") and KNOWN.is_model("QM9700") and not KNOWN.is_model("M9")
    assert [m.name for m in KNOWN.models()][:6] == ["M1", "M2", "M3", "M4", "M5", "M6"]
    assert [m.name for m in KNOWN.models("cable")][:2] == ["M4", "M5"]
    assert KNOWN.model("M9") is None and KNOWN.topology("M1") is None and KNOWN.topology("none") is None


@pytest.mark.parametrize(
    ("text", "head", "comment"),
    [
        ("let  a =  3  # so", "let a = 3", "so"),
        ("# Up.\nparam b: int =  3 where b <  4", "param b: int = 3 where b < 4", "Up."),
        ("def f(x: int): int = x + 1 #no", "def f(x: int): int", "no"),
        ('model switch M "T" { }', 'model switch M "T"', ""),
        ("model switch M { } # t", "model switch M", "t"),
        ("topology t(e: ports, n: int = 3) { }", "t(e: ports, n: int = 3)", ""),
        ("fabric f { }", "fabric f", ""),
        ('fabric f "T" { } # x "y"', 'fabric f "T"', 'x "y"'),
        ("  # a\n  #  b\n#c\nlet a = 1 # d", "let a = 1", "a\nb\nc"),
        ('let a = "#"', 'let a = "#"', ""),
        ("let a = 1 #\tt", "let a = 1", "t"),
    ],
)
def test_statements_and_their_comments(text: str, head: str, comment: str) -> None:
    (statement,) = parse_source_file(SourceFile("a.fab", text), Diagnostics()).body
    assert describe.statement_head(statement) == head
    assert describe.comment_of_declaration(statement.span) == comment


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ('host n[2 * (1 + 1), 0..3] "N": M { role storage }', 'host n[2 * (1 + 1), 0..3] "N": M'),
        ("host n[4]", "host n[4]"),
        ("host n[4 ]: M", "host n[4 ]: M"),
        ("group g[2] { switch s: M }", "group g[2]"),
        ("group g { switch s[9]: M }", "group g"),
        ('switch s "S"', 'switch s "S"'),
    ],
)
def test_devices_as_they_are_written(text: str, head: str) -> None:
    (fabric,) = parse_source_file(SourceFile("a.fab", f"fabric f {{ {text} }}"), Diagnostics()).body
    (statement,) = fabric.body  # type: ignore[attr-defined]
    assert describe.statement_head(statement) == head


def test_rates() -> None:
    assert [describe.rate_words(r) for r in (None, 400 * 10**9, 25 * 10**9, 10**12, 1000)] == [
        "any rate", "400G", "25G", "1T", "1k",
    ]  # fmt: skip


# ---------------------------------------------------------------- pages of `tdsl explain`
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "M1",
            [
                "# M1: switch, A title\n",
                "- port `p`: 4 x 400Gbps; type NDR; 2 OSFP cages; splits into 2; 2 sockets in a module; named swp1 to swp4 by the system",
                "- height: 2U",
                "- power: 1kW",
                "\nSource: of x",
                "Declared at HERE; `tdsl list hardware` lists all models.",
            ],
        ),
        (
            "M2",
            [
                "# M2: host\n",
                "- port `nic`: 6 x 100Gbps; type GE100, HDR; 6 QSFP56 cages; splits into 2 or 4",
                "- port `bmc`: 1 x 1Gbps; named e0 by the system",
                "- 8 accelerators",
                "- height: 8U",
                "- power: not given",
                "\nSource: not given",
                "Declared at HERE; `tdsl list hardware` lists all models.",
            ],
        ),
        (
            "M3",
            [
                "# M3: chip\n",
                "- port `z`: 1 x any rate",
                "- power: not given",
                "\nSource: not given",
                "Declared at HERE; `tdsl list hardware` lists all models.",
            ],
        ),
    ],
)  # fmt: skip
def test_pages_of_models(name: str, lines: list[str]) -> None:
    model = KNOWN.model(name)
    assert model is not None
    assert list(_topics._device_topic_lines(model, "HERE")) == lines


TOPOLOGY = """\
# A star,
#  of arms.
# tdsl: none

# not of it
topology my_star(ends: ports, hub: model, hosts: int, arms: int = 2, per_host: int, wrap: table = "[A] B") { }
topology other(ends: ports) { }
"""


def test_pages_of_topologies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_topics, "_topology_texts", lambda: dict.fromkeys(("my_star", "other"), (TOPOLOGY, "stdlib:x.fab")))
    assert _topics._topology_topic("My-Star") == (
        "# my_star: topology\n\nA star, of arms. tdsl: none\n\n## Parameters\n\n- `hub`: model, required\n- `arms`: int, 2 if not given\n"
        "- `wrap`: table, of rows `[A] B`\n\nUse: `my_star { hub … }`\nDeclared at stdlib:x.fab; `tdsl list topologies` lists all.\n"
    )
    assert _topics._topology_topic("other") == (
        "# other: topology\n\nA star, of arms. tdsl: none\n\n## Parameters\n\n\nUse: `other { }`\n"
        "Declared at stdlib:x.fab; `tdsl list topologies` lists all.\n"
    )
    assert _topics._topology_topic("none") is None


def test_pages_of_targets_and_words() -> None:
    page = _topics._target_topic("EOS")
    assert page is not None and page.startswith("# eos: target of `tdsl build`\n\nConfiguration of EOS switches, for Arista EOS ")
    assert "\n\n## Files\n\n- `eos/{router}.cfg`, one for each router\n" in page
    assert "\nGive them as `--option eos.queue=VALUE`, or below `[target.eos]` in `tdsl.toml`.\n" in page
    assert page.endswith(
        "\n\nIt needs: routing. Where the fabric lacks one, the target is skipped.\n\nUse: `tdsl build FILE --target eos`\n"
    )
    assert (
        _topics._target_topic("none")
        is _topics._word_topic("none")
        is _topics._model_topic("none")
        is _topics.topic_page("none")
        is None
    )
    both = _topics.topic_page("torus")
    assert both is not None and both.startswith("# torus: topology\n") and "\n# torus: pattern of connect\n" in both
    plain = _topics.topic_page("MCP7Y00")
    assert plain is not None and plain.startswith(
        "# MCP7Y00: cable\n\nDeclared at stdlib:cables/mcp7y00.fab:2:\n\n```fab\nmodel cable "
    )
    assert plain.endswith("}\n```\n") and "# QM9700: switch, " in str(_topics.topic_page("qm-9700"))
    assert {"QM9700", "clos", "eos", "connect"} <= set(_topics.topic_names())


def test_types_of_ports_of_the_catalogue() -> None:
    found = port_types()
    assert found == sorted(set(found)) and {"NDR", "HDR", "NVLINK5"} <= set(found)
