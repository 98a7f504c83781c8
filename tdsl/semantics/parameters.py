"""Parameters: their default, what ``--set`` says, their type and their guard."""

from __future__ import annotations

from tdsl.diagnostic import Diagnostics
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.operators import require_type, truth
from tdsl.semantics.ranges import Settings, domain
from tdsl.semantics.scope import FAILED, Binding, Scope
from tdsl.semantics.values import Value, a_type, fits, text_of, type_name
from tdsl.source import Span
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_expression


def define_param(scope: Scope, s: tree.Param, evaluator: Evaluator, settings: Settings) -> Value:
    """Bind the parameter and give its value. Raises Fault if what is given does not fit its type or guard.

    Where the settings ask for domains, what it may be is added to them.
    """
    name = s.name.name
    scope.define(name, Binding("param", s.name.span, state=FAILED))
    if settings.domains is not None:
        settings.domains.append(domain(scope, s, evaluator))
    given = settings.texts.get(name)
    if name in settings.values:
        value = settings.values[name]
    else:
        value = evaluator.evaluate(s.default, scope) if given is None else _given(given, s, scope, evaluator)
    at = s.default.span
    said = f" (given by --set {name}={given})" if given is not None else ""
    if s.type is not None:
        require_type(value, s.type, at)
    elif given is not None and not fits(value, type_name(evaluator.evaluate(s.default, scope))):
        raise Fault("E0103", at, f"`{name}` is {a_type(evaluator.evaluate(s.default, scope))}{said}, not {a_type(value)}")
    if s.guard is not None:
        inner = scope.child()
        inner.set(name, value, s.name.span, "param")
        if not truth(evaluator.evaluate(s.guard, inner), s.guard.span):
            raise Fault(
                "E0110", s.guard.span, f"`{name}` is {text_of(value)}{said}, and this must hold",
                labels=[] if given is not None else [(at, "its default")], help="choose a value that the guard allows",
            )  # fmt: skip
    scope.names.pop(name)
    scope.set(name, value, s.name.span, "param")
    return value


def _given(text: str, s: tree.Param, scope: Scope, evaluator: Evaluator) -> Value:
    """What ``--set`` says: an expression, or the bare text where the parameter is a string."""
    if s.type is not None and s.type.name == "string" and not text.startswith('"'):
        return text
    local = Diagnostics()
    e = parse_expression(text, "--set", local)
    if e is None:
        raise Fault("E0103", s.name.span, f"--set {s.name.name}={text} is no value", help=f"write `--set {s.name.name}=4`")
    try:
        return evaluator.evaluate(e, scope)
    except Fault as fault:
        raise Fault("E0103", s.name.span, f"--set {s.name.name}={text}: {fault.diagnostic.message}") from None
    except Excused:
        raise


def text_span(span: Span) -> str:
    """The text of a span with blanks made single."""
    return " ".join(span.text.split())
