"""The files of one target and the identity of a design, with contents given by hand in place of templates."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.emit import build as module
from tdsl.emit import limits
from tdsl.emit import render as render_module
from tdsl.emit.build import BuildOptions, Selection, _design_hash, files_of_target
from tdsl.emit.quote import NameRefused
from tdsl.emit.target import BuildTarget, FileSpec, RouterSelection
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.nccl import lint
from tdsl.system import spool as spool_module
from tdsl.system.spool import Spool

Told = list[tuple[str, Severity, str, str]]


def told(found: Diagnostics) -> Told:
    return [(d.code, d.severity, d.message, d.help or "") for d in found]


def target(*files: FileSpec, **given: Any) -> BuildTarget:
    facts: dict[str, Any] = {"own": True, "options": {"level": 1}, **given}
    return BuildTarget("t", "", "", Path("t"), files, **facts)


class Drawn:
    """Stands in for `render`: contents by path, and what was asked for."""

    def __init__(self, contents: dict[str, list[bytes] | None], monkeypatch: pytest.MonkeyPatch) -> None:
        self.contents, self.asked = contents, []  # type: ignore[var-annotated]
        monkeypatch.setattr(render_module, "render_file", self)

    def __call__(self, target: BuildTarget, spec: FileSpec, view: Any, record: Any, options: Any, *_: Any, **given: Any) -> Any:
        self.asked.append((spec.path, record, dict(options)))
        pieces = self.contents[spec.path]
        return None if pieces is None else given["keep"](pieces)


# ---------------------------------------------------------------- identity


def identity(files: dict[str, Any], sought: bytes = b"", **specs: bool) -> tuple[str, bytes]:
    """Of a target of somebody else, and one of tdsl whose second file is the identity."""
    own = target(FileSpec("first", "fabric"), FileSpec("second", "fabric", identity=True))
    known = {"a": target(FileSpec("other", "fabric", identity=True), own=False), "b": own}
    pattern = re.compile(sought) if sought else None
    return _design_hash(known, SimpleNamespace(), files, Diagnostics(), pattern)  # type: ignore[arg-type]


def test_the_identity_of_a_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash of the file that was made, or is made for it; "" without one."""
    drawn = Drawn({"second": [b"ab", b"c"], "other": [b"x"]}, monkeypatch)
    hashed = sha256(b"abc").hexdigest()
    assert identity({"second": b"abc", "other": b"y"}) == (hashed, b"") and drawn.asked == []
    assert identity({}) == (hashed, b"") and drawn.asked == [("second", None, {"level": 1})]
    assert identity({"second": b""}) == (hashed, b"") and len(drawn.asked) == 2
    for nothing in (None, [], [b""]):
        drawn.contents["second"] = nothing
        assert identity({}) == ("", b"")
    assert _design_hash({}, SimpleNamespace(), {}, Diagnostics(), None) == ("", b"")  # type: ignore[arg-type]
    monkeypatch.setattr(spool_module, "KEPT", 2)
    kept = Spool(tmp_path).keep([b"abc"])
    assert identity({"second": kept}) == (hashed, b"") == identity({"second": kept}, b"z")
    monkeypatch.setattr(kept.__class__, "chunks", lambda self: pytest.fail("it was read"))
    assert identity({"second": kept}) == (hashed, b"")


def test_a_pattern_in_the_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first place counts, also where it begins in one block and ends in the next."""
    drawn = Drawn({}, monkeypatch)
    monkeypatch.setattr(module, "OVERLAP", 3)
    for pieces, wanted in (
        ([b"..<a>..", b"<b>"], b"<a>"), ([b"...<", b"a>"], b"<a>"), ([b"..<a", b">.<b>"], b"<a>"),
        ([b"<a", b".", b".", b">"], b""),
        ([b"aaa", b"bbb"], b""), ([b"<", b"a", b">"], b"<a>"),
    ):  # fmt: skip
        drawn.contents["second"] = pieces
        assert identity({}, b"<.>") == (sha256(b"".join(pieces)).hexdigest(), wanted)
    assert identity({"second": b"x<a>"}, b"<.>") == (sha256(b"x<a>").hexdigest(), b"<a>")


# ---------------------------------------------------------------- files


def device(name: str, kind: str) -> Any:
    return SimpleNamespace(name=name, kind=kind)


def seen(*capabilities: str, devices: tuple[Any, ...] = ()) -> Any:
    return SimpleNamespace(capabilities=frozenset(capabilities), devices=devices, switch_systems={}, routers=lambda kind: [])


def made(t: BuildTarget, view: Any, **given: Any) -> tuple[dict[str, Any], Told]:
    found = Diagnostics()
    return files_of_target(t, Selection(view, frozenset()), BuildOptions(**given), found), told(found)


def test_files_of_one_target(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose needs are met, of records of their kind; what is empty is left out, and a path is written once."""
    devices = (device("h0", "host"), device("s0", "switch"), device("h1", "host"))
    contents: dict[str, list[bytes] | None] = {"a": [b"1", b"2"], "{device}.x": [b"3"], "c": [b" \n"], "d": None, "e": [b""]}
    drawn = Drawn({**contents, "t": [b"4"], "b": [b"5"]}, monkeypatch)
    files = (
        FileSpec("a", "fabric"), FileSpec("{device}.x", "device", kind="host"), FileSpec("c", "fabric"), FileSpec("d", "fabric"),
        FileSpec("e", "fabric"), FileSpec("t", "fabric", needs=("torus",)), FileSpec("b", "fabric", needs=("links",)),
        FileSpec("a", "fabric"),
    )  # fmt: skip
    t, view = target(*files, needs=("links",)), seen("links", "x", devices=devices)
    twice = ("E0507", Severity.ERROR, "target `t` would write a twice", "")
    assert made(t, view) == ({"a": b"12", "h0.x": b"3", "h1.x": b"3", "b": b"5"}, [twice])
    assert [a[:2] for a in drawn.asked[:3]] == [("a", None), ("{device}.x", devices[0]), ("{device}.x", devices[2])]
    assert made(t, view, only=("x",))[0] == {"h0.x": b"3", "h1.x": b"3"}
    assert made(t, seen("x")) == ({}, []) and made(t, view, settings={"t": {"level": 2}})[0]["a"] == b"12"
    assert drawn.asked[-1][2] == {"level": 2}
    same = target(FileSpec("{device}", "device"), FileSpec("f", "fabric"))
    drawn.contents |= {"{device}": [b"6"], "f": [b"7"]}
    view.devices = (device("x", "host"), device("x", "host"))
    assert made(same, view) == ({"x": b"6", "f": b"7"}, [("E0507", Severity.ERROR, "target `t` would write x twice", "")])


