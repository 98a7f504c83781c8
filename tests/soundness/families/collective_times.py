"""Small fabrics of every unbalanced kind, whose collective operations and transfers are timed: few hosts beside many, thin
trunks, sites far apart, hosts of several accelerators, rails that meet nowhere, scale-up domains of unequal size, failures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

METRICS = ("allreduce", "all_gather_time", "reduce_scatter_time", "all_to_all_time")
SIZES = (1000, 10**6, 10**9)
RATES = (10, 40, 100, 200, 400)


@dataclass
class TimedDesign:
    """A design as text, what fails, and the sets between which a transfer is asked for; ``ends`` are names of hosts and chips,
    ``domains`` those of hosts that scale-up links join, or of some of these."""

    seed: int
    kind: str = ""
    models: dict[str, str] = field(default_factory=dict)
    body: list[str] = field(default_factory=list)
    metres: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    fails: list[str] = field(default_factory=list)
    domains: list[str] = field(default_factory=list)
    fail: tuple[str, ...] = ()
    latency: bool = True

    def text(self, requirements: tuple[str, ...] = ()) -> str:
        """The design with some requirements."""
        lines = [*self.models.values(), f'fabric f "metres={",".join(self.metres)}" {{']
        lines += [f"  {line}" for line in [*self.body, *(f"require {r}" for r in requirements)]]
        return "\n".join([*lines, "}", ""])

    def connect(self, rng: Random, a: str, b: str, names: str, rate: int = 0, long: bool = False, extra: str = "") -> None:
        """A connect, and how long its cables are; ``names`` is what the judge finds them by."""
        metres = rng.choice((20_000, 100_000, 900_000)) if long else rng.choice((2, 5, 30))
        settings = f"length {metres}m" if self.latency else ""
        settings += f"; rate {rate}Gbps" if rate else ""
        self.body.append(f"connect {a} to {b} {extra}{{ {settings.strip('; ')} }}")
        if self.latency:
            self.metres.append(f"{names}:{metres}")

    def switch(self, name: str = "SW") -> str:
        """A model of switches."""
        title, said = (' "ns=500"', "; latency 500ns") if self.latency else ("", "")
        self.models[name] = f"model switch {name}{title} {{ port p[1..64]: any{said} }}"
        return name

    def host(self, rng: Random, name: str, nics: int, rate: int, acc: int = 1, inside: int = 0) -> str:
        """A model of hosts with so many accelerators, and what each of them has inside in Gbit/s."""
        took = rng.choice((0, 0, 1000))
        title = f"acc={acc} nv={inside} ns={took}"
        said = [f"port nic[{nics}]: {rate}Gbps", f"latency {took}ns"]
        if acc:
            self.models["G"] = "model chip G { port lane: any }"
            said.append(f"chip gpu[{acc}]: G")
        if inside:
            self.models["X"] = "model switch X { port p[1..16]: any; latency 100ns }"
            said += ["switch x: X", f"connect gpu[g].lane to x {{ layer scaleup; medium trace; rate {inside}Gbps }}"]
        self.models[name] = f'model host {name} "{title}" {{ {"; ".join(said)} }}'
        return name


def timed_design(seed: int) -> TimedDesign:
    """The design of a seed."""
    rng = Random(seed)
    made = TimedDesign(seed, latency=rng.random() < 0.85)
    kind = rng.choice(KINDS)
    made.kind = kind.__name__
    kind(rng, made)
    if rng.random() < 0.25 and made.kind != "torus":
        rate = rng.choice(RATES)
        count = rng.randint(1, 3)
        if "leaf" in made.fails:
            made.host(rng, "FILER", 1, rate, 0)
            made.body.append(f"host filer[{count}]: FILER {{ role storage }}")
            made.connect(rng, "filer[n].nic", "leaf[0]", "filer~leaf[0]")
            made.ends.append("filer")
    if rng.random() < 0.25 and made.fails:
        name = rng.choice(made.fails)
        made.fail = (name if name.endswith("]") else f"{name}[{rng.randint(0, 1)}]",)
    return made


def leaves(rng: Random, d: TimedDesign) -> None:
    """Leaves with unequal numbers of hosts, joined in a chain, a star or a ring by thin trunks."""
    count = rng.randint(2, 4)
    sw = d.switch()
    hosts = d.host(rng, "H", 1, rng.choice(RATES), rng.choice((1, 1, 1, 2)))
    d.body.append(f"switch leaf[{count}]: {sw}")
    d.fails = ["leaf"]
    for k in range(count):
        d.body.append(f"host h{k}[{rng.choice((1, 1, 2, 3, 4))}]: {hosts}")
        d.connect(rng, f"h{k}[n].nic", f"leaf[{k}]", f"h{k}~leaf[{k}]")
        d.ends.append(f"h{k}")
    if rng.random() < 0.4:  # one far from its leaf, and named together with those that are not
        d.body.append(f"host far: {hosts}")
        d.connect(rng, "far.nic", "leaf[0]", "far~leaf[0]", 0, True)
        d.ends += ["far", "h0, far", "far, h1"]
    shape = rng.choice(("chain", "star", "ring", "all"))
    if shape == "star":
        d.body.append(f"switch spine[{2}]: {sw}")
        d.fails.append("spine")
        for s in range(2):
            d.connect(rng, "leaf[*]", f"spine[{s}]", f"leaf~spine[{s}]", rng.choice(RATES), rng.random() < 0.3, "each ")
        return
    pairs = [(k, k + 1) for k in range(count - 1)]
    pairs += [(0, count - 1)] if shape == "ring" and count > 2 else []
    pairs = [(a, b) for a in range(count) for b in range(a)] if shape == "all" else pairs
    for a, b in pairs:
        d.connect(rng, f"leaf[{a}]", f"leaf[{b}]", f"leaf[{a}]~leaf[{b}]", rng.choice(RATES), rng.random() < 0.3)


def sites(rng: Random, d: TimedDesign) -> None:
    """Sites far apart with a few hosts each."""
    count, each = rng.randint(2, 3), rng.randint(1, 4)
    sw = d.switch()
    hosts = d.host(rng, "H", 1, rng.choice(RATES), rng.choice((1, 1, 2)))
    d.body += [f"site s[{count}] {{ host n[{each}]: {hosts}; switch core: {sw}"]
    metres = rng.choice((3, 10))
    d.body.append(f"connect n[i].nic to core {{ {f'length {metres}m' if d.latency else ''} }} }}")
    d.metres += [f"s.n~s.core:{metres}"] if d.latency else []
    if rng.random() < 0.4 and each > 1:
        d.body.append("omit s[0].n[0]")
    for a in range(count - 1):
        lanes = rng.choice(("", "", "x 2 "))
        d.connect(rng, f"s[{a}].core", f"s[{a + 1}].core", f"s[{a}].core~s[{a + 1}].core", rng.choice(RATES), True, lanes)
    if count > 2 and rng.random() < 0.5:
        d.connect(rng, "s[0].core", "s[2].core", "s[0].core~s[2].core", rng.choice(RATES), True)
    d.ends = [f"s[{k}].n" for k in range(count)]
    d.fails = [f"s[{k}].n[{each - 1}]" for k in range(count)]


def adapters(rng: Random, d: TimedDesign) -> None:
    """Hosts with two adapters at two of several leaves; leaves are joined by a thin spine, or by a long cable, or not at all."""
    count, hosts = rng.randint(2, 4), rng.randint(3, 7)
    sw = d.switch()
    acc = rng.choice((1, 1, 2))
    host = d.host(rng, "H", 2, rng.choice(RATES), acc, rng.choice((0, 100, 800)) if acc > 1 else 0)
    d.body += [f"host h[{hosts}]: {host}", f"switch leaf[{count}]: {sw}"]
    where = rng.choice(("n", "n // 2", "0"))
    for i in range(2):
        length = rng.choice((2, 5, 5, 50_000))
        said = f"length {length}m" if d.latency else ""
        d.body.append(f"connect h[n].nic[{i}] to leaf[({where} + {i}) % {count}] {{ {said} }}")
        for n in range(hosts):
            at = ({"n": n, "n // 2": n // 2, "0": 0}[where] + i) % count
            d.metres += [f"h[{n}]~leaf[{at}]:{length}"] if d.latency else []
    if rng.random() < 0.7:
        d.body.append(f"switch spine[1]: {sw}")
        d.connect(rng, "leaf[*]", "spine[*]", "leaf~spine", rng.choice(RATES), rng.random() < 0.4, "each ")
    elif rng.random() < 0.7:
        for a in range(count - 1):
            d.connect(rng, f"leaf[{a}]", f"leaf[{a + 1}]", f"leaf[{a}]~leaf[{a + 1}]", rng.choice(RATES), rng.random() < 0.4)
    d.ends, d.fails = ["h[0]", f"h[1..{hosts - 1}]"], ["leaf", "h"]


def boxes(rng: Random, d: TimedDesign) -> None:
    """Hosts of several accelerators with rails, of one or two models."""
    rails = rng.randint(1, 4)
    acc = rails * rng.choice((1, 1, 2)) if rails > 1 else rng.choice((2, 3, 4))
    sw = d.switch()
    inside = rng.choice((0, 50, 400, 1600))
    d.host(rng, "H", rails, rng.choice(RATES), acc, inside)
    hosts = rng.randint(2, 3)
    d.body += [f"host h[{hosts}]: H", f"switch leaf[{max(rails, 2)}]: {sw}"]
    d.connect(rng, "h[n].nic[r]", f"leaf[r % {max(rails, 2)}]", "h~leaf")
    d.ends, d.fails = ["h"], ["h", "leaf"]
    if rng.random() < 0.4:
        more = rng.choice((1, 2, acc))
        d.host(rng, "K", rails, rng.choice(RATES), more, rng.choice((0, inside or 400)) if more > 1 else 0)
        d.body.append("host k[2]: K")
        d.connect(rng, "k[n].nic[r]", f"leaf[r % {max(rails, 2)}]", "k~leaf")
        d.ends.append("k")
    if rng.random() < 0.6:
        d.body.append(f"switch spine[1]: {sw}")
        d.connect(rng, "leaf[*]", "spine[*]", "leaf~spine", rng.choice(RATES), rng.random() < 0.3, "each ")


def rails(rng: Random, d: TimedDesign) -> None:
    """Hosts of several accelerators whose rails have cables of their own length, beside what joins them inside: one or two
    models, with fewer accelerators, of which some have no such links."""
    count = rng.choice((2, 2, 3, 4))
    sw = d.switch()
    inside = rng.choice((50, 400, 1600))
    rate = rng.choice(RATES)
    d.host(rng, "H", count, rate, count * rng.choice((1, 1, 2)), inside)
    d.body += [f"host h[{rng.randint(2, 4)}]: H", f"switch leaf[{count}]: {sw}"]
    d.ends, d.fails, d.domains = ["h"], ["h", "leaf"], ["h[0]"]
    if rng.random() < 0.5:
        more = rng.choice((1, count, 2 * count))
        d.host(rng, "K", count, rng.choice((rate, *RATES)), more, rng.choice((0, inside, 100)) if more > 1 else 0)
        d.body.append(f"host k[{rng.randint(1, 3)}]: K")
        d.ends.append("k")
    for name in d.ends:
        for r in range(count):
            d.connect(rng, f"{name}[n].nic[{r}]", f"leaf[{r}]", f"{name}~leaf[{r}]", 0, rng.random() < 0.4)
    if rng.random() < 0.5:
        d.body.append(f"switch spine[1]: {sw}")
        d.connect(rng, "leaf[*]", "spine[*]", "leaf~spine", rng.choice(RATES), rng.random() < 0.3, "each ")


def racks(rng: Random, d: TimedDesign) -> None:
    """Scale-up domains of several trays, of unequal size, over leaves and a spine; now and then beside hosts of another kind."""
    count, trays, ups, acc = rng.randint(2, 3), rng.randint(1, 3), rng.randint(1, 2), rng.choice((1, 1, 2))
    sw = d.switch()
    fast, rate = rng.choice((20, 200, 800)), rng.choice(RATES)
    d.models["C"] = f"model chip C {{ port nv[{ups}]: {fast}Gbps }}"
    took = rng.choice((0, 700))
    chips = "chip gpu: C" if acc == 1 else f"chip gpu[{acc}]: C"
    d.models["T"] = f'model host T "acc={acc} ns={took}" {{ port nic[2]: {rate}Gbps; {chips}; latency {took}ns }}'
    which = "gpu" if acc == 1 else "gpu[g]"
    beside = rng.random() < 0.2  # a host that is no rank, with ports of both layers
    d.body += [
        f"rack rack[{count}] {{ host tray[{trays}]: T; switch nvs[{ups}]: {sw}",
        *(["host mem: M { role storage }; connect mem.nv to nvs[0] { layer scaleup; medium backplane; length 1m }"] * beside),
        f"connect tray[t].{which}.nv[k] to nvs[k] {{ layer scaleup; medium backplane; length 1m }} }}",
        f"switch leaf[2]: {sw}",
    ]
    at = rng.choice(("r", "t % 2", "k % 2"))
    said = "length 5m" if d.latency else ""
    d.body.append(f"connect rack[k].tray[t].nic[r] to leaf[{at}] {{ {said} }}")
    d.metres += ["rack.tray~leaf:5"] if d.latency else []
    d.metres += ["rack.tray.gpu~rack.nvs:1", "rack.mem~rack.nvs:1"]
    if beside:
        d.models["M"] = f'model host M "acc=0 ns=0" {{ port nv: {fast}Gbps; port nic: {rng.choice(RATES)}Gbps; latency 0ns }}'
        d.body.append(f"connect rack[k].mem.nic to leaf[1] {{ {said} }}")
        d.metres += ["rack.mem~leaf:5"] if d.latency else []
    if rng.random() < 0.8:
        d.connect(rng, "leaf[0]", "leaf[1]", "leaf[0]~leaf[1]", rng.choice(RATES), rng.random() < 0.3)
    if rng.random() < 0.4 and trays > 1:
        d.body.append("omit rack[0].tray[0]")
    d.ends = ["rack[0].tray", "rack[1].tray"]
    d.domains = [*d.ends, f"rack[1].tray[{trays // 2}..{trays - 1}]"]
    d.fails = ["rack[0].nvs[0]", f"rack[1].tray[{trays - 1}]", "leaf"]
    if rng.random() < 0.3:
        more = rng.choice((1, 2))
        d.host(rng, "K", 2, rng.choice(RATES), more, rng.choice((0, 0, 400)) if more > 1 else 0)
        d.body.append("host k[2]: K")
        d.connect(rng, "k[n].nic[r]", "leaf[r]", "k~leaf")
        d.ends.append("k")


def meshes(rng: Random, d: TimedDesign) -> None:
    """Hosts of one accelerator that scale-up links join in a mesh, a ring or a line, beside a thin network."""
    count, rate = rng.randint(3, 5), rng.choice(RATES)
    sw, shape = d.switch(), rng.choice(("all", "ring", "line"))
    d.models["C"] = "model chip C { port nv[8]: any }"
    d.models["T"] = f'model host T "acc=1 ns=0" {{ port nic: {rng.choice(RATES)}Gbps; chip gpu: C; latency 0ns }}'
    d.body += [f"host t[{count}]: T", f"switch leaf: {sw}"]
    d.connect(rng, "t[n].nic", "leaf", "t~leaf")
    pairs = [
        (a, b) for b in range(count) for a in range(b) if shape == "all" or b - a == 1 or (shape == "ring" and b - a == count - 1)
    ]
    for a, b in pairs:
        mine = rate if rng.random() < 0.8 else rng.choice(RATES)
        d.body.append(f"connect t[{a}].gpu.nv to t[{b}].gpu.nv {{ layer scaleup; rate {mine}Gbps; medium backplane; length 1m }}")
    d.metres.append("t.gpu~t.gpu:1")
    d.ends, d.fails = ["t[0]", "t[1]"], ["t"]
    d.domains = ["t", "t[0..1]", f"t[1..{count - 1}]"]


def torus(rng: Random, d: TimedDesign) -> None:
    """Chips in a mesh or a torus."""
    d.models["C"] = 'model chip C "ns=0" { port ici[12]: any; latency 0ns }'
    sizes = rng.choice(("2, 3", "3, 3", "2, 4", "3, 4", "2, 2, 3", "4", "5"))
    shape = rng.choice(("mesh", "torus", "torus"))
    d.body.append(f"chip c[{sizes}]: C")
    said = "length 2m" if d.latency else ""
    d.body.append(f"connect c[*] {shape} {{ rate {rng.choice(RATES)}Gbps; {said} }}")
    d.metres += ["c~c:2"] if d.latency else []
    d.ends = []
    at = ", ".join("0" for _ in sizes.split(","))
    d.fails = [f"c[{at}]"]


KINDS: tuple[Callable[[Random, TimedDesign], None], ...] = (
    leaves,
    leaves,
    sites,
    adapters,
    adapters,
    boxes,
    rails,
    rails,
    racks,
    racks,
    meshes,
    torus,
)
