"""``dataclass`` of the standard library, with its methods compiled when they are first used.

``dataclasses.dataclass`` compiles up to six methods as a class is made, half a millisecond in all, and a
check loads three hundred classes. Here it makes the fields, the slots and ``__match_args__``; ``__init__``,
``__eq__`` and ``__hash__`` are compiled at the first access. ``fields``, ``replace`` and ``asdict`` work as
ever, and type checkers see the decorator of the standard library. Not supported: order, keyword-only fields,
``InitVar``, and inheritance between a frozen class of the standard library and one of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import sys
    from dataclasses import MISSING, FrozenInstanceError, fields
    from dataclasses import dataclass as standard
    from reprlib import recursive_repr

    def dataclass(cls=None, /, *, frozen=False, eq=True, slots=False):
        """The class with the methods of a data class; arguments as for ``dataclasses.dataclass``."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, eq=eq, slots=slots)
        own = {name for name, value in vars(cls).items() if value is not None}
        made = standard(init=False, repr=False, eq=False, slots=slots)(cls)
        methods = {"__init__": _Later(_frozen_init if frozen else _build_init), "__repr__": _dataclass_repr}
        if eq:
            methods |= {"__eq__": _Later(_build_eq), "__hash__": _Later(_build_hash) if frozen else None}
        if frozen:
            methods |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_assignment}
        if frozen and slots:
            methods |= {"__getstate__": _frozen_getstate, "__setstate__": _frozen_setstate}
        for name in methods.keys() - own:
            setattr(made, name, methods[name])
            if isinstance(methods[name], _Later):
                methods[name].place = made, name
        return made

    class _Later:
        """A method that ``compiled`` makes of a class at the first access, and that takes this one's place
        there."""

        def __init__(self, compiled):
            self.compiled = compiled

        def __get__(self, instance, owner):
            cls, name = self.place
            method = self.compiled(cls)
            method.__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
            return method if instance is None else method.__get__(instance, owner)

    def _compile_method(cls, head, lines, **names):
        """The function of this head and body, which sees the globals of the class's module, and ``names``."""
        found = {}
        body = "".join(f"\n  {line}" for line in lines or ["pass"])
        exec(
            f"def make({', '.join(names)}):\n def {head}:{body}\n return {head.split('(')[0]}",
            sys.modules[cls.__module__].__dict__,
            found,
        )
        return found["make"](**names)

    def _build_init(cls, form="self.{0} = {1}"):
        names, parameters, lines = {"_set": object.__setattr__, "_missing": MISSING}, ["self"], []
        for f in fields(cls):
            value, parameter = f.name, f.name
            if f.default_factory is not MISSING:
                names[f"_new_{f.name}"] = f.default_factory
                value, parameter = (
                    f"_new_{f.name}() if {f.name} is _missing else {f.name}",
                    f"{f.name}=_missing",
                )
            elif f.default is not MISSING:
                names[f"_default_{f.name}"] = f.default
                parameter = f"{f.name}=_default_{f.name}"
            if f.init:
                parameters.append(parameter)
            elif "=" in parameter:
                value = f"_new_{f.name}()" if f.default is MISSING else f"_default_{f.name}"
            if f.init or "=" in parameter:
                lines.append(form.format(f.name, value))
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        made = _compile_method(cls, f"__init__({', '.join(parameters)})", lines, **names)
        made.__annotations__ = {f.name: f.type for f in fields(cls) if f.init} | {"return": None}
        return made

    def _frozen_init(cls):
        return _build_init(cls, "_set(self, '{0}', {1})")

    def _field_tuple_source(cls, of):
        return "(" + "".join(f"{of}.{f.name}, " for f in fields(cls) if f.compare) + ")"

    def _build_eq(cls):
        same = (
            f"return {_field_tuple_source(cls, 'self')} == {_field_tuple_source(cls, 'other')} if "
            "other.__class__ is self.__class__ else NotImplemented"
        )
        return _compile_method(cls, "__eq__(self, other)", [same])

    def _build_hash(cls):
        return _compile_method(cls, "__hash__(self)", [f"return hash({_field_tuple_source(cls, 'self')})"])

    @recursive_repr()
    def _dataclass_repr(self):
        shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
        return f"{self.__class__.__qualname__}({shown})"

    def _refuse_assignment(self, name, *value):
        raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")

    def _frozen_getstate(self):
        return [getattr(self, f.name) for f in fields(self)]

    def _frozen_setstate(self, state):
        for f, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, f.name, value)
