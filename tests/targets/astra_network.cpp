// Reads a network file with ASTRA-sim's own analytical back end, sends 1 MB between two accelerators, and prints what it made of it.
#include "common/NetworkParser.h"
#include "congestion_unaware/Helper.h"
#include <cstdlib>
#include <iostream>

int main(int count, char** words) {
    if (count != 4) return 2;
    const auto parser = NetworkAnalytical::NetworkParser(words[1]);
    const auto topology = NetworkAnalyticalCongestionUnaware::construct_topology(parser);
    std::cout << topology->get_npus_count() << " " << topology->send(std::atoi(words[2]), std::atoi(words[3]), 1 << 20) << std::endl;
    return 0;
}
