"""The physical side of a fabric that has places: lengths, parts, power and mass of racks, cost, the bill of
materials."""
