"""What may be written at a place of a text: words that the grammar takes there, and names that mean something
there.

The words come from the parser's own tables, the settings of a block from the modules that read it, names from
the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from tdsl.findings.source import SourceFile
from tdsl.ide.describe import formal_words, port_words
from tdsl.ide.known import KnownNames, Meaning, port_types
from tdsl.semantics.addressing import OVERRIDABLE, PORTS_APART, WHAT
from tdsl.semantics.devices import DEVICE_SETTINGS, ROLES
from tdsl.semantics.fabric_words import PURPOSES
from tdsl.semantics.intent import DEVICES
from tdsl.semantics.intent import WORDS as INTENT
from tdsl.semantics.later import ADDRESSING, SUBNETS
from tdsl.semantics.model import KINDS as DEVICE_KINDS
from tdsl.semantics.model import MODEL_KINDS
from tdsl.semantics.models import FACTS, PORT_SETTINGS
from tdsl.semantics.nos import SYSTEMS
from tdsl.semantics.partitions import PARTITION_SETTINGS
from tdsl.semantics.planner import LAYERS
from tdsl.semantics.quantity import LENGTH, POWER, RATE, UNIT_TABLE, kind_name
from tdsl.semantics.routing import BGP_SETTINGS, ROCE_SETTINGS
from tdsl.semantics.settings import MEDIA_WORDS
from tdsl.semantics.statements import CONNECT_SETTINGS
from tdsl.semantics.tier_specs import TIER_SETTINGS
from tdsl.semantics.transport import TRANSPORTS
from tdsl.semantics.values import TYPE_NAMES
from tdsl.syntax import tree
from tdsl.syntax.grammar import load_grammar_tables
from tdsl.syntax.keywords import KIND_WORDS, KINDS, PATTERNS
from tdsl.syntax.parser import Standing, context_before_offset
from tdsl.syntax.scanner import BAD_STRING, Token
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.verify.check import Check

NUMBER = re.compile(r"(?<![\w.])[0-9][0-9_]*(?:\.[0-9]+)?(?P<unit>[A-Za-z]*(?:/[A-Za-z]*)?)\Z")
WORD = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9_]*+\Z")
PATHS = frozenset(
    {"connect", "circuit", "distance", "omit", "naming", "extend", "override", "to", "of", "at", "via", ","}
)
"""Words behind which a path begins, in the statements that have paths."""
DECLARING = KIND_WORDS | {"let", "param", "def", "for", "topology", "tier"}
"""Words behind which a new name stands."""
CLAUSES = frozenset({"of", "at", "among", "under", "through", "any", "with"})
"""Clauses of a claim that a check may take or not."""
COMPARISONS = (">=", "<=", "==", "!=", ">", "<")
USUAL_VALUES: dict[str, tuple[str, ...]] = {
    "ratio": ("1:1", "2:1", "3:1", "4:1"),
    "fraction": ("100%", "75%", "50%"),
    "number": ("1", "2", "4", "8"),
}
"""Values that requirements of a kind often have."""
USUAL_AMOUNTS: dict[str, tuple[str, ...]] = {
    "W": ("40kW", "1MW"),
    "s": ("1us", "10us"),
    "m": ("3m", "50m"),
    "$": ("$1_000_000",),
}
AT_THE_TOP = frozenset({"use", "model", "topology", "def", "cluster"})
AIMS = {"at most": "this ratio or less", "about": "the nearest ratio that whole links give"}
NOT_BUILT = frozenset({"row"})
"""Words that the grammar takes here and this version does not build (E0117), or only inside a hall."""
USUAL = (RATE, LENGTH, POWER)

SETTINGS_OF_BLOCKS: dict[str, tuple[str, ...]] = {
    "connect": CONNECT_SETTINGS,
    "circuit": CONNECT_SETTINGS,
    "port": PORT_SETTINGS,
    "tier": TIER_SETTINGS,
    "override": OVERRIDABLE,
    "routing": BGP_SETTINGS,
    "roce": ROCE_SETTINGS,
    "partition": PARTITION_SETTINGS,
    "address": tuple(PORTS_APART["bmc"]),
    **dict.fromkeys((*DEVICE_KINDS, *DEVICES), DEVICE_SETTINGS),
}
"""Settings of the blocks that hold nothing else."""
WORDS_OF_SETTINGS: dict[str, tuple[str, ...]] = {
    "role": ROLES,
    "medium": MEDIA_WORDS,
    "routing": ("bgp",),
    "layer": LAYERS,
    "nos": SYSTEMS,
    "transport": tuple(TRANSPORTS),
    "purpose": PURPOSES,
}
"""Settings whose value is one of a few words."""


@dataclass(frozen=True, slots=True)
class CompletionEntry:
    """Something that may be written: the text, its kind, a line about it, Markdown, and its rank (least
    first)."""

    text: str
    kind: str
    detail: str = ""
    doc: str = ""
    rank: int = 5


def complete_word(
    known: KnownNames, file: SourceFile, offset: int, unasked: bool = False
) -> tuple[int, list[CompletionEntry]]:
    """Where the word at hand begins, and what may stand in its place. Nothing inside comments and strings;
    nothing before a statement where it was ``unasked``, such as for blanks of an indentation."""
    if _in_comment_or_string(file, offset):
        return offset, []
    line = file.text[file.line_starts[file.position(offset)[0] - 1] : offset]
    number = NUMBER.search(line)
    if number is not None:
        start = offset - len(number["unit"])
        return start, _unit_completions(context_before_offset(file, offset - len(number[0])))
    start = offset - len(WORD.search(line)[0])  # type: ignore[index]
    place = context_before_offset(file, start)
    if unasked and not place.statement:
        return start, []
    seen: dict[str, CompletionEntry] = {}
    for item in Writer(known, place).items():
        seen.setdefault(item.text, item)
    return start, sorted(seen.values(), key=lambda i: i.rank)


def _in_comment_or_string(file: SourceFile, offset: int) -> bool:
    """Whether a place lies inside a comment or a string."""
    for t in load_grammar_tables().scanner.scan(file, file.line_starts[file.position(offset)[0] - 1]):
        if t.start >= offset:
            return False
        if t.type in ("COMMENT", BAD_STRING) and offset <= t.end:
            return True
        if t.type == "STRING" and offset < t.end:
            return True
    return False


def _unit_completions(place: Standing) -> list[CompletionEntry]:
    """Units behind a number; in a port's rate and a setting that measures something, those of its kind
    alone."""
    if "QUANTITY" not in place.terminals:
        return []
    first = place.statement[0].text if place.statement else ""
    dim = {"port": RATE, "rate": RATE, "length": LENGTH, "reach": LENGTH}.get(first)
    if first == "port" and not any(t.type == "COLON" for t in place.statement):
        return []
    return [
        CompletionEntry(unit, "unit", kind_name(d), rank=6 - 2 * (d in USUAL) - ("/" not in unit))
        for unit, (_, d) in UNIT_TABLE.items()
        if unit != "$" and dim in (None, d)
    ]


class Writer:
    """What may stand at one place."""

    def __init__(self, known: KnownNames, place: Standing) -> None:
        self.known, self.place = known, place
        self.words = [t.text for t in place.statement]
        self.first, self.last = (self.words[0], self.words[-1]) if self.words else ("", "")
        self.head = [t.text for t in place.heads[-1]] if place.heads else []
        self.block = self.head[0] if self.head else ""
        opened = [t.type for t in place.statement]
        self.depth = sum(opened.count(o) - opened.count(c) for o, c in (("LSQB", "RSQB"), ("LPAR", "RPAR")))

    def items(self) -> list[CompletionEntry]:
        """All of it."""
        if self.last == ".":
            return self.members() if self.first != "use" else self.files()
        if not self.words:
            return self.statements()
        special = self.special()
        if special is not None:
            return special
        out = self.claim_words() if self.first in ("require", "report") else self.grammar_words()
        naming = (len(self.words) == 1 and self.first in DECLARING) or (
            len(self.words) == 2 and self.first == "model"
        )
        if "NAME" in self.place.terminals and not naming:
            out = [*self.names(), *out]
        return out

    def grammar_words(self) -> list[CompletionEntry]:
        """Words that the parser takes here."""
        return [CompletionEntry(w, "keyword", rank=8) for w in sorted(self.place.words)]

    # ------------------------------------------------------------ where a statement begins

    def statements(self) -> list[CompletionEntry]:
        """Words and settings with which a statement of this block may begin."""
        settings, only = self.settings()
        out = (
            []
            if only
            else [CompletionEntry(w, "keyword", rank=2) for w in sorted(self.place.words) if self.stands(w)]
        )
        return [*settings, *out]

    def stands(self, word: str) -> bool:
        """Whether a statement with this word has a meaning in the block at hand."""
        if word in KINDS["part"]:
            return self.block == "model"
        if word in AT_THE_TOP:
            return not self.block
        if word == "fabric":
            return self.block in ("", "cluster")
        if word == "tier":
            return self.known.topology(self.block) is not None or self.block == "topology"
        if self.block == "model":
            return word in (*DEVICE_KINDS, "let", "connect", *self.place.words & {"to", "via", "where"})
        return word not in NOT_BUILT

    def settings(self) -> tuple[list[CompletionEntry], bool]:
        """Settings of the block at hand, and whether nothing else stands in it."""
        block = self.block
        fixed = SETTINGS_OF_BLOCKS.get(block)
        if fixed is not None and not (
            len(self.place.heads) > 1 and block in DEVICE_KINDS and self.in_model()
        ):
            return [CompletionEntry(w, "setting", f"setting of `{block}`", rank=2) for w in fixed], True
        if block == "phase":
            return _items_of_meanings(self.known.phased(self.place), 1), True
        if block == "model":
            facts = [CompletionEntry(w, "setting", "fact of a model", rank=3) for w in FACTS]
            return facts, "cable" in self.head[:2]
        if block == "fabric":
            return self.fabric_settings(), False
        found = self.known.topology(block)
        if found is not None and isinstance(found.node, tree.TopologyDecl):
            return _parameters_of_topology(found.node), True
        return [], False

    def fabric_settings(self) -> list[CompletionEntry]:
        """Settings of a fabric, and the topologies that it may ask for."""
        words = (
            *INTENT,
            *ADDRESSING,
            *SUBNETS,
            "minimize",
            "layer",
            "nos",
            "transport",
            "purpose",
            "distance",
        )
        asked = [CompletionEntry(m.name, "topology", m.detail, m.doc, 4) for m in self.known.topologies()]
        return [*(CompletionEntry(w, "setting", "setting of `fabric`", rank=3) for w in words), *asked]

    def in_model(self) -> bool:
        """Whether the block stands in a model."""
        return any(h and h[0].text == "model" for h in self.place.heads)

    # ------------------------------------------------------------ places with names of one kind

    def special(self) -> list[CompletionEntry] | None:
        """Where only one kind of thing may stand: models, types, checks, words of a setting; None
        elsewhere."""
        first, last, words = self.first, self.last, self.words
        if first == "use":
            return self.used()
        if first == "model" and len(words) == 1:
            return [CompletionEntry(k, "keyword", "kind of model") for k in MODEL_KINDS]
        typed = self.after_colon() if last == ":" else None
        if typed is not None:
            return typed
        if first in ("require", "report") and (len(words) == 1 or last in ("and", "with")):
            return self.checks()
        parent = first == "tier" and "of" in words and len(words) > words.index("of") + 1
        if parent and "NAME" in self.place.terminals:
            return self.tiers_around()
        return self.value()

    def after_colon(self) -> list[CompletionEntry] | None:
        """Models, types and words that stand behind a colon."""
        first = self.first
        if not self.depth and first in DEVICE_KINDS:
            return self.models(first)
        if first == "override":
            return _items_of_meanings(self.known.models(), 1)
        if first in ("let", "param", "def", "topology"):
            types = [t for t in TYPE_NAMES if self.depth or t not in ("ports", "path", "pattern", "table")]
            return [CompletionEntry(t, "type", "type", rank=1) for t in types]
        if first == "port":
            return [CompletionEntry("any", "word", "fits any rate", rank=1)]
        return None

    def tiers_around(self) -> list[CompletionEntry]:
        """What a tier may be of: another tier of the blocks around, or the endpoints."""
        tiers = [t.name.name for n in self.known.around(self.place) for t in _tiers_of_statement(n)]
        return [
            *(CompletionEntry(t, "group", "a tier of this block", rank=1) for t in tiers),
            CompletionEntry("hosts", "group", "the ends", rank=1),
        ]

    def value(self) -> list[CompletionEntry] | None:
        """The value of a setting, where it is a model or one of a few words."""
        first, begins = self.first, len(self.words) == 1 or self.last == ","
        found = self.value_of_setting() if begins else None
        if found is None and first in DEVICES:
            found = self.value_for_devices(begins)
        if found is not None:
            return found
        if first == "switch" and self.block in ("tier", "topology") and len(self.words) == 2:
            return [CompletionEntry("x", "keyword", "so many for each")]
        addressed = first == "address" and len(self.words) > 1 and not self.depth and self.last != ","
        if addressed and "NAME" in self.place.terminals:
            what = [CompletionEntry(w, "word", "what is addressed", rank=1) for w in WHAT]
            return what + self.grammar_words()
        return None

    def value_for_devices(self, begins: bool) -> list[CompletionEntry] | None:
        """What an intent's devices may be: a model behind ``x``, devices and numbers where a value begins."""
        if self.last == "x":
            return _items_of_meanings(self.known.models(DEVICES[self.first]), 1)
        if begins:
            return [*self.things(), *(_items_of_meanings(self.values(), 4) if len(self.words) == 1 else [])]
        return None

    def value_of_setting(self) -> list[CompletionEntry] | None:
        """The first value of a setting, or the one behind a comma: a model, a port type or a word."""
        first = self.first
        fixed = WORDS_OF_SETTINGS.get(first)
        if fixed is not None and self.place.heads:
            return [CompletionEntry(w, "word", f"{first}", rank=1) for w in fixed]
        if first == "oversubscription" and len(self.words) == 1:
            aims = [CompletionEntry(w, "word", said, rank=1) for w, said in AIMS.items()]
            return aims + _items_of_meanings(self.values(), 4)
        return self.value_in_block()

    def value_in_block(self) -> list[CompletionEntry] | None:
        """The value of a setting whose meaning depends on the block it stands in."""
        match self.first:
            case "cable" if self.block in ("connect", "circuit", ""):
                return self.cables()
            case "switch" if self.block == "tier":
                return self.models("switch")
            case "type" if self.block == "port":
                return [CompletionEntry(t, "word", "type of a port", rank=1) for t in port_types()]
            case "split" if self.block in DEVICE_KINDS:
                return self.split()
        return self.value_of_parameter()

    def cables(self) -> list[CompletionEntry]:
        """Cables; first those that fit the cages of the devices that the connect around joins."""
        from tdsl.physical.fitting import cables_for

        cables = self.known.models("cable")
        ends = [self.known.model_of_path(names, self.place) for names in _first_paths_of_connect(self.head)]
        if len(ends) != 2 or None in ends:
            return _items_of_meanings(cables, 1)
        found = [*cables, *self.known.models("optic")]
        parts = [m for m in (self.known.model(x.name) for x in found) if m is not None]
        fitting = {fit.part.name for fit in cables_for(parts, *(m for m in ends if m is not None))}
        first = [replace(m, detail=f"fits: {m.detail}") for m in cables if m.name in fitting]
        rest = [m for m in cables if m.name not in fitting]
        return [*_items_of_meanings(first, 1), *_items_of_meanings(rest, 2)]

    def value_of_parameter(self) -> list[CompletionEntry] | None:
        """Models or patterns, where the block sets such a parameter of its topology."""
        found = self.known.topology(self.block)
        if found is None or not isinstance(found.node, tree.TopologyDecl):
            return None
        kind = next((f.type.name for f in reversed(found.node.formals) if f.name.name == self.first), "")
        if kind == "model":
            return self.models("switch") + _items_of_meanings(self.known.models("ocs"), 2)
        return self.patterns() if kind == "pattern" else None

    def models(self, kind: str) -> list[CompletionEntry]:
        """Models of a kind, and values that stand for a model."""
        return _items_of_meanings(self.typed("model"), 1) + _items_of_meanings(self.known.models(kind), 1)

    def patterns(self) -> list[CompletionEntry]:
        """Patterns, and values that stand for one."""
        return [CompletionEntry(p, "pattern", "pattern", rank=1) for p in PATTERNS] + _items_of_meanings(
            self.typed("pattern"), 1
        )

    def typed(self, type: str) -> list[Meaning]:
        """Values declared of a type."""
        return [m for m in self.values() if getattr(getattr(m.node, "type", None), "name", "") == type]

    def values(self) -> list[Meaning]:
        """Values that have a meaning here; in its guard, the one that the statement declares."""
        own = self.words[1] if self.first in ("let", "param") and "where" in self.words else ""
        return [*([Meaning(own, self.first)] if own else []), *self.known.values(self.place)]

    def split(self) -> list[CompletionEntry]:
        """Port classes of the device around that may be split."""
        bare = self.head[self.head.index(":") + 1] if ":" in self.head[:-1] else ""
        model = self.known.model(bare)
        return (
            [CompletionEntry(c.name, "port", port_words(c), rank=1) for c in model.classes if c.splits]
            if model
            else []
        )

    def checks(self) -> list[CompletionEntry]:
        """Checks that a claim may ask for."""
        from tdsl.verify.check import checks_by_name

        return [
            CompletionEntry(name, "check", c.title(), c.page(), 1 + c.fails_by_default)
            for name, c in checks_by_name().items()
        ]

    def claim_words(self) -> list[CompletionEntry]:
        """Words of a claim, without the clauses that its check does not take."""
        from tdsl.verify.check import checks_by_name

        begin = max(
            (i for i, w in enumerate(self.words) if w in ("and", "with", "require", "report")), default=0
        )
        check = checks_by_name().get(self.words[begin + 1]) if begin + 1 < len(self.words) else None
        refused = CLAUSES - check.takes if check is not None else frozenset()
        words = [replace(i, rank=3) for i in self.grammar_words() if i.text not in refused]
        if check is None:
            return words
        compared = next((w for w in self.words[begin + 2 :] if w in COMPARISONS), None)
        if compared is not None:
            values = _usual_values_of_check(check) if self.last == compared else []
            return [*values, *words]
        arguments = _arguments_of_check(check) if len(self.words) == begin + 2 else []
        return [*_comparisons_of_check(check), *arguments, *words]

    # ------------------------------------------------------------ names

    def names(self) -> list[CompletionEntry]:
        """Names that a path or an expression may begin with; behind the ends of a connect, patterns."""
        first, last = self.first, self.last
        if first in ("connect", "circuit") and "via" in self.place.words and not self.depth:
            return self.patterns()
        claim = first in ("require", "report")
        if claim and last == "through":
            return [CompletionEntry(w, "word", "layer", rank=1) for w in LAYERS]
        if not self.depth and self.path_begins():
            every = [CompletionEntry("ports", "word", "every port by itself")]
            return [*self.things(), *(every if claim and last == "of" else [])]
        paths = (*PARTITION_SETTINGS, "address", "asn", "subnet_manager")
        if not self.depth and len(self.words) == 1 and first in paths:
            return self.things()
        return [*self.variables(), *_items_of_meanings(self.values(), 4)]

    def path_begins(self) -> bool:
        """Whether the word before is one behind which a path begins."""
        if self.last not in PATHS or self.first == "tier":
            return False
        return self.last != "," or self.first in PATHS | {"address", "asn"}

    def things(self) -> list[CompletionEntry]:
        """Devices and groups."""
        return _items_of_meanings(self.known.things(self.place), 1)

    def variables(self) -> list[CompletionEntry]:
        """Names that stand bare in other brackets of the statement: its index variables."""
        tokens = self.place.statement
        found = dict.fromkeys(
            b.text
            for a, b, c in zip(tokens, tokens[1:], tokens[2:], strict=False)
            if b.type == "NAME" and a.type in ("LSQB", "COMMA") and c.type in ("RSQB", "COMMA")
        )
        return [
            CompletionEntry(name, "variable", "index variable of this statement", rank=1) for name in found
        ]

    def members(self) -> list[CompletionEntry]:
        """What may stand behind the point: members of the path before it."""
        names = path_before_cursor(self.place.statement[:-1])
        found = self.known.find(names, self.place) if names else None
        return _items_of_meanings(self.known.members(found), 1) if found is not None else []

    # ------------------------------------------------------------ use

    def files(self) -> list[CompletionEntry]:
        """Files and folders that a ``use`` may go on with."""
        parts = [w for w in self.words[1:] if w != "."]
        out: dict[str, CompletionEntry] = {}
        for root in self.known.library.loader.roots(self.known.home.module.folder):
            folder = root.joinpath(*parts)
            for p in sorted(folder.iterdir()) if folder.is_dir() else ():
                if p.stem.isidentifier() and (p.suffix == ".fab" or (p.is_dir() and any(p.glob("*.fab")))):
                    out.setdefault(
                        p.stem,
                        CompletionEntry(
                            p.stem, "file" if p.suffix else "folder", "a file" if p.suffix else "a folder"
                        ),
                    )
        return list(out.values())

    def used(self) -> list[CompletionEntry]:
        """What a ``use`` may name: the file, or in parentheses what it declares."""
        from tdsl.semantics.fault import Excused, Fault
        from tdsl.semantics.loader import declared_in

        if "(" not in self.words:
            return self.files() if len(self.words) == 1 else []
        if self.last not in ("(", ","):
            return self.grammar_words()
        parts = tuple(
            tree.Identifier(t.text, t.span)
            for t in self.place.statement[1 : self.words.index("(")]
            if t.type == "NAME"
        )
        try:
            paths = self.known.library.loader.find(
                tree.Use(parts, (), self.place.statement[0].span), self.known.home.module.folder
            )
        except (Fault, Excused):
            return []
        return [CompletionEntry(name, "name", f"of {p.name}") for p in paths for name in declared_in(p)]


