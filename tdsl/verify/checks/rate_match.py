"""Rates: both ends of a link run at its rate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric, Ints
from tdsl.prove.view import View
from tdsl.semantics.model import PortClass
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds
from tdsl.verify.ports import ClassTable, Joint, gbps_text, joints_of_links


class RateMatch(Check):
    """Both ends of a link run at its rate.

    ## What it means
    A link's rate is that of its two ports, which must agree. Where a `connect` writes `rate`, both ports must
    be able to run at least that fast; a panel or optical circuit switch on the way, too.

    ## Formula and source
    For a link of rate c between ports of rates r_a and r_b: c ≤ min(r_a, r_b), and r_a = r_b unless the
    statement says `rate`. A port without a rate (`any`) fits any.

    ## What it assumes
    A port runs at any rate below its own if the statement asks for it; whether a given device does is its
    datasheet's matter.

    ## A design that passes
    ```fab
    connect a.p[1] to b.p[1] { rate 200Gbps }               # two 400G ports at 200G
    ```

    ## A design that fails
    ```fab
    model switch FAST { port p[1..2]: 800Gbps { type GE800, NDR } }
    connect fast.p[1] to slow.p[1]                          # 800G into 400G
    ```

    ### What it prints
    ```
    E0220: fast.p[1] to slow.p[1]: an 800Gbps GE800 port into a 400Gbps NDR port
    ```
    """

    code = "E0220"
    name = "rate_match"
    wrong = "Two ends of a link with different rates"
    kind = "yes_no"
    fails_by_default = True
    monotone = True
    of_design = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        f, table = view.fabric, ClassTable.of(view.fabric)
        if not len(view.rows):
            return replace(property_holds("there are no links"), judged=0, of=0)
        links, rates = view.rows, table.rates()
        wrong = self._unlike_ends(view, table)
        joints: Iterable[Joint] = joints_of_links(f, table, wrong, f.link_a[wrong], f.link_b[wrong])
        laid = np.bincount(f.link_statement, minlength=len(f.statements))
        if not (f.complete or laid.all()):  # ports of a refused connect are taken by the next one
            joints = [j for j in joints if not self._ports_of_the_rate(f, j, _ends_of_joint(table, j))]
        faults = [self._fault(view, table, j) for j in joints]
        for via, end in ((f.link_via_a, f.link_a), (f.link_via_b, f.link_b)):
            crossing = links[via[links] >= 0]
            limit = rates[table.rows(f, via[crossing])]
            slow = crossing[(limit >= 0) & (f.link_rate[crossing] > limit)]
            faults += [
                self._slow_panel(view, table, j, int(via[j.link]))
                for j in joints_of_links(f, table, slow, end[slow], via[slow])
            ]
        if not faults:
            return property_holds("both ends of every link agree")
        worst = faults[0]
        return property_fails(worst.message, tuple(faults), {"links": sum(x.count for x in faults)})

    def links_at_fault(self, view: View) -> Ints:
        """Rows of the links between ports of unlike rates."""
        return self._unlike_ends(view, ClassTable.of(view.fabric))

    def _unlike_ends(self, view: View, table: ClassTable) -> Ints:
        f, links, rates = view.fabric, view.rows, table.rates()
        of_a = rates[table.rows(f, f.link_a[links])]
        of_b = rates[table.rows(f, f.link_b[links])]
        stated = np.array(["rate" in s.settings for s in f.statements], dtype=np.bool_)[
            f.link_statement[links]
        ]
        carried = f.link_rate[links]
        fast = ((of_a >= 0) & (carried > of_a)) | ((of_b >= 0) & (carried > of_b))
        unlike = (of_a >= 0) & (of_b >= 0) & (of_a != of_b) & ~stated
        wrong: Ints = links[fast | unlike]
        return wrong

    def _fault(self, view: View, table: ClassTable, joint: Joint) -> PropertyFault:
        f = view.fabric
        statement = f.statements[joint.statement]
        ends = f.port_path(int(f.link_a[joint.link])), f.port_path(int(f.link_b[joint.link]))
        words = table.words(joint.class_a), table.words(joint.class_b)
        rate = int(f.link_rate[joint.link])
        more = f" ({joint.count} links do)" if joint.count > 1 else ""
        stated = "rate" in statement.settings
        if stated:
            pair = f"{_with_article(words[0])} port and {_with_article(words[1])} port"
            message = f"{ends[0]} to {ends[1]} is asked to run at {gbps_text(rate)}, between {pair}"
        else:
            message = (
                f"{ends[0]} to {ends[1]}: {_with_article(words[0])} port into {_with_article(words[1])} port"
            )
        classes = _ends_of_joint(table, joint)
        slower = min((c.rate for c in classes if c.rate is not None), default=rate)
        labels = tuple(
            dict.fromkeys((c.origin.span, f"{w}, declared here") for c, w in zip(classes, words, strict=True))
        )
        split = "" if stated else _split_of_faster_port(classes, slower)
        help = self._help_for_rates(f, joint, classes, slower, split)
        named = self._ports_of_the_rate(f, joint, classes)
        help = f"{named}; or {help}" if named and not stated else help
        return PropertyFault(statement.origin, message + more, joint.count, labels, help=help)

    def _help_for_rates(
        self, f: Fabric, joint: Joint, classes: list[PortClass], slower: int, split: str
    ) -> str:
        """What to write so that both ends run at the slower rate, or the faster port is split."""
        chain = f.statements[joint.statement].origin.chain
        if split and any("topology" in words for _, words in chain):  # its block names the models
            end = f.link_a if classes[0].rate != slower else f.link_b
            model = f.models[int(f.device_model[f.port_device[int(end[joint.link])]])].name
            rate_of = f"the rate of its ports in its tier: `down CLASS at {gbps_text(slower)}`"
            return f"split the faster ports: `{model} {split.strip('`')}`; or write {rate_of}"
        return f"write `{{ rate {gbps_text(slower)} }}` behind the connect" + (
            f", or split the faster port: {split}" if split else ""
        )

    def _ports_of_the_rate(self, f: Fabric, joint: Joint, classes: list[PortClass]) -> str:
        """Advice to name other ports of one end: part of its class is split, and the rest runs at the rate of
        the other end."""
        a, b = classes
        for end, mine, other in ((f.link_a, a, b), (f.link_b, b, a)):
            device = int(f.port_device[int(end[joint.link])])
            parts = f.models[int(f.device_model[device])].classes
            for c in parts:
                if c.name == mine.name and c.axes != mine.axes and c.rate == other.rate:
                    name = f.sets[int(f.device_set[device])].name
                    ports = f"{name}.{c.name}[{c.axes[0].low}..{c.axes[0].high}]"
                    return f"name ports that run at {gbps_text(c.rate or 0)}: `{ports}`"
        return ""

    def _slow_panel(self, view: View, table: ClassTable, joint: Joint, port: int) -> PropertyFault:
        f = view.fabric
        rate, words = gbps_text(int(f.link_rate[joint.link])), _with_article(table.words(joint.class_b))
        message = f"{f.port_path(port)} carries {rate}, but is {words} port"
        labels = ((table.classes[joint.class_b].origin.span, "declared here"),)
        return PropertyFault(
            f.statements[joint.statement].origin,
            message,
            joint.count,
            labels,
            help="use a panel that carries the rate",
        )


def _ends_of_joint(table: ClassTable, joint: Joint) -> list[PortClass]:
    return [table.classes[joint.class_a], table.classes[joint.class_b]]


def _split_of_faster_port(classes: list[PortClass], slower: int) -> str:
    """The split that gives ports of the slower rate, as it is written; "" where there is none."""
    ways = [
        (c.name, c.rate // slower)
        for c in classes
        if c.rate is not None and c.rate % slower == 0 and c.rate > slower
    ]
    faster = (c for c in classes if c.rate != slower)
    return next(
        (f"`{{ split {n} {k} }}`" for (n, k), c in zip(ways, faster, strict=False) if k in c.splits), ""
    )


def _with_article(words: str) -> str:
    """``an 800Gbps GE800``, ``a 400Gbps NDR``."""
    return f"an {words}" if words.startswith(("8", "11", "18", "any")) else f"a {words}"
