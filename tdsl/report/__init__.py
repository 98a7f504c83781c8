"""Findings and results as text and as machine formats, one file a format."""
