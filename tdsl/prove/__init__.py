"""The proof engine: bounds with proofs on capacities, paths and cuts of a fabric. It imports the fabric
only."""
