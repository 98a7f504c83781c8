"""Texts, places in them, and what is found there."""
