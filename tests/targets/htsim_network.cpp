// Loads a topology by htsim's own code, and prints the numbers of its nodes and switches, and of links between switches.
#include <iostream>
#include "config.h"
#include "eventlist.h"
#include "fat_tree_topology.h"

uint32_t RTT = 1;
uint32_t DEFAULT_NODES = 1;

int main(int, char **argv) {
    EventList &events = EventList::getTheEventList();
    FatTreeTopology *t = FatTreeTopology::load(argv[1], NULL, events, memFromPkt(8), COMPOSITE, FAIR_PRIO);
    size_t links = 0;
    for (auto &tor : t->queues_nlp_nup)
        for (auto &agg : tor)
            for (auto queue : agg) links += queue != NULL;
    for (auto &agg : t->queues_nup_nc)
        for (auto &core : agg)
            for (auto queue : core) links += queue != NULL;
    std::cout << "judged " << t->no_of_nodes() << " " << t->switches_lp.size() << " " << t->switches_up.size() << " "
              << t->switches_c.size() << " " << links << std::endl;
}
