"""Calls of ``planted_world``: what each says, against what the generator expects."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from tdsl.cli import cli
from tdsl.compile.compiler import compile_without_checks
from tests.soundness.families.planted_world import Call, Case, case_of_seed
from tests.soundness.judge_commands import raised, uncounted_facts
from tests.soundness.verdicts import Compared, Difference


def judged_world(seed: int, folder: Path) -> Compared:
    """All calls of a case, in a folder with its files."""
    kind, case = case_of_seed(seed)
    out = Compared(designs=1)
    write_files(case, folder)
    for call in case.calls:
        done = called_in(folder, call.args)
        found = facts_of_call(call, done, folder)
        out.figures += len(call.expected)
        out.verdicts[f"{call.args[0]} {done.exit_code}"] += 1
        wrong = {k: found.get(k) for k, v in call.expected.items() if not is_as_expected(k, v, found)}
        judged = {k: call.expected[k] for k in wrong}
        if raised(done):
            wrong, judged = {"raised": raised(done)}, {"raised": ""}
        wrong |= {f"rows {k}": x for k, x in enumerate(uncounted_facts(done.stdout))} if call.args[0] == "audit" else {}
        if wrong:
            said = [line.strip() for line in done.output.splitlines() if '"message"' in line or line.startswith("error")]
            text = "\n".join(f"# {p}\n{t if isinstance(t, str) else t[:4000]!r}" for p, t in case.files.items())
            title = f"{case.planted}: {' '.join(call.args)}"
            answer = f"{wrong} | {' | '.join(said[:3] or done.output.strip().splitlines()[-3:])}"
            out.found.append(Difference("planted_world", kind, call.args[0], title, answer, str(judged), seed, text))
    return out


def called_in(folder: Path, args: Sequence[str]) -> Result:
    """The outcome of a call in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(cli, list(args), prog_name="tdsl")
    finally:
        os.chdir(before)


def write_files(case: Case, folder: Path) -> None:
    """Files of a case; those of ``git`` as branches of a repository."""
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if not (folder / "git").is_dir():
        return

    def git(*args: str) -> None:
        named = ("-c", "user.email=a@example.com", "-c", "user.name=a")
        subprocess.run(["git", "-C", str(folder), *named, *args], check=True, capture_output=True)

    git("init", "-q", "-b", "main", ".")
    for branch in ("base", "branch"):
        if branch == "branch":
            git("checkout", "-q", "-b", "branch")
            git("rm", "-q", "-r", "*.fab")
        for path in sorted((folder / "git" / branch).rglob("*.fab")):
            at = folder / path.relative_to(folder / "git" / branch)
            at.parent.mkdir(exist_ok=True)
            at.write_text(path.read_text())
            git("add", str(at.relative_to(folder)))
        git("commit", "-q", "--allow-empty", "-m", branch)


def is_as_expected(key: str, expected: object, found: Mapping[str, Any]) -> bool:
    """Whether a fact is as expected: of a set nothing else; ``says`` and ``lacks`` are of the whole output."""
    if key in ("says", "lacks"):
        return (str(expected) in found["output"]) == (key == "says")
    if isinstance(expected, set):
        return set(found.get(key, ())) <= expected
    return bool(found.get(key) == expected)


def facts_of_call(call: Call, done: Result, folder: Path) -> dict[str, Any]:
    """What a call says and writes, by name."""
    out: dict[str, Any] = {"status": done.exit_code, "output": done.output}
    if call.args[0] == "import" and done.exit_code == 0:
        return out | facts_of_design(folder / "made.fab")
    if call.args[0] == "build":
        return out | groups_of_schedulers(folder / "out")
    if done.stdout.lstrip()[:1] != "{":
        return out
    document = json.loads(done.stdout)
    return out | DOCUMENTS.get(call.args[0], lambda _: {})(document)


