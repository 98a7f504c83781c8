"""What the value of each fact of a model and of each setting of its layout is: one table, and one judge of a
value against it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from tdsl.findings.diagnostic import Diagnostics, Fix, Severity
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.operators import ratio_for_whole_fault
from tdsl.semantics.quantity import LENGTH, MASS, MONEY, RATE, Quantity
from tdsl.semantics.values import ModelValue, Value, a_type, integer_if_whole, text_of
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.similar import closest_name

CABLES, OPTICS = ("cable",), ("optic",)
PLUGGED_PARTS = ("cable", "optic")
RATE_FORMATS = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4", "nvfp4", "mxfp4", "int8", "int4")
"""Number formats that a rate of computation is known to be stated for; a model may have others."""
CONNECTORS = (
    "LC",
    "LC_DUPLEX",
    "SC",
    "SN",
    "CS",
    "MDC",
    "MMC",
    "MPO",
    "MPO8",
    "MPO8_APC",
    "MPO12",
    "MPO12_APC",
    "MPO12_UPC",
    "MPO16",
    "MPO16_APC",
    "MPO24",
    "MPO24_APC",
    "MPO32",
    "RJ45",
)
"""Connectors of fibre that are known; a model may have others."""
POLARITIES = ("A", "B", "C", "U1", "U2")
"""The methods of ANSI/TIA-568.3 by which a trunk crosses its fibres."""
FIBRES_KNOWN = (
    "singlemode",
    "multimode",
    "smf",
    "mmf",
    "OM1",
    "OM2",
    "OM3",
    "OM4",
    "OM5",
    "OS1",
    "OS1a",
    "OS2",
)
"""Modes of a fibre, and its categories in ISO/IEC 11801."""
FIBRE_MEANT = {
    **dict.fromkeys(("sm", "smf28", "single_mode", "single", "mono", "monomode"), "singlemode"),
    **dict.fromkeys(("mm", "multi_mode", "multi"), "multimode"),
}
"""Words that people use for the mode of a fibre."""
ARCH_MEANT = {
    **dict.fromkeys(("amd64", "x64", "x86", "intel", "amd"), "x86_64"),
    **dict.fromkeys(("aarch64", "arm", "armv8", "grace"), "arm64"),
    "ppc64le": "ppc64",
}


@dataclass(frozen=True, slots=True)
class FactKind:
    """What the value of a fact is. ``shape`` is ``text`` (a string or a word), ``word``, ``whole`` (a number
    of at least ``least``) or ``amount`` (of ``dim``, above zero, or from zero on with ``least`` 0). ``known``
    are the words that it can be: others are refused, and with ``open`` are a warning. ``most`` is how many
    values it takes at most; ``of`` the kinds of models that it is of, all where none is named."""

    shape: str
    example: str
    dim: tuple[int, ...] = ()
    least: int = 1
    form: re.Pattern[str] | None = None  # of the whole text
    known: tuple[str, ...] = ()
    meant: Mapping[str, str] = field(default_factory=dict)
    open: bool = False
    most: int = 1
    of: tuple[str, ...] = ()


MANY = 1 << 16
_MODE = r"\d{1,6}+x\d{1,6}+G?(?:\[[^\[\]]{1,80}+\]|\(\d{1,6}+\))*+"
BREAKOUT = re.compile(rf"{_MODE}(?:\+{_MODE})*+")
"""A mode of a port in ``platform.json``, as ``portconfig.py`` of SONiC reads it: ``4x100G[50G,25G]``,
``2x50G(2)+1x100G(2)``."""
TEXTS = ("source", "note", "codename", "vendor", "part", "airflow", "cooling", "asic", "platform", "hwsku")
_TEXT = FactKind("text", '"…"')
FACT_KINDS: Mapping[str, FactKind] = {
    **dict.fromkeys(TEXTS, _TEXT),
    "device": FactKind("text", '"10de:2330"'),
    "subsystem": FactKind("text", '"10de:16c1"'),
    "class": FactKind("text", '"0x068000"'),
    "breakout": FactKind("text", '"2x400G[200G]"', form=BREAKOUT, most=MANY, of=("switch",)),
    "codes": FactKind("text", '"MCP4Y10-N001"', most=MANY, of=PLUGGED_PARTS),
    "alternative": FactKind("text", "OTHER_MODEL", most=MANY),
    "machine": FactKind("word", "virtual", known=("virtual",), of=("host",)),
    "medium": FactKind("word", "fibre", of=CABLES),  # its words are judged with those of links
    "fibre": FactKind(
        "word",
        "singlemode",
        known=FIBRES_KNOWN,
        meant=FIBRE_MEANT,
        of=PLUGGED_PARTS,
    ),
    "connector": FactKind("word", "MPO12_APC", known=CONNECTORS, open=True, most=2, of=PLUGGED_PARTS),
    "polarity": FactKind("word", "B", known=POLARITIES, open=True, of=CABLES),
    "form": FactKind("word", "OSFP finned", of=PLUGGED_PARTS),
    "tail": FactKind("word", "QSFP112", of=CABLES),
    "sm": FactKind("whole", "90", of=("chip",)),
    "year": FactKind("whole", "2024", least=1990),
    "radix": FactKind("whole", "64"),
    "ports": FactKind("whole", "2", of=OPTICS),
    "legs": FactKind("whole", "2", of=CABLES),
    "ferrules": FactKind("whole", "4", least=0, of=("cable", "optic", "panel")),
    "price": FactKind("amount", "$1200", MONEY, 0),
    "mass": FactKind("amount", "14kg", MASS),
    "bend": FactKind("amount", "30mm", LENGTH, of=CABLES),
    "diameter": FactKind("amount", "5mm", LENGTH, of=CABLES),
    "reach": FactKind("amount", "50m", LENGTH, of=PLUGGED_PARTS),
    "rate": FactKind("amount", "400Gbps", RATE),
    "lengths": FactKind("amount", "1m, 3m", LENGTH, most=MANY, of=CABLES),
}
"""What each fact of a model is. Those that are absent are read by code of their own, or by nothing."""
PORT_TYPE = FactKind("word", "NDR", most=MANY)
UNCONFIRMED_OF_HOST = FactKind("word", "os", known=("os",))
LENGTHS_UNCONFIRMED = FactKind("amount", "1m, 3m", LENGTH, most=MANY)
LAYOUT_KINDS: Mapping[str, FactKind] = {
    "arch": FactKind("text", "x86_64", known=("x86_64", "arm64", "ppc64"), meant=ARCH_MEANT, of=("numa",)),
    "vendor": FactKind("text", "GenuineIntel", of=("numa",)),
    "family": FactKind("whole", "6", least=0, of=("numa",)),
    "cpu_model": FactKind("whole", "143", least=0, of=("numa",)),
    "cores": FactKind("whole", "56", of=("numa",)),
    "threads": FactKind("whole", "2", of=("numa",)),
    "affinity": FactKind("text", '"000000ff,ffffffff"', of=("numa",)),
    "gen": FactKind("whole", "5", of=("pcie",)),
    "lanes": FactKind("whole", "16", of=("pcie",)),
    "bus": FactKind("text", '"0000:{i + 16:02x}:00.0"', of=("pcie",)),
    "device": FactKind("text", '"10de:2330"', of=("pcie",)),
    "subsystem": FactKind("text", '"10de:16c1"', of=("pcie",)),
    "class": FactKind("text", '"0x068000"', of=("pcie",)),
    "c2c": FactKind("whole", "5", of=("pcie",)),
    "c2c_rate": FactKind("amount", "44.712GB/s", RATE, of=("pcie",)),
}
"""The settings of ``numa`` and ``pcie`` in a model, but ``on``."""


def check_fact(s: tree.Setting, value: Value, of_what: str, diagnostics: Diagnostics) -> None:
    """Judge the value of a fact of a model of a kind: raise Fault for one that it cannot have, warn of a word
    that nothing knows and of a fact that nothing reads there."""
    name = s.name.name
    kind = FACT_KINDS.get(name)
    if name == "unconfirmed":
        kind = UNCONFIRMED_OF_HOST if of_what == "host" else LENGTHS_UNCONFIRMED
    if kind is None:
        return
    check_value(s, value, kind, diagnostics)
    if kind.of and of_what not in kind.of:
        some = " and ".join(f"`{k}`" for k in kind.of)
        diagnostics.add(
            "E0132",
            s.span,
            f"nothing reads `{name}` of a model of the kind `{of_what}`",
            help=f'it is a fact of {some}: remove it, or write what is known elsewhere as `note "…"`',
            severity=Severity.WARNING,
        )


def check_value(s: tree.Setting, value: Value, kind: FactKind, diagnostics: Diagnostics) -> None:
    """Judge each value of a setting. Raises Fault."""
    name = s.name.name
    if not s.items:
        message = f"the value of `{name}` is missing"
        raise Fault("E0120", s.span, message, help=f"write `{name} {kind.example}`, or remove `{name}`")
    if len(s.items) > kind.most:
        number = "one value" if kind.most == 1 else f"at most {kind.most} values"
        help = f"write `{name} {kind.example}`"
        raise Fault("E0118", s.items[kind.most].span, f"`{name}` takes {number} here", help=help)
    values = value if isinstance(value, tuple) and len(s.items) > 1 else (value,)
    for item, one in zip(s.items, values, strict=True):
        if kind.shape == "whole" and isinstance(item.value, tree.RatioLit):
            raise ratio_for_whole_fault(item.value)
        _check_one(name, item.value.span, integer_if_whole(one), kind, diagnostics)


def _check_one(name: str, at: SourceSpan, value: Value, kind: FactKind, diagnostics: Diagnostics) -> None:
    """Judge one value by its kind. Raises Fault."""
    help = f"write `{name} {kind.example}`"
    if kind.shape == "amount":
        _check_amount(name, at, value, kind)
    elif kind.shape == "whole":
        if not isinstance(value, int) or isinstance(value, bool):
            raise Fault("E0103", at, f"`{name}` is a whole number, not {a_type(value)}", help=help)
        if value < kind.least:
            raise Fault("E0120", at, f"`{name}` is at least {kind.least}, not {value}", help=help)
    elif not isinstance(value, (str, ModelValue)) or not text_of(value).strip():
        _refuse_no_text(name, at, value, kind)
    elif kind.form is not None and not kind.form.fullmatch(text_of(value)):
        raise Fault("E0120", at, f"`{text_of(value)}` is not of the form of `{name}`", help=help)
    elif kind.known:
        _check_word(name, at, text_of(value), kind, diagnostics)


def _check_amount(name: str, at: SourceSpan, value: Value, kind: FactKind) -> None:
    help = f"write `{name} {kind.example}`"
    if not isinstance(value, Quantity) or value.dim != kind.dim:
        what = f"an amount such as `{kind.example.partition(',')[0]}`"
        raise Fault("E0103", at, f"`{name}` is {what}, with its unit, not {a_type(value)}", help=help)
    if value.amount < 0 or (value.amount == 0 and kind.least):
        limit = "above zero" if kind.least else "not below zero"
        raise Fault("E0120", at, f"`{name}` is {limit}: {at.text}", help=help)


def _refuse_no_text(name: str, at: SourceSpan, value: Value, kind: FactKind) -> None:
    """Refuse a number or an empty text where words are meant; what is written is put into quotes."""
    if isinstance(value, str):
        message, new = f"the text of `{name}` is empty", ""
    else:
        message = f"`{name}` is {'a word' if kind.shape == 'word' else 'a text'}, not {a_type(value)}"
        new = "" if kind.shape == "word" else f'"{at.text}"'
    if not new:
        raise Fault("E0103", at, message, help=f"write `{name} {kind.example}`, or remove `{name}`")
    fix = Fix(f"write `{new}`", ((at, new),), safe=False)
    raise Fault("E0103", at, message, help=f"write `{name} {new}`", fix=fix)


def _check_word(name: str, at: SourceSpan, word: str, kind: FactKind, diagnostics: Diagnostics) -> None:
    """Refuse a word that is none of the known ones, or warn of it where others may be meant."""
    if word in kind.known or (kind.open and word.upper() in kind.known):
        return
    if not kind.open:
        raise unknown_name_fault("E0101", at, f"value of `{name}`", word, kind.known, meant=kind.meant)
    warn_of_unknown_word(name, at, word, kind.known, diagnostics)


def warn_of_unknown_word(
    name: str,
    at: SourceSpan,
    word: str,
    known: tuple[str, ...],
    diagnostics: Diagnostics,
    so: str = "it fits only parts that say the same",
) -> None:
    """Warn of a value that may be meant, but that fits no part of the catalogue: it is a word of the design's
    own. ``so`` says what follows."""
    near = closest_name(word.upper(), known, 0.6)
    diagnostics.add(
        "E0131",
        at,
        f"`{word}` is none of the known values of `{name}`: {so}",
        help=f"did you mean `{near}`?" if near else f"known: {', '.join(f'`{k}`' for k in known)}",
        notes=(f"known: {', '.join(known)}",) if near else (),
        fix=Fix(f"write `{near}`", ((at, near),), safe=False) if near and at.text == word else None,
        severity=Severity.WARNING,
    )
