"""Checks of the network on small designs: every answer, every fault with its place, and the words of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fabrics import Selector, selector
from tests.verify.judgements import Clauses, answers, elaborated

PARTS = """
model switch SW { port p[1..16]: 400Gbps { type NDR }; latency 300ns }
model switch FAST { port p[1..4]: 800Gbps { type XDR, GE800 }; port q[1..8]: 400Gbps { type NDR } }
model switch SPLIT { port p[1..8]: 800Gbps { split 2, 8 } }
model switch SLOW { port p[1..8]: 100Gbps { type GE100 } }
model chip GPU { port nv[4]: 200Gbps { type NVLINK } }
model host NODE { port nic[2]: 400Gbps { type NDR }; chip gpu[2]: GPU }
model host BOX { port nic[2]: 400Gbps { type NDR } }
model panel P { port front[8]: 200Gbps; port back[8]: any }
"""

ASK: Clauses = {
    "ports": lambda f: {"of": (Selector("ports", "ports", ()),)},
    "at": lambda f: {"at": (selector(f, "leaf"),)},
    "leaf": lambda f: {"of": (selector(f, "leaf"),)},
    "to": lambda f: {"of": (selector(f, "leaf"),), "of_to": (selector(f, "spine"),)},
    "all_to_all": lambda f: {"args": ("all_to_all",)},
}

CASES: dict[str, tuple[str, str]] = {
    "two parts": (
        """
fabric f {
  switch leaf[3]: SW
  switch spine[2]: SW
  host box[6]: BOX
  connect box[b].nic[0] to leaf[0] where b < 4
  connect box[b].nic[0] to leaf[1] where b > 3
  connect leaf[0] to spine[0] x 2
  connect leaf[1] to spine[1] x 3
  connect leaf[2] to spine[1]
}
""",
        """
reachability: refuted: box4 does not reach box0
  from: 'box4'
  to: 'box0'
  parts: [2, 4]
  line 4, 2: box4 reaches none of box0, box1, box2 and 1 more: no path of switches joins the two parts
    line 6: box4 is attached here
    line 4: box0 is declared here
    error: connect the switches of both parts
reachability ports: refuted: box[4].nic[0] does not reach box[0].nic[0]
  from: 'box[4].nic[0]'
  to: 'box[0].nic[0]'
  parts: [2, 4]
  line 4, 2: box[4].nic[0] reaches none of box[0].nic[0], box[1].nic[0], box[2].nic[0] and 1 more: no path of switches
      joins the two parts
    line 6: box4 is attached here
    line 4: box[0].nic[0] is declared here
    error: connect the switches of both parts, or ask for `reachability` between hosts
isolated: proved: every device has a link
diameter: proved: 0, among ends that reach each other
  0 to 0
  path: ['leaf0']
mean_hops: proved: 0 over 14 pairs of ends, among ends that reach each other
  0 to 0
  hops: 0
  pairs: 14
edge_redundancy: proved: 0 (6 hosts, no path connects box0 and box4)
  0 to 0
  pair: ['box0', 'box4']
  cut: []
  cut_links: 0
   | attach hosts to more switches, or join these switches by more links
node_redundancy: proved: 0: no path connects box0 and box4
  0 to 0
  pair: ['box0', 'box4']
  separators: []
  separator_count: 0
   | attach hosts to more switches, or join these switches by more ways
bisection: proved: 33.33%: 1 of 3 links, 1 host-leaf separate 3 hosts (box[0], box[1] and box[2]) from 3
  1/3 to 1/3
  split: [3, 3]
  sides: [['box[0]', 'box[1]', 'box[2]'], ['box[3]', 'box[4]', 'box[5]']]
  cut: ['box[3].nic[0] - leaf[0].p[4]']
  cut_links: 1
  cut_classes: {'host-leaf': 1}
  cut_bps: 400000000000
   | add links where the cut is
rail_alignment: skipped: the design is not rail-organised
  line 0, 1: the design is not rail-organised: no host port has a rail
