"""``tdsl init``: a project to start from: a design, and what checks it before each commit and each merge."""

from __future__ import annotations

import re
from pathlib import Path

import click

from tdsl.commands._everywhere import print_unless_quiet
from tdsl.commands._shared import Wrong
from tdsl.system.replace import folders_made_on_way
from tdsl.system.signals import hold_signals

DESIGN = """\
# {name}: 8 DGX H100 on 8 leaves and 4 spines. Change a number, then run `tdsl check {name}.fab`.
# `tdsl list hardware` shows the models that are known, `tdsl explain E0101` the page of a finding.

fabric {name} {{
  param nodes: int = 8 where 2 <= nodes <= 32  # tdsl check {name}.fab --set nodes=16

  host node[nodes]: DGX_H100  # node[0] .. node[7], each with nic[0] .. nic[7]
  switch leaf[8]: QM9700      # one leaf a rail, 64 ports of 400 Gb/s
  switch spine[4]: QM9700

  connect node[n].nic[r] to leaf[r]             # for every n and r: rail r of a node connects to leaf r
  connect leaf[*].p[33..64] to spine[*] spread  # 32 uplinks of each leaf, evenly; \
more nodes move none of them

  require reachability             # every node reaches every other
  require oversubscription <= 1:1  # no leaf has more below than above
  require edge_redundancy >= 8     # eight paths between any two nodes share no cable
}}
"""
SETTINGS = """\
# Options of tdsl's commands, by their long names. What a call says wins.

[check]
fail-on = "warning"

[build]
out = "out"
"""
HOOKS = """\
# Run by `pre-commit`, once `pre-commit install` was called here.
repos:
  - repo: local
    hooks:
      - id: tdsl-fmt
        name: tdsl fmt
        entry: tdsl fmt
        language: system
        files: \\.fab$
      - id: tdsl-check
        name: tdsl check
        entry: tdsl check --hook --output-format concise
        language: system
        files: \\.(fab|csv|lock)$|(^|/)tdsl\\.toml$
        require_serial: true
"""
GITHUB = """\
# Findings appear at their lines in the pull request, and what it changes as a comment.
name: designs
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
env:
  TDSL_UNTRUSTED: ${{{{ github.event_name == 'pull_request' }}}}  \
# no tdsl.toml, no links, limits of time and memory
  # where you publish tdsl's documentation: rules of SARIF link there
  TDSL_CHECK_HELP_URI: ${{{{ vars.TDSL_DOCS }}}}
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683  # v4.2.2
      - uses: actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065  # v5.6.0
        with:
          python-version: "3.12"
      - run: python -I -m pip install --quiet tdsl=={version}
      - run: tdsl fmt --check -- *.fab
      - run: tdsl check --fail-on warning --output-format github --report sarif=tdsl.sarif -- *.fab
      # for code scanning: `security-events: write` and github/codeql-action/upload-sarif
      - uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02  # v4.6.2
        if: always()
        with: {{name: sarif, path: tdsl.sarif, if-no-files-found: ignore}}
  # Every design of the repository that uses a file of the change: a library, a table, a lock.
  affected:
    if: github.event_name == 'pull_request'
    runs-on: ubuntu-latest
    env:
      SPAN: ${{{{ github.event.pull_request.base.sha }}}}...${{{{ github.event.pull_request.head.sha }}}}
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683  # v4.2.2
        with: {{fetch-depth: 0}}
      - uses: actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065  # v5.6.0
        with:
          python-version: "3.12"
      - run: python -I -m pip install --quiet tdsl=={version}
      - run: >-
          git diff --name-only -z "$SPAN" -- '*.fab' '*.csv' '*.lock'
          | xargs -0 -r tdsl check --hook --fail-on warning --output-format github --
  # What the change does. This job runs tdsl and may write nothing; the next one writes and runs no tdsl.
  change:
    if: github.event_name == 'pull_request'
    runs-on: ubuntu-latest
    timeout-minutes: 15
    env:
      SPAN: ${{{{ github.event.pull_request.base.sha }}}}...${{{{ github.event.pull_request.head.sha }}}}
    outputs:
      comment: ${{{{ steps.diff.outputs.comment }}}}
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683  # v4.2.2
        with: {{fetch-depth: 0}}
      - uses: actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065  # v5.6.0
        with:
          python-version: "3.12"
      - run: python -I -m pip install --quiet tdsl=={version}
      - id: diff
        run: |
          tdsl diff "$SPAN" --output-format markdown --picture change.svg > change.md || [ $? -eq 1 ]
          cat change.md >> "$GITHUB_STEP_SUMMARY"
          comment=$(head -c 90000 change.md | iconv -c -f utf-8 -t utf-8 | base64 -w 0)
          echo "comment=$comment" >> "$GITHUB_OUTPUT"
      - uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02  # v4.6.2
        if: always()
        with: {{name: change, path: change.svg, if-no-files-found: ignore}}
  comment:
    needs: change
    if: github.event.pull_request.head.repo.full_name == github.repository  # a fork's run may not write
    runs-on: ubuntu-latest
    permissions:
      pull-requests: write
    env:
      GH_TOKEN: ${{{{ github.token }}}}
      GH_REPO: ${{{{ github.repository }}}}
      COMMENT: ${{{{ needs.change.outputs.comment }}}}
      NUMBER: ${{{{ github.event.pull_request.number }}}}
      PICTURE: ${{{{ github.server_url }}}}/${{{{ github.repository }}}}/actions/runs/${{{{ github.run_id }}}}
    steps:
      - name: comment
        run: |
          base64 -d <<< "$COMMENT" > change.md
          printf '\\n[The picture: removed red, added green](%s)\\n' "$PICTURE" >> change.md
          gh pr comment "$NUMBER" --edit-last --create-if-none --body-file change.md
"""
GITLAB = """\
# Findings appear in the merge request, and what it changes as a comment.
designs:
  image: python:3.12-slim
  script:
    - python -I -m pip install --quiet tdsl=={version}
    - tdsl fmt --check -- *.fab
    # no tdsl.toml, no links, limits of time and memory for the designs of a merge request
    - |
      if [ "${{CI_PIPELINE_SOURCE:-}}" = merge_request_event ]; then export TDSL_UNTRUSTED=true; fi
      tdsl check --fail-on warning --report gitlab=gl-code-quality-report.json \
--report junit=junit.xml -- *.fab
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
      junit: junit.xml
# Every design of the repository that uses a file of the change, and what the change does.
change:
  image: python:3.12  # with git
  timeout: 15 minutes
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  variables:
    GIT_DEPTH: "0"
    TDSL_UNTRUSTED: "true"
  script:
    - python -I -m pip install --quiet tdsl=={version}
    - >-
      tdsl diff "$CI_MERGE_REQUEST_DIFF_BASE_SHA..$CI_COMMIT_SHA"
      --output-format markdown --picture change.svg > change.md || [ $? -eq 1 ]
    - >-
      git diff --name-only -z "$CI_MERGE_REQUEST_DIFF_BASE_SHA..$CI_COMMIT_SHA" -- '*.fab' '*.csv' '*.lock'
      | xargs -0 -r tdsl check --hook --fail-on warning --
  artifacts:
    when: always
    paths: [change.md, change.svg]
# Needs TDSL_COMMENT_TOKEN: an access token of the project with the scope api, masked. This job runs no tdsl.
comment:
  image: python:3.12-slim
  needs: [change]
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event" && $TDSL_COMMENT_TOKEN
      when: always
  variables:
    GIT_STRATEGY: none
  script:
    - |
      python -I - <<'END'
      import json, os, urllib.request
      e = os.environ
      request = "projects/{{CI_MERGE_REQUEST_PROJECT_ID}}/merge_requests/{{CI_MERGE_REQUEST_IID}}"
      notes, mark = ("{{CI_API_V4_URL}}/" + request + "/notes").format(**e), "<!-- tdsl diff -->"
      head = {{"PRIVATE-TOKEN": e["TDSL_COMMENT_TOKEN"], "Content-Type": "application/json"}}
      def ask(method, url, body=None):
          said = None if body is None else json.dumps(body).encode()
          return json.load(urllib.request.urlopen(urllib.request.Request(url, said, head, method=method)))
      own = ask("GET", "{{CI_API_V4_URL}}/user".format(**e))["id"]
      held = [n["id"] for n in ask("GET", notes + "?per_page=100&sort=asc")
              if n["author"]["id"] == own and n["body"].startswith(mark)]
      body = {{"body": mark + "\\n" + open("change.md", encoding="utf-8").read()}}
      ask(*(("PUT", f"{{notes}}/{{held[0]}}") if held else ("POST", notes)), body)
      END
"""
IGNORED = """\
# What tdsl's commands write here.
out/
gl-code-quality-report.json
junit.xml
tdsl.sarif
change.md
change.svg
"""
PIPELINES = {"github": (".github/workflows/designs.yml", GITHUB), "gitlab": (".gitlab-ci.yml", GITLAB)}


