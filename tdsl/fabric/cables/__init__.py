"""Cables: their identity, their plugs and parts, and the links that they carry."""