plane_isolation: skipped: the design has no planes
oversubscription: proved: 2:1 at leaf0 (1.6Tbps below, 800Gbps above, leaf-spine)
  2 to 2
  device: 'leaf0'
  down_bps: 1600000000000
  up_bps: 800000000000
  equal: 1
  set: 'leaf'
  line 2: leaf0 is declared here | add links upward, or attach less below
port_budget: proved: tightest: leaf0 has 10 of 16 ports free
  tightest: 'leaf0'
  free: {'leaf': 10, 'spine': 12}
name_collision: proved: every device has a name of its own
rate_match: proved: both ends of every link agree
connector_match: proved: both ends of every link share a type
links: proved: 12 links
  12 to 12
links in leaf: proved: 6 links
  6 to 6
links in spine: proved: 2 links
  2 to 2
links to: proved: 6 links
  6 to 6
cables in leaf: proved: 6 cables
  6 to 6
ports: proved: 24 ports in use
  24 to 24
ports in leaf: proved: 6 ports in use
  6 to 6
ports in box: proved: 1 port in use
  1 to 1
switches: proved: 5 switches
  5 to 5
switches in leaf: proved: 1 switches
  1 to 1
switches in box: proved: 0 switches
  0 to 0
edge_redundancy in leaf: proved: 1 (4 hosts, 1 link at box0)
  1 to 1
  pair: ['box0', 'box1']
  cut: ['box[0].nic[0] - leaf[0].p[1]']
  cut_links: 1
   | attach hosts to more switches, or join these switches by more links
name_collision in leaf: proved: every device has a name of its own
""",
    ),
    "hosts without links": (
        """
fabric f {
  switch leaf[3]: SW
  switch spine[2]: SW
  switch alone: SW
  host box[6]: BOX
  panel pan: P
  connect box[b].nic[0] to leaf[0] where b < 2
  connect box[2].nic[0] to leaf[1]
  connect leaf[l] to spine[s] where l < 2
}
""",
        """
reachability: refuted: 3 of 6 hosts have no link: box3
  from: 'box3'
  without_link: ['box3', 'box4', 'box5']
  line 5, 3: box3 reaches no other host: it has no link (unless isolated)
    error: connect it, or leave it out with `omit`
isolated: refuted: leaf2 has no link
  devices: ['leaf2', 'alone', 'box3', 'box4']
  line 2, 1: leaf2 has no link
    error: connect it, or leave it out with `omit`
  line 4, 1: alone has no link
    error: connect it, or leave it out with `omit`
  line 5, 3: box3 and 2 more devices have no link
    error: connect it, or leave it out with `omit`
  line 6, 1: pan has no link
    warning: connect it, or leave it out with `omit`
diameter: proved: 2, from leaf0 to leaf1
  2 to 2
  path: ['leaf0', 'spine0', 'leaf1']
mean_hops: proved: 1.333 over 6 pairs of ends
  4/3 to 4/3
  hops: 8
  pairs: 6
edge_redundancy: proved: 0 (6 hosts, no path connects box3 and box0)
  0 to 0
  pair: ['box3', 'box0']
  cut: []
  cut_links: 0
   | attach hosts to more switches, or join these switches by more links
node_redundancy: proved: 0: no path connects box3 and box4
  0 to 0
  pair: ['box3', 'box4']
  separators: []
  separator_count: 0
   | attach hosts to more switches, or join these switches by more ways
oversubscription: proved: 1:1 at leaf0 (800Gbps below, 800Gbps above, leaf-spine)
  1 to 1
  device: 'leaf0'
  down_bps: 800000000000
  up_bps: 800000000000
  equal: 1
  set: 'leaf'
  line 2: leaf0 is declared here | add links upward, or attach less below
oversubscription at: proved: 1:1 at leaf0 (800Gbps below, 800Gbps above, leaf-spine)
  1 to 1
  device: 'leaf0'
  down_bps: 800000000000
  up_bps: 800000000000
  equal: 1
  set: 'leaf'
  line 2: leaf0 is declared here | add links upward, or attach less below
port_budget: proved: tightest: leaf0 has 12 of 16 ports free
  tightest: 'leaf0'
  free: {'leaf': 12, 'spine': 14, 'alone': 16}
