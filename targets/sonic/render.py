"""``config_db.json`` of one switch, table by table, as the YANG models of SONiC have them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tdsl.emit.faceplate import FRAME, FacePort
from tdsl.emit.quote import remark, word
from tdsl.emit.records import Router
from tdsl.emit.view import FabricView

Table = dict[str, Any]
FAMILIES = {4: "ipv4", 6: "ipv6"}
MAP = "ROCE"
"""What every map, profile and scheduler of RDMA is called."""
HASHED = ["SRC_IP", "DST_IP", "IP_PROTOCOL", "L4_SRC_PORT", "L4_DST_PORT"]
"""What chooses among equal paths: adapters give each queue pair of RoCEv2 a UDP source port of its own."""
POLL_MS = 200
"""SONiC's usual time between two looks for a pause that does not end; never more than the time that it waits for."""


def render(fabric: FabricView, options: Mapping[str, object], router: Router) -> bytes:
    """The whole file, keys in the order of the switch's ports."""
    ports = fabric.faceplate(router.name)
    names = {p.system: p.name for p in ports}
    tables = {
        **device(fabric, router),
        **physical(router, ports),
        **addresses(router, names),
        **management(router),
        **policy(router),
        **bgp(router, names),
    }
    if fabric.roce is not None:
        linked = [p for p in ports if p.linked]
        tables |= {"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": HASHED}}}
        tables |= classes(fabric.roce, linked) | buffers(fabric.roce, linked, int(router.mtu or FRAME), options)
    tables["DEVICE_METADATA"]["localhost"] |= {"buffer_model": "dynamic"} if "BUFFER_POOL" in tables else {}
    if tables.get("PFC_WD"):
        tables["DEVICE_METADATA"]["localhost"]["default_pfcwd_status"] = "enable"
    return (json.dumps({name: table for name, table in sorted(tables.items()) if table}, indent=2) + "\n").encode()


# ------------------------------------------------------------ the device and its ports
def device(fabric: FabricView, router: Router) -> dict[str, Table]:
    """Who it is. FRR is configured from the tables of BGP (``frr_mgmt_framework_config``)."""
    facts = fabric.model_facts(router.name)
    local = {
        "hostname": word(router.name),
        **{k: facts[k] for k in ("hwsku", "platform") if k in facts},
        "bgp_asn": str(router.asn),
        "docker_routing_config_mode": "unified",
        "frr_mgmt_framework_config": "true",
    }
    return {"DEVICE_METADATA": {"localhost": local}}


def physical(router: Router, ports: tuple[FacePort, ...]) -> dict[str, Table]:
    """Every port of the faceplate; those without a link are down."""
    said = {i.name: i.description for i in router.interfaces}
    out: Table = {}
    for p in ports:
        out[p.name] = {
            "lanes": ",".join(map(str, p.lanes)), "alias": remark(p.label)[:128], "index": str(p.index),
            "speed": str(p.mbps), "subport": str(p.subport),
            **({"mtu": str(router.mtu)} if router.mtu else {}), **({"fec": p.fec} if p.fec else {}),
            "admin_status": "up" if p.linked else "down",
            **({"description": remark(said[p.system])} if p.system in said else {}),
        }  # fmt: skip
    return {"PORT": out, "BREAKOUT_CFG": {p.whole: {"brkout_mode": p.mode} for p in ports if p.mode}}


def addresses(router: Router, names: Mapping[str, str]) -> dict[str, Table]:
    """Loopback and links; a link without addresses has a link-local one."""
    lo: Table = {"Loopback0": {}} if router.loopbacks else {}
    lo |= {f"Loopback0|{a.network}": {} for a in router.loopbacks}
    links: Table = {}
    for i in router.interfaces:
        links[names[i.name]] = {} if i.addresses else {"ipv6_use_link_local_only": "enable"}
        links |= {f"{names[i.name]}|{a}": {} for a in i.addresses}
    return {"LOOPBACK_INTERFACE": lo, "INTERFACE": links}


