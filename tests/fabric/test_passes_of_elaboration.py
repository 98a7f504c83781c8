"""The passes from plan to fabric: rows of devices, models, omissions, refused wiring, and what is found of each."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tdsl.fabric import elaborate
from tdsl.fabric.graph import Fabric
from tdsl.findings.source import SourceFile
from tests.harness import compile_text, fabric_of, links_of

Found = tuple[str, str, str]
"""Code, text at its place, and message."""
MANY = "a[0] needs 99 free ports `p` and has 8 (and 1 more device)"
REFUSED = ("E0452", "a[0]", MANY)
BASE = "fabric f {{\n  switch a[2]: SW\n  {}\n}}"


def made(body: str, folder: Path) -> tuple[list[Found], Fabric]:
    """The findings of a text, and its fabric."""
    found = compile_text(BASE.format(body.replace("; ", "\n  ")), folder, verify=False)
    f = found.designs[0].fabric
    assert f is not None
    return [(d.code, d.span.text if d.span else "", d.message) for d in found.findings], f


def alone(name: str, count: str, at: str = "") -> Found:
    return "E0404", at or name.rpartition(".")[2], f"no connect names `{name}`: {count} without a link"


# ------------------------------------------------------------ rows


def test_rows_of_ranges_that_are_built_in_part(tmp_path: Path) -> None:
    """A device is built where each of its indices, those of its groups included, is among the first ones that are built."""
    text = """
  switch top: BIG
  group g[2 of 3] { switch s[2, 1 of 2]: SW; switch t: SW; switch u[3 of 4, 2]: SW; group in[1 of 2] { switch v[2]: SW } }
  connect top to a[0]"""
    _, f = made(text, tmp_path)
    built = {f.device_path(d): bool(f.built[d]) for d in range(f.device_count)}
    expected = {"a[0]": True, "a[1]": True, "top": True}
    for g in range(3):
        expected |= {f"g[{g}].s[{i}, {j}]": g < 2 and j < 1 for i, j in product(range(2), range(2))}
        expected |= {f"g[{g}].t": g < 2}
        expected |= {f"g[{g}].u[{i}, {j}]": g < 2 and i < 3 for i, j in product(range(4), range(2))}
        expected |= {f"g[{g}].in[{k}].v[{i}]": g < 2 and k < 1 for k, i in product(range(2), range(2))}
    assert built == expected


def test_rows_and_models_of_all_declarations(tmp_path: Path) -> None:
    """Rows in the order of the text, chips inside hosts last; each model once, split ports make another one."""
    text = """model switch SP { port p[1..2]: 800Gbps { split 2 } }