def _parameters_of_topology(node: tree.TopologyDecl) -> list[CompletionEntry]:
    """The parameters that the braces of a topology set, and the word for its tiers."""
    formals = [f for f in node.formals if f.type.name != "ports"]
    items = [CompletionEntry(f.name.name, "param", formal_words(f), rank=2) for f in formals]
    tiers = any(isinstance(s, tree.TierDecl) for s in node.body)
    return [*items, *([CompletionEntry("tier", "keyword", rank=3)] if tiers else [])]


def _usual_values_of_check(check: Check) -> list[CompletionEntry]:
    """Values that requirements of this check often have."""
    usual = USUAL_VALUES.get(check.kind, USUAL_AMOUNTS.get(check.unit, ()))
    return [CompletionEntry(v, "word", f"a value of `{check.name}`", rank=1) for v in usual]


def _arguments_of_check(check: Check) -> list[CompletionEntry]:
    """Words that may stand right behind a check's name: patterns of traffic, or its own."""
    if check.name == "throughput":
        from tdsl.prove.all_to_all import ALL
        from tdsl.prove.demands import PATTERNS as DEMANDS

        return [CompletionEntry(p, "pattern", "pattern of traffic", rank=1) for p in sorted({ALL, *DEMANDS})]
    words = sorted(check.words or ())
    return [CompletionEntry(w, "word", f"argument of `{check.name}`", rank=1) for w in words]