latency: skipped: 7 links have no `length`; the rest adds up to 900ns
  missing: ['7 links have no `length`']
   | a model in your own file, of the same name if you like, can say `latency 230ns`, and a connect `{ length 30m }`
blast_radius leaf: proved: 3 at leaf[0]: 3 hosts cut off, 0 degraded (0 accelerators)
  3 to 3
  element: 'leaf[0]'
  endpoints: 3
  hosts_cut_off: 3
  hosts_degraded: 0
  accelerators: 0
  judged: 3
taper leaf: proved: 1:1 at leaf[0] (800Gbps injected, 800Gbps leave it)
  1 to 1
  group: 'leaf[0]'
  injected_bps: 800000000000
  leaving_bps: 800000000000
  equal: 1
   | add links between the groups, or attach fewer endpoints
bisection: skipped: half of the hosts have no link
throughput all_to_all: skipped: some hosts that send or receive have no link
""",
    ),
    "a leaf without links above": (
        """
fabric f {
  switch leaf[3]: SW
  switch spine[2]: SW
  host box[6]: BOX
  connect box[b].nic[0] to leaf[b//2]
  connect leaf[l] to spine[s] where l < 2
}
""",
        """
oversubscription: proved: leaf2 has 800Gbps below and no link above
  inf to inf
  device: 'leaf2'
  line 2: declared here |
oversubscription at: proved: leaf2 has 800Gbps below and no link above
  inf to inf
  device: 'leaf2'
  line 2: declared here |
taper leaf: proved: leaf[2] has 800Gbps injected and no link that leaves it
  inf to inf
  group: 'leaf[2]'
  injected_bps: 800000000000
  leaving_bps: 0
  equal: 1
   | join it to other groups
reachability: refuted: box4 does not reach box0
  from: 'box4'
  to: 'box0'
  parts: [2, 4]
  line 4, 2: box4 reaches none of box0, box1, box2 and 1 more: no path of switches joins the two parts
    line 5: box4 is attached here
    line 4: box0 is declared here
    error: connect the switches of both parts
isolated: proved: every device has a link
""",
    ),
    "leaves of several ratios": (
        """
fabric f {
  switch leaf[3]: SW
  switch spine[2]: SW
  host box[6]: BOX
  connect box[b].nic[i] to leaf[b//2] { length 1m }
  connect leaf[0] to spine[s] { length 5m }
  connect leaf[l] to spine[0] x 3 where l > 0 { length 5m }
}
""",
        """
oversubscription: proved: 2:1 at leaf0 (1.6Tbps below, 800Gbps above, leaf-spine)
  2 to 2
  device: 'leaf0'
  down_bps: 1600000000000
  up_bps: 800000000000
  equal: 1
  set: 'leaf'
  line 2: leaf0 is declared here | add links upward, or attach less below
oversubscription at: proved: 2:1 at leaf0 (1.6Tbps below, 800Gbps above, leaf-spine)
  2 to 2
  device: 'leaf0'
  down_bps: 1600000000000
  up_bps: 800000000000
  equal: 1
  set: 'leaf'
  line 2: leaf0 is declared here | add links upward, or attach less below
taper leaf: proved: 2:1 at leaf[0] (1.6Tbps injected, 800Gbps leave it)
  2 to 2
  group: 'leaf[0]'
  injected_bps: 1600000000000
  leaving_bps: 800000000000
  equal: 1
   | add links between the groups, or attach fewer endpoints
diameter: proved: 2, from leaf0 to leaf1
  2 to 2
  path: ['leaf0', 'spine0', 'leaf1']
mean_hops: proved: 1.6 over 120 pairs of ends
  8/5 to 8/5
  hops: 192
  pairs: 120
latency: modelled: 958.8ns through leaf0, spine0 and leaf1
  2397/2500000000 to 2397/2500000000
  path: ['leaf0', 'spine0', 'leaf1']
edge_redundancy: proved: 1 (6 hosts, 1 link separates box0 from box2)
  1 to 1
  pair: ['box0', 'box2']
  cut: ['leaf[0].p[5] - spine[0].p[1]']
  cut_links: 1
   | attach hosts to more switches, or join these switches by more links
node_redundancy: proved: 1: leaf0 separates box0 from box1
  1 to 1
  pair: ['box0', 'box1']
  separators: ['leaf0']
  separator_count: 1
   | attach hosts to more switches, or join these switches by more ways
bisection: proved: 50%: 3 of 6 links, 2 host-leaf, 1 leaf-spine separate 3 hosts (box[0], box[1] and box[2]) from 3
  1/2 to 1/2
  split: [3, 3]
  sides: [['box[0]', 'box[1]', 'box[2]'], ['box[3]', 'box[4]', 'box[5]']]
  cut: ['leaf[0].p[5] - spine[0].p[1]', 'box[2].nic[0] - leaf[1].p[1]', 'box[2].nic[1] - leaf[1].p[2]']
  cut_links: 3
  cut_classes: {'host-leaf': 2, 'leaf-spine': 1}
  cut_bps: 1200000000000
   | add links where the cut is
throughput all_to_all: proved: 31.25%: 1.5 of 4.8 Tbps
  5/16 to 5/16
  pairs: 30
   | add links where the load is
blast_radius leaf: proved: 4 at leaf[0]: 2 hosts cut off, 0 degraded (0 accelerators)
  4 to 4
  element: 'leaf[0]'
  endpoints: 4
  hosts_cut_off: 2
  hosts_degraded: 0
  accelerators: 0
  judged: 3
""",
    ),
    "rates and types that differ": (
        """
fabric f {
  switch a: FAST
  switch b: SW
  switch c: SLOW
  panel pan: P
  connect a.p[1..2] to b.p[1..2]
  connect a.p[3] to b.p[3] { rate 400Gbps }
  connect b.p[4] to c.p[1]
  connect b.p[5] to c.p[2] { rate 400Gbps }
  connect b.p[6] to a.q[1] via pan
  connect b.p[7..8] to a.q[2..3] via pan { rate 200Gbps }
}
""",
        """
rate_match: refuted: a.p[1] to b.p[1]: an 800Gbps XDR GE800 port into a 400Gbps NDR port
  links: 4
  line 6, 1: a.p[1] to b.p[1]: an 800Gbps XDR GE800 port into a 400Gbps NDR port
    line 15: 800Gbps XDR GE800, declared here
    line 14: 400Gbps NDR, declared here
    error: write `{ rate 400Gbps }` behind the connect
  line 8, 1: b.p[4] to c.p[1]: a 400Gbps NDR port into a 100Gbps GE100 port
    line 14: 400Gbps NDR, declared here
    line 17: 100Gbps GE100, declared here
    error: write `{ rate 100Gbps }` behind the connect
  line 9, 1: b.p[5] to c.p[2] is asked to run at 400Gbps, between a 400Gbps NDR port and a 100Gbps GE100 port
    line 14: 400Gbps NDR, declared here
    line 17: 100Gbps GE100, declared here
    error: write `{ rate 100Gbps }` behind the connect
  line 10, 1: pan.front[0] carries 400Gbps, but is a 200Gbps port
    line 21: declared here
    error: use a panel that carries the rate
connector_match: refuted: a.p[1] is of type XDR, GE800 and b.p[1] of type NDR: they share none
  links: 4
  line 6, 1: a.p[1] is of type XDR, GE800 and b.p[1] of type NDR: they share none
    line 15: type XDR, GE800, declared here
    line 14: type NDR, declared here
    error: connect ports that share a type
  line 7, 1: a.p[3] is of type XDR, GE800 and b.p[3] of type NDR: they share none
    line 15: type XDR, GE800, declared here
    line 14: type NDR, declared here
    error: connect ports that share a type
  line 8, 1: b.p[4] is of type NDR and c.p[1] of type GE100: they share none
    line 14: type NDR, declared here
    line 17: type GE100, declared here
    error: connect ports that share a type
  line 9, 1: b.p[5] is of type NDR and c.p[2] of type GE100: they share none
    line 14: type NDR, declared here
    line 17: type GE100, declared here
    error: connect ports that share a type
port_budget: proved: tightest: c has 6 of 8 ports free
  tightest: 'c'
  free: {'a': 8, 'b': 10, 'c': 6}
""",
    ),
    "rails": (
        """
fabric f {
  switch leaf[2]: SW
  switch spine: SW
  host node[4]: NODE
  connect node[n].nic[i] to leaf[i] where n < 3
  connect node[3].nic[0] to leaf[1]
  connect node[3].nic[1] to leaf[0]
  connect leaf[l] to spine
}
""",
        """
rail_alignment: refuted: node[3].nic[0] is connected to leaf1, which serves rail 1; those of its siblings are connected
      to leaf0
  host: 'node3'
  nic: 'node[3].nic[0]'
  found: 'leaf1'
  expected: 'leaf0'
  line 6, 1: node[3].nic[0] is connected to leaf1, which serves rail 1; those of its siblings are connected to leaf0
    line 2: leaf1 is declared here
    error: connect it to the switch of rail 0
  line 7, 1: node[3].nic[1] is connected to leaf0, which serves rail 0; those of its siblings are connected to leaf1
    line 2: leaf0 is declared here
    error: connect it to the switch of rail 1
reachability: proved: all 4 hosts reach each other
plane_isolation: skipped: the design has no planes
""",
    ),
    "no rails": (
        """
fabric f {
  switch leaf: SW
  host node[4]: NODE
  connect node[n].nic[i] to leaf
}
""",
        """
rail_alignment: skipped: the design is not rail-organised
  switch: 'leaf'
  nics: ['node[0].nic[0]', 'node[0].nic[1]']
  line 4, 1: the design is not rail-organised: leaf serves 2 rails: node[0].nic[0] and node[0].nic[1] are connected to
      it
""",
    ),
    "planes that are joined": (
        """
fabric f {
  plane pl[2] { switch leaf[2]: SW; switch spine: SW; connect leaf[l] to spine x 2 }
  host box[4]: BOX
  connect box[b].nic[i] to pl[i].leaf[b//2] where i < 2
  connect pl[0].leaf[0] to pl[1].leaf[1] x 2
  connect pl[0].spine to pl[1].spine
}
""",
        """
plane_isolation: refuted: pl[0] and pl[1] are joined: pl0-leaf0 - pl1-leaf1
  planes: ['pl[0]', 'pl[1]']
  path: ['pl0-leaf0', 'pl1-leaf1']
  line 5, 2: pl[0].leaf[0].p[4] to pl[1].leaf[1].p[4] joins pl[0] and pl[1] (2 links do)
    error: keep both ends of a link in one plane
  line 6, 1: pl[0].spine.p[3] to pl[1].spine.p[3] joins pl[0] and pl[1]
    error: keep both ends of a link in one plane
reachability: proved: all 4 hosts reach each other
diameter: proved: 3, from pl0-leaf0 to pl1-leaf0
  3 to 3
  path: ['pl0-leaf0', 'pl1-leaf1', 'pl1-spine', 'pl1-leaf0']
""",
    ),
    "planes joined by others": (
        """
fabric f {
  plane pl[2] { switch leaf[2]: SW }
  switch top: SW
  host box[4]: BOX
  connect box[b].nic[i] to pl[i].leaf[b//2]
  connect pl[p].leaf[l] to top
}
""",
        """
plane_isolation: refuted: pl[0] and pl[1] are joined: pl0-leaf0 - top - pl1-leaf0
  planes: ['pl[0]', 'pl[1]']
  path: ['pl0-leaf0', 'top', 'pl1-leaf0']
  line 6, 2: top joins pl[1] to another plane
    line 3: top belongs to no plane
    error: give each plane a switch of its own
""",
    ),
    "names": (
        """
fabric f {
  switch leaf[2]: SW
  switch a[1]: SW
  switch leaf0: SW
  switch leaf1: SW
  connect leaf[l] to a[0]
  connect leaf0 to leaf1
}
""",
        """
name_collision: refuted: leaf[0] and leaf0 are both named "leaf0"
  devices: ['leaf[0]', 'leaf0']
  name: 'leaf0'
  line 4, 1: leaf[0] and leaf0 are both named "leaf0"
    line 2: the first is declared here
    error: give them different names with `naming`
  line 5, 1: leaf[1] and leaf1 are both named "leaf1"
    line 2: the first is declared here
    error: give them different names with `naming`
""",
    ),
    "pairs of ports that differ": (
        """
fabric f {
  switch a: FAST
  switch c: SLOW
  connect a.q[1] to c.p[1]
  connect a.q[i] to c.p[i] where i > 4 { rate 400Gbps }
}
""",
        """
rate_match: refuted: a.q[1] to c.p[1]: a 400Gbps NDR port into a 100Gbps GE100 port
  links: 5
  line 4, 1: a.q[1] to c.p[1]: a 400Gbps NDR port into a 100Gbps GE100 port
    line 9: 400Gbps NDR, declared here
    line 11: 100Gbps GE100, declared here
    error: write `{ rate 100Gbps }` behind the connect
  line 5, 4: a.q[5] to c.p[5] is asked to run at 400Gbps, between a 400Gbps NDR port and a 100Gbps GE100 port (4 links
      do)
    line 9: 400Gbps NDR, declared here
    line 11: 100Gbps GE100, declared here
    error: write `{ rate 100Gbps }` behind the connect
connector_match: refuted: a.q[1] is of type NDR and c.p[1] of type GE100: they share none
  links: 5
  line 4, 1: a.q[1] is of type NDR and c.p[1] of type GE100: they share none
    line 9: type NDR, declared here
    line 11: type GE100, declared here
    error: connect ports that share a type
  line 5, 4: a.q[5] is of type NDR and c.p[5] of type GE100: they share none (4 such links)
    line 9: type NDR, declared here
    line 11: type GE100, declared here
    error: connect ports that share a type
""",
    ),
    "ports that can be split": (
        """
fabric f {
  switch a: SPLIT
  switch b: SW
  switch c: SLOW
  connect a.p[i] to b.p[i] where i < 3
  connect b.p[4] to a.p[4]
  connect a.p[5] to c.p[5]
  connect c.p[6] to a.p[6]
  connect a.p[7] to b.p[7] { rate 800Gbps }
}
""",
        """
rate_match: refuted: a.p[1] to b.p[1]: an 800Gbps port into a 400Gbps NDR port (2 links do)
  links: 6
  line 5, 2: a.p[1] to b.p[1]: an 800Gbps port into a 400Gbps NDR port (2 links do)
    line 14: 800Gbps, declared here
    line 12: 400Gbps NDR, declared here
    error: write `{ rate 400Gbps }` behind the connect, or split the faster port: `{ split p 2 }`
  line 6, 1: a.p[4] to b.p[4]: an 800Gbps port into a 400Gbps NDR port
    line 14: 800Gbps, declared here
    line 12: 400Gbps NDR, declared here
    error: write `{ rate 400Gbps }` behind the connect, or split the faster port: `{ split p 2 }`
  line 7, 1: a.p[5] to c.p[5]: an 800Gbps port into a 100Gbps GE100 port
    line 14: 800Gbps, declared here
    line 15: 100Gbps GE100, declared here
    error: write `{ rate 100Gbps }` behind the connect, or split the faster port: `{ split p 8 }`
  line 8, 1: a.p[6] to c.p[6]: an 800Gbps port into a 100Gbps GE100 port
    line 14: 800Gbps, declared here
    line 15: 100Gbps GE100, declared here
    error: write `{ rate 100Gbps }` behind the connect, or split the faster port: `{ split p 8 }`
  line 9, 1: a.p[7] to b.p[7] is asked to run at 800Gbps, between an 800Gbps port and a 400Gbps NDR port
    line 14: 800Gbps, declared here
    line 12: 400Gbps NDR, declared here
    error: write `{ rate 400Gbps }` behind the connect
""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_judgements(name: str, tmp_path: Path) -> None:
    text, expected = CASES[name]
    found, wanted = answers(elaborated(text + PARTS, tmp_path), expected, ASK)
    assert found == wanted
