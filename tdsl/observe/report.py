"""An audit as a summary, as Markdown and as a JSON document."""

from __future__ import annotations

from collections import Counter

from tdsl.explain import catalogue
from tdsl.observe.audit import Audit


def audit_summary(made: Audit) -> str:
    """A line or two: how many links were seen as designed, and how many faults there are."""
    judged, total = int(made.judged.sum()), made.fabric.link_count
    of = f"{judged:,} links" if judged == total else f"the {judged:,} links judged (of {total:,})"
    head = f"{made.fabric.name}: {made.matching:,} of {of} are cabled as designed"
    if not judged:
        head = f"{made.fabric.name}: none of {total:,} links was judged"
    if not made.faults:
        return f"{head}; no faults\n"
    count = Counter(f.finding.code for f in made.faults)
    kinds = ", ".join(f"{n} {catalogue.finding_name(code)}" for code, n in sorted(count.items()))
    lines = [f"{head}; {len(made.faults)} fault{'s' * (len(made.faults) != 1)}: {kinds}"]
    for p in made.promises:
        word = "kept" if p.kept else "not kept"
        lines.append(
            f"  {word:9} {p.built.requirement}  {p.built.status} as built: {p.built.text or p.built.reason}"
        )
    return "\n".join(lines) + "\n"


def audit_document(made: Audit) -> dict[str, object]:
    """What programs read of an audit, without the findings."""
    return {
        "fabric": made.fabric.name,
        "ok": not made.faults,
        "links": made.fabric.link_count,
        "links_judged": int(made.judged.sum()),
        "judged": int(made.judged.sum()),
        "of": made.of,
        "links_as_designed": made.matching,
        "faults": len(made.faults),
        "moves": sum(m.cost for m in made.mistakes),
        "requirements": [
            {
                **p.built.facts(),
                "kept": p.kept,
                "designed": {
                    k: v
                    for k, v in p.designed.facts().items()
                    if k in ("status", "value", "lower", "upper", "text")
                },
                "gains": [{"fault": n, "status": g.status, "text": g.text} for n, g in p.gains],
            }
            for p in made.promises
        ],
        "matched_by_position": [
            {"node": p.node, "device": made.fabric.device_name(p.device), "fit": p.fit, "links": p.links}
            for p in made.seen.positioned
        ],
    }


def audit_markdown(made: Audit) -> str:
    """A table of the faults, for a comment or a ticket."""
    lines = [f"### {_audit_markdown_cell(made.fabric.name)}", "", audit_summary(made).strip(), ""]
    if made.faults:
        lines += ["| finding | what | what to do | capture |", "|---|---|---|---|"]
        for fault in made.faults:
            d = fault.finding
            at = f"{d.span.file.name}:{d.span.begin[0]}" if d.span is not None else ""
            lines.append(
                f"| {d.code} {catalogue.finding_name(d.code)} | {_audit_markdown_cell(d.message)} | "
                f"{_audit_markdown_cell(d.help)} | {_audit_markdown_cell(at)} |"
            )
        lines.append("")
    for d in made.notes:
        why = f": {_audit_markdown_cell('; '.join(d.notes))}" if d.notes else ""
        lines.append(f"- {_audit_markdown_cell(d.message)}{why}")
    return "\n".join(lines).rstrip("\n") + "\n"


def _audit_markdown_cell(text: str) -> str:
    """Text that stays in a cell of a table and is not markup."""
    out = " ".join(text.split()).replace("&", "&amp;")
    for sign in ("\\", "|", "`", "<", "*", "_", "[", "]"):
        out = out.replace(sign, f"\\{sign}" if sign != "<" else "&lt;")
    return out
