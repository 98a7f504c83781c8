"""Steps of a build: routers of a target, paths of files, what is skipped and why, manifests, and pieces of templates."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.emit import build as module
from tdsl.emit import render as render_module
from tdsl.emit.build import (
    BuildOptions,
    Selection,
    _files_of_records,
    _names_joined_by_and,
    _note_missing_guids,
    _note_missing_platforms,
    _options_of_target,
    _parameter_as_json,
    _paths_and_records,
    _report_equal_paths,
    _report_skipped,
    _report_systems,
    _standby_path,
    _why_targets_are_skipped,
    manifest_bytes,
)
from tdsl.emit.choices import Values
from tdsl.emit.limits import TimedPattern
from tdsl.emit.quote import NameRefused
from tdsl.emit.records import Interface, Management, Router, Session
from tdsl.emit.render import (
    _exception_text,
    _has_wide_number,
    _largest_format_width,
    _record_in_hand,
    _refuse_large_file,
    _rendered_pieces,
    _template_location,
    jinja_environment,
)
from tdsl.emit.rows import RowLines
from tdsl.emit.target import BuildTarget, FileSpec, RouterSelection
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.system.resources import packaged_folder

Told = tuple[str, Severity, str, str]


def told(found: Diagnostics) -> list[Told]:
    return [(d.code, d.severity, d.message, d.help or "") for d in found]


# ---------------------------------------------------------------- routers of a target


def router(name: str = "leaf0", kind: str = "switch", **given: Any) -> Router:
    """A switch with two ports and an address of management."""
    facts: dict[str, Any] = {
        "interfaces": (port("swp1"), port("swp2")), "management": (Management("eth0", "mgmt", 4, "", ""),), "channels": (),
        "sessions": (), "mtu": 9000, **given,
    }  # fmt: skip
    blank = (name, kind, 65001, "1.1.1.1", 1, ())
    return Router(
        *blank, facts["management"], facts["interfaces"], facts["sessions"], (), (), False, False, facts["mtu"], 0, 0, 0, (), (),
        facts["channels"],
    )  # fmt: skip


def port(name: str, channel: str = "", sonic: bool = True, text: str = "far swp9") -> Interface:
    return Interface(name, text, (), 400, sonic=sonic, channel=channel)


CHANNELS = (port("channel 3", text="spine0 port channel 1"), port("channel 12"))


@pytest.mark.parametrize(
    ("routers", "given", "why"),
    [
        ({}, {}, ""),
        ({"interface": re.compile("swp.*"), "management": re.compile("eth.")}, {}, ""),
        ({"interface": re.compile("swp1")}, {}, "`swp2` of leaf0 is not a name of a port there"),
        ({"interface": re.compile("x"), "management": re.compile("x")}, {}, "`swp1` of leaf0 is not a name of a port there"),
        ({"management": re.compile("ma1")}, {}, "`eth0` of leaf0 is not a name of a port there"),
        ({}, {"interfaces": (port("a"), port("a"))}, "two ports of leaf0 have one name"),
        ({"mtu": 9000}, {}, ""),
        ({"mtu": 8999}, {}, "its MTU is at most 8999"),
        ({"mtu": 8999}, {"mtu": ""}, ""),
        ({"sonic": True}, {}, ""),
        ({"sonic": True}, {"interfaces": (port("a"), port("b", sonic=False))},
         "nothing says how SONiC numbers the ports of leaf0: `sonic 8*(i - 1) lanes 8`"),
        ({}, {"interfaces": (port("a"), port("b", sonic=False))}, ""),
        ({}, {"channels": CHANNELS}, "its links form port channels, such as that of leaf0 to spine0 port channel 1"),
        ({"channel": "po"}, {"channels": CHANNELS}, ""),
        ({"channel": "po"}, {"channels": (port("swp1"),)}, "two ports of leaf0 have one name"),
    ],
)  # fmt: skip
def test_routers_that_a_target_refuses(routers: dict[str, Any], given: dict[str, Any], why: str) -> None:
    assert RouterSelection(**routers).refuses(router(**given)) == why


def test_patterns_that_take_too_long() -> None:
    late = TimedPattern(re.compile("a" * 120), late=True)
    wanted = f"the pattern {'a' * 100!r} takes more than 5 seconds for the name of a port"
    assert RouterSelection(interface=late).refuses(router()) == RouterSelection(management=late).refuses(router()) == wanted
    quick = TimedPattern(re.compile("b"))
    assert (
        RouterSelection(interface=quick).refuses(router()) == "`swp1` of leaf0 is not a name of a port there" and not quick.late
    )


def test_names_of_port_channels() -> None:
    """In interfaces, channels and sessions; without a word for them they stay as they are."""
    given = router(
        interfaces=(port("swp1", "channel 3"), port("swp2", "channel 12"), port("swp3")), channels=CHANNELS,
        sessions=(Session("channel 12", True, 1, (4,), ""), Session("swp3", True, 1, (4,), "")),
    )  # fmt: skip
    made = RouterSelection(channel="Port-Channel").named(given)
    assert [i.channel for i in made.interfaces] == ["Port-Channel3", "Port-Channel12", ""]
    assert [c.name for c in made.channels] == ["Port-Channel3", "Port-Channel12"]
    assert [s.peer for s in made.sessions] == ["Port-Channel12", "swp3"]
    assert RouterSelection().named(given) is given and RouterSelection(channel="po").named(plain := router()) is plain


def test_what_routers_are_called() -> None:
    assert [RouterSelection(kind=k).plural for k in ("switch", "host", "")] == ["switches", "hosts", "routers"]


@pytest.mark.parametrize("scope", ["fabric", "plane", "device", "model", "host", "adapters", "router", "standby", "pod"])
def test_files_of_a_part(scope: str) -> None:
    assert FileSpec("x", scope).of_parts == (scope in ("device", "model", "host", "adapters", "router"))
    assert FileSpec("x", scope, part=True).of_parts


# ---------------------------------------------------------------- which targets write


def target(name: str, **given: Any) -> BuildTarget:
    facts: dict[str, Any] = {"files": (FileSpec("{router}.cfg", "router"),), "own": True, **given}
    return BuildTarget(name, "", "", packaged_folder("targets") / name, **facts)


def view(systems: dict[str, str], hosts: tuple[str, ...] = (), *capabilities: str) -> Any:
    """A view of switches with these operating systems, and hosts."""
    routers = {"switch": [router(n) for n in systems], "host": [router(n, "host") for n in hosts]}
    every = [*routers["switch"], *routers["host"]]
    return SimpleNamespace(
        switch_systems=systems,
        routers=lambda kind: routers[kind] if kind else every,
        capabilities=frozenset(("routing", *capabilities)),
    )


def test_routers_by_their_system() -> None:
    """Those that name it; those that name none if the target is asked for; hosts have none."""
    seen = view({"a": "eos", "b": "", "c": "nvue"}, ("h",))
    for named, wanted in ((frozenset[str](), "ah"), (frozenset(("x",)), "ah"), (frozenset(("t",)), "abh")):
        selection = Selection(seen, named)
        t = target("t", routers=RouterSelection(nos="eos"))
        assert "".join(r.name for r in selection.routers(t)[0]) == wanted
        assert selection.waits(t) == ("t" not in named) and selection.written(t)
        every = target("t", routers=RouterSelection(kind="switch"))
        assert "".join(r.name for r in selection.routers(every)[0]) == "abc"
        assert not selection.waits(every) and not selection.written(every)
        other = target("t", routers=RouterSelection(nos="sonic", kind="switch"))
        assert not selection.written(other) and "".join(r.name for r in selection.routers(other)[0]) == wanted.strip("ah")
    assert not Selection(view({"a": "eos"}), frozenset()).waits(target("t", routers=RouterSelection(nos="eos")))
    refusing = target("t", routers=RouterSelection(nos="eos", mtu=10))
    assert Selection(seen, frozenset()).routers(refusing) == ([], ["its MTU is at most 10"] * 2)
    outer = Selection(seen, frozenset())
    both = Selection(seen, frozenset(), outer)
    assert (
        both.of(target("t", network=True)) is outer
        and both.of(target("t")) is both
        and outer.of(target("t", network=True)) is outer
    )


def skipped(targets: list[BuildTarget], seen: Any, named: frozenset[str] = frozenset(), part: bool = False) -> list[Told]:
    found = Diagnostics()
    _report_skipped(_why_targets_are_skipped(targets, Selection(seen, named), part), targets, found)
    return told(found)


def test_one_note_of_all_that_is_skipped() -> None:
    seen = view({"a": "eos", "b": ""}, (), "links")
    targets = [
        target("whole", files=(FileSpec("x", "fabric"),), needs=("links",)), target("tree", needs=("torus", "links", "guids")),
        target("grid", needs=("torus",)), target("odd", needs=("odd",)), target("third", needs=("torus",)),
        target("sonic", routers=RouterSelection(nos="sonic", kind="switch")), target("hosts", routers=RouterSelection(kind="host")),
        target("small", routers=RouterSelection(kind="switch", mtu=10)), target("eos", routers=RouterSelection(nos="eos", kind="switch", mtu=10)),
        target("plain", routers=RouterSelection(nos="eos", kind="switch")),
    ]  # fmt: skip
    reasons = (
        "`tree`, `grid` and `third` (the fabric has no a torus); `tree` (the fabric has no GUIDs (`--assets`)); "
        "`odd` (the fabric has no odd); `sonic` and `eos` (no `nos` names the operating system of the switches); "
        "`hosts` (no hosts it can configure); `small` (no switches it can configure: its MTU is at most 10)"
    )
    help = "write `nos eos` in the fabric, its switches or their model, or name the target: `--target eos`"
    assert skipped(targets, seen) == [("E0506", Severity.NOTE, f"skipped: {reasons}", help)]
    assert skipped([targets[0], targets[-1]], seen) == []
    # a build of a part leaves out what is of the whole fabric, and says first what the fabric has not
    of_whole = "skipped: `whole` (what it writes is of the whole fabric, and this is a build of a part)"
    assert skipped([targets[0], targets[-1]], seen, part=True) == [("E0506", Severity.NOTE, of_whole, "")]
    assert skipped([target("whole", files=(FileSpec("x", "fabric"),), needs=("cords",))], seen, part=True)[0][2] == (
        "skipped: `whole` (the fabric has no power cords (`cords` in a model))"
    )
    assert skipped([targets[5]], seen, frozenset(("sonic",))) == []
    assert skipped([target("sonic", routers=RouterSelection(nos="sonic", kind="switch", mtu=10))], seen, frozenset(("sonic",)))[
        0
    ][2] == ("skipped: `sonic` (no switches it can configure: its MTU is at most 10)")


def test_lists_of_names() -> None:
    assert [_names_joined_by_and(n) for n in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def systems(known: list[BuildTarget], chosen: list[BuildTarget], seen: Any, named: frozenset[str] = frozenset()) -> list[Told]:
    found = Diagnostics()
    _report_systems({t.name: t for t in known}, chosen, Selection(seen, named), found)
    return told(found)


def test_switches_that_two_targets_or_none_configure() -> None:
    eos, two = target("eos", routers=RouterSelection(nos="eos")), target("two", routers=RouterSelection(nos="eos"))
    plain, sonic = target("frr", routers=RouterSelection()), target("sonic", routers=RouterSelection(nos="sonic"))
    seen = view({"a": "eos", "b": "junos", "c": "junos", "d": "xr"}, ("h",))
    none = "add a target whose `target.toml` has `nos` in `[router]`: `tdsl new target NAME`"
    unknown = [
        ("E0511", Severity.NOTE, "no target configures 2 switches with `nos junos`", none),
        ("E0511", Severity.NOTE, "no target configures 1 switch with `nos xr`", none),
    ]
    assert systems([eos, plain], [eos, plain], seen) == unknown
    assert systems([eos, plain], [eos], seen, frozenset(("eos",))) == []
    twice = [
        ("E0507", Severity.ERROR, "targets `eos` and `two` would both configure a",
         "name its operating system: `nos eos`, or build one of the targets"),
    ]  # fmt: skip
    assert systems([eos, two], [eos, plain, two], seen) == twice
    # hosts may have files of two targets
    both = frozenset(("sonic", "eos"))
    assert systems([eos, sonic], [eos, sonic], view({"a": "eos", "b": "sonic"}, ("h",)), both) == []
    assert systems([eos, sonic], [eos, sonic], view({"b": "", "c": ""}), both) == [
        ("E0511", Severity.NOTE, "`eos` and `sonic` each write a configuration of b and 1 more switch",
         "use one of them; `nos eos` in the design says which"),
    ]  # fmt: skip
    nameless = ("E0511", Severity.NOTE, "no configuration is written for b: nothing names its operating system",
                "write `nos NAME` at these switches, too")  # fmt: skip
    assert systems([eos], [eos], view({"a": "eos", "b": "", "c": ""})) == [nameless]
    assert systems([eos], [eos], view({"b": ""})) == [] and systems([sonic], [sonic], view({"a": "eos", "b": ""})) == [
        ("E0511", Severity.NOTE, "no target configures 1 switch with `nos eos`", none)
    ]
    seen.capabilities = frozenset(("links",))
    assert systems([eos, two], [eos, two], seen) == []


def test_models_without_a_platform_of_sonic() -> None:
    facts = {"a": {"model": "X"}, "b": {"model": "A", "hwsku": ""}, "c": {"model": "B", "hwsku": "Force10"}, "d": {"model": "X"}}
    seen: Any = SimpleNamespace(model_facts=facts.__getitem__)
    found = Diagnostics()
    _note_missing_platforms(target("sonic"), [router(n) for n in "abcd"], seen, found)
    assert told(found) == [
        ("E0511", Severity.NOTE, "target `sonic`: no `hwsku` is stated for A and X",
         "add it to the file, and compare the lanes with the platform's port_config.ini"),
    ]  # fmt: skip
    found = Diagnostics()
    _note_missing_platforms(target("sonic"), [router("c")], seen, found)
    assert told(found) == []


def test_files_that_name_assets_by_guids() -> None:
    """A note where the design asks for the file and nobody gave GUIDs."""
    help = "give them with `--assets FILE`: device,port,node_guid,port_guid"
    note = ("E0511", Severity.NOTE, "target `ib`: {} is left out: it names assets by their GUIDs", help)
    for needs, capabilities, single, wanted in (
        (("guids", "partitions"), ("partitions",), "", "p/{plane}.conf"),
        (("guids", "partitions"), ("partitions",), "p.conf", "p.conf"),
        (("guids", "partitions"), (), "", ""), (("guids",), (), "", ""), (("partitions",), ("partitions",), "", ""),
        (("guids", "infiniband"), ("infiniband",), "", ""), (("guids", "partitions"), ("partitions", "guids"), "", ""),
    ):  # fmt: skip
        found = Diagnostics()
        seen: Any = SimpleNamespace(capabilities=frozenset(capabilities))
        _note_missing_guids(
            target("ib", needs=("infiniband",)), FileSpec("p/{plane}.conf", "plane", needs=needs, single=single), seen, found
        )
        assert told(found) == ([(*note[:2], note[2].format(wanted), help)] if wanted else [])


# ---------------------------------------------------------------- paths and manifests


def test_paths_of_every_scope() -> None:
    def named(*names: str, field: str = "name") -> list[Any]:
        return [SimpleNamespace(**{field: n}) for n in names]

    seen: Any = SimpleNamespace(
        devices=named("d 0", "d1"), planes=named("p0", "p1"), pods=named("su0"), hosts=named("h0"),
        adapters=named("X", field="host"),
        models=named("m0", "m1", field="key"),
        standbys=[SimpleNamespace(name=n, plane=SimpleNamespace(name=p)) for n, p in (("s/1", "p0"), ("s2", "p1"))],
    )  # fmt: skip
    routers = [router("leaf0"), router("leaf1")]

    def paths(scope: str, single: str = "") -> list[str]:
        found = _paths_and_records(FileSpec(f"x/{{{scope}}}.cfg", scope, single=single), seen, routers)
        records = {"fabric": [None], "router": routers, "standby": seen.standbys, "adapters": seen.adapters}
        wanted = records.get(scope) or getattr(seen, f"{scope}s")
        assert [r for _, r in found] == wanted
        return [p for p, _ in found]

    hashed = f"x/d_0-{sha256(b'd 0').hexdigest()[:8]}.cfg"
    assert paths("fabric") == ["x/{fabric}.cfg"] and paths("device", "one") == [hashed, "x/d1.cfg"]
    assert paths("plane") == ["x/p0.cfg", "x/p1.cfg"] and paths("router") == ["x/leaf0.cfg", "x/leaf1.cfg"]
    assert paths("pod") == ["x/su0.cfg"] and paths("pod", "one") == ["one"] and paths("host") == ["x/h0.cfg"]
    assert paths("adapters") == ["x/X.cfg"] and paths("model") == ["x/m0.cfg", "x/m1.cfg"]
    spec = FileSpec("o/{plane}/{standby}.conf", "standby")
    mark = sha256(b"s/1").hexdigest()[:8]
    assert [p for p, _ in _paths_and_records(spec, seen, ())] == [f"o/p0/s_1-{mark}.conf", "o/p1/s2.conf"]
    seen.planes = named("p0")
    assert _standby_path(spec, seen.standbys[1], seen) == "o/s2.conf"
    assert _standby_path(FileSpec("{plane}.{standby}", "standby"), seen.standbys[1], seen) == "p1.s2"


def test_paths_that_are_one_where_case_is_ignored() -> None:
    found = Diagnostics()
    _report_equal_paths({"a/X.cfg": b"", "b": b"", "A/x.cfg": b"", "e\u0301": b"", "\u00e9": b""}, found)
    help = "give the devices different names with `naming`"
    assert told(found) == [
        ("E0507", Severity.ERROR, f"{a} and {b} are one file on macOS and Windows, which ignore case", help)
        for a, b in (("a/X.cfg", "A/x.cfg"), ("e\u0301", "\u00e9"))
    ]


def test_a_manifest() -> None:
    fabric: Any = SimpleNamespace(name="p\u00f6d", parameters={"n": 2, "b": True, "a": "x", "q": 2.5})
    files = {"z": b"abc", "a": b""}
    wanted: dict[str, object] = {
        "schema": 1, "tdsl": "9",
        "design": {"name": "p\u00f6d", "sha256": "id", "parameters": {"a": "x", "b": True, "n": 2, "q": "2.5"}},
        "files": {p: {"sha256": sha256(files[p]).hexdigest(), "size": len(files[p])} for p in ("a", "z")},
    }  # fmt: skip
    made = manifest_bytes(fabric, files, "id", "9")
    assert made.decode() == json.dumps(wanted, indent=1, ensure_ascii=False) + "\n"
    more = json.loads(manifest_bytes(fabric, files, "id", "9", ("KEY",), ("su[0]",)))
    assert more == {**wanted, "only": ["su[0]"], "secrets": ["KEY"]} and list(more)[3:5] == ["only", "secrets"]
    assert [_parameter_as_json(v) for v in (True, 3, "x", None)] == [True, 3, "x", "None"]


def test_settings_that_an_option_does_not_take() -> None:
    t = target("t", options={"level": 3, "mode": "a"}, values={"level": Values(least=0, most=7)})
    found = Diagnostics()
    given = BuildOptions(settings={"t": {"level": 7, "mode": 1, "x": 2}, "other": {"level": 1}})
    assert _options_of_target(t, given, found) == {"level": 7, "mode": "a"} and t.options["level"] == 3
    assert [d.message for d in found] == [
        "target `t`: `mode` is a text, not 1", "target `t`: there is no option `x`; there are level, mode",
    ]  # fmt: skip
    assert {d.code for d in found} == {"E0502"} and _options_of_target(target("u"), given, found) == {}


class Copies:
    """Workers that make their shares in this process."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.shares: list[range] = []

    def results_of_copies(self, make: Any, starts: range) -> Any:
        self.shares.append(starts)
        return map(make, starts)