def _comparisons_of_check(check: Check) -> list[CompletionEntry]:
    """Comparisons, the one that this check usually has first; none where it is met or not."""
    if check.kind == "yes_no":
        return []
    order = {">=" if check.scarce or check.kind == "fraction" else "<=": 1, "==": 2}
    return [CompletionEntry(c, "word", "comparison", rank=order.get(c, 4)) for c in COMPARISONS]


def _first_paths_of_connect(words: list[str]) -> list[tuple[str, ...]]:
    """The names of the first path on either side of ``to`` in the words of a connect; one alone where there
    is no ``to``."""
    out: list[tuple[str, ...]] = []
    names: list[str] = []
    depth, follows = 0, True
    for word in (*words[1:], "to"):
        depth += (word in "([") - (word in ")]")
        if depth or word in ")]":
            continue
        if word == "to":
            out.append(tuple(names))
            names, follows = [], True
        elif word == ".":
            follows = True
        else:
            names += [word] if follows else []
            follows = False
    return [names for names in out if names]


def path_before_cursor(tokens: Iterable[Token]) -> tuple[str, ...]:
    """The names of the path that ends these tokens, its indices left out."""
    names: list[str] = []
    depth, dotted = 0, True
    for t in reversed(list(tokens)):
        if t.type in ("RSQB", "RPAR"):
            depth += 1
        elif t.type in ("LSQB", "LPAR"):
            depth -= 1
            if depth < 0:
                break
        elif depth:
            continue
        elif t.type == "DOT":
            dotted = True
        elif dotted and t.type not in ("COMMA", "CMP"):
            names.append(t.text)
            dotted = False
        else:
            break
    return tuple(reversed(names))


def _items_of_meanings(meanings: Iterable[Meaning], rank: int) -> list[CompletionEntry]:
    return [CompletionEntry(m.name, m.kind, m.detail, m.doc, rank) for m in meanings]


def _tiers_of_statement(s: tree.Stmt) -> list[tree.TierDecl]:
    return [x for x in getattr(s, "body", None) or () if isinstance(x, tree.TierDecl)]
