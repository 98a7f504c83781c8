"""How each statement is written: the form that is shown where nothing better is known of a fault."""

from __future__ import annotations

import re

FORMS = {
    "use": "use folder.file (NAME, NAME)",
    "fabric": 'fabric pod "A title" { … }',
    "cluster": 'cluster ai "A title" { … }',
    **{kind: f"{kind} NAME[4] {{ … }}" for kind in ("group", "pod", "plane", "rack", "site", "cube", "cell")},
    **{kind: f"{kind} NAME[4]: MODEL {{ … }}" for kind in ("host", "chip", "switch", "ocs", "panel")},
    "hall": "hall h1 { row A { rack 1..8 { height 48U } } }",
    "row": "row A, B { rack 1..8 { height 48U } }",
    "port": "port p[1..32]: 400Gbps { … }",
    "model": 'model switch NAME "A title" { port p[1..64]: 400Gbps }',
    "topology": "topology NAME(ends: ports, hub: model, arms: int = 2) { … }",
    "job": 'job NAME "A title" { … }',
    "connect": "connect leaf[*] to spine[*] spread x 8",
    "circuit": "circuit block[*] spread",
    "omit": "omit node[15]",
    "naming": 'naming leaf[i] "leaf{i:02}"',
    "extend": "extend pod.su[0] { … }",
    "override": "override leaf[0]: MODEL",
    "place": "place leaf[*] in h1.A[3] stacked from 30U",
    "place auto": "place auto in h1 { hosts 4 per rack }",
    "require": "require bisection >= 100% and survives any 1 of spine",
    "report": "report bisection and diameter",
    "phase": "phase 1 { units 2 }",
    "tier": "tier spine of ? leaf { switch MODEL }",
    "let": "let n = 4",
    "param": "param n: int = 4 where 1 <= n <= 8",
    "def": "def half(n: int): int = n // 2",
    "for": "for i in 0..7 { … }",
    "if": "if n > 4 { … } else { … }",
    "distance": "distance h1 to h2 120m",
    "address": "address leaf loopback from 10.255.0.0/24",
    "hosts": "hosts 128 x MODEL",
    "partition": "partition NAME 0x0001 { full node[0..3].nic }",
    "subnet_manager": "subnet_manager manager[(0)], manager[(1)]",
    "feed": "feed NAME { from FEED; power 400kW; racks h1.A[1..8] }",
    "risk": "risk NAME { members spine[0], leaf[0]; fails 1/5year; repair 8h }",
    "routing": "routing bgp { unnumbered; asn leaf[*] from 65001; mtu 9216 }",
    "roce": "roce { dscp 26; priority 3; cnp 48 priority 6; ecn 150kB to 1500kB at 5% }",
}
"""A statement of each kind, by its first word."""
OTHER_FORMS: dict[str, tuple[str, ...]] = {
    "place": (
        "place leaf[*] in h1.A[3] at 30U",
        "place leaf[*] in h1.A[3] stacked from 30U",
        "place leaf[*] in h1.A[3]",
        "place auto in h1",
    ),
    "connect": ("connect leaf[*] to spine[*] spread", "connect leaf[*] to spine[*] each"),
    "circuit": ("circuit block[*] to block[*] each",),
    "tier": ("tier spine of ? leaf", "tier leaf of 4 hosts", "tier spine of 4 leaf"),
    "override": ("override leaf: MODEL",),
    "omit": ("omit node[15], node[14]",),
    "for": ("for i in 0..7",),
    "let": ("let n = 4Gbps", 'let n = "text"'),
    "distance": ("distance dc[0] to dc[1] 120m",),
    "extend": ("extend pod.su[0]", "extend pod"),
    "port": ("port p[1..32]: 400Gbps", "port p: 400Gbps"),
    "phase": ("phase 1",),
    "use": ("use folder.file (NAME)",),
}
"""More forms of a statement, for one that is said anew."""
SETTINGS_OF_BLOCK: dict[str, tuple[str, ...]] = {
    "hall": ("pitch rack 0.6m, row 3m", "pitch rack 0.6m", "tray above 2.6m", "tray below 0.5m", "slack 1m"),
    "job": (
        "on node[0].gpu",
        "overlap data 90%",
        "efficiency 60%",
        "sequence 4096",
        "batch 256",
        "microbatch 1",
    ),
    "row": ("rack 1..8", "rack 4"),
    "rack": ("height 48U", "power 2 x 44kW", "power 44kW", "mass 1400kg", "bend 60mm"),
    "tray": ("across at 1, 8", "across at 1", "capacity 300mm x 100mm"),
    "place": (
        "hosts 4 per rack",
        "switches middle of row",
        "switches end of row",
        "switches top of rack",
        "minimize length",
    ),
    "routing": ("asn leaf[*] from 65001", "asn leaf[*] 65001", "mtu 9216", "bfd 100ms x 3"),
    "roce": (
        "dscp 26",
        "priority 3",
        "cnp 48 priority 6",
        "cnp 48",
        "ecn 150kB to 1500kB at 5%",
        "ecn 150kB to 1500kB",
        "pfc watchdog 200ms",
    ),
    "risk": ("members spine[0]", "fails 1/5year", "repair 8h"),
    "feed": ("from FEED", "power 400kW", "racks h1.A[1]"),
    "port": ("cage 2 OSFP", "type GE400", "split 2", 'os "swp"', 'name "swp"', "sockets 2", "connector 2"),
    "model": ("height 1U", "power 700W max 1.5kW", "power 700W", "mass 20kg", "price $30k", "latency 500ns"),
    "connect": (
        "rate 400Gbps",
        "length 30m",
        "cable PART",
        "medium FIBRE",
        "optic PART, PART",
        "optic PART",
        "bundle 2",
    ),
    "tier": ("switch MODEL x 4 as NAME", "switch MODEL x 4", "switch MODEL", "oversubscription 2:1"),
    "partition": ("full node[0]", "limited node[0]"),
    "phase": ('needed "2027-03-01"', "UNITS 4"),
    "host": ("role ROLE", "spares 2", "split p[1..32] 2", "latency 2us", "nos NAME"),
    "switch": ("role ROLE", "split p[1..32] 2", "latency 2us", "nos NAME"),
    "fabric": ("transport NAME", "rails 8", "pods 2", "minimize NAME", "hosts 4 x MODEL", "nos NAME"),
}
"""Settings of a block, by the block's first word, for one that is said anew."""
FORMS_OF_BLOCK = {
    ("tier", "switch"): "switch MODEL x 4 as NAME { … }",
    ("model", "connect"): "connect gpu[g] to xbar[s] x 2",
}
"""A statement that has another form in a block, by the block's first word and its own."""
REQUIREMENTS: dict[str, str] = {
    "allreduce": "allreduce 1GB of all node[*] <= 10ms",
    "availability": "availability >= 99.9% with bisection >= 50%",
    "bisection": "bisection >= 100%",
    "blast_radius": "blast_radius of leaf[*] <= 32",
    "cable_share": "cable_share copper >= 50%",
    "cables": "cables of leaf[*] to spine[*] <= 64",
    "checkpoint_interval": "checkpoint_interval write 30s of node[*] <= 30min",
    "days": "days of JOB over 1T tokens <= 30",
    "ecmp_load": "ecmp_load 16 <= 2",
    "goodput": "goodput write 30s restart 5min of node[*] >= 90%",
    "links": "links of leaf[*] to spine[*] == 64",
    "oversubscription": "oversubscription at leaf[*] <= 2:1",
    "power": "power of network <= 40% of total",
    "spares_needed": "spares_needed 99% of node[*] <= 4",
    "survives": "survives any 1 of spine[*] with bisection >= 70%",
    "throughput": "throughput all_to_all >= 90%",
    "transfer": "transfer 1GB of node[0] to node[1] <= 10ms",
}
"""A requirement of each metric that takes more than a comparison."""
_COMPARED = re.compile(r" [<>=]=.*")


