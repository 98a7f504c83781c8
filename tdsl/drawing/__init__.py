"""Drawings of fabrics."""
