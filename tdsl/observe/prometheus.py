"""An audit as a text file for the textfile collector of Prometheus' node exporter: links expected and seen,
and faults.

Source: Prometheus, "Exposition formats", text format 0.0.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tdsl.explain import catalogue
from tdsl.observe.audit import Audit

GAUGES = (
    ("tdsl_links_expected", "Links of the design that the captures show or would show."),
    ("tdsl_links_as_designed", "Links that are cabled as designed."),
    ("tdsl_links_not_judged", "Links of the design that no capture would show."),
    ("tdsl_faults_accepted", "Faults on the list of accepted faults."),
)


def prometheus_metrics(made: Sequence[Audit]) -> str:
    """The metrics, labelled with the fabric; faults by the name of their finding, and 0 where there are
    none."""
    out = []
    for name, help in GAUGES:
        out += [f"# HELP {name} {help}\n", f"# TYPE {name} gauge\n"]
        for m in made:
            expected = int(m.judged.sum())
            value = (expected, m.matching, m.fabric.link_count - expected, len(m.accepted))[
                [g for g, _ in GAUGES].index(name)
            ]
            out.append(f'{name}{{fabric="{_escape_metric_label(m.fabric.name)}"}} {value}\n')
    out += ["# HELP tdsl_faults Faults by the name of their finding.\n", "# TYPE tdsl_faults gauge\n"]
    for m in made:
        count = Counter(catalogue.finding_name(f.finding.code) for f in m.faults)
        for kind, n in sorted(count.items()) or [("", 0)]:
            out.append(
                f'tdsl_faults{{fabric="{_escape_metric_label(m.fabric.name)}",finding="{kind}"}} {n}\n'
            )
    return "".join(out)


def _escape_metric_label(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
