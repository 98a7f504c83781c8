"""Sizes: unknown counts, relations between sizes, what cannot hold together, and objectives."""
