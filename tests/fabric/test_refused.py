"""Connects that are refused: code, message and help of each; and bundles, whose numbers are counted."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric.cables import bundles
from tests.harness import compile_text, fabric_of

DEVICES = """fabric f {
switch a[2]: SW
switch b[3]: SW
switch w[3]: BIG
chip c[2, 3]: GPU
host h[2]: BOX
panel q[2]: PATCH
switch n[2]: NONE
panel m[2]: EMPTY
switch t[2]: ANY
"""
MODELS = """
model switch NONE { }
model panel EMPTY { }
model switch ANY { port p[4]: any }
"""
CHOOSE = "use more devices, fewer links, or a model with more ports"
EVEN = "write how many each gives: `spread x K`; or name the ports that are meant: `.p[33..64]`"
JOINED = "each, spread, pairs, ring, mesh, torus, random"

NAMES = "write 1 to 512 characters without control characters, and no space at its ends"
REFUSED = {
    "connect a to b[0]": ("E0453", "this means 2 devices at once, and no pattern says how they are joined",
        f"give them an index variable instead of `*`, or write a pattern: {JOINED}"),
    "connect b[0] to a": ("E0453", "this means 2 devices at once, and no pattern says how they are joined",
        f"give them an index variable instead of `*`, or write a pattern: {JOINED}"),
    "connect a[0]": ("E0453", "one end alone: say what it is joined to, or by which pattern its members are joined",
        "`connect A to B`, or `connect A[*] each`, `ring`, `mesh`, `torus`, `spread`"),
    "connect a[0] to b[0] x 0": ("E0120", "`x 0` makes no link", "leave the connect out, or guard it with `if`"),
    "connect b[i] to w[i] x (i - 1)": ("E0120", "`x -1` makes no link", "leave the connect out, or guard it with `if`"),
    "connect a[*] ring x 0": ("E0111", "this must be a whole number of at least 1", ""),
    "connect a[*] rong": ("E0101", "there is no pattern `rong` here", "did you mean `ring`?"),
    "connect a[*] ring shift 2": ("E0457", "`shift` means nothing after `ring`", "`ring` takes no further words, except `x N`"),
    "connect a[*] to a[*] pairs degree 3": ("E0457", "`degree` means nothing after `pairs`",
        "`pairs` may be followed by `shift`"),
    "connect a[*] random shift 3": ("E0457", "`shift` means nothing after `random`",
        "`random` may be followed by `degree` and `seed`"),
    "connect a[*] to b[*] ring": ("E0457", "`ring` connects the members of one set of devices and takes no `to`", ""),
    "connect a[*] to b[*] mesh": ("E0457", "`mesh` connects the members of one set of devices and takes no `to`", ""),
    "connect a[*] to b[*] random degree 1 seed 1": ("E0457",
        "`random` connects the members of one set of devices and takes no `to`", ""),
    "connect a[*] pairs": ("E0457", "`pairs` connects two sets of devices", "`connect A[*] to B[*] pairs`"),
    "connect a[*] to b[*] pairs": ("E0457", "`pairs` connects two sets of the same size; these have 2 and 3 members", ""),
    "connect a[*] random degree 3": ("E0457", "a random graph is given by its degree and a seed", "`random degree 4 seed 1`"),
    "connect a[*] random seed 3": ("E0457", "a random graph is given by its degree and a seed", "`random degree 4 seed 1`"),
    "connect a[*] spread any": ("E0457", "`spread any` distributes links over a second set of devices",
        "add `to` and that set, or write `spread uneven`"),
    "connect a[*] to a[*] pairs": ("E0456", "this joins a[0] to itself (and 1 more)",
        "write `connect A each` to connect the members of one set of devices"),
    "connect a[i] to a[j]": ("E0456", "this joins a[0] to itself (and 1 more)",
        "keep it out with a guard: `where i != j`, or `where i < j` if each pair is meant once"),
    "connect a[0] to b[0] via b[1]": ("E0457", "`via` crosses a panel or an OCS, and this is a switch", ""),
    "connect a[*] to b[*] each via q[*]": ("E0453", "a link crosses one panel or OCS, and this names several",
        "compute which: `via ocs[i % 16]`"),
    "connect a[0] to b[0] { rate 400Gbps, 200Gbps }": ("E0120", "`rate` lists 2 values for links without dimensions",
        "one value, or one a dimension"),
    "connect c[*, *] torus { rate 400Gbps, 200Gbps, 100Gbps }": ("E0120", "`rate` lists 3 values for 2 dimensions",
        "one value, or one a dimension"),
    "connect a[0].p[1] to b[0]; connect a[*] to b[*] spread": ("E0454",
        "a[0] has 7 free ports and a[1] has 8, so their links cannot be distributed evenly", EVEN),
    "connect a[0] to b[0] x 8; connect a[*] to b[*] spread": ("E0454",
        "a[0] has 0 free ports and a[1] has 8, so their links cannot be distributed evenly", EVEN),
    "connect a[0] to w[0] x 8; connect a[1] to w[1] x 8; connect a[*] to b[*] spread": ("E0452",
        "a[0] has no free port left to spread", ""),
    "connect a[0] to b[0] x 3 { bundle 2 }": ("E0214", "3 links join two devices here, which is not a multiple of 2",
        "write `bundle 3`"),
    "connect a[0] to b[0] x 4 { bundle 3 }": ("E0214", "4 links join two devices here, which is not a multiple of 3",
        "write `bundle 4`"),
    "connect a[0] to b[0] { bundle 2 }": ("E0214", "one link joins two devices here, which is not a multiple of 2",
        "make several links between the same two devices: `x 2`"),
    "connect a[0] to b[0] x 9": ("E0452", "a[0] needs 9 free ports `p` and has 8 (and 1 more device)", CHOOSE),
    "connect a[*] to b[*] each x 5": ("E0452", "a[0] needs 15 free ports `p` and has 8 (and 4 more devices)", CHOOSE),
    "connect a[0].p[9] to b[0]": ("E0108", "`p[9]` is outside 1..8", "`p` has indices 1..8"),
    "connect a[0].z to b[0]": ("E0101", "there is no port class of SW called `z` here", "known here: `p`"),
    "connect a[*].p[1] to b[*] each": ("E0451", "port a[0].p[1] would get two links from this connect (and 3 more ports)",
        "let the port's index run with the links"),
    "connect a[0].p[1] to b[0]; connect a[0].p[1] to b[1]": ("E0451", "port a[0].p[1] already has a link",
        "write `a[0].p`, which takes the lowest free port, or name a free one"),
    "connect a[0].p[1..2] to b[0] x 2; connect a[0].p[k] to b[1] where k >= 1 and k <= 2": ("E0451",
        "port a[0].p[1] already has a link (and 1 more port)",
        "write `a[0].p`, which takes the lowest free port, or name a free one"),
    "connect a[0], h[0] to b[0], q[0] each": ("E0120", "some ends are panels or OCS and some are not; write a connect for each",
        ""),
    "connect b[*] spread x 3": ("E0454", "3 ports of each b do not spread evenly over the 2 others",
        "write `spread uneven` to allow one link more to the nearest ones"),
    "connect a[0] to b[0] x 9 via q[0]": ("E0452", "a[0] needs 9 free ports `p` and has 8 (and 1 more device)", CHOOSE),
    "connect w[0] to w[1] x 9 via q[0]": ("E0452", "q[0] has 8 free connectors of `front` and more links would cross it",
        "use more panels or OCS"),
    "connect q[0].front[0] to q[1].front[0] via q[1]": ("", "", ""),
    "connect b[(0)] ring via q[0]; connect a[*] to b[*] each": ("", "", ""),
    "connect a[i] to b[i] where i + 1": ("E0103", "a guard must be true or false, for i = 0", "compare: `where i < j`"),
    "connect a[*] to b[*] each; naming a[*] \"x\"; naming a[0] \"y\"": ("E0104", "a[0] is named twice", ""),
    "connect a[*] to b[*] each; naming a[0] \" y\"": ("E0120", "' y' is not a name for a device", NAMES),
    "connect a[*] to b[*] each; naming a[0] \"\"": ("E0120", "'' is not a name for a device", NAMES),
    "connect h[*] to a[0] each; partition x 1 { full h[*] }; partition x 2 { full h[*] }": ("E0104",
        "partition `x` is given twice", ""),
    "connect h[*] to a[0] each; partition x 1 { full h[*] }; partition y 1 { full h[*] }": ("E0480",
        "partitions `x` and `y` both have the key 0x0001",
        "give each its own key, such as `0x0002`; the bit 0x8000 says full membership"),
    "connect h[*] to a[0] each; partition x 1 { full a[0] }": ("E0481",
        "`a[0]` names a switch, and members of a partition are ports of hosts",
        "name ports of hosts, such as `full node[*].nic`"),
    "connect a[*] to n[0] each": ("E0452", "NONE has no ports", ""),
    "connect a[0] to b[0] via m[0]": ("E0452", "EMPTY has no ports", ""),
    "connect t[0] to t[1]": ("E0204", "the link from t[0].p[0] to t[1].p[0] has no rate: both ports take any rate",
        "write the rate behind the connect: `{ rate 400Gbps }`, or give the ports of the model a rate"),
    "connect t[0] to t[1] x 3": ("E0204",
        "the link from t[0].p[0] to t[1].p[0] has no rate: both ports take any rate (and 2 more links)",
        "write the rate behind the connect: `{ rate 400Gbps }`, or give the ports of the model a rate"),
    "connect a[i] to a[j] where i != j": ("E0455", "a[0] and a[1] are joined twice: once from each end",
        "write `where i < j` to join each pair once, or name the ports if two links are meant"),
    "connect w[i] to w[j] where i != j": ("E0455",
        "w[0] and w[1] are joined twice: once from each end (as are 2 more pairs)",
        "write `where i < j` to join each pair once, or name the ports if two links are meant"),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_refused_connects(text: str, tmp_path: Path) -> None:
    found = compile_text(f"{DEVICES}{text.replace('; ', chr(10))}\n}}{MODELS}", tmp_path, verify=False).findings
    first = next(((d.code, d.message, d.help) for d in found if d.code != "E0404"), ("", "", ""))
    assert first == REFUSED[text]


# ------------------------------------------------------------ bundles
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.sampled_from([1, 2, 3]))
@settings(max_examples=25)
def test_bundles_by_loops(tmp_path_factory: pytest.TempPathFactory, a: int, b: int, each: int, size: int) -> None:
    """Links of one connect between two devices, in the order of their ports, N at a time; others have none."""
    text = f"""fabric f {{ switch a[{a}]: BIG; switch b[{b}]: BIG
      connect a[0] to b[0]
      connect a[*] to b[*] each x {each * size} {{ bundle {size} }} }}"""
    f = fabric_of(text.replace("bundle 1", "rate 400Gbps"), tmp_path_factory.mktemp("bundles"))
    links = sorted(range(f.link_count), key=lambda i: (f.device_a[i], f.device_b[i], f.link_a[i]))
    between = defaultdict(list)
    for i in links:
        if f.link_statement[i] == 1 and size > 1:
            between[int(f.device_a[i]), int(f.device_b[i])].append(i)
    expected = sorted(tuple(sorted(found[k : k + size])) for found in between.values() for k in range(0, len(found), size))
    members = [tuple(bundles.links_of_bundle(f, n)) for n in range(int(f.link_bundle.max(initial=-1)) + 1)]
    assert sorted(members) == expected and [m[0] for m in members] == sorted(m[0] for m in members)
    assert sum(map(len, members)) == int((f.link_bundle >= 0).sum())
    near, far = bundles.bundle_numbers_at_devices(f)
    for device in range(f.device_count):
        lowest = {}
        for n, found in enumerate(members):
            ports = [int(f.link_a[i] if f.device_a[i] == device else f.link_b[i]) for i in found
                     if device in (f.device_a[i], f.device_b[i])]  # fmt: skip
            if ports:
                lowest[n] = min(ports)
        rank = {n: k for k, n in enumerate(sorted(lowest, key=lowest.__getitem__), 1)}
        for i in range(f.link_count):
            for end, told in ((f.device_a[i], near[i]), (f.device_b[i], far[i])):
                if end == device:
                    assert told == rank.get(int(f.link_bundle[i]), 0)
    some = [i for i in range(f.link_count) if i % 3]
    later = [i for n, i in enumerate(some) if f.link_bundle[i] >= 0 and f.link_bundle[i] in f.link_bundle[some[:n]]]
    assert bundles.spare_members(f, np.array(some, dtype=int)).tolist() == later