@pytest.mark.parametrize(
    ("count", "records", "own", "worth", "shares"),
    [
        (1, 9, True, 79, []), (2, 9, True, 79, [range(1, 9)]), (2, 9, True, 80, []), (2, 100, True, 9, [range(1, 100, 13)]),
        (2, 1000, True, 9, [range(1, 1000, 64)]), (2, 9, False, 9, []), (2, 1, True, 0, []), (3, 14, True, 9, [range(1, 14, 2)]),
    ],
)  # fmt: skip
def test_files_of_many_records(
    count: int, records: int, own: bool, worth: int, shares: list[range], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their order, with their findings, whoever makes them: several processes from the first file on that leaves enough."""
    monkeypatch.setattr(module, "WORTH", worth)
    found, copies = Diagnostics(), Copies(count)

    def draw(record: int, keep: Any) -> bytes | None:
        found.add("E0511", None, f"{record}")
        return keep([b"%d" % record, b"x" * 9]) if record != 5 else None  # type: ignore[no-any-return]

    options = BuildOptions(workers=copies)  # type: ignore[arg-type]
    made = list(_files_of_records(draw, range(records), target("t", own=own), options, found))
    assert made == [b"%d" % r + b"x" * 9 if r != 5 else None for r in range(records)]
    messages = [d.message for d in found]
    assert list(dict.fromkeys(messages)) == [str(r) for r in range(records)]
    assert copies.shares == shares


# ---------------------------------------------------------------- templates


def test_numbers_in_formats() -> None:
    assert [_largest_format_width(t) for t in ("", "999", "%1000d %20000d", "%*d", "*", "%", "1" * 30)] == [
        0, 0, 20000, (1 << 20) + 1, 0, 0, int("1" * 20),
    ]  # fmt: skip
    assert not _has_wide_number([1 << 20, "x", None]) and _has_wide_number([1, (1 << 20) + 1])


def test_steps_that_would_make_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 100 characters, or bits of a number, by one sign; a width or a number of that size in a call."""
    monkeypatch.setattr(render_module, "WIDEST", 100)
    env = jinja_environment.__wrapped__(packaged_folder("targets") / "eos" / "templates", False)

    def outcome(text: str, **given: object) -> str:
        try:
            return env.from_string("{{ " + text + " }}").render(**given)
        except NameRefused as why:
            return str(why)

    once = "`{}` would make more than 100 characters at once"
    cases = {
        "'x' * n|int": ("x" * 100, once.format("*")), "n|int * [1]": (str([1] * 100), once.format("*")),
    }  # fmt: skip
    for text, (fits, refused) in cases.items():
        assert outcome(text, n=100) == fits and outcome(text, n=101) == refused
    assert outcome("a ** b", a=2**9, b=10) == str(2**90) and outcome("a ** b", a=2**9, b=11) == once.format("**")
    assert outcome("a ** b", a=2.0, b=1000) == str(2.0**1000) and outcome("a ** b", a=2**9, b=-11) == once.format("**")
    assert outcome("a * b", a=1 << 49, b=1 << 49) == str(1 << 98) and outcome("a * b", a=1 << 50, b=1 << 49) == once.format("*")
    assert outcome("'%*d' % (1, 2)") == once.format("%") and outcome("101 % 7") == "3" and outcome("'%3d' % 5") == "  5"
    call = "a text of more than 100 characters would be made at once"
    assert outcome("'x'.ljust(100)") == "x".ljust(100) and outcome("'x'.ljust(101)") == call
    assert outcome("'x'.ljust(width=101)") == "x".ljust(101) or outcome("'x'.ljust(width=101)") == call
    made = "`format` would make a text of more than 100 characters at once"
    assert outcome("'{:>100}'.format(1)").endswith("1") and outcome("'{:{}}'.format(1, 101)") == made
    assert outcome("'x'|center(100)").strip() == "x" and outcome("'x'|center(101)") == (
        "`center` would make a text of more than 100 characters at once"
    )
    assert outcome("'%1000d'|format(1)") == made and outcome("'%3d'|format(1)") == "  1"


@pytest.mark.parametrize("own", [True, False])
def test_pieces_of_a_file(own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Handed on when more than a piece is there; rows of a table are handed on as they are."""
    monkeypatch.setattr(render_module, "MANY", 2)
    monkeypatch.setattr(render_module, "PIECE", 4)
    monkeypatch.setattr(render_module, "MOST", 12)
    assert list(_rendered_pieces(iter(()), own)) == [b""]
    parts = ["ab", "c", "\u00e9", "d", "e"]
    assert list(_rendered_pieces(iter(parts), own)) == [b"abc\xc3\xa9d", b"e"]
    rows = RowLines.of(lambda: iter([b"123", b"45"]))
    assert list(_rendered_pieces(iter(["a", rows, "b"]), own)) == [b"a", b"123", b"45", b"b"]
    assert next(iter(_rendered_pieces(iter(["x" * 12, ""]), own))) == b"x" * 12
    with pytest.raises(NameRefused, match=r"^it would be larger than 0 MiB$"):
        list(_rendered_pieces(iter(["x" * 12, "x", "", ""]), own))
    many = RowLines.of(lambda: iter([b"x" * 7] * 2))
    if own:
        assert b"".join(_rendered_pieces(iter(["x" * 11, many]), own)) == b"x" * 25
    else:
        with pytest.raises(NameRefused):
            list(_rendered_pieces(iter([many]), own))


def test_the_size_of_a_file() -> None:
    _refuse_large_file(1 << 30)
    with pytest.raises(NameRefused, match=r"^it would be larger than 1024 MiB$"):
        _refuse_large_file((1 << 30) + 1)


@dataclass
class Leaf:
    """A record."""

    name: str
    number: int = 3


def test_words_and_places_of_faults() -> None:
    assert [_exception_text(e) for e in (KeyError("a"), KeyError(), ValueError("b"), ValueError())] == [
        "a",
        "KeyError",
        "b",
        "ValueError",
    ]
    assert (
        _record_in_hand({"x": 1, "l": Leaf("leaf0"), "_h": Leaf("hidden"), "k": Leaf}) == "leaf leaf0"
        and _record_in_hand({}) == ""
    )
    code = compile("def inner(l):\n    x = 1\n    raise ValueError\ndef outer(l):\n    inner(None)\n", "/t/a.cfg.j2", "exec")
    scope: dict[str, Any] = {}
    exec(code, scope)
    try:
        scope["outer"](Leaf("leaf1"))
    except ValueError as fault:
        assert _template_location(fault, FileSpec("p", "fabric", template="a.cfg.j2")) == [
            "in a.cfg.j2, line 3",
            "while writing leaf leaf1",
        ]
    assert _template_location(ValueError(), FileSpec("p", "fabric", template="t.j2")) == ["in t.j2"]
    assert _template_location(ValueError(), FileSpec("p", "fabric", program="t.py")) == ["in t.py"]


def test_the_widest_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of four digits and more in a text that may be a format: as many characters as the bound says fit."""
    monkeypatch.setattr(render_module, "WIDEST", 1000)
    env = jinja_environment.__wrapped__(packaged_folder("targets") / "eos" / "templates", False)
    for text in ("'{{:{}}}'.format('x')", "'%{}s'|format('x')", "'x'.ljust({})"):
        assert len(env.from_string("{{ " + text.format(1000) + " }}").render()) == 1000
        with pytest.raises(NameRefused):
            env.from_string("{{ " + text.format(1001) + " }}").render()


def test_rows_of_own_tables_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render_module, "MOST", 12)
    assert list(_rendered_pieces(iter([RowLines.of(lambda: iter([b"x"] * 20))]), True))[1:-1] == [b"x"] * 20
