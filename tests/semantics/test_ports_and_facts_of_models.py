"""Models built from their text alone: every field of their ports, what is inside them, their facts, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.semantics.library import Library
from tdsl.semantics.loader import Loader, ParsedFile
from tdsl.semantics.model import Axis, DeviceModel, SonicPort
from tdsl.semantics.quantity import POWER, TIME, Quantity
from tdsl.syntax.parser import parse_source_file

Found = list[tuple[str, str, str, str]]


def built(text: str) -> tuple[dict[str, DeviceModel], Found]:
    """The models of a text that have no fault, and its findings: code, underlined text, message and help."""
    found = Diagnostics()
    library = Library(Loader(found), found)
    file = SourceFile("models.fab", text)
    linked = library.link(ParsedFile(file, parse_source_file(file, found).body, Path("nowhere"), "models.fab"))
    library.build_all(linked)
    models = {m.name: m for m in library.models.values() if m is not None}
    return models, [(d.code, d.span.text if d.span else "", d.message, d.help) for d in found]


def model_of(body: str, kind: str = "switch", before: str = "") -> DeviceModel:
    models, found = built(f"{before}\nmodel {kind} M {{ {body} }}")
    assert found == []
    return models["M"]


def refusal(body: str, kind: str = "switch", before: str = "") -> tuple[str, str, str, str]:
    models, found = built(f"{before}\nmodel {kind} M {{ {body} }}")
    assert len(found) == 1 and "M" not in models, found
    return found[0]


# ------------------------------------------------------------ ports
def test_every_field_of_a_port_class() -> None:
    """Two indices, of which one begins at 3; cages of two, lanes with names, three sockets of a module."""
    m = model_of(
        "port a[2]: any; port p[3..4, 2]: 800Gbps { type XDR, NDR; cage 2 OSFP finned; connector 2; sockets 3;"
        ' name "P{i[0]}_{i[1]}"; os "swp{p[0]}_{p[1]}", "swp{i[0]}_{i[1]}s{lane}of{lanes}";'
        ' netdev "e{i[0]}{i[1]}", "e{i[0]}{i[1]}v{lane}"; split 2, 4 }'
    )
    a, p = m.classes
    assert (a.name, a.axes, a.first, a.rate, a.types, a.cages, a.form) == ("a", (Axis(0, 2),), 0, None, (), (0, 0), "")
    assert (a.connectors, a.labels, a.systems, a.splits, a.split) == ((0, 1), ("a0", "a1"), ("", ""), (), 1)
    assert (a.lane_systems, a.sonic, a.netdevs, a.lane_netdevs, a.sockets, a.per_cage, a.heatsink) == ((), (), (), (), 1, 0, "")
    assert (p.name, p.axes, p.first, p.rate) == ("p", (Axis(3, 2), Axis(0, 2)), 2, 800 * 10**9)
    assert (p.types, p.cages, p.form, p.connectors) == (("XDR", "NDR"), (1, 1, 2, 2), "OSFP", (0, 0, 1, 1))
    each = ("3_0", "3_1", "4_0", "4_1")
    assert p.labels == tuple(f"P{e}" for e in each) and p.systems == tuple(f"swp{e}" for e in each)
    assert (p.splits, p.split, p.sockets, p.per_cage, p.heatsink) == ((2, 4), 1, 3, 2, "finned")
    assert p.lane_systems == tuple((n, tuple(f"swp{e}s{k}of{n}" for e in each for k in range(n))) for n in (2, 4))
    bare = [e.replace("_", "") for e in each]
    assert p.netdevs == tuple(f"e{e}" for e in bare)
    assert p.lane_netdevs == tuple((n, tuple(f"e{e}v{k}" for e in bare for k in range(n))) for n in (2, 4))
    assert (m.name, m.kind, m.title, m.chips, m.layout, m.facts) == ("M", "switch", "", (), (), {})


def test_cages_are_numbered_over_the_classes_of_a_form() -> None:
    """Ports without cages between them, and cages of another form, do not count."""
    m = model_of(
        "port a[3]: 1Gbps { cage 2 OSFP }; port b[2]: 1Gbps; port c[2]: 1Gbps { cage 1 QSFP }; port d[3]: 1Gbps { cage 1 OSFP };"
        " port e[2]: 1Gbps { cage 1 QSFP, 7 - i }; port f: 1Gbps { cage 4 QSFP flat }; port g[2]: 1Gbps { cage 1 }"
    )
    assert [c.cages for c in m.classes] == [(1, 1, 2), (0, 0), (1, 2), (3, 4, 5), (7, 6), (8,), (1, 2)]
    assert [c.per_cage for c in m.classes] == [2, 0, 1, 1, 1, 4, 1]
    assert [c.form for c in m.classes] == ["OSFP", "", "QSFP", "OSFP", "QSFP", "QSFP", ""]
    assert [c.heatsink for c in m.classes] == ["", "", "", "", "", "flat", ""]
    assert [c.first for c in m.classes] == [0, 3, 5, 7, 10, 12, 13] and m.port_count == 15
    assert m.classes[5].labels == ("f",) and m.classes[5].axes == ()


def test_names_of_sonic() -> None:
    (p,) = model_of('port p[1..3]: 400Gbps { split 2; sonic 8*(i - 1) lanes 4 from 8*i; alias "etp{i}", "etp{i}{lane}" }').classes
    assert p.sonic == tuple(
        SonicPort(8 * (i - 1), tuple(range(8 * i, 8 * i + 4)), 8 * (i - 1), f"etp{i}", ((2, (f"etp{i}0", f"etp{i}1")),))
        for i in (1, 2, 3)
    )


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        ("port p[2]", ("E0120", "port p[2]", "port `p` has no rate", "write `port p[…]: 400Gbps`, or `any`")),
        ("port p[2]: 0Gbps", ("E0103", "0Gbps", "a port's rate is more than nothing", "")),
        ("port p[2]: 0bps - 1bps", ("E0103", "0bps - 1bps", "a port's rate is more than nothing", "")),
        ("port p[2]: 1.5bps", ("E0103", "1.5bps", "a port's rate is more than nothing", "")),
        ("port p[2]: 3m", ("E0103", "3m", "a port's rate is a rate such as `400Gbps`, not a length", "")),
        ("port p[2]: 400", ("E0103", "400", "a port's rate is a rate such as `400Gbps`, not an int", "")),
        ("port p[2]: 1bps; port p: any", ("E0104", "p", "`p` is already declared in this model", "")),
        (
            "port p[65537]: any",
            ("E0116", "port p[65537]: any", "65,537 in one model are more than the limit of 65,536", ""),
        ),
        ("port p[2]: any { split 1 }", ("E0120", "split 1", "a port is split at least 2 ways, not 1", "")),
        ("port p[2]: any { split 2, -3 }", ("E0120", "split 2, -3", "a port is split at least 2 ways, not -3", "")),
        (
            "port p[4]: any { split 16_385 }",
            ("E0116", "split 16_385", "65,540 lanes of one class are more than the limit of 65,536", ""),
        ),
        ("port p[2]: any { connector }", ("E0120", "connector", "`connector` needs a number", "")),
        ("port p[2]: any { connector 0 }", ("E0120", "connector 0", "this must be at least 1", "")),
        ("port p[2]: any { sockets 0 }", ("E0120", "sockets 0", "this must be at least 1", "")),
        ("port p[2]: any { os }", ("E0120", "os", "`os` needs a string", '`os "swp{i}"`')),
        ("port p[2]: any { os 5 }", ("E0103", "5", "a name is a string, not an int", 'write it in quotes: `"swp{i}"`')),
        (
            'port p[2]: any { os "a{i}", "b{lane}" }',
            ("E0120", 'os "a{i}", "b{lane}"', "`os` takes the name of a port, and of a lane if the port may be `split`",
             'for a lane: `os "swp{i}", "swp{i}s{lane}"; split 2, 4`'),
        ),
        (
            'port p[2]: any { netdev "a{i}", "b{lane}", "c"; split 2 }',
            ("E0120", 'netdev "a{i}", "b{lane}", "c"',
             "`netdev` takes the name of a port, and of a lane if the port may be `split`",
             'for a lane: `netdev "swp{i}", "swp{i}s{lane}"; split 2, 4`'),
        ),
        (
            "port p[2]: any { cage OSFP }",
            ("E0101", "OSFP", "there is no value `OSFP` here", ""),
        ),
        (
            "port p[2]: any { cage }",
            ("E0120", "cage", "write `cage N FORM`: how many ports share a cage, and its form", "`cage 2 OSFP`"),
        ),
        (
            "port p[2]: any { cage 0 OSFP }",
            ("E0120", "cage 0 OSFP", "write `cage N FORM`: how many ports share a cage, and its form", "`cage 2 OSFP`"),
        ),
        ("port p[2]: any { type A; type B }", ("E0104", "type B", "`type` is set twice", "")),
        ("port p[2]: any { type A { x 1 } }", ("E0118", "type A { x 1 }", "`type` of a port takes no block", "write `type …;`")),
        (
            "port p[2]: any { connect a to b }",
            ("E0118", "connect a to b", "a port has settings only",
             "known: type, cage, connector, sockets, name, os, netdev, split, sonic, alias"),
        ),
        (
            'port p[2]: any { name "x{i}" }; port q[2..3]: any { name "x{i - 1}" }',
            ("E0104", 'port q[2..3]: any { name "x{i - 1}" }', "ports p[1] and q[2] of this model both have the name 'x1'", ""),
        ),
        ("port p[3]: any { cage 2 OSFP, 1 }", ("E0120", "cage 2 OSFP, 1", "cage 1 would hold 3 ports; a cage holds 2", "")),
        ("port p[3]: foo", ("E0103", "foo", "a port's rate is a rate such as `400Gbps`, not a string", "")),
        ("port p[3]: any { typ A }", ("E0118", "typ", "there is no setting of a port `typ` here", "did you mean `type`?")),
        ("chip g[2]", ("E0120", "chip g[2]", "`g` needs a model", "write `chip g[…]: MODEL`")),
        ("chip g[2]: G(1)", ("E0120", "chip g[2]: G(1)", "`g` needs a model", "write `chip g[…]: MODEL`")),
    ],
)  # fmt: skip
def test_refused_ports(port: str, expected: tuple[str, str, str, str]) -> None:
    assert refusal(port) == expected


def test_the_index_of_a_port_without_one() -> None:
    (f,) = model_of('port f: any { name "x{i}{f}"; cage 1 QSFP, i + 3 }').classes
    assert (f.labels, f.cages) == (("x00",), (3,))


def test_least_rate_and_most_ports() -> None:
    assert [c.rate for c in model_of("port p: 1bps; port q: 2bps / 2").classes] == [1, 1]
    assert model_of("port p[1]: any { connector 1; sockets 1; split 2 }").classes[0].splits == (2,)
    assert model_of("port p[1]: any { split 65_536 }").classes[0].splits == (65_536,)
    assert model_of("chip g[65536]: G", "host", INSIDE).chips[0].size == 65_536


# ------------------------------------------------------------ inside
INSIDE = "model chip G { port n[2]: 1Gbps }"


def test_what_is_inside_a_host() -> None:
    """Chips, NUMA nodes and what hangs from them, by the index of each."""
    m = model_of(
        "chip gpu[2..5]: G; port nic[4]: 1Gbps; numa cpu[1..2] { cores 8 + i }; pcie sw[2] { on cpu[1 + i]; gen 5, 6 };"
        " pcie gpu { on sw[(gpu - 2) // 2]; lanes 16 }; pcie nic { on sw[i % 2] }; numa x; pcie one { on x };"
        " connect gpu[*].n to nic[*]",
        "host",
        INSIDE,
    )
    (gpu,) = m.chips
    assert (gpu.name, gpu.kind, gpu.axes, gpu.model.name, gpu.size) == ("gpu", "chip", (Axis(2, 4),), "G", 4)
    assert [(n.kind, n.name, n.index, n.on, n.facts) for n in m.layout] == [
        ("numa", "cpu", 0, None, {"cores": 9}),
        ("numa", "cpu", 1, None, {"cores": 10}),
        ("pcie", "sw", 0, ("cpu", 0), {"gen": (5, 6)}),
        ("pcie", "sw", 1, ("cpu", 1), {"gen": (5, 6)}),
        *(("pcie", "gpu", k, ("sw", k // 2), {"lanes": 16}) for k in range(4)),
        *(("pcie", "nic", k, ("sw", k % 2), {}) for k in range(4)),
        ("numa", "x", 0, None, {}),
        ("pcie", "one", 0, ("x", 0), {}),
    ]
    assert [s.span.text for s in m.wiring] == ["connect gpu[*].n to nic[*]"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("numa cpu[2]; pcie p { on }", ("E0120", "on", "`on` names what this hangs from", "`on cpu[i // 4]`")),
        ("numa cpu[2]; pcie p { on 5 }", ("E0120", "on 5", "`on` names what this hangs from", "`on cpu[i // 4]`")),
        ("numa cpu[2]; pcie p { on cpux[0] }",
         ("E0101", "cpux", "there is no layout element `cpux` here", "did you mean `cpu`?")),
        ("numa cpu[2]; pcie p { on cpu[2] }", ("E0108", "2", "cpu[2] is outside 0..1", "")),
        ("numa cpu[1..2]; pcie p { on cpu[0] }", ("E0108", "0", "cpu[0] is outside 1..2", "")),
        ("numa cpu[2, 3]; pcie p { on cpu[1] }", ("E0109", "[1]", "`cpu` has 2 indices", "one entry a dimension")),
        ("numa cpu[2]; pcie p { on cpu[1, 0] }", ("E0109", "[1, 0]", "`cpu` has 1 indices", "one entry a dimension")),
        ("numa cpu[2] { port p: any }", ("E0118", "port p: any", "a layout element has settings only", "")),
        ("numa cpu[2]; numa cpu[3]", ("E0104", "cpu", "`cpu` is already declared in this model", "")),
        ("switch s { }", ("E0120", "switch s { }", "`s` needs a model", "write `switch s[…]: MODEL`")),
        ("if true { port p: any }",
         ("E0118", "if true { port p: any }", "this statement has no meaning inside a model",
          "a model has ports, chips, layout and facts")),
    ],
)  # fmt: skip
def test_refused_insides(body: str, expected: tuple[str, str, str, str]) -> None:
    assert refusal(body, "host", INSIDE) == expected


def test_a_statement_that_does_not_parse_is_the_only_finding() -> None:
    """What rests on it, a value or the whole model, is not reported again."""
    for body in (
        "let x = ; port p[x]: any",
        "let x = ; port p[2]: any",
        "port p: any; y = 3",
        "port p[2]: any { type [; os }",
        "port p[2]: any { cage 2 ] }",
    ):
        models, found = built(f"model host M {{ {body} }}\nmodel host N {{ chip c: M }}")
        assert models == {} and found and all(code.startswith("E00") for code, *_ in found), found


# ------------------------------------------------------------ facts
def facts(body: str, kind: str = "switch") -> dict[str, Any]:
    return dict(model_of(body, kind).facts)


def watts(n: int) -> Quantity:
    return Quantity(Fraction(n), POWER)


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("switch", "power 747W max 1720W", {"power": watts(747), "power_max": watts(1720)}),
        ("switch", "power 747W max", {"power": watts(747)}),
        ("switch", "power 747W max 1720W idle 3W", {"power": watts(747), "power_max": watts(1720), "power_idle": watts(3)}),
        ("switch", "power 0W; latency 0ns", {"power": watts(0), "latency": Quantity(Fraction(0), TIME)}),
        ("switch", "let x = 5; radix x + 1; vendor acme; fact trays 18", {"radix": 6, "vendor": "acme", "trays": 18}),
        ("switch", "codes 1, 2, 3", {"codes": (1, 2, 3)}),
        ("switch", "lead 26week; spares 4; alternative A, B; cords 2, C13", None),
        ("cable", "form OSFP finned, QSFP; tail LC", {"form": ("OSFP", "finned", "QSFP"), "tail": ("LC",)}),
        ("chip", "role cpu", {"role": "cpu"}),
    ],
)
def test_facts(kind: str, body: str, expected: dict[str, object] | None) -> None:
    found = facts(body, kind)
    if expected is not None:
        assert found == expected
    else:
        assert (found["lead"], found["alternative"], found["cords"]) == (182, ("A", "B"), (2, "C13"))


CORDS = ("`cords` is a number of power cords from 1 to 64", "write `cords 2`, or with the form of the plugs `cords 2, C13`")
SPARES = ("`spares` of a model is a percentage or a number of pieces", "write `spares 2%` or `spares 4`")
LEAD = ("`lead` is a time in whole days", "write `lead 26week` or `lead 90day`")
FACT = ("a fact has a name and a value", '`fact trays 18`, `fact colour "black"`')
ROLE = (
    "a model has no role, but for `role cpu` of a chip that is not an accelerator",
    "write the role where devices are declared: `host manager: MODEL { role manager }`",
)


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("switch", "power 5",
         ("E0103", "power 5", "`power` of a model is one amount such as `700W`, not an int", "write `power 700W`")),
        ("switch", "power 0W - 1W",
         ("E0103", "power 0W - 1W", "`power` of a model is one amount such as `700W`, not below zero", "write `power 700W`")),
        ("switch", "mass 3m",
         ("E0103", "mass 3m", "`mass` of a model is one amount such as `14kg`, not a length", "write `mass 14kg`")),
        ("switch", "height 2U, 3U",
         ("E0103", "height 2U, 3U", "`height` of a model is one amount such as `2U`, not a list", "write `height 2U`")),
        ("switch", "latency 3m",
         ("E0103", "latency 3m", "`latency` is one time, from port to port, not negative", "write `latency 230ns`")),
        ("switch", "latency 0ns - 1ns",
         ("E0103", "latency 0ns - 1ns", "`latency` is one time, from port to port, not negative", "write `latency 230ns`")),
        ("switch", "power 3W; power 4W", ("E0104", "power 4W", "`power` is set twice", "")),
        ("switch", "power 3W { x 1 }", ("E0118", "x 1", "`power` takes no block", "write `power …`")),
        ("switch", "power 3W { }", ("E0118", "power 3W { }", "`power` takes no block", "write `power …`")),
        ("host", "nos sonic", ("E0118", "nos sonic", "a host has no network operating system", "switches have one")),
        ("switch", "role cpu",
         ("E0118", "role cpu", *ROLE)),
        ("chip", "role gpu",
         ("E0118", "role gpu", *ROLE)),
        ("chip", "role cpu 1",
         ("E0118", "role cpu 1", *ROLE)),
        ("switch", "fact trays", ("E0120", "fact trays", *FACT)),
        ("switch", "fact a 1, b 2", ("E0120", "fact a 1, b 2", *FACT)),
        ("switch", "fact 5 6", ("E0120", "fact 5 6", *FACT)),
        ("switch", "fact trays 18 19", ("E0120", "trays 18 19", "a fact has one value", "write `fact trays 18`")),
        ("switch", "fact power 5W", ("E0120", "power", "`power` is a fact that the language knows", "write `power …`")),
        ("switch", "powr 5W", ("E0118", "powr", "there is no setting of a model `powr` here", "did you mean `power`?")),
        ("cable", "port p: any",
         ("E0118", "port p: any", "a model of cable has facts only",
          "such as `rate 400Gbps`, `medium fibre`, `reach 50m`, `legs 2`")),
        ("optic", "numa c",
         ("E0118", "numa c", "a model of optic has facts only", "such as `rate 400Gbps`, `form OSFP finned`, `ports 2`")),
        ("switch", "cords 0",
         ("E0120", "cords 0", *CORDS)),
        ("switch", "cords 65",
         ("E0120", "cords 65", *CORDS)),
        ("switch", "cords C13",
         ("E0120", "cords C13", *CORDS)),
        ("switch", "cords 2, C13, C19",
         ("E0120", "cords 2, C13, C19", *CORDS)),
        ("switch", 'cords 2, ""',
         ("E0120", 'cords 2, ""', *CORDS)),
        ("switch", "lead 5", ("E0103", "lead 5", *LEAD)),
        ("switch", "lead 5m", ("E0103", "lead 5m", *LEAD)),
        ("switch", "lead 90s", ("E0103", "lead 90s", *LEAD)),
        ("switch", "lead 0day - 1day",
         ("E0103", "lead 0day - 1day", *LEAD)),
        ("switch", "spares 1.5", ("E0103", "spares 1.5", *SPARES)),
        ("switch", "spares 1, 2",
         ("E0103", "spares 1, 2", *SPARES)),
        ("switch", "spares 1 x",
         ("E0103", "spares 1 x", *SPARES)),
    ],
)  # fmt: skip
def test_refused_facts(kind: str, body: str, expected: tuple[str, str, str, str]) -> None:
    assert refusal(body, kind) == expected


def test_a_word_that_is_no_fact() -> None:
    """It becomes a fact of one's own, with a warning; a name far from every known one."""
    found = Diagnostics()
    library = Library(Loader(found), found)
    file = SourceFile("models.fab", "model switch M { wheels 4 }")
    library.build_all(library.link(ParsedFile(file, parse_source_file(file, found).body, Path("nowhere"), "m")))
    (d,) = list(found)
    (m,) = [m for m in library.models.values() if m is not None]
    assert (d.code, d.severity, d.message) == (
        "E0128", Severity.WARNING, "`wheels` is not a setting of a model, and becomes a fact of your own",
    )  # fmt: skip
    assert d.fix is not None and d.fix.title == "write `fact wheels`" and m.facts == {"wheels": 4}
    assert [(span.text, new) for span, new in d.fix.edits] == [("wheels", "fact wheels")]
    assert d.help == "write `fact wheels …`; a later version refuses the bare word"


def test_a_kind_of_model_that_does_not_exist() -> None:
    models, (found,) = built("model swich M { port p: any }")
    assert models == {} and found[:3] == ("E0101", "swich", "there is no kind of model `swich` here")


def test_spares_of_days_and_nothing() -> None:
    assert facts("lead 0day")["lead"] == 0
    assert facts("lead 1day; cords 1")["cords"] == (1,) and facts("cords 64")["cords"] == (64,)
