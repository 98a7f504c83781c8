"""Checks of cables, racks, trays and counts on small halls: every figure, every fault with its place, and the words of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fabrics import selector
from tests.verify.judgements import Clauses, answers, elaborated

PARTS = """
model switch SW { port p[1..8]: 400Gbps { type NDR; cage 2 OSFP finned }; height 1U }
model panel P { port front[8]: any; port back[8]: any; height 1U }
model cable WIRE "WIRE" { rate 400Gbps; medium dac; reach 3m; lengths 1m, 2m, 3m }
model cable SOLD { rate 400Gbps; medium dac; lengths 1m, 2m }
model cable FREE { rate 400Gbps; medium dac }
model cable THICK { rate 400Gbps; medium dac; bend 40mm; diameter 10mm }
model cable SHORT { medium mmf; reach 30m; bend 20mm }
model cable LONG { medium mmf; reach 40m }
model host BIG { port nic: 400Gbps; height 4U; power 1kW max 2kW; mass 100kg }
model host SMALL { port nic: 400Gbps; height 2U; power 500W; mass 30.5kg }
model host ODD { port nic: 400Gbps; height 1U }
model host FLAT { port nic: 400Gbps; power 300W; mass 1kg }
"""

ASK: Clauses = {
    "ends": lambda f: {"of": (selector(f, "s"),), "of_to": (selector(f, "pan"),)},
    "typical": lambda f: {"args": ("typical",)},
    "per_feed": lambda f: {"args": ("per_feed",)},
    "feed_lost": lambda f: {"args": ("feed_lost",)},
}

CASES: dict[str, tuple[str, str]] = {
    "lengths that are stated": (
        """
fabric f {
  switch s[2]: SW
  connect s[0].p[1] to s[1].p[1] { cable WIRE; length 3m }
  connect s[0].p[2] to s[1].p[2] { cable WIRE; length 3001mm }
  connect s[0].p[5] to s[1].p[5] { cable SOLD; length 2m }
  connect s[0].p[6] to s[1].p[6] { cable FREE; length 100m }
  connect s[0].p[7] to s[1].p[7] { cable FREE }
  connect s[0] to s[1] x 2 { cable SOLD; length 2.5m }
}
""",
        """
cable_length: refuted: at least 100m from s[0].p[6] to s[1].p[6]; 1 of 7 lengths are unknown
  100 to inf
  cable: 's[0].p[6] to s[1].p[6]'
  line 4, 1: s[0].p[2] to s[1].p[2] runs 3.001m, and WIRE reaches 3m
    error: place the ends nearer, or use a part that reaches further
  line 8, 2: s[0].p[3] to s[1].p[3] runs 2.500m, and SOLD is sold up to 2m (2 such cables)
    error: place the ends nearer, or use a part that reaches further
cable_length in s: refuted: at least 100m from s[0].p[6] to s[1].p[6]; 1 of 7 lengths are unknown
  100 to inf
  cable: 's[0].p[6] to s[1].p[6]'
  line 4, 1: s[0].p[2] to s[1].p[2] runs 3.001m, and WIRE reaches 3m
    error: place the ends nearer, or use a part that reaches further
  line 8, 2: s[0].p[3] to s[1].p[3] runs 2.500m, and SOLD is sold up to 2m (2 such cables)
    error: place the ends nearer, or use a part that reaches further
links: proved: 7 links
  7 to 7
cables: proved: 7 cables
  7 to 7
twin_port: skipped: no device has a place: add `hall` and `place`, or give a table with --places
bend_radius: skipped: no device has a place: add `hall` and `place`, or give a table with --places
rack_space: skipped: no device has a place: add `hall` and `place`, or give a table with --places
rack_power: skipped: no device has a place: add `hall` and `place`, or give a table with --places
rack_weight: skipped: no device has a place: add `hall` and `place`, or give a table with --places
tray_fill: skipped: no device has a place: add `hall` and `place`, or give a table with --places
""",
    ),
    "lengths that nobody states": (
        """
fabric f {
  switch s[2]: SW
  connect s[0] to s[1] x 2 { cable FREE }
}
""",
        """
