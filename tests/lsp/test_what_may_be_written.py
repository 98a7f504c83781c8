"""What is offered at each place of a text, whole and in order: kinds and ranks, names, words, units and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.ide.complete import CompletionEntry, complete_word
from tdsl.ide.facts import Placed
from tdsl.ide.known import KnownNames, port_types, standard_library
from tdsl.semantics.builtins import BUILTINS
from tdsl.semantics.models import FACTS
from tdsl.semantics.quantity import LENGTH, POWER, RATE, UNIT_TABLE, kind_name
from tdsl.syntax.parser import parse_source_file
from tdsl.verify.check import checks_by_name

MODELS = """
model switch SA { port p[1..4]: 400Gbps { split 2 }; port q[2]: 400Gbps; port r[2]: 800Gbps { split 4 } }
model switch SB { port p[1..4]: 400Gbps }
model host HA { port nic[4]: 400Gbps; chip gpu[4]: CA }
model chip CA { port nv[4]: 200Gbps }
model ocs OA { port o[1..8]: any }
model cable WA { reach 3m }
"""
BLOCK = (
    "cell chip circuit connect cube extend for group hall host if let naming ocs omit override panel param phase place plane "
    "pod rack report require site switch"
)
SETTINGS = {
    "(functions)": list(BUILTINS),
    "(facts)": list(FACTS),
    "(block)": BLOCK.split(),
    "(types)": port_types(),
    "(scarce)": [name for name, c in checks_by_name().items() if not c.fails_by_default],
    "(always)": [name for name, c in checks_by_name().items() if c.fails_by_default],
    "(patterns)": ["each", "spread", "pairs", "ring", "mesh", "torus", "random"],
    "(names)": list(standard_library()[0].loader.catalogue()),
}


def offered(
    text: str, folder: Path = Path("/none"), sets: tuple[Placed, ...] = (), **asked: Any
) -> tuple[int, list[CompletionEntry]]:
    """How many letters before the ``|`` of a text are replaced, and by what."""
    text = MODELS + text
    at = text.index("|")
    file = SourceFile("a.fab", text[:at] + text[at + 1 :])
    known = KnownNames(file, parse_source_file(file, Diagnostics()).body, folder / "a.fab", {}, (), sets)
    start, items = complete_word(known, file, at, **asked)
    return at - start, items


def in_short(items: list[CompletionEntry]) -> str:
    """Kind, rank and names of what is offered, each group of one kind and rank once; models of the library as ``…``."""
    library = set(SETTINGS["(names)"])
    groups: list[tuple[str, list[str]]] = []
    for i in items:
        word = "…" if i.kind == "model" and i.text in library else i.text
        head = f"{i.kind} {i.rank}"
        if not groups or groups[-1][0] != head:
            groups.append((head, []))
        if word != "…" or groups[-1][1][-1:] != ["…"]:
            groups[-1][1].append(word)
    return "; ".join(f"{head}: {' '.join(words)}" for head, words in groups)


def written_out(short: str) -> str:
    for name, words in SETTINGS.items():
        short = short.replace(name, " ".join(words))
    return short


CASES = [
    (
        "|",
        "keyword 2: cell chip circuit cluster connect cube def extend fabric for group hall host if let "
        "model naming ocs omit override panel param phase place plane pod rack report require site switch topology use",
    ),
    (
        "fabric f {\n  |",
        "keyword 2: (block); setting 3: hosts chips rails planes pods address routing roce partition "
        "subnet_manager minimize layer nos transport distance",
    ),
    (
        "cluster c {\n  |",
        "keyword 2: cell chip circuit connect cube extend fabric for group hall host if let naming ocs omit "
        "override panel param phase place plane pod rack report require site switch",
    ),
    ("topology t(e: ports) {\n  |", "keyword 2: (block) tier"),
    ("model switch M {\n  |", "keyword 2: chip connect host let numa ocs panel pcie port switch; setting 3: (facts)"),
    ("model cable M {\n  |", "setting 3: (facts)"),
    ("model |", "keyword 5: host chip switch ocs panel cable optic"),
    ("model switch |", ""),
    ("fabric |", ""),
    ("fabric f { group g { |", "keyword 2: (block)"),
    ("fabric f { hall h { |", "keyword 2: (block)"),
    ("fabric f { switch s: SA { |", "setting 2: forwards nos role spares split"),
    ("model host M { host h { |", "keyword 2: (block)"),
    ("model switch M { port p: 400Gbps { |", "setting 2: type cage connector sockets name os netdev split sonic alias"),
    ("fabric f { connect a to b { |", "setting 2: rate class medium cable length colour optic allow bundle layer"),
    ("fabric f { circuit a to b { |", "setting 2: rate class medium cable length colour optic allow bundle layer"),
    ("fabric f { override a: SA { |", "setting 2: address asn"),
    ("fabric f { routing bgp { |", "setting 2: asn mtu unnumbered bfd graceful_restart"),
    ("fabric f { roce { |", "setting 2: dscp priority cnp ecn pfc"),
    ("fabric f { partition p { |", "setting 2: full limited ipoib"),
    ("fabric f { address management { |", "setting 2: interface vrf gateway"),
    ("fabric f { hosts 4 x HA { |", "setting 2: forwards nos role spares split"),
    ("fabric f { hosts 4 x HA; clos { |", "param 2: leaf spine oversubscription; keyword 3: tier"),
    ("fabric f { hosts 4 x HA; clos { tier |", ""),
    ("topology t(e: ports, m: model, n: int) { tier a of hosts {} }\nfabric f { t { |", "param 2: m n"),
    ("topology t(e: ports, m: model, n: int) { switch a: m }\nfabric f { t { |", "param 2: m n"),
    ("topology t(e: ports, m: model, n: int) { switch a: m }\nfabric f { t { m |", "model 1: SA SB …; model 2: OA …"),
    ("topology t(e: ports, m: model, n: pattern) { switch a: m }\nfabric f { t { n |", "pattern 1: (patterns)"),
    ("topology t(e: ports, m: model, n: int) { switch a: m }\nfabric f { t { n |", "function 4: (functions); keyword 8: not"),
    ("topology t(e: ports) { tier a { switch s: SA }; tier b of |", "param 4: e; function 4: (functions)"),
    ("topology t(e: ports) { tier a { |", "setting 2: switch down up oversubscription cable bundle"),
    ("topology t(e: ports) { tier a { switch |", "model 1: SA SB …"),
    ("topology t(e: ports) { tier a { switch SA |", "keyword 5: x"),
    ("topology t(e: ports) { switch SA |", "keyword 5: x"),
    ("fabric f { let k: model = SA; switch a: |", "let 1: k; model 1: SA SB …"),
    ("fabric f { let k: model = SA; host a[3]: |", "let 1: k; model 1: HA …"),
    ("fabric f { override s: |", "model 1: SA SB HA CA OA WA …"),
    ("fabric f { let k: |", "type 1: int ratio string bool model list range dims rate length time power mass money size units"),
    ("fabric f { param k: |", "type 1: int ratio string bool model list range dims rate length time power mass money size units"),
    (
        "def d(x: |",
        "type 1: int ratio string bool model ports pattern table list range dims rate length time power mass money size units",
    ),
    (
        "topology t(e: |",
        "type 1: int ratio string bool model ports pattern table list range dims rate length time power mass money size units",
    ),
    ("let k: |", "type 1: int ratio string bool model list range dims rate length time power mass money size units"),
    (
        "topology t(e: ports, p: pattern): |",
        "type 1: int ratio string bool model list range dims rate length time power mass money size units",
    ),
    ("model switch M { port p: |", "word 1: any"),
    ("model switch M { port p[4|", ""),
    ("fabric f { let k = a4|", "let 4: k; function 4: (functions); keyword 8: not"),
    ("fabric f { require |", "check 1: (scarce); check 2: (always)"),
    ("fabric f { require bisection >= 1 with |", "check 1: (scarce); check 2: (always)"),
    ("fabric f { report |", "check 1: (scarce); check 2: (always)"),
    ("fabric f { switch s: SA { role |", "word 1: accelerator storage manager"),
    ("fabric f { connect a to b { medium |", "word 1: cable trace backplane fibre copper dac acc aec aoc dwdm"),
    ("fabric f { routing |", "word 1: bgp"),
    ("fabric f { layer |", "word 1: scaleup"),
    ("fabric f { nos |", "word 1: eos frr nvue sonic"),
    ("fabric f { transport |", "word 1: infiniband ethernet roce uec efa slingshot nvlink ualink ub ici"),
    ("role |", "function 4: (functions); keyword 8: not"),
    ("fabric f { connect a to b { cable |", "model 1: WA …"),
    ("fabric f { cable |", "function 4: (functions); keyword 8: not"),
    ("model switch M { port p: any { type |", "word 1: (types)"),
    ("fabric f { switch a: SA { split |", "port 1: p r"),
    ("fabric f { switch a[4]: SA { split p, |", "port 1: p r"),
    ("fabric f { host a: HA { split |", ""),
    ("fabric f { hosts |", "function 4: (functions)"),
    ("fabric f { let k = 3; host n: HA; hosts k, |", "host 1: n"),
    ("fabric f { hosts 4 x |", "model 1: HA …"),
    ("fabric f { let k = 3; host n: HA; hosts |", "host 1: n; let 4: k; function 4: (functions)"),
    ("fabric f { host n: HA; address |", "host 1: n; keyword 8: not"),
    ("fabric f { host n: HA; address n |", "word 1: loopback links management; keyword 8: and at from if in of or to via x"),
    ("fabric f { host n: HA; address n, |", "host 1: n; keyword 8: not"),
    ("fabric f { host n: HA; asn |", "host 1: n; keyword 8: not"),
    ("fabric f { host n: HA; asn n, |", "host 1: n; keyword 8: not"),
    ("fabric f { host n: HA; partition |", "function 4: (functions); keyword 8: not"),
    ("fabric f { host n: HA; subnet_manager |", "host 1: n; keyword 8: not"),
    ("fabric f { switch a: SA; connect |", "switch 1: a"),
    ("fabric f { switch a: SA; connect a |", "pattern 1: (patterns); keyword 8: to via where x"),
    ("fabric f { switch a: SA; connect a to |", "switch 1: a"),
    ("fabric f { switch a: SA; connect a to a |", "pattern 1: (patterns); keyword 8: via where x"),
    (
        "fabric f { let p: pattern = each; switch a: SA; connect a to a |",
        "pattern 1: (patterns); let 1: p; keyword 8: via where x",
    ),
    ("fabric f { switch a: SA; connect a[i] to a[|", "variable 1: i; function 4: (functions); keyword 8: not"),
    ("fabric f { switch a: SA; connect a[i, j].p[k+1] to a[|", "variable 1: i j; function 4: (functions); keyword 8: not"),
    ("fabric f { switch a: SA; connect a[i] to a via |", "switch 1: a"),
    ("fabric f { switch a: SA; connect a[i], |", "switch 1: a"),
    ("fabric f { switch a: SA; omit |", "switch 1: a"),
    ("fabric f { switch a: SA; naming |", "switch 1: a"),
    ("fabric f { switch a: SA; distance |", "switch 1: a; keyword 8: not"),
    ("fabric f { switch a: SA; override |", "switch 1: a"),
    ("fabric f { switch a: SA; extend |", "switch 1: a"),
    ("fabric f { switch a: SA; connect a[i] to a[i] where |", "variable 1: i; function 4: (functions); keyword 8: not"),
    ("fabric f { switch a: SA; require reachability of |", "switch 1: a; keyword 3: all; word 5: ports"),
    ("fabric f { switch a: SA; require survives any 1 of |", "switch 1: a; keyword 3: all; word 5: ports"),
    ("fabric f { switch a: SA; require bisection through |", "word 1: scaleup >=; word 2: ==; word 4: <= != > <"),
    ("fabric f { require bisection |", "word 1: >=; word 2: ==; keyword 3: and of; function 4: (functions); word 4: <= != > <"),
    ("fabric f { require bisection >= |", "word 1: 100% 75% 50%; function 4: (functions)"),
    (
        "fabric f { require oversubscription |",
        "word 1: <=; word 2: ==; keyword 3: and at of; function 4: (functions); word 4: >= != > <",
    ),
    ("fabric f { require oversubscription <= |", "word 1: 1:1 2:1 3:1 4:1; function 4: (functions)"),
    (
        "fabric f { require throughput |",
        "word 1: >=; pattern 1: all_to_all permutation rail_allreduce ring shift; word 2: ==; "
        "keyword 3: and of through; function 4: (functions); word 4: <= != > <",
    ),
    (
        "fabric f { require throughput all_to_all |",
        "word 1: >=; word 2: ==; keyword 3: and of through; function 4: (functions); word 4: <= != > <",
    ),
    (
        "fabric f { require bisection >= 1 and diameter |",
        "word 1: <=; word 2: ==; keyword 3: and of; function 4: (functions); word 4: >= != > <",
    ),
    ("fabric f { require bisection >= 1 and diameter <= |", "word 1: 1 2 4 8; function 4: (functions)"),
    ("fabric f { require power <= |", "word 1: 40kW 1MW; function 4: (functions)"),
    ("fabric f { require cable_length <= |", "word 1: 3m 50m; function 4: (functions)"),
    ("fabric f { require reachability |", "keyword 3: and of through; function 4: (functions)"),
    ("fabric f { require rail_alignment |", "keyword 3: and of; function 4: (functions)"),
    ("fabric f { require paths |", "keyword 3: and any at of through under with; function 4: (functions)"),
    ("fabric f { require links |", "word 1: <=; word 2: ==; keyword 3: and of; function 4: (functions); word 4: >= != > <"),
    ("fabric f { require unknown |", "keyword 3: and any at of through under with; function 4: (functions)"),
    ("fabric f { require bisection >= 1 |", "keyword 3: and of"),
    ("fabric f { param k: int = 3 where |", "param 4: k; function 4: (functions); keyword 8: not"),
    ("fabric f { let z = 3; let k = |", "let 4: z; function 4: (functions); keyword 8: not"),
    ("fabric f { let k = 3 + |", "function 4: (functions)"),
    ("fabric f { if |", "function 4: (functions); keyword 8: not"),
    ("fabric f { for t in |", "function 4: (functions); keyword 8: not"),
    ("fabric f { for t in 0..3 { let a = |", "variable 4: t; function 4: (functions); keyword 8: not"),
    ("def d(x: int): int = |", "function 4: (functions); keyword 8: not"),
    ("fabric f { host n[4]: HA; connect n[i].|", "port 1: nic; chip 1: gpu"),
    ("fabric f { host n[4]: HA; connect n[i].gpu[j].|", "port 1: nv"),
    ("fabric f { group g[2] { host n: HA }; connect g[i].|", "host 1: n"),
    ("fabric f { group g[2] { host n: HA }; connect g[i].n.|", "port 1: nic; chip 1: gpu"),
    ("fabric f { connect zz.|", ""),
    ("fabric f { host n[4]: HA; connect n[i].nic, n[j].|", "port 1: nic; chip 1: gpu"),
    ("fabric f { host n[4]: HA; connect n[max(1, 2)].|", "port 1: nic; chip 1: gpu"),
    ("# a|", ""),
    (
        "# a\n|",
        "keyword 2: cell chip circuit cluster connect cube def extend fabric for group hall host if let "
        "model naming ocs omit override panel param phase place plane pod rack report require site switch topology use",
    ),
    ('fabric f "a|', ""),
    ('fabric f "a"|', ""),
    ('fabric f { let k = "a|"', ""),
    (
        '|"a"',
        "keyword 2: cell chip circuit cluster connect cube def extend fabric for group hall host if let "
        "model naming ocs omit override panel param phase place plane pod rack report require site switch topology use",
    ),
    ("fabric f { param k: int = 4; let l = 3; phase 1 { |", "param 1: k; setting 1: needed"),
    ("topology t(e: ports) { tier a { switch s: SA }; tier b of 4 |", "group 1: hosts"),
    ("topology t(e: ports) { tier a { switch SA }; tier c { switch SB }; tier b of 4 |", "group 1: hosts"),
    ("fabric f { hosts 4 x HA; clos { tier a { switch SA }; tier b of 2 |", "group 1: hosts"),
    ("fabric f { hosts 4 x HA; clos { oversubscription |", "word 1: at most about; function 4: (functions)"),
    ("fabric f { hosts 4 x HA; clos { oversubscription 2, |", "function 4: (functions); keyword 8: not"),
    ("fabric f { hosts 4 x HA; clos { leaf |", "model 1: SA SB …; model 2: OA …"),
    ("fabric f { hosts 4 x HA; clos { tier a { |", "setting 2: switch down up oversubscription cable bundle"),
    ("topology t(e: ports) { tier a { switch s: |", "model 1: SA SB …"),
    ("model switch M { host h: HA { |", "keyword 2: (block)"),
    ("fabric f { let a: int = 3; let b: model = SA; topology |", ""),
    ("fabric f { chips |", "function 4: (functions)"),
    ("fabric f { chips 4 x |", "model 1: CA …"),
    ("fabric f { rails |", "function 4: (functions); keyword 8: not"),
    ("fabric f { hosts 4 x HA, |", ""),
    ("fabric f { rails 2, |", "function 4: (functions); keyword 8: not"),
    ("fabric f { group g { switch s: SA }; omit g |", "keyword 8: where"),
    ("fabric f { switch a: SA; address loopback, |", "switch 1: a; keyword 8: not"),
    ("fabric f { switch a: SA; address (|", "function 4: (functions); keyword 8: not"),
    ("fabric f { switch a: SA; address a[|", "function 4: (functions); keyword 8: not"),
    ("fabric f { switch a: SA; address to |", "word 1: loopback links management; keyword 8: and at from if in of or to via x"),
    ("fabric f { switch a: SA; require bisection >= 1 and links <= |", "word 1: 1 2 4 8; function 4: (functions)"),
    ("fabric f { report bisection |", "word 1: >=; word 2: ==; keyword 3: and of; function 4: (functions); word 4: <= != > <"),
    ("fabric f { report bisection >= |", "word 1: 100% 75% 50%; function 4: (functions)"),
    ("fabric f { require allreduce >= |", "word 1: 1us 10us; function 4: (functions)"),
    ("fabric f { require mean_hops <= 3 |", "keyword 3: and of"),
    ("fabric f { require taper |", "word 1: <=; word 2: ==; keyword 3: and of; function 4: (functions); word 4: >= != > <"),
    ("fabric f { require survives |", "keyword 3: and any of with; function 4: (functions)"),
    ("fabric f { require isolated |", "keyword 3: and of; function 4: (functions)"),
    ("fabric f { require connector_match |", "keyword 3: and of; function 4: (functions)"),
    ("fabric f { require edge_redundancy >= |", "word 1: 1 2 4 8; function 4: (functions)"),
    ("fabric f { require latency <= |", "word 1: 1us 10us; function 4: (functions)"),
    ("fabric f { require cost <= |", "word 1: $1_000_000; function 4: (functions)"),
    ("fabric f { require all_to_all_time <= |", "word 1: 1us 10us; function 4: (functions)"),
    ("fabric f { require bisection of |", "word 1: >=; word 2: ==; keyword 3: all; word 4: <= != > <; word 5: ports"),
    ("fabric f { require bisection through |", "word 1: scaleup >=; word 2: ==; word 4: <= != > <"),
    ("fabric f { switch a: SA; connect a[(i)] to a[|", "function 4: (functions); keyword 8: not"),
    ("fabric f { switch a: SA; connect a[i, j, k] to a[|", "variable 1: i j k; function 4: (functions); keyword 8: not"),
    ("fabric f { switch a: SA; connect a[0, j] to a[|", "variable 1: j; function 4: (functions); keyword 8: not"),
    ("fabric f { switch a: SA; connect a[i..j] to a[|", "function 4: (functions); keyword 8: not"),
    ("fabric f { switch a: SA; circuit a |", "pattern 1: (patterns); keyword 8: to via where x"),
    ("fabric f { switch a: SA; circuit |", "switch 1: a"),
    ("fabric f { switch a: SA; distance a to |", "switch 1: a"),
    ("fabric f { switch a: SA; connect a to a each, |", ""),
    ("fabric f { switch a: SA; connect a to a spread x |", "function 4: (functions)"),
    ("let p: pattern = |", "function 4: (functions); keyword 8: not"),
    ("fabric f { host n: HA { role storage, |", "word 1: accelerator storage manager"),
    ("fabric f { layer scaleup, |", "word 1: scaleup"),
    ("topology t(e: ports, m: model) { switch s: m }\nfabric f { t { m SA, |", "model 1: SA SB …; model 2: OA …"),
    ("model switch M { connect |", ""),
    ("model switch M { port p: any; connect p |", "pattern 1: (patterns); keyword 8: to via where x"),
    ("fabric f { param k: int = 4 where 1 < k and |", "param 4: k; function 4: (functions); keyword 8: not"),
    ("let k: int = 4 where |", "let 4: k; function 4: (functions); keyword 8: not"),
    ("let k = 3 where |", "let 4: k; function 4: (functions); keyword 8: not"),
    ("fabric f { extend |", ""),
    ("extend |", ""),
    ("omit |", ""),
    ("fabric f { if 1 < 2 { switch a: SA } else { switch b: SB }; omit |", "switch 1: a b"),
    ("fabric f { for t in 0..3 { switch a: SA }; omit |", "switch 1: a"),
    ("fabric f { for t in 0..3 { host t: HA { role |", "word 1: accelerator storage manager"),
    ("fabric f { switch a: SA; omit a[|].p", "function 4: (functions); keyword 8: not"),
    ("fabric f { switch a: SA { forwards |", "function 4: (functions); keyword 8: not"),
    ("fabric f { plane p[2] { switch a: SA }; omit p[0].|", "switch 1: a"),
    ("fabric f { x |", "function 4: (functions); keyword 8: not"),
    ("cluster c { fabric f { switch a: SA }; omit f.|", ""),
    ("cluster c { fabric f { switch a: SA }; omit |", ""),
    ("fabric f { switch a: SA }\nextend f { omit |", "switch 1: a"),
    ("fabric f { group g { switch a: SA } }\nextend f.g { omit |", "switch 1: a"),
    ("fabric f { group g { switch a: SA }; extend g { omit |", "switch 1: a; group 1: g"),
    ("model switch M { p|", "keyword 2: chip connect host let numa ocs panel pcie port switch; setting 3: (facts)"),
    ("fabric f { let k = 4.|", ""),
    ("model switch Z { port p[1..4] 4|", ""),
    ("topology t(e: ports) {\n  tier a of 2 hosts { switch SA }\n  tier b of 4 |\n}\n", "group 1: a hosts"),
    (
        "fabric f {\n  hosts 4 x HA\n  clos {\n    tier a of 2 hosts { switch SA }\n    tier b of "
        "2 a { switch SB }\n    tier c of 4 |\n  }\n}\n",
        "group 1: a b hosts",
    ),
    ("topology t(e: ports) {\n  tier a { switch SA }\n  tier b of 4 |\n}\n", "group 1: hosts"),
    ("topology t(e: ports) {\n  tier a of 2 hosts { switch SA }\n  tier b of 4 a |\n}\n", "keyword 8: by"),
    ("topology t(e: ports) {\n  tier a { switch SA }\n  tier b of |\n}\n", "param 4: e; function 4: (functions)"),
    (
        "fabric f {\n  hosts 4 x HA\n  clos {\n    tier a { switch SA }\n    tier b { switch SB }\n    tier c of 4 |\n  }\n}\n",
        "group 1: hosts",
    ),
    ("fabric f {\n  switch a: SA\n  connect a.|\n}\n", "port 1: p q r"),
    ("fabric f {\n  host a: HA\n  connect a.gpu.|\n  switch b: SA\n}\n", "port 1: nv"),
]


@pytest.mark.parametrize(("text", "short"), CASES, ids=range(len(CASES)))
def test_all_that_is_offered(text: str, short: str) -> None:
    _, items = offered(text)
    assert in_short([i for i in items if i.kind != "topology"]) == written_out(short)
    assert len({i.text for i in items}) == len(items)


def test_topologies_of_a_fabric() -> None:
    """They come last, with their head; the first parameter of a topology is none of a block of it."""
    text = "# Mine.\ntopology t(e: ports, n: int = 3) { switch a[n]: SA }\nfabric f {\n  |"
    _, items = offered(text)
    found = [i for i in items if i.kind == "topology"]
    assert items[-len(found) :] == found and {i.rank for i in found} == {4}
    assert [i for i in found if i.text == "t"] == [
        CompletionEntry("t", "topology", "t(e: ports, n: int = 3)", "```fab\nt(e: ports, n: int = 3)\n```\n\nMine.", 4)
    ]
    assert {"clos", "ring", "torus"} <= {i.text for i in found}


@pytest.mark.parametrize(
    ("text", "dim", "replaced"),
    [
        ("fabric f { let k = 4|", None, 0),
        ("fabric f { let k = 4G|", None, 1),
        ("fabric f { let k = 4_000.25Gb/s|", None, 4),
        ("model switch M { height 4|", None, 0),
        ("model switch M { port p[1..4]: 4|", RATE, 0),
        ("fabric f { connect a to b { rate 40Gb|", RATE, 2),
        ("fabric f { connect a to b { length 4|", LENGTH, 0),
        ("model cable W { reach 4c|", LENGTH, 1),
    ],
)
def test_units(text: str, dim: Any, replaced: int) -> None:
    """Rates, lengths and powers come before the rest, and of both those without a slash."""
    expected = []
    for unit, (_, d) in UNIT_TABLE.items():
        if unit != "$" and (dim is None or d == dim):
            usual = d in (RATE, LENGTH, POWER)
            rank = {(True, False): 3, (True, True): 4, (False, False): 5, (False, True): 6}[usual, "/" in unit]
            expected.append(CompletionEntry(unit, "unit", kind_name(d), "", rank))
    assert offered(text) == (replaced, expected)


@pytest.mark.parametrize("text", ["model switch M { port p[4|", "fabric f { let k = 4.|", "model switch M { port p 4|"])
def test_no_units(text: str) -> None:
    assert [i for i in offered(text)[1] if i.kind == "unit"] == []


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("# a|", False),
        ("|# a", True),
        ("#| a", False),
        ("# a\n|", True),
        ('fabric f "|a"', False),
        ('fabric f "a|"', False),
        ('fabric f "a|', False),
        ('fabric f "a|\n', False),
        ('|"a"', True),
        ('use nvidia."a"|', False),
        ('fabric f "a" {|', True),
        ('fabric f "a" { # b\n |', True),
    ],
)
def test_nothing_in_comments_and_strings(text: str, some: bool) -> None:
    assert bool(offered(text)[1]) == some


def test_what_is_not_asked_for() -> None:
    """Nothing where a statement begins, unless it is asked for."""
    assert offered("fabric f {\n  |", unasked=True) == (0, [])
    assert offered("fabric f {\n  sw|", unasked=True) == (2, [])
    replaced, items = offered("fabric f {\n  sw|")
    assert replaced == 2 and "switch" in {i.text for i in items}
    text = "fabric f {\n  switch a: SA\n  connect |"
    assert offered(text, unasked=True) == offered(text) == (0, [CompletionEntry("a", "switch", "switch a: SA", "", 1)])


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("model |", CompletionEntry("host", "keyword", "kind of model")),
        ("fabric f { let k: |", CompletionEntry("int", "type", "type", "", 1)),
        ("model switch M { port p: |", CompletionEntry("any", "word", "fits any rate", "", 1)),
        ("fabric f { switch a: SA { |", CompletionEntry("role", "setting", "setting of `switch`", "", 2)),
        ("fabric f { routing bgp { |", CompletionEntry("mtu", "setting", "setting of `routing`", "", 2)),
        ("model switch M { |", CompletionEntry("height", "setting", "fact of a model", "", 3)),
        ("fabric f { |", CompletionEntry("hosts", "setting", "setting of `fabric`", "", 3)),
        ("fabric f { hosts 4 x HA; clos { |", CompletionEntry("leaf", "param", "leaf: model", "", 2)),
        ("topology t(e: ports) { switch s: SA; tier b of 4 |", CompletionEntry("hosts", "group", "the ends", "", 1)),
        (
            "topology t(e: ports) { tier a of 2 hosts { switch SA }\ntier b of 4 |\n}",
            CompletionEntry("a", "group", "a tier of this block", "", 1),
        ),
        ("fabric f { transport |", CompletionEntry("roce", "word", "transport", "", 1)),
        ("fabric f { nos |", CompletionEntry("frr", "word", "nos", "", 1)),
        ("model switch M { port p: any { type |", CompletionEntry("NDR", "word", "type of a port", "", 1)),
        ("fabric f { clos { oversubscription |", CompletionEntry("at most", "word", "this ratio or less", "", 1)),
        ("fabric f { clos { oversubscription |", CompletionEntry("about", "word", "the nearest ratio that whole links give", "", 1)),
        ("topology t(e: ports) { switch SA |", CompletionEntry("x", "keyword", "so many for each")),
        ("fabric f { switch a: SA; address a |", CompletionEntry("links", "word", "what is addressed", "", 1)),
        ("fabric f { switch a: SA; connect a to a |", CompletionEntry("ring", "pattern", "pattern", "", 1)),
        ("fabric f { switch a: SA { split |", CompletionEntry("p", "port", "4 × 400G, splits 2 ways", "", 1)),
        ("fabric f { require bisection >= |", CompletionEntry("75%", "word", "a value of `bisection`", "", 1)),
        ("fabric f { require power <= |", CompletionEntry("1MW", "word", "a value of `power`", "", 1)),
        ("fabric f { require bisection |", CompletionEntry(">=", "word", "comparison", "", 1)),
        ("fabric f { require throughput |", CompletionEntry("shift", "pattern", "pattern of traffic", "", 1)),
        ("fabric f { switch a: SA; require links of |", CompletionEntry("ports", "word", "every port by itself")),
        ("fabric f { require links through |", CompletionEntry("scaleup", "word", "layer", "", 1)),
        ("fabric f { switch a: SA; connect a[i] to a[|", CompletionEntry("i", "variable", "index variable of this statement", "", 1)),
        ("fabric f { for t in 0..3 { let a = |", CompletionEntry("t", "variable", "in 0..3", "", 4)),
        ("def d(x: int = 2, y: int): int = 1\nlet a = |", CompletionEntry("d", "function", "def d(x: int = 2, y: int): int", "", 4)),
        ("# Up.\nlet b = 2\nlet a = |", CompletionEntry("b", "let", "let b = 2", "Up.", 4)),
        ("param b: int = 2  # Behind.\nlet a = |", CompletionEntry("b", "param", "param b: int = 2", "Behind.", 4)),
        ("let a = |", CompletionEntry("min", "function", BUILTINS["min"].form, BUILTINS["min"].gives, 4)),
        ("fabric f { param k: int = 4; phase 1 { |", CompletionEntry("k", "param", "param k: int = 4", "", 1)),
        (
            "fabric f { param k: int = 4; phase 1 { |",
            CompletionEntry("needed", "setting", 'needed "2027-03-01"', "The day by which this phase is needed.", 1),
        ),
        ("topology t(e: ports = 3) { connect |", CompletionEntry("e", "ports", "e: ports = 3", "", 1)),
    ],
)  # fmt: skip
def test_each_with_all_that_is_said_of_it(text: str, item: CompletionEntry) -> None:
    assert [i for i in offered(text)[1] if i.text == item.text] == [item]


def test_checks_with_their_title_and_page() -> None:
    found = {i.text: i for i in offered("fabric f { require |")[1]}
    for name, c in checks_by_name().items():
        assert found[name] == CompletionEntry(name, "check", c.title(), c.page(), 2 if c.fails_by_default else 1)


# ---------------------------------------------------------------- devices that only compiling makes
SETS = (
    Placed("f", ("leaf",), ("switch",), "[4]", "SA"),
    Placed("f", ("su", "node"), ("group", "host"), "[2][3]", "HA"),
    Placed("f", ("su", "tor"), ("group", "switch"), "[2]", "SB"),
    Placed("g", ("core",), ("switch",), "[9]", "SA"),
    Placed("f", ("leaf",), ("switch",), "[5]", "SB"),
)


def test_devices_of_the_compiled_design() -> None:
    assert offered("fabric f { connect |", sets=SETS)[1] == [
        CompletionEntry("leaf", "switch", "switch leaf[4]: SA", "", 1),
        CompletionEntry("su", "group", "group su", "", 1),
    ]
    assert offered("fabric g { connect |", sets=SETS)[1] == [CompletionEntry("core", "switch", "switch core[9]: SA", "", 1)]
    assert offered("fabric h { connect |", sets=SETS)[1] == []
    assert offered("fabric f { connect su[0].|", sets=SETS)[1] == [
        CompletionEntry("node", "host", "host node[2][3]: HA", "", 1),
        CompletionEntry("tor", "switch", "switch tor[2]: SB", "", 1),
    ]
    assert [i.text for i in offered("fabric f { connect su[0].node[1].|", sets=SETS)[1]] == ["nic", "gpu"]
    assert [i.text for i in offered("fabric f { connect leaf.|", sets=SETS)[1]] == ["p", "q", "r"]
    assert offered("fabric f { connect su.none.|", sets=SETS)[1] == []
    own = "fabric f { host leaf: HA; connect |"
    assert [(i.text, i.kind) for i in offered(own, sets=SETS)[1]] == [("leaf", "host"), ("su", "group")]
    assert [i.text for i in offered("fabric f { host x: HA }\nextend f { connect |", sets=SETS)[1]] == ["x", "leaf", "su"]


# ---------------------------------------------------------------- files
def test_files_and_folders_that_are_used(tmp_path: Path) -> None:
    for name in ("one.fab", "2two.fab", "notes.txt", "deep/three.fab", "deep/deeper/four.fab", "empty/x.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("model switch T3 { port p[2]: 400Gbps }\ndef u(k: int): int = 3\n")
    library = {i.text for i in offered("use |")[1]}
    here = [i for i in offered("use |", tmp_path)[1] if i.text not in library]
    assert here == [CompletionEntry("deep", "folder", "a folder"), CompletionEntry("one", "file", "a file")]
    assert offered("use deep.|", tmp_path)[1] == [
        CompletionEntry("deeper", "folder", "a folder"),
        CompletionEntry("three", "file", "a file"),
    ]
    assert offered("use deep.deeper.|", tmp_path)[1] == [CompletionEntry("four", "file", "a file")]
    assert offered("use empty.|", tmp_path)[1] == offered("use none.|", tmp_path)[1] == []
    assert offered("use deep |", tmp_path)[1] == []
    declared = offered("use deep.three (|", tmp_path)[1]
    assert declared == [CompletionEntry("T3", "name", "of three.fab"), CompletionEntry("u", "name", "of three.fab")]
    assert offered("use deep.three (T3, |", tmp_path)[1] == declared
    assert offered("use deep.three (T3 |", tmp_path)[1] == [CompletionEntry("as", "keyword", "", "", 8)]
    assert offered("use deep.none (|", tmp_path)[1] == []
    used = "use deep.three (T3 as M3, u as w)\nfabric f { "
    assert [i.text for i in offered(f"{used}switch s: |", tmp_path)[1]][:3] == ["SA", "SB", "M3"]
    assert offered(f"{used}let k = |", tmp_path)[1][0] == CompletionEntry("w", "function", "def u(k: int): int", "", 4)