@click.command(
    "init",
    short_help="Start a project: a small commented design, and what checks it.",
    epilog="\b\nExamples:\n  tdsl init my_fabric && tdsl check my_fabric.fab\n  tdsl init my_fabric --ci "
    "gitlab\n"
    "  tdsl init my_fabric --bare        (the design and nothing else)\n"
    "  tdsl init my_fabric --ask         (a design for your hosts and switches)\n"
    "  tdsl init my_pod --from dgx_superpod_h100            (a copy of a design of the library)\n"
    "  tdsl init my_pod --from dgx_superpod_h100 --extend   (uses that design, and adds to it)\n"
    "  tdsl init my_fabric --audit infiniband   (and a pipeline that audits the network each night)",
)
@click.argument("name", required=False)
@click.option(
    "--ci",
    type=click.Choice([*PIPELINES, "none"]),
    default="github",
    show_default=True,
    help="Whose pipeline to write.",
)
@click.option(
    "--audit",
    type=click.Choice(["infiniband", "lldp"]),
    help="Also write a pipeline that audits the network each night, by ibnetdiscover or by lldpd.",
)
@click.option("--bare", is_flag=True, help="Write the design only.")
@click.option(
    "--ask", is_flag=True, help="Ask for hosts, switches, ratio and failures, and write a design that passes."
)
@click.option(
    "--from",
    "base",
    metavar="DESIGN",
    envvar="TDSL_INIT_FROM",
    help="Begin with a design of the library: its text and that of what it uses, comments included.",
)
@click.option(
    "--extend", is_flag=True, help="With --from: use the design and add to it, instead of copying its text."
)
def command(
    name: str | None, ci: str, audit: str | None, bare: bool, ask: bool, base: str | None, extend: bool
) -> None:
    """Start a project in this folder: NAME.fab (my_fabric.fab if not given), tdsl.toml, .gitignore, hooks for
    pre-commit and a pipeline.

    Files that are there are left alone: a design of this name gets what checks it. With --bare, --ask or
    --from it is an error.
    """
    _refuse_options_at_odds(ask, base, extend)
    name = "my_fabric" if name is None else name.removesuffix(".fab")
    _refuse_unfit_project(name, ci, audit, bare)
    design = Path(f"{name}.fab")
    own = bare or ask or base is not None
    if own and design.exists():
        raise Wrong(f"{design} is there already; choose another name")
    new = _write_unless_there(design, _text_of_design(name, ask, base, extend))
    if own and not new:
        raise Wrong(f"{design} is there already; choose another name")
    if not bare:
        for place, text in _files_of_project(name, ci, audit).items():
            done = _write_unless_there(Path(place), text)
            print_unless_quiet(f"{place} is {_fate_of_file(done)}")
    print_unless_quiet(f"{design} is {_fate_of_file(new)}; try: tdsl check {design}")


