"""What the check of topology files for NCCL finds: all findings of one host with one or a few changes, with places."""
# ruff: noqa: E501

from __future__ import annotations

import re

import pytest

from tdsl.findings.source import SourceFile
from tdsl.nccl.lint import lint_nccl_file

HOST = """\
<system version="1">
  <cpu numaid="0" affinity="000000ff,ffffffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="ffff:ff:01.0" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000" \
subsystem_device="0xc031" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:1b:00.0" class="0x030200" vendor="0x10de" device="0x2330" subsystem_vendor="0x10de" \
subsystem_device="0x2331" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:18:00.0" class="0x020700" vendor="0x15b3" device="0x1021" subsystem_vendor="0x15b3" \
subsystem_device="0x1022" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x1a" latency="0" maxconn="131072" gdr="1"/>
        </nic>
      </pci>
    </pci>
    <pci busid="ffff:ff:02.0" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000" \
subsystem_device="0xc032" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:43:00.0" class="0x030200" vendor="0x10de" device="0x2330" subsystem_vendor="0x10de" \
subsystem_device="0x2332" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="90" rank="1" gdr="1">
          <nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:40:00.0" class="0x020700" vendor="0x15b3" device="0x1021" subsystem_vendor="0x15b3" \
subsystem_device="0x1023" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_3" dev="1" speed="400000" port="1" guid="0x2a" latency="0" maxconn="131072" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
</system>
"""
NVLINK = '<nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/>'


def function(bus: str) -> str:
    """A PCI function of the host with all that it holds."""
    found = re.search(rf' *<pci busid="{bus}".*?</pci>\n', HOST, re.DOTALL)
    assert found
    return found[0]


ADAPTER_18, ADAPTER_40 = function("0000:18:00.0"), function("0000:40:00.0")
GPU_1B, GPU_43 = function("0000:1b:00.0"), function("0000:43:00.0")

Changes = tuple[tuple[str, str], ...]

