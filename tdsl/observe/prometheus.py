"""An audit as a text file for the textfile collector of Prometheus' node exporter: links expected and seen,
and faults.

Source: Prometheus, "Exposition formats", text format 0.0.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tdsl.explain import catalogue
from tdsl.observe.audit import Audit, NetworkShare

FAULTS_ACCEPTED = "tdsl_faults_accepted"
GAUGES = (
    ("tdsl_links_expected", "Links of the design that the captures show or would show."),
    ("tdsl_links_as_designed", "Links that are cabled as designed."),
    ("tdsl_links_not_judged", "Links of the design that no capture would show."),
    (FAULTS_ACCEPTED, "Faults on the list of accepted faults."),
)


def prometheus_metrics(made: Sequence[Audit]) -> str:
    """The metrics, labelled with the fabric: links with each network, faults with the cluster where networks
    are in one; faults by the name of their finding, and 0 where there are none."""
    out = []
    for name, help in GAUGES:
        out += [f"# HELP {name} {help}\n", f"# TYPE {name} gauge\n"]
        for m in made:
            if name == FAULTS_ACCEPTED:
                values = [(m.fabric.name, len(m.accepted))]
            else:
                shares = m.shares() or [_whole_audit_share(m)]
                column = [g for g, _ in GAUGES].index(name)
                values = [(s.name, (s.judged, s.matching, s.links - s.judged)[column]) for s in shares]
            out += [f'{name}{{fabric="{_escape_metric_label(of)}"}} {value}\n' for of, value in values]
    out += ["# HELP tdsl_faults Faults by the name of their finding.\n", "# TYPE tdsl_faults gauge\n"]
    for m in made:
        count = Counter(catalogue.finding_name(f.finding.code) for f in m.faults)
        for kind, n in sorted(count.items()) or [("", 0)]:
            out.append(
                f'tdsl_faults{{fabric="{_escape_metric_label(m.fabric.name)}",finding="{kind}"}} {n}\n'
            )
    return "".join(out)


def _whole_audit_share(made: Audit) -> NetworkShare:
    """The figures of an audit of a network by itself."""
    judged = int(made.judged.sum())
    return NetworkShare(made.fabric.name, made.fabric.link_count, made.of, judged, made.matching)


def _escape_metric_label(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