def _refuse_options_at_odds(ask: bool, base: str | None, extend: bool) -> None:
    """Raise UsageError where two options say where the design comes from, or none does that one needs."""
    if extend and base is None:
        raise click.UsageError("--extend needs --from: the design that is used")
    if ask and base is not None:
        raise click.UsageError("--ask and --from both write the design; give one of them")


def _fate_of_file(written: bool) -> str:
    return "written" if written else "there already and left alone"


def _text_of_design(name: str, ask: bool, base: str | None, extend: bool) -> str:
    """The design to begin with: from answers, from the library, or the small one."""
    if ask:
        from tdsl.commands._ask import design_from_answers

        return design_from_answers(name)
    if base is None:
        return DESIGN.format(name=name)
    from tdsl.commands._library_designs import extending_design, flattened_design, named_library_design

    path = named_library_design(base)
    return extending_design(path, name) if extend else flattened_design(path, name)


def _refuse_unfit_project(name: str, ci: str, audit: str | None, bare: bool) -> None:
    """Refuse a name that no fabric can have, and an audit without a pipeline."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise click.UsageError(
            f"{name!r} cannot name a fabric: letters, digits and _ only, and no digit first"
        )
    if audit and (bare or ci not in PIPELINES):
        raise click.UsageError("--audit writes a pipeline: give --ci github or --ci gitlab, and no --bare")


def _files_of_project(name: str, ci: str, audit: str | None) -> dict[str, str]:
    """The files beside a design, by path: settings, hooks and pipelines. What cannot be written is
    printed."""
    from tdsl import __version__

    others = {"tdsl.toml": SETTINGS, ".pre-commit-config.yaml": HOOKS, ".gitignore": IGNORED}
    if ci in PIPELINES:
        path, text = PIPELINES[ci]
        others[path] = text.format(version=__version__)
    if audit:
        from tdsl.commands._nightly import INCLUDE, nightly_audit_pipeline

        place, text = nightly_audit_pipeline(ci, audit, name, __version__)
        others[place] = text
        if ci == "gitlab" and not Path(path).exists():
            others[path] = INCLUDE + others[path]
        elif ci == "gitlab":
            print_unless_quiet(f"add to {path}:\n{INCLUDE}".rstrip())
    return others


def _write_unless_there(path: Path, text: str) -> bool:
    """Write a file, unless it is there. No link is followed: it may have come with somebody else's
    checkout."""
    for folder in path.parents[:-1]:
        if folder.is_symlink():
            raise Wrong(
                f"{folder} is a link to another folder, and `tdsl init` writes here only; put a folder in "
                "its place"
            )
    begun = False
    try:
        with hold_signals(), folders_made_on_way(path, path.parent):
            try:
                with path.open("x", encoding="utf-8") as out:
                    begun = True
                    out.write(text)
            except OSError:
                if begun:
                    path.unlink(missing_ok=True)
                raise
    except FileExistsError:
        return False
    except OSError as fault:
        raise Wrong(f"{path}: {fault.strerror or fault}") from None
    return True