def facts_of_audit(document: dict[str, Any]) -> dict[str, Any]:
    if not document["fabrics"]:
        return {}
    one = document["fabrics"][0]
    judged, right, rows = one["links_judged"], one["links_as_designed"], one["rows"]
    codes = sorted(d["code"] for d in one["findings"] if d["severity"] == "error")
    whole = judged == right == one["links"] > 0
    return {
        "codes": codes,
        "judged": judged,
        "as_designed": right,
        "all_as_designed": whole,
        "aside": rows["set_aside"],
        "read": rows["read"],
    }


def facts_of_plan(document: dict[str, Any]) -> dict[str, Any]:
    """Cables that are laid and removed, those that move in both; numbers of racks that the work touches."""
    one = document["fabrics"][0]
    work = " ".join(f"{w['device']} {w['from']} {w['to']}" for w in one["work"] if w["action"] in ("unplug", "plug", "move"))
    laid, removed = one["cables_laid"] + one["cables_moved"], one["cables_removed"] + one["cables_moved"]
    return {
        "fewer": removed - laid,
        "too_many": bool(laid and one["devices_relabelled"]),  # a rack is named anew, or cabled anew
        "touched": {int(n) for n in re.findall(r"\br(\d+)-", work)},
    }


def facts_of_diff(document: dict[str, Any]) -> dict[str, Any]:
    changes = [c for f in document["fabrics"] for c in f["contract"]]
    removed = sum(len(f["devices_removed"]) for f in document["fabrics"])
    renamed = any((c["part"], c["change"]) == ("design", "renamed") for c in changes)
    return {"same": document["same"], "devices_removed": removed, "renamed_file": renamed}


def facts_of_check(document: dict[str, Any]) -> dict[str, Any]:
    """Addresses of files in SARIF that have a scheme or begin at the root."""
    found: list[str] = re.findall(r'"uri": "([^"]*)"', json.dumps(document.get("runs", [{}])[0].get("results", [])))
    return {"schemes": sorted({u for u in found if ":" in u or u.startswith("/") or ".." in u})}


DOCUMENTS = {"audit": facts_of_audit, "plan": facts_of_plan, "diff": facts_of_diff, "check": facts_of_check}


def facts_of_design(path: Path) -> dict[str, Any]:
    """Devices, hosts by name, and links of a design that an import wrote."""
    fabric = compile_without_checks(str(path)).designs[0].fabric
    if fabric is None:
        return {}
    built = [d for d in range(fabric.device_count) if fabric.built[d]]
    hosts = sorted(fabric.device_name(d) for d in built if not fabric.is_switch[d])
    return {"links": fabric.link_count, "devices": len(built), "hosts": hosts}


def groups_of_schedulers(out: Path) -> dict[str, Any]:
    """Hosts that share a switch, for Slurm and for Kubernetes."""
    facts: dict[str, Any] = {}
    for path in out.rglob("topology.conf"):
        facts["slurm"] = sorted(sorted(expanded_node_list(m)) for m in re.findall(r" Nodes=(\S+)", path.read_text()))
    for path in out.rglob("labels.yaml"):
        groups: dict[str, list[str]] = defaultdict(list)
        pairs = re.findall(r'name: "([^"]+)"\s+labels:\s+fabric.topograph.run/tier-0: "([^"]+)"', path.read_text())
        for host, leaf in pairs:
            groups[leaf].append(host)
        facts["kubernetes"] = sorted(map(sorted, groups.values()))
    return facts


def expanded_node_list(nodes: str) -> list[str]:
    """Names of a list of nodes as Slurm writes it, with one range in brackets at most."""
    out = []
    for head, inside in re.findall(r"([^,\[]+)(?:\[([^\]]+)\])?", nodes):
        for part in inside.split(",") if inside else [""]:
            first, _, last = part.partition("-")
            out += [f"{head}{n}" for n in range(int(first), int(last or first) + 1)] if part else [head]
    return out
