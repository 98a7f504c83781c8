"""What the grammar knows and this version does not build: each is refused by one finding that says so."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.lost_words import exchanged_setting_fault, value_alone_fault, word_before_block_fault
from tdsl.semantics.scope import Scope
from tdsl.semantics.transport import TRANSPORTS
from tdsl.syntax import tree
from tdsl.syntax.filled_forms import fits_form
from tdsl.syntax.forms import FORMS, OTHER_FORMS
from tdsl.syntax.keywords import CLAUSES, INSTEAD_OF, KINDS, OPERATORS, STARTERS, STATEMENTS

if TYPE_CHECKING:
    from tdsl.semantics.library import Library, Linked

HALL = ("row", "pitch", "tray", "slack")
RACK = ("height", "power")
PHYSICAL = (*HALL, *RACK, "distance", "units")
ADDRESSING = ("address", "routing", "roce")
SUBNETS = ("partition", "subnet_manager")
WORDS = (
    *PHYSICAL,
    *ADDRESSING,
    *SUBNETS,
    "minimize",
    "layer",
    "nos",
    "transport",
    "purpose",
    "forwards",
    "risk",
    "feed",
)
INTENT = ("hosts", "chips", "rails", "planes", "pods")
PLACE = "in the block of a fabric or a group"
INSTEAD = "move it out of these braces; `group site[4] { … }` has it once for each of 4"
KNOWN = (
    "connect",
    "host",
    "switch",
    "group",
    "require",
    "omit",
    "naming",
    "let",
    "param",
    "layer",
    "extend",
    "override",
)


_STATEMENTS_MEANT = {
    **dict.fromkeys(("gpus", "accelerators", "nodes", "servers"), "hosts"),
    **dict.fromkeys(("repeat", "loop", "while"), "for"),
    **dict.fromkeys(("minimise", "optimise", "optimize", "objective"), "minimize"),
    **{"ip": "address", "ipv4": "address", "bgp": "routing", "rdma": "roce"},
    **{"host": "hosts", "chip": "chips", "room": "hall", "floor": "hall", "foreach": "for"},
}
"""Words that people begin a statement with, and the word of the language."""


def refuse_later(s: tree.Stmt, scope: Scope, library: Library, home: Linked) -> None:
    """Raise the fault of a statement that means nothing here, or nothing yet; what it would declare is
    excused."""
    name = _statement_keyword(s)
    if isinstance(s, tree.TierDecl):
        scope.excused.add(s.name.name)
        from tdsl.semantics.topology import known_topology_names

        names = ", ".join(f"`{n}`" for n in sorted(set(known_topology_names(library, home))))
        help = f"write `NAME {{` before the first tier and `}}` behind the last; NAME is one of {names}"
        raise Fault("E0118", s.name.span, "`tier` belongs in the block of a topology", help=help)
    if name in INTENT:
        raise Fault("E0118", s.span, f"`{name}` belongs {PLACE}", help=INSTEAD)
    if name in HALL or (isinstance(s, tree.Decl) and s.kind.name == "row"):
        raise Fault(
            "E0118",
            s.span,
            f"`{name}` belongs in the block of a hall",
            help="`hall h1 { row A { rack 1..8 { height 48U } } }`",
        )
    if name in RACK:
        raise Fault("E0118", s.span, f"`{name}` belongs in the block of a model, or of a rack in a hall")
    if name == "units":
        raise _unsupported_statement_fault(s, "`units` counts scalable units", "use a param and `--set`")
    if name == "asn":
        raise Fault(
            "E0118",
            s.span,
            "`asn` belongs in `routing bgp`",
            help="write `routing bgp { asn leaf[*] from 4_200_000_000 }`",
        )
    if isinstance(s, tree.PhaseBlock):
        raise Fault(
            "E0118", s.span, "`phase` belongs in the fabric's own block", help="move it out of these braces"
        )
    if isinstance(s, tree.Setting):
        raise _unknown_statement_fault(s, library, home)
    if isinstance(s, tree.Use):
        raise Fault(
            "E0120",
            s.span,
            "`use` belongs at the top of a file",
            help=f"move `{s.span.text}` before the first `fabric`",
        )
    raise Fault("E0118", s.span, f"`{name}` has no meaning in this place", help=_help_for_nested_word(name))


def _help_for_nested_word(name: str) -> str:
    """Where a declaration belongs that stands inside of another; "" where that is not known."""
    if name not in ("model", "topology", "fabric"):
        return ""
    both = ", or declare both in a `cluster NAME {`, whose fabrics share hosts" if name == "fabric" else ""
    return f"move it to the top of the file{both}"


def _unknown_statement_fault(s: tree.Setting, library: Library, home: Linked) -> Fault:
    """The fault of a first word that begins no statement here: a topology, a word of other languages, or a
    misspelt one."""
    from tdsl.semantics.topology import find_topology, known_topology_names, other_names_of_topologies

    name = s.name.name
    if find_topology(library, home, name) is not None:
        return Fault("E0118", s.name.span, f"`{name}` is a topology, which belongs {PLACE}", help=INSTEAD)
    topologies = known_topology_names(library, home)
    known = (*_KNOWN_HERE, *topologies)
    if fault := (
        exchanged_setting_fault(s.name.span, "statement", known)
        or value_alone_fault(s.name.span, "statement", known)
        or _fault_of_group_without_name(s)
        or _fault_of_foreign_end(s)
        or _fault_of_group_in_other_words(s, topologies)
        or _fault_of_word_around_statement(s)
        or _fault_of_other_first_word(s)
        or _fault_of_prose(s)
        or _fault_of_misnamed_statement(s)
    ):
        return fault
    value = s.items[0].value if len(s.items) == 1 else None
    if isinstance(value, tree.PathExpr) and value.bare in TRANSPORTS:
        fix = Fix("write `transport`", ((s.name.span, "transport"),), safe=False)
        message = f"there is no statement `{name}` here; `{value.bare}` is a value of `transport`"
        return Fault("E0118", s.name.span, message, help=f"write `transport {value.bare}`", fix=fix)
    return (
        _fault_of_word_in_two(s, known)
        or word_before_block_fault(s, inside=True)
        or _fault_of_other_word(s, known)
        or unknown_name_fault(
            "E0118",
            s.name.span,
            "statement",
            name,
            known,
            meant={**other_names_of_topologies(), **_STATEMENTS_MEANT},
        )
    )


_KNOWN_HERE = (
    *KNOWN,
    *STATEMENTS,
    "minimize",
    "risk",
    "feed",
    "forwards",
    "nos",
    "transport",
    "purpose",
    *INTENT,
    *PHYSICAL,
    *ADDRESSING,
    *SUBNETS,
)
"""Words that begin a statement, without the names of topologies."""


def _fault_of_group_without_name(s: tree.Setting) -> Fault | None:
    """The fault of ``pod {``."""
    name = s.name.name
    if name not in KINDS["group"] or s.body is None or s.items:
        return None
    at = SourceSpan(s.name.span.file, s.name.span.end, s.name.span.end)
    return Fault(
        "E0118",
        s.name.span,
        f"a `{name}` has a name",
        help=f"write `{name} {name[0]}1 {{`",
        fix=Fix(f"put `{name[0]}1`", ((at, f" {name[0]}1"),), safe=False),
    )


def _fault_of_foreign_end(s: tree.Setting) -> Fault | None:
    """The fault of ``endfor``."""
    if s.name.name not in ENDS_OF_BLOCKS or s.items:
        return None
    fix = Fix("write `}`", ((s.span, "}"),), safe=False)
    return Fault("E0118", s.span, f"`{s.name.name}` does not end a block", help="write `}`", fix=fix)


def _fault_of_group_in_other_words(s: tree.Setting, topologies: Collection[str]) -> Fault | None:
    """The fault of ``scalable_unit su[2] {``."""
    name = s.name.name
    grouped = GROUP_IN_OTHER_WORDS.match(s.span.text) if s.body is not None else None
    if grouped is None or (name in topologies and name not in KINDS["group"]):
        return None
    kind = name if name in KINDS["group"] else "group"
    at = SourceSpan(s.span.file, s.span.start, s.span.start + grouped.end())
    new = f"{kind} {grouped[1]}[{grouped[2]}]"
    fix = Fix(f"write `{new}`", ((at, new),), safe=False)
    return Fault("E0118", at, f"`{at.text}` declares no group", help=f"write `{new} {{`", fix=fix)


def _fault_of_prose(s: tree.Setting) -> Fault | None:
    """The fault of a remark without its `#`: three words or more, and nothing but words."""
    text = s.span.text
    if s.body is not None or len(text.split()) < 3 or not re.fullmatch(r"[A-Za-z' ,.]+", text):
        return None
    return Fault(
        "E0118",
        s.span,
        f"there is no statement `{s.name.name}` here; a comment begins with `#`",
        help=f"write `# {text}` for a comment",
        fix=Fix("make it a comment", ((s.span, f"# {text}"),), safe=False),
    )


def _fault_of_misnamed_statement(s: tree.Setting) -> Fault | None:
    """The fault of ``reachability``, ``bgp { … }`` and others whose meaning is a whole statement."""
    whole = _statement_meant(s)
    if not whole:
        return None
    fix = Fix(f"write `{whole}`", ((s.span, whole),), safe=False)
    message = f"there is no statement `{s.name.name}` here"
    return Fault("E0118", s.name.span, message, help=f"write `{whole}`", fix=fix)


def _fault_of_word_in_two(s: tree.Setting, known: Collection[str]) -> Fault | None:
    """The fault of ``fat tree {``."""
    if not s.items or (new := f"{s.name.name}_{s.items[0].value.span.text}") not in known:
        return None
    both = s.name.span.to(s.items[0].value.span)
    fix = Fix(f"write `{new}`", ((both, new),))
    message = f"there is no statement `{s.name.name}` here"
    return Fault("E0118", both, message, help=f"write `{new}`", fix=fix)


def _fault_of_other_first_word(s: tree.Setting) -> Fault | None:
    """The fault of ``length dc[0] to dc[1] 2km``: what follows the first word is that of another statement;
    None of others."""
    said = s.span.file.text[s.name.span.end : s.items[-1].span.end] if s.items else "\n"
    forms = {word: (FORMS[word], *OTHER_FORMS.get(word, ())) for word in ("distance", "address")}
    fitting = (w for w, known in forms.items() if any(fits_form(form, f"{w}{said}") for form in known))
    word = next(fitting, "")
    if "\n" in said or not word:
        return None
    fix = Fix(f"write `{word}`", ((s.name.span, word),), safe=False)
    message = f"there is no statement `{s.name.name}` here; what follows is that of `{word}`"
    return Fault("E0118", s.name.span, message, help=f"write `{word}{said}`", fix=fix)


def _fault_of_other_word(s: tree.Setting, known: Collection[str]) -> Fault | None:
    """The fault of a word in capitals, or of another language, whose word here is known."""
    name = s.name.name
    instead = INSTEAD_OF.get(name.lower())
    declared = re.compile(r"[ \t]+\w+[ \t]*[:\[]").match(s.span.file.text, s.name.span.end)
    if instead in KINDS["device"] and declared is None:
        return None
    if instead in ("host", "chip"):
        instead = f"{instead}s"
    if name.lower() in known and name.lower() != name:
        instead = name.lower()
    if instead == "port" and s.items and s.body is not None:
        settings = {x.name.name for x in s.body if isinstance(x, tree.Setting)}
        instead = None if settings.isdisjoint({"type", "cage", "os", "name", "split"}) else instead
    if instead is None:
        return None
    return Fault(
        "E0118",
        s.name.span,
        f"there is no statement `{name}` here; the word is `{instead}`",
        help=f"write `{instead}`",
        fix=Fix(f"write `{instead}`", ((s.name.span, instead),), safe=False),
    )


ENDS_OF_BLOCKS = ("end", "endif", "endfor", "done", "fi", "esac", "endgroup", "endfabric")
"""Words that end a block in other languages."""
GROUP_IN_OTHER_WORDS = re.compile(r"[A-Za-z_]\w*[ \t]+([A-Za-z_]\w*)\s*(?:\[|x\s*|\*\s*)(\w+)\]?(?=\s*\{)")
"""``scalable_unit su[2] {`` and ``group su x 2 {``."""
COUNTED_HOSTS = re.compile(
    r"(?:host|hosts|server|servers|node|nodes)\s++(\d++)\s*+(?:x|of|\*)?\s*+([A-Za-z]\w*+)"
)
METRICS_ALONE = ("reachability", "rail_alignment", "plane_isolation", "survives", "rail_access", "isolated")
"""Requirements that people write without `require`."""
RAILS = ("rail_optimized", "rail_optimised", "rail_aligned", "rail_alignment", "multi_rail")


def _fault_of_word_around_statement(s: tree.Setting) -> Fault | None:
    """The fault of ``; and diameter <= 2``, which goes on with the statement before, and of ``must connect a
    to b``, which has a word too many."""
    name, text = s.name, s.span.file.text
    before = text[: name.span.start].rstrip(" ")
    if before.endswith(";") and name.name in {*CLAUSES, *OPERATORS}:
        end = SourceSpan(s.span.file, len(before) - 1, len(before))
        message = f"`;` ends the statement before, and no statement begins with `{name.name}`"
        return Fault("E0118", end, message, help="remove the `;`", fix=Fix("remove the `;`", ((end, ""),)))
    first = s.items[0].value if s.items else None
    polite = name.name.lower() in ("please", "the", "then", "must", "all", "new", "add", "a", "an")
    if polite and isinstance(first, tree.PathExpr) and first.bare is not None and s.body is not None:
        gone = SourceSpan(s.span.file, name.span.start, first.span.start)
        message, remove = f"`{name.name}` means nothing before `{first.bare}`", f"remove `{name.name}`"
        return Fault("E0118", name.span, message, help=remove, fix=Fix(remove, ((gone, ""),), safe=False))
    if not isinstance(first, tree.PathExpr) or first.bare not in STARTERS or len(s.items[0].args) == 0:
        return None
    gone = SourceSpan(s.span.file, name.span.start, first.span.start)
    message = f"`{name.name}` means nothing before `{first.bare}`"
    remove = f"remove `{name.name}`"
    return Fault("E0118", name.span, message, help=remove, fix=Fix(remove, ((gone, ""),), safe=False))


def _statement_meant(s: tree.Setting) -> str:
    """The statement that a misnamed one means, as it can be written; "" where that is not known."""
    name = s.name.name.lower()
    if name == "bgp":
        return f"routing {s.span.text}" if "\n" not in s.span.text else ""
    hosts = COUNTED_HOSTS.fullmatch(s.span.text)
    if hosts is not None:
        return f"hosts {hosts[1]} x {hosts[2]}"
    if name in METRICS_ALONE and s.body is None:
        return f"require {s.span.text}"
    if name in RAILS and s.body is None:
        return f"rails {s.items[0].span.text}" if s.items else "rails 8"
    return ""


def _unsupported_statement_fault(s: tree.Stmt, what: str, instead: str) -> Fault:
    span = s.name.span if isinstance(s, (tree.Setting, tree.TierDecl)) else s.span
    return Fault("E0117", span, f"{what}, which this version reads and does not build", help=instead)


def _statement_keyword(s: tree.Stmt) -> str:
    if isinstance(s, tree.Setting):
        return s.name.name
    if isinstance(s, tree.Decl):
        return s.kind.name
    return {
        tree.TierDecl: "tier",
        tree.PlaceStmt: "place",
        tree.PhaseBlock: "phase",
        tree.Use: "use",
        tree.ModelDecl: "model",
        tree.TopologyDecl: "topology",
    }.get(type(s), type(s).__name__.lower())
