"""A parse that Lark's LALR parser has begun, with what recovery needs: what it takes next, and how to give up
a statement."""

from __future__ import annotations

from copy import copy
from typing import Any

from lark import Lark
from lark.parse_tree_builder import ExpandSingleChild
from lark.parsers.lalr_analysis import Shift

from tdsl.syntax.scanner import END, Token


class PartialParse:
    """Lark's parser state, one token at a time. The grammar is one in which ``stmt`` can begin only between
    statements.

    ``values`` are those of the parser's stack: tokens and parts of the tree, outermost first.
    """

    __slots__ = ("_builds", "_end", "_known", "_only", "_state", "_states", "_table", "values")

    def __init__(
        self, lark: Lark, symbol: str, only: dict[int, Any], known: dict[int, tuple[int, str, Any]]
    ) -> None:
        """``symbol`` is the start of the grammar. Kept between the parses of one grammar: ``only``, the rules
        of `settle`, and ``known``, what a reduction asks of a rule."""
        self._only, self._known = only, known
        self._builds = True
        self._state: Any = lark.parse_interactive(start=symbol).parser_state
        self._states: list[int] = self._state.state_stack
        self.values: list[Any] = self._state.value_stack
        self._end: int = self._state.parse_conf.end_state
        self._table: Any = self._state.parse_conf.states

    def choices(self) -> Any:
        """The terminals and rules for which the state at the top has an action; of a terminal it may fail
        later."""
        return self._table[self._states[-1]]

    def is_between_statements(self) -> bool:
        """Whether a statement can begin here."""
        return "stmt" in self.choices()

    def statement_start(self) -> int:
        """How many values belong to what encloses the statement that has begun."""
        at = len(self._states)
        while "stmt" not in self._table[self._states[at - 1]]:
            at -= 1
        return at - 1

    def copy_at_statement_start(self) -> PartialParse | None:
        """A parse of its own that stands where the statement that has begun begins; None in an expression. It
        makes no tree: the parts of one are lists to which a parse appends."""
        if "stmt" not in self._table[self._states[0]]:
            return None
        start, other = self.statement_start(), copy(self)
        other._states, other.values = self._states[: start + 1], [None] * start
        other._builds = False
        return other

    def give_up_statement(self) -> list[Any]:
        """Take the values of the statement that has begun off the stack."""
        start = self.statement_start()
        lost = self.values[start:]
        del self.values[start:]
        del self._states[start + 1 :]
        return lost

    def accepted_terminals(self) -> set[str]:
        """Terminals that can follow."""
        return {kind for kind in self.choices() if (kind.isupper() or kind == END) and self.accepts(kind)}

    def accepts(self, kind: str) -> bool:
        """Whether a terminal can follow. Lark's own method copies the stack; this tries reductions on the
        states alone."""
        table, states = self._table, self._states
        first = table[states[-1]].get(kind)
        if first is None or first[0] is Shift:
            return first is not None
        depth = len(states)
        pushed: list[int] = []
        while True:
            entry = table[pushed[-1] if pushed else states[depth - 1]].get(kind)
            if entry is None or entry[0] is Shift:
                return entry is not None
            size, origin, _ = self._known.get(id(entry[1])) or self._learn(entry[1])
            own = min(size, len(pushed))
            if own:
                del pushed[-own:]
            depth -= size - own
            goto = table[pushed[-1] if pushed else states[depth - 1]][origin][1]
            if goto == self._end:
                return True
            pushed.append(goto)

    def feed(self, token: Token) -> Any:
        """Take a token that can follow; the tree, if the token is the end of the text."""
        if token.type == "$END":
            return self._state.feed_token(token, True)
        table, states, kind = self._table, self._states, token.type
        while True:
            action, target = table[states[-1]][kind]
            if action is Shift:
                states.append(target)
                self.values.append(token)
                return None
            self._reduce(target)

    def _learn(self, rule: Any) -> tuple[int, str, Any]:
        """What a reduction asks of a rule: its size, its name, and what makes its value; None where that is
        the one that is there."""
        size, made = len(rule.expansion), self._state.parse_conf.callbacks[rule]
        stays = size == 1 and isinstance(made, ExpandSingleChild)
        known = self._known[id(rule)] = size, rule.origin.name, None if stays else made
        return known

    def _reduce(self, rule: Any) -> None:
        """Put what a rule makes of the values at the top in their place."""
        size, origin, make = self._known.get(id(rule)) or self._learn(rule)
        states, values = self._states, self.values
        if size == 1:  # most are
            if make is not None and self._builds:
                values[-1] = make([values[-1]])
            states[-1] = self._table[states[-2]][origin][1]
            return
        parts = values[-size:] if size else []
        if size:
            del states[-size:], values[-size:]
        values.append(make(parts) if self._builds else None)
        states.append(self._table[states[-1]][origin][1])

    def settle(self) -> None:
        """Reduce what is complete: Lark would wait for the next token, and recovery would lose it."""
        while True:
            top = self._states[-1]
            if top not in self._only:
                actions = {action for _, action in self._table[top].values()}
                self._only[top] = actions.pop() if len(actions) == 1 else None
            rule = self._only[top]
            if not getattr(rule, "expansion", None):
                return
            self._reduce(rule)