# The changes, and the findings: initial of the severity, number, line:column+length, message.
CASES: list[tuple[Changes, list[str]]] = [
    (
        (('sm="90" rank="0"', 'sm="59" rank="0"'),),
        [
            'e24 5:25+4 sm="59": less than any GPU that NCCL serves',
            'w26 5:25+4 sm="59", and device 0x2330 has 90: NCCL plans for another generation',
            'w26 17:25+4 sm="90" beside GPUs of sm="59": NCCL plans for the least',
        ],
    ),
    (
        (('sm="90" rank="0"', 'sm="60" rank="0"'),),
        [
            'w26 5:25+4 sm="60", and device 0x2330 has 90: NCCL plans for another generation',
            'w26 17:25+4 sm="90" beside GPUs of sm="60": NCCL plans for the least',
        ],
    ),
    ((('sm="90" rank="0"', 'sm="0x5a" rank="0"'),), []),
    (
        (('sm="90" rank="0"', 'sm="80" rank="0"'),),
        [
            'w26 5:25+4 sm="80", and device 0x2330 has 90: NCCL plans for another generation',
            "e26 6:50+4 18 NVLinks, and a GPU of sm 80 has 12: NCCL plans with all",
            'w26 17:25+4 sm="90" beside GPUs of sm="80": NCCL plans for the least',
        ],
    ),
    (
        (('sm="90" rank="0"', 'sm="86" rank="0"'),),
        [
            'w26 5:25+4 sm="86", and device 0x2330 has 90: NCCL plans for another generation',
            'w26 17:25+4 sm="90" beside GPUs of sm="86": NCCL plans for the least',
        ],
    ),
    ((('gpu dev="0"', 'gpu dev="-2"'),), ['e24 5:18+4 dev="-2": NCCL holds 32 GPUs a host']),
    ((('gpu dev="0"', 'gpu dev="-1"'),), ['e24 5:18+4 dev="-1": NCCL takes -1 for a GPU that is not there']),
    (
        (('gpu dev="0"', 'gpu dev="31"'),),
        ["w26 5:18+4 `dev` of the GPUs is not in the order of their bus ids, so NCCL pairs GPUs with adapters of others"],
    ),
    (
        (('gpu dev="0"', 'gpu dev="32"'),),
        [
            'e24 5:18+4 dev="32": NCCL holds 32 GPUs a host',
            "w26 5:18+4 `dev` of the GPUs is not in the order of their bus ids, so NCCL pairs GPUs with adapters of others",
        ],
    ),
    (
        (('gpu dev="0"', 'gpu dev="1"'),),
        ['e26 5:18+3 dev="1" occurs 2 times; NCCL uses the first', 'e26 17:18+3 dev="1" occurs 2 times; NCCL uses the first'],
    ),
    ((('gpu dev="0"', 'gpu dev="1.0"'),), ['e24 5:18+5 dev="1.0": not a whole number as NCCL reads one (it takes 1)']),
    (
        (('speed="400000" port="1" guid="0x1a"', 'speed="999" port="1" guid="0x1a"'),),
        ['e24 11:44+5 speed="999": in Mb/s; this is less than 1 Gb/s'],
    ),
    (
        (('speed="400000" port="1" guid="0x1a"', 'speed="1000" port="1" guid="0x1a"'),),
        ["w26 11:44+6 1000 Mb/s, and its PCIe link has 384000 as NCCL counts: NCCL plans with the lower"],
    ),
    (
        (('speed="400000" port="1" guid="0x1a"', 'speed="0" port="1" guid="0x1a"'),),
        ['e24 11:44+3 speed="0": in Mb/s; NCCL counts 10 Gb/s'],
    ),
    (
        (('speed="400000" port="1" guid="0x1a"', 'speed="1" port="1" guid="0x1a"'),),
        ['e24 11:44+3 speed="1": in Mb/s; this is less than 1 Gb/s'],
    ),
    (
        (('speed="400000" port="1" guid="0x1a"', 'speed="-1" port="1" guid="0x1a"'),),
        ['e24 11:44+4 speed="-1": in Mb/s; NCCL counts 10 Gb/s'],
    ),
    ((('speed="400000" port="1" guid="0x1a"', 'speed="96000" port="1" guid="0x1a"'),), []),
    ((('speed="400000" port="1" guid="0x1a"', 'speed="96001" port="1" guid="0x1a"'),), []),
    (
        (('speed="400000" port="1" guid="0x1a"', 'speed="426666" port="1" guid="0x1a"'),),
        ["w26 23:44+8 400000 Mb/s beside adapters of 426666: NCCL gives all channels the least"],
    ),
    (
        (('speed="400000" port="1" guid="0x1a"', 'speed="426667" port="1" guid="0x1a"'),),
        [
            "w26 9:173+4 its PCIe link has 384000 of the adapter's 426667 Mb/s, as NCCL counts",
            "w26 23:44+8 400000 Mb/s beside adapters of 426667: NCCL gives all channels the least",
        ],
    ),
    (
        (('speed="400000" port="1" guid="0x1a"', 'speed="48000" port="1" guid="0x1a"'),),
        ["w26 11:44+7 48000 Mb/s, and its PCIe link has 384000 as NCCL counts: NCCL plans with the lower"],
    ),
    (
        (('speed="400000" port="1" guid="0x1a"', 'speed="400001" port="1" guid="0x1a"'),),
        ["w26 23:44+8 400000 Mb/s beside adapters of 400001: NCCL gives all channels the least"],
    ),
    ((('speed="400000" port="1" guid="0x1a"', 'speed="" port="1" guid="0x1a"'),), ['w24 11:44+2 speed="": empty: NCCL takes 0']),
    ((('guid="0x1a"', 'guid="1a"'),), []),
    ((('guid="0x1a"', 'guid="0X1A"'),), []),
    ((('guid="0x1a"', 'guid=""'),), []),
    (
        (('guid="0x1a"', 'guid="0x0000000000000001a"'),),
        ['e24 11:67+21 guid="0x0000000000000001a": not a hexadecimal number of 64 bits'],
    ),
    (
        (('guid="0x1a"', 'guid="0x2a"'),),
        [
            "e26 11:67+6 2 nets have one guid and one port: NCCL lets them share one port's bandwidth",
            "e26 23:67+6 2 nets have one guid and one port: NCCL lets them share one port's bandwidth",
        ],
    ),
    (
        (('guid="0x1a"', 'guid="2A"'),),
        [
            "e26 11:67+4 2 nets have one guid and one port: NCCL lets them share one port's bandwidth",
            "e26 23:67+6 2 nets have one guid and one port: NCCL lets them share one port's bandwidth",
        ],
    ),
    ((('guid="0x1a"', 'guid="g"'),), ['e24 11:67+3 guid="g": not a hexadecimal number of 64 bits']),
    (
        (
            ('guid="0x1a"', 'guid="2a"'),
            ('port="1" guid="2a"', 'port="0x1" guid="2a"'),
        ),
        [
            "e26 11:69+4 2 nets have one guid and one port: NCCL lets them share one port's bandwidth",
            "e26 23:67+6 2 nets have one guid and one port: NCCL lets them share one port's bandwidth",
        ],
    ),
    (
        (
            ('guid="0x1a"', 'guid="2a"'),
            ('port="1" guid="2a"', 'port="2" guid="2a"'),
        ),
        [],
    ),
    (
        (
            ('guid="0x1a"', 'guid="zz"'),
            ('guid="0x2a"', 'guid="zz"'),
        ),
        [
            'e24 11:67+4 guid="zz": not a hexadecimal number of 64 bits',
            "e26 11:67+4 2 nets have one guid and one port: NCCL lets them share one port's bandwidth",
            'e24 23:67+4 guid="zz": not a hexadecimal number of 64 bits',
            "e26 23:67+4 2 nets have one guid and one port: NCCL lets them share one port's bandwidth",
        ],
    ),
    (
        (
            (' port="1" guid="0x1a"', ' guid="2a"'),
            ('port="1" guid="0x2a"', 'guid="0x2a"'),
        ),
        [
            "n28 11:11+4 2 <net> without `port`: NCCL takes that from the machine",
            "e26 11:58+4 2 nets have one guid and one port: NCCL lets them share one port's bandwidth",
            "e26 23:58+6 2 nets have one guid and one port: NCCL lets them share one port's bandwidth",
        ],
    ),
    ((('latency="0"', 'latency="1.5"'),), []),
    ((('latency="0"', 'latency="-1e3"'),), []),
    ((('latency="0"', 'latency=""'),), []),
    ((('latency="0"', 'latency=".5"'),), []),
    ((('latency="0"', 'latency="1."'),), []),
    ((('latency="0"', 'latency="x"'),), ['w24 11:82+3 latency="x": not a number']),
    ((("0000:1b:00.0", "0000:1b:00.4"),), []),
    ((("0000:1b:00.0", "0000:1b:00.8"),), []),
    ((("0000:1b:00.0", "0000:1b:00.c"),), []),
    (
        (("0000:1b:00.0", "0000:1b:00.1"),),
        ['e24 4:18+14 busid="0000:1b:00.1": NCCL uses the two lowest bits of a GPU\'s function itself'],
    ),
    (
        (("0000:1b:00.0", "0000:1b:00.5"),),
        ['e24 4:18+14 busid="0000:1b:00.5": NCCL uses the two lowest bits of a GPU\'s function itself'],
    ),
    (
        (("0000:1b:00.0", "10000:1b:00.0"),),
        ["w26 5:18+3 `dev` of the GPUs is not in the order of their bus ids, so NCCL pairs GPUs with adapters of others"],
    ),
    (
        (("0000:1b:00.0", "00000:1b:00.0"),),
        [
            'e24 4:18+15 busid="00000:1b:00.0": NCCL compares letter by letter with what it prints itself',
            "w26 5:18+3 `dev` of the GPUs is not in the order of their bus ids, so NCCL pairs GPUs with adapters of others",
        ],
    ),
    (
        (("0000:1b:00.0", "0000:1B:00.0"),),
        ['e24 4:18+14 busid="0000:1B:00.0": NCCL compares letter by letter with what it prints itself'],
    ),
    (
        (('"ffff:ff:01.0" class="0x060400"', '"ffff:ff:01.0" class="0x0604"'),),
        [
            'w24 3:37+8 class="0x0604": unknown, so NCCL takes it for a switch',
            'e26 3:37+8 class="0x0604" of a PCIe switch: ranks with a GPU below write "0x060400", and two switches come of one',
        ],
    ),
    ((('"ffff:ff:01.0" class="0x060400"', '"ffff:ff:01.0" class=""'),), []),
    (
        (('"ffff:ff:01.0" class="0x060400"', '"ffff:ff:01.0" class="0x068001"'),),
        ['e26 3:37+10 class="0x068001" of a PCIe switch: ranks with a GPU below write "0x060400", and two switches come of one'],
    ),
    (
        (('"ffff:ff:01.0" class="0x060400"', '"ffff:ff:01.0" class="0x0680"'),),
        [
            'w24 3:37+8 class="0x0680": unknown, so NCCL takes it for a switch',
            'e26 3:37+8 class="0x0680" of a PCIe switch: ranks with a GPU below write "0x060400", and two switches come of one',
        ],
    ),
    ((('"ffff:ff:01.0" class="0x060400"', '"ffff:ff:01.0" class="0x080100"'),), []),
    (
        (('"ffff:ff:01.0" class="0x060400"', '"ffff:ff:01.0" class="0x068000"'),),
        ["e26 3:37+10 NCCL takes this for an NVSwitch, and never comes to what is below it"],
    ),
    (
        (('"ffff:ff:01.0" class="0x060400"', '"ffff:ff:01.0" class="0x030000"'),),
        [
            "w26 3:5+4 1 of 3 GPUs have no adapter below their PCIe switch, others have: NCCL plans for the farthest",
            "e22 4:7+4 NCCL never comes to a <pci> below a GPU",
            "e22 9:7+4 NCCL never comes to a <pci> below a GPU",
        ],
    ),
    (
        (('"ffff:ff:01.0" class="0x060400"', '"ffff:ff:01.0" class="0x020000"'),),
        ["e22 4:7+4 NCCL never comes to a <pci> below an adapter", "e22 9:7+4 NCCL never comes to a <pci> below an adapter"],
    ),
    (
        (('"ffff:ff:01.0" class="0x060400"', '"ffff:ff:01.0" class="0x07"'),),
        [
            'w24 3:37+6 class="0x07": unknown, so NCCL takes it for a switch',
            'e26 3:37+6 class="0x07" of a PCIe switch: ranks with a GPU below write "0x060400", and two switches come of one',
        ],
    ),
    (
        (('"ffff:ff:01.0" class="0x060400"', '"ffff:ff:01.0"'),),
        [
            "e23 3:5+4 <pci> lacks `class`: a rank that keeps this for an adapter of the file does not fill it in, and gives up",
            "e23 3:5+4 a bus id that no machine has, and no `class`: NCCL gives up",
        ],
    ),
    (
        (('"ffff:ff:01.0" class="0x060400"', '"0000:ff:01.0"'),),
        ["e23 3:5+4 <pci> lacks `class`: a rank that keeps this for an adapter of the file does not fill it in, and gives up"],
    ),
    ((('"0000:1b:00.0" class="0x030200"', '"0000:1b:00.0" class=""'),), []),
    (
        (('"0000:1b:00.0" class="0x030200"', '"0000:1b:00.0" class="0x020700"'),),
        ['e26 4:39+10 a <gpu> in a function of class="0x020700": NCCL gives up'],
    ),
    ((('"0000:1b:00.0" class="0x030200"', '"0000:1b:00.0" class="0x030000"'),), []),
    (
        (('"0000:1b:00.0" class="0x030200"', '"0000:1b:00.0" class="0x060400"'),),
        ['e26 4:39+10 a <gpu> in a function of class="0x060400": NCCL gives up'],
    ),
    ((('"0000:18:00.0" class="0x020700"', '"0000:18:00.0" class=""'),), []),
    ((('"0000:18:00.0" class="0x020700"', '"0000:18:00.0" class="0x020000"'),), []),
    ((('"0000:18:00.0" class="0x020700"', '"0000:18:00.0" class="0x030000"'),), []),
    ((('"0000:18:00.0" class="0x020700"', '"0000:18:00.0" class="0x060400"'),), []),
    (
        (('subsystem_device="0x2331" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x2331" link_speed=""'),),
        ["n28 4:145+2 <pci> leaves its link's speed or width empty: NCCL counts generation 3 and 16 lanes"],
    ),
    (
        (('subsystem_device="0x1022" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x1022" link_speed=""'),),
        ["n28 9:145+2 <pci> leaves its link's speed or width empty: NCCL counts generation 3 and 16 lanes"],
    ),
    ((('subsystem_device="0x2331" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x2331" link_speed="16.0 GT/s PCIe"'),), []),
    (
        (('subsystem_device="0x1022" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x1022" link_speed="16.0 GT/s PCIe"'),),
        ["w26 9:173+4 its PCIe link has 192000 of the adapter's 400000 Mb/s, as NCCL counts"],
    ),
    (
        (('subsystem_device="0x2331" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x2331" link_speed="64.0 GT/s PCIe"'),),
        ["w26 16:173+4 its PCIe link has 384000 Mb/s, as NCCL counts; those of other GPUs have 768000"],
    ),
    (
        (('subsystem_device="0x1022" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x1022" link_speed="64.0 GT/s PCIe"'),),
        ["w26 21:173+4 its PCIe link has 384000 Mb/s, as NCCL counts; those of other adapters have 768000"],
    ),
    ((('subsystem_device="0x2331" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x2331" link_speed="2.5 GT/s"'),), []),
    (
        (('subsystem_device="0x1022" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x1022" link_speed="2.5 GT/s"'),),
        ["w26 9:167+4 its PCIe link has 24000 of the adapter's 400000 Mb/s, as NCCL counts"],
    ),
    ((('subsystem_device="0x2331" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x2331" link_speed="8 GT/s PCIe"'),), []),
    (
        (('subsystem_device="0x1022" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x1022" link_speed="8 GT/s PCIe"'),),
        ["w26 9:170+4 its PCIe link has 96000 of the adapter's 400000 Mb/s, as NCCL counts"],
    ),
    ((('subsystem_device="0x2331" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x2331" link_speed="5.0 GT/s PCIe"'),), []),
    (
        (('subsystem_device="0x1022" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x1022" link_speed="5.0 GT/s PCIe"'),),
        ["w26 9:172+4 its PCIe link has 48000 of the adapter's 400000 Mb/s, as NCCL counts"],
    ),
    (
        (('subsystem_device="0x2331" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x2331" link_speed="16.0 GT/s"'),),
        ['e24 4:145+11 link_speed="16.0 GT/s": unknown, so NCCL counts generation 3'],
    ),
    (
        (('subsystem_device="0x1022" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x1022" link_speed="16.0 GT/s"'),),
        [
            'e24 9:145+11 link_speed="16.0 GT/s": unknown, so NCCL counts generation 3',
            "w26 9:168+4 its PCIe link has 192000 of the adapter's 400000 Mb/s, as NCCL counts",
        ],
    ),
    (
        (('subsystem_device="0x2331" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x2331" link_speed="x"'),),
        ['e24 4:145+3 link_speed="x": unknown, so NCCL counts generation 3'],
    ),
    (
        (('subsystem_device="0x1022" link_speed="32.0 GT/s PCIe"', 'subsystem_device="0x1022" link_speed="x"'),),
        ['e24 9:145+3 link_speed="x": unknown, so NCCL counts generation 3'],
    ),
    (
        (('"0x2331" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x2331" link_speed="32.0 GT/s PCIe" link_width=""'),),
        ["n28 4:173+2 <pci> leaves its link's speed or width empty: NCCL counts generation 3 and 16 lanes"],
    ),
    (
        (('"0x1022" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x1022" link_speed="32.0 GT/s PCIe" link_width=""'),),
        ["n28 9:173+2 <pci> leaves its link's speed or width empty: NCCL counts generation 3 and 16 lanes"],
    ),
    (
        (('"0xc031" link_speed="32.0 GT/s PCIe" link_width="16"', '"0xc031" link_speed="32.0 GT/s PCIe" link_width=""'),),
        ["n28 3:171+2 <pci> leaves its link's speed or width empty: NCCL counts generation 3 and 16 lanes"],
    ),
    (
        (('"0x2331" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x2331" link_speed="32.0 GT/s PCIe" link_width="0"'),),
        ["n28 4:173+3 <pci> leaves its link's speed or width empty: NCCL counts generation 3 and 16 lanes"],
    ),
    (
        (('"0x1022" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x1022" link_speed="32.0 GT/s PCIe" link_width="0"'),),
        ["n28 9:173+3 <pci> leaves its link's speed or width empty: NCCL counts generation 3 and 16 lanes"],
    ),
    (
        (('"0xc031" link_speed="32.0 GT/s PCIe" link_width="16"', '"0xc031" link_speed="32.0 GT/s PCIe" link_width="0"'),),
        ["n28 3:171+3 <pci> leaves its link's speed or width empty: NCCL counts generation 3 and 16 lanes"],
    ),
    (
        (('"0x2331" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x2331" link_speed="32.0 GT/s PCIe" link_width="-1"'),),
        ['e24 4:173+4 link_width="-1": less than nothing: NCCL gives up'],
    ),
    (
        (('"0x1022" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x1022" link_speed="32.0 GT/s PCIe" link_width="-1"'),),
        [
            'e24 9:173+4 link_width="-1": less than nothing: NCCL gives up',
            "w26 9:173+4 its PCIe link has -24000 of the adapter's 400000 Mb/s, as NCCL counts",
        ],
    ),
    (
        (('"0xc031" link_speed="32.0 GT/s PCIe" link_width="16"', '"0xc031" link_speed="32.0 GT/s PCIe" link_width="-1"'),),
        ['e24 3:171+4 link_width="-1": less than nothing: NCCL gives up'],
    ),
    ((('"0x2331" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x2331" link_speed="32.0 GT/s PCIe" link_width="8"'),), []),
    (
        (('"0x1022" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x1022" link_speed="32.0 GT/s PCIe" link_width="8"'),),
        ["w26 9:173+3 its PCIe link has 192000 of the adapter's 400000 Mb/s, as NCCL counts"],
    ),
    ((('"0xc031" link_speed="32.0 GT/s PCIe" link_width="16"', '"0xc031" link_speed="32.0 GT/s PCIe" link_width="8"'),), []),
    ((('"0x2331" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x2331" link_speed="32.0 GT/s PCIe" link_width="15"'),), []),
    ((('"0x1022" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x1022" link_speed="32.0 GT/s PCIe" link_width="15"'),), []),
    (
        (('"0x2331" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x2331" link_speed="32.0 GT/s PCIe" link_width="017"'),),
        ['e24 4:173+5 link_width="017": not a whole number as NCCL reads one (it takes 15)'],
    ),
    (
        (('"0x1022" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x1022" link_speed="32.0 GT/s PCIe" link_width="017"'),),
        ['e24 9:173+5 link_width="017": not a whole number as NCCL reads one (it takes 15)'],
    ),
    (
        (('"0xc031" link_speed="32.0 GT/s PCIe" link_width="16"', '"0xc031" link_speed="32.0 GT/s PCIe" link_width="017"'),),
        ['e24 3:171+5 link_width="017": not a whole number as NCCL reads one (it takes 15)'],
    ),
    (
        (('"0x2331" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x2331" link_speed="32.0 GT/s PCIe" link_width="x8"'),),
        ['w24 4:173+4 link_width="x8": not a whole number as NCCL reads one (it takes 0)'],
    ),
    (
        (('"0x1022" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x1022" link_speed="32.0 GT/s PCIe" link_width="x8"'),),
        ['w24 9:173+4 link_width="x8": not a whole number as NCCL reads one (it takes 0)'],
    ),
    (
        (('"0xc031" link_speed="32.0 GT/s PCIe" link_width="16"', '"0xc031" link_speed="32.0 GT/s PCIe" link_width="x8"'),),
        ['w24 3:171+4 link_width="x8": not a whole number as NCCL reads one (it takes 0)'],
    ),
    (
        (('"0x2331" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x2331" link_speed="32.0 GT/s PCIe" link_width="32"'),),
        ["w26 16:173+4 its PCIe link has 384000 Mb/s, as NCCL counts; those of other GPUs have 768000"],
    ),
    (
        (('"0x1022" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x1022" link_speed="32.0 GT/s PCIe" link_width="32"'),),
        ["w26 21:173+4 its PCIe link has 384000 Mb/s, as NCCL counts; those of other adapters have 768000"],
    ),
    (
        (('"0x2331" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x2331" link_speed="" link_width=""'),),
        ["n28 4:145+2 <pci> leaves its link's speed or width empty: NCCL counts generation 3 and 16 lanes"],
    ),
    ((('port="1" guid="0x1a"', 'port="" guid="0x1a"'),), ['w24 11:58+2 port="": empty: NCCL takes 0']),
    (
        (('port="1" guid="0x1a"', 'port="1x" guid="0x1a"'),),
        ['w24 11:58+4 port="1x": not a whole number as NCCL reads one (it takes 1)'],
    ),
    (
        (('port="1" guid="0x1a"', 'port="01" guid="0x1a"'),),
        ['w24 11:58+4 port="01": not a whole number as NCCL reads one (it takes 1)'],
    ),
    ((('maxconn="131072"', 'maxconn=""'),), ['w24 11:94+2 maxconn="": empty: NCCL takes 0']),
    (
        (('maxconn="131072"', 'maxconn="many"'),),
        ['w24 11:94+6 maxconn="many": not a whole number as NCCL reads one (it takes 0)'],
    ),
    ((('maxconn="131072"', 'maxconn="0"'),), []),
    (
        (('maxconn="131072" gdr="1"', 'maxconn="131072" gdr="0"'),),
        ['w26 11:107+3 gdr="0": NCCL copies through the processor, at about half the rate'],
    ),
    (
        (('maxconn="131072" gdr="1"', 'maxconn="131072" gdr="x"'),),
        ['e24 11:107+3 gdr="x": not a whole number as NCCL reads one (it takes 0)'],
    ),
    ((('maxconn="131072" gdr="1"', 'maxconn="131072" gdr="2"'),), []),
    (
        (
            ('maxconn="131072" gdr="1"', 'maxconn="131072" gdr="0"'),
            ('maxconn="131072" gdr="1"', 'maxconn="131072" gdr="0"'),
        ),
        [
            'n26 11:107+3 gdr="0": NCCL copies through the processor, at about half the rate',
            'n26 23:107+3 gdr="0": NCCL copies through the processor, at about half the rate',
        ],
    ),
    (
        (
            ('maxconn="131072" gdr="1"', 'maxconn="131072" gdr="0"'),
            (' maxconn="131072" gdr="1"', ' maxconn="131072"'),
        ),
        [
            'w26 11:107+3 gdr="0": NCCL copies through the processor, at about half the rate',
            "n28 23:11+4 1 <net> without `gdr`: NCCL takes that from the machine",
        ],
    ),
    ((('arch="x86_64"', 'arch="arm64"'),), []),
    ((('arch="x86_64"', 'arch="ppc64le"'),), []),
    ((('arch="x86_64"', 'arch="x86_64v2"'),), []),
    ((('arch="x86_64"', 'arch=""'),), ['e24 2:53+2 arch="": unknown to NCCL']),
    ((('arch="x86_64"', 'arch="i386"'),), ['e24 2:53+6 arch="i386": unknown to NCCL']),
    ((("GenuineIntel", "AuthenticAMD"),), []),
    ((("GenuineIntel", "CentaurHauls"),), []),
    ((("GenuineIntel", "  Shanghai  "),), []),
    ((("GenuineIntel", "Intel"),), ['e24 2:69+7 vendor="Intel": unknown, so NCCL counts no limit between processors']),
    (
        (("GenuineIntel", ""),),
        [
            'w24 2:69+2 vendor="": empty: NCCL takes 0',
            'e24 2:69+2 vendor="": unknown, so NCCL counts no limit between processors',
        ],
    ),
    ((("GenuineIntel", "0x10"),), ['e24 2:69+6 vendor="0x10": unknown, so NCCL counts no limit between processors']),
    (
        (('familyid="6"', 'familyid="5"'),),
        ["w26 2:93+3 NCCL knows family 6 of Intel's processors only, and counts the slowest of them"],
    ),
    (
        (('familyid="6"', 'familyid="7"'),),
        ["w26 2:93+3 NCCL knows family 6 of Intel's processors only, and counts the slowest of them"],
    ),
    ((('familyid="6"', 'familyid="0x6"'),), []),
    ((('familyid="6"', 'familyid=""'),), ['w24 2:93+2 familyid="": empty: NCCL takes 0']),
    ((('familyid="6"', 'familyid="six"'),), ['e24 2:93+5 familyid="six": not a whole number as NCCL reads one (it takes 0)']),
    (
        (
            ("GenuineIntel", "AuthenticAMD"),
            ('familyid="6"', 'familyid="25"'),
        ),
        [],
    ),
    ((("000000ff,ffffffff", "ff"),), []),
    ((("000000ff,ffffffff", "0xFF"),), []),
    ((("000000ff,ffffffff", "1ffffffff"),), ['e24 2:28+11 affinity="1ffffffff": not a mask of processors']),
    ((("000000ff,ffffffff", ""),), []),
    ((("000000ff,ffffffff", "f,g"),), ['e24 2:28+5 affinity="f,g": not a mask of processors']),
    ((("000000ff,ffffffff", "f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f"),), []),
    (
        (("000000ff,ffffffff", "f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f"),),
        ['e24 2:28+67 affinity="f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f,f": not a mask of processors'],
    ),
    (
        (('affinity="000000ff,ffffffff" ', ""),),
        ["e27 2:3+4 <cpu> lacks affinity: the ranks whose GPU is below fill that in, the others do not"],
    ),
    (
        (
            ('affinity="000000ff,ffffffff" ', ""),
            ("GenuineIntel", "AuthenticAMD"),
        ),
        ["e27 2:3+4 <cpu> lacks affinity: the ranks whose GPU is below fill that in, the others do not"],
    ),
    (
        (
            ('affinity="000000ff,ffffffff" ', ""),
            ('arch="x86_64"', 'arch="arm64"'),
        ),
        ["e27 2:3+4 <cpu> lacks affinity: the ranks whose GPU is below fill that in, the others do not"],
    ),
    (
        (('arch="x86_64" ', ""),),
        ["e23 2:3+4 <cpu> lacks `arch`: a rank that keeps this for an adapter of the file does not fill it in, and gives up"],
    ),
    (
        (
            ('arch="x86_64" ', ""),
            ("GenuineIntel", "AuthenticAMD"),
        ),
        ["e23 2:3+4 <cpu> lacks `arch`: a rank that keeps this for an adapter of the file does not fill it in, and gives up"],
    ),
    (
        (('vendor="GenuineIntel" ', ""),),
        ["e23 2:3+4 <cpu> lacks `vendor`: a rank that keeps this for an adapter of the file does not fill it in, and gives up"],
    ),
    (
        (
            ('vendor="GenuineIntel" ', ""),
            ('arch="x86_64"', 'arch="arm64"'),
        ),
        [],
    ),
    (
        (('familyid="6" ', ""),),
        ["e23 2:3+4 <cpu> lacks `familyid`: a rank that keeps this for an adapter of the file does not fill it in, and gives up"],
    ),
    (
        (
            ('familyid="6" ', ""),
            ("GenuineIntel", "AuthenticAMD"),
        ),
        ["e27 2:3+4 <cpu> lacks familyid: the ranks whose GPU is below fill that in, the others do not"],
    ),
    (
        (
            ('familyid="6" ', ""),
            ('arch="x86_64"', 'arch="arm64"'),
        ),
        [],
    ),
    (
        ((' modelid="143"', ""),),
        ["e23 2:3+4 <cpu> lacks `modelid`: a rank that keeps this for an adapter of the file does not fill it in, and gives up"],
    ),
    (
        (
            (' modelid="143"', ""),
            ("GenuineIntel", "AuthenticAMD"),
        ),
        ["e27 2:3+4 <cpu> lacks modelid: the ranks whose GPU is below fill that in, the others do not"],
    ),
    (
        (
            (' modelid="143"', ""),
            ('arch="x86_64"', 'arch="arm64"'),
        ),
        [],
    ),
    ((('numaid="0"', 'numaid=""'),), ['w24 2:15+2 numaid="": empty: NCCL takes 0']),
    ((('numaid="0"', 'numaid="-1"'),), []),
    ((('numaid="0"', 'numaid="1.5"'),), ['e24 2:15+5 numaid="1.5": not a whole number as NCCL reads one (it takes 1)']),
    (((' sm="90" rank="0"', ""),), ["n28 5:9+4 1 <gpu> without `sm`, `rank`: NCCL takes that from the machine"]),
    (((' rank="0" gdr="1"', ""),), ["n28 5:9+4 1 <gpu> without `rank`, `gdr`: NCCL takes that from the machine"]),
    (((' gdr="1">', ">"),), ["n28 5:9+4 1 <gpu> without `gdr`: NCCL takes that from the machine"]),
    (((' dev="0"', ""),), ["n28 5:9+4 1 <gpu> without `dev`: NCCL takes that from the machine"]),
    (
        ((' class="0x060400" vendor="0x1000" device="0xc030"', ""),),
        [
            "e23 3:5+4 <pci> lacks `class`: a rank that keeps this for an adapter of the file does not fill it in, and gives up",
            "e23 3:5+4 a bus id that no machine has, and no `class`: NCCL gives up",
            "e27 3:5+4 <pci> lacks vendor, device: the ranks whose GPU is below fill that in, the others do not",
        ],
    ),
    (((' vendor="0x10de"', ""),), ["n28 4:7+4 1 <pci> without `vendor`: NCCL takes that from the machine"]),
    (
        ((' vendor="0x15b3" device="0x1021"', ""),),
        ["n28 9:7+4 1 <pci> without `vendor`, `device`: NCCL takes that from the machine"],
    ),
    (
        ((' link_width="16"', ""),),
        [
            "e23 3:5+4 <pci> lacks `link_width`: a rank that keeps this for an adapter of the file does not fill it in, and gives up"
        ],
    ),
    (
        ((' link_speed="32.0 GT/s PCIe"', ""),),
        [
            "e23 3:5+4 <pci> lacks `link_speed`: a rank that keeps this for an adapter of the file does not fill it in, and gives up"
        ],
    ),
    (((' tclass="0x068000"', ""),), ["n28 6:11+7 1 <nvlink> without `tclass`: NCCL takes that from the machine"]),
    (((' target="fffffff:ffff:ff"', ""),), ["n28 6:11+7 1 <nvlink> without `target`: NCCL takes that from the machine"]),
    (((' count="18"', ""),), ["e23 6:11+7 <nvlink> lacks `count`: NCCL gives up"]),
    (((' name="mlx5_0"', ""),), ["e23 11:11+4 <net> lacks `name`: no adapter matches it, and NCCL drops it"]),
    (((' busid="0000:1b:00.0"', ""),), ["e23 4:7+4 <pci> lacks `busid`: NCCL gives up"]),
    (((' version="1"', ""),), ["e23 1:1+7 <system> lacks `version`: NCCL gives up"]),
    (
        (('"0x2331" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x2331" link_width="16"'),),
        ["n28 4:7+4 1 <pci> without `link_speed`: NCCL takes that from the machine"],
    ),
    (
        (('"0x2331" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x2331" link_speed="32.0 GT/s PCIe"'),),
        ["n28 4:7+4 1 <pci> without `link_width`: NCCL takes that from the machine"],
    ),
    (
        (('"0x1022" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x1022" link_width="16"'),),
        [
            "e23 9:7+4 <pci> lacks `link_speed`: a rank that keeps this for an adapter of the file does not fill it in, and gives up"
        ],
    ),
    (
        (('"0x1022" link_speed="32.0 GT/s PCIe" link_width="16"', '"0x1022" link_speed="32.0 GT/s PCIe"'),),
        [
            "e23 9:7+4 <pci> lacks `link_width`: a rank that keeps this for an adapter of the file does not fill it in, and gives up"
        ],
    ),
    (
        (
            (' name="mlx5_0"', ""),
            (' name="mlx5_3"', ""),
            (' link_width="16"', ""),
            (' familyid="6"', ""),
        ),
        [
            "n28 2:3+4 1 <cpu> without `familyid`: NCCL takes that from the machine",
            "n28 3:5+4 1 <pci> without `link_width`: NCCL takes that from the machine",
            "e23 11:11+4 <net> lacks `name`: no adapter matches it, and NCCL drops it",
            "e23 23:11+4 <net> lacks `name`: no adapter matches it, and NCCL drops it",
        ],
    ),
    (
        (
            (' name="mlx5_0"', ""),
            (' name="mlx5_3"', ""),
            (' vendor="0x1000"', ""),
            (' affinity="000000ff,ffffffff"', ""),
        ),
        [
            "n28 2:3+4 1 <cpu> without `affinity`: NCCL takes that from the machine",
            "n28 3:5+4 1 <pci> without `vendor`: NCCL takes that from the machine",
            "e23 11:11+4 <net> lacks `name`: no adapter matches it, and NCCL drops it",
            "e23 23:11+4 <net> lacks `name`: no adapter matches it, and NCCL drops it",
        ],
    ),
    (((NVLINK + "\n", "\n"),), ["n28 5:9+4 1 <gpu> without `nvlink`: NCCL takes that from the machine"]),
    (
        (
            (NVLINK + "\n", "\n"),
            (NVLINK + "\n", "\n"),
        ),
        ["n28 5:9+4 2 <gpu> without `nvlink`: NCCL takes that from the machine"],
    ),
    ((("<nic>\n", "<nic/><nic>\n"),), ["e22 10:15+4 NCCL reads the first <nic> of a <pci> only"]),
    (
        (
            (' sm="90" rank="0"', ' rank="0"'),
            (' sm="90" rank="1"', ' rank="1"'),
        ),
        ["n28 5:9+4 2 <gpu> without `sm`: NCCL takes that from the machine"],
    ),
    (
        (('rank="1"', 'rank="0"'),),
        ['w26 5:35+3 rank="0" occurs 2 times; NCCL uses the first', 'w26 17:35+3 rank="0" occurs 2 times; NCCL uses the first'],
    ),
    (
        (('gpu dev="1"', 'gpu dev="0"'),),
        ['e26 5:18+3 dev="0" occurs 2 times; NCCL uses the first', 'e26 17:18+3 dev="0" occurs 2 times; NCCL uses the first'],
    ),
    (
        (('dev="1" speed', 'dev="0" speed'),),
        ['w26 11:34+3 dev="0" occurs 2 times; NCCL uses the first', 'w26 23:34+3 dev="0" occurs 2 times; NCCL uses the first'],
    ),
    (
        (("mlx5_3", "mlx5_0"),),
        [
            'e26 11:21+8 name="mlx5_0" occurs 2 times; NCCL uses the first',
            'e26 23:21+8 name="mlx5_0" occurs 2 times; NCCL uses the first',
        ],
    ),
    (
        (
            ('gpu dev="1"', 'gpu dev="-1"'),
            ('gpu dev="0"', 'gpu dev="-1"'),
        ),
        [
            'e24 5:18+4 dev="-1": NCCL takes -1 for a GPU that is not there',
            'e24 17:18+4 dev="-1": NCCL takes -1 for a GPU that is not there',
        ],
    ),
    (
        (("0000:43:00.0", "0000:1b:00.0"),),
        [
            'e26 4:18+14 busid="0000:1b:00.0" occurs 2 times; NCCL uses the first',
            'e26 16:18+14 busid="0000:1b:00.0" occurs 2 times; NCCL uses the first',
        ],
    ),
    (
        (("</cpu>", '</cpu><cpu numaid="0"/>'),),
        [
            'e26 2:15+3 numaid="0" occurs 2 times; NCCL uses the first',
            "n28 27:9+4 1 <cpu> without `affinity`, `arch`, `vendor`, `familyid`, `modelid`: NCCL takes that from the machine",
            'e26 27:21+3 numaid="0" occurs 2 times; NCCL uses the first',
        ],
    ),
    ((("</cpu>", '</cpu><cpu numaid="1" affinity="f" arch="arm64"/>'),), []),
    (
        (('gpu dev="0"', 'gpu dev="2"'),),
        ["w26 5:18+3 `dev` of the GPUs is not in the order of their bus ids, so NCCL pairs GPUs with adapters of others"],
    ),
    (
        (
            ('gpu dev="0"', 'gpu dev="1"'),
            ('gpu dev="1" sm="90" rank="1"', 'gpu dev="0" sm="90" rank="1"'),
        ),
        ["w26 5:18+3 `dev` of the GPUs is not in the order of their bus ids, so NCCL pairs GPUs with adapters of others"],
    ),
    (
        (
            ("0000:1b:00.0", "10000:1b:00.0"),
            ('gpu dev="0"', 'gpu dev="1"'),
            ('gpu dev="1" sm="90" rank="1"', 'gpu dev="0" sm="90" rank="1"'),
        ),
        [],
    ),
    (
        (
            ('count="18"', 'count="9"'),
            (
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="9"',
            ),
        ),
        [
            "w26 6:50+3 9 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 9",
            "w26 18:50+3 9 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 9",
        ],
    ),
    (
        (
            ('count="18"', 'count="9"'),
            (
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="8"',
            ),
        ),
        [
            "w26 6:50+3 9 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 9",
            "w26 18:50+3 8 NVLinks, and another GPU has 9: NCCL plans all channels for the fewest",
        ],
    ),
    (
        (
            ('count="18"', 'count="19"'),
            (
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="19"',
            ),
        ),
        [
            "e26 6:50+4 19 NVLinks, and a GPU of sm 90 has 18: NCCL plans with all",
            "e26 18:50+4 19 NVLinks, and a GPU of sm 90 has 18: NCCL plans with all",
        ],
    ),
    (
        (
            ('count="18"', 'count="1"'),
            (
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="1"',
            ),
        ),
        [
            "w26 6:50+3 1 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 1",
            "w26 18:50+3 1 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 1",
        ],
    ),
    (
        (
            ('count="18"', 'count="0"'),
            (
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="0"',
            ),
        ),
        ['e24 6:50+3 count="0": no links', 'e24 18:50+3 count="0": no links'],
    ),
    (
        (
            ('count="18"', 'count="-1"'),
            (
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
            ),
        ),
        [
            'e24 6:50+4 count="-1": no links',
            "w26 6:50+4 -1 NVLinks, and another GPU has 18: NCCL plans all channels for the fewest",
        ],
    ),
    (
        (
            ('count="18"', 'count="x"'),
            (
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
            ),
        ),
        ['e24 6:50+3 count="x": not a whole number as NCCL reads one (it takes 0)'],
    ),
    (
        (
            ('count="18"', 'count=""'),
            (
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
            ),
        ),
        ['w24 6:50+2 count="": empty: NCCL takes 0'],
    ),
    (
        (
            ('count="18"', 'count="17"'),
            (
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
                '<gpu dev="1" sm="90" rank="1" gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="18"',
            ),
        ),
        ["w26 6:50+4 17 NVLinks, and another GPU has 18: NCCL plans all channels for the fewest"],
    ),
    (
        (
            (NVLINK, '<nvlink target="0000:43:00.0" count="18" tclass="0x030200"/>'),
            (NVLINK, '<nvlink target="0000:1b:00.0" count="18" tclass="0x030200"/>'),
        ),
        [],
    ),
    (
        (
            (NVLINK, '<nvlink target="0000:43:00.0" count="4" tclass="0x030200"/>'),
            (NVLINK, '<nvlink target="0000:1b:00.0" count="4" tclass="0x030200"/>'),
        ),
        [],
    ),
    (
        (
            (NVLINK, '<nvlink target="0000:43:00.0" count="4" tclass="0x030200"/>'),
            (NVLINK, '<nvlink target="0000:1b:00.0" count="5" tclass="0x030200"/>'),
        ),
        [
            "e26 6:26+14 4 NVLinks from 0000:1b:00.0 to 0000:43:00.0, but 5 back",
            "w26 6:47+3 4 NVLinks, and another GPU has 5: NCCL plans all channels for the fewest",
            "e26 18:26+14 5 NVLinks from 0000:43:00.0 to 0000:1b:00.0, but 4 back",
        ],
    ),
    (
        (
            (NVLINK, '<nvlink target="0000:1b:00.0" count="18" tclass="0x030200"/>'),
            (NVLINK, '<nvlink target="0000:1b:00.0" count="18" tclass="0x030200"/>'),
        ),
        [
            "w26 6:26+14 NVLinks from a GPU to itself: NCCL makes no use of them",
            "e26 18:26+14 18 NVLinks from 0000:43:00.0 to 0000:1b:00.0, but 0 back",
        ],
    ),
    (
        (
            (NVLINK, '<nvlink target="0000:77:00.0" count="18" tclass="0x030200"/>'),
            (NVLINK, '<nvlink target="0000:1b:00.0" count="18" tclass="0x030200"/>'),
        ),
        [
            "e26 6:26+14 no <pci> has busid 0000:77:00.0: NCCL drops these NVLinks",
            "e26 18:26+14 18 NVLinks from 0000:43:00.0 to 0000:1b:00.0, but 0 back",
        ],
    ),
    (
        (
            (
                NVLINK,
                '<nvlink target="0000:43:00.0" count="4" tclass="0x030200"/><nvlink target="0000:43:00.0" count="4" tclass="0x030200"/>',
            ),
            (NVLINK, '<nvlink target="0000:1b:00.0" count="8" tclass="0x030200"/>'),
        ),
        [],
    ),
    (
        (
            (NVLINK, NVLINK + NVLINK),
            (NVLINK, '<nvlink target="fffffff:ffff:ff" count="9" tclass="0x068000"/>'),
        ),
        [
            "e26 6:50+3 27 NVLinks, and a GPU of sm 90 has 18: NCCL plans with all",
            "w26 18:50+4 18 NVLinks, and another GPU has 27: NCCL plans all channels for the fewest",
        ],
    ),
    (
        (
            (
                NVLINK,
                '<nvlink target="fffffff:ffff:ff" count="9" tclass="0x068000"/><nvlink target="fffffff:ffff:ff" count="9" tclass="0x068000"/>',
            ),
        ),
        [],
    ),
    (
        (
            (
                NVLINK,
                '<nvlink target="fffffff:ffff:ff" count="9" tclass="0x068000"/><nvlink target="fffffff:ffff:ff" count="9" tclass="0x068000"/>',
            ),
            (
                'gdr="1">\n          ' + NVLINK,
                'gdr="1">\n          <nvlink target="fffffff:ffff:ff" count="6" tclass="0x068000"/><nvlink target="fffffff:ffff:ff" count="6" tclass="0x068000"/><nvlink target="fffffff:ffff:ff" count="6" tclass="0x068000"/>',
            ),
        ),
        [],
    ),
    ((('vendor="0x10de" device="0x2330"', 'vendor="0x10de" device="0x20BD"'),), []),
    (
        (
            ('vendor="0x10de" device="0x2330"', 'vendor="0x10de" device="0x20BD"'),
            ('count="18"', 'count="8"'),
            ('count="18"', 'count="8"'),
        ),
        ["w26 18:50+3 8 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 8"],
    ),
    ((('vendor="0x10de" device="0x2330"', 'vendor="0x10de" device="0x2324"'),), []),
    (
        (
            ('vendor="0x10de" device="0x2330"', 'vendor="0x10de" device="0x2324"'),
            ('count="18"', 'count="8"'),
            ('count="18"', 'count="8"'),
        ),
        ["w26 18:50+3 8 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 8"],
    ),
    (
        (('vendor="0x10de" device="0x2330"', 'vendor="0x10de" device="0x20b0"'),),
        ['w26 5:25+4 sm="90", and device 0x20b0 has 80: NCCL plans for another generation'],
    ),
    (
        (
            ('vendor="0x10de" device="0x2330"', 'vendor="0x10de" device="0x20b0"'),
            ('count="18"', 'count="8"'),
            ('count="18"', 'count="8"'),
        ),
        [
            'w26 5:25+4 sm="90", and device 0x20b0 has 80: NCCL plans for another generation',
            "w26 6:50+3 8 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 8",
            "w26 18:50+3 8 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 8",
        ],
    ),
    (
        (('vendor="0x10de" device="0x2330"', 'vendor="0x10de" device="0x2901"'),),
        ['w26 5:25+4 sm="90", and device 0x2901 has 100: NCCL plans for another generation'],
    ),
    (
        (
            ('vendor="0x10de" device="0x2330"', 'vendor="0x10de" device="0x2901"'),
            ('count="18"', 'count="8"'),
            ('count="18"', 'count="8"'),
        ),
        [
            'w26 5:25+4 sm="90", and device 0x2901 has 100: NCCL plans for another generation',
            "w26 6:50+3 8 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 8",
            "w26 18:50+3 8 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 8",
        ],
    ),
    ((('vendor="0x10de" device="0x2330"', 'vendor="0x10de" device="0x9999"'),), []),
    (
        (
            ('vendor="0x10de" device="0x2330"', 'vendor="0x10de" device="0x9999"'),
            ('count="18"', 'count="8"'),
            ('count="18"', 'count="8"'),
        ),
        [
            "w26 6:50+3 8 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 8",
            "w26 18:50+3 8 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 8",
        ],
    ),
    ((('vendor="0x10de" device="0x2330"', 'vendor="0x10de" device="2330"'),), []),
    (
        (
            ('vendor="0x10de" device="0x2330"', 'vendor="0x10de" device="2330"'),
            ('count="18"', 'count="8"'),
            ('count="18"', 'count="8"'),
        ),
        [
            "w26 6:50+3 8 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 8",
            "w26 18:50+3 8 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 8",
        ],
    ),
    ((('vendor="0x10de" device="0x2330"', 'vendor="0x1002" device="0x20b0"'),), []),
    (
        (
            (NVLINK, '<nvlink target="fffffff:ffff:ff" count="8" tclass="0x068000"/>'),
            (NVLINK, '<nvlink target="fffffff:ffff:ff" count="8" tclass="0x068000"/>'),
        ),
        [
            "w26 6:50+3 8 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 8",
            "w26 18:50+3 8 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 8",
        ],
    ),
    (
        (
            (
                NVLINK,
                '<nvlink target="fffffff:ffff:ff" count="8" tclass="0x068000"/><nvlink target="fffffff:ffff:ff" count="2"/>',
            ),
            (NVLINK, '<nvlink target="fffffff:ffff:ff" count="10" tclass="0x068000"/>'),
        ),
        [
            "n28 6:73+7 1 <nvlink> without `tclass`: NCCL takes that from the machine",
            "w26 18:50+4 10 of the 18 NVLinks of a GPU of sm 90: NCCL plans with 10",
        ],
    ),
    (((' tclass="0x068000"', ' tclass="0x068001"'),), []),
    (((' tclass="0x068000"', ' tclass="0x0680"'),), ['w24 6:62+8 tclass="0x0680": NCCL takes it for an NVSwitch']),
    (
        ((' tclass="0x068000"', ' tclass="0x030000"'),),
        ["e26 6:26+17 no <pci> has busid fffffff:ffff:ff: NCCL drops these NVLinks"],
    ),
    (((' tclass="0x068000"', ' tclass="0x02"'),), ['w24 6:62+6 tclass="0x02": NCCL takes it for an NVSwitch']),
    (
        ((' target="fffffff:ffff:ff" count="18" tclass="0x068000"', ' count="18" tclass="0x03"'),),
        ["e23 6:11+7 <nvlink> lacks `target`: NCCL gives up"],
    ),
    (
        ((' target="fffffff:ffff:ff" count="18" tclass="0x068000"', ' count="18"'),),
        ["n28 6:11+7 1 <nvlink> without `target`, `tclass`: NCCL takes that from the machine"],
    ),
    (
        (("</nic>", "</nic><nic/><nic/>"),),
        ["e22 12:15+4 NCCL reads the first <nic> of a <pci> only", "e22 12:21+4 NCCL reads the first <nic> of a <pci> only"],
    ),
    (
        (("</nic>", '</nic><pci busid="0000:19:00.0" class="0x040000"/>'),),
        [
            "e22 12:15+4 NCCL never comes to a <pci> below an adapter",
            "n28 12:15+4 1 <pci> without `link_speed`, `link_width`, `vendor`, `device`, `subsystem_vendor`, `subsystem_device`: NCCL takes that from the machine",
            'w24 12:47+10 class="0x040000": unknown, so NCCL takes it for a switch',
        ],
    ),
    (
        (("</gpu>", '</gpu><pci busid="0000:19:00.0" class="0x060400"/><pci busid="0000:19:01.0"/>'),),
        [
            "e22 7:15+4 NCCL never comes to a <pci> below a GPU",
            "n28 7:15+4 1 <pci> without `link_speed`, `link_width`, `vendor`, `device`, `subsystem_vendor`, `subsystem_device`: NCCL takes that from the machine",
            "e22 7:59+4 NCCL never comes to a <pci> below a GPU",
            "n28 7:59+4 1 <pci> without `class`, `link_speed`, `link_width`, `vendor`, `device`, `subsystem_vendor`, `subsystem_device`: NCCL takes that from the machine",
        ],
    ),
    (
        (('<gpu dev="0" sm="90" rank="0" gdr="1">', '<gpu dev="0" sm="90" rank="0" gdr="1" keep="1">'),),
        [
            'w24 5:52+3 keep="1": NCCL\'s own mark: every rank then keeps this GPU',
            "e26 5:52+3 `keep` and `rank` together: other ranks then have the GPU twice",
        ],
    ),
    (
        (('<gpu dev="0" sm="90" rank="0" gdr="1">', '<gpu dev="0" sm="90" keep="1" gdr="1">'),),
        [
            "n28 5:9+4 1 <gpu> without `rank`: NCCL takes that from the machine",
            'w24 5:35+3 keep="1": NCCL\'s own mark: every rank then keeps this GPU',
        ],
    ),
    ((('maxconn="131072" gdr="1"/>', 'maxconn="131072" gdr="1" keep="1"/>'),), []),
    (
        (("</gpu>", '</gpu><nic><net name="mlx5_9" dev="9"/></nic>'),),
        [
            "e26 7:20+4 two devices in one <pci>: ranks disagree, and NCCL loses one",
            "n28 7:20+4 1 <net> without `speed`, `port`, `guid`, `latency`, `maxconn`, `gdr`: NCCL takes that from the machine",
        ],
    ),
    (
        (("</gpu>", '</gpu><gpu dev="7" sm="90" rank="7" gdr="1"/>'),),
        [
            "w26 5:18+3 `dev` of the GPUs is not in the order of their bus ids, so NCCL pairs GPUs with adapters of others",
            "e26 7:15+4 two devices in one <pci>: ranks disagree, and NCCL loses one",
            "n28 7:15+4 1 <gpu> without `nvlink`: NCCL takes that from the machine",
        ],
    ),
    ((("</nic>", '<net name="mlx5_1" dev="7" speed="400000" port="2" guid="0x1a" latency="0" maxconn="1" gdr="1"/></nic>'),), []),
    (((NVLINK, NVLINK + '<c2c count="0" bw="1"/>'),), ["w26 6:74+4 NVLink-C2C without bandwidth: NCCL uses PCIe"]),
    (((NVLINK, NVLINK + '<c2c count="1" bw="0"/>'),), ["w26 6:74+4 NVLink-C2C without bandwidth: NCCL uses PCIe"]),
    (((NVLINK, NVLINK + '<c2c count="1" bw="1"/>'),), []),
    (
        ((NVLINK, NVLINK + '<c2c count="x" bw="1"/>'),),
        ['e24 6:85+3 count="x": not a whole number as NCCL reads one (it takes 0)'],
    ),
    (((NVLINK, NVLINK + '<c2c count="" bw="1"/>'),), ['w24 6:85+2 count="": empty: NCCL takes 0']),
    (((NVLINK, NVLINK + '<c2c bw="1"/>'),), ["e23 6:74+4 <c2c> lacks `count`: NCCL gives up"]),
    (((NVLINK, NVLINK + '<c2c count="1"/>'),), ["e23 6:74+4 <c2c> lacks `bw`: NCCL gives up"]),
    (
        (
            (
                'link_width="16">\n      <pci busid="0000:1b',
                'link_width="16"><pcilink target="ffff:ff:02.0"/>\n      <pci busid="0000:1b',
            ),
        ),
        ["e26 3:192+14 <pcilink> to ffff:ff:02.0, which has none back: NCCL gives up"],
    ),
    (
        (
            (
                'link_width="16">\n      <pci busid="0000:1b',
                'link_width="16"><pcilink target="ffff:ff:02.0"/>\n      <pci busid="0000:1b',
            ),
            (
                'link_width="16">\n      <pci busid="0000:43',
                'link_width="16"><pcilink target="ffff:ff:01.0"/>\n      <pci busid="0000:43',
            ),
        ),
        [],
    ),
    (
        (('link_width="16">\n      <pci busid="0000:1b', 'link_width="16"><pcilink/>\n      <pci busid="0000:1b'),),
        ["e23 3:176+8 <pcilink> lacks `target`: NCCL gives up"],
    ),
    (
        (
            (ADAPTER_18, ""),
            ("  </cpu>", ADAPTER_18 + "  </cpu>"),
        ),
        ["w26 4:7+4 1 of 2 GPUs have no adapter below their PCIe switch, others have: NCCL plans for the farthest"],
    ),
    (
        (
            (ADAPTER_18, ""),
            (ADAPTER_40, ""),
            ("  </cpu>", ADAPTER_18 + ADAPTER_40 + "  </cpu>"),
        ),
        ["w26 17:7+4 no adapter is below the PCIe switch of a GPU: NCCL counts every path through the processor"],
    ),
    (
        (
            (ADAPTER_18, ""),
            (ADAPTER_40, ""),
            (GPU_1B, ""),
            (GPU_43, ""),
            ("  </cpu>", ADAPTER_18 + ADAPTER_40 + GPU_1B + GPU_43 + "  </cpu>"),
        ),
        [],
    ),
    (
        (
            (GPU_1B, ""),
            (GPU_43, ""),
            ("  </cpu>", GPU_1B + GPU_43 + "  </cpu>"),
        ),
        [],
    ),
    (
        (
            (GPU_1B, ""),
            ("  </cpu>", GPU_1B + "  </cpu>"),
        ),
        [
            "w26 4:7+4 1 adapters are below a PCIe switch without a GPU, and 1 GPUs have none beside them",
            "w26 22:7+4 1 of 2 GPUs have no adapter below their PCIe switch, others have: NCCL plans for the farthest",
        ],
    ),
    (
        (
            (ADAPTER_18, ""),
            (GPU_43, ADAPTER_18),
            (GPU_1B, GPU_1B + GPU_43),
        ),
        ["w26 16:7+4 2 adapters are below a PCIe switch without a GPU, and 2 GPUs have none beside them"],
    ),
    (
        (
            (ADAPTER_18, ""),
            (ADAPTER_40, ""),
        ),
        [],
    ),
    (
        (
            (GPU_1B, ""),
            (GPU_43, ""),
        ),
        [],
    ),
    (
        (
            (ADAPTER_40, ""),
            (ADAPTER_18, ADAPTER_18 + ADAPTER_40),
        ),
        ["w26 21:7+4 1 of 2 GPUs have no adapter below their PCIe switch, others have: NCCL plans for the farthest"],
    ),
    (((GPU_43, ""),), []),
]

