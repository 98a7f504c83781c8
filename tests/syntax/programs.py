"""Programs that use every form of the language."""

POD = """\
use hardware.acme (BOX, LEAF_64 as LEAF, SPINE_64 as SPINE)

def ceil(n: int, d: int = 1): int = (n + d - 1) // d

fabric lab "A lab of pods" {
  param pods: int = 4 where 1 <= pods <= 8
  let spines = [2, 4, 8, 8][pods // 2]
  let spare: int = ? where spare < 4

  group pod[pods of 8] {
    host   node[16]: BOX { role accelerator }
    switch leaf[8]:  LEAF
    connect node[n].nic[r] to leaf[r] { cable "ACME-1"; colour "rail {r}" }   # a rail a leaf
  }
  omit pod[pods - 1].node[15], pod[0].leaf[7] where pods > 2
  switch spine[spines]: SPINE
  connect pod[*].leaf[*] to spine[*] spread
  # the rest
  require oversubscription at leaf <= 1:1
  require survives any 1 of spine, pod[*].leaf[*]
    with bisection >= 50% of intact
    and diameter <= 4
  report cost; report power
}
"""

PHYSICAL = """\
fabric f {
  hall h1 {
    row A..D { rack 1..16 { height 48U; power 44kW } }
    pitch rack 0.6m, row 3.0m;  tray 2.4m;  slack 1m
  }
  place su[s].node[n] in h1.A[8*s + n // 4 + 1] at 2U + 8U*(n%4)
  place su[s].leaf[*] in h1.B[s + 1] stacked from 30U
  naming su[s].leaf[i] "{fabric}-su{s}-leaf{i:02}" where s > 0
  address su[*].leaf[*] loopback from 10.255.0.0/16
  routing bgp { unnumbered; asn su[*].leaf[*] from 4_200_000_000; asn spine 4_200_009_999 }
  distance dc[0] to dc[1] 100km
  minimize cost
  if units > 1 { require bisection >= 100% } else if units == 1 { report bisection }
  else { require cost <= $2.5M }
  for s in 0..units-1 { require rack_power of su[s] }
  phase 1 { units 1 }
}
extend f.su[0] { host extra: BOX }
override f.su[1].leaf[3]: OTHER { role manager }
topology rails(ends: ports, n: int, switch: model) {
  switch rail[n]: switch
  connect ends[h, r] to rail[r] via box[h] where h < n { class x, y }
}
"""

INTENT = """\
cluster ai {
  fabric a {
    hosts used of 2048 x NODE
    planes 8
    clos {
      tier rack of 2 hosts { switch T }
      tier pod of 192 rack { switch C x 16; oversubscription 1:1 }
      tier core of 8 pod { switch A; oversubscription at most 7:1 }
    }
    torus 16x16x16 { cube 4x4x4; wrap via ocs MIRROR }
    torus 4x4x8 { twist y by 4 along z; twist z by 1 along x; wrap x, z }
    dragonfly { groups compute 166 of 64 hosts, storage 8; arc compute to storage 4; arc storage to storage 2 }
    dragonfly { groups 74; local each; global each x 2 }
  }
  circuit block[*] spread x 3 uneven
  connect chip[*,*,*] torus { rate 1Tbps, 512Gbps }
  connect a[*] random degree 3 seed 5
  connect a[*] to b[*] pairs shift 1
  connect a to b x lanes[g]
}
"""

MODELS = """\
model switch S "A switch" {
  port p[1..64]: 400Gbps { type NDR; cage 2 OSFP; name "IB1/{(p + 1)//2}/{{x}}" }
  port any[8, 2]: any
  height 1U; power 747W max 1720W; source "https://example.com/a#b"
}
model host H {
  port nic[8]: 400Gbps { cage 2 OSFP, [4, 3][i]; split 8, 4, 2 }; port bmc: 1Gbps
  chip gpu[8]: G;  switch nvs[4]: N
  connect gpu[g] to nvs[s] x lanes[s] { layer scaleup; medium trace }
  numa cpu[2] { arch x86_64; cores 56 }
  pcie plx[8] { on cpu[i // 4]; gen 5; device "1000:c030" }
  pcie gpu { on plx[i]; bus "0000:1b:00.0" }
}
"""

ALL = {"pod": POD, "physical": PHYSICAL, "intent": INTENT, "models": MODELS}
