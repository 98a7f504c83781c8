"""The second opinion: figures computed again by networkx, z3 and HiGHS, sharing no method with the proof
engine."""