cable_length: skipped: no device has a place: add `hall` and `place`, or give a table with --places
""",
    ),
    "lengths unknown beside a site": (
        """
fabric f {
  switch s[2]: SW
  connect s[0].p[1] to s[1].p[1] { cable FREE; length 1m }
  connect s[0].p[2] to s[1].p[2] { cable SOLD; length 1500mm }
}
""",
        """
cable_length: proved: 1.5m from s[0].p[2] to s[1].p[2]
  3/2 to 3/2
  cable: 's[0].p[2] to s[1].p[2]'
""",
    ),
    "lengths below the way": (
        """
fabric f {
  switch s[4]: SW
  panel pan: P
  connect s[0] to s[1] x 2 { cable FREE; length 2m }
  connect s[1] to s[2] x 1 { cable FREE; length 2m }
  connect s[2] to s[3] x 2 via pan { cable MFP7E10 }
  connect s[0] to s[3] x 2 via pan { cable MFP7E10 }
  hall h { row A { rack 1..40 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }
  place s[0] in h.A[1] at 40U
  place s[1] in h.A[2] at 40U
  place s[2] in h.A[4] at 40U
  place s[3] in h.A[34] at 40U
  place pan in h.A[20] at 40U
}
""",
        """
cable_length: refuted: 22.6884m from s[0].p[2] to pan.front[2]
  453769/20000 to 453769/20000
  cable: 's[0].p[2] to pan.front[2]'
  line 4, 2: s[0].p[1] to s[1].p[1] runs 4.688m, and its connect states 2m (2 cables)
    error: leave `length` out, or state one that covers the way
  line 5, 1: s[1].p[2] to s[2].p[1] runs 5.688m, and its connect states 2m
    error: leave `length` out, or state one that covers the way
cable_length ends: proved: 22.6884m from s[0].p[2] to pan.front[2]
  453769/20000 to 453769/20000
  cable: 's[0].p[2] to pan.front[2]'
twin_port: refuted: cage OSFP 1 of s[0] has FREE and MFP7E10: a transceiver takes one kind (and 2 more)
  line 7, 3: cage OSFP 1 of s[0] has FREE and MFP7E10: a transceiver takes one kind (and 2 more)
    line 4: the other comes from here
    error: pin one `cable` and one `optic` for both
rack_space: proved: fullest: rack A01 with 1 of 48 units taken
bend_radius: bounded: at least 30mm for MFP7E10; 3 of 11 cables state no `bend`
  3/100 to inf
  part: 'MFP7E10'
""",
    ),
    "one length below several ways": (
        """
fabric f {
  switch s[4]: SW
  connect s[i] to s[i+1] where i < 3 { cable FREE; length 4.7m }
  hall h { row A { rack 1..40 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }
  place s[0] in h.A[1] at 40U
  place s[1] in h.A[2] at 40U
  place s[2] in h.A[5] at 40U
  place s[3] in h.A[7] at 40U
}
""",
        """
cable_length: refuted: 4.7m from s[0].p[1] to s[1].p[1]
  47/10 to 47/10
  cable: 's[0].p[1] to s[1].p[1]'
  line 3, 2: s[1].p[2] to s[2].p[1] runs 6.688m, and its connect states 4.7m (2 cables)
    error: leave `length` out, or state one that covers the way
""",
    ),
    "links through a panel": (
        """
fabric f {
  switch s[4]: SW
  panel pan: P
  connect s[0] to s[1] x 2 via pan { cable SHORT }
  connect s[2] to s[3] via pan { cable SHORT }
  connect s[0] to s[2] via pan { cable LONG }
  connect s[1] to s[3] { cable THICK }
  hall h { row A { rack 1..10 { height 48U; bend 20mm }
    rack 11..20 { height 48U; bend 10mm }; rack 21..60 { height 48U; bend 40mm } };
    pitch rack 1m; tray above 2.6m { capacity 20mm x 10mm } ; slack 1m }
  place s[0] in h.A[1] at 40U
  place s[1] in h.A[30] at 40U
  place s[2] in h.A[7] at 40U
  place s[3] in h.A[50] at 40U
  place pan in h.A[14] at 40U
}
""",
        """
cable_length: refuted: 39.6885m from s[3].p[1] to pan.back[2]
  793769/20000 to 793769/20000
  cable: 's[3].p[1] to pan.back[2]'
  line 5, 1: s[3].p[1] to pan.back[2] runs 39.688m, and SHORT reaches 30m
    error: place the ends nearer, or use a part that reaches further
  line 4, 2: s[0].p[1] to s[1].p[1] runs 36.377m in all, and SHORT reaches 30m (2 such links)
    error: place the ends nearer to the panel, or use parts that reach further
cable_length ends: refuted: 39.6885m from s[3].p[1] to pan.back[2]
  793769/20000 to 793769/20000
  cable: 's[3].p[1] to pan.back[2]'
  line 5, 1: s[3].p[1] to pan.back[2] runs 39.688m, and SHORT reaches 30m
    error: place the ends nearer, or use a part that reaches further
  line 4, 2: s[0].p[1] to s[1].p[1] runs 36.377m in all, and SHORT reaches 30m (2 such links)
    error: place the ends nearer to the panel, or use parts that reach further
bend_radius: refuted: at least 40mm for THICK; 2 of 9 cables state no `bend`
  1/25 to inf
  part: 'THICK'
  line 4, 6: rack A14 in hall h leaves 10mm for a bend, and SHORT needs 20mm (6 cables)
    line 9: the rack is declared here
    error: use a thinner cable, or racks with larger cable managers
twin_port: refuted: cage OSFP 1 of s[0] has LONG and SHORT: a transceiver takes one kind (and 3 more)
  line 6, 4: cage OSFP 1 of s[0] has LONG and SHORT: a transceiver takes one kind (and 3 more)
    line 4: the other comes from here
    error: pin one `cable` and one `optic` for both
tray_fill: bounded: at least 39.3% in row A from rack 30 to 31 of hall h (2 cables); the length or diameter of 5 cables
      is unknown
  355/904 to inf
  hall: 'h'
  stretch: 'row A from rack 30 to 31'
loss_budget: skipped: no part of the links through P states `ferrules`
cables: proved: 9 cables
  9 to 9
cables in s: proved: 3 cables
  3 to 3
cables in pan: proved: 8 cables
  8 to 8
cables ends: proved: 8 cables
  8 to 8
cable_length in s: refuted: 16.6884m from s[0].p[1] to pan.front[0]
  333769/20000 to 333769/20000
  cable: 's[0].p[1] to pan.front[0]'
  line 4, 2: s[0].p[1] to s[1].p[1] runs 36.377m in all, and SHORT reaches 30m (2 such links)
    error: place the ends nearer to the panel, or use parts that reach further
bend_radius in s: refuted: at least 20mm for SHORT; 1 of 3 cables state no `bend`
  1/50 to inf
  part: 'SHORT'
  line 4, 2: rack A14 in hall h leaves 10mm for a bend, and SHORT needs 20mm (2 cables)
    line 9: the rack is declared here
    error: use a thinner cable, or racks with larger cable managers
tray_fill in s: bounded: at least 0% in row A from rack 1 to 2 of hall h (3 cables); the length or diameter of 3 cables
      is unknown
  0 to inf
  hall: 'h'
  stretch: 'row A from rack 1 to 2'
power in s: bounded: at least 0W; 4 figures of devices, transceivers or active cables are unknown
  0 to inf
  missing: 4
cost in s: bounded: at least $0; 7 prices are missing
  0 to inf
  missing: 7
ports in s: proved: 3 ports in use
  3 to 3
ports in pan: proved: 8 ports in use
  8 to 8
links: proved: 5 links
  5 to 5
links ends: proved: 0 links
  0 to 0
ports: proved: 18 ports in use
  18 to 18
switches: proved: 4 switches
  4 to 4
rack_space: proved: fullest: rack A01 with 1 of 48 units taken
rack_power: bounded: at least 0W in rack A01 in hall h; 12 figures are unknown
  0 to inf
  rack: 'A01'
  hall: 'h'
rack_weight: bounded: at least 0kg in rack A01 in hall h; 5 figures are unknown
  0 to inf
  rack: 'A01'
  hall: 'h'
power: bounded: at least 0W; 12 figures of devices, transceivers or active cables are unknown
  0 to inf
  missing: 12
cost: bounded: at least $0; 22 prices are missing
  0 to inf
  missing: 22
""",
    ),
    "racks with feeds": (
        """
fabric f {
  host big[4]: BIG
  host small[3]: SMALL
  host odd[2]: ODD
  hall h { row A { rack 1 { height 10U; power 2 x 3kW; mass 150kg }
    rack 2 { height 10U; power 3 x 1kW; mass 150kg }; rack 3 { height 10U; power 1 x 2kW; mass 100kg }; rack 4 { height 10U } } }
  place big[0] in h.A[1] at 1U
  place big[1] in h.A[1] at 5U
  place big[2] in h.A[2] at 1U
  place small[0] in h.A[2] at 5U
  place small[1] in h.A[2] at 7U
  place big[3] in h.A[3] at 1U
  place odd[0] in h.A[3] at 5U
  place odd[1] in h.A[4] at 10U
  place small[2] in h.A[4] at 2U
  connect big[0] to big[1]
  connect big[2] to big[3]
  connect small[0] to small[1]
  connect odd[0] to odd[1]
}
""",
        """
rack_power: refuted: at least 4kW in rack A01 in hall h; 6 figures are unknown
  4000 to inf
  rack: 'A01'
  hall: 'h'
  line 8, 2: rack A01 in hall h has feeds of 3kW, and its devices come to 4kW (and 1 more rack)
    line 5: the rack is declared here
    error: place fewer devices in it, or use a rack that carries more
  line 11, 2: rack A02 in hall h has feeds of 2kW with one of 3 lost, and its devices come to 3kW (and 1 more rack)
    line 6: the rack is declared here
    error: place fewer devices in it, or use a rack that carries more
rack_weight: refuted: at least 200kg in rack A01 in hall h; 2 figures are unknown
  200 to inf
  rack: 'A01'
  hall: 'h'
  line 8, 2: rack A01 in hall h carries 150kg, and its devices come to 200kg (and 1 more rack)
    line 5: the rack is declared here
    error: place fewer devices in it, or use a rack that carries more
  line 11, 2: rack A02 in hall h carries 150kg, and its devices come to 161kg (and 1 more rack)
    line 6: the rack is declared here
    error: place fewer devices in it, or use a rack that carries more
rack_space: proved: fullest: rack A01 with 8 of 10 units taken
power: bounded: at least 9.5kW; 6 figures of devices, transceivers or active cables are unknown
  9500 to inf
  missing: 6
rack_power typical: bounded: at least 2kW in rack A01 in hall h; 10 figures are unknown
  2000 to inf
  rack: 'A01'
  hall: 'h'
rack_power per_feed: bounded: at least 2kW in rack A01 in hall h; 4 figures are unknown
  2000 to inf
  rack: 'A01'
  hall: 'h'
rack_power feed_lost: refuted: at least 4kW in rack A01 in hall h; 4 figures are unknown
  4000 to inf
  rack: 'A01'
  hall: 'h'
  line 8, 2: rack A01 in hall h has feeds of 3kW, and its devices come to 4kW (and 1 more rack)
    line 5: the rack is declared here
    error: place fewer devices in it, or use a rack that carries more
  line 11, 2: rack A02 in hall h has feeds of 1kW with one of 3 lost, and its devices come to 1.5kW (and 1 more rack)
    line 6: the rack is declared here
    error: place fewer devices in it, or use a rack that carries more
power typical: bounded: at least 5.5kW typical; 10 figures of devices, transceivers or active cables are unknown
  5500 to inf
  missing: 10
power in small: bounded: at least 500W; 1 figures of devices, transceivers or active cables are unknown
  500 to inf
  missing: 1
rack_power in small: refuted: at least 3kW in rack A02 in hall h; 2 figures are unknown
  3000 to inf
  rack: 'A02'
  hall: 'h'
  line 11, 1: rack A02 in hall h has feeds of 2kW with one of 3 lost, and its devices come to 3kW
    line 6: the rack is declared here
    error: place fewer devices in it, or use a rack that carries more
rack_weight in small: refuted: 161kg in rack A02 in hall h
  161 to 161
  rack: 'A02'
  hall: 'h'
  line 11, 1: rack A02 in hall h carries 150kg, and its devices come to 161kg
    line 6: the rack is declared here
    error: place fewer devices in it, or use a rack that carries more
rack_space in odd: proved: fullest: rack A03 with 5 of 10 units taken
optics_power: bounded: at least 0W; 8 cable ends have no transceiver, or one or an active plug without a known power
  0 to inf
  missing: 8
cost: bounded: at least $0; 21 prices are missing
  0 to inf
  missing: 21
""",
    ),
    "racks that are overfull": (
        """
fabric f {
  host big[6]: BIG
  host flat[2]: FLAT
  hall h { row A { rack 1..4 { height 9U; power 2 x 1kW; mass 99kg } } }
  place big[i] in h.A[i//2 + 1] at 2U + 3U*(i%2)
  place flat[0] in h.A[4] at 9U
  place flat[1] in h.A[4] at 10U
  connect big[i] to big[i+3] where i < 3
}
""",
        """
rack_power: refuted: 4kW in rack A01 in hall h
  4000 to 4000
  rack: 'A01'
  hall: 'h'
  line 5, 3: rack A01 in hall h has feeds of 1kW, and its devices come to 4kW (and 2 more racks)
    line 4: the rack is declared here
    error: place fewer devices in it, or use a rack that carries more
rack_weight: refuted: 200kg in rack A01 in hall h
  200 to 200
  rack: 'A01'
  hall: 'h'
  line 5, 3: rack A01 in hall h carries 99kg, and its devices come to 200kg (and 2 more racks)
    line 4: the rack is declared here
    error: place fewer devices in it, or use a rack that carries more
rack_space: refuted: big[0] and big[1] are both in unit 5 of rack A01 in hall h (and 2 more)
  line 5, 3: big[0] and big[1] are both in unit 5 of rack A01 in hall h (and 2 more)
    error: place them apart: a device takes `height` units upwards
  line 7, 1: flat[1] reaches unit 10 of rack A04 in hall h, which has 9
    line 4: the rack is declared here
    error: use another rack, or a taller one
rack_power per_feed: refuted: 2kW in rack A01 in hall h
  2000 to 2000
  rack: 'A01'
  hall: 'h'
  line 5, 3: rack A01 in hall h has feeds of 1kW, and its devices come to 2kW (and 2 more racks)
    line 4: the rack is declared here
    error: place fewer devices in it, or use a rack that carries more
""",
    ),
    "one figure is missing": (
        """
fabric f {
  host odd: ODD
  host flat: FLAT
  hall h { row A { rack 1..4 { height 9U; power 2 x 1kW; mass 99kg } } }
  place odd in h.A[2] at 9U
  place flat in h.A[1] at 9U
  connect odd to flat
}
""",
        """
rack_power: bounded: at least 300W in rack A01 in hall h; 3 figures are unknown
  300 to inf
  rack: 'A01'
  hall: 'h'
rack_weight: bounded: at least 1kg in rack A01 in hall h; 1 figure is unknown
  1 to inf
  rack: 'A01'
  hall: 'h'
rack_space: skipped: FLAT has no `height`
""",
    ),
    "racks without a height": (
        """
fabric f {
  host odd[2]: ODD
  hall h { row A { rack 1..4 } }
  place odd[i] in h.A[2+i] at 9U
  connect odd[0] to odd[1]
}
""",
        """
rack_power per_feed: skipped: no rack here states its feeds: `power 2 x 44kW`
rack_weight: bounded: at least 0kg in rack A02 in hall h; 2 figures are unknown
  0 to inf
  rack: 'A02'
  hall: 'h'
rack_space: skipped: rack A02 has no `height`
""",
    ),
    "racks whose devices have no unit": (
        """
fabric f {
  host big[6]: BIG
  hall h { row A { rack 1..2 { height 11U }; rack 3..4 { height 12U } } }
  place big[i] in h.A[i//3 + 2]
  connect big[i] to big[i+3] where i < 3
}
""",
        """
rack_space: refuted: rack A02 in hall h has 11 units, and its devices need 12
  line 4, 1: rack A02 in hall h has 11 units, and its devices need 12
    line 3: the rack is declared here
    error: use another rack, or a taller one
""",
    ),
    "one cable bent too tightly": (
        """
fabric f {
  switch s[3]: SW
  connect s[0] to s[1] { cable THICK; length 30m }
  connect s[1] to s[2] { cable SHORT; length 30m }
  hall h {
    row A { rack 1..2 { height 48U; bend 40mm }; rack 3..9 { height 48U; bend 19mm } }
    pitch rack 1m; tray above 2.6m { capacity 20mm x 10mm }; slack 1m
  }
  place s[i] in h.A[i + 1] at 40U
}
""",
        """
bend_radius: refuted: 40mm for THICK
  1/25 to 1/25
  part: 'THICK'
  line 4, 1: rack A03 in hall h leaves 19mm for a bend, and SHORT needs 20mm
    line 6: the rack is declared here
    error: use a thinner cable, or racks with larger cable managers
tray_fill: bounded: at least 39.3% in row A from rack 1 to 2 of hall h (1 cables); the length or diameter of 1 cable is
      unknown
  355/904 to inf
  hall: 'h'
  stretch: 'row A from rack 1 to 2'
cable_length: proved: 30m from s[0].p[1] to s[1].p[1]
  30 to 30
  cable: 's[0].p[1] to s[1].p[1]'
""",
    ),
    "trays that are overfull": (
        """
fabric f {
  switch s[3]: SW
  connect s[0] to s[1] x 2 { cable THICK }
  connect s[1] to s[2] { cable THICK }
  hall h {
    row A { rack 1..2 { height 48U }; rack 3..9 { height 48U; bend 39mm } }
    pitch rack 1m; tray above 2.6m { capacity 15mm x 10mm }; slack 1m
  }
  place s[i] in h.A[i + 1] at 40U
}
""",
        """
tray_fill: refuted: 105% in row A from rack 1 to 2 of hall h (2 cables)
  355/339 to 355/339
  hall: 'h'
  stretch: 'row A from rack 1 to 2'
  line 5, 2: the tray of hall h is 105% full in row A from rack 1 to 2: 2 cables (and 1 more stretches are over 50%)
    line 7: the tray is declared here
    error: use a larger tray, or more trays `across`
bend_radius: refuted: 40mm for THICK
  1/25 to 1/25
  part: 'THICK'
  line 4, 1: rack A03 in hall h leaves 39mm for a bend, and THICK needs 40mm
    line 6: the rack is declared here
    error: use a thinner cable, or racks with larger cable managers
""",
    ),
    "racks that carry just enough": (
        """
fabric f {
  host big[2]: BIG
  host small[2]: SMALL
  hall h { row A { rack 1..2 { height 8U; power 2 x 4kW; mass 200kg }; rack 3 { height 4U; power 2 x 1kW; mass 61kg } } }
  place big[i] in h.A[1] at 1U + 4U*i
  place small[i] in h.A[3] at 1U + 2U*i
  connect big[0] to big[1]
  connect small[0] to small[1]
}
""",
        """
rack_power: bounded: at least 4kW in rack A01 in hall h; 2 figures are unknown
  4000 to inf
  rack: 'A01'
  hall: 'h'
rack_weight: proved: 200kg in rack A01 in hall h
  200 to 200
  rack: 'A01'
  hall: 'h'
rack_power feed_lost: bounded: at least 4kW in rack A01 in hall h; 2 figures are unknown
  4000 to inf
  rack: 'A01'
  hall: 'h'
""",
    ),
    "no place for one end": (
        """
fabric f {
  switch s[2]: SW
  connect s[0] to s[1] { cable FREE }
  hall h { row A { rack 1..2 { height 48U } } }
  place s[0] in h.A[1] at 40U
}
""",
        """
cable_length: skipped: no length is known: s1 has no place
rack_space: proved: fullest: rack A01 with 1 of 48 units taken
twin_port: proved: every transceiver has one kind of cable
""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_judgements(name: str, tmp_path: Path) -> None:
    text, expected = CASES[name]
    found, wanted = answers(elaborated(text + PARTS, tmp_path), expected, ASK)
    assert found == wanted
