"""NetGraph's scenarios: the nodes and links of ``network``, with blueprints, brackets, variables and rules.

Source: networmix/NetGraph, "Domain-Specific Language (DSL)", docs/reference/dsl.md (0.17 to 0.24): what each
key means and the order in which nodes, rules and links are made. Capacities have no unit there; its library
of components has them in Gbit/s, and so they are read here. Ports have no names, and get numbers in the order
of the links.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import product
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._designs import (
    PartsSetAside,
    line_of_mapping,
    list_of,
    mapping_of,
    rate_from_gigabits,
    shown_value,
)
from tdsl.observe.readers._neighbours import json_of_capture, json_text
from tdsl.observe.readers._paths import PatternRefused, has_groups, path_matcher, signs_in_pattern
from tdsl.observe.readers._yaml import MappingAtLine, documents_of_yaml
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    Malformed,
    Observed,
    plain_capture_name,
)
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun

FORMAT = "netgraph"
OPTION = "import"
MOST_VALUES = 1 << 20
"""Values of a scenario with those that its aliases repeat."""
MOST_NODES = 1 << 17
MOST_LINKS = 1 << 20
MOST_EXPANSIONS = 10_000
"""Copies of one block by its variables, as NetGraph has it."""
MOST_WORK = 1 << 26
"""Characters of names that are compared with paths, each for every sign of the path that is no letter: half a
microsecond for one of them."""
DEEPEST = 16
BRACKET = re.compile(r"\[([^\]]++)\]")
VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*+)\}|\$([A-Za-z_]\w*+)")
NUMBER = re.compile(r"\{n(?::(0?\d{1,2})d?)?\}")
PLACE = ("count", "template", "attrs", "disabled", "risk_groups")
NODE_KEYS = {"blueprint": ("blueprint", "params", *PLACE[2:]), "nodes": ("nodes", *PLACE[2:]), "": PLACE}
"""Keys of nodes: of those made of a blueprint, of those with nodes in them, and of others."""
LINK_KEYS = (
    "source",
    "target",
    "pattern",
    "count",
    "expand",
    "capacity",
    "cost",
    "disabled",
    "risk_groups",
    "attrs",
)
RULE_KEYS = {
    "node_rules": ("path", "match", "disabled", "attrs", "risk_groups", "expand"),
    "link_rules": (
        "source",
        "target",
        "bidirectional",
        "link_match",
        "capacity",
        "cost",
        "disabled",
        "risk_groups",
        "attrs",
        "expand",
    ),
}
HELP = "write it as NetGraph of releases 0.17 to 0.24 reads it"


@dataclass(slots=True)
class GraphNode:
    """A node of a scenario."""

    name: str
    attrs: dict[str, Any]
    disabled: bool
    line: int
    risk_groups: list[Any] = field(default_factory=list)
    ports: int = 0


@dataclass(slots=True)
class GraphLink:
    """A link of a scenario: one of several that an entry makes."""

    ends: tuple[str, str]
    facts: dict[str, Any]
    line: int


def recognises(head: str) -> bool:
    """Whether a text begins as a scenario: ``network`` or ``blueprints``, with links by source and target."""
    top = re.search(r"""^(?:\{\s*+)?["']?(?:network|blueprints)["']?\s*+:""", head, re.MULTILINE) is not None
    return top and all(
        re.search(rf"""\b{k}["']?\s*+:""", head) for k in ("nodes", "links", "source", "target")
    )


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the links of the network that a scenario makes."""
    if file.text.lstrip().startswith("{"):
        top = json_of_capture(file)
    else:
        documents = documents_of_yaml(file, HELP, MOST_VALUES)
        if len(documents) != 1:
            raise Malformed(1, f"{len(documents)} documents of YAML: a scenario is one", HELP)
        top = documents[0]
    scenario = mapping_of(top, 1, "the scenario")
    _ScenarioReader(file, into, scenario).read(mapping_of(scenario.get("network"), 1, "`network`"))


class _ScenarioReader:
    def __init__(self, file: SourceFile, into: Observed, scenario: Mapping[str, Any]) -> None:
        self.file, self.into, self.scenario = file, into, scenario
        self.aside = PartsSetAside(file)
        self.blueprints = mapping_of(scenario.get("blueprints"), 1, "`blueprints`")
        self.nodes: dict[str, GraphNode] = {}
        self.links: list[GraphLink] = []
        self.inner: list[tuple[Mapping[str, Any], str]] = []  # links of blueprints, and where these are used
        self.by_path: dict[str, list[GraphNode]] = {}
        self.work = 0

    def read(self, network: Mapping[str, Any]) -> None:
        """All of it, in NetGraph's order: nodes, their rules, links, their rules."""
        known = ("name", "version", "nodes", "links", *RULE_KEYS)
        for key in network:
            if key not in known:
                what = "of a release before 0.17" if key in ("groups", "adjacency") else "no key of it"
                raise Malformed(line_of_mapping(network), f"`{key}` of `network` is {what}", HELP)
        for name, facts in mapping_of(network.get("nodes"), 1, "`nodes`").items():
            self.add_nodes("", name, mapping_of(facts, line_of_mapping(network), f"node `{name}`"), {}, 0)
        for rule in self.rules(network, "node_rules"):
            self.change_nodes(rule)
        for facts, within in self.inner:
            self.add_links(facts, within)
        for facts in list_of(network.get("links"), 1, "`links`"):
            self.add_links(mapping_of(facts, line_of_mapping(facts), "a link"), "")
        for rule in self.rules(network, "link_rules"):
            self.change_links(rule)
        self.enter_links()
        self.count_what_is_lost()

    # ------------------------------------------------------------ nodes
    def add_nodes(
        self, within: str, name: str, facts: Mapping[str, Any], above: Mapping[str, Any], depth: int
    ) -> None:
        """The nodes of an entry; ``above`` are the attributes and the state that it inherits. Raises
        Malformed."""
        line = line_of_mapping(facts)
        if depth > DEEPEST:
            raise Malformed(line, f"nodes in nodes more than {DEEPEST} deep", HELP)
        form = next((k for k in ("blueprint", "nodes") if k in facts), "")
        self.only_keys(facts, NODE_KEYS[form], f"node `{name}`", line)
        attrs = {**above.get("attrs", {}), **mapping_of(facts.get("attrs"), line, "`attrs`")}
        groups = [*above.get("risk_groups", ()), *list_of(facts.get("risk_groups"), line, "`risk_groups`")]
        state = {
            "attrs": attrs,
            "disabled": above.get("disabled") or bool(facts.get("disabled")),
            "risk_groups": groups,
        }
        for one in names_of_brackets(name, line):
            path = f"{within}/{one}" if within else one
            if form:
                self.add_inner_nodes(form, path, facts, state, depth)
            elif "count" not in facts and "template" not in facts:
                self.add_node(path, state, line)
            else:
                template = json_text(facts.get("template")) or f"{one}-{{n}}"
                for number in range(1, self.count(facts.get("count", 1), line, MOST_NODES) + 1):
                    self.add_node(f"{path}/{label_of_template(template, number, line)}", state, line)

    def add_inner_nodes(
        self, form: str, path: str, facts: Mapping[str, Any], state: Mapping[str, Any], depth: int
    ) -> None:
        """Nodes within nodes: written there, or of a blueprint, whose links wait for the rules of nodes."""
        line = line_of_mapping(facts)
        if form == "nodes":
            inner = mapping_of(facts["nodes"], line, "`nodes`")
            params: Mapping[str, Any] = {}
        else:
            used = self.blueprints.get(json_text(facts["blueprint"]))
            if used is None:
                raise Malformed(line, f"there is no blueprint {shown_value(facts['blueprint'])}", HELP)
            used = mapping_of(used, line, "a blueprint")
            self.only_keys(used, ("nodes", "links"), "a blueprint", line_of_mapping(used))
            inner = mapping_of(used.get("nodes"), line, "`nodes`")
            params = mapping_of(facts.get("params"), line, "`params`")
            self.inner += [
                (mapping_of(x, line, "a link"), path) for x in list_of(used.get("links"), line, "`links`")
            ]
        for name, one in inner.items():
            changed = with_parameters(mapping_of(one, line, f"node `{name}`"), name, params)
            self.add_nodes(path, name, changed, state, depth + 1)

    def add_node(self, name: str, state: Mapping[str, Any], line: int) -> None:
        """One node. Raises Malformed."""
        plain_capture_name(name, line)
        if name in self.nodes:
            raise Malformed(line, f"two nodes are named `{name}`", HELP)
        if len(self.nodes) >= MOST_NODES:
            raise Malformed(line, f"there are more than {MOST_NODES:,} nodes")
        self.nodes[name] = GraphNode(
            name, dict(state["attrs"]), state["disabled"], line, state["risk_groups"]
        )

    def change_nodes(self, rule: Mapping[str, Any]) -> None:
        """Apply a rule to the nodes that it selects."""
        line = line_of_mapping(rule)
        selector = {"path": rule.get("path", ".*"), "match": rule.get("match")}
        for node in self.selected(selector, "", line, grouped=False):
            node.attrs |= mapping_of(rule.get("attrs"), line, "`attrs`")
            if rule.get("disabled") is not None:
                node.disabled = bool(rule["disabled"])

    # ------------------------------------------------------------ links
    def add_links(self, entry: Mapping[str, Any], within: str) -> None:
        """The links of an entry, for each value of its variables."""
        for facts in self.expanded(entry):
            line = line_of_mapping(entry)
            self.only_keys(facts, LINK_KEYS, "a link", line)
            pattern = facts.get("pattern", "mesh")
            if pattern not in ("mesh", "one_to_one"):
                raise Malformed(
                    line, f"the pattern of a link is {shown_value(pattern)}", "write mesh or one_to_one"
                )
            grouped = pattern == "one_to_one"
            near, far = (self.selected(facts.get(k), within, line, grouped) for k in ("source", "target"))
            if not near or not far:
                self.aside.add("entries of links that match no nodes", line)
                continue
            count = self.count(facts.get("count", 1), line, MOST_LINKS)
            pairs = self.pairs(near, far, grouped, line)
            if len(self.links) + len(pairs) * count > MOST_LINKS:
                raise Malformed(line, f"there are more than {MOST_LINKS:,} links")
            self.links += [GraphLink(p, dict(facts), line) for p in pairs for _ in range(count)]

    def pairs(
        self, near: list[GraphNode], far: list[GraphNode], one_to_one: bool, line: int
    ) -> list[tuple[str, str]]:
        """The pairs of nodes that a pattern joins, each once. Raises Malformed."""
        many, few = max(len(near), len(far)), min(len(near), len(far))
        if not one_to_one:
            if many * few > MOST_LINKS:
                raise Malformed(line, f"there are more than {MOST_LINKS:,} links")
            pairs = [(a.name, b.name) for a in near for b in far]
        elif many % few:
            raise Malformed(
                line, f"one_to_one of {many} and {few} nodes: one number is not a multiple of the other", HELP
            )
        else:
            pairs = [(near[i % len(near)].name, far[i % len(far)].name) for i in range(many)]
        once = {frozenset(p): p for p in reversed(pairs) if p[0] != p[1]}
        return list(reversed(once.values()))

    def change_links(self, rule: Mapping[str, Any]) -> None:
        """Apply a rule to the links between the nodes that it selects."""
        line = line_of_mapping(rule)
        near, far = (
            {n.name for n in self.selected(rule.get(k), "", line, False)} for k in ("source", "target")
        )
        both = rule.get("bidirectional", True)
        for link in self.links:
            a, b = link.ends
            if not ((a in near and b in far) or (both and a in far and b in near)):
                continue
            own = {"source": a, "target": b, "capacity": 1.0, "cost": 1.0, "disabled": False} | link.facts
            seen = {**mapping_of(own.get("attrs"), line, "`attrs`"), **own, "source": a, "target": b}
            if rule.get("link_match") and not matches(seen, rule["link_match"], line):
                continue
            for key in ("capacity", "cost", "disabled"):
                if rule.get(key) is not None:
                    link.facts[key] = rule[key]
            if rule.get("attrs"):
                more = mapping_of(rule["attrs"], line, "`attrs`")
                link.facts["attrs"] = {**mapping_of(link.facts.get("attrs"), line, "`attrs`"), **more}

    # ------------------------------------------------------------ selection
    def selected(self, selector: object, within: str, line: int, grouped: bool) -> list[GraphNode]:
        """The nodes that a path or a selector chooses. ``grouped``: their order counts, which that of groups
        changes. Raises Malformed."""
        facts = {"path": selector} if isinstance(selector, str) else mapping_of(selector, line, "a selector")
        if not any(facts.get(k) is not None for k in ("path", "group_by", "match")):
            raise Malformed(line, "a selector has none of path, group_by and match", HELP)
        found = [*self.nodes.values()]
        if facts.get("path") is not None:
            path = json_text(facts["path"])
            if grouped and has_groups(path):
                raise Malformed(
                    line, f"one_to_one with groups in the path {path[:60]!r}", "write the path without ( )"
                )
            path = path.removeprefix("/")
            found = self.on_path(f"{within}/{path}" if within else path, line)
        if facts.get("match"):
            found = [n for n in found if matches(attributes(n), facts["match"], line)]
        if facts.get("active_only"):
            found = [n for n in found if not n.disabled]
        if facts.get("group_by") is not None:
            groups: dict[str, list[GraphNode]] = {}
            key = json_text(facts["group_by"])
            for n in found:
                if key in (seen := attributes(n)):
                    groups.setdefault(str(seen[key]), []).append(n)
            found = [n for group in groups.values() for n in group]
        return found

    def on_path(self, path: str, line: int) -> list[GraphNode]:
        """The nodes whose names begin as a path says. Raises Malformed."""
        if path not in self.by_path:
            self.work += sum(map(len, self.nodes)) * signs_in_pattern(path) + len(self.nodes)
            if self.work > MOST_WORK:
                raise Malformed(
                    line,
                    "the paths of this scenario take too long to compare with its names",
                    "write paths with fewer signs such as `.*`",
                )
            try:
                fits = path_matcher(path)
            except PatternRefused as wrong:
                raise Malformed(line, f"the path {path[:60]!r} is not read: {wrong}", HELP) from None
            self.by_path[path] = [n for n in self.nodes.values() if fits(n.name)]
        return self.by_path[path]

    def rules(self, network: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
        """The rules of a kind, one for each value of their variables. Raises Malformed."""
        for rule in list_of(network.get(key), 1, f"`{key}`"):
            for one in self.expanded(mapping_of(rule, line_of_mapping(rule), "a rule")):
                self.only_keys(one, RULE_KEYS[key], "a rule", line_of_mapping(rule))
                yield one

    def expanded(self, block: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """A block for each value of the variables of its ``expand``. Raises Malformed."""
        line = line_of_mapping(block)
        spec = mapping_of(block.get("expand"), line, "`expand`")
        names = sorted(mapping_of(spec.get("vars"), line, "`vars`"))
        if not names:
            yield block
            return
        values = [list_of(spec["vars"][n], line, f"`{n}`") for n in names]
        mode = spec.get("mode", "cartesian")
        size = 1
        for one in values:
            size *= len(one)
        if mode == "zip":
            if len({len(v) for v in values}) != 1:
                raise Malformed(line, "zip of lists of unequal length", HELP)
            size = len(values[0])
        if size > MOST_EXPANSIONS:
            raise Malformed(line, f"a block with more than {MOST_EXPANSIONS:,} values of its variables", HELP)
        for chosen in zip(*values, strict=True) if mode == "zip" else product(*values):
            made = substituted(
                {k: v for k, v in block.items() if k != "expand"}, dict(zip(names, chosen, strict=True)), line
            )
            yield made

    # ------------------------------------------------------------ what comes of it
    def enter_links(self) -> None:
        """Add links and nodes as a capture has them: what is disabled is left out."""
        off = {n.name for n in self.nodes.values() if n.disabled}
        used = {e for link in self.links if not self.is_off(link, off) for e in link.ends}
        for node in self.nodes.values():
            if node.name in used:
                self.into.node(f"name:{node.name}", node.name, "", (), 0, CaptureLine(self.file, node.line))
        for link in self.links:
            self.aside.links += 1
            at = CaptureLine(self.file, link.line)
            if why := self.is_off(link, off):
                self.into.leave_out(why, at, " to ".join(link.ends))
                continue
            ends = []
            for name in link.ends:
                self.nodes[name].ports += 1
                ends.append(CapturedEnd(f"name:{name}", (str(self.nodes[name].ports),)))
            try:
                rate = rate_from_gigabits(
                    link.facts.get("capacity", 1.0), link.line, "the capacity of a link"
                )
            except Malformed as wrong:
                self.into.fault(self.file, wrong.line, wrong.message, wrong.help)
                continue
            self.into.wire(CapturedLink(ends[0], ends[1], at, rate))

    def is_off(self, link: GraphLink, off: set[str]) -> str:
        """Why a link is not in use; "" where it is."""
        if link.facts.get("disabled"):
            return "the link is disabled"
        return "a node of it is disabled" if off.intersection(link.ends) else ""

    def count_what_is_lost(self) -> None:
        """Note what of the scenario is set aside, and how capacities are read."""
        met = {e for link in self.links for e in link.ends}
        aside = self.aside
        aside.add("disabled nodes", 1, sum(n.disabled for n in self.nodes.values()))
        aside.add("nodes without a link", 1, len(self.nodes.keys() - met))
        for key, value in self.scenario.items():
            if key not in ("network", "blueprints", "seed", "vars"):
                size = sum(map(len, value.values())) if key == "demands" and _all_lists(value) else None
                aside.add(
                    f"{key}",
                    line_of_mapping(value),
                    size or (len(value) if isinstance(value, (dict, list)) else 1),
                )
        attrs = Counter(k for n in self.nodes.values() for k in n.attrs)
        aside.add("attributes of nodes", 1, sum(attrs.values()))
        aside.add("risk groups of nodes", 1, sum(len(n.risk_groups) for n in self.nodes.values()))
        for key, what in (
            ("cost", "costs of links"),
            ("attrs", "attributes of links"),
            ("risk_groups", "risk groups of links"),
        ):
            aside.add(what, 1, sum(bool(link.facts.get(key)) for link in self.links))
        aside.note(self.into, f"{counted_noun(len(self.nodes), 'node')}")
        if self.links:
            self.into.note(
                "E0606",
                CaptureLine(self.file, self.links[0].line),
                "capacities are read as Gbit/s, ports get numbers, and hosts are known by their names alone",
                "say with --hosts which nodes are hosts",
            )

    def only_keys(self, facts: Mapping[str, Any], known: tuple[str, ...], what: str, line: int) -> None:
        """Raise Malformed where a mapping has a key that its meaning would be lost with."""
        for key in facts:
            if key not in known:
                raise Malformed(line, f"{what} has a key `{key}`, which is not read here", HELP)

    def count(self, value: object, line: int, most: int) -> int:
        """A number of nodes or links. Raises Malformed."""
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise Malformed(line, f"a count is {str(value)[:40]!r}, not a number from 1 to {most:,}", HELP)
        return value


def _all_lists(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(x, list) for x in value.values())


def attributes(node: GraphNode) -> dict[str, Any]:
    """What conditions see of a node."""
    return {**node.attrs, "name": node.name, "disabled": node.disabled, "risk_groups": node.risk_groups}


def names_of_brackets(name: str, line: int) -> list[str]:
    """All names of ``dc[1-3]/rack[a,b]``. Raises Malformed."""
    parts = BRACKET.split(name)
    choices: list[list[str]] = []
    total = 1
    for place, part in enumerate(parts):
        values = [part] if place % 2 == 0 else values_of_bracket(part, line)
        total *= len(values)
        if total > MOST_NODES:
            raise Malformed(line, f"`{name[:60]}` is more than {MOST_NODES:,} names")
        choices.append(values)
    return ["".join(chosen) for chosen in product(*choices)]


def values_of_bracket(text: str, line: int) -> list[str]:
    """The values of ``1,3,5-7`` or ``a,b``. Raises Malformed."""
    values: list[str] = []
    for part in map(str.strip, text.split(",")):
        low, dash, high = part.partition("-")
        if not dash:
            values.append(part)
            continue
        numbers = [int(x) if x.isascii() and x.isdigit() and len(x) < 8 else -1 for x in (low, high)]
        if numbers[0] < 0 or not numbers[0] <= numbers[1] < numbers[0] + MOST_NODES:
            raise Malformed(
                line, f"`[{part[:40]}]` is not an ascending range of numbers", "write one such as [1-4]"
            )
        values += [str(n) for n in range(numbers[0], numbers[1] + 1)]
    return values


def label_of_template(template: str, number: int, line: int) -> str:
    """The name of a node by the template of its group. Raises Malformed."""
    made = NUMBER.sub(lambda m: f"{number:{m[1] or ''}d}", template)
    if "{" in made or "}" in made:
        raise Malformed(line, f"the template is {template[:60]!r}", "write {n} for the number of the node")
    return made


def with_parameters(facts: Mapping[str, Any], name: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """A node of a blueprint with what a use of it changes: ``leaf.count``, ``leaf.attrs.role``."""
    for path, value in params.items():
        first, *rest = path.split(".")
        if first == name and rest:
            facts = with_value_at(facts, rest, value)
    return facts


def with_value_at(facts: Mapping[str, Any], path: list[str], value: Any) -> Mapping[str, Any]:
    """A copy of a mapping with another value at a path of keys."""
    made = MappingAtLine(facts)
    made.line = line_of_mapping(facts)
    inner = facts.get(path[0])
    if len(path) > 1:
        value = with_value_at(inner if isinstance(inner, dict) else {}, path[1:], value)
    made[path[0]] = value
    return made


def substituted(value: Any, values: Mapping[str, Any], line: int) -> Any:
    """A value with ``$name`` and ``${name}`` replaced in its texts. Raises Malformed."""
    if isinstance(value, str):

        def chosen(found: re.Match[str]) -> str:
            name = found[1] or found[2]
            if name not in values:
                raise Malformed(line, f"`{name}` is not a variable of this block", "name it in `expand.vars`")
            return str(values[name])

        return VARIABLE.sub(chosen, value)
    if isinstance(value, dict):
        made = MappingAtLine({k: substituted(v, values, line) for k, v in value.items()})
        made.line = line_of_mapping(value)
        return made
    return [substituted(v, values, line) for v in value] if isinstance(value, list) else value


def matches(seen: Mapping[str, Any], match: object, line: int) -> bool:
    """Whether what is seen of a node or link meets the conditions of a ``match``. Raises Malformed."""
    facts = mapping_of(match, line, "`match`")
    met = [
        meets(seen, mapping_of(c, line, "a condition"), line)
        for c in list_of(facts.get("conditions"), line, "`conditions`")
    ]
    logic = facts.get("logic", "or")
    if logic not in ("and", "or"):
        raise Malformed(line, f"the logic of a match is {shown_value(logic)}", "write and, or")
    return not met or (all(met) if logic == "and" else any(met))


def meets(seen: Mapping[str, Any], condition: Mapping[str, Any], line: int) -> bool:
    """Whether an attribute, by a path of names with dots, is as a condition says. Raises Malformed."""
    found: Any = seen
    for name in json_text(condition.get("attr")).split("."):
        found = found.get(name) if isinstance(found, dict) else None
    op, wanted = condition.get("op"), condition.get("value")
    if not isinstance(op, str) or op not in OPERATORS:
        raise Malformed(
            line, f"the operator of a condition is {shown_value(op)}", f"write one of {', '.join(OPERATORS)}"
        )
    if op in ("exists", "not_exists"):
        return bool((found is not None) == (op == "exists"))
    return found is not None and bool(OPERATORS[op](found, wanted))


def _numbers(found: Any, wanted: Any) -> tuple[float, float]:
    try:
        return float(found), float(wanted)
    except (TypeError, ValueError):
        return 0.0, float("nan")


def _contains(found: Any, wanted: Any) -> bool:
    return (
        str(wanted) in found
        if isinstance(found, str)
        else wanted in found
        if isinstance(found, list)
        else False
    )


OPERATORS: dict[Any, Any] = {
    "==": lambda found, wanted: found == wanted,
    "!=": lambda found, wanted: found != wanted,
    "<": lambda found, wanted: _numbers(found, wanted)[0] < _numbers(found, wanted)[1],
    "<=": lambda found, wanted: _numbers(found, wanted)[0] <= _numbers(found, wanted)[1],
    ">": lambda found, wanted: _numbers(found, wanted)[0] > _numbers(found, wanted)[1],
    ">=": lambda found, wanted: _numbers(found, wanted)[0] >= _numbers(found, wanted)[1],
    "contains": _contains,
    "not_contains": lambda found, wanted: not _contains(found, wanted),
    "in": lambda found, wanted: isinstance(wanted, list) and found in wanted,
    "not_in": lambda found, wanted: isinstance(wanted, list) and found not in wanted,
    "exists": None,
    "not_exists": None,
}
"""Operators of conditions; those with None ask whether there is a value."""