@pytest.mark.parametrize("own", [True, False])
def test_files_that_are_too_large_together(own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    Drawn({"a": [b"x" * 6], "b": [b"y" * 4], "c": [b"z"]}, monkeypatch)
    monkeypatch.setattr(limits, "SIZE", 10)
    names = [FileSpec(n, "fabric") for n in "abc"]
    assert list(made(target(*names[:2], own=own), seen())[0]) == ["a", "b"]
    if own:
        assert list(made(target(*names), seen())[0]) == ["a", "b", "c"]
    else:
        with pytest.raises(NameRefused, match=r"^its files would be larger than 0 MiB together$"):
            made(target(*names, own=False), seen())


@pytest.mark.parametrize(("system", "severity"), [("eos", Severity.WARNING), ("", Severity.NOTE)])
def test_routers_that_a_target_is_not_for(system: str, severity: Severity, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note, or a warning where the design names the system; nothing where it is for none and the design names another."""
    Drawn({"{router}": [b"1"], "f": [b"2"]}, monkeypatch)
    routers = [SimpleNamespace(name=n, kind="switch", interfaces=(), management=(), channels=(), mtu=m) for n, m in
               (("a", 9000), ("b", 1500), ("c", 9000))]  # fmt: skip
    view = seen()
    view.routers, view.switch_systems = lambda kind: routers, dict.fromkeys("abc", system or "other")
    files = FileSpec("{router}", "router"), FileSpec("f", "fabric")
    facts = RouterSelection(nos=system, kind="switch", mtu=2000)
    found = made(target(*files, routers=facts), view)
    text = "target `t` is not for 2 of 3 switches: its MTU is at most 2000"
    assert found == ({"b": b"1", "f": b"2"}, [("E0511", severity, text, "")])
    assert made(target(files[1], routers=facts), view) == ({"f": b"2"}, [])
    routers[1].mtu = 9000
    text = text.replace("2 of 3", "3 of 3")
    assert made(target(*files, routers=facts), view) == ({"f": b"2"}, [("E0511", severity, text, "")] if system else [])


def test_a_file_that_its_check_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each error of it is told, at its line; what is no error does not keep it back."""
    drawn = Drawn({"x.xml": [b"one\n", b"two"]}, monkeypatch)
    error, note = Severity.ERROR, Severity.NOTE
    faults = [
        SimpleNamespace(severity=error, span=SimpleNamespace(begin=(2, 3)), message="odd", help="mend it"),
        SimpleNamespace(severity=note, span=None, message="so be it", help=""),
        SimpleNamespace(severity=error, span=None, message="bad", help=""),
    ]
    read: list[str] = []
    monkeypatch.setattr(lint, "lint_nccl_file", lambda source: read.append(source.text) or faults)
    files, found = made(target(FileSpec("x.xml", "fabric", lint="nccl")), seen())
    assert (files, found) == ({}, [
        ("E0510", error, "x.xml, line 2, column 3: odd", "mend it"), ("E0510", error, "x.xml, line 1, column 1: bad", ""),
    ])  # fmt: skip
    assert read == ["one\ntwo"]
    faults[:] = faults[1:2]
    assert made(target(FileSpec("x.xml", "fabric", lint="nccl")), seen()) == ({"x.xml": b"one\ntwo"}, [])
    assert list(made(target(FileSpec("x.xml", "fabric")), seen())[0]) == ["x.xml"] and (len(drawn.asked), len(read)) == (3, 2)
