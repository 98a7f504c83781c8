"""Checks of cables and cages on small designs: transceivers, plugs, kinds of parts in one cage, and lengths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fabrics import selector
from tests.verify.judgements import Clauses, answers, elaborated

PARTS = """
model switch SW { port p[1..8]: 400Gbps { type NDR; cage 2 OSFP finned }; height 1U }
model switch ONE { port p[1..8]: 400Gbps { type NDR; cage 1 OSFP flat }; port q[1..4]: 200Gbps { cage 1 OSFP flat }; height 1U }
model switch BARE { port p[1..8]: 400Gbps { type NDR }; height 1U }
model switch EITHER { port p[1..8]: 400Gbps { type NDR; cage 2 OSFP }; height 1U }
model panel P { port front[8]: any; port back[8]: any; height 1U }
model optic TWIN "TWIN" { form OSFP finned; ports 2; rate 400Gbps; fibre mmf; connector MPO; reach 50m }
model optic FLAT "FLAT" { form OSFP flat; ports 1; rate 400Gbps; fibre mmf; connector MPO; reach 20m }
model optic SINGLE "SINGLE" { form OSFP flat; ports 1; rate 400Gbps; fibre smf; connector LC; reach 50m }
model optic HALF "HALF" { form OSFP flat; ports 1; rate 200Gbps; fibre mmf; connector MPO }
model cable FIBRE "FIBRE" { rate 400Gbps; medium mmf; fibre mmf; connector MPO; reach 50m }
model cable LC "LC" { rate 400Gbps; medium smf; fibre smf; connector LC; reach 50m }
model cable COPPER "COPPER" { rate 400Gbps; medium dac; form OSFP flat; reach 3m }
model cable COPPER2 "COPPER2" { rate 800Gbps; medium dac; form OSFP finned; reach 3m }
model optic NEAR "NEAR" { form OSFP finned; ports 2; rate 400Gbps; fibre mmf; connector MPO; reach 4m }
model cable DAC5 "DAC5" { rate 400Gbps; medium dac; reach 5m; lengths 1m, 6m }
model cable DAC4 "DAC4" { rate 400Gbps; medium dac; reach 4.688m; lengths 1m, 3m }
model cable SOLD { rate 400Gbps; medium dac; lengths 1m, 4.5m }
model cable FREE { rate 400Gbps; medium dac }
model cable SIX "SIX" { medium mmf; reach 6m }
model cable NINE "NINE" { medium mmf; reach 9m }
model cable EQUAL "EQUAL" { medium mmf; reach 10.37687m }
model optic CLOSE "CLOSE" { form OSFP flat; ports 1; rate 400Gbps; fibre mmf; connector MPO; reach 4m }
model cable TEN "TEN" { medium mmf; reach 10m }
model optic MORE "MORE" { form OSFP finned; ports 2; rate 400Gbps; fibre mmf; connector MPO }
model switch WIDE { port p[1..8]: 800Gbps { type NDR; cage 1 OSFP flat; split 2 } }
model optic BIG "BIG" { form OSFP flat; ports 1; rate 800Gbps; fibre mmf; connector MPO; reach 50m }
model cable Y "Y" { rate 800Gbps; medium mmf; fibre mmf; connector MPO; reach 50m; legs 2 }
"""

ASK: Clauses = {"ends": lambda f: {"of": (selector(f, "s"),), "of_to": (selector(f, "pan"),)}}

CASES: dict[str, tuple[str, str]] = {
    "transceivers in several cages": (
        """
fabric f {
  switch s[2]: SW
  switch one[4]: ONE
  connect s[0] to s[1] x 2 { optic TWIN; cable FIBRE }
  connect s[0].p[3] to one[0].p[1] { optic TWIN, FLAT; cable FIBRE }
  connect s[0].p[4] to one[0].p[2] { optic FLAT; cable FIBRE }
  connect one[1] to one[2] x 3 { optic TWIN, FLAT; cable LC }
  connect one[1].p[8] to one[2].p[8] { optic FLAT, SINGLE; cable LC }
  connect one[1].p[7] to one[3].p[7] { optic SINGLE }
  connect one[1].p[6] to one[3].p[6]
}
""",
        """
