"""What was meant by a first word that is unknown in its block: its value stands before it, only its value is
there, or the word before a name and its block is left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import NamedTuple

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault, closest_known_name, known_names_help
from tdsl.semantics.words_elsewhere import name_of_word_elsewhere
from tdsl.syntax import tree
from tdsl.syntax.keywords import INSTEAD_OF, KINDS, PATTERNS, STARTERS

_VALUES = """
medium: trace backplane fibre copper dac acc aec aoc dwdm
transport: infiniband ethernet
nos: sonic frr eos nxos nx_os nvos cumulus dent
routing: bgp ospf isis
purpose: compute storage inband oob management frontend
fibre: singlemode multimode
role: storage manager accelerator
""".strip()
_SETTINGS_OF: dict[str, tuple[str, ...]] = {}
for _line in _VALUES.splitlines():
    _setting, _, _values = _line.partition(": ")
    for _value in _values.split():
        _SETTINGS_OF[_value] = (*_SETTINGS_OF.get(_value, ()), _setting)


_BLOCKS = """
job NAME: on sequence batch tensor pipeline data context expert microbatch interleave shard recompute
job NAME: precision efficiency overlap transformer experts measured
connect A to B: rate length cable medium colour bundle optic allow
routing bgp: bfd graceful_restart unnumbered mtu
roce: dscp cnp ecn pfc
risk NAME: members fails repair
feed NAME: racks
port NAME: type cage os netdev alias connector
switch NAME: role spares split
model KIND NAME: mtbf fit price reach form
partition NAME KEY: full limited ipoib
hall NAME: pitch tray slack row
row NAME: rack
transformer: layers hidden ffn heads kv_heads vocab
numa NAME: arch family cpu_model cores
pcie NAME: gen bus
model KIND NAME: power height mass latency price
""".strip()
_STATEMENTS = STARTERS | {"roce", "routing", "address", "hall", "transport", "nos", "distance", "partition"}
_BLOCK_OF = {
    name: block
    for block, _, names in (line.partition(": ") for line in _BLOCKS.splitlines())
    for name in names.split()
}
"""The statement in whose braces a setting is written."""
_DECLARES = "|".join(
    (*(w for words in KINDS.values() for w in words), "let", "param", "tier", "risk", "feed")
)
_FILLERS = frozenset({"the", "a", "an", "is", "are", "all", "each", "must", "please", "then", "every"})
"""Words of English that say nothing and are no value."""
_FLAGS = frozenset({"unnumbered", "bfd", "graceful_restart", "pfc", "forwards", "spread", "uneven", "ipoib"})
"""Settings that need no value."""
_BEHIND = re.compile(r"[ \t]+([a-z_]\w*)[ \t]*(?=[;}\n{#]|$)")
_ALONE = re.compile(r"[ \t]*(?:[;}\n#]|$)")


def exchanged_setting_fault(span: SourceSpan, what: str, known: Collection[str]) -> Fault | None:
    """The fault of ``{ GE400 type }``, whose value stands before the name of the setting; None of others."""
    text, found = span.file.text, _BEHIND.match(span.file.text, span.end)
    if found is None or found[1] not in known or text[span.start : span.end].lower() in _FILLERS:
        return None
    name = text[span.start : span.end]
    if INSTEAD_OF.get(name.lower()) in ("report", "require"):  # `print power`
        return None
    if text[found.end() : found.end() + 1] == "{" and found[1] not in _SETTINGS_OF.get(name.lower(), ()):
        return None
    whole = SourceSpan(span.file, span.start, found.end(1))
    new = f"{found[1]} {name}"
    message = f"there is no {what} `{name}` here; the name of a setting comes before its value"
    fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
    return Fault("E0118", whole, message, help=f"write `{new}`", fix=fix)


def end_before_value_fault(span: SourceSpan, what: str, known: Collection[str]) -> Fault | None:
    """The fault of ``from; utility_b``, a `;` between a setting and its value; None of others."""
    text = span.file.text
    found = re.search(r"(?<![\w.])([a-z_]\w*)[ \t]*(;)[ \t]*$", text[max(span.start - 60, 0) : span.start])
    if found is None or found[1] not in known or _ALONE.match(text, span.end) is None:
        return None
    if found[1] in _FLAGS or closest_known_name(span.text, known):  # `bfd; gracefull_restart`
        return None
    at = max(span.start - 60, 0) + found.start(2)
    sign, new = SourceSpan(span.file, at, at + 1), f"{found[1]} {span.text}"
    fix = Fix("remove the `;`", ((SourceSpan(span.file, at, span.start), " "),), safe=False)
    return Fault("E0118", sign, f"`;` ends `{found[1]}` before its value", help=f"write `{new}`", fix=fix)


def members_without_word_fault(span: SourceSpan, what: str, known: Collection[str]) -> Fault | None:
    """The fault of ``spine[0], spine[1];``, paths whose `members` or `full` is left out; None of others."""
    word = next((w for w in ("members", "full") if w in known), "")
    if not word or re.compile(r"\[[^\]\n]*\]").match(span.file.text, span.end) is None:
        return None
    fix = Fix(f"put `{word}`", ((SourceSpan(span.file, span.start, span.start), f"{word} "),), safe=False)
    message = f"there is no {what} `{span.text}` here; what devices are follows `{word}`"
    return Fault("E0118", span, message, help=f"write `{word} {span.text}[…]`", fix=fix)


def hyphen_in_setting_fault(span: SourceSpan, what: str, known: Collection[str]) -> Fault | None:
    """The fault of ``graceful-restart``; None of others."""
    found = re.compile(r"\w+(?:-\w+)+").match(span.file.text, span.start)
    new = found[0].replace("-", "_") if found is not None else ""
    if found is None or new not in known:
        return None
    whole = SourceSpan(span.file, found.start(), found.end())
    fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
    return Fault("E0118", whole, f"there is no {what} `{found[0]}` here", help=f"write `{new}`", fix=fix)


_TIMES = re.compile(r"x[ \t]++(\w++)[ \t]*+([;}])")


def setting_of_other_block_fault(span: SourceSpan, what: str, known: Collection[str]) -> Fault | None:
    """The fault of a setting that is written in the braces of another statement; None of others."""
    name = span.text
    if {name.removesuffix("s"), f"{name}s"} & {*known}:
        return None
    block = _BLOCK_OF.get(name, "")
    if not block and name in _STATEMENTS and what != "statement":
        message = f"there is no {what} `{name}` here; `{name}` begins a statement of its own"
        return Fault("E0118", span, message, help=f"write `{name}` on a line of its own, behind the `}}`")
    if not block and name == "x" and (found := _TIMES.match(span.file.text, span.start)) is not None:
        return _times_in_braces_fault(span, what, found)
    if not block and name in PATTERNS:
        message = f"there is no {what} `{name}` here; `{name}` is the pattern of a connect"
        return Fault("E0118", span, message, help=f"write `{name}` before the `{{`")
    if not block:
        return None
    if ("connect" in what and "connect" in block) or name_of_word_elsewhere(name, known):
        return None
    message = f"there is no {what} `{name}` here; it is a setting of `{block}`"
    help = "; ".join(filter(None, (f"move it into the braces of `{block} {{ … }}`", known_names_help(known))))
    return Fault("E0118", span, message, help=help)


def _times_in_braces_fault(span: SourceSpan, what: str, found: re.Match[str]) -> Fault:
    """The fault of ``connect a to b { x 2 }``."""
    text = span.file.text
    brace = text.rfind("{", 0, span.start)
    alone = text[brace + 1 : span.start].strip() == "" and found[2] == "}"
    start = len(text[:brace].rstrip()) if alone else brace
    whole = SourceSpan(span.file, start, found.end() if alone else brace)
    gone = SourceSpan(span.file, span.start, found.end(1) + (found[2] == ";"))
    edits = ((whole, f" x {found[1]}"),) if alone else ((whole, f"x {found[1]} "), (gone, ""))
    message = f"there is no {what} `x` here; how many links there are is written before the `{{`"
    fix = Fix(f"write `x {found[1]}` before the `{{`", edits, safe=False)
    return Fault("E0118", span, message, help=f"write `x {found[1]}` before the `{{`", fix=fix)


class _Declared(NamedTuple):
    """Where a text declares a name, from and to a character, the kind of thing, and the model in whose braces
    that is, or ""."""

    kind: str
    start: int
    end: int
    model: str


_DECLARED = re.compile(
    rf"""#[^\n]*|"[^"\n]*"|(?P<brace>[{{}}])|^model[ \t]+\w+[ \t]+(?P<model>\w+)"""
    rf"|(?<![\w.])(?P<kind>{_DECLARES})[ \t]+(?P<name>[A-Za-z_]\w*)",
    re.MULTILINE,
)
"""What declares a name, and the braces around it; comments and texts, in which nothing does."""


