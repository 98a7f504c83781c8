"""Templates and programs turned into files; what goes wrong is told with the template, its line and the record in hand."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType

from jinja2 import FileSystemLoader, StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment

from tdsl.diagnostic import Diagnostics, Severity
from tdsl.emit.quote import FILTERS, LeftOut, Refused
from tdsl.emit.target import FileSpec, Target
from tdsl.emit.view import FabricView

Program = Callable[..., bytes]  # of the fabric, the options, and the record where the file's scope has one


@lru_cache(maxsize=64)
def environment(templates: Path) -> SandboxedEnvironment:
    """The templates of one target: no undefined names, no escaping but by filters, nothing private, no other folder."""
    env = SandboxedEnvironment(
        loader=FileSystemLoader(templates),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # most formats are not HTML; each has a filter of its own
        keep_trailing_newline=True,
    )
    env.filters.update(FILTERS)
    return env


def render(
    target: Target, spec: FileSpec, view: FabricView, record: object, options: Mapping[str, object], diagnostics: Diagnostics
) -> bytes | None:
    """The bytes of one file, or None with a finding."""
    try:
        if spec.program:
            program = _program(target.folder / spec.program)
            return program(view, options) if spec.scope == "fabric" else program(view, options, record)
        template = environment(target.folder / "templates").get_template(spec.template)
        known = {"fabric": view, "options": options}
        if spec.scope != "fabric":
            known[spec.scope] = record
        return template.render(known).encode()
    except LeftOut as reason:
        diagnostics.add("E0511", None, f"target `{target.name}`: {spec.path} is left out: {reason}", severity=Severity.NOTE)
    except TemplateSyntaxError as fault:
        diagnostics.add("E0503", None, f"target `{target.name}`: {fault.name}, line {fault.lineno}: {fault.message}")
    except Refused as fault:
        diagnostics.add("E0504", None, f"target `{target.name}`: {fault}", notes=_where(fault, spec))
    except (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as fault:
        diagnostics.add("E0503", None, f"target `{target.name}`: {_words(fault)}", notes=_where(fault, spec))
    return None


@lru_cache(maxsize=64)
def _program(path: Path) -> Program:
    """The function ``render`` of a target's own program."""
    spec = importlib.util.spec_from_file_location(f"tdsl_target_{path.parent.name}", path)
    if spec is None or spec.loader is None:
        raise LookupError(f"{path.name} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    program: Program = module.render
    return program


def _words(fault: Exception) -> str:
    text = fault.args[0] if isinstance(fault, KeyError) and fault.args else fault
    return f"{text}" or type(fault).__name__


def _where(fault: Exception, spec: FileSpec) -> list[str]:
    """Template and line, and the record that was being written, read off the frames that the template left."""
    place, held = spec.template or spec.program, ""
    frame: TracebackType | None = fault.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code.co_filename
        if code.endswith((".j2", spec.program or ".j2")):
            place = f"{Path(code).name}, line {frame.tb_lineno}"
            held = _record(frame.tb_frame.f_locals) or held
        frame = frame.tb_next
    return [f"in {place}", *([f"while writing {held}"] if held else [])]


def _record(values: Mapping[str, object]) -> str:
    """The innermost view record among a template's variables, by its first field."""
    found = ""
    for name, value in values.items():
        if is_dataclass(value) and not isinstance(value, type) and not name.startswith("_"):
            first = fields(value)[0].name
            found = f"{type(value).__name__.lower()} {getattr(value, first)}"
    return found
