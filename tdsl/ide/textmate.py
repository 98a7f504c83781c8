"""The TextMate grammar of .fab, made from the grammar's terminals and the one list of words.

TextMate takes the leftmost match and, of equal ones, the first in the list; the scanner goes by the same
order, so its terminals serve as they are. Editors read it as ``grammar/vscode/syntaxes/fab.tmLanguage.json``;
the lexer for Pygments is made of the same rules. https://macromates.com/manual/en/language_grammars
"""

from __future__ import annotations

from typing import Any

from tdsl.syntax import grammar, keywords

NAME = "[A-Za-z_][A-Za-z0-9_]*"
NUMERIC = {
    "NET": "constant.numeric.address",
    "DIMS": "constant.numeric.dimensions",
    "RATIO": "constant.numeric.ratio",
    "MONEY": "constant.numeric.money",
    "QUANTITY": "constant.numeric.quantity",
    "PERCENT": "constant.numeric.percent",
    "NUMBER": "constant.numeric",
}
SIGNS = {
    **dict.fromkeys(("LBRACE", "RBRACE", "LSQB", "RSQB", "LPAR", "RPAR"), "punctuation.section"),
    **dict.fromkeys(("COMMA", "COLON", "DOT"), "punctuation.separator"),
    "EQUAL": "keyword.operator.assignment",
    "CMP": "keyword.operator.comparison",
    "RANGE": "keyword.operator.range",
    "QMARK": "keyword.operator.hole",
}
VALUED = {"x", "at", "from", "any", "under", "through", "shift", "degree", "seed"}
"""Clauses with a value after them; without one the word is a name."""


def textmate_grammar() -> dict[str, Any]:
    """The grammar, in the form of its JSON file."""
    found = grammar.load_grammar_tables()
    patterns: list[dict[str, Any]] = []
    for terminal in sorted(found.lark.terminals, key=grammar.terminal_scan_order):
        name, regex = terminal.name, terminal.pattern.to_regexp()
        if terminal.name in found.words.values() or name in ("BLANK", "_END"):
            continue
        if name == "NAME":
            patterns += word_rules()
        elif name == "COMMENT":
            patterns.append(scoped_rule(regex, "comment.line.number-sign"))
        elif name == "STRING":
            inner = {"patterns": [scoped_rule(r"\{[^{}]*\}", "variable.other.interpolated")]}
            patterns.append(scoped_rule(regex, "string.quoted.double") | {"captures": {"0": inner}})
            patterns.append(scoped_rule(r'"[^\n]*', "invalid.illegal.string"))
        elif name == "DOT":
            patterns.append(
                {
                    "match": rf"(\.)({NAME})?",
                    "captures": scopes_of_groups("punctuation.accessor", "variable.other.member"),
                }
            )
        else:
            patterns.append(scoped_rule(regex, NUMERIC.get(name) or SIGNS.get(name, "keyword.operator")))
    patterns += [
        scoped_rule(";", "punctuation.terminator"),
        scoped_rule(r"'[^'\n]*'|[^\x00-\x7f]+|&&|\|\|", "invalid.illegal"),
    ]
    return {
        "information_for_contributors": [
            "Made by scripts/editor-grammars: change grammar/fab.lark or tdsl/syntax/keywords.py."
        ],
        "name": "fab",
        "scopeName": "source.fab",
        "fileTypes": ["fab"],
        "patterns": patterns,
    }


def word_rules() -> list[dict[str, Any]]:
    """Rules of words. Each may also be a name: before ``=``, ``.`` or ``[`` (unless the word takes a list) it
    is one."""
    kinds = any_of_words(keywords.KIND_WORDS)
    named = any_of_words({"param", "let", "def", "topology"})
    statements, settings = any_of_words(keywords.STATEMENTS), any_of_words(keywords.SETTINGS)
    clauses = any_of_words(set(keywords.CLAUSES) - VALUED - {"as"})
    follow = r"(?:in|and|or|most)\b"  # `for x in ...`, `oversubscription at most 2:1`: a name
    head = r"(?:^[ \t]*|(?<=[{;])[ \t]*)"
    plain = r"(?![ \t]*(?:=(?!=)|\.(?!\.)))"
    behind_pattern = r"(?=[ \t]*(?:$|[{#]|x\b|via\b|where\b|shift\b|degree\b|seed\b))"
    # In a setting, `switch M as leaf`, it is a name.
    renamed = scoped_rule(r"(?<=[ \t])as(?=[ \t]+[A-Za-z_])", "keyword.other.clause")
    model = ("keyword.declaration", "storage.type", "entity.name.type")
    use = {
        "begin": rf"{head}(use)(?=[ \t]+{NAME}(?:\.{NAME})*[ \t]*\()",
        "beginCaptures": scopes_of_groups("keyword.control"),
        "end": r"\)",
        "endCaptures": {"0": {"name": "punctuation.section.fab"}},
        "patterns": [renamed, {"include": "$self"}],
    }
    return [
        use,
        _grouped_rule(rf"{head}(model)[ \t]+({NAME})[ \t]+({NAME})", *model),
        _grouped_rule(rf"{head}({named})[ \t]+({NAME})", "keyword.declaration", "entity.name"),
        _grouped_rule(
            rf"{head}({kinds})[ \t]+(?!x\b)({NAME})(?=[ \t]*(?:[\"\[:{{;#}}]|$))",
            "storage.type",
            "entity.name",
        ),
        _grouped_rule(rf"{head}({kinds})(?=[ \t]*(?:[\"(:\[]|$))", "storage.type"),
        _grouped_rule(rf"{head}({statements}){plain}(?=[ \t]|$)", "keyword.control"),
        _grouped_rule(rf"{head}({settings})(?=[ \t]+[^ \t=.])", "support.type.property-name"),
        scoped_rule(rf"\b({any_of_words(keywords.OPERATORS)}){plain}", "keyword.operator.word"),
        scoped_rule(rf"\b({any_of_words({'if', 'else', 'for'})}){plain}", "keyword.control"),
        _grouped_rule(
            rf"\b({any_of_words({'shift', 'degree', 'seed'})})[ \t]+(?!{follow})({NAME})",
            "keyword.other.clause",
            "variable.other",
        ),
        scoped_rule(rf"\b{any_of_words(VALUED)}(?=[ \t]+(?!{follow})[\w(\[$\"-])", "keyword.other.clause"),
        scoped_rule(rf"(?:(?<=[ \t)\]])|^){clauses}{plain}(?=[ \t(\[]|$)", "keyword.other.clause"),
        scoped_rule(rf"({any_of_words(keywords.PATTERNS)}){behind_pattern}", "support.function"),
        scoped_rule(NAME, "variable.other"),
    ]


def _grouped_rule(regex: str, *scopes: str) -> dict[str, Any]:
    """A match whose groups have a scope each."""
    return {"match": regex, "captures": scopes_of_groups(*scopes)}


def any_of_words(some: Any) -> str:
    """Any of some words, whole."""
    return "(?:" + "|".join(sorted(some)) + r")\b"


def scoped_rule(regex: str, scope: str) -> dict[str, Any]:
    """One match, one scope."""
    return {"match": regex, "name": f"{scope}.fab"}


def scopes_of_groups(*names: str) -> dict[str, Any]:
    """Scopes of the groups of a match."""
    return {str(i): {"name": f"{name}.fab"} for i, name in enumerate(names, 1)}