@lru_cache(maxsize=2)
def _declarations_of_text(text: str) -> Mapping[str, _Declared]:
    """The first declaration of each name of a file."""
    out: dict[str, _Declared] = {}
    model, depth = "", 0
    for found in _DECLARED.finditer(text):
        kind = found.lastgroup
        if kind == "model":
            model, depth = found["model"], 0
        elif kind == "brace":
            depth += 1 if found["brace"] == "{" else -1
            model = model if depth > 0 else ""
        elif kind == "name":
            inside = model if depth > 0 else ""
            out.setdefault(found["name"], _Declared(found["kind"], *found.span("name"), inside))
    return out


def declared_elsewhere_fault(span: SourceSpan, what: str, message: str) -> Fault | None:
    """The fault, with its message, of a name that its file declares where it cannot be used from this place;
    None where the file declares it nowhere."""
    name, text = span.text, span.file.text
    if what == "value" and (index := _index_left_out_fault(span, message)) is not None:
        return index
    found = _declarations_of_text(text).get(name)
    if found is None or found.start == span.start:
        return None
    place = SourceSpan(span.file, found.start, found.end)
    in_model = text.rfind("\nmodel ", 0, span.start) > text.rfind("\nfabric ", 0, span.start)
    if found.model and not in_model and what != "value":
        return _name_inside_model_fault(span, place, message, found.model)
    if what != "value" and (plain := _prefix_too_many_fault(span, place, message)) is not None:
        return plain
    line, said = place.begin[0], f"`{name}` is declared here"
    if found.kind in KINDS["scope"]:
        help = f"begin the path with a device or group, without `{name}.`"
    elif what == "value" and found.kind not in ("let", "param"):
        help = f"`{name}` is declared in line {line} as devices, which are no value; a path to them follows "
        help += "`of`, `to`, `among` or `in`"
    else:
        help = f"move the declaration of `{name}` in line {line} into a block around both places"
        said += ", in a block that is not around this one"
    return Fault("E0101", span, message, labels=[(place, said)], help=help)


