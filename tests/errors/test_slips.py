"""Slips of newcomers, each made in a sound design: one finding, at the place, whose fix or help makes it sound again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.errors.test_fixes import applied
from tests.harness import compile_text

SOUND = """\
fabric pod "A pod" {
  host node[8]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[4]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 4
  require reachability and bisection >= 100%
}
"""
EDITS = {
    "angle": ("node[8]", "node<8>"),
    "open bracket": ("node[8]", "node[8"),
    "router": ("switch leaf", "router leaf"),
    "switches": ("switch leaf", "switches leaf"),
    "server": ("host node", "server node"),
    "network": ("fabric pod", "Fabric pod"),
    "assert": ("require reach", "assert reach"),
    "link": ("connect leaf", "link leaf"),
    "and": ("leaf[*] to spine", "leaf[*] and spine"),
    "comma": ("leaf[8]: QM9700", "leaf[8]: QM9700,"),
    "requirements": ("reachability and", "reachability,"),
    "colon": ("require reach", "require: reach"),
    "spread equals": ("spread x 4", "spread=4"),
    "spread times": ("spread x 4", "spread * 4"),
    "percent": ("100%", "100 percent"),
    "blank in a model": ("leaf[8]: QM9700", "leaf[8]: QM 9700"),
    "vendor": ("leaf[8]: QM9700", "leaf[8]: NVIDIA QM9700"),
    "quotes": ("leaf[8]: QM9700", 'leaf[8]: "QM9700"'),
    "rate": ("spread x 4", "spread x 4 at 400G"),
    "rate in words": ("spread x 4", "spread x 4 at 400 Gb/s"),
    "hyphen": ("fabric pod", "fabric my-pod"),
    "no name": ("fabric pod", "fabric"),
    "no brace": ('"A pod" {', '"A pod"'),
    "c comment": ("  require", "  /* words */\n  require"),
    "sql comment": ("  require", "  -- words\n  require"),
    "html comment": ("  require", "  <!-- words -->\n  require"),
    "two on a line": ("QM9700\n  switch spine", "QM9700 switch spine"),
    "zero width": ("reachability", "reach\u200bability"),
    "no-break space": ("require reach", "require\u00a0reach"),
    "Cyrillic letter in a name": ("switch leaf", "switch l\u0435af"),
    "braces": ("node[8]", "node{8}"),
    "comment of several lines": ("  require", "  /* words\n   * more words\n   */\n  require"),
    "range with a hyphen": ("spine[4]", "spine[0-3]"),
    "range of Python": ("spine[4]", "spine[range(4)]"),
    "numeral": ("spine[4]", "spine[four]"),
    "var": ("  host node[8]", "  var eight = 8\n  host node[(eight)]"),
}
WORDS = {
    "percent without its sign": ("bisection >= 100%", "bisection >= 100", "`bisection >= 100%`"),
    "float": ("node[8]", "node[8.5]", "write `8`"),
    "zero": ("node[8]", "node[0]", "write `1` or more"),
    "number first": ("fabric pod", "fabric 8pod", "write `fabric pod {`"),
    "non-blocking": ("require reachability", "require non_blocking", "write `oversubscription <= 1:1`"),
    "ecmp": ("require reachability", "require ecmp >= 4", "write `edge_redundancy >= 2`"),
}
FOREIGN = {
    "TOML": '[fabric]\nname = "pod"\n',
    "XML": '<fabric name="pod">\n</fabric>\n',
    "Terraform": 'resource "fabric" "pod" {\n  host = "DGX_H100"\n}\n',
    "Python": 'from tdsl import check\nfabric = check("pod")\n',
    "a Graphviz graph": "graph pod {\n  a -- b;\n}\n",
    "JSON": '{\n  "fabric": "pod"\n}\n',
    "YAML": "fabric: pod\nhosts:\n  - name: node\n",
}


def made(old: str, new: str) -> str:
    assert SOUND.count(old) == 1, old
    return SOUND.replace(old, new)


def test_the_design_is_sound(tmp_path: Path) -> None:
    assert not compile_text(SOUND, tmp_path, models=False).findings


@pytest.mark.parametrize("name", EDITS)
def test_a_slip_is_mended_by_its_fix(name: str, tmp_path: Path) -> None:
    text = made(*EDITS[name])
    (finding,) = [d for d in compile_text(text, tmp_path, models=False).findings if d.severity.word == "error"]
    assert finding.fix is not None and finding.span is not None, finding
    first = next(k for k, (a, b) in enumerate(zip(SOUND.split("\n"), text.split("\n"), strict=False), 1) if a != b)
    assert finding.span.begin[0] <= first <= finding.span.finish[0] + 1
    mended = applied(finding, text)
    assert not [d for d in compile_text(mended, tmp_path, models=False).findings if d.severity.word == "error"], mended


@pytest.mark.parametrize("name", WORDS)
def test_a_slip_is_answered_with_what_to_write(name: str, tmp_path: Path) -> None:
    old, new, help = WORDS[name]
    found = [d for d in compile_text(made(old, new), tmp_path, models=False).findings if d.severity.word == "error"]
    assert [help in d.help for d in found] == [True], found


@pytest.mark.parametrize("name", FOREIGN)
def test_another_format_is_named(name: str, tmp_path: Path) -> None:
    (finding,) = compile_text(FOREIGN[name], tmp_path, models=False).findings
    assert finding.code == "E0017" and name in finding.message and re.search(r"`tdsl init`", finding.help)
