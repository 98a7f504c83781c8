"""A parse that Lark's LALR parser has begun, with what recovery needs: what it takes next, and how to give up
a statement."""

from __future__ import annotations

from typing import Any

from lark import Lark

from tdsl.syntax.scanner import END, Token


class PartialParse:
    """Lark's parser state, one token at a time. The grammar is one in which ``stmt`` can begin only between
    statements.

    ``values`` are those of the parser's stack: tokens and parts of the tree, outermost first.
    """

    __slots__ = ("_only", "_state", "_states", "_table", "values")

    def __init__(self, lark: Lark, symbol: str, only: dict[int, Any]) -> None:
        """``symbol`` is the start of the grammar; ``only`` keeps the rules of `settle` between the parses of
        one grammar."""
        self._state: Any = lark.parse_interactive(start=symbol).parser_state
        self._states: list[int] = self._state.state_stack
        self.values: list[Any] = self._state.value_stack
        self._table: Any = self._state.parse_conf.states
        self._only = only

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
        depth = len(states)
        pushed: list[int] = []
        while True:
            _, action = table[pushed[-1] if pushed else states[depth - 1]].get(kind, (None, None))
            if not hasattr(action, "expansion"):
                return action is not None
            kept = max(len(pushed) - len(action.expansion), 0)
            depth -= len(action.expansion) - (len(pushed) - kept)
            del pushed[kept:]
            goto = table[pushed[-1] if pushed else states[depth - 1]][action.origin.name][1]
            if goto == self._state.parse_conf.end_state:
                return True
            pushed.append(goto)

    def feed(self, token: Token) -> Any:
        """Take a token that can follow; the tree, if the token is the end of the text."""
        return self._state.feed_token(token, token.type == "$END")

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
            parts = self.values[-len(rule.expansion) :]
            del self._states[-len(rule.expansion) :], self.values[-len(rule.expansion) :]
            self.values.append(self._state.parse_conf.callbacks[rule](parts))
            self._states.append(self._table[self._states[-1]][rule.origin.name][1])
