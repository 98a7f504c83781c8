"""Templates and programs turned into files; what goes wrong is reported with the template, its line and the
record in hand."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from functools import lru_cache, wraps
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, TypeVar

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    PrefixLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
    nodes,
)
from jinja2.loaders import split_template_path
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment, modifies_known_mutable

from tdsl.emit import limits
from tdsl.emit.quote import FILTERS, PRINTED, FileLeftOut, NameRefused
from tdsl.emit.rows import RowLines
from tdsl.emit.site import Site
from tdsl.emit.target import LARGEST, BuildTarget, FileSpec
from tdsl.emit.view import FabricView
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.system.read import read_text_file
from tdsl.system.resources import packaged_folder

MOST = 1 << 30
"""Characters of a file."""
MANY = 1 << 10
"""Pieces of tdsl's own templates that are put together before their size is judged."""
PIECE = 1 << 20
"""Characters that are collected before they are handed on."""
WIDEST = 1 << 20
"""Characters that a template of others may ask for in one step."""
Kept = TypeVar("Kept")
Program = Callable[..., bytes | Iterable[bytes | bytearray]]
"""Of the fabric, the options, and the record where the file's scope has one; a file or its pieces."""


class _Folder(BaseLoader):
    """The templates of a folder: regular files of it, of a bounded size."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
        """The text of a template and its path."""
        path = self.folder.joinpath(*split_template_path(template))
        try:
            return read_text_file(path, LARGEST, within=[self.folder.parent]), str(path), None
        except FileNotFoundError:
            raise TemplateNotFound(template) from None
        except (OSError, UnicodeDecodeError) as fault:
            raise TemplateError(
                f"template {template!r}: {getattr(fault, 'strerror', None) or 'this is not a text file'}"
            ) from None


_FIELDS: dict[type, frozenset[str]] = {}
"""Fields of classes of records that templates may read."""


class _Sandbox(SandboxedEnvironment):
    """A sandbox that reads the fields of records without asking anew each time whether they are private."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """A field of a record, or what the sandbox lets a template have."""
        kind = type(obj)
        known = _FIELDS.get(kind)
        if known is None:
            known = _FIELDS[kind] = frozenset(
                n for n in getattr(kind, "__dataclass_fields__", ()) if not n.startswith("_")
            )
        return getattr(obj, attribute) if attribute in known else super().getattr(obj, attribute)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """A template in which a table that is printed as it is goes to the file piece by piece."""
        tree = super()._parse(source, name, filename)
        for output in (n for n in tree.body if isinstance(n, nodes.Output)):
            for printed in output.nodes:
                if isinstance(printed, nodes.Filter) and printed.name in PRINTED:
                    printed.name = f"{printed.name} printed"  # a name that no template can write
        return tree


def _in_own_template() -> bool:
    """Whether the innermost template that runs is one of tdsl's own, by the file that it was compiled
    from."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.endswith(".j2"):
            return Path(frame.f_code.co_filename).is_relative_to(packaged_folder("targets"))
        frame = frame.f_back
    return False


