"""What the editor is told at every word of texts that use every form of the language: whole answers, as goldens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from io import BytesIO
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from pytest import MonkeyPatch

from tdsl.compile import parsed_library as shelf
from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Label, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.ide import colours, complete, extras, judge, meaning, outline, positions
from tdsl.ide.known import KnownNames, standard_library
from tdsl.ide.rename import RenameIndex, RenameRefused
from tdsl.lsp.stream import LARGEST_MESSAGE, LONGEST_HEADER, BoundedStream
from tdsl.syntax.grammar import load_grammar_tables
from tdsl.syntax.parser import parse_source_file
from tdsl.syntax.scanner import Token
from tdsl.system import resources
from tests.conftest import Golden
from tests.lsp.test_names import CLUSTER, DESIGN, HOUSE, STAR
from tests.syntax.programs import ALL

PARTS = """\
use house (TOR)
# The number of arms;
# two at least.
param arms: int = 2 where arms >= 2
let chosen: model = TOR   # which switch
def twice(n: int, by: int = 2): int = n * by + min(n, by)
def more(k: int, by: int = twice(arms)): int = k + by

topology fan(ends: ports, hub: model, many: int = arms, how: pattern = spread) {
  # The middle.
  switch middle[many]: hub
  group side[2] { switch edge: hub }
  connect ends[h, k] to middle[(h + k) % many]
  connect middle[*] to side[*].edge how
}
topology layers(ends: ports, leaf: model, spine: model) {
  tier leaf of ? hosts { switch leaf }
  tier spine of ? leaf { switch spine }
}
"""
WIDE = """\
use house (TOR, BOX as NODE, half as part)
use hardware.acme (SPINE_64)
use parts (arms, chosen, twice)
fabric wide "A fabric, with most of the language" {
  param n: int = 4 where n in [2, 4, 8]
  let shapes = [twice(k) for k in 0..n - 1]
  let hub = if_even(n)
  def if_even(k: int): int = shapes[k % 2] if k % 2 == 0 else part(k)
  pod pod[2 of 4] "a pod" {  # two of them
    host node[n]: NODE { role storage }
    switch leaf[2]: chosen { split p 2 }
    connect node[h].nic[r] to leaf[r] { cable "DAC3"; length 3m; class "rail{r}" }
    let inner = n + 1
  }
  if n > 2 {
    switch spine[2]: chosen { nos eos }
  } else if n == 2 {
    switch spine[1]: TOR
  } else {
    switch spine[arms]: SPINE_64
  }
  for k in 0..1 {
    connect pod[k].leaf[*] to spine[*] each x 1 where k < arms
  }
  extend pod[0] {
    host extra: NODE
    connect extra.nic[0] to leaf[0].p[8]
  }
  override pod[1].leaf[0]: TOR { role manager }
  naming pod[s].leaf[i] "{fabric}-{s}-{i:02}" where s > 0
  omit pod[1].node[n - 1], pod[1].leaf[1] where n > 2
}
override wide.spine[0]: TOR
"""
SETTINGS = """\
use house (TOR, BOX as NODE)
use parts (twice)
fabric settings {
  param n: int = 4 where n >= 2
  pod pod[2] {
    host node[n]: NODE
    switch leaf[2]: TOR
    connect node[h].nic[r] to leaf[r]
  }
  switch spine[2]: TOR
  address spine loopback from 10.0.0.0/24
  address pod[*].node[*].nic[r] links from "172.{16 + r}.0.0/24" { gateway 172.16.0.1 }
  partition blue 0x0001 { full pod[0].node[0..1].nic; limited pod[1] }
  routing bgp { unnumbered; asn pod[*].leaf[*] from 4_200_000_000; asn spine 65000; mtu 9000 + n }
  roce { dscp 26; priority 3 }
  phase 1 { n 2; needed "2027-03-01" }
  phase 2 { n twice(2) }
  distance pod[0] to pod[1] 100m
  minimize cost
  require oversubscription at leaf <= 2:1 and diameter <= 4
  require survives any 1 of spine, pod[*].leaf[*] with bisection >= 50% of intact
  require links of pod[0].node[0].nic[1] == 1 and paths of node to leaf >= 1
  require throughput uniform through scaleout >= 100Gbps
  report cost of pod[*]; report power
}
"""
TWO = """\
use house (TOR, BOX as NODE)
use parts (fan, layers, arms as many, chosen as taken)
use own (BOX_OF_OURS)
cluster two {
  host node[2]: NODE
  fabric left {
    host ufm: UFM
    switch leaf[2]: TOR
    fan TOR { many many; how each }
    connect node[n].nic[r] to leaf[r]
  }
  fabric right {
    layers {
      tier low of 4 hosts { switch TOR x 2 }
      tier high of ? low { switch taken; oversubscription at most 2:1 }
    }
    hosts 2 of 4 x BOX_OF_OURS, 1 x NODE { role storage }
    pods 2
    planes 1
    require ports of hall >= 0
    clos { leaf TOR; spine taken }
  }
}
extend two.left {
  switch more: TOR
  connect more.p[1] to leaf[0].p[2]
}
"""
OWN = """\
# A host of our own
model host BOX_OF_OURS "ours" {  # trailing
  let fast = 100Gbps
  port nic[2]: fast { type GE; cage 1 OSFP; os "mlx5_{i}"; split 2 }
  port bmc: 1Gbps
  chip gpu[2]: GPU_X   # the accelerators
  chip own: GPU_X
  switch nvs[2]: SW_X
  connect gpu[g] to nvs[s] x 2 { layer scaleup }
  numa cpu[2] { arch x86_64; cores 28 }
  pcie plx[2] { on cpu[i // 1]; gen 5 }
  pcie gpu { on plx[i]; bus "0000:1b:0{i}.0" }
  height 1U; power 700W max 900W; mass 20kg; source "https://example.com"
}
model chip GPU_X { port nv[2]: 200Gbps }
model switch SW_X { port p[1..4]: 200Gbps { type NVLINK; sonic 4*i lanes 4 } }
model cable DAC3 "3 m of copper" { rate 100Gbps; medium copper; reach 3m; legs 2 }
"""
BROKEN = """\
use house (TOR as)
use nothing.here (X)
fabric bad {
  group su[2] { switch leaf[2]: TOR
    connect leaf[0].p[1] to leaf[1] { length }
  }
  host node[2]:
  connect su[0].leaf[ to node[n].nic[r]
  require bisection >=
  report
  omit su.
  tier x of
  let v = half(2,
"""
ACME = "model host BOX { port nic[8]: 400Gbps }\nmodel switch LEAF_64 { port p[1..64]: 400Gbps }\n# Above.\n" \
       "model switch SPINE_64 \"a spine\" { port p[1..64]: 400Gbps { type NDR; cage 2 OSFP; split 2, 4 } }\n"  # fmt: skip
TEXTS = {
    "house": HOUSE, "a": DESIGN, "star": STAR, "cluster": CLUSTER,
    "parts": PARTS, "wide": WIDE, "settings": SETTINGS, "two": TWO, "own": OWN, "broken": BROKEN,
    "hardware/acme": ACME, **ALL,
}  # fmt: skip
OWN_FORMS = ("house", "star", "parts", "wide", "settings", "two", "own", "broken")
SAID_ELSEWHERE = ("check", "file", "folder")
HELD = TemporaryDirectory()
FOLDER = Path(HELD.name).resolve()
for name, text in TEXTS.items():
    (FOLDER / name).parent.mkdir(exist_ok=True)
    (FOLDER / f"{name}.fab").write_text(text)


@cache
def known(name: str) -> KnownNames:
    """What a text means."""
    path = FOLDER / f"{name}.fab"
    file = SourceFile(str(path), TEXTS[name])
    return KnownNames(file, parse_source_file(file, Diagnostics()).body, path, {}, ())


@cache
def index() -> RenameIndex:
    return RenameIndex((FOLDER,))


def at(span: SourceSpan) -> str:
    """Where a span begins, and its text where that is short."""
    name = span.file.name.removeprefix(f"{FOLDER}/").removesuffix(".fab")
    line, column = span.begin
    return f"{name}:{line}:{column}"


def tokens(file: SourceFile) -> Iterator[Token]:
    """The words and signs of a text, but not the ends of lines."""
    return (t for t in load_grammar_tables().scanner.scan(file) if not t.newline)


def told(file: SourceFile, answers: Iterable[tuple[int, str]]) -> str:
    """Line by line what is answered at its offsets; an answer of several lines, and one that was given, by its number."""
    lines: dict[int, list[str]] = {}
    seen: dict[str, int] = {}
    for offset, answer in answers:
        line, column = file.position(offset)
        here = lines.setdefault(line, [])
        if not answer:
            continue
        if answer not in seen:
            seen[answer] = len(seen) + 1
            here.append(f"  {column} #{seen[answer]}: " + answer.replace("\n", "\n      "))
        else:
            here.append(f"  {column} #{seen[answer]}")
    return "".join(f"{file.line(n)}\n" + "".join(f"{a}\n" for a in lines[n]) for n in sorted(lines))


def every_place(spans: list[SourceSpan]) -> str:
    """Places in an order that does not depend on where the folders are."""
    return " ".join(sorted(map(at, spans)))


@pytest.mark.parametrize("name", TEXTS)
def test_names(name: str, golden: Golden) -> None:
    """Where each name is declared and used, and which of these places declare it."""
    path, file = FOLDER / f"{name}.fab", known(name).file
    known_uses: dict[frozenset[Any], tuple[list[SourceSpan], list[SourceSpan]]] = {}

    def answers() -> Iterator[tuple[int, str]]:
        for t in tokens(file):
            if t.type != "NAME":
                continue
            found = index().at(path, t.start)
            if found is None:
                continue
            span, meant = found
            assert (span.start, span.end) == (t.start, t.end)
            assert index().at(path, t.end) is not None
            key = frozenset(n.key for n in meant)
            if key not in known_uses:
                every = index().references(path, t.start)
                known_uses[key] = every, index().references(path, t.start, declared=False)
            uses, others = known_uses[key]
            here = [(s.start, d) for s, d in index().highlights(path, t.start)]
            assert here == sorted({s.start: s not in others for s in uses if s.file.name == str(path)}.items())
            words = [f"{n.what} {at(n.place)}" + (f" {n.type}" * bool(n.type)) for n in meant]
            defined = [at(s) for s in index().definition(path, t.start)]
            yield (
                t.start,
                (
                    f"{', '.join(words)} defined {' '.join(defined)}\n"
                    f"used {every_place(others)} besides {every_place([s for s in uses if s not in others])}"
                ),
            )

    golden(f"ide/names/{name.replace('/', '_')}.txt", told(file, answers()))


@pytest.mark.parametrize("name", TEXTS)
def test_meanings(name: str, golden: Golden) -> None:
    """What each word is, its colour, the parameters written at it, and what encloses it."""
    k = known(name)

    def answers() -> Iterator[tuple[int, str]]:
        for c in colours.colours_of_words(k):
            yield c.start, f"{c.end - c.start} {c.type} {' '.join(c.modifiers)}"
        for t in tokens(k.file):
            if t.type in ("NAME", "QUANTITY"):
                found = meaning.meaning_at_offset(k, k.file, t.start)
                if found is None or found[1] is None:
                    yield t.start, "no meaning"
                else:
                    m = found[1]
                    library = m.home is not None and m.home.module.file.name.startswith("stdlib")
                    page = meaning.meaning_as_markdown(m)
                    place = meaning.declaration_offset(m, k.file)
                    yield t.start, f"{m.kind} {m.name} at {place}: {'of the library' if library else page}"
            sign = meaning.signature_at_offset(k, k.file, t.end) if t.type in ("LPAR", "COMMA", "LBRACE") else None
            if sign is not None:
                yield t.end, f"{sign.label} {sign.active} {[sign.label[a:b] for a, b in sign.parameters]} {sign.doc}"

    golden(f"ide/meanings/{name.replace('/', '_')}.txt", told(k.file, answers()))


@pytest.mark.parametrize("name", OWN_FORMS)
def test_completions(name: str, golden: Golden) -> None:
    """What may stand at the begin of some words and behind others, best first; of the library, how many."""
    k = known(name)
    topologies = {p.stem for p in (resources.packaged_folder("stdlib") / "topologies").iterdir()}
    library = {p.stem for p in resources.packaged_folder("stdlib").rglob("*")} | set(standard_library()[0].loader.catalogue())
    told_of: set[complete.CompletionEntry] = set()

    def shown(items: list[complete.CompletionEntry]) -> Iterator[str]:
        for (kind, rank, detail), same in groupby(items, lambda i: (i.kind, i.rank, i.detail if i.kind == "setting" else "")):
            own = [i for i in same if not (kind in ("model", "file", "folder") and i.text in library)]
            yield f"{kind} {rank} {detail} {len(own)}: {' '.join(i.text for i in own if i.text not in topologies)}"

    def answers() -> Iterator[tuple[int, str]]:
        for n, t in enumerate(tokens(k.file)):
            if t.type in ("COMMENT", "STRING"):
                assert complete.complete_word(k, k.file, t.start + 1) == (t.start + 1, [])
                continue
            if n % 3 == 2 and t.type == "NAME":
                continue
            offset = t.start if n % 2 else t.end
            start, items = complete.complete_word(k, k.file, offset)
            yield offset, f"{start - offset}\n" + "\n".join(shown(items))
            for i in items:
                if i not in told_of and i.text not in library and (i.detail or i.doc) and i.kind not in SAID_ELSEWHERE:
                    told_of.add(i)
                    yield offset, f"{i.text}, {i.detail}, {i.doc}"

    golden(f"ide/completions/{name.replace('/', '_')}.txt", told(k.file, answers()))


@pytest.mark.parametrize("name", TEXTS)
def test_outlines(name: str, golden: Golden) -> None:
    """What a text declares, what can be folded, the files it uses, and what encloses each statement's first word."""
    k = known(name)

    def declared(found: Iterable[outline.Symbol], depth: int = 0) -> Iterator[str]:
        for s in found:
            yield f"{'  ' * depth}{s.kind} {s.name} {s.detail} {at(s.place)} of {at(s.whole)} {len(s.whole.text)}"
            yield from declared(s.inner, depth + 1)

    links = [f"{at(s)} {s.text} {p.relative_to(FOLDER)}" for s, p in extras.use_links(k.body, k.library.loader, FOLDER)]
    words = [
        *declared(outline.declared_symbols(k.body)), *map(str, outline.foldable_blocks(k.file)), *links,
        *(f"{s.name} over {at(s.place)}" for s in extras.fabric_symbols(k.body)),
        *(
            f"{at(t.span)}: {', '.join(f'{s.start}-{s.end}' for s in extras.enclosing_spans(k.body, k.file, t.start))}"
            for t in [*tokens(k.file)][::3]
        ),
    ]  # fmt: skip
    golden(f"ide/outlines/{name.replace('/', '_')}.txt", "\n".join(words) + "\n")


@pytest.mark.parametrize("name", OWN_FORMS)
def test_renaming(name: str, golden: Golden) -> None:
    """Of each name that a text declares or uses: whether it can be changed to others, and at which places."""
    path, file = FOLDER / f"{name}.fab", known(name).file
    done: set[int] = set()

    def renamed(offset: int, new: str) -> str:
        try:
            return " ".join(at(s) for s in index().edits(path, offset, new))
        except RenameRefused as why:
            return str(why)

    def answers() -> Iterator[tuple[int, str]]:
        for t in tokens(file):
            found = index().at(path, t.start) if t.type == "NAME" else None
            if found is not None and found[1][0].place.start not in done:
                done.add(found[1][0].place.start)
                new = ("zz", "leaf", "n", t.text, "2x", "zz")[len(done) % 6]
                yield t.start, f"{new}: {renamed(t.start, new)}"

    golden(f"ide/renaming/{name.replace('/', '_')}.txt", told(file, answers()))


def test_declarations_of_folders() -> None:
    """Declarations by a part of their names, unsaved texts among them; hidden files left out."""
    (FOLDER / ".hidden").mkdir(exist_ok=True)
    (FOLDER / ".hidden" / "x.fab").write_text("let many_hidden = 1\n")
    unsaved = {str(FOLDER / "new.fab"): "fabric f {\n  let MANY_new = 1\n}\n", str(FOLDER / "own.fab"): "let how_many = 2\n"}
    found = extras.declarations_matching([FOLDER], unsaved, "Many")
    assert [(s.kind, s.name, around, at(s.place)) for s, around in found] == [
        ("let", "MANY_new", ("f",), "new:2:7"), ("let", "how_many", (), "own:1:5"),
    ]  # fmt: skip
    assert len(extras.declarations_matching([FOLDER], {}, "")) > len(extras.declarations_matching([FOLDER], {}, "e")) > 40


COMPILED = {
    "intent": """\
fabric made "By intent" {
  param pods_of: int = 2 where pods_of in [1, 2, 4]
  param far: length = 30m
  hosts 3 of 16 x DGX_H100 { role storage }
  clos { leaf QM9700; spine QM9700; oversubscription at most 2:1 }
  require oversubscription at leaf <= 2:1
  require bisection >= 90%
  omit host[15]
  naming spine[i] "s{i}"
  connect host[0].
  require links of spine[0].p
  extend leaf
}
""",
    "by_hand": """\
fabric hand {
  param n: int = 3 where 1 <= n <= 40
  param odd: int = 1 where odd in [2*k + 1 for k in 0..20]
  pod pod[2] {
    host node[n]: BOX
    switch leaf[1..2]: SW
    switch spare: SW
    connect node[h].nic[r] to leaf[r + 1]
  }
  switch spine[?]: SW
  connect pod[*].leaf[*] to spine[*] spread
  omit spine[0], pod[1].leaf[2]
  require edge_redundancy >= 2
  require diameter <= 1
  require reachability of pod[0]
  report links
}
fabric other {
  host node[2]: BOX
  connect node[0].nic[0] to node[1].nic[0]
  require diameter <= 9
}
model host BOX { port nic[2]: 400Gbps { type NDR } }
model switch SW { port p[1..8]: 400Gbps { type NDR } }
""",
    "several": """\
cluster both {
  host node[2]: DGX_H100
  fabric one { switch leaf[8]: QM9700; connect node[n].nic[r] to leaf[r]; require reachability }
  fabric two { layers 3; switch top: QM9700; host filer: UFM; connect filer.p[1] to top }
}
""",
    "faulty": "use nothing (X)\nuse other (Y)\nfabric f {\n  switch s[2]: NOWHERE\n  connect s[0] to t\n}\n",
    "models": "model switch ONLY { port p[4]: 400Gbps }\n",
    "empty": "# nothing\n",
}


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name: str, golden: Golden, tmp_path: Path) -> None:
    """What is judged of a text, stage by stage, what is known of its places, and what its names mean with that."""
    path = (tmp_path / f"{name}.fab").resolve()
    text = COMPILED[name]
    lines = text.splitlines(keepends=True)
    sound = "".join(x for x in lines if not x.endswith((".\n", ".p\n", "extend leaf\n")))
    path.write_text(sound)
    asked = judge.Question(str(path), {str(path): sound})
    out = []
    first = judge.judge_names_or_fault(asked)
    for j in (first, *judge.judge_in_stages(asked)):
        out += [f"judged, last {j.last}: {j.wrong}", *(f"  {d.code} {d.severity.word} {d.message}" for d in j.findings)]
        out += [f"  fact {f.start}-{f.end} {sound[f.start : f.end]!r}: {f.text!r} {f.hint!r}" for f in j.facts]
        out += [f"  set {s}" for s in j.sets] + [f"  lens {name} {words}" for name, words in j.lenses]
    file = SourceFile(str(path), text)
    k = KnownNames(file, parse_source_file(file, Diagnostics()).body, path, {}, (), j.sets)
    for n, t in enumerate(tokens(file)):
        if t.type in ("NAME", "DOT", "LSQB", "COMMA"):
            found = meaning.meaning_at_offset(k, file, t.start)
            out.append(
                f"{file.position(t.start)} {t.text}: " + (f"{found[1].kind} {found[1].detail}" if found and found[1] else "")
            )
        if t.type == "DOT" or n % 7 == 0:
            items = [f"{i.text} {i.kind} {i.detail}" for i in complete.complete_word(k, file, t.end)[1] if i.kind in THINGS]
            out += [f"  then {x}" for x in items]
    golden(f"ide/compiled/{name}.txt", "\n".join(out).replace(str(tmp_path.resolve()), "") + "\n")


THINGS = ("host", "switch", "pod", "port", "chip", "group", "fabric", "let", "param", "variable", "ports")


def test_waivers_and_links(tmp_path: Path) -> None:
    text = "fabric f {\n  let a = 1\n    let b = 2\n}\n"
    file = SourceFile("a.fab", text)

    def waived(code: str, start: int, severity: Severity = Severity.WARNING) -> tuple[int, str] | None:
        return extras.waiver_comment(Diagnostic(code, "x", SourceSpan(file, start, start + 1), severity=severity))

    name = catalogue.finding_name("E0404")
    assert waived("E0404", 17) == (11, f"  # tdsl: allow({name}) state the reason here\n")
    assert waived("E0404", 32) == (23, f"    # tdsl: allow({name}) state the reason here\n")
    assert waived("E0404", 0) == (0, f"# tdsl: allow({name}) state the reason here\n")
    assert waived("E0404", 0, Severity.ALLOWED) is None and waived("E0001", 0) is None
    assert extras.waiver_comment(Diagnostic("E0404", "x", None)) is None
    assert extras.explanation_file("E0101") == catalogue.FOLDER / "E0101.md" and extras.explanation_file("E9999") is None
    shown = extras.explanation_file("E0404")  # of a check: it is in its program
    assert shown is None or shown.read_text().startswith(f"# E0404 {name}: ")


@pytest.mark.parametrize("before", ["", "abc", "abcabc", "xaby", "line\nline\n"])
@pytest.mark.parametrize("after", ["", "abc", "abcabcabc", "xbay", "line\nnew\nline\n"])
def test_findings_move_with_the_text(before: str, after: str) -> None:
    """Each character of what is the same at the begin or the end, by hand."""
    one, two = SourceFile("a.fab", before), SourceFile("a.fab", after)
    head = next((i for i in range(min(len(before), len(after))) if before[i] != after[i]), min(len(before), len(after)))
    most = min(len(before), len(after)) - head
    tail = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    for start in range(len(before) + 1):
        for end in range(start, len(before) + 1):
            other = Diagnostic(
                "E0404", "x", SourceSpan(SourceFile("b.fab", "abc"), 1, 2), (Label(SourceSpan(one, start, end), "y"),)
            )
            found = extras.findings_moved_to_text(
                [Diagnostic("E0404", "x", SourceSpan(one, start, end)), other, Diagnostic("E0404", "z", None)], one, two
            )
            moved = (start, end) if end <= head else (start + len(after) - len(before), end + len(after) - len(before))
            stays = end <= head or start >= len(before) - tail
            assert [d.span and (d.span.file.name, d.span.start, d.span.end) for d in found] == [
                *([("a.fab", *moved)] if stays else []), ("b.fab", 1, 2), None,
            ]  # fmt: skip
            assert [(x.span.start, x.span.end) for d in found for x in d.labels] == ([moved] if stays else [])
            assert all(d.span.file is two for d in found if d.span is not None and d.span.file.name == "a.fab")


def test_messages_of_an_editor() -> None:
    """Headers and bodies: what is too long or no number is read past, and the rest stays."""

    def heard(data: bytes) -> tuple[list[bytes], bytes]:
        stream = BoundedStream(BytesIO(data))
        lines = []
        while (line := stream.readline()).strip():
            lines.append(line)
        return [*lines, line], stream.read(4)

    most, long = LARGEST_MESSAGE, b"x" * LONGEST_HEADER
    assert heard(b"Content-Length: 4\r\nA: b\r\n\r\nbody") == ([b"Content-Length: 4\r\n", b"A: b\r\n", b"\r\n"], b"body")
    assert heard(b" content-length :  7 \r\n\r\nrest") == ([b"Content-Length: 7\r\n", b"\r\n"], b"rest")
    assert heard(b"Content-Length: %d\r\n\r\nrest" % most)[0][0] == b"Content-Length: %d\r\n" % most
    assert heard(b"Content-Length: x\r\nrest") == ([b"\r\n"], b"rest")
    assert heard(b"Content-Length: " + b"1" * 31 + b"\r\nrest") == ([b"\r\n"], b"rest")
    assert heard(b"Content-Length: -1\r\nrest") == ([b"\r\n"], b"rest")
    assert heard(long + b"yy\nrest") == ([b"\r\n"], b"rest")
    assert heard(long) == ([long, b""], b"") and heard(long * 2) == ([b""], b"")
    assert heard(long * 2 + b"\nrest") == ([b"\r\n"], b"rest")
    assert heard(long[:-1] + b"\nrest")[0] == [long[:-1] + b"\n", b"rest", b""]
    body = b"z" * (most + 1)
    assert heard(b"Content-Length: %d\r\nA: b\r\n\r\n%brest" % (most + 1, body)) == ([b"\r\n"], b"rest")
    assert heard(b"Content-Length: %d\r\n\r\nshort" % (most + 1)) == ([b""], b"") and heard(b"") == ([b""], b"")


def test_the_shelf_holds_the_library_only(tmp_path: Path) -> None:
    """What was parsed is lent again while its file is as it was, and not where a text stands in its place."""
    own, library = tmp_path / "a.fab", resources.packaged_folder("stdlib").resolve() / "topologies" / "ring.fab"
    own.write_text("let a = 1\n")
    made: Any = {str(own): "own", str(library): "ring"}
    with MonkeyPatch.context() as patch:
        patch.setattr(shelf, "_held", {})
        shelf.keep_parsed_library_files(made, {})
        assert shelf.parsed_library_files({}) == {str(library): "ring"} and shelf.parsed_library_files({str(library): ""}) == {}
        patch.setattr(shelf, "_modification_time", lambda key: 5)
        assert shelf.parsed_library_files({}) == {}
        shelf.keep_parsed_library_files(made, {str(library): ""})
        assert shelf.parsed_library_files({}) == {}
        shelf.keep_parsed_library_files(made, {})
        assert shelf.parsed_library_files({}) == {str(library): "ring"}
    assert shelf._modification_time(str(tmp_path / "none")) == -1 and shelf._modification_time(str(own)) == own.stat().st_mtime_ns


def test_places_of_editors() -> None:
    """Lines and columns in each unit of each encoding, of a text with characters of one to four bytes."""
    file = SourceFile("a.fab", "ab\näé𝄞x\n\nlast")
    rows = {
        "utf-8": [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (1, 4), (1, 8), (1, 9), (2, 0), (3, 0), (3, 1)],
        "utf-16": [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 4), (1, 5), (2, 0), (3, 0), (3, 1)],
        "utf-32": [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 0), (3, 0), (3, 1)],
    }
    for encoding, wanted in rows.items():
        assert [positions.editor_position(file, i, encoding) for i in range(len(wanted))] == wanted
        assert [positions.offset_of_editor_position(file, line, column, encoding) for line, column in wanted] == list(
            range(len(wanted))
        )
        assert [positions.offset_of_editor_position(file, n, 99, encoding) for n in range(6)] == [2, 7, 8, 13, 13, 13]
    assert (
        positions.offset_of_editor_position(file, 1, 1, "utf-8") == 3
        and positions.offset_of_editor_position(file, 1, 3, "utf-16") == 5
    )
    assert positions.path_of_finding_file("stdlib:a/b.fab") == resources.packaged_folder(
        "stdlib"
    ) / "a/b.fab" and positions.path_of_finding_file("x") == Path("x")


PROMPTS = """\
|
us|
use |
use house (|
use house (TOR, |
use house (TOR |
use hardware.|
model |
model switch |
model switch X { |
model cable X { |
model host X { port p: |
model host X { port p[2]: 4|
model host X { port p { |
model host X { port p { type |
model host X { port p { cage 2 |
model host X { chip gpu: |
model host X { power 7|
topology t(|
topology t(a: |
topology t(a: model) { |
topology t(a: model) { switch s: |
def f(a: |
let a: |
let a = |
let a = 4|
let a = 2 * (|
param a: int = 4 where |
fabric f { |
fabric f { host |
fabric f { host h: |
fabric f { host h[|
fabric f { switch s: TOR { |
fabric f { switch s: TOR { role |
fabric f { switch s: QM9700 { split |
fabric f { switch s: SN5600 { split |
fabric f { switch s: TOR { nos |
fabric f { switch s[2]: TOR; connect |
fabric f { switch s[2]: TOR; connect s[i].|
fabric f { switch s[2]: TOR; connect s[i].p[|
fabric f { switch s[2]: TOR; connect s[i] to |
fabric f { switch s[2]: TOR; connect s[*] to s[*] |
fabric f { switch s[2]: TOR; connect s { |
fabric f { switch s[2]: TOR; connect s { length |
fabric f { switch s[2]: TOR; connect s { cable |
fabric f { switch s[2]: TOR; connect s { medium |
fabric f { switch s[2]: TOR; require |
fabric f { require bisection |
fabric f { require bisection >= |
fabric f { require diameter <= 4 and |
fabric f { require oversubscription at |
fabric f { switch s: TOR; require links of |
fabric f { require throughput |
fabric f { require throughput uniform |
fabric f { require throughput uniform >= |
fabric f { require survives any 1 of s with |
fabric f { require latency |
fabric f { require oversubscription <= |
fabric f { require bisection through |
fabric f { report |
fabric f { layer |
fabric f { transport |
fabric f { minimize |
fabric f { hosts |
fabric f { hosts 4 x |
fabric f { hosts 4 x BOX, |
fabric f { clos { |
fabric f { clos { leaf |
fabric f { clos { oversubscription |
fabric f { torus { |
fabric f { fan TOR { how |
fabric f { layers { tier |
fabric f { layers { tier a of |
fabric f { layers { tier a of 4 |
fabric f { layers { tier a of 4 hosts { |
fabric f { layers { tier a of 4 hosts { switch |
fabric f { layers { tier a of 4 hosts { switch TOR |
fabric f { layers { tier a of 4 hosts { oversubscription |
fabric f { switch s: TOR; address |
fabric f { switch s: TOR; address s |
fabric f { switch s: TOR; address s loopback |
fabric f { switch s: TOR; address s management from 10.0.0.0/24 { |
fabric f { routing |
fabric f { routing bgp { |
fabric f { roce { |
fabric f { partition blue 1 { |
fabric f { switch s: TOR; partition blue 1 { full |
fabric f { param n: int = 2; phase 1 { |
fabric f { switch s: TOR; omit |
fabric f { switch s: TOR; naming |
fabric f { switch s: TOR; override s: |
fabric f { switch s: TOR; override s { |
fabric f { pod g { switch s: TOR }; extend |
fabric f { switch s: TOR }; extend |
fabric f { switch s: TOR }; extend f.|
fabric f { if |
fabric f { for i in |
fabric f { distance 1|
cluster c { |
cluster c { host h: |
fabric f { # |
fabric f "|
let n = 4.5G|
let n = 4G|
model host X { port p: 4G|
fabric f { switch s: TOR; connect s[0] { length 3|
let a = f(|
let a = min(1, |
let a = [1, |
"""


def test_completions_as_one_types(golden: Golden) -> None:
    """What may be written at the end of a text, asked for and not; what the names before mean, and the parameters there."""
    house = "use house (TOR, BOX)\nuse parts (fan, layers)\n"
    library = {p.stem for p in resources.packaged_folder("stdlib").rglob("*")} | set(standard_library()[0].loader.catalogue())
    out = []
    for prompt in PROMPTS.splitlines():
        text = house + prompt.removesuffix("|")
        file = SourceFile(str(FOLDER / "typed.fab"), text)
        k = KnownNames(file, parse_source_file(file, Diagnostics()).body, FOLDER / "typed.fab", {}, ())
        start, items = complete.complete_word(k, file, len(text))
        unasked = complete.complete_word(k, file, len(text), True)[1]
        out.append(f"{prompt!r} {start - len(text)}, unasked {len(unasked) == len(items)}")
        for (kind, rank), same in groupby(items, lambda i: (i.kind, i.rank)):
            own = [i.text for i in same if i.text not in library or i.kind == "keyword"]
            out.append(f"  {kind} {rank}: {' '.join(own)}")
        sign = meaning.signature_at_offset(k, file, len(text))
        found = meaning.meaning_at_offset(k, file, len(text))
        out += [f"  parameter {sign.active} of {sign.label}"] if sign is not None else []
        out += [f"  is {found[0].text} {found[1].kind if found[1] else ''}"] if found is not None else []
    golden("ide/typed.txt", "\n".join(out) + "\n")
