"""The NVUE commands that tdsl uses, each with its values, as NVIDIA's documentation lists them, and a judge of YAML by them.

Words stand for themselves, ``(a|b)`` for one of them, ``1-128`` for a number of that range, ``<name>`` for what ``KINDS`` says.
The YAML that ``nv config replace`` takes is the tree of ``nv set`` commands: each key is a word, the last a value or ``{}``.
All pages are of docs.nvidia.com/networking-ethernet-software, ``CL`` stands for ``cumulus-linux-5x``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, ip_address, ip_interface, ip_network

COMMANDS = {
    # `nv list-commands` of Cumulus Linux 5.5: CL/System-Configuration/NVIDIA-User-Experience-NVUE/NVUE-Commands
    "commands": """
interface <interface-id> type (swp|eth|loopback|bond)
interface <interface-id> description <description>
interface <interface-id> ip address <ip-prefix>
interface <interface-id> ip vrf <generic-name>
interface <interface-id> link mtu 552-9216
interface <interface-id> bond mode (lacp|static)
interface <interface-id> bond member <interface-id>
interface <interface-id> link breakout (1x|2x|4x|8x)
qos roce enable (on|off)
qos roce mode (lossy|lossless)
qos mapping default-global trust (l2|l3|port|both)
qos mapping default-global dscp 0-63 switch-priority 0-7
qos egress-queue-mapping default-global switch-priority 0-7 traffic-class 0-7
qos congestion-control default-global traffic-class 0-7 ecn (enable|disable)
qos congestion-control default-global traffic-class 0-7 min-threshold <bytes>
qos congestion-control default-global traffic-class 0-7 max-threshold <bytes>
qos congestion-control default-global traffic-class 0-7 probability 0-100
qos pfc default-global switch-priority 0-7
qos pfc default-global rx (enable|disable)
qos pfc default-global tx (enable|disable)
router bgp enable (on|off)
router bgp autonomous-system 1-4294967295
router bgp router-id <ipv4>
router bgp graceful-restart mode (off|helper-only|full)
router policy prefix-list <generic-name> type (ipv4|ipv6)
router policy prefix-list <generic-name> rule <rule-id> action (permit|deny)
router policy prefix-list <generic-name> rule <rule-id> match <ip-network>
router policy prefix-list <generic-name> rule <rule-id> match <ip-network> min-prefix-len 0-128
router policy prefix-list <generic-name> rule <rule-id> match <ip-network> max-prefix-len 0-128
router policy route-map <generic-name> rule <rule-id> action permit
router policy route-map <generic-name> rule <rule-id> match type (ipv4|ipv6)
router policy route-map <generic-name> rule <rule-id> match ip-prefix-list <generic-name>
vrf <generic-name>
vrf default router bgp enable (on|off)
vrf default router bgp path-selection multipath aspath-ignore (on|off)
vrf default router bgp address-family <afi> enable (on|off)
vrf default router bgp address-family <afi> multipaths ebgp 1-128
vrf default router bgp address-family <afi> redistribute connected enable (on|off)
vrf default router bgp address-family <afi> redistribute connected route-map <generic-name>
vrf default router bgp peer-group <generic-name> bfd enable (on|off)
vrf default router bgp peer-group <generic-name> bfd detect-multiplier 2-255
vrf default router bgp peer-group <generic-name> bfd min-rx-interval 50-4294967295
vrf default router bgp peer-group <generic-name> bfd min-tx-interval 50-4294967295
vrf <generic-name> router static <ip-network> address-family <afi>
vrf <generic-name> router static <ip-network> via <neighbor-id> type (ipv4-address|ipv6-address)
vrf default router bgp peer-group <generic-name> capabilities extended-nexthop (on|off|auto)
vrf default router bgp peer-group <generic-name> address-family <afi> enable (on|off)
vrf default router bgp peer-group <generic-name> address-family <afi> policy (inbound|outbound) route-map <generic-name>
vrf default router bgp address-family <afi> aggregate-route <ip-network> summary-only (on|off)
vrf default router bgp neighbor <neighbor-id> peer-group <generic-name>
vrf default router bgp neighbor <neighbor-id> remote-as 1-4294967295
vrf default router bgp neighbor <neighbor-id> type (numbered|unnumbered)
""",
    # CL/Layer-1-and-Switch-Ports/Quality-of-Service, from 5.6 on; ranges from the "What's New" of 5.6
    "watchdog": """
