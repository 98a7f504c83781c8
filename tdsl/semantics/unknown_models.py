"""What is said of a model that nobody declares: models of the kind that is asked for, by name and by what the
catalogue calls them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import Fault, closest_known_name
from tdsl.system.read import read_text_file
from tdsl.system.similar import without_separators

HEAD = re.compile(r'^model[ \t]+(\w+)[ \t]+(\w+)(?:[ \t]+"([^"]*)")?', re.MULTILINE)
MOST = 4
"""Models that a finding names, at most."""


@lru_cache(maxsize=4)
def _heads_of_files(files: tuple[Path, ...]) -> dict[str, tuple[str, str]]:
    out: dict[str, tuple[str, str]] = {}
    for path in files:
        try:
            heads = HEAD.findall(read_text_file(path))
        except (OSError, UnicodeDecodeError):
            continue
        for kind, name, title in heads:
            out.setdefault(name, (kind, title))
    return out


def catalogue_kinds_and_titles(catalogue: Mapping[str, Path]) -> dict[str, tuple[str, str]]:
    """Kind and title of every model of a catalogue, as its files have them; "" for a model without title."""
    return _heads_of_files(tuple(sorted(set(catalogue.values()))))


def unknown_model_fault(
    span: SourceSpan, name: str, kinds: Collection[str], own: Mapping[str, str], catalogue: Mapping[str, Path]
) -> Fault:
    """The fault of a model that is unknown, where one of some kinds is asked for (of any, if none is named).
    ``own`` are the models that the design declares or uses, with their kinds."""
    heads = {**catalogue_kinds_and_titles(catalogue), **{n: (kind, "") for n, kind in own.items()}}
    fitting = {n: title for n, (kind, title) in heads.items() if not kinds or kind in kinds}
    what = " or ".join(kinds) if 0 < len(kinds) < 3 else "model"
    message = f"there is no {what} `{name}` here"
    near = closest_known_name(name, fitting)
    alike = _models_as_near(name, near, fitting) if near else _models_with_title(name, fitting)
    found = models_called(name, fitting) or alike
    if found:
        shown = " or ".join(f"`{n}`" for n in found[:MOST])
        fix = Fix(f"write `{found[0]}`", ((span, found[0]),), safe=False) if len(found) == 1 else None
        declared = _label_where_declared(span.file, found[0])
        return Fault("E0102", span, message, labels=declared, help=f"did you mean {shown}?", fix=fix)
    listed = "hardware" if not kinds or what in ("model", "host", "switch") else f"{next(iter(kinds))}s"
    help = (
        f"declare it with `model {next(iter(kinds), 'switch')} {name} {{ … }}`, or `use` the file that does; "
    )
    return Fault("E0102", span, message, help=f"{help}`tdsl list {listed}` shows the catalogue")


def _models_as_near(name: str, near: str, known: Collection[str]) -> list[str]:
    """The model that is nearest to a name, with those as near: which one is meant nobody knows."""
    same = [k for k in sorted(known) if k != near and _likeness(name, k) >= _likeness(name, near)]
    return [near] if name.upper() in near.upper() else [near, *same]


def _likeness(name: str, known: str) -> float:
    return SequenceMatcher(None, name.upper(), known.upper()).ratio()


def _label_where_declared(file: SourceFile, model: str) -> list[tuple[SourceSpan, str]]:
    """The place where a file declares a model, for a finding; none where it does not."""
    found = re.search(rf"^[ \t]*model[ \t]+\w+[ \t]+({re.escape(model)})\b", file.text, re.MULTILINE)
    if found is None:
        return []
    return [(SourceSpan(file, found.start(1), found.end(1)), f"`{model}` is declared here")]


def models_called(name: str, titles: Mapping[str, str]) -> list[str]:
    """Models whose title has all words of a name of two or more, one behind the other: ``HGX_B300`` of "Host
    with NVIDIA HGX B300"; in order of their names."""
    parts = [p for p in re.split(r"[_\-\s]+", name.lower()) if p]
    whole = re.compile(rf"\b{'[ -]'.join(map(re.escape, parts))}\b")
    return [n for n, t in sorted(titles.items()) if len(parts) > 1 and whole.search(t.lower())]


def _models_with_title(name: str, titles: Mapping[str, str]) -> list[str]:
    """Models whose title has a name of four letters or more in it, or each of its words, in order of their
    names."""
    word = without_separators(name)
    if len(word) < 3:
        return []
    parts = [p for p in re.split(r"[_\-\s]+", name.lower()) if p]
    plain = {n: without_separators(t) for n, t in titles.items() if t}
    whole = [n for n, t in sorted(plain.items()) if word in t]
    return whole or [n for n, t in sorted(plain.items()) if len(parts) > 1 and all(p in t for p in parts)]
