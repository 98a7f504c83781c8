"""The stack of an LR parser on Lark's tables: which terminals it takes, and what it makes of those that it is given."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from lark.parse_tree_builder import ExpandSingleChild

from tdsl.dataclass import dataclass
from tdsl.syntax.scanner import END, Token
from tdsl.syntax.tables import Passed, Rule, Tables


@dataclass(slots=True)
class Stack:
    """States, and the values of all but the first. Nothing is reduced before it is known that a terminal can be shifted then."""

    tables: Tables
    symbol: str
    states: list[int] = field(init=False)
    values: list[Any] = field(default_factory=list)
    _table: Any = field(init=False)
    _makers: Any = field(init=False)
    _last: int = field(init=False)

    def __post_init__(self) -> None:
        conf = self.tables.lark.parse_interactive(start=self.symbol).parser_state.parse_conf
        self.states = [conf.start_state]
        self._table, self._makers, self._last = conf.states, conf.callbacks, conf.end_state

    def choices(self) -> Any:
        """The terminals and rules for which the state at the top has an action; of a terminal it may fail later."""
        return self._table[self.states[-1]]

    def between(self) -> bool:
        """Whether the parser stands between statements."""
        return "stmt" in self.choices()

    def floor(self) -> int:
        """How many values belong to what encloses the statement at hand."""
        at = len(self.states)
        while "stmt" not in self._table[self.states[at - 1]]:
            at -= 1
        return at - 1

    def given_up(self) -> list[Any]:
        """The values of the statement at hand, which are taken off."""
        floor = self.floor()
        lost = self.values[floor:]
        del self.values[floor:]
        del self.states[floor + 1 :]
        return lost

    def expected(self) -> set[str]:
        """Terminals that could stand next."""
        return {kind for kind in self.choices() if (kind.isupper() or kind == END) and self.viable(kind)}

    def viable(self, kind: str) -> bool:
        """Whether the parser would take a terminal now: reductions are tried on the states alone."""
        table, states, passed = self._table, self.states, self.tables.passed
        depth = len(states)
        pushed: list[int] = []
        while True:
            if pushed:
                top, below = pushed[-1], pushed[-2] if len(pushed) > 1 else states[depth - 1]
            else:
                top, below = states[depth - 1], states[depth - 2] if depth > 1 else -1
            _, rule, following = passed.get((below, top, kind)) or self._passed(below, top, kind)
            if rule is None:
                return following is not None
            kept = max(len(pushed) - rule.size, 0)
            depth -= rule.size - (len(pushed) - kept)
            del pushed[kept:]
            goto = table[pushed[-1] if pushed else states[depth - 1]][rule.makes][1]
            if goto == self._last:
                return True
            pushed.append(goto)

    def shift(self, token: Token) -> None:
        """Take a token that can stand here: reduce what it completes, and keep it."""
        states, passed, kind = self.states, self.tables.passed, token.type
        while True:
            top, below = states[-1], states[-2] if len(states) > 1 else -1
            states[-1], rule, following = passed.get((below, top, kind)) or self._passed(below, top, kind)
            if rule is None:
                assert following is not None
                states.append(following)
                self.values.append(token)
                return
            self._reduce(rule)

    def settle(self) -> None:
        """Reduce what is complete: the tables would wait for the next token, and recovery would lose it."""
        only = self.tables.only
        while True:
            if (top := self.states[-1]) not in only:
                actions = set(self._table[top].values())
                only[top] = self._rule(actions.pop()[1]) if len(actions) == 1 else None
            rule = only[top]
            if rule is None or not rule.size:
                return
            self._reduce(rule)

    def end(self) -> Any:
        """What the whole makes, if the text can end here."""
        while self.states[-1] != self._last:
            rule = self._rule(self.choices()["$END"][1])
            assert rule is not None
            self._reduce(rule)
        return self.values[-1]

    def _passed(self, below: int, top: int, kind: str) -> Passed:
        """What a terminal makes of the state at the top: rules of an expression that holds one other only exchange that state."""
        key = below, top, kind
        while True:
            _, following = self._table[top].get(kind, (None, None))
            rule = self._rule(following)
            if rule is None or rule.size != 1 or type(rule.made_by) is not ExpandSingleChild:
                break
            goto = self._table[below][rule.makes][1]
            if goto == self._last:
                break
            top = goto
        found = self.tables.passed[key] = top, rule, None if rule is not None else following
        return found

    def _rule(self, action: Any) -> Rule | None:
        """A rule of Lark's by which an action reduces; None for a state that is shifted to, and where there is no action."""
        if not hasattr(action, "expansion"):
            return None
        return Rule(len(action.expansion), action.origin.name, self._makers[action])

    def _reduce(self, rule: Rule) -> None:
        """Replace the parts of a rule by what they make."""
        states, values, size = self.states, self.values, rule.size
        parts = values[-size:] if size else []
        if size:
            del states[-size:], values[-size:]
        values.append(rule.made_by(parts))
        states.append(self._table[states[-1]][rule.makes][1])
