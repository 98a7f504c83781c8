"""The pipelines of ``tdsl init --audit``: each night the network is read and compared with the design."""

from __future__ import annotations

INFINIBAND = ("sudo ibnetdiscover > fabric.topo", "--ibnetdiscover fabric.topo", "fabric.topo")
LLDP = (
    'mkdir -p captures; while read -r device; do ssh -n "$device" lldpcli -f json0 show neighbors > '
    '"captures/$device.json"'
    ' || rm "captures/$device.json"; done < devices.txt',
    "--lldp captures",
    "captures",
)
NETWORKS = {"infiniband": INFINIBAND, "lldp": LLDP}
ABOUT = """\
# The runner must reach the network: {needs}.
# The job fails if a fault is found. For faults that are known, make a list and \
add `--accept dead.txt` to the call:
#   tdsl audit {name}.fab {option} --accept dead.txt --reason "cables ordered" \
--ticket OPS-12 --until 2027-01-31
"""
NEEDS = {
    "infiniband": "ibnetdiscover is installed there, and sudo asks for no password",
    "lldp": "devices.txt has the names of the devices, a line each, and ssh logs in by a key",
}
GITHUB = """\
name: audit
on:
  schedule: [{{cron: "17 2 * * *"}}]
  workflow_dispatch:
permissions:
  contents: read
jobs:
  audit:
    runs-on: [self-hosted, {label}]
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683  # v4.2.2
      - run: python3 -I -m venv .audit && .audit/bin/python -I -m pip install --quiet tdsl=={version}
      - run: |
          {take}
      - run: >-
          .audit/bin/tdsl audit {name}.fab {option} -o worklist.csv --prometheus tdsl.prom --format markdown
          | tee report.md
        shell: bash  # with pipefail, so that faults fail the job
      - uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02  # v4.6.2
        if: always()
        with:
          name: audit
          path: |
            report.md
            worklist.csv
            tdsl.prom
            {capture}
"""
GITLAB = """\
# Add a schedule under Build, Pipeline schedules.
audit:
  rules:
    - if: $CI_PIPELINE_SOURCE == "schedule"
  tags: [{label}]
  script:
    - python3 -I -m venv .audit && .audit/bin/python -I -m pip install --quiet tdsl=={version}
    - |
      {take}
    - |
      set -o pipefail
      .audit/bin/tdsl audit {name}.fab {option} -o worklist.csv --prometheus tdsl.prom \
--format markdown | tee report.md
  artifacts:
    when: always
    paths: [report.md, worklist.csv, tdsl.prom, {capture}]
"""
PIPELINES = {"github": (".github/workflows/audit.yml", GITHUB), "gitlab": (".gitlab/audit.yml", GITLAB)}
INCLUDE = "include:\n  - local: .gitlab/audit.yml\n"


def nightly_audit_pipeline(ci: str, network: str, name: str, version: str) -> tuple[str, str]:
    """Path and text of the pipeline that audits NAME.fab each night, for a kind of pipeline and of
    network."""
    path, text = PIPELINES[ci]
    take, option, capture = NETWORKS[network]
    label = "infiniband" if network == "infiniband" else "ethernet"
    about = ABOUT.format(needs=NEEDS[network], name=name, option=option)
    return path, about + text.format(
        name=name, version=version, take=take, option=option, capture=capture, label=label
    )
