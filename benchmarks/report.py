"""Tables and plots of recorded figures, in docs/performance.md and README.md between the comments that mark
their places.

Nothing is measured here: `write` takes what `run.py` has recorded. A part that was never recorded keeps what
stands in its place.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import plots
from exponent import LARGE, slope

Record = Mapping[str, Any]
Recorded = Mapping[str, Any]
"""``{"machine": {…}, "records": […]}`` of each part, by its name."""

TITLES = {
    "startup": "Calls from the shell",
    "memory": "Memory of columns, and of a graph",
    "elaboration": "Elaboration, and building a graph",
    "exponent": "Elaboration against size",
    "graphs": "Questions about graphs",
    "failures": "2,000 failure scenarios",
    "throughput": "Throughput of all-to-all",
    "cabling": "Rows to the disk",
    "configurations": "Configurations to the disk",
    "builds": "Whole builds",
    "proofs": "Proofs of irregular designs",
    "proof size": "A check, and what of it is elaboration",
    "large": "Large designs",
    "editor": "Edits of gpu131k, by the clock",
}
FIRST = "gpu131k, with imports"
"""The case of the elaboration that README.md quotes."""
QUOTED = (
    ("elaboration", FIRST, "networkx"),
    ("elaboration", FIRST, "rustworkx"),
    ("elaboration", FIRST, "igraph"),
    ("cabling", "gpu131k, links.csv", "csv.writer"),
)
"""The ratios of README.md: part, case, peer."""
LINES = {"exponent": "endpoints", "proof size": "links"}
"""Parts whose plot is a line a peer over the size, and what the size counts."""


def file_of(part: str) -> str:
    """The file of a part's plot."""
    return part.replace(" ", "-") + ".svg"


def plot(part: str, records: Sequence[Record]) -> str:
    """The plot of a part as SVG."""
    clock = all(r.get("cpu_s") is None for r in records)
    rounds = max((r.get("rounds", 0) for r in records), default=0)
    what = (
        f"{'seconds of the clock' if clock else 'processor time'}, "
        f"{'one run' if rounds == 1 else f'median of {rounds} by turns'}"
    )
    if part in LINES:
        return plots.lines(records, TITLES[part], what, LINES[part])
    if part == "memory":
        return plots.bars(
            records,
            TITLES[part],
            "bytes a link",
            lambda r: (r["bytes_a_link"],) * 3 if "n" in r else None,
            "{:,.0f}".format,
        )
    return plots.bars(records, TITLES[part], what + ("" if rounds == 1 else "; black: least to greatest"))


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(r) + " |" for r in (head, ["---"] * len(head), *rows)]


def _skipped(record: Record) -> str:
    reason = str(record["skipped"]).removeprefix("skipped: ")
    return "not installed" if reason.startswith("No module named") else reason


def _cell(record: Record | None, own: Record | None) -> str:
    """A time and its ratio to that of tdsl."""
    if record is None:
        return ""
    found = plots.figures(record)
    if found is None:
        return _skipped(record)
    peer = own is not None and not record["peer"].startswith(
        "tdsl"
    )  # others of tdsl are parts of the same work, or more of it
    ours = plots.figures(own) if own is not None and peer else None
    return plots.seconds(found[0]) + (f" ({_ratio(found[0] / ours[0])} times)" if ours and ours[0] else "")


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _spread(records: Sequence[Record]) -> str:
    """The widest distance of least and greatest among the peers of a case, as a share of the median."""
    found = [f for r in records if r.get("rounds", 1) > 1 and (f := plots.figures(r)) is not None and f[0]]
    return f"{max((most - least) / median for median, least, most in found):.0%}" if found else "one run"


