"""How each statement is written: the form that is shown where nothing better is known of a fault."""

from __future__ import annotations

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
}
"""A statement of each kind, by its first word."""
FORMS_OF_BLOCK = {
    ("tier", "switch"): "switch MODEL x 4 as NAME { … }",
    ("model", "connect"): "connect gpu[g] to xbar[s] x 2",
}
"""A statement that has another form in a block, by the block's first word and its own."""
