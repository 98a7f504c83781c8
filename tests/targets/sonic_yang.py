"""The YANG models of SONiC: a config_db.json turned into the JSON that they describe, and judged by yanglint.

What is turned is driven by the models themselves, so that a table or field they do not know is an error here; YANG alone passes
over it. The mapping is that of sonic-net/sonic-buildimage, src/sonic-yang-mgmt: a key ``a|b`` belongs to the list of the table
that has so many keys, a fixed container stays one.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'[^\']*\'|[{};]|(?:(?!//|/\*)[^\s{};"\'])+', re.S)
NUMBERS = {"int8", "int16", "int32", "uint8", "uint16", "uint32"}

BUILT_ON = {"as-number": "uint32", "port-number": "uint16"}
"""Types of ietf-inet-types (RFC 6991), which yanglint brings along, that are numbers."""


class Unknown(Exception):
    """A table, entry or field that no model has."""


@dataclass
class Statement:
    """A statement of YANG."""

    word: str
    value: str
    inner: list[Statement] = field(default_factory=list)

    def all(self, *words: str) -> list[Statement]:
        return [s for s in self.inner if s.word in words]

    def one(self, word: str) -> Statement | None:
        return next((s for s in self.inner if s.word == word), None)


def parse(text: str) -> Statement:
    """A module."""
    tokens = [t for t in TOKEN.findall(text) if not t.startswith(("//", "/*"))]
    root, at = Statement("", ""), 0
    stack = [root]
    while at < len(tokens):
        if tokens[at] == "}":
            stack.pop()
            at += 1
            continue
        word, words = tokens[at], []
        at += 1
        while tokens[at] not in "{};":
            words.append(tokens[at])
            at += 1
        value = "".join(w[1:-1] if w[0] in "\"'" else w for w in words if w != "+")
        made = Statement(word, value)
        stack[-1].inner.append(made)
        if tokens[at] == "{":
            stack.append(made)
        at += tokens[at] != "}"
    return root.inner[0]


class Models:
    """All modules of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules = {m.value: m for m in (parse(p.read_text()) for p in sorted(folder.glob("*.yang")))}
        self.tables: dict[str, tuple[str, Statement]] = {}
        for name, module in self.modules.items():
            for top in module.all("container"):
                for table in top.all("container"):
                    self.tables.setdefault(table.value, (f"{name}:{top.value}", table))

    # ------------------------------------------------------------ schema
    def home(self, module: Statement, name: str) -> tuple[Statement, str]:
        """The module that a prefixed name is of, and the bare name."""
        prefix, _, bare = name.rpartition(":")
        for i in module.all("import"):
            if prefix and i.one("prefix").value == prefix:  # type: ignore[union-attr]
                return self.modules.get(i.value, module), bare
        return module, bare

    def leaves(self, module: Statement, node: Statement) -> dict[str, tuple[Statement, Statement]]:
        """Leaves of a node with those of the groupings that it uses, each with its module."""
        out = {s.value: (module, s) for s in node.all("leaf", "leaf-list")}
        for u in node.all("uses"):
            there, bare = self.home(module, u.value)
            out |= self.leaves(there, next(g for g in there.all("grouping") if g.value == bare))
        for c in node.all("choice"):
            for case in c.all("case"):
                out |= self.leaves(module, case)
        return out

    def base(self, module: Statement, leaf: Statement) -> str:
        """The built-in type of a leaf."""
        kind = leaf.one("type")
        assert kind is not None
        there, bare = self.home(module, kind.value)
        for t in there.all("typedef"):
            if t.value == bare:
                return self.base(there, t)
        return BUILT_ON.get(bare, bare)

    # ------------------------------------------------------------ data
    def value(self, module: Statement, leaf: Statement, given: object) -> object:
        """A value as RFC 7951 writes it."""
        if leaf.word == "leaf-list":
            many = given if isinstance(given, list) else str(given).split(",")
            return [self.plain(self.base(module, leaf), v) for v in many]
        return self.plain(self.base(module, leaf), given)

    @staticmethod
    def plain(base: str, given: object) -> object:
        if base in NUMBERS and re.fullmatch(r"-?\d+", str(given)):
            return int(str(given))
        return {"true": True, "false": False}.get(str(given), given) if base == "boolean" else given

    def entry(self, module: Statement, node: Statement, fields: dict[str, Any], where: str) -> dict[str, Any]:
        """Fields of one entry."""
        known = self.leaves(module, node)
        out = {}
        for name, given in fields.items():
            if name not in known:
                raise Unknown(f"{where}: {name}")
            out[name] = self.value(*known[name], given)
        return out

    def mapped(self, config: dict[str, Any]) -> dict[str, Any]:
        """The document that the models describe."""
        out: dict[str, Any] = {}
        for name, rows in config.items():
            if name not in self.tables:
                raise Unknown(name)
            top, table = self.tables[name]
            module = self.modules[top.split(":")[0]]
            made: dict[str, Any] = {}
            for key, fields in rows.items():
                fixed = next((c for c in table.all("container") if c.value == key), None)
                if fixed is not None:
                    made[key] = self.entry(module, fixed, fields, f"{name}|{key}")
                    continue
                parts = key.split("|")
                lists = [x for x in table.all("list") if len(x.one("key").value.split()) == len(parts)]  # type: ignore[union-attr]
                lists = [x for x in lists if not x.value.startswith("VOQ") and "TEMPLATE" not in x.value] or lists
                if not lists:
                    raise Unknown(f"{name}|{key}")
                row = self.row(module, lists[0], dict(zip(lists[0].one("key").value.split(), parts, strict=True)), fields)  # type: ignore[union-attr]
                made.setdefault(lists[0].value, []).append(row)
            out.setdefault(top, {})[name] = made
        return out

    def row(self, module: Statement, node: Statement, keys: dict[str, str], fields: dict[str, Any]) -> dict[str, Any]:
        """A row of a list; that of a map has a list of pairs inside."""
        where = f"{node.value}|{'|'.join(keys.values())}"
        out = self.entry(module, node, keys, where)
        pairs = next(iter(node.all("list")), None)
        if pairs is None:
            return out | self.entry(module, node, fields, where)
        first, second = pairs.all("leaf")
        out[pairs.value] = [self.entry(module, pairs, {first.value: k, second.value: v}, where) for k, v in fields.items()]
        return out


@cache
def models(folder: Path) -> Models:
    """The models, read once."""
    return Models(folder)


def judge(yanglint: str, folder: Path, place: Path, *configs: dict[str, Any]) -> str:
    """What yanglint says against any of these config_db.json, "" if nothing. Unknown names are told at once."""
    known = models(folder)
    paths = []
    for number, config in enumerate(configs):
        path = place / f"mapped{number}.json"
        path.write_text(json.dumps(known.mapped(config)))
        paths.append(str(path))
    files = [str(p) for p in sorted(folder.glob("sonic-*.yang"))]
    done = subprocess.run(
        [yanglint, "-p", str(folder), "-t", "config", *files, *paths], capture_output=True, text=True, timeout=120, check=False
    )
    wrong = [line for line in done.stderr.splitlines() if "err" in line.lower()]
    return "\n".join(wrong) or f"exit {done.returncode}" if done.returncode else ""