def _by_case(
    records: Sequence[Record], cell: Callable[[Record | None, Record | None], str] = _cell
) -> list[str]:
    """A row a case, a column a peer."""
    cases, peers = (list(dict.fromkeys(r[k] for r in records)) for k in ("case", "peer"))
    rows = []
    for case in cases:
        of = {r["peer"]: r for r in records if r["case"] == case}
        n = next((f"{r['n']:,} {r['unit']}" for r in of.values() if r.get("n")), "")
        rows.append([case, n, *(cell(of.get(p), of.get("tdsl")) for p in peers), _spread(list(of.values()))])
    head = ["case", "size", *peers, "spread"]
    if not any(r[1] for r in rows):
        head, rows = [head[0], *head[2:]], [[r[0], *r[2:]] for r in rows]
    return _rows(head, rows)


def _startup(records: Sequence[Record]) -> list[str]:
    rows = []
    for r in records:
        found = plots.figures(r)
        if found is None:
            rows.append([f"`{r['peer']}`", _skipped(r), "", ""])
        else:
            rows.append([f"`{r['peer']}`", plots.seconds(found[0]), plots.seconds(r["wall_s"]), _spread([r])])
    return _rows(("command", "processor time", "by the clock", "spread"), rows)


def _memory(records: Sequence[Record]) -> list[str]:
    def cell(record: Record | None, own: Record | None) -> str:
        return (
            ""
            if record is None
            else _skipped(record)
            if "skipped" in record
            else f"{record['bytes_a_link']:,.0f} bytes a link, process {record['peak_mb']:.0f} MB"
        )

    return _by_case(records, cell)


def _peak(record: Record | None, own: Record | None) -> str:
    text = _cell(record, own)
    if record is None or "skipped" in record:
        return text
    return (
        f"{text}, {record['peak_mb'] / 1000:.2g} GB"
        if record["peak_mb"] >= 995
        else f"{text}, {record['peak_mb']:.0f} MB"
    )


def _failures(records: Sequence[Record]) -> list[str]:
    rows = []
    for r in records:
        rate = _skipped(r) if "skipped" in r else f"{r['n'] / r['cpu_s']:,.0f}"
        rows.append([r["case"], r["peer"], rate, _spread([r])])
    return _rows(("case", "by", "scenarios a processor second", "spread"), rows)


def _proofs(records: Sequence[Record]) -> list[str]:
    rows = [
        [f"`{r['case']}`", plots.seconds(r["cpu_s"]), f"{r['asked_s']:g} s", f"{r['peak_mb']:,.0f} MB",
         r["bounds"], r["met"]]
        for r in records
    ]  # fmt: skip
    return _rows(("design", "processor time", "at most asked", "peak memory", "bounds asked", "met"), rows)


def _exponent(records: Sequence[Record]) -> list[str]:
    out = [*_by_case(records, _peak), ""]
    for peer, what in (("tdsl", "elaboration"), ("tdsl, with the lists", "elaboration and the lists")):
        found = [r for r in records if r["peer"] == peer and "skipped" not in r]
        large = [r for r in found if r["n"] >= LARGE]
        if len(found) > 1:
            more = f", and from {LARGE:,} endpoints on {slope(large):.2f}" if len(large) > 1 else ""
            out.append(f"- The exponent of {what} is {slope(found):.2f}{more}.")
    return out


FORMS: Mapping[str, Callable[[Sequence[Record]], list[str]]] = {
    "startup": _startup,
    "memory": _memory,
    "elaboration": lambda records: _by_case(records, _peak),
    "exponent": _exponent,
    "failures": _failures,
    "proofs": _proofs,
    "cabling": lambda records: _by_case(records, _peak),
    "builds": lambda records: _by_case(records, _peak),
    "large": lambda records: _by_case(records, _peak),
}


def table(part: str, records: Sequence[Record]) -> list[str]:
    """The table of a part in Markdown."""
    return FORMS.get(part, _by_case)(records)


def block(part: str, recorded: Recorded) -> str:
    """What stands between the comments of a part: the table, how it was measured, and the plot."""
    m, records = recorded["machine"], recorded["records"]
    rounds = max((r.get("rounds", 0) for r in records), default=0)
    versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items())
    how = "One run each" if rounds == 1 else f"The median of {rounds} runs each, by turns"
    method = (
        f"{how}, on {m['cores']} cores of {m['cpu']} with {m['memory_gb']} GB; load before the run "
        f"{m['load']:.1f}. "
        f"{m['system']}, {versions}; tdsl at {m['commit']}."
    )
    image = f"![{TITLES[part]}](performance/{file_of(part)})"
    return "\n".join([*table(part, records), "", *textwrap.wrap(method, 126), "", image])