class _Bounded(_Sandbox):
    """A sandbox in which no single step takes all memory: what makes text or numbers of a length that a
    template names. Nothing that other targets see can be changed in it, and no source text or scope of a
    design is had."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def getattr(self, obj: Any, attribute: str) -> Any:
        """What the sandbox lets a template have, but for what leads back to the design's text."""
        value = super().getattr(obj, attribute)
        return self.unsafe_undefined(obj, attribute) if _is_private_value(value) else value

    def getitem(self, obj: Any, argument: str | Any) -> Any:
        """The same for what is written in brackets."""
        value = super().getitem(obj, argument)
        return self.unsafe_undefined(obj, str(argument)) if _is_private_value(value) else value

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """No method that changes a list, a set or a dictionary, but in a template of tdsl's own that is
        extended or included: it changes only what it has made itself."""
        return super().is_safe_attribute(obj, attr, value) and (
            not modifies_known_mutable(obj, attr) or _in_own_template()
        )

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """A product, power or remainder of a size that can be had."""
        if operator == "**":
            sizes = left.bit_length() * abs(right) if isinstance(left, int) and isinstance(right, int) else 0
        elif operator == "*":
            a, b = (x.bit_length() if isinstance(x, int) else 0 for x in (left, right))
            sized = [
                (x, n)
                for x, n in ((left, right), (right, left))
                if isinstance(x, Sized) and isinstance(n, int)
            ]
            sizes = max([a + b, *(len(x) * n for x, n in sized)])
        else:
            sizes = _largest_format_width(left) if isinstance(left, str) else 0
        if sizes > WIDEST:
            raise NameRefused(f"`{operator}` would make more than {WIDEST:,} characters at once")
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A call, refused where it names a length that is too large, such as `ljust`."""
        owner = getattr(obj, "__self__", None)
        if isinstance(owner, str) and (
            _has_wide_number((*args, *kwargs.values())) or _largest_format_width(owner) > WIDEST
        ):
            raise NameRefused(f"a text of more than {WIDEST:,} characters would be made at once")
        return super().call(context, obj, *args, **kwargs)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """``str.format``, refused where it names a width that is too large."""
        made: Callable[..., str] | None = super().wrap_str_format(value)
        if made is None:
            return None

        def bounded(*args: Any, **kwargs: Any) -> str:
            if _largest_format_width(value.__self__) > WIDEST or _has_wide_number((*args, *kwargs.values())):
                raise NameRefused(f"`format` would make a text of more than {WIDEST:,} characters at once")
            return made(*args, **kwargs)

        return bounded


def _is_private_value(value: object) -> bool:
    """Whether a value is of the stages that lead to a fabric, such as the place of a model in a file."""
    return type(value).__module__ in ("tdsl.findings.source", "tdsl.semantics.scope")


def _has_wide_number(values: Iterable[object]) -> bool:
    return any(isinstance(v, int) and v > WIDEST for v in values)


def _largest_format_width(text: str) -> int:
    """The largest number in a text that may be a format."""
    if "*" in text and "%" in text:
        return WIDEST + 1
    return max((int(n[:20]) for n in re.findall(r"\d{4,}", text)), default=0)


def _width_limited_filter(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """A filter of Jinja that refuses to make a text of any length."""

    @wraps(make)
    def narrow(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if _has_wide_number(given) or (
            name == "format" and any(_largest_format_width(v) > WIDEST for v in given if isinstance(v, str))
        ):
            raise NameRefused(f"`{name}` would make a text of more than {WIDEST:,} characters at once")
        return make(*args, **kwargs)

    return narrow


@lru_cache(maxsize=64)
def jinja_environment(templates: Path, own: bool = True) -> SandboxedEnvironment:
    """The templates of one target: no undefined names, no escaping but by filters, nothing private, no other
    folder but those of tdsl's own targets.

    A template may extend or include one of tdsl's own by the name of its target:
    ``{% extends "eos/device.cfg.j2" %}``. Those that are not tdsl's ``own`` are bounded in what one step
    makes. A template of tdsl's includes one beside it in the way that works where another target extends it.
    """
    every = sorted(
        {templates, *packaged_folder("targets").glob("*/templates")}
        if own
        else packaged_folder("targets").glob("*/templates")
    )
    further = {p.parent.name: _Folder(p) for p in every}
    env = (_Sandbox if own else _Bounded)(
        loader=ChoiceLoader([_Folder(templates), PrefixLoader(further)]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # most formats are not HTML; each has a filter of its own
        keep_trailing_newline=True,
    )
    if not own:
        for name in ("center", "format", "indent", "wordwrap", "truncate", "batch", "slice", "tojson"):
            env.filters[name] = _width_limited_filter(name, env.filters[name])
    env.filters.update(FILTERS)
    env.filters.update({f"{name} printed": make for name, make in PRINTED.items()})
    return env


NOTHING_SHARED: Mapping[str, object] = {"site": Site(), "routers": ()}
"""What templates know where nothing is said of the site, and no router gets a file."""


def render_file(
    target: BuildTarget,
    spec: FileSpec,
    view: FabricView,
    record: object,
    options: Mapping[str, object],
    diagnostics: Diagnostics,
    shared: Mapping[str, object] = NOTHING_SHARED,
    keep: Callable[[Iterable[bytes | bytearray]], Kept] = b"".join,  # type: ignore[assignment]
) -> Kept | None:
    """What ``keep`` makes of the pieces of one file, which are its bytes if nothing is said; None with a
    finding. ``shared`` is what all templates of a target know beside the fabric: ``site``, and ``routers``,
    those that get files of the target."""
    try:
        if spec.program:
            program = _target_program(target.folder / spec.program)
            made = program(view, options) if spec.scope == "fabric" else program(view, options, record)
            return keep([made] if isinstance(made, bytes) else made)
        known = {"fabric": view, "options": options, **shared}
        if spec.scope != "fabric":
            known[spec.scope] = record
        with (
            nullcontext() if target.own else limits.limited_in_time(limits.SECONDS)
        ):  # constants are computed as a template is read
            template = jinja_environment(target.folder / "templates", target.own).get_template(spec.template)
            return keep(_rendered_pieces(template.generate(known), target.own))
    except FileLeftOut as reason:
        diagnostics.add(
            "E0511",
            None,
            f"target `{target.name}`: {spec.path} is left out: {reason}",
            severity=Severity.NOTE,
        )
    except TemplateSyntaxError as fault:
        diagnostics.add(
            "E0503", None, f"target `{target.name}`: {fault.name}, line {fault.lineno}: {fault.message}"
        )
    except NameRefused as fault:
        diagnostics.add(
            "E0504", None, f"target `{target.name}`: {fault}", notes=_template_location(fault, spec)
        )
    except (RecursionError, MemoryError) as fault:
        why = (
            "a macro or an include calls itself recursively"
            if isinstance(fault, RecursionError)
            else "it needs too much memory"
        )
        diagnostics.add(
            "E0503", None, f"target `{target.name}`: {why}", notes=_template_location(fault, spec)
        )
    except (
        SyntaxError
    ) as fault:  # what Python cannot compile of a template that Jinja can: too many loops in one another
        diagnostics.add("E0503", None, f"target `{target.name}`: {spec.template}: {fault.msg}")
    except (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as fault:
        diagnostics.add(
            "E0503",
            None,
            f"target `{target.name}`: {_exception_text(fault)}",
            notes=_template_location(fault, spec),
        )
    return None


def _rendered_pieces(parts: Iterable[str], own: bool) -> Iterator[bytes | bytearray]:
    """The pieces of a file, as long as they are not too much for one. Rows of a table of tdsl's own targets
    may be more."""
    held: list[str] = []
    size = waiting = 0
    most = MANY if own else 1
    for part in parts:
        if part.__class__ is RowLines:
            yield "".join(held).encode()
            held, waiting = [], 0
            for chunk in part.chunks():
                size += 0 if own else len(chunk)
                _refuse_large_file(size)
                yield chunk
            continue
        held.append(part)
        if len(held) % most:
            continue
        new = sum(map(len, held[-most:]))
        size, waiting = size + new, waiting + new
        _refuse_large_file(size)
        if waiting > PIECE:
            yield "".join(held).encode()
            held, waiting = [], 0
    yield "".join(held).encode()


def _refuse_large_file(size: int) -> None:
    """Raises Refused for a file that is too large."""
    if size > MOST:
        raise NameRefused(f"it would be larger than {MOST >> 20} MiB")


@lru_cache(maxsize=64)
def _target_program(path: Path) -> Program:
    """The function ``render`` of a target's own program."""
    spec = importlib.util.spec_from_file_location(f"tdsl_target_{path.parent.name}", path)
    if spec is None or spec.loader is None:
        raise LookupError(f"{path.name} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    program: Program = module.render
    return program


def _exception_text(fault: Exception) -> str:
    text = fault.args[0] if isinstance(fault, KeyError) and fault.args else fault
    return f"{text}" or type(fault).__name__


def _template_location(fault: Exception, spec: FileSpec) -> list[str]:
    """Template and line, and the record that was being written, read off the frames that the template
    left."""
    place, held = spec.template or spec.program, ""
    frame: TracebackType | None = fault.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code.co_filename
        if code.endswith((".j2", spec.program or ".j2")):
            place = f"{Path(code).name}, line {frame.tb_lineno}"
            held = _record_in_hand(frame.tb_frame.f_locals) or held
        frame = frame.tb_next
    return [f"in {place}", *([f"while writing {held}"] if held else [])]


def _record_in_hand(values: Mapping[str, object]) -> str:
    """The innermost view record among a template's variables, by its first field."""
    found = ""
    for name, value in values.items():
        if is_dataclass(value) and not isinstance(value, type) and not name.startswith("_"):
            first = fields(value)[0].name
            found = f"{type(value).__name__.lower()} {getattr(value, first)}"
    return found
