"""Commands: with nothing to judge their status is not 0, what changed is a difference, and none ends in a traceback."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from tdsl.cli import cli
from tdsl.compile.compiler import compile_without_checks
from tests.harness import written
from tests.soundness.families.changed_contracts import Change
from tests.soundness.families.empty_commands import Call
from tests.soundness.families.planted_captures import Capture
from tests.soundness.verdicts import Compared, Difference


def called(folder: Path, *args: str) -> Result:
    """The outcome of a call, with FILE arguments in a folder (those that are there)."""
    given = [str(folder / a) if (folder / a).exists() and a not in (".", "") else a for a in args]
    return CliRunner().invoke(cli, given, prog_name="tdsl")


def raised(done: Result) -> str:
    """What a call raised, "" if it ended by itself."""
    if done.exception is None or isinstance(done.exception, SystemExit):
        return ""
    return f"{type(done.exception).__name__}: {done.exception}"


def judged_capture(capture: Capture, folder: Path) -> Compared:
    """Audit one capture, and import it."""
    for path, text in capture.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    written(folder / "design.fab", capture.design)
    option, where, *more = capture.option.split()
    out = Compared(designs=1, figures=1)
    files = "\n".join(f"# {p}\n{t}" for p, t in capture.files.items())
    title = f"audit design.fab {capture.option}, {capture.format}: {capture.planted}"

    def differ(kind: str, command: str, done: Result, judged: str) -> None:
        said = [line for line in done.output.strip().splitlines() if '"message"' in line] or done.output.strip().splitlines()[-3:]
        last = " | ".join(said[:4])
        out.found.append(
            Difference(
                "planted_captures",
                kind,
                f"{command} {capture.format}",
                title,
                f"status {done.exit_code}: {last} {raised(done)}",
                judged,
                capture.seed,
                files,
            )
        )

    audit = called(folder, "audit", "design.fab", option, where, *more, "--format", "json")
    out.verdicts[f"audit {audit.exit_code}"] += 1
    if raised(audit):
        differ("traceback", "audit", audit, "a finding")
    elif capture.shows in ("nothing", "conflict") and audit.exit_code == 0:
        kind = "nothing judged is status 0" if capture.shows == "nothing" else "a conflict in a capture is status 0"
        differ(kind, "audit", audit, f"{capture.planted} in every file")
    elif capture.shows == "all" and audit.exit_code != 0:
        differ("a right capture has faults", "audit", audit, "status 0")
    for wrong in uncounted_rows(audit.stdout, capture):
        differ("rows are not counted", "audit", audit, wrong)
    taken = called(folder, "import", where, "--rate", "100Gbps", "-o", str(folder / "made.fab"))
    out.verdicts[f"import {taken.exit_code}"] += 1
    if raised(taken):
        differ("traceback", "import", taken, "a finding")
    elif capture.links == 0 and taken.exit_code == 0:
        differ("nothing read is status 0", "import", taken, "a capture without links")
    elif capture.shows == "nothing" and capture.planted != "other devices" and taken.exit_code == 0:
        differ("nothing read is status 0", "import", taken, f"{capture.planted} in every file")
    elif capture.links >= 0 and taken.exit_code == 0:
        made = compile_without_checks(str(folder / "made.fab")).designs[0].fabric
        if made is None or made.link_count != capture.links:
            found = "no fabric" if made is None else f"{made.link_count} links"
            differ("other links than the capture shows", "import", taken, f"{capture.links} links, not {found}")
    return out


def uncounted_rows(report: str, capture: Capture) -> list[str]:
    """Where an audit's counts of what was read are not those of what was used and set aside, or not those of the capture."""
    if report.lstrip()[:1] != "{":
        return []
    out = uncounted_facts(report)
    for one in json.loads(report)["fabrics"]:
        read = sum(one[kind]["read"] for kind in ("rows", "facts") if one.get(kind) is not None)
        if capture.facts >= 0 and read != capture.facts:
            out.append(f"{capture.facts} facts are in the capture, {read} were read")
    return out


def uncounted_facts(report: str) -> list[str]:
    """Where an audit's counts of what was read are not those of what was used and set aside."""
    out = []
    for one in json.loads(report)["fabrics"] if report.lstrip()[:1] == "{" else []:
        for kind in ("rows", "facts"):
            if (found := one.get(kind)) is None:
                continue
            if found["read"] != found["used"] + found["set_aside"] or found["set_aside"] != len(found["aside"]):
                out.append(f"{kind}: read {found['read']}, used {found['used']}, set aside {found['set_aside']}")
    return out


def judged_call(call: Call, folder: Path) -> Compared:
    """Call a command that has nothing to judge."""
    for path, text in call.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    out = Compared(designs=1, figures=1)
    done = called(folder, *call.args)
    out.verdicts[f"{call.args[0]} {done.exit_code}"] += 1
    text = "\n".join(f"# {p}\n{t}" for p, t in call.files.items())
    said = f"status {done.exit_code}: {' | '.join(done.output.strip().splitlines()[-3:])} {raised(done)}"
    kind = "traceback" if raised(done) else "nothing judged is status 0" if done.exit_code == 0 else ""
    if kind:
        out.found.append(Difference("empty_commands", kind, call.args[0], " ".join(call.args), said, call.why, call.number, text))
    return out


def judged_change(change: Change, folder: Path) -> Compared:
    """`diff` of two texts of one design."""
    written(folder / "old.fab", change.before)
    written(folder / "new.fab", change.after)
    out = Compared(designs=1, figures=1)
    done = called(folder, "diff", "old.fab", "new.fab", "--format", "json", "--detailed-exitcode")
    out.verdicts[f"diff {done.exit_code}"] += 1
    kind = ""
    if raised(done):
        kind = "traceback"
    elif done.exit_code == 2 or (done.exit_code == 1 and not done.stdout):  # the call, or one of the texts, is wrong
        out.refused = 1
    else:
        document = json.loads(done.stdout)
        same = all(f["same"] for f in document["fabrics"]) and document.get("same", True)
        if change.differs and (same or done.exit_code == 0):
            kind = "no difference is said"
        elif not change.differs and not same:
            kind = "a difference is said"
    if kind:
        said = f"status {done.exit_code}: {done.output[-300:]} {raised(done)}"
        both = f"# old.fab\n{change.before}\n# new.fab\n{change.after}"
        out.found.append(
            Difference("changed_contracts", kind, change.what, "diff old.fab new.fab", said, change.what, change.seed, both)
        )
    return out
