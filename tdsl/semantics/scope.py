"""Names in a block: values, functions and members, looked up outward. Values are computed when first asked
for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field

from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.values import Value
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

WAITING, RUNNING, DONE, FAILED = range(4)


@dataclass(slots=True)
class Binding:
    """A named value: how to compute it, or what it is. ``what`` is param, let, for, def or index."""

    what: str
    span: SourceSpan
    compute: Callable[[], Value] | None = None
    value: Value = None
    state: int = WAITING
    node: tree.Let | tree.Param | None = None  # its statement, where sizes may be read from it
    fault: Fault | None = None  # why it has no value


@dataclass(slots=True)
class Scope:
    """One block's names. ``excused`` are names in statements that did not parse: their absence is not
    reported. ``of_file`` are names at the top of other files that add to the block, by the name of the file:
    text of such a file sees its own."""

    parent: Scope | None = None
    names: dict[str, Binding] = field(default_factory=dict)
    excused: set[str] = field(default_factory=set)
    of_file: dict[str, Scope] = field(default_factory=dict)

    def child(self) -> Scope:
        """A block inside this one."""
        return Scope(self)

    def find(self, name: str, at_text: SourceSpan | None = None) -> Binding | None:
        """The binding a name has here, or in a block around. ``at_text`` is where the name stands."""
        at: Scope | None = self
        while at is not None:
            found = at.names.get(name)
            if found is None and at_text is not None and at_text.file.name in at.of_file:
                found = at.of_file[at_text.file.name].find(name)
            if found is not None:
                return found
            at = at.parent
        return None

    def is_excused(self, name: str) -> bool:
        """Whether the name stands in text that did not parse."""
        at: Scope | None = self
        while at is not None:
            if name in at.excused:
                return True
            at = at.parent
        return False

    def visible(self) -> Iterator[str]:
        """All value names seen from here."""
        at: Scope | None = self
        while at is not None:
            yield from at.names
            at = at.parent

    def define(self, name: str, binding: Binding) -> None:
        """Bind a name in this block; two values of one name in a block are a fault."""
        old = self.names.get(name)
        if old is not None:
            raise Fault(
                "E0104",
                binding.span,
                f"`{name}` is already defined in this block",
                labels=[(old.span, "first defined here")],
                help=f"give one of them another name, such as `{name}_2`, or delete one",
            )
        self.names[name] = binding

    def set(self, name: str, value: Value, span: SourceSpan, what: str = "let") -> None:
        """Bind a name to a value that is known."""
        self.names[name] = Binding(what, span, None, value, DONE)

    def value(self, name: str, span: SourceSpan) -> Value:
        """What a name is worth; a circle of definitions is a fault, what rests on a fault is excused."""
        binding = self.find(name, span)
        if binding is None:
            raise KeyError(name)
        if binding.state == DONE:
            return binding.value
        if binding.state == FAILED:
            if binding.fault is not None and not binding.fault.reported:
                raise binding.fault  # who met it first only tried the value
            raise Excused
        if binding.state == RUNNING:
            binding.state = FAILED
            raise Fault(
                "E0114",
                binding.span,
                f"`{name}` is defined in terms of itself",
                labels=[(span, "needed again here")],
                help=f"give `{name}` a value that does not depend on it, such as `4`",
            )
        binding.state = RUNNING
        try:
            assert binding.compute is not None
            binding.value = binding.compute()
        except (Fault, Excused) as fault:
            binding.state = FAILED
            binding.fault = fault if isinstance(fault, Fault) else None
            raise
        except RecursionError:
            binding.state = FAILED
            raise Fault(
                "E0116",
                binding.span,
                f"`{name}` needs a value that needs another, and so on: too many to follow",
                help="write such a chain as one list, `[… for i in 0..n]`, or with fewer steps",
            ) from None
        binding.state = DONE
        return binding.value