def management(router: Router) -> dict[str, Table]:
    """The management port, in SONiC's VRF for it, which is always called mgmt, unless the design leaves it in the default one. An
    address without a gateway is refused by SONiC's models, so there it is left to DHCP."""
    with_way = [m for m in router.management if m.gateway]
    apart = any(m.vrf != "default" for m in router.management)
    return {
        "MGMT_PORT": {m.interface: {"alias": m.interface, "admin_status": "up"} for m in router.management},
        "MGMT_INTERFACE": {f"{m.interface}|{m.address}": {"gwaddr": m.gateway} for m in with_way},
        "MGMT_VRF_CONFIG": {"vrf_global": {"mgmtVrfEnabled": "true"}} if apart else {},
    }


# ------------------------------------------------------------ routing
def policy(router: Router) -> dict[str, Table]:
    """What is told and taken: the design's loopbacks and links of hosts."""
    versions = sorted({r.version for r in router.accepted})
    prefixes: Table = {}
    for version in versions:
        those = [r for r in router.accepted if r.version == version]
        longest = 32 if version == 4 else 128
        for n, r in enumerate(those, 1):
            lengths = f"{r.least}..{longest}" if r.least else "exact"
            prefixes[f"FABRIC{version}|{5 * n}|{r.network}|{lengths}"] = {"action": "permit"}
    match = {4: "match_prefix_set", 6: "match_ipv6_prefix_set"}
    return {
        "PREFIX_SET": {f"FABRIC{v}": {"mode": f"IPv{v}"} for v in versions},
        "PREFIX": prefixes,
        "ROUTE_MAP_SET": {"FABRIC": {}} if versions else {},
        "ROUTE_MAP": {
            f"FABRIC|{10 * n}": {"route_operation": "permit", match[v]: f"FABRIC{v}"} for n, v in enumerate(versions, 1)
        },
        "ROUTE_REDISTRIBUTE": {f"default|connected|bgp|{FAMILIES[v]}": {"route_map": ["FABRIC"]} for v in versions},
    }


def bgp(router: Router, names: Mapping[str, str]) -> dict[str, Table]:
    """Sessions of one peer group; a neighbour's ASN is written out, so a cable in the wrong place brings no session up."""
    versions = {r.version for r in router.accepted}
    carried = sorted({v for s in router.sessions for v in s.versions})
    group = {"peer_type": "external", "capability_ext_nexthop": "true", **({"bfd": "true"} if router.bfd else {})}
    width = {"max_ebgp_paths": str(min(router.width, 256))}
    peers = [(names[s.peer] if s.unnumbered else s.peer, s) for s in router.sessions]
    maps = {"route_map_in": ["FABRIC"], "route_map_out": ["FABRIC"]}
    return {
        "BGP_GLOBALS": {"default": {
            "local_asn": str(router.asn), "router_id": router.router_id, "load_balance_mp_relax": "true",
            "default_ipv4_unicast": "false", **({"graceful_restart_enable": "true"} if router.graceful_restart else {}),
        }},
        "BGP_GLOBALS_AF": {f"default|{FAMILIES[v]}_unicast": width for v in sorted({*carried, *versions})},
        "BGP_PEER_GROUP": {"default|FABRIC": group} if peers else {},
        "BGP_PEER_GROUP_AF": {
            f"default|FABRIC|{FAMILIES[v]}_unicast": maps if v in versions else {} for v in carried
        },
        "BGP_NEIGHBOR": {
            f"default|{peer}": {"peer_group_name": "FABRIC", "asn": str(s.asn), "name": remark(s.description)}
            for peer, s in peers
        },
        "BGP_NEIGHBOR_AF": {
            f"default|{peer}|{FAMILIES[v]}_unicast": {"admin_status": "up"} for peer, s in peers for v in s.versions
        },
    }  # fmt: skip