fabric f {
  switch b: BIG; switch a[3]: SP { split p 2 }; host h[2]: NODE; switch c[2]: SP; switch d: BIG; switch e: SP { split p 2 }
  connect h[i].gpu[*] ring
  connect h[i].nic[0] to b
  connect a[*] to d each
  connect c[*] to d each
  connect e to b
}"""
    f = fabric_of(text, tmp_path)
    assert [(s.index, s.first, s.path) for s in f.sets] == [
        (0, 0, "b"), (1, 1, "a"), (2, 4, "h"), (3, 6, "c"), (4, 8, "d"), (5, 9, "e"), (6, 10, "h.gpu"),
    ]  # fmt: skip
    assert f.device_set.tolist() == [0, 1, 1, 1, 2, 2, 3, 3, 4, 5] + [6] * 8
    names = [(m.name, m.port_count) for m in f.models]
    assert names == [("BIG", 64), ("SP", 4), ("NODE", 4), ("SP", 2), ("GPU", 4)]
    assert f.device_model.tolist() == [0, 1, 1, 1, 2, 2, 3, 3, 0, 1] + [4] * 8


def test_models_that_replace_others(tmp_path: Path) -> None:
    """A model that two overrides name is listed once, and one that the design has already not again."""
    text = "switch b: BIG; switch c[3]: SW; connect a[0] to b; connect a[1] to c[*] each"
    text += "; override a[(0)]: FAST; override c[1..2]: FAST; override a[(1)]: BIG"
    found, f = made(text, tmp_path)
    assert found == []
    assert [f.model_of(d).name for d in range(f.device_count)] == ["FAST", "BIG", "BIG", "SW", "FAST", "FAST"]
    assert [m.name for m in f.models] == ["SW", "BIG", "FAST"]


@pytest.mark.parametrize(
    ("omit", "gone"),
    [
        ("omit a[(0)]", ["a[0]"]),
        ("omit a[(1)], h[(1)]", ["a[1]", "h[1]"]),
        ("omit a", ["a[0]", "a[1]"]),
        ("omit g", ["g[0].s", "g[1].s"]),
        ("omit g[(0)]; omit e", ["g[0].s"]),
        ("omit e", []),
    ],
)
def test_what_is_omitted(omit: str, gone: list[str], tmp_path: Path) -> None:
    """The first row, too; all in a group, and nothing for a group without devices; with a host, the chips inside it."""
    text = "host h[3]: NODE; switch b: BIG; group g[2] { switch s: SW }; group e[2] { }"
    text += f"; connect a[*] to b each; connect g[*].s to b each; connect h[i].nic[0] to b; connect h[i].gpu[*] ring; {omit}"
    found, f = made(text, tmp_path)
    assert found == []
    inside = [f"{path}.gpu[{k}]" for path in gone if path[0] == "h" for k in range(4)]
    assert [f.device_path(d) for d in range(f.device_count) if not f.built[d]] == gone + inside


def test_a_device_that_one_group_has_alone(tmp_path: Path) -> None:
    """Omitting all groups omits it as well, and of the other instance nothing is taken for it."""
    (tmp_path / "base.fab").write_text("model switch SW { port p[1..8]: 400Gbps }\nfabric f { group g[2] { switch s: SW } }")
    text = "use base (f)\nextend f.g[1] { switch more: SW; connect more to s }\nextend f { switch z[2]: SW; connect z each }\n"
    text = text.replace("SW", "BIG") + "extend f { connect g[0].s to z[0]; omit g }"
    f = fabric_of(text, tmp_path)
    built = {f.device_path(d): bool(f.built[d]) for d in range(f.device_count)}
    assert built == {"g[0].s": False, "g[1].s": False, "g[1].more": False, "z[0]": True, "z[1]": True}


# ------------------------------------------------------------ what is refused


def test_devices_that_no_connect_names_where_wiring_is_refused(tmp_path: Path) -> None:
    body = "switch b: SW; switch c[3]: SW; host h: BOX; host g[2]: BOX; chip k[2]: GPU; panel q: PATCH; ocs o: OPTIC"
    body += "; group in[2] { switch s: SW }; connect a[0] to a[1] x 99"
    found, f = made(body, tmp_path)
    assert found == [
        alone("b", "1 switch"), alone("c", "3 switches"), alone("h", "1 host"), alone("g", "2 hosts"), alone("k", "2 chips"),
        alone("in.s", "2 switches"), REFUSED,
    ]  # fmt: skip
    assert not f.complete
    helps = [d.help for d in compile_text(BASE.format(body.replace("; ", "\n")), tmp_path, verify=False).findings]
    assert helps[:6] == [f"connect `{name}`, or remove it" for name in ("b", "c", "h", "g", "k", "s")]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        # a name that a refused connect has, or may have meant
        ("connect a[0] to a[1]; connect leef[*] ring", [("E0101", "leef", "there is no device or group `leef` here")]),
        ("connect a[0] to a[1]; connect leaf[9] to leaf[0]", [("E0108", "9", "`leaf[9]` is outside 0..1")]),
        ("connect g[9].s to a[0]", [alone("leaf", "2 switches"), ("E0108", "9", "`g[9]` is outside 0..1")]),
        # named, though its connect is refused or crosses it alone
        ("connect a[0] to leaf[0] x 99", [("E0452", "a[0]", MANY)]),
        ("connect leaf[0] to a[0] x 99", [("E0452", "leaf[0]", MANY)]),
        # refused by other statements than connects
        ("connect a[0] to a[1]; override a[7]: BIG", [alone("leaf", "2 switches"), ("E0108", "7", "`a[7]` is outside 0..1")]),
        ("connect a[0] to a[1]; omit a[7]", [alone("leaf", "2 switches"), ("E0108", "7", "`a[7]` is outside 0..1")]),
    ],
)
def test_names_that_are_not_reported_again(body: str, found: list[Found], tmp_path: Path) -> None:
    text = f"switch leaf[2]: SW; switch b: SW; group g[2] {{ switch s: SW }}; {body}"
    expected = [*found[:-1], alone("b", "1 switch"), *([] if "g[9]" in body else [alone("g.s", "2 switches")]), found[-1]]
    here = made(text, tmp_path)
    assert here[0] == expected and not here[1].complete


def test_what_is_crossed_is_named(tmp_path: Path) -> None:
    """A refused circuit is a refused connect: the switch without one is found, those at the optical switch are not."""
    ocs = "switch b: SW; ocs o: OPTIC; connect a[i].p[q] to o where q < 3; circuit a[0] to a[1]"
    found, f = made(f"{ocs} x 9", tmp_path)
    assert found == [
        alone("b", "1 switch"),
        ("E0452", "circuit a[0] to a[1] x 9", "a[0] and a[1] lack free cables to a common OCS for one more circuit"),
    ]
    assert not f.complete and f.link_count == 0
    found, f = made(f"{ocs} x 2", tmp_path)
    assert found == [] and f.complete and f.link_count == 2
    found, f = made(f"{ocs} x 2; connect a[0] to a[1] x 99", tmp_path)  # another refused, and the circuits are laid
    assert [x[0] for x in found] == ["E0404", "E0452"] and not f.complete and f.link_count == 2


def test_parts_that_are_not_joined_are_found_where_all_else_is_wired(tmp_path: Path) -> None:
    spread = "switch u[4]: SW; switch v[4]: SW; switch b: SW; connect u[*] to v[*] spread x 1; connect a[0] to a[1]"
    found, f = made(spread, tmp_path)
    assert [(code, at) for code, at, _ in found] == [("E0404", "b"), ("E0458", "spread x 1")] and not f.complete
    found, _ = made(spread + " x 99", tmp_path)
    assert [(code, at) for code, at, _ in found] == [("E0404", "b"), ("E0452", "a[0]")]


@pytest.mark.parametrize(
    ("more", "complete"),
    [
        ("", True),
        ("let z = nope", False),  # a text with an error is not whole, whatever is wired
        ("partition x 1 { full a }", False),
        ("partition x 1 { full h }", True),
        ("connect a[0] to a[1] x 99; partition x 1 { full h }", False),
        ("let z = nope; partition x 1 { full h }", False),
        ("subnet_manager h[(0)]", True),
        ("subnet_manager e", False),
        ("routing bgp { unnumbered; asn a[*] 65535 }", False),
    ],
)
def test_a_fabric_is_whole_without_errors(more: str, complete: bool, tmp_path: Path) -> None:
    text = f"host h[2]: BOX; host e: ETH; connect a[0] to a[1]; connect h[i].nic[(0)] to a[i]; connect e.nic to a[0]; {more}"
    found = compile_text(BASE.format(text.replace("; ", "\n  ")) + "\nmodel host ETH { port nic: 400Gbps { type GE } }", tmp_path,
                         verify=False)  # fmt: skip
    f = found.designs[0].fabric
    assert f is not None and f.complete == complete
    assert bool([d for d in found.findings if d.severity.word == "error"]) != complete


def test_a_fabric_without_a_built_device(tmp_path: Path) -> None:
    (found,) = compile_text("fabric f { switch a[2]: SW; connect a[*] each; omit a }", tmp_path, verify=False).findings
    assert (found.code, found.message) == ("E0123", "fabric `f` has no device that is built")
    assert found.help == "declare devices with `host` and `switch`; what `omit` names is planned only"
    found, f = made("connect a[0] to a[1] x 99; omit a", tmp_path)
    assert [x[0] for x in found] == ["E0452"], "it is not complete, so more is not said"
    assert not f.built.any()


# ------------------------------------------------------------ statements without effect


def test_guards_that_leave_nothing(tmp_path: Path) -> None:
    """Each is a warning at its guard: connects first, then other statements, then what is minimized without an unknown."""
    text = "connect a[0] to a[1]; omit a[i] where i > 3; omit a[i] where i > 4; connect a[i] to a[j] where i > 9"
    found = compile_text(BASE.format((text + "; minimize switches").replace("; ", "\n  ")), tmp_path, verify=False).findings
    by_guard = ("E0124", "warning", "no index values satisfy this guard, so the statement has no effect",
                "correct the guard, or remove the statement")  # fmt: skip
    assert [(d.code, d.severity.word, d.message, d.help) for d in found] == [by_guard] * 3 + [
        ("E0124", "warning", "the design has no unknown `?`, so `minimize` has no effect",
         "write `?` for a number, or remove the statement"),
    ]  # fmt: skip
    assert sorted(d.span.text for d in found if d.span) == ["i > 3", "i > 4", "i > 9", "minimize switches"]


# ------------------------------------------------------------ the order of the connects


def test_spreads_without_a_number_take_what_others_leave(tmp_path: Path) -> None:
    """Whatever stands before them in the text; what a refused connect would have taken is not known to them."""
    links = "connect a[*] to b[*] spread; connect a[i] to c[i] x 6"
    f = fabric_of(BASE.format(f"switch b: BIG; switch c[2]: SW; {links}".replace("; ", "\n  ")), tmp_path)
    counts = {(x.split(".")[0], y.split(".")[0]): 0 for x, y in links_of(f)}
    for x, y in links_of(f):
        counts[x.split(".")[0], y.split(".")[0]] += 1
    assert counts == {("a[0]", "b"): 2, ("a[1]", "b"): 2, ("a[0]", "c[0]"): 6, ("a[1]", "c[1]"): 6}
    found, f = made(f"switch b: BIG; switch c[2]: SW; {links}3; connect c[*] to b[*] spread x 1", tmp_path)
    assert [x[0] for x in found] == ["E0452"] and f.link_count == 2


@pytest.mark.parametrize(("connects", "said"), [(19, []), (20, [(20, "statements")]), (21, [(21, "statements")])])
def test_progress_of_many_connects(
    connects: int, said: list[tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 20 connects on their number is reported; each is one step."""
    counted: list[tuple[int, str]] = []
    steps: list[int] = []
    told = SimpleNamespace(count=lambda n, unit: counted.append((n, unit)), advance=lambda: steps.append(1))
    monkeypatch.setattr(elaborate, "progress", told)
    text = "switch w: BIG; switch v: BIG" + "".join(f"; connect w.p[{k + 1}] to v.p[{k + 1}]" for k in range(connects - 1))
    assert made(text + "; connect a[0] to a[1]", tmp_path)[0] == []
    assert counted == said and len(steps) == connects