def faster(found: Mapping[str, Recorded]) -> str:
    """A line for each case in which a peer takes less processor time than tdsl."""
    out = []
    for part, recorded in found.items():
        for case in dict.fromkeys(r["case"] for r in recorded["records"]):
            of = {r["peer"]: r for r in recorded["records"] if r["case"] == case and r.get("cpu_s")}
            own = of.pop("tdsl", None)
            less = [
                (r["cpu_s"] / own["cpu_s"], peer)
                for peer, r in of.items()
                if own and not peer.startswith("tdsl")
            ]
            words = ", ".join(f"{peer} {_ratio(share)} times" for share, peer in sorted(less) if share < 1)
            if words:
                out += textwrap.wrap(
                    f"- {part}, {case}: {words} the processor time of tdsl.", 126, subsequent_indent="  "
                )
    return "\n".join(out or ["In no case."])


def quoted(found: Mapping[str, Recorded]) -> str | None:
    """The figures of README.md: seconds and memory of a first elaboration, and four ratios; None if one was
    not measured."""
    ratios = []
    for part, case, peer in QUOTED:
        records = found[part]["records"] if part in found else ()
        of = {r["peer"]: r.get("cpu_s") for r in records if r["case"] == case}
        if not of.get(peer) or not of.get("tdsl"):
            return None
        ratios.append(_ratio(of[peer] / of["tdsl"]))
    own, peer = (
        next(r for r in found["elaboration"]["records"] if r["case"] == FIRST and r["peer"] == who)
        for who in ("tdsl", "networkx")
    )
    text = (
        "A new process elaborates 131,072 GPUs with 2,097,152 links in {:.1f} s of processor time, imports "
        "included: {} times as fast as networkx builds the same graph from lists that it is given, {} times "
        "as fast as rustworkx, and {} times as fast as igraph, which assigns no ports and lays no cables. "
        "The process takes {:.2g} GB at its peak, that of networkx {:.2g} GB. `links.csv` is written {} "
        "times as fast as by Python's csv.writer. [The figures](docs/performance.md) say how they were "
        "measured, and where a peer is faster."
    )
    sizes = own["peak_mb"] / 1000, peer["peak_mb"] / 1000
    return "\n".join(textwrap.wrap(text.format(own["cpu_s"], *ratios[:3], *sizes, ratios[3]), 126))


def replaced(page: str, name: str, text: str) -> str:
    """A page with the text between ``<!-- bench: NAME -->`` and ``<!-- bench end -->`` exchanged. Raises
    ValueError."""
    begin, end = f"<!-- bench: {name} -->", "<!-- bench end -->"
    made, count = re.subn(
        f"({re.escape(begin)}\n).*?({re.escape(end)})",
        lambda m: f"{m[1]}\n{text}\n\n{m[2]}",
        page,
        flags=re.S,
    )
    if count != 1:
        raise ValueError(f"the page has {count} places for {name}: it needs one {begin} with {end} below")
    return made


def write(found: Mapping[str, Recorded], page: Path, readme: Path, pictures: Path) -> None:
    """Write the plots, and the tables and ratios into their places."""
    pictures.mkdir(parents=True, exist_ok=True)
    text = page.read_text(encoding="utf-8")
    for part, recorded in found.items():
        (pictures / file_of(part)).write_text(plot(part, recorded["records"]), encoding="utf-8")
        text = replaced(text, part, block(part, recorded))
    page.write_text(replaced(text, "faster", faster(found)) if found else text, encoding="utf-8")
    ratios = quoted(found)
    if ratios is not None:
        readme.write_text(replaced(readme.read_text(encoding="utf-8"), "ratios", ratios), encoding="utf-8")