HELPS = {
    "0 to 31",
    "0x068000 for an NVSwitch, 0x030200 for a GPU",
    "10 × major + minor: 90 for compute capability 9.0",
    "32-bit words in hexadecimal, highest first, such as 000000ff,ffffffff",
    "a guid belongs to one adapter, a port to one of its sockets",
    "count the NVLinks of each target",
    "give each a <pci> with its own busid",
    "give each its own",
    "known beginnings: 0x060400, 0x080100, 0x068000, 0x068001, 0x03, 0x02",
    "known: GenuineIntel, AuthenticAMD, CentaurHauls",
    "known: x86_64, arm64, ppc64",
    "leave both out",
    "leave it out",
    "leave it out: NCCL asks the machine",
    "list them at both GPUs, with one count",
    "microseconds, such as 0 or 1.5",
    "name the NVSwitch or the other GPU",
    "nothing to do where NCCL can see it",
    "number them by busid",
    "put all its <net> into one",
    "put each adapter below the switch that it is connected to",
    "put it beside, below the switch",
    "put the adapter below the switch that it is connected to",
    "put the adapter below the switch that it is connected to, beside its GPU",
    "such as 16 or 0x10",
    "the function of a GPU is 0, 4, 8 or c",
    "the number of lanes, such as 16",
    "write 400000 for 400 Gb/s",
    'write <pcilink target="ffff:ff:01.0"/> at ffff:ff:02.0',
    'write arch="…"',
    'write busid="…"',
    'write bw="…"',
    'write class="0x030200"',
    'write class="0x060400"',
    'write class="0x060400", a PCIe switch',
    'write class="…"',
    'write count="…"',
    'write familyid="6"',
    'write familyid="…"',
    "write how many there are",
    "write it in Mb/s, 400000 for 400 Gb/s, or leave it out: NCCL asks the machine",
    "write it like 0000:1b:00.0: four digits of domain, lower case",
    "write its count and Mb/s, or leave <c2c> out",
    'write link_speed="…"',
    'write link_width="…"',
    'write modelid="…"',
    'write name="…"',
    'write sm="100", or leave it out',
    'write sm="80", or leave it out',
    'write sm="90", or leave it out',
    'write such as "32.0 GT/s PCIe"',
    "write such as 0xa088c20300123456",
    'write target="…"',
    "write the bus id as at that GPU",
    "write the link's own speed and width",
    "write the number, or leave it out",
    "write the same for GPUs of one model",
    "write them if they differ",
    "write them, or leave the adapters below to NCCL",
    'write vendor="…"',
    'write version="…"',
}