LONGEST_PREFIX = 80
"""Characters before a name in a path that are looked at."""
_PREFIX = re.compile(r"(?:[A-Za-z_]\w*+(?:\[[^\[\]\n]*+\])?+\.)++$")


def _prefix_too_many_fault(span: SourceSpan, place: SourceSpan, message: str) -> Fault | None:
    """The fault of ``su.spine`` where ``spine`` is declared around the statement and not in `su`; None of
    others."""
    text, depth = span.file.text, 0
    begin = max(*(text.rfind(c, 0, span.start) + 1 for c in "\n;{"), span.start - LONGEST_PREFIX)
    prefix = next((m for k in range(begin, span.start) if (m := _PREFIX.match(text, k, span.start))), None)
    if prefix is None or place.end > span.start:
        return None
    for found in re.finditer(r"[{}]", text[place.end : span.start]):
        depth += 1 if found[0] == "{" else -1
        if depth < 0:  # the block of the declaration ends before the statement
            return None
    whole, gone = prefix[0] + span.text, SourceSpan(span.file, prefix.start(), span.start)
    fix = Fix(f"remove `{prefix[0]}`", ((gone, ""),), safe=False)
    label = [(place, f"`{span.text}` is declared here")]
    help = f"write `{span.text}` for `{whole}`"
    return Fault("E0101", span, message, labels=label, help=help, fix=fix)


_NAMED_PATH = re.compile(r"[ \t]*(?:naming|place|address)[ \t]+((?:[\w.]|\[[^\]\n]*+\])*\w)(?=[ \t])")


def _index_left_out_fault(span: SourceSpan, message: str) -> Fault | None:
    """The fault of ``naming box "gpu{b}"``, an index variable that the path does not name; None of others."""
    text = span.file.text
    begin = max(text.rfind(c, 0, span.start) for c in "\n;") + 1
    found = _NAMED_PATH.match(text, begin)
    if found is None or not span.text.isidentifier():
        return None
    name = found[1].rpartition(".")[2]
    declared = _declarations_of_text(text).get(name)
    if declared is None or text[declared.end : declared.end + 1] != "[":
        return None
    at = SourceSpan(span.file, found.end(1), found.end(1))
    new = f"{found[1]}[{span.text}]"
    fix = Fix(f"write `{new}`", ((at, f"[{span.text}]"),), safe=False)
    return Fault(
        "E0101", span, f"{message}; an index variable is written in the path", help=f"write `{new}`", fix=fix
    )


def _name_inside_model_fault(span: SourceSpan, place: SourceSpan, message: str, model: str) -> Fault:
    """The fault of a name that a model declares at ``place``: how the path to it begins."""
    text, name = span.file.text, span.text
    device = re.search(rf"\b(\w+)[ \t]*(\[[^\]\n]*\])?[ \t]*:[ \t]*{model}\b", text)
    label = [(place, f"`{name}` is declared here, in the model `{model}`")]
    path = f"{device[1]}{'[*]' if device[2] else ''}.{name}" if device is not None else ""
    fix = Fix(f"write `{path}`", ((span, path),), safe=False) if path else None
    help = f"write `{path}`" if path else f"write the device of model `{model}` before it: `DEVICE.{name}`"
    return Fault("E0101", span, f"{message}: it is inside of `{model}`", labels=label, help=help, fix=fix)


