"""The fabric as columns: devices, cages, ports, links, cables, circuits, and the passes that make them from
the model."""
