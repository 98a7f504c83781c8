"""An audit as a summary, as Markdown and as a JSON document."""

from __future__ import annotations

from collections import Counter

from tdsl.explain import catalogue
from tdsl.observe.asbuilt import Promise, Repair, repairs_by_gain
from tdsl.observe.audit import Audit
from tdsl.system.nouns import counted_noun

MOST_REPAIRS = 6
"""Repairs that the summary names; the work list and JSON have all."""


def audit_summary(made: Audit) -> str:
    """A few lines: how many links were seen as designed, of a cluster also those of each of its networks, and
    how many faults there are."""
    head = _share_text(made.fabric.name, made.matching, int(made.judged.sum()), made.fabric.link_count)
    if not int(made.judged.sum()) and made.facts.used:
        head = f"{made.fabric.name}: no link was judged"
    head += "".join(
        f"; {made.facts.as_designed[kind]:,} of {n:,} {kind} as designed"
        for kind, n in made.facts.used_by_kind.items()
    )
    networks = [f"  {_share_text(s.name, s.matching, s.judged, s.links)}" for s in made.shares()]
    networks += [f"  {_rows_in_words(made)}"]
    if not made.faults:
        return "\n".join([f"{head}; no faults", *networks]) + "\n"
    count = Counter(f.finding.code for f in made.faults)
    kinds = ", ".join(f"{n} {catalogue.finding_name(code)}" for code, n in sorted(count.items()))
    lines = [f"{head}; {counted_noun(len(made.faults), 'fault')}: {kinds}", *networks]
    lines += map(_promise_in_words, made.promises)
    lines += [_repair_in_words(repair, made) for repair in repairs_by_gain(made)[:MOST_REPAIRS]]
    return "\n".join(lines) + "\n"


def _rows_in_words(made: Audit) -> str:
    """How many rows of the captures were read, used and set aside, those of other things than links too."""
    seen, facts = made.seen, made.facts
    left = len(seen.observed.left)
    read = len(seen.observed.wires) + left + seen.observed.fact_rows
    if seen.observed.findings.has_errors:
        return f"{counted_noun(read, 'row')} read, none judged: the captures have errors"
    aside = len(seen.aside) + left + len(facts.aside)
    again = f", {seen.again:,} of them again" if seen.again else ""
    return f"{counted_noun(read, 'row')} read: {seen.used + facts.used:,} used{again}, {aside:,} set aside"


def _promise_in_words(p: Promise) -> str:
    """A requirement in one line: whether it is kept as built, and by which value."""
    word = "kept" if p.kept else "not kept"
    about = f"{p.network}: " if p.network else ""
    said = p.built.text or p.built.reason
    return f"  {word:9} {about}{p.built.requirement}  {p.built.status} as built: {said}"


def _repair_in_words(repair: Repair, made: Audit) -> str:
    """A repair in one line: the fault, and which requirements it keeps alone or is needed for."""
    says = [f"keeps {', '.join(repair.alone)}"] if repair.alone else []
    says += [f"is needed for {', '.join(repair.among)}"] if repair.among else []
    return f"  repair {repair.fault}: {made.faults[repair.fault - 1].finding.message}: {'; '.join(says)}"


def _share_text(name: str, matching: int, judged: int, total: int) -> str:
    """How many links of a network are cabled as designed, of those judged."""
    if not judged:
        return f"{name}: none of {counted_noun(total, 'link')} was judged"
    of = counted_noun(judged, "link") if judged == total else f"the {judged:,} links judged (of {total:,})"
    if judged == 1 < total:
        of = f"the 1 link judged (of {total:,})"
    return f"{name}: {matching:,} of {of} {'is' if judged == 1 else 'are'} cabled as designed"


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
        "networks": [
            {
                "fabric": s.name,
                "links": s.links,
                "links_judged": s.judged,
                "links_as_designed": s.matching,
            }
            for s in made.shares()
        ],
        "rows": _rows_of_captures(made),
        "facts": _facts_of_captures(made),
        "requirements": [
            {
                **p.built.facts(),
                "kept": p.kept,
                **({"network": p.network} if p.network else {}),
                "designed": {
                    k: v
                    for k, v in p.designed.facts().items()
                    if k in ("status", "value", "lower", "upper", "text")
                },
                "gains": [{"fault": n, "status": g.status, "text": g.text} for n, g in p.gains],
                "mended_alone": p.judged,
                "restored_by": list(p.restoring),
                "restored_by_fewest": p.enough,
            }
            for p in made.promises
        ],
        "repairs": [
            {"fault": r.fault, "restores": list(r.alone), "needed_for": list(r.among)}
            for r in repairs_by_gain(made)
        ],
        "matched_by_position": [
            {"node": p.node, "device": made.fabric.device_name(p.device), "fit": p.fit, "links": p.links}
            for p in made.seen.positioned
        ],
    }


def _rows_of_captures(made: Audit) -> dict[str, object]:
    """Links that the captures list: read, used and set aside, the last with the reason and place of each;
    ``repeated`` are those used that another one had said already. Rows that a reader leaves out are links
    that are set aside."""
    seen = made.seen
    left = seen.observed.left
    return {
        "read": len(seen.observed.wires) + len(left),
        "used": seen.used,
        "repeated": seen.again,
        "set_aside": len(seen.aside) + len(left),
        "aside": [
            {"reason": why, "link": seen.captured(wire), "file": wire.at.file.name, "line": wire.at.number}
            for why, wire in seen.aside
        ]
        + [{"reason": r.why, "link": r.text, "file": r.at.file.name, "line": r.at.number} for r in left],
    }


def _facts_of_captures(made: Audit) -> dict[str, object]:
    """What captures say of other things than links: read, used and set aside, the last with reason and
    place; of each kind how many are as designed."""
    facts = made.facts
    return {
        "read": made.seen.observed.fact_rows,
        "used": facts.used,
        "set_aside": len(facts.aside),
        "aside": [
            {"reason": r.why, "row": r.text, "file": r.at.file.name, "line": r.at.number} for r in facts.aside
        ],
        "as_designed": {
            k: {"judged": n, "as_designed": facts.as_designed[k]} for k, n in facts.used_by_kind.items()
        },
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
