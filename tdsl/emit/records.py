"""The records a template may see: frozen, plain, and named as people name things. Unknown is ``""``, never
invented."""

from __future__ import annotations

from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Device:
    """A device that is built. ``plane`` is "" outside planes, ``tier`` "" where the fabric has none for it.
    ``inside`` is the device that contains it (the host of a chip, the chassis of a switch), "" if none does;
    ``forwards``: a host or chip that passes traffic of others on because the design says so. ``model`` is the
    key of a Model, ``model_name`` what the catalogue calls it, however its ports are split."""

    name: str
    path: str
    kind: str
    role: str
    model: str
    model_name: str
    tier: int | str
    plane: int | str
    port_count: int
    inside: str
    forwards: bool


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a model. ``index`` counts the ports of the device from 1; ``system`` is the operating
    system's name."""

    path: str
    index: int
    label: str
    system: str
    cage: str


@dataclass(frozen=True, slots=True)
class PortGroup:
    """A class of ports: ``nic``. ``rate_bps`` is "" if it takes any rate; ``infiniband``: it may have links
    of that kind."""

    name: str
    rate_bps: int | str
    types: tuple[str, ...]
    infiniband: bool
    ports: tuple[Port, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A kind of device. ``key`` tells two variants of one name apart and is what devices refer to.
    ``accelerators``: how many it has inside."""

    key: str
    name: str
    kind: str
    title: str
    classes: tuple[PortGroup, ...]
    accelerators: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """What the network sees between two ports; ``a`` is on the lower tier. A neighbour is what an end must
    find there."""

    cable_id: str
    far_cable_id: str
    link_class: str
    medium: str
    rate_bps: int
    rate_gbps: int | float
    a_device: str
    a_port: str
    a_index: int
    a_label: str
    a_interface: str
    a_cage: str
    a_neighbour: str
    a_neighbour_port: str
    a_address: str
    a_asn: int | str
    b_device: str
    b_port: str
    b_index: int
    b_label: str
    b_interface: str
    b_cage: str
    b_neighbour: str
    b_neighbour_port: str
    b_address: str
    b_asn: int | str
    via: str
    fec: str
    mtu: int | str
    plane: int | str
    rail: int | str
    srlg: str
    a_bundle: int | str = ""
    b_bundle: int | str = ""
    layer: str = ""
    infiniband: bool = False
    fabric_name: str = ""


@dataclass(frozen=True, slots=True)
class Cable:
    """One leg of a cable, as a technician meets it: faceplate names, cages, labels. Places stay "" until
    devices have them."""

    cable_id: str
    leg: int | str
    a_device: str
    a_hall: str
    a_rack: str
    a_u: int | str
    a_port: str
    a_cage: str
    b_device: str
    b_hall: str
    b_rack: str
    b_u: int | str
    b_port: str
    b_cage: str
    rate_gbps: int | float | str
    links: int
    medium: str
    part: str
    a_optic: str
    b_optic: str
    length_m: int | float | str
    fibre: str
    polarity: str
    colour: str
    via: str
    bundle: str
    pull_order: int
    label_a: str
    label_b: str
    link_class: str
    fabric_name: str
    plane: int | str
    rail: int | str
    phase: str
    status: str
    action: str
    # for programs rather than people
    a_path: str
    b_path: str
    a_index: int
    b_index: int
    place: str


@dataclass(frozen=True, slots=True)
class Pod:
    """Cables that begin in one outermost group (``pod3``), or else end there, or outside all: rows of the
    table of cables. In a fabric without groups, those of a row of racks (``h1-A``)."""

    name: str
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CableLabel:
    """What is printed for one end of a cable, or of a leg of a breakout; the connector that legs share has
    one label, with ``leg`` "" and all of their other ends behind each other. ``near`` and ``far`` are the two
    ends in the form of TIA-606: hall, rack, unit and port, or device and port without a place. ``qr`` is the
    text of the QR code, ``length_m`` "" where it is unknown. ``links`` run through what the label is on."""

    cable_id: str
    leg: int | str
    end: str
    device: str
    port: str
    line1: str
    line2: str
    line3: str
    near: str
    far: str
    length_m: int | float | str
    qr: str
    links: int
    fabric_name: str = ""


@dataclass(frozen=True, slots=True)
class Circuit:
    """A connection inside an optical switch, by its port numbers counted from 1. ``link`` is the link's row,
    "" if none."""

    device: str
    a_port: str
    a_index: int
    b_port: str
    b_index: int
    link: int | str


@dataclass(frozen=True, slots=True)
class LinkClass:
    """Links of one class, counted. ``rate_gbps`` is "" where they differ in rate."""

    name: str
    links: int
    cables: int
    rate_gbps: int | float | str


@dataclass(frozen=True, slots=True)
class WiredPort:
    """A port of an InfiniBand node, and what is at the other end. ``width_speed`` is ibsim's word for the
    rate."""

    number: int
    far_id: str
    far_number: int
    far_description: str
    width_speed: str
    rate_gbps: int | float = 0


@dataclass(frozen=True, slots=True)
class Aggregator:
    """The node of in-network reduction inside a switch, at the switch's port ``number``, by its real
    GUIDs."""

    number: int
    guid: str
    port_guid: str


@dataclass(frozen=True, slots=True)
class Node:
    """A switch, or one port of a host adapter, as a subnet manager sees it. ``guid`` and ``port_guid`` are
    those of the real one, or else placeholders; ``asset`` and ``asset_port`` those of the real one, "" where
    no table gives them. ``port`` is "" for a switch. ``system`` is what the node's own software calls it."""

    id: str
    guid: str
    port_guid: str
    description: str
    port_count: int
    ports: tuple[WiredPort, ...]
    device: str
    port: str
    asset: str
    asset_port: str
    system: str = ""
    aggregator: Aggregator | None = None


@dataclass(frozen=True, slots=True)
class SeedLink:
    """A link that shows a direction of a torus: ``xp`` from the switch at the origin to the next one along
    x."""

    direction: str
    near: str
    far: str


@dataclass(frozen=True, slots=True)
class TorusPlan:
    """The sizes and seeds of torus-2QoS: three sizes with ``t`` where they wrap and ``m`` where not, links
    from the origin, the most ports of a switch that lead to one place. ``near`` and ``far`` are GUIDs of real
    switches."""

    sizes: tuple[str, str, str]
    seeds: tuple[SeedLink, ...]
    most_ports: int


@dataclass(frozen=True, slots=True)
class PartitionMember:
    """A port in a partition."""

    port_guid: str
    full: bool
    description: str


@dataclass(frozen=True, slots=True)
class PartitionPlan:
    """A partition in one subnet. ``key`` has 15 bits."""

    name: str
    key: int
    ipoib: bool
    members: tuple[PartitionMember, ...]


@dataclass(frozen=True, slots=True)
class Manager:
    """A host that runs a subnet manager. ``priority``: 15 for the master, one less for each that stands
    by."""

    name: str
    description: str
    priority: int
    port_guid: str


@dataclass(frozen=True, slots=True)
class Plane:
    """One subnet: a plane, or what switches join. ``engine`` is how its structure wants to be routed;
    ``shape`` is one, tree, partial, torus or other. ``known``: a table gives the GUIDs of all its nodes.
    ``roots`` are those of its highest tier."""

    name: str
    switches: tuple[Node, ...]
    adapters: tuple[Node, ...]
    engine: str
    shape: str
    slower: tuple[str, ...]  # link rates the simulator has no word for
    known: bool
    roots: tuple[str, ...]
    torus: TorusPlan | None
    partitions: tuple[PartitionPlan, ...]
    managers: tuple[Manager, ...]


@dataclass(frozen=True, slots=True)
class Standby:
    """A subnet manager that stands by in one subnet."""

    name: str
    plane: Plane
    manager: Manager


@dataclass(frozen=True, slots=True)
class Membership:
    """A port in a partition, for programs."""

    partition: str
    key: int
    device: str
    port: str
    membership: str


@dataclass(frozen=True, slots=True)
class NvLink:
    """NVLinks from one accelerator to one target."""

    target: str
    count: int
    target_class: str


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A GPU behind a PCIe function. ``sm`` is the compute capability of NVIDIA's, the number of compute units
    of AMD's; ``codename`` what its model says of that name, such as ``gfx942``, "" if nothing; ``nvlinks``
    scale-up links of any kind."""

    number: int
    sm: int
    nvlinks: tuple[NvLink, ...]
    c2c_count: int
    c2c_mbytes: int
    codename: str


@dataclass(frozen=True, slots=True)
class NetPort:
    """A network device behind a PCIe function. ``guid`` tells adapters of this file apart and is not an
    asset's GUID."""

    name: str
    number: int
    mbps: int
    port: int
    guid: str


@dataclass(frozen=True, slots=True)
class PciFunction:
    """A PCIe switch, GPU or adapter, and what hangs from it."""

    bus: str
    pci_class: str
    vendor: str
    device: str
    subsystem_vendor: str
    subsystem_device: str
    link_speed: str
    link_width: int
    accelerator: Accelerator | None
    nets: tuple[NetPort, ...]
    children: tuple[PciFunction, ...]


@dataclass(frozen=True, slots=True)
class NumaNode:
    """A processor with its memory, and the PCIe trees it roots."""

    number: int
    affinity: str
    arch: str
    vendor: str
    family: int | str
    model: int | str
    children: tuple[PciFunction, ...]


@dataclass(frozen=True, slots=True)
class HostGroup:
    """Hosts that are equally near to each other; ``groups`` are the names of those one level below, () at the
    lowest."""

    name: str
    hosts: tuple[str, ...]
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NpuLink:
    """A link between two nodes by number; ``inside`` a host or not. ``cable_ns`` is what its cable takes, the
    longest of parallel ones, 0 where no length is known."""

    a: int
    b: int
    gbps: int | float
    inside: bool
    cable_ns: float = 0.0


@dataclass(frozen=True, slots=True)
class RailDevices:
    """Network devices of hosts whose links are of one rail, by the names that the hosts' system has.
    ``host_model`` is the model of these hosts where others have the names otherwise, else ""."""

    rail: int
    names: tuple[str, ...]
    host_model: str = ""


@dataclass(frozen=True, slots=True)
class SwitchTreeNode:
    """A linked port of a host at the bottom of a fat tree, and its switch."""

    device: str
    port: str
    switch: str


@dataclass(frozen=True, slots=True)
class SwitchTreeTier:
    """Switches of a tier of a fat tree, all with the same ports: the rate of a link down, links down and up
    of a switch, links down to one switch (or 1 to a port of a host), and what the longest cable down takes in
    nanoseconds, 0 where no length is known."""

    gbps: int | float
    down: int
    up: int
    bundle: int
    cable_ns: float


@dataclass(frozen=True, slots=True)
class SwitchTree:
    """The fabric as a fat tree of two or three ``tiers``, the lowest first. ``nodes`` are ports of hosts,
    switch by switch and pod by pod; a pod has ``pod_size`` of them. ``ratios`` are the oversubscription of
    the tiers but the highest, in whole numbers."""

    nodes: tuple[SwitchTreeNode, ...]
    tiers: tuple[SwitchTreeTier, ...]
    pod_size: int
    ratios: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NpuLevel:
    """A level of groups of hosts as accelerators see it: Gb/s that each has into it, the least of the groups
    below; what its longest cable takes in nanoseconds; and whether it joins switches of one tier, so that a
    way crosses one link of it instead of two."""

    gbps: float
    cable_ns: float
    beside: bool


@dataclass(frozen=True, slots=True)
class NpuGraph:
    """The fabric as simulators of training see it. Nodes are numbered: ``npus`` accelerators, ``per_server``
    of them a server; ``inner_switches``, one for each of the ``servers`` or none; ``switches`` by tier. A
    server is ``span`` hosts: 1, or those of a scale-up domain. ``chip`` is the accelerators' model, "" where
    they differ; ``inside_bps`` what one has to the switch in its server; ``levels`` are those of
    ``host_groups``. Of two nodes there is one link."""

    npus: int
    per_server: int
    inner_switches: int
    switches: int
    links: tuple[NpuLink, ...]
    chip: str
    inside_bps: int
    levels: tuple[NpuLevel, ...]
    servers: int
    span: int


@dataclass(frozen=True, slots=True)
class Adapter:
    """A network device of a host model. ``rail`` and ``plane`` are "" where it has none, or several.
    ``bonded``: in some host its port is one of a port channel on one adapter; ``single``: in some it is one
    of none."""

    name: str
    rail: int | str
    plane: int | str
    bonded: bool = False
    single: bool = True


@dataclass(frozen=True, slots=True)
class HostAdapters:
    """The adapters of a host model in a network, in the order of their rails, and what kind of network that
    is.

    ``joined``: links between switches lead from any adapter to any other. ``narrow``: the switches that the
    hosts meet have less capacity to other switches than to hosts. ``shared``: all adapters of a host meet one
    switch. ``verbs``: they are InfiniBand or RoCE devices, and not such as have a plugin of their own.
    ``scaleup``: the host's accelerators are joined inside. ``layout``: the inside of the model is described.
    ``gpu_vendor``: the PCI vendor of its accelerators, ``0x1002`` for AMD, "" where the model does not say.
    ``domain_hosts`` and ``domain_accelerators``: the most hosts and accelerators of a scale-up domain that
    spans hosts, 0 where none does. ``accelerators_joined``: scale-up links join all accelerators of a host,
    as far as the model says. ``named``: the model names its adapters; ``certain``: from a source. ``prefix``
    is what all names begin with, digits at its end left out, ``mlx5_``. ``virtual``: the host is a virtual
    machine. ``note`` is what the model notes of itself, "" if nothing. ``nccl``: how NCCL uses the transport
    that the design states: "verbs", a plugin over "libfabric" or of the "vendor", "sockets", "" if not
    stated. ``rdma``: all names are those of RDMA devices, none of a network device. ``bonded``: ports of some
    are in port channels on one adapter, whose RDMA devices have names that begin with ``bond_prefix``, ""
    where that is not known.
    """

    host: str
    title: str
    adapters: tuple[Adapter, ...]
    rails: int
    planes: int
    joined: bool
    narrow: bool
    shared: bool
    verbs: bool
    scaleup: bool
    layout: bool
    gpu_vendor: str
    domain_hosts: int = 0
    domain_accelerators: int = 0
    accelerators_joined: bool = True
    named: bool = True
    certain: bool = True
    prefix: str = ""
    virtual: bool = False
    note: str = ""
    nccl: str = ""
    rdma: bool = True
    bonded: bool = False
    bond_prefix: str = ""


@dataclass(frozen=True, slots=True)
class RdmaNetwork:
    """A network in which a host model has adapters for RDMA over Ethernet: the traffic class as the design
    says it, and their names under the operating system: of ports in port channels those of the network
    devices. ``unnamed_bonds``: of some of these the design has no such name."""

    network: str
    roce: dict[str, object]
    adapters: tuple[str, ...]
    unnamed_bonds: bool = False


@dataclass(frozen=True, slots=True)
class RdmaHost:
    """A host model with adapters for RDMA over Ethernet, network by network."""

    model: str
    title: str
    networks: tuple[RdmaNetwork, ...]


@dataclass(frozen=True, slots=True)
class HostLayout:
    """The inside of a host model. ``gpu_vendor`` as in ``HostAdapters``; ``note`` is what the model notes of
    itself, such as what of it has no document, "" if nothing."""

    name: str
    title: str
    gpu_vendor: str
    numa: tuple[NumaNode, ...]
    note: str


CHANNEL = "channel {}"
"""What a port channel is called before a target says how its system calls it."""


@dataclass(frozen=True, slots=True)
class Interface:
    """A port with a link, as a router's system sees it. ``addresses`` have their prefix lengths; none:
    link-local only. ``routes`` are the static ones through it, of a router without an ASN. The port is one of
    ``split`` lanes of another, 1 if it is whole; ``lanes`` of the cage's signal are its own, 0 where the
    cage's form is not known. ``sonic``: the model says how SONiC numbers it. ``between``: the far end is a
    switch. ``channel``: the port channel that it is a member of, "" for none; a port channel itself has
    ``members``, the names of its ports, and the rate of all of them. ``system_mac`` is what a switch of two
    that have a port channel of a host in common shows as its MAC address and as LACP's system identifier
    there, "" elsewhere. ``vlan`` is that of a port channel which is an Ethernet segment (RFC 7432) at a
    switch, 0 elsewhere; ``segment`` its number, by which with ``system_mac`` both switches know it, and
    ``preferred`` whether this one forwards what is for all hosts. ``mtu`` is "" where it is the router's.
    ``on_link`` are the networks of a host that it reaches there without a router."""

    name: str
    description: str
    addresses: tuple[str, ...]
    rate_gbps: int | float
    routes: tuple[Route, ...] = ()
    split: int = 1
    sonic: bool = False
    lanes: int = 0
    between: bool = False
    channel: str = ""
    members: tuple[str, ...] = ()
    system_mac: str = ""
    vlan: int = 0
    segment: int = 0
    preferred: bool = False
    mtu: int | str = ""
    on_link: tuple[Route, ...] = ()


@dataclass(frozen=True, slots=True)
class Vlan:
    """A VLAN of the Ethernet segments of a switch: its number, VXLAN network identifier and networks, the
    ``gateways`` that both switches of the pair are to hosts, and the ``addresses`` that this one has itself,
    with prefix lengths."""

    number: int
    vni: int
    networks: tuple[str, ...]
    gateways: tuple[str, ...]
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overlay:
    """What a switch needs for its Ethernet segments: its end of the tunnels (an IPv4 address), and the BGP
    session with the other switch of its pair, by ``peer``, ``asn`` and ``description``. ``system_mac`` is the
    MAC address that both show to hosts as gateway; ``mtu`` that of the VLANs. ``uplinks`` are the ports to
    other switches, without which its segments are taken down."""

    tunnel_end: str
    peer: str
    asn: int
    description: str
    system_mac: str
    mtu: int | str
    vlans: tuple[Vlan, ...]
    uplinks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """A BGP neighbour: an interface's name (``unnumbered``) or an address; ``versions`` of IP whose routes it
    carries."""

    peer: str
    unnumbered: bool
    asn: int
    versions: tuple[int, ...]
    description: str


@dataclass(frozen=True, slots=True)
class Route:
    """A static route, or a network of which routes are taken: those with at least ``least`` bits, "" for the
    network itself."""

    version: int
    network: str
    via: str = ""
    least: int | str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """An address that the design gives. ``port`` is "" for those of a device, ``vrf`` for all but management
    and bmc."""

    device: str
    kind: str
    port: str
    address: str
    network: str
    vrf: str


@dataclass(frozen=True, slots=True)
class Managed:
    """A device's management address, and the interface that has it. ``mac`` is "" where no table of assets
    gives it, ``gateway`` where the design names none."""

    device: str
    kind: str
    interface: str
    mac: str
    version: int
    address: str
    network: str
    gateway: str


@dataclass(frozen=True, slots=True)
class Controller:
    """The address of a device's own controller (BMC), which answers when the device is switched off. ``name``
    is the host name that it has, ``mac`` "" where no table of assets gives it, ``gateway`` where the design
    names none."""

    device: str
    kind: str
    name: str
    interface: str
    mac: str
    version: int
    address: str
    network: str
    gateway: str


@dataclass(frozen=True, slots=True)
class System:
    """A device's ASN."""

    device: str
    asn: int


@dataclass(frozen=True, slots=True)
class Management:
    """The address of a management interface. ``gateway`` is "" where the design names none."""

    interface: str
    vrf: str
    version: int
    address: str
    gateway: str


@dataclass(frozen=True, slots=True)
class Router:
    """A switch or host that routes. ``asn`` is 0 for a host that has static routes only; ``width`` is the
    most links to one side (up, down, or to its own tier), over which equal paths may be spread. ``bfd_ms``
    and ``bfd_multiplier`` are 0 where the design leaves them to the system; ``route_count`` counts the
    loopbacks and links of hosts of the whole fabric. ``aggregates`` are the networks that it announces in
    place of its links to hosts; ``own`` those whose routes a host announces of itself: its links are left out
    where a switch announces them in an aggregate. ``channels`` are its port channels (IEEE 802.1AX, with
    LACP), whose ports are among the ``interfaces`` and have no addresses of their own. ``networks`` are, of a
    host that several networks of a cluster configure, what it is in each of them, ``network`` the name of
    that one; else () and "". ``overlay`` is of a switch with Ethernet segments, else None."""

    name: str
    kind: str
    asn: int
    router_id: str
    width: int
    loopbacks: tuple[Route, ...]
    management: tuple[Management, ...]
    interfaces: tuple[Interface, ...]
    sessions: tuple[Session, ...]
    routes: tuple[Route, ...]
    accepted: tuple[Route, ...]
    bfd: bool
    graceful_restart: bool
    mtu: int | str
    bfd_ms: int = 0
    bfd_multiplier: int = 0
    route_count: int = 0
    aggregates: tuple[Route, ...] = ()
    own: tuple[Route, ...] = ()
    channels: tuple[Interface, ...] = ()
    network: str = ""
    networks: tuple[Router, ...] = ()
    overlay: Overlay | None = None
