"""Words that people use for a setting or a statement, and how it is named here."""

from __future__ import annotations

from collections.abc import Collection

_SYNONYMS = """
rate: speed bandwidth bw bitrate linkrate link_speed line_rate
length: len cable_length distance long
medium: media type
type: kind form standard protocol port_type
optic: transceiver optics module sfp xcvr
class: label tag name tier
bundle: lag port_channel bond trunk mlag mc_lag lacp vpc dual_homed
latency: delay
mass: weight
power: watts wattage tdp consumption draw
price: cost list_price
height: rack_units size ru u units
leaf: tor access leafs leaves
spine: agg aggregation spines core
oversubscription: ratio blocking blocking_factor subscription oversub
split: breakout breakouts break_out fanout
colour: color
cable: cables wire cord
cage: slot cages form_factor
connector: plug socket
sockets: plugs connectors
os: ifname interface_name
netdev: interface_name
role: purpose function use kind
nos: os_name system os network_os operating_system
routing: protocol route routes router igp bgp
hosts: servers nodes machines computers compute
chips: gpus accelerators
fails: failure_rate afr failures
repair: mttr
mtbf: mttf
mtu: frame_size maxmtu
spares: spare
reach: range max_length
priority: prio pcp
asn: as as_number
loopback: lo router_id
forwards: forward relay transit
members: member devices
racks: rack cabinets
from: source
interface: iface ifname
gen: generation
cores: cpus
hall: room building datacenter
address: ip ipv4 subnet
partition: pkey pkeys
full: members member
naming: name rename names alias
subnet_manager: sm opensm
tray: trays ladder
units: unit su
wrap: wraparound
""".strip()
_NAMED: dict[str, tuple[str, ...]] = {}
for _line in _SYNONYMS.splitlines():
    _name, _, _words = _line.partition(": ")
    for _word in _words.split():
        _NAMED[_word] = (*_NAMED.get(_word, ()), _name)


_STATEMENTS_OF_DEVICES = {
    "name hostname label alias naming title dns": (
        'names are given in the fabric: `naming {name}[i] "{name}-{{i}}"`'
    ),
    "ip ipv4 ipv6 address addresses loopback subnet gateway network mgmt management": (
        "addresses are given in the fabric: `address {name} loopback from 10.255.0.1/24`"
    ),
    "asn as bgp ospf router routing as_number": (
        "routing is a statement of the fabric: `routing bgp {{ asn {name}[*] from 4_200_000_000 }}`"
    ),
    "mtu bfd": "it is a setting of `routing`, a statement of the fabric: `routing bgp {{ mtu 9216 }}`",
    "rack racks position place ru slot location hall row site u": (
        "a statement of the fabric puts devices into racks: `place {name}[*] in HALL.A[1] stacked from 10U`"
    ),
    "gpu gpus accelerators nic nics port ports cpu cpus memory ram rate speed power height mass weight price "
    "vendor cords": "it is a fact of the model: `model {kind} NAME {{ … }}`",
    "link links uplink uplinks downlinks connect cable cables connections": (
        "links are made by a statement of the fabric: `connect {name}[*] to OTHER[*] each`"
    ),
    "count number quantity qty amount": "how many there are follows the name: `{kind} {name}[8]: MODEL`",
    "model": "the model follows the name: `{kind} {name}: MODEL`",
}
"""Words that people put into the braces of a device, and how what they mean is said."""


def statement_for_device_word(word: str, kind: str, name: str) -> str:
    """How to say what a word in the braces of a device means, where that is no setting of the device: for a
    device of a kind and a name; "" where the word is not known."""
    said = (how for words, how in _STATEMENTS_OF_DEVICES.items() if word.lower() in words.split())
    return next(said, "").format(kind=kind, name=name)


_WORDS_FOR_VALUES = """
loopback: lo lo0 loopback0 router_id
management: mgmt mgmt0 oob management0
bmc: ipmi idrac ilo redfish
links: link p2p interfaces ptp
nvue: cumulus cumulus_linux nv nvidia
eos: arista
sonic: dell community_sonic
infiniband: ib
ethernet: eth
roce: rocev2 roce_v2 rdma
manager: mgmt management admin login
storage: filer nas
""".strip()
_VALUE_MEANT = {
    word: name
    for name, _, words in (line.partition(": ") for line in _WORDS_FOR_VALUES.splitlines())
    for word in words.split()
}
"""Words that people write for a value that is a word of the language."""


def name_of_word_elsewhere(word: str, known: Collection[str], setting: bool = True) -> str:
    """The one of some known names for which people write a word, in any case: of settings, or of values that
    are words; "" where there is none."""
    names = _NAMED.get(word.lower(), ()) if setting else (_VALUE_MEANT.get(word.lower(), ""),)
    return next((name for name in names if name in known), "")