cage_fit: refuted: s[0].p[4]: FLAT is flat, and the cage takes finned
  line 6, 1: s[0].p[4]: FLAT is flat, and the cage takes finned
    line 12: the ports are declared here
    line 18: the transceiver is declared here
    error: pin a transceiver that fits, or none: then one is chosen
  line 7, 3: one[1].p[1]: TWIN is finned, and the cage takes flat (3 such ends)
    line 13: the ports are declared here
    line 17: the transceiver is declared here
    error: pin a transceiver that fits, or none: then one is chosen
  line 7, 3: TWIN has the fibre mmf and LC smf: they do not go together
    line 17: declared here
    line 22: declared here
    error: use one kind at both ends
  line 8, 1: FLAT has the fibre mmf and SINGLE smf: they do not go together
    line 18: declared here
    line 19: declared here
    error: use one kind at both ends
""",
    ),
    "transceivers that fit": (
        """
fabric f {
  switch s[2]: SW
  switch one[2]: ONE
  connect s[0] to s[1] x 2 { optic TWIN; cable FIBRE }
  connect s[0].p[3] to one[0].p[1] { optic TWIN, FLAT; cable FIBRE }
  connect one[0].p[2] to one[1].p[2] { cable COPPER }
  connect one[0].q[2] to one[1].q[2]
}
""",
        """
cage_fit: proved: every transceiver fits its cage
""",
    ),
    "cages that are not stated": (
        """
fabric f {
  switch s[2]: BARE
  switch e[2]: EITHER
  connect s[0] to s[1] x 2 { optic FLAT; cable FIBRE }
  connect e[0] to e[1] x 2 { optic TWIN; cable FIBRE }
  connect e[0].p[7] to e[1].p[7] { cable COPPER2 }
}
""",
        """
cage_fit: skipped: the model does not state the cage
""",
    ),
    "cages that are not stated beside one that is wrong": (
        """
fabric f {
  switch s[2]: BARE
  switch one[2]: ONE
  connect s[0] to s[1] x 2 { optic FLAT; cable FIBRE }
  connect one[0] to one[1] x 2 { optic HALF; cable FIBRE }
}
""",
        """
cage_fit: refuted: one[0].p[1]: HALF runs at 200Gbps, and the link at 400Gbps (2 such ends)
  line 5, 2: one[0].p[1]: HALF runs at 200Gbps, and the link at 400Gbps (2 such ends)
    line 8: the ports are declared here
    line 15: the transceiver is declared here
    error: pin a transceiver that fits, or none: then one is chosen
  line 5, 2: one[1].p[1]: HALF runs at 200Gbps, and the link at 400Gbps (2 such ends)
    line 8: the ports are declared here
    line 15: the transceiver is declared here
    error: pin a transceiver that fits, or none: then one is chosen
""",
    ),
    "no parts": (
        """
fabric f {
  switch s[2]: BARE
  connect s[0] to s[1] x 2
  connect s[0] to s[1] x 2 { cable FIBRE }
}
""",
        """
cage_fit: skipped: no connect pins a transceiver or a cable with plugs
""",
    ),
    "through a panel": (
        """
fabric f {
  switch one[4]: ONE
  panel pan: P
  connect one[0] to one[1] x 2 via pan { optic FLAT; cable FIBRE }
  connect one[2] to one[3] x 2 via pan { optic TWIN; cable FIBRE }
}
""",
        """
cage_fit: refuted: one[2].p[1]: TWIN is finned, and the cage takes flat (4 such ends)
  line 5, 4: one[2].p[1]: TWIN is finned, and the cage takes flat (4 such ends)
    line 8: the ports are declared here
    line 12: the transceiver is declared here
    error: pin a transceiver that fits, or none: then one is chosen
""",
    ),
    "break-outs": (
        """
