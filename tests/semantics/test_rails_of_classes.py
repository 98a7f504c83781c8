"""Rails of hosts with several classes of ports, through the command line: what is judged, and when it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import report

MODELS = """
model chip G { port nv: 400Gbps }
model host N { port ew[4]: 400Gbps; port ns[2]: 400Gbps; chip gpu[4]: G }
model switch S { port p[1..64]: 400Gbps }
"""
EW, NS = "connect node[n].ew[k] to {}", "connect node[n].ns[k] to {}"
LEAVES, CORES, STORE = (
    "switch leaf[4]: S; connect leaf[*] to core[*] each", "switch core[2]: S; connect core[0] to core[1]",
    "switch st: S; connect st to core[0]",
)  # fmt: skip


@pytest.mark.parametrize(
    ("ew", "ns", "require", "status", "words", "severity"),
    [
        # two switches for four NICs: no rails, whatever the smaller class has
        ("core[k % 2]", "core[k]", False, "skipped", "not rail-organised", ""),
        ("core[k % 2]", "core[k]", True, "refuted", "not rail-organised", "error"),
        # rails of the larger class; the storage ports are on one switch, and are named
        ("leaf[k]", "st", True, "proved", "4 rails", ""),
        ("leaf[k]", "st", False, "proved", "node.ns serve several rails each", ""),
        # both classes have rails, of which each switch serves others: leaf[2] is rail 2 of `ew` and rail 1 of `ns`
        ("leaf[k]", "leaf[2*k]", True, "proved", "4 rails", ""),
        # one exchanged cable is a warning, and an error where a requirement asks for it
        ("leaf[k == 0 and n == 0 ? 1 : k]", "core[k]", False, "refuted", "serves rail", "warning"),
        ("leaf[k]", "core[n == 3 ? 1 - k : k]", True, "refuted", "serves rail", "error"),
    ],
)
def test_rails_of_each_class(
    ew: str, ns: str, require: bool, status: str, words: str, severity: str, tmp_path: Path
) -> None:  # fmt: skip
    parts = ["host node[8]: N", *CORES.split("; ")]
    parts += LEAVES.split("; ") if "leaf" in ew + ns else []
    parts += STORE.split("; ") if "st" in (ew, ns) else []
    for form, to in ((EW, ew), (NS, ns)):
        head, _, rest = to.partition("[")
        condition, _, other = rest.rstrip("]").partition(" ? ")
        if other:  # the language has no conditional index: two statements
            yes, no = other.split(" : ")
            parts += [
                f"{form.format(f'{head}[{yes}]')} where {condition}",
                f"{form.format(f'{head}[{no}]')} where not ({condition})",
            ]
        else:
            parts.append(form.format(to))
    parts += ["require rail_alignment"] if require else []
    path = tmp_path / "rails.fab"
    path.write_text(MODELS + "fabric f {\n  " + "\n  ".join(parts) + "\n}\n")
    document = report(path, "--no-cache", "--second-opinion")
    (design,) = document["designs"]
    (result,) = [r for r in design["results"] if r["check"] == "rail_alignment"]
    assert result["status"] == status and words in f"{result.get('text')} {result.get('reason')}", result
    found = {d["severity"] for d in design["findings"] if d["code"] == "E0403"}
    assert found == ({severity} if severity else set()), design["findings"]