def changed(changes: Changes) -> SourceFile:
    text = HOST
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return SourceFile("topo.xml", text)


def test_the_host_has_no_findings() -> None:
    assert lint_nccl_file(SourceFile("topo.xml", HOST)) == []


@pytest.mark.parametrize(("changes", "wanted"), CASES, ids=range(len(CASES)))
def test_findings(changes: Changes, wanted: list[str]) -> None:
    found = []
    for d in lint_nccl_file(changed(changes)):
        assert d.span is not None and d.help in HELPS
        line, column = d.span.begin
        found.append(f"{d.severity.word[0]}{d.code[3:]} {line}:{column}+{d.span.end - d.span.start} {d.message}")
    assert found == wanted


@pytest.mark.parametrize(
    ("element", "more", "wanted"),
    [
        ('<gpu dev="0"', 10, []),
        ('<gpu dev="0"', 11, ["w25 5:9+4 15 attributes, and NCCL adds up to 2: it has room for 16"]),
        ('<gpu dev="0"', 12, ["w25 5:9+4 16 attributes, and NCCL adds up to 2: it has room for 16"]),
        ('<gpu dev="0"', 13, ["e25 5:9+4 17 attributes: NCCL keeps 16 and writes its own beyond them"]),
        ('<nvlink target="fffffff:ffff:ff"', 13, []),
        ('<cpu numaid="0"', 9, []),
        ('<cpu numaid="0"', 10, ["w25 2:3+4 16 attributes, and NCCL adds up to 1: it has room for 16"]),
    ],
)
def test_numbers_of_attributes(element: str, more: int, wanted: list[str]) -> None:
    found = []
    for d in lint_nccl_file(changed(((element, element + "".join(f' a{n}="1"' for n in range(more))),))):
        assert d.span is not None
        line, column = d.span.begin
        if d.code == "E0525":
            found.append(f"{d.severity.word[0]}{d.code[3:]} {line}:{column}+{d.span.end - d.span.start} {d.message}")
    assert found == wanted


def test_functions_alone_have_places() -> None:
    """A processor may hold several <nic>; a GPU's function that holds an adapter, too, must say its link."""
    assert lint_nccl_file(changed((("</cpu>", "<nic/><nic/></cpu>"),))) == []
    speed = ('"0x2331" link_speed="32.0 GT/s PCIe"', '"0x2331"')
    inside = ("</gpu>", '</gpu><nic><net name="mlx5_9" dev="9"/></nic>')
    assert [d.code for d in lint_nccl_file(changed((speed,)))] == ["E0528"]
    assert [(d.code, d.message.split(":")[0]) for d in lint_nccl_file(changed((speed, inside))) if "link_speed" in d.message] == [
        ("E0523", "<pci> lacks `link_speed`")
    ]


def test_a_generation_that_is_no_number() -> None:
    """It is told by itself, and the other GPUs are not compared with it."""
    found = lint_nccl_file(changed((('sm="90" rank="0"', 'sm="" rank="0"'),)))
    assert found and not [d.message for d in found if "beside" in d.message or "None" in d.message]
