"""How much work a method may do before it gives up or keeps the bounds found so far.

Limits count steps or sizes, never seconds, so that an answer does not depend on the machine. A function that
searches takes a ``Budget`` and reads the fields that are about it; a test passes a small one:
``replace(DEFAULT, routing_work=0)``.
"""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction

from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one judgement.

    A field whose name ends in ``_work`` counts elementary steps and grows and shrinks with the time that is
    allowed (``times``). One that ends in ``_rounds`` says after how many repetitions a search ends though
    work is left; it grows with the time, too. The others bound memory, say above which size a method is not
    tried, or how close two bounds are to be.
    """

    # symmetry
    automorphism_work: int = 150_000_000
    """Arcs that the search for automorphisms of a network may look at: some seconds."""

    symmetry_work: int = 200_000_000
    """Links and devices that verifications of candidates may look at; candidates that come later are left
    out."""

    automorphism_rounds: int = 12
    """Nodes of a cell tried without success, one after the other, before the search leaves the cell."""

    twin_rounds: int = 64
    """Times that nodes which can be exchanged without a search are put together."""

    twin_capacities: int = 4
    """Capacities of a network up to which nodes that are connected to each other are looked for by each."""

    port_degree: int = 64
    """Neighbours of a device up to which permutations that follow ports are tried."""

    symmetry_sets: int = 200_000
    """Sets of elements up to which they are divided into orbits."""

    # failures
    failure_sets: int = 600
    """Sets of failed elements that are judged before `survives` stays open."""

    exact_failures: int = 3
    """Failures at once up to which `availability` judges all sets, where their orbits are few."""

    fatal_failures: int = 4
    """Failures at once up to which `fatal_set` goes through all sets."""

    covered_failures: int = 6
    """Failures at once up to which it is tried to prove a condition for all sets by what they can take
    away."""

    sampled_states: int = 100
    """Random states with more failures than are judged exactly that `availability` judges."""

    drawn_states: int = 1 << 16
    """Random states that are drawn to find these."""

    state_seed: int = 1
    """The seed of these."""

    state_confidence: Fraction = Fraction(99, 100)
    """The confidence of the bounds that they give."""

    most_spares: int = 4_096
    """Spares up to which it is asked how many are enough."""

    symmetric_elements: int = 600
    """Elements up to which sets of two and more are divided into orbits."""

    named_elements: int = 100_000
    """Links, ports, cables or cages that one requirement may name."""

    blast_elements: int = 5_000
    """Elements that `blast_radius` judges before its answer is a bound."""

    # routes of engines
    route_work: int = 200_000_000
    """Destinations times channels, and turns, up to which the routes of an engine are judged."""

    urn_balls: int = 1024
    """Flows of one switch up to which the distribution of its fullest link is computed."""

    flow_draws: int = 1000
    """Times that all flows are drawn, at most."""

    least_flow_draws: int = 100
    """Times that they must be drawn for a quantile."""

    drawn_loads: int = 4_000_000
    """Loads of links that are held at once."""

    # throughput of demands
    routing_work: int = 20_000_000
    """Sources times arcs up to which the demands of every source are routed one by one."""

    arc_program_cells: int = 40_000
    """Sources times arcs up to which the linear program over single arcs is solved."""

    simplex_work: int = 20_000
    """Steps of the simplex method on that program: some ten seconds."""

    path_program_rows: int = 6_000
    """Arcs and demands up to which the linear program over paths is solved."""

    path_program_entries: int = 200_000
    """Arcs of all its paths together up to which more paths are looked for."""

    path_program_rounds: int = 12
    """Times it is solved with more paths, where it has at most ``path_program_easy_rows``; fewer where it has
    more."""

    path_program_easy_rows: int = 4_000
    """Rows of a program over paths that takes about a second."""

    path_program_first_rounds: int = 16
    """Routings along shortest paths, under growing lengths, that give its first paths."""

    path_program_gap: float = 0.02
    """Relative gap between the bounds at which the search for more paths ends."""

    path_program_corner_gap: float = 0.0005
    """The same from which the program is solved to a vertex, where the bounds may be equal."""

    path_program_corner_entries: int = 20_000
    """Arcs of all its paths together up to which it is solved to a vertex."""

    combination_arcs: int = 400_000
    """Arcs up to which several routings of everything are combined."""

    combination_work: int = 15_000_000
    """Arcs, for each source, that all routings of a combination may look at: some ten seconds."""

    first_routing_work: int = 400_000_000
    """The same for the first routing of a quotient network: half a minute."""

    hub_work: int = 60_000_000
    """The same for routes to hubs and back: some ten seconds."""

    combination_rounds: int = 12
    """Routings along shortest paths, each under other lengths, of a combination."""

    combination_gap: float = 0.005
    """Relative gap between the bounds at which no more routings are combined."""

    hub_gap: float = 0.1
    """Relative gap between the bounds from which routes over hubs are tried."""

    hub_nodes: int = 4096
    """Hubs of every component."""

    near_ratio: Fraction = Fraction(11, 10)
    """Upper over lower bound up to which the search for better ones ends in a large network."""

    order_rounds: int = 200
    """Steps of the power method for Fiedler's order in which blocks are cut."""

    order_work: int = 60_000_000
    """Arcs that the power method for Fiedler's order of the nodes may look at: some seconds."""

    tree_work: int = 4_000_000
    """Demands, for each tree, that routes along spanning trees may carry: some ten seconds."""

    tree_rounds: int = 32
    """Spanning trees of every component of what forwards."""

    tree_classes: int = 64
    """Sets of components to which units are connected, up to which all-to-all along trees is counted by
    them."""

    quotient_ratio: int = 2
    """How many times fewer arcs the quotient network must have to be used instead of the network itself."""

    flow_entries: int = 200_000
    """Entries (source, arc) up to which the flow of every source is kept for a certificate; above, what it
    was made of."""

    # the same demand between all pairs of units
    uniform_work: int = 4_000_000_000
    """Sources times arcs that may be looked at, one source of each orbit: about a minute."""

    uniform_first_work: int = 5_000_000
    """The same for one try without symmetry: some tenths of a second."""

    uniform_program_cells: int = 20_000_000
    """Rows of the linear program times the square of the rounds it is solved in: some seconds a round."""

    uniform_rounds: int = 80
    """Lengths under which everything is routed."""

    uniform_idle_rounds: int = 40
    """Rounds without a gain of one in a thousand after which the search ends."""

    uniform_gap: float = 0.002
    """Relative gap between the bounds at which the search ends."""

    uniform_last_cells: int = 3_000_000
    """Sources times arcs up to which the last lengths are rounded to small numbers as well."""

    uniform_classes: int = 6
    """Classes of links up to which each is once made longer than all others."""

    irregular_orbits: int = 1_000
    """Orbits of links above which no class is made longer as a whole."""

    first_length: int = 1_000
    """Length of a link without a price in the first routings of such a network: its first prices are of few
    routings and say little, so that few paths have more links than needed."""

    first_lengths: int = 2
    """How many routings that is."""

    uniform_pairs: int = 8_000_000
    """Pairs of nodes up to which each is sent along its own shortest paths."""

    other_scope_cells: int = 2_000_000
    """Units times links up to which the other way of a pattern, and the planes of all-to-all, are judged
    beside what is asked."""

    domain_pairs: int = 1 << 20
    """Pairs of scale-up domains up to which a pattern among domains of several sizes is written out."""

    judged_domains: int = 16
    """Scale-up domains of several tiers up to which each is asked what it carries."""

    # many failures at once
    search_roots: int = 3
    """Devices from one of which a network is searched after failures: where the first failed, the next is
    tried."""

    # bisection
    good_enough_trunks: int = 20_000
    """Pairs of joined switches above which bounds within a tenth of each other end the search."""

    bisection_parts: int = 200
    """One part in so many by which the bounds may differ when the search for better routes ends: exact below
    as many links."""

    bisection_idle_rounds: int = 10
    """Routings without a whole grain gained after which the search for better routes ends."""

    bisection_gain: Fraction = Fraction(0)
    """The part of its lower bound that the latest ``bisection_pause_rounds`` routings have to gain once a
    tenth of ``uniform_work`` is done, or the search for better routes ends; 0 where a requirement reads the
    bisection."""

    bisection_pause_rounds: int = 4
    """See ``bisection_gain``."""

    bisection_first_rounds: int = 6
    """Routings after which it also ends where they show less than is known, if there is such a part."""

    bisection_trend_rounds: int = 12
    """Latest routings from whose gain the gain of all later ones is estimated."""

    split_count: int = 500
    """Balanced splits up to which every one is cut where the bounds differ."""

    placing_work: int = 30_000
    """Pairs of joined switches that maximum flows may look at to place switches; the best splits come
    first."""

    placing_rounds: int = 12
    """Times that all tiers of switches are placed, one after the other, on the side to which they have more
    capacity."""

    placing_trunks: int = 60_000
    """Pairs of joined switches up to which switches are placed by a maximum flow."""

    hub_arcs: int = 8_000_000
    """Arcs times hubs routed from, where all hubs would be too many: checking them takes minutes."""

    placed_switches: int = 18
    """Switches, equivalent ones as one, of which all placements are tried."""

    placement_switches: int = 4_000
    """Switches of a network in which a few to place are looked for."""

    placement_work: int = 3_000_000_000
    """Sums of the convolutions over all placements: some seconds."""

    placement_first_work: int = 400_000_000
    """The same before routes are looked for: less than a second."""

    elimination_work: int = 300_000_000
    """Cells of all tables of an elimination: a few seconds."""

    elimination_width: int = 20
    """Devices without a final side at once."""

    elimination_devices: int = 400
    """Devices of a network that is eliminated."""

    spectrum_nodes: int = 700
    """Switches or chips of the matrix of the spectral bound."""

    move_work: int = 16_000
    """Moves of one switch to the other side that are tried in passes over all."""

    move_starts: int = 4
    """Best splits from which moves begin."""

    move_random_starts: int = 10
    """Splits around random nodes, the same in every run, from which moves begin."""

    move_patience: int = 400
    """Moves without a better split after which such a pass ends."""

    walk_starts: int = 8
    """Best splits after these passes from which walks begin, and how many are kept of all that walks find."""

    walk_moves: int = 700
    """Moves of one switch, uphill too, of a walk."""

    walk_rounds: int = 30
    """Walks from where two of the best splits agree."""

    walk_work: int = 60_000_000
    """Switches times moves of all walks."""

    move_order_rounds: int = 300
    """Steps of the power method for the Fiedler order from which moves begin."""

    flat_dimensions: int = 8
    """Classes of links up to which each is taken for a dimension and cut flat."""

    flat_orders: int = 24
    """Orders of dimensions in which the nodes are divided into halves."""

    restored_parts: int = 20
    """One part in so many of the capacity between switches that may be restored."""

    restored_pairs: int = 20_000_000
    """Pairs of devices that are compared to find links that most instances have."""

    group_parts: int = 2**20
    """Parts into which a unit of demand may have to be divided for routes between groups."""

    routed_groups: int = 4_000
    """Groups between which routes are looked for."""

    group_work: int = 3_000_000
    """Switches of a group times its links, over all groups, where paths within groups have several links:
    some seconds."""

    # schedules that are shown
    listed_messages: int = 20_000
    """Messages of a schedule that are listed with their routes."""

    listed_tree_messages: int = 1_000_000
    """Messages along trees of single ranks that are listed, one after the other: about a minute."""

    route_listing_work: int = 8_000_000
    """Pairs of ends times arcs up to which flows are divided into paths to be listed."""

    # distances and connectivity
    distance_work: int = 4_000_000_000
    """Entries that a search for all distances may look at: some twenty seconds."""

    diameter_work: int = 40_000_000_000
    """Bytes that the search for the diameter may move: some ten seconds."""

    flow_work: int = 4_000_000
    """Arcs that maximum flows for link redundancy may look at: some seconds."""

    flow_pairs: int = 200_000
    """Pairs of classes of units that are compared for link redundancy."""

    disjoint_path_work: int = 6_000_000
    """Devices that searches for paths without a common device may look at: some seconds."""

    arcs_compared_at_once: int = 20
    """How many times as long an arc takes in such an order as where all are compared at once."""

    contraction_work: int = 4_000_000
    """Arcs that contraction by maximum-adjacency orders may look at: some seconds."""

    # collective operations
    block_cuts: int = 8
    """Blocks of a division of the units whose least cut is looked for, those that promise most first."""

    block_cut_links: int = 400_000
    """Links up to which least cuts of blocks are looked for."""

    rail_ends: int = 4096
    """Rails of hosts up to which each is an end for itself where these differ."""

    message_routing_work: int = 1_000_000
    """Sources times arcs above which the messages of a schedule are routed all at once, in a network in which
    equivalent switches are one."""

    least_delay_work: int = 400_000
    """Sources times arcs up to which messages are also sent along the paths of least delay."""

    delay_sweep_rounds: int = 4
    """Units from which delays are looked for where all would be too many: each time that which was
    farthest."""

    schedule_messages: int = 300_000
    """Messages of a schedule up to which it is written down."""

    switch_share_parts: int = 10_000
    """Greatest denominator of the share of the data that goes along a tree of switches."""

    tree_program_columns: int = 3_000
    """Units cubed, and units times arcs, up to which trees are packed: about a second."""

    tree_parts: int = 2_520
    """Parts of what a rank holds in which the amounts of packed trees are whole numbers."""

    tree_links: int = 20_000
    """Links, and ranks, up to which trees of single ranks are looked for."""

    tree_mixture_work: int = 60_000
    """Links and ranks, for each tree, that may be looked at: about a second."""

    tree_mixture_rounds: int = 60
    """Trees of a mixture that are looked for."""

    tree_mixture_least: int = 8
    """Trees below which a mixture is not worth the work."""

    tree_mixture_stale: int = 4
    """Trees one after the other that were found before, after which no more are looked for."""

    tree_mixture_level: int = 10
    """Divisions of the data one after the other that are no better, after which no more trees are looked for;
    of 118 mixtures of random designs none was better again after more than six."""

    tree_mixture_gain: float = 0.0005
    """By which part a division has to be better."""

    tree_mixture_slack: float = 0.3
    """By how much more than the cheapest trees may cost whose ranks send to few."""

    tree_mixture_parts: int = 100_000
    """Parts of the data that are divided among trees of single ranks."""

    equal_block_cuts: int = 2
    """Blocks with as many ranks and as much to the outside, of which no cut is less than that, after which no
    other such block is looked at."""

    switch_tree_work: int = 2_000_000
    """Links and units, for each tree of switches that add up, that may be looked at."""

    schedule_ends: int = 2048
    """Ends up to which all kinds of schedules are looked at; above, the likely best."""

    halving_ends: int = 256
    """Ends up to which halving and doubling is looked at."""

    exchanged_blocks: int = 8
    """Blocks up to which each sends its sums to all others."""

    exchange_pairs: int = 20_000
    """Pairs of units up to which an exchange of all is also sent along the paths of least delay."""

    unlike_exchange_pairs: int = 300_000
    """Pairs of units up to which an exchange is judged where units or domains differ."""

    schedule_gap: float = 0.001
    """Relative gap between floor and ceiling at which no other schedule is looked for."""

    sender_rate_rounds: int = 64
    """Cuts after which the rate that all senders of a transfer have at once is what is known of it."""

    def unrequired(self) -> Budget:
        """This budget where no requirement reads the bisection: after a tenth of the work a search ends that
        gains less than one part in twenty-five in four rounds."""
        return replace(self, bisection_gain=Fraction(1, 25))

    def for_one_routing(self) -> Budget:
        """This budget for the first routing of a bisection: of a tenth of the work at most where no
        requirement reads it."""
        work = self.uniform_work // 10 if self.bisection_gain else self.uniform_work
        return replace(self, uniform_rounds=1, uniform_work=work)

    def times(self, factor: Fraction) -> Budget:
        """This budget with ``factor`` times the work, at least one step of each, and as many times the rounds
        where that is more: with less time it is the work that ends a search."""
        counts: dict[str, int] = {
            f.name: getattr(self, f.name) for f in fields(self) if f.name.endswith(("_work", "_rounds"))
        }
        least = {name: count if name.endswith("_rounds") else 1 for name, count in counts.items()}
        more = {name: max(least[name], int(count * factor)) for name, count in counts.items()}
        return replace(self, **more)  # type: ignore[arg-type]


SECONDS = 60
"""About how long each kind of work may take by default, on the machine of 2026 on which the limits were
set."""


def budget_of_seconds(seconds: int) -> Budget:
    """The default limits in proportion to the time that is allowed."""
    return DEFAULT if seconds == SECONDS else DEFAULT.times(Fraction(seconds, SECONDS))


DEFAULT = Budget()
"""What `tdsl check` uses unless `--check-seconds` is given: no check takes more than about a minute of each
kind of work."""