def value_alone_fault(span: SourceSpan, what: str, known: Collection[str]) -> Fault | None:
    """The fault of ``{ backplane }`` and ``infiniband``: a value whose setting is left out; None of
    others."""
    name = span.text
    setting = next((x for x in _SETTINGS_OF.get(name.lower(), ()) if x in known), "")
    if not setting or _ALONE.match(span.file.text, span.end) is None:
        return None
    new = f"{setting} {name}"
    message = f"there is no {what} `{name}` here; `{name}` is a value of `{setting}`"
    fix = Fix(f"write `{new}`", ((span, new),), safe=False)
    return Fault("E0118", span, message, help=f"write `{new}`", fix=fix)


def word_before_block_fault(s: tree.Setting, inside: bool) -> Fault | None:
    """The fault of ``feed_a { members … }`` and ``ai { fabric … }``: a name and a block whose word is left
    out; None where the block does not say which. ``inside`` of a fabric, or at the top of a file."""
    shaped = len(s.items) == 1 and isinstance(s.items[0].value, tree.ListExpr) and not s.items[0].args
    plain = not s.items or (shaped and s.items[0].span.start == s.name.span.end)
    word = _word_of_block(s.body, inside) if s.body is not None and plain else ""
    if not word:
        return None
    name, span = s.name.name, s.name.span
    word = "extend" if _fabric_used(span) else word
    fix = Fix(f"write `{word}`", ((SourceSpan(span.file, span.start, span.start), f"{word} "),), safe=False)
    message = f"there is no statement `{name}` here; the word before this name is missing"
    head = f"{name}{s.items[0].span.text}" if s.items else name
    return Fault("E0118", span, message, help=f"write `{word} {head} {{`", fix=fix)


def _fabric_used(name: SourceSpan) -> bool:
    """Whether a `use` of the file takes a name, which an `extend` then adds to."""
    return (
        re.search(rf"^use[^\n(]*\([^)]*\b{re.escape(name.text)}\b", name.file.text, re.MULTILINE) is not None
    )


def _word_of_block(body: tuple[tree.Stmt, ...], inside: bool) -> str:
    """The word of the statement whose block has such statements; "" where several have, or where that one
    has no place here."""
    names = {s.name.name for s in body if isinstance(s, tree.Setting)}
    kinds = {s.kind.name for s in body if isinstance(s, tree.Decl)}
    word = ""
    if "members" in names:
        word = "risk"
    elif "racks" in names and {"from", "power"} & names:
        word = "feed"
    elif "fabric" in kinds:
        word = "cluster"
    elif "row" in kinds:
        return "hall"
    elif kinds & {*KINDS["device"], *KINDS["group"]} or any(isinstance(s, tree.Connect) for s in body):
        word = "group" if inside else "fabric"
    return word if inside == (word in ("risk", "feed", "group")) else ""


def model_without_word_fault(s: tree.Stmt) -> Fault | None:
    """The fault of ``host NODE { port … }`` and ``class switch SW { … }`` at the top of a file: a model
    without the word `model`; None of others."""
    if isinstance(s, tree.Decl):
        ports = any(isinstance(x, tree.Decl) and x.kind.name == "port" for x in s.body or ())
        if s.kind.name not in KINDS["device"] or s.shape is not None or s.of is not None or not ports:
            return None
        at, put = SourceSpan(s.span.file, s.span.start, s.span.start), "model "
        said, kind, name = s.kind, s.kind.name, s.name.name
        message = f"`{kind}` declares a device, which belongs in a fabric; a model begins with `model`"
    elif isinstance(s, tree.Setting) and s.body is not None and len(s.items) == 1 and s.items[0].args:
        value, word = s.items[0].value, s.items[0].args[0][1]
        kind = (value.bare if isinstance(value, tree.PathExpr) else None) or ""
        if kind not in {*KINDS["device"], "cable", "optic"}:
            return None
        at, put, said, name = s.name.span, "model", s.name, word.span.text
        message = f"no statement begins with `{s.name.name}`; a model begins with `model`"
    else:
        return None
    fix = Fix("write `model`", ((at, put),), safe=False)
    return Fault("E0118", said.span, message, help=f"write `model {kind} {name} {{`", fix=fix)
