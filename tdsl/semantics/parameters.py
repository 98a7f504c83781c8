"""Parameters: their default, what ``--set`` says, their type and their guard."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix, Severity
from tdsl.findings.source import SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.operators import require_bool, require_type
from tdsl.semantics.scope import FAILED, RUNNING, Binding, Scope
from tdsl.semantics.values import Value, a_type, fits_type, text_of, type_name
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_expression

if TYPE_CHECKING:
    from tdsl.semantics.ranges import ParameterSettings


def define_param(scope: Scope, s: tree.Param, evaluator: Evaluator, settings: ParameterSettings) -> Value:
    """Bind the parameter and give its value. Raises Fault if what is given does not fit its type or guard.

    Where the settings ask for domains, what it may be is added to them.
    """
    from tdsl.semantics.ranges import parameter_domain

    name = s.name.name
    binding = Binding("param", s.name.span, state=FAILED)
    scope.define(name, binding)
    _refuse_range_as_default(s)
    given = settings.texts.get(name)
    if settings.domains is not None:
        _value_of_others(binding, lambda: evaluator.evaluate(s.default, scope))
        settings.domains.append(parameter_domain(scope, s, evaluator))
    value = _value_of_parameter(binding, s, scope, evaluator, settings)
    at = settings.phase[name].span if given is None and name in settings.phase else s.default.span
    said = f" (given by --set {name}={given})" if given is not None else ""
    if s.type is not None:
        require_type(value, s.type, at)
    elif (given is not None or name in settings.phase) and not fits_type(
        value, type_name(evaluator.evaluate(s.default, scope))
    ):
        raise Fault(
            "E0103",
            at,
            f"`{name}` is {a_type(evaluator.evaluate(s.default, scope))}{said}, not {a_type(value)}",
        )
    if s.guard is not None:
        inner = scope.child()
        inner.set(name, value, s.name.span, "param")
        if not require_bool(evaluator.evaluate(s.guard, inner), s.guard.span):
            where = "given here" if name in settings.phase else "its default"
            raise Fault(
                "E0110",
                s.guard.span,
                f"`{name}` is {text_of(value)}{said}, and this must hold",
                labels=[] if given is not None else [(at, where)],
                help=f"give a value for which `{s.guard.span.text}` holds: `--set {name}=…`, or another "
                "default",
            )
    scope.names.pop(name)
    scope.set(name, value, s.name.span, "param")
    scope.names[name].node = s
    return value


def _refuse_range_as_default(s: tree.Param) -> None:
    """Raise Fault for ``param n: int = 8 in 1..32``, a range in the place of a guard."""
    found = re.fullmatch(r"(\w+)\s+in\s+\[?(\w+)\s*(?:\.\.|,)\s*(\w+)\]?", s.default.span.text)
    if found is None:
        return
    untyped = "int" if found[1].isdigit() else "bool"  # `param small = hosts in 1..4` is a bool
    if (s.type.name if s.type is not None else untyped) == "bool":
        return
    new = f"{found[1]} where {found[2]} <= {s.name.name} <= {found[3]}"
    raise Fault(
        "E0103",
        s.default.span,
        "`in` asks whether a value is in a range, and gives a bool; limits of a parameter follow `where`",
        help=f"write `{new}`",
        fix=Fix(f"write `{new}`", ((s.default.span, new),), safe=False),
    )


def _value_of_parameter(
    binding: Binding, s: tree.Param, scope: Scope, evaluator: Evaluator, settings: ParameterSettings
) -> Value:
    """The value of one combination, else what ``--set`` says, else what the phase gives, else the default."""
    name = s.name.name
    if name in settings.values:
        return settings.values[name]
    given = settings.texts.get(name)
    if given is not None:
        return _value_of_others(binding, lambda: _parameter_value_from_text(given, s, scope, evaluator))
    written = settings.phase.get(name, s.default)
    return _value_of_others(binding, lambda: evaluator.evaluate(written, scope))


def _value_of_others(binding: Binding, compute: Callable[[], Value]) -> Value:
    """A value that the parameter itself is no part of: that is a circle, and not what rests on another
    fault."""
    binding.state = RUNNING
    try:
        return compute()
    finally:
        binding.state = FAILED


def _parameter_value_from_text(text: str, s: tree.Param, scope: Scope, evaluator: Evaluator) -> Value:
    """What ``--set`` says: an expression, or the bare text where the parameter is a string."""
    if s.type is not None and s.type.name == "string" and not text.startswith('"'):
        if not text.isprintable():
            raise Fault(
                "E0103",
                s.name.span,
                f"--set {s.name.name}={text!a}: a text has no line ends, tabs and hidden characters",
            )
        return text
    local = Diagnostics()
    e = parse_expression(text, "--set", local)
    if e is None:
        raise Fault(
            "E0103",
            s.name.span,
            f"--set {s.name.name}={text} is not a value",
            help=f"write `{' '.join(f'--set {part}' for part in several)}`"
            if len(several := f"{s.name.name}={text}".split(",")) > 1 and all("=" in part for part in several)
            else f"write `--set {s.name.name}=4`",
        )
    try:
        return evaluator.evaluate(e, scope)
    except Fault as fault:
        default = s.default.span.text if "\n" not in s.default.span.text else "…"
        raise Fault(
            "E0103",
            s.name.span,
            f"--set {s.name.name}={text}: {fault.diagnostic.message}",
            help=f"write a value of the same kind as the default: `--set {s.name.name}={default}`",
        ) from None
    except Excused:
        raise


def _names_in_parameter(s: tree.Param) -> set[str]:
    """The names that the type, the default and the guard of a parameter ask for."""
    return {m.name for m in _nodes_in_order((s.type, s.default, s.guard)) if isinstance(m, tree.Identifier)}


def note_unused_parameters(body: tuple[tree.Stmt, ...], diagnostics: Diagnostics) -> None:
    """Note the parameters of a file that nothing in it asks for: a misspelt name, or one left over."""
    params = [s for s in _nodes_in_order(body) if isinstance(s, tree.Param)]
    if not params:
        return
    used = {m.name for m in _nodes_in_order(body, leave=tree.Param) if isinstance(m, tree.Identifier)}
    used.update(name for s in _nodes_in_order(body) if isinstance(s, tree.Broken) for name in s.names)
    named_by = [_names_in_parameter(s) for s in params]
    naming = Counter(name for names in named_by for name in names)
    for s, own in zip(params, named_by, strict=True):
        if s.name.name not in used and naming[s.name.name] <= (s.name.name in own):
            diagnostics.add(
                "E0127",
                s.name.span,
                f"nothing in this file uses `{s.name.name}`",
                severity=Severity.NOTE,
                help="use it or remove it: its value has no effect",
            )


def _nodes_in_order(n: object, leave: type | None = None) -> Iterator[object]:
    """Every node of a tree, those below one of the type ``leave`` apart; a node comes before what it
    holds."""
    ahead = [n]
    names: dict[type, list[str] | None] = {}
    while ahead:
        n = ahead.pop()
        if isinstance(n, tuple):
            ahead += n[::-1]
            continue
        if (kind := type(n)) not in names:
            names[kind] = (
                [f.name for f in fields(n)][::-1] if is_dataclass(n) and kind is not SourceSpan else None
            )
        held = names[kind]
        if held is not None and not (leave is not None and isinstance(n, leave)):
            yield n
            ahead += [getattr(n, name) for name in held]


def note_given_parameters(d: Diagnostic, texts: Mapping[str, str]) -> Diagnostic:
    """An error whose text names a parameter that ``--set`` gives says so."""
    if d.severity is not Severity.ERROR or d.span is None or "--set" in d.message:
        return d
    named = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", d.span.text))
    notes = [f"`{name}` is given by `--set {name}={texts[name]}`" for name in named if name in texts]
    return replace(d, notes=(*d.notes, *notes)) if notes else d