def test_memory_is_kept_for_the_ports_of_all_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    monkeypatch.setattr(elaborate, "memory", SimpleNamespace(keep=kept.append))
    made("switch b: BIG; connect a[0] to a[1]; connect b to a[0]", tmp_path)
    assert kept == [8 + 8 + 64]


@pytest.mark.parametrize(
    ("more", "there"),
    [
        ("", False),
        ("address a loopback from 10.0.0.0/24", True),
        ("routing bgp { unnumbered }", True),
        ("roce { dscp 26; priority 3 }", True),
    ],
)
def test_what_a_fabric_says_of_addresses(more: str, there: bool, tmp_path: Path) -> None:
    found, f = made(f"connect a[0] to a[1]; {more.replace('; ', ' ; ')}", tmp_path)
    assert [x for x in found if x[0] < "E04"] == []
    assert (f.addressing is not None) == there
    if f.addressing is not None:
        assert (f.addressing.roce is not None, f.addressing.routing is not None) == ("roce" in more, "bgp" in more)
        assert (f.addressing.asns is not None) == ("bgp" in more)


def test_links_inside_of_a_model(tmp_path: Path) -> None:
    """Its own connects become links of the model; a model without any has none."""
    text = """model chip C { port l[2]: 200Gbps }
model host R { port nic: 400Gbps { type NDR }; chip c[3]: C; connect c[*] ring }
fabric f { host r: R; host h: NODE; switch s: BIG; connect r.nic to s; connect h.nic[0] to s }"""
    f = fabric_of(text, tmp_path)
    assert {m.name: sorted((x.a, x.b, x.count) for x in m.links) for m in f.models} == {
        "R": [(("c", 0), ("c", 1), 1), (("c", 1), ("c", 2), 1), (("c", 2), ("c", 0), 1)], "NODE": [], "BIG": [],
    }  # fmt: skip


