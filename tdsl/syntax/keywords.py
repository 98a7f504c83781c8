"""The one list of the language's words. Editor grammars are made from it, and a test holds it to
``grammar/fab.lark``.

All of them are contextual: each may also be a name.
"""

from __future__ import annotations

from tdsl.syntax.patterns import CONNECT_PATTERNS

KINDS: dict[str, tuple[str, ...]] = {
    "scope": ("fabric", "cluster"),
    "group": ("group", "pod", "plane", "rack", "site", "cube", "cell", "hall", "row"),
    "device": ("host", "chip", "switch", "ocs", "panel"),
    "part": ("port", "numa", "pcie"),
}
"""Words that declare something, by what they declare."""

STATEMENTS: tuple[str, ...] = (
    "use", "param", "let", "def", "model", "topology", "job", "connect", "circuit", "omit", "naming",
    "extend", "override", "place", "require", "report", "phase", "if", "else", "for", "tier",
)  # fmt: skip
"""Words that begin a statement (``else`` begins a branch)."""

CLAUSES: tuple[str, ...] = (
    "as", "to", "via", "where", "with", "of", "by", "at", "from", "x", "any", "under", "through", "intact",
    "active", "network", "total", "all", "among", "over", "shift", "degree", "seed", "uneven",
)  # fmt: skip
"""Words inside a statement."""

OPERATORS: tuple[str, ...] = ("and", "or", "not", "in")
"""Operators that are words; ``if``, ``else`` and ``for`` serve in expressions too."""

PATTERNS: tuple[str, ...] = tuple(CONNECT_PATTERNS)
"""Patterns of a connect. The grammar takes any name there."""

SETTINGS: tuple[str, ...] = (
    "hosts", "chips", "rails", "planes", "pods", "clos", "leaf", "spine", "torus", "dragonfly",
    "oversubscription", "split", "layer", "role", "height", "power", "source", "type", "cage", "connector",
    "name", "os", "netdev", "alias", "rate", "class", "medium", "cable", "length", "colour", "minimize",
    "distance", "pitch", "tray", "slack", "address", "routing", "unnumbered", "asn", "loopback",
    "management", "bmc", "vrf", "bfd", "graceful_restart", "mtu", "roce", "dscp", "priority", "cnp", "ecn",
    "pfc", "on", "gen", "lanes", "bus", "device", "arch", "vendor", "family", "cpu_model", "cores", "wrap",
    "groups", "routers", "router", "local", "global", "units", "fact", "down", "up", "partition", "full",
    "limited", "ipoib", "subnet_manager", "nos", "auto", "switches", "transport", "bundle", "carries",
    "across", "arc", "twist", "forwards", "purpose", "risk", "feed", "racks", "fails", "mtbf", "fit",
    "repair", "sold", "basis",
)  # fmt: skip
"""Names of settings worth colouring and completing. The grammar takes any name."""

TEXT_SETTINGS: tuple[str, ...] = (
    "os", "name", "netdev", "alias", "bus", "device", "arch", "vendor", "family", "cpu_model", "interface",
)  # fmt: skip
"""Settings of models whose value is a text."""

TYPES: tuple[str, ...] = (
    "int", "ratio", "string", "bool", "model", "ports", "path", "pattern", "table", "list", "range", "dims",
    "rate", "length", "time", "power", "mass", "money", "size", "units",
)  # fmt: skip
"""Names of types."""

INSTEAD_OF: dict[str, str] = {
    **dict.fromkeys(
        ("switches", "bridge", "router", "routers", "tor", "sw", "leaf_switch", "leafs", "leaves"), "switch"
    ),
    **dict.fromkeys(("hosts", "server", "servers", "node", "nodes", "compute", "machine"), "host"),
    **dict.fromkeys(("link", "links", "wire", "join", "edge"), "connect"),
    **dict.fromkeys(("assert", "ensure", "must", "expect", "verify", "constraint", "requires"), "require"),
    **dict.fromkeys(("var", "const", "val", "define", "set", "int"), "let"),
    **dict.fromkeys(("delete", "remove", "exclude", "skip", "drop", "without"), "omit"),
    **dict.fromkeys(("print", "show", "output", "display", "measure"), "report"),
    **dict.fromkeys(("workload", "training", "training_job", "experiment"), "job"),
    **dict.fromkeys(("pods",), "pod"),
    **dict.fromkeys(("groups",), "group"),
    **dict.fromkeys(("import", "include", "from"), "use"),
    **dict.fromkeys(("rename", "label", "names"), "naming"),
    **dict.fromkeys(("parameter", "arg", "argument", "input", "option", "variable"), "param"),
    **dict.fromkeys(("nic", "iface", "interface", "interfaces", "ports"), "port"),
    **dict.fromkeys(("put", "locate", "mount", "install", "position"), "place"),
    "network": "fabric",
}
"""Words of other languages that begin a statement, in small letters, and the word here."""

CONTINUING: frozenset[str] = frozenset({"to", "via", "where", "with", "and", "or"})
"""A line that begins with one of these continues the one before."""

KIND_WORDS: frozenset[str] = frozenset(word for words in KINDS.values() for word in words)
"""All words that declare something."""

STARTERS: frozenset[str] = KIND_WORDS | frozenset(STATEMENTS) - {"else"}
"""All words that begin a statement."""

GRAMMAR_WORDS: frozenset[str] = KIND_WORDS | frozenset(STATEMENTS) | frozenset(CLAUSES) | frozenset(OPERATORS)
"""All words the grammar knows."""

INFIX_WORDS: frozenset[str] = frozenset({"and", "or", "not", "in", "if", "else", "for", "of", "as"})
"""Words that may stand between two operands inside brackets."""
