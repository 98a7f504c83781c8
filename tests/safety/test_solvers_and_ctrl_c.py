"""Ctrl-C ends tdsl, also while z3 searches: every module that starts z3 tells it to leave the signal alone."""

from __future__ import annotations

import subprocess
import sys

ASKED = """
import importlib
import z3

for name in ("tdsl.semantics.contradiction", "tdsl.sizing.relations", "tdsl.sizing.all_parameters"):
    z3.set_param("ctrl_c", True)
    importlib.import_module(name)
    print(name, z3.get_param("ctrl_c"))
"""


def test_each_module_by_itself() -> None:
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "tdsl.semantics.contradiction false",
        "tdsl.sizing.relations false",
        "tdsl.sizing.all_parameters false",
    ]