# ------------------------------------------------------------ RDMA
def classes(roce: Mapping[str, Any], ports: list[FacePort]) -> dict[str, Table]:
    """From the DSCP to the queue, and from the queue to the mark and the pause. Traffic class, priority, queue and priority group
    have one number; all other traffic has that of ``others``."""
    data, cnp, rest = str(roce["priority"]), str(roce["cnp_priority"]), others(roce)
    every = [str(n) for n in range(8)]
    tc = dict.fromkeys(map(str, range(64)), rest) | {str(roce["dscp"]): data, str(roce["cnp_dscp"]): cnp}
    lossless = {"pfc_enable": data, "pfc_to_queue_map": MAP, "pfc_to_pg_map": MAP} if roce["pfc"] else {}
    watched = {"pfcwd_sw_enable": data} if roce["watchdog_ms"] else {}
    wait = {"detection_time": str(roce["watchdog_ms"]), "restoration_time": str(roce["watchdog_ms"])}
    ecn = roce["ecn"]
    marks = {
        "wred_green_enable": "true", "ecn": "ecn_all", "green_min_threshold": str(ecn["low"]),
        "green_max_threshold": str(ecn["high"]), "green_drop_probability": str(ecn["percent"]),
    } if ecn else {}  # fmt: skip
    queues: Table = {}
    for p in ports:
        queues[f"{p.name}|{rest}"] = {"scheduler": "OTHERS"}
        queues[f"{p.name}|{data}"] = {"scheduler": MAP, **({"wred_profile": MAP} if ecn else {})}
        queues[f"{p.name}|{cnp}"] = {"scheduler": "CNP"}
    return {
        "DSCP_TO_TC_MAP": {MAP: tc},
        "TC_TO_QUEUE_MAP": {MAP: {n: n for n in every}},
        "TC_TO_PRIORITY_GROUP_MAP": {MAP: {n: n if n == data else rest for n in every}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {MAP: {data: data}} if lossless else {},
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {MAP: {data: data}} if lossless else {},
        "PORT_QOS_MAP": {
            p.name: {"dscp_to_tc_map": MAP, "tc_to_queue_map": MAP, "tc_to_pg_map": MAP, **lossless, **watched} for p in ports
        },
        "PFC_WD": {
            "GLOBAL": {"POLL_INTERVAL": str(min(POLL_MS, roce["watchdog_ms"]))},
            **{p.name: {"action": "drop", **wait} for p in ports},
        } if watched else {},
        "WRED_PROFILE": {MAP: marks} if ecn else {},
        "SCHEDULER": {
            "CNP": {"type": "STRICT"}, MAP: {"type": "DWRR", "weight": "50"}, "OTHERS": {"type": "DWRR", "weight": "50"},
        },
        "QUEUE": queues,
    }  # fmt: skip


def others(roce: Mapping[str, Any]) -> str:
    """The traffic class of all that is neither RDMA nor its notifications: the lowest that they leave free."""
    return str(next(n for n in range(8) if n not in (roce["priority"], roce["cnp_priority"])))


def buffers(roce: Mapping[str, Any], ports: list[FacePort], mtu: int, options: Mapping[str, object]) -> dict[str, Table]:
    """Pools that the switch sizes itself, and a lossless priority group on every port whose cable has a length."""
    data, rest = str(roce["priority"]), others(roce)
    sure = [(p, room) for p in ports if (room := p.headroom(mtu)) is not None] if roce["pfc"] else []
    if not sure:
        return {}
    threshold = str(options["dynamic_th"])
    profiles: Table = {
        "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "7"},
        "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7"},
        "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "7"},
    }
    groups: Table = {f"{p.name}|{rest}": {"profile": "ingress_lossy_profile"} for p in ports}
    lines: Table = {
        f"{p.name}|{n}": {"profile": "egress_lossless_profile" if n == data else "egress_lossy_profile"}
        for p in ports for n in (rest, data, str(roce["cnp_priority"]))
    }  # fmt: skip
    for p, room in sure:
        name = f"pg_lossless_{p.mbps}_{p.length_m}m_profile"
        profiles[name] = {
            "pool": "ingress_lossless_pool", "xon": str(mtu), "xoff": str(room), "size": str(mtu + room), "dynamic_th": threshold,
        }  # fmt: skip
        groups[f"{p.name}|{data}"] = {"profile": name}
    return {
        "BUFFER_POOL": {
            "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic"},
            "egress_lossless_pool": {"type": "egress", "mode": "dynamic"},
            "egress_lossy_pool": {"type": "egress", "mode": "dynamic"},
        },
        "BUFFER_PROFILE": profiles,
        "BUFFER_PG": groups,
        "BUFFER_QUEUE": lines,
        "CABLE_LENGTH": {MAP: {p.name: f"{p.length_m}m" for p, _ in sure}},
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {MAP: {"default_dynamic_th": threshold}},
    }