def test_a_table_of_places_without_a_hall_in_the_design(tmp_path: Path) -> None:
    table = SourceFile("places.csv", "device,hall,row,rack,unit\na[1],h,A,3,7\n")
    f = fabric_of(BASE.format("connect a[0] to a[1]"), tmp_path, places=table)
    assert f.places is not None and f.places.device_unit[1] == 7
    assert fabric_of(BASE.format("connect a[0] to a[1]"), tmp_path).places is None


def test_a_switch_that_is_crossed_is_named(tmp_path: Path) -> None:
    """That is refused, and the switch is not said to be without a link as well."""
    found, _ = made("switch b: SW; switch c: SW; connect a[0] to a[1] via b", tmp_path)
    assert found == [alone("c", "1 switch"), ("E0457", "b", "`via` crosses a panel or an OCS, and this is a switch")]


def test_unknown_numbers_are_minimized_without_a_warning(tmp_path: Path) -> None:
    text = "fabric f { host h[2]: BOX; switch s[?]: BIG; connect h[i].nic[*] to s[*] spread x 2\nrequire switches >= 2\n"
    found = compile_text(text + "minimize switches }", tmp_path).findings
    assert [d.code for d in found if d.severity.word in ("error", "warning")] == []


def test_no_devices_are_no_rows(tmp_path: Path) -> None:
    (found,) = compile_text("fabric f { }", tmp_path, verify=False).designs
    assert found.fabric is not None
    assert (found.fabric.device_count, found.fabric.link_count, found.fabric.models) == (0, 0, ())
    assert (
        found.fabric.layer == ""
        and found.fabric.device_model.tolist() == []
        and np.asarray(found.fabric.port_base).tolist() == [0]
    )