fabric f {
  switch s: WIDE { split p 2 }
  switch one[4]: ONE
  connect s to one[i] where i < 2 { optic BIG, FLAT; cable Y }
  connect s to one[i] where i > 1 { optic FLAT, BIG; cable Y }
}
""",
        """
cage_fit: refuted: s.p[2, 0]: FLAT runs at 400Gbps, and a break-out with 2 legs at 800Gbps (2 such ends)
  line 5, 2: s.p[2, 0]: FLAT runs at 400Gbps, and a break-out with 2 legs at 800Gbps (2 such ends)
    line 31: the ports are declared here
    line 13: the transceiver is declared here
    error: pin a transceiver that fits, or none: then one is chosen
  line 5, 2: one[2].p[1]: BIG runs at 800Gbps, and the port at 400Gbps (2 such ends)
    line 8: the ports are declared here
    line 32: the transceiver is declared here
    error: pin a transceiver that fits, or none: then one is chosen
""",
    ),
    "kinds in one cage": (
        """
fabric f {
  switch s[3]: SW
  connect s[0].p[1] to s[1].p[1] { optic TWIN; cable FIBRE }
  connect s[0].p[2] to s[1].p[2] { optic TWIN; cable LC }
  connect s[0].p[3] to s[1].p[3] { cable COPPER2 }
  connect s[0].p[4] to s[1].p[4] { cable FREE }
  connect s[0].p[5] to s[2].p[1] { optic TWIN; cable FIBRE }
  connect s[0].p[6] to s[2].p[2] { optic MORE; cable FIBRE }
  hall h { row A { rack 1..10 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }
  place s[0] in h.A[1] at 40U
  place s[1] in h.A[2] at 40U
  place s[2] in h.A[3] at 40U
}
""",
        """
cage_fit: refuted: TWIN has the fibre mmf and LC smf: they do not go together
  line 4, 1: TWIN has the fibre mmf and LC smf: they do not go together
    line 19: declared here
    line 24: declared here
    error: use one kind at both ends
twin_port: refuted: cage OSFP 1 of s[0] has FIBRE and LC: a transceiver takes one kind (and 3 more)
  line 4, 4: cage OSFP 1 of s[0] has FIBRE and LC: a transceiver takes one kind (and 3 more)
    line 3: the other comes from here
    error: pin one `cable` and one `optic` for both
cable_length: refuted: 5.68845m from s[0].p[5] to s[2].p[1]
  113769/20000 to 113769/20000
  cable: 's[0].p[5] to s[2].p[1]'
  line 5, 1: s[0].p[3] to s[1].p[3] runs 4.688m, and COPPER2 reaches 3m
    error: place the ends nearer, or use a part that reaches further
""",
    ),
    "reach of parts": (
        """
fabric f {
  switch s[5]: SW
  connect s[0].p[1] to s[1].p[1] { cable FIBRE; optic NEAR, TWIN }
  connect s[0].p[3] to s[1].p[3] { cable FIBRE; optic TWIN, NEAR }
  connect s[1].p[4] to s[2].p[4] { cable DAC5 }
  connect s[1].p[5] to s[2].p[5] { cable DAC4 }
  connect s[0].p[6] to s[2].p[6] { cable DAC4 }
  connect s[1] to s[3] x 2 { cable SOLD }
  connect s[0].p[8] to s[2].p[8]
  connect s[0].p[7] to s[4].p[7] { cable FREE }
  hall h { row A { rack 1..40 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }

  place s[0] in h.A[1] at 40U
  place s[1] in h.A[2] at 40U
  place s[2] in h.A[2] at 42U
  place s[3] in h.A[3] at 40U
}
""",
        """
cable_length: refuted: at least 4.68845m from s[0].p[1] to s[1].p[1]; 1 of 9 lengths are unknown
  93769/20000 to inf
  cable: 's[0].p[1] to s[1].p[1]'
  line 3, 1: s[0].p[1] to s[1].p[1] runs 4.688m, and NEAR reaches 4m
    error: place the ends nearer, or use a part that reaches further
  line 4, 1: s[0].p[3] to s[1].p[3] runs 4.688m, and NEAR reaches 4m
    error: place the ends nearer, or use a part that reaches further
  line 7, 1: s[0].p[6] to s[2].p[6] runs 4.600m, and DAC4 is sold up to 3m
    error: place the ends nearer, or use a part that reaches further
  line 8, 2: s[1].p[2] to s[3].p[1] runs 4.688m, and SOLD is sold up to 4.5m (2 such cables)
    error: place the ends nearer, or use a part that reaches further
cable_length in s: refuted: at least 4.68845m from s[0].p[1] to s[1].p[1]; 1 of 5 lengths are unknown
  93769/20000 to inf
  cable: 's[0].p[1] to s[1].p[1]'
  line 3, 1: s[0].p[1] to s[1].p[1] runs 4.688m, and NEAR reaches 4m
    error: place the ends nearer, or use a part that reaches further
  line 4, 1: s[0].p[3] to s[1].p[3] runs 4.688m, and NEAR reaches 4m
    error: place the ends nearer, or use a part that reaches further
  line 7, 1: s[0].p[6] to s[2].p[6] runs 4.600m, and DAC4 is sold up to 3m
    error: place the ends nearer, or use a part that reaches further
""",
    ),
    "links through panels": (
        """
fabric f {
  switch s[6]: SW
  panel pan[2]: P
  connect s[0].p[1] to s[1].p[1] via pan[0] { cable SIX }
  connect s[0].p[2] to s[2].p[2] via pan[0] { cable NINE }
  connect s[3] to s[4] x 3 via pan[1] { cable SIX }
  connect s[0].p[5] to s[5].p[5] via pan[0] { cable FREE }
  hall h { row A { rack 1..40 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }

  place pan[0] in h.A[3] at 40U
  place pan[1] in h.A[12] at 40U
  place s[0] in h.A[2] at 40U
  place s[1] in h.A[4] at 40U
  place s[2] in h.A[5] at 40U
  place s[3] in h.A[11] at 40U
  place s[4] in h.A[13] at 40U
  place s[5] in h.A[39] at 40U
}
""",
        """
cable_length: refuted: 39.6885m from s[5].p[5] to pan[0].back[2]
  793769/20000 to 793769/20000
  cable: 's[5].p[5] to pan[0].back[2]'
  line 4, 1: s[0].p[1] to s[1].p[1] runs 9.377m in all, and SIX reaches 6m
    error: place the ends nearer to the panel, or use parts that reach further
  line 5, 1: s[0].p[2] to s[2].p[2] runs 10.377m in all, and NINE reaches 9m
    error: place the ends nearer to the panel, or use parts that reach further
  line 6, 3: s[3].p[1] to s[4].p[1] runs 9.377m in all, and SIX reaches 6m (3 such links)
    error: place the ends nearer to the panel, or use parts that reach further
cable_length ends: refuted: 39.6885m from s[5].p[5] to pan[0].back[2]
  793769/20000 to 793769/20000
  cable: 's[5].p[5] to pan[0].back[2]'
  line 4, 1: s[0].p[1] to s[1].p[1] runs 9.377m in all, and SIX reaches 6m
    error: place the ends nearer to the panel, or use parts that reach further
  line 5, 1: s[0].p[2] to s[2].p[2] runs 10.377m in all, and NINE reaches 9m
    error: place the ends nearer to the panel, or use parts that reach further
  line 6, 3: s[3].p[1] to s[4].p[1] runs 9.377m in all, and SIX reaches 6m (3 such links)
    error: place the ends nearer to the panel, or use parts that reach further
""",
    ),
    "no cables": (
        """
fabric f {
  switch s[3]: SW
  hall h { row A { rack 1..40 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }

  place s[0] in h.A[1] at 40U
}
""",
        """
cable_length: skipped: there are no cables
""",
    ),
    "plugs of copper": (
        """
fabric f {
  switch s[3]: SW
  switch one[3]: ONE
  connect s[0].p[2] to s[2].p[1] { cable COPPER }
  connect one[0] to one[1] x 3 { cable COPPER2 }
  connect one[0].q[1] to one[2].q[1] { cable COPPER }
  connect s[1].p[5] to one[2].p[1] { cable COPPER }
}
""",
        """
cage_fit: refuted: s[0].p[2]: COPPER has a plug that is flat, and the cage takes finned (2 such ends)
  line 4, 2: s[0].p[2]: COPPER has a plug that is flat, and the cage takes finned (2 such ends)
    line 9: the ports are declared here
    line 20: the cable is declared here
    error: pin a cable whose plugs fit, or fibre and transceivers
  line 5, 6: one[0].p[1]: COPPER2 has a plug that is finned, and the cage takes flat (6 such ends)
    line 10: the ports are declared here
    line 21: the cable is declared here
    error: pin a cable whose plugs fit, or fibre and transceivers
  line 7, 1: s[1].p[5]: COPPER has a plug that is flat, and the cage takes finned
    line 9: the ports are declared here
    line 20: the cable is declared here
    error: pin a cable whose plugs fit, or fibre and transceivers
""",
    ),
    "lengths in all, stated": (
        """
fabric f {
  switch s[8]: SW
  switch one[2]: ONE
  panel pan[2]: P
  connect s[0].p[1] to s[1].p[1] via pan[0] { cable TEN; length 5m }
  connect s[2].p[1] to s[3].p[1] via pan[0] { cable TEN; length 5.001m }
  connect one[0].p[1] to one[1].p[1] via pan[0] { cable FIBRE; optic CLOSE, FLAT; length 3m }
  connect one[0].p[2] to one[1].p[2] via pan[0] { cable FIBRE; optic FLAT, CLOSE; length 3m }
  connect s[4].p[1] to s[5].p[1] via pan[1] { cable SIX; length 6m }
  connect s[4].p[2] to s[5].p[2] via pan[1] { cable SIX; length 6.001m }
  connect s[6].p[1] to s[7].p[1] { cable FREE; length 1m }
  connect s[6].p[2] to s[7].p[2] { cable FREE }
}
""",
        """
cable_length: refuted: at least 6.001m from s[4].p[2] to pan[1].front[1]; 1 of 14 lengths are unknown
  6001/1000 to inf
  cable: 's[4].p[2] to pan[1].front[1]'
  line 10, 1: s[4].p[2] to pan[1].front[1] runs 6.001m, and SIX reaches 6m
    error: place the ends nearer, or use a part that reaches further
  line 10, 1: s[5].p[2] to pan[1].back[1] runs 6.001m, and SIX reaches 6m
    error: place the ends nearer, or use a part that reaches further
  line 6, 1: s[2].p[1] to s[3].p[1] runs 10.002m in all, and TEN reaches 10m
    error: place the ends nearer to the panel, or use parts that reach further
  line 7, 1: one[0].p[1] to one[1].p[1] runs 6.000m in all, and CLOSE reaches 4m
    error: place the ends nearer to the panel, or use parts that reach further
  line 8, 1: one[0].p[2] to one[1].p[2] runs 6.000m in all, and CLOSE reaches 4m
    error: place the ends nearer to the panel, or use parts that reach further
  line 9, 1: s[4].p[1] to s[5].p[1] runs 12.000m in all, and SIX reaches 6m
    error: place the ends nearer to the panel, or use parts that reach further
""",
    ),
    "exactly as far": (
        """
fabric f {
  switch s[3]: SW
  connect s[0].p[1] to s[1].p[1] { cable FREE; length 4.68845m }
  connect s[0].p[2] to s[2].p[1] { cable FREE; length 5.688449m }
  hall h { row A { rack 1..40 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }

  place s[0] in h.A[1] at 40U
  place s[1] in h.A[2] at 40U
  place s[2] in h.A[3] at 40U
}
""",
        """
cable_length: refuted: 5.68845m from s[0].p[2] to s[2].p[1]
  5688449/1000000 to 5688449/1000000
  cable: 's[0].p[2] to s[2].p[1]'
  line 4, 1: s[0].p[2] to s[2].p[1] runs 5.688m, and its connect states 5.68845m
    error: leave `length` out, or state one that covers the way
""",
    ),
    "parts that are not known": (
        """
fabric f {
  switch s[4]: SW
  switch one[2]: ONE
  connect s[0].p[1] to s[1].p[1] { cable FREE }
  connect s[0].p[2] to s[1].p[2]
  connect s[2].p[1] to s[3].p[1]
  connect one[0].p[1] to one[1].p[1]
  connect one[0].p[2] to one[1].p[2] { cable FREE }
  hall h { row A { rack 1..40 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }

  place s[0] in h.A[1] at 40U
  place s[1] in h.A[2] at 40U
  place s[2] in h.A[3] at 40U
}
""",
        """
twin_port: refuted: cage OSFP 1 of s[0] has FREE and MFP7E10: a transceiver takes one kind (and 1 more)
  line 5, 2: cage OSFP 1 of s[0] has FREE and MFP7E10: a transceiver takes one kind (and 1 more)
    line 4: the other comes from here
    error: pin one `cable` and one `optic` for both
""",
    ),
    "transceivers that are not known": (
        """
fabric f {
  switch s[4]: SW
  connect s[0].p[1] to s[1].p[1] { cable TEN; optic TWIN }
  connect s[0].p[2] to s[1].p[2] { cable TEN }
  connect s[2].p[1] to s[3].p[1] { cable TEN }
  connect s[2].p[2] to s[3].p[2] { cable TEN }
  hall h { row A { rack 1..40 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }

  place s[0] in h.A[1] at 40U
  place s[1] in h.A[2] at 40U
}
""",
        """
twin_port: bounded: the part of 2 cable ends in cages of two or more is not known
""",
    ),
    "one kind": (
        """
fabric f {
  switch s[4]: SW
  connect s[0] to s[1] x 4 { cable FIBRE; optic TWIN }
  connect s[2].p[1] to s[3].p[1] { cable FREE }
  connect s[2].p[2] to s[3].p[2] { cable FREE }
  hall h { row A { rack 1..40 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }

  place s[0] in h.A[1] at 40U
  place s[1] in h.A[2] at 40U
}
""",
        """
twin_port: proved: every transceiver has one kind of cable
""",
    ),
    "two transceivers": (
        """
fabric f {
  switch s[4]: SW
  connect s[0].p[1] to s[1].p[1] { cable FIBRE; optic TWIN }
  connect s[0].p[3] to s[2].p[1] { cable FIBRE; optic TWIN }
  connect s[0].p[4] to s[2].p[2] { cable FIBRE; optic MORE, TWIN }
  connect s[0].p[5] to s[2].p[3] { cable FIBRE; optic TWIN }
  connect s[0].p[6] to s[3].p[1] { cable FIBRE; optic MORE }
  hall h { row A { rack 1..40 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }

  place s[0] in h.A[1] at 40U
  place s[1] in h.A[2] at 40U
}
""",
        """
twin_port: refuted: cage OSFP 2 of s[0] has MORE and TWIN: a transceiver takes one kind (and 1 more)
  line 5, 2: cage OSFP 2 of s[0] has MORE and TWIN: a transceiver takes one kind (and 1 more)
    line 4: the other comes from here
    error: pin one `cable` and one `optic` for both
""",
    ),
    "nothing in a cage of two": (
        """
fabric f {
  switch one[2]: ONE
  connect one[0] to one[1] x 4 { cable FREE }
  hall h { row A { rack 1..40 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }

  place one[0] in h.A[1] at 40U
}
""",
        """
twin_port: proved: every transceiver has one kind of cable
""",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_answers(case: str, tmp_path: Path) -> None:
    text, expected = CASES[case]
    found, wanted = answers(elaborated(text.strip() + PARTS, tmp_path), expected, ASK)
    assert found == wanted