def forms_of_requirement(word: str, metric: str) -> tuple[str, ...]:
    """The forms of a `require` or `report` of a metric, with and without a comparison; none of others."""
    form = REQUIREMENTS.get(metric, "") if word in ("require", "report") else ""
    return (f"{word} {form}", f"{word} {_COMPARED.sub('', form)}") if form else ()


_WORD = re.compile(r"\s*+([A-Za-z_]\w*+)")
_LOOKED_AT = 20_000
"""Characters before a statement in which its block is looked for."""


def form_of_statement(text: str, offset: int) -> str:
    """The form of the statement at a place of a text, "" where none is listed."""
    word, block = _words_at(text, offset)
    return (
        next(iter(forms_of_setting(text, offset)), "")
        or FORMS_OF_BLOCK.get((block, word))
        or FORMS.get(word, "")
    )


def forms_of_setting(text: str, offset: int) -> list[str]:
    """The forms of the setting at a place of a text, in its block."""
    word, block = _words_at(text, offset)
    return [form for form in SETTINGS_OF_BLOCK.get(block, ()) if form.partition(" ")[0] == word]


def _words_at(text: str, offset: int) -> tuple[str, str]:
    """The first word of the statement at a place, and that of the statement in whose braces it is."""
    begin = max(text.rfind(c, 0, offset) for c in "\n;{}") + 1
    found, depth = _WORD.match(text, begin), 0
    for brace in reversed(list(re.finditer(r"[{}]", text[max(begin - _LOOKED_AT, 0) : begin]))):
        depth += 1 if brace[0] == "}" else -1
        if depth < 0:
            at = max(begin - _LOOKED_AT, 0) + brace.start()
            head = _WORD.match(text, max(text.rfind(c, 0, at) for c in "\n;{}") + 1)
            return found[1] if found is not None else "", head[1] if head is not None else ""
    return found[1] if found is not None else "", ""