interface <interface-id> qos pfc-watchdog state (enable|disable)
qos pfc-watchdog polling-interval 100-5000
qos pfc-watchdog robustness 1-1000
""",
    # nvue-reference/Set-and-Unset-Commands/System-Configuration
    "hostname": "system hostname <hostname>",
    # cumulus-linux-59/Layer-3/Routing/Equal-Cost-Multipath-Load-Sharing, "Adaptive Routing"
    "adaptive": "interface <interface-id> router adaptive-routing enable (on|off)",
    # What a site shares: lists of `nv set` commands of 5.3 and 5.4 in CL/Whats-New, examples in
    # cumulus-linux-59/System-Configuration (TACACS, NVUE-CLI) and nvue-reference/Set-and-Unset-Commands/SNMP
    "site": """
system message pre-login <message>
system aaa authentication-order 1-100 (local|tacacs)
system aaa tacacs enable (on|off)
system aaa tacacs vrf <generic-name>
system aaa tacacs server 1-8 host <host>
system aaa tacacs server 1-8 secret <secret>
service dns <generic-name> server <ip>
service ntp <generic-name> server <host> iburst (on|off)
service syslog <generic-name> server <host> port 1-65535
service snmp-server enable (on|off)
service snmp-server listening-address (all|all-v6|localhost|localhost-v6) vrf <generic-name>
service snmp-server readonly-community <secret> access any
service snmp-server system-contact <message>
service snmp-server system-location <message>
vrf default router bgp peer-group <generic-name> password <secret>
""",
}


def _parses(read: Callable[[str], object]) -> Callable[[str], bool]:
    def holds(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return holds


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


INTERFACE = r"swp[1-9]\d*(s[0-7])?|bond[1-9]\d*|eth\d+|lo"
KINDS: dict[str, Callable[[str], bool]] = {
    "interface-id": _matches(INTERFACE),
    # CL/Layer-1-and-Switch-Ports/Interface-Configuration-and-Management: 256 characters, no apostrophes, ASCII only
    "description": _matches(r"[ -&(-~]{1,256}"),
    "hostname": _matches(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"),
    "generic-name": _matches(r"[A-Za-z][A-Za-z0-9._-]{0,62}"),
    "afi": _matches(r"ipv[46]-unicast"),
    "rule-id": _matches(r"[1-9]\d{0,9}"),
    "bytes": _matches(r"[1-9]\d*"),
    "ip-prefix": _parses(ip_interface),
    "ip-network": _parses(ip_network),
    "ipv4": _parses(IPv4Address),
    "ip": _parses(ip_address),
    "host": _matches(r"[A-Za-z0-9.:-]{1,253}"),
    "secret": _matches(r"[!-&(-~]{1,128}"),
    "message": _matches(r"[ -&(-~\n]{1,4000}"),
    "neighbor-id": lambda text: _matches(INTERFACE)(text) or _parses(ip_address)(text),
}
GRAMMAR = [line.split(" ") for text in COMMANDS.values() for line in text.strip().splitlines()]


def _takes(token: str, word: str) -> bool:
    """Whether a word of a command fits what the grammar has in its place."""
    if token.startswith("<"):
        return KINDS[token[1:-1]](word)
    if token.startswith("("):
        return word in token[1:-1].split("|")
    if span := re.fullmatch(r"(\d+)-(\d+)", token):
        return word.isdigit() and int(span[1]) <= int(word) <= int(span[2])
    return token == word


def commands(tree: object, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The ``nv set`` commands that a tree of YAML stands for, each as its words."""
    if not isinstance(tree, dict) or not tree:
        yield words if isinstance(tree, dict) else (*words, str(tree))
        return
    for key, below in tree.items():
        yield from commands(below, (*words, str(key)))


def wrong(tree: object) -> list[str]:
    """Commands that are none."""
    return [
        " ".join(words)
        for words in commands(tree)
        if not any(len(line) == len(words) and all(map(_takes, line, words)) for line in GRAMMAR)
    ]
