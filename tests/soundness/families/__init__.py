"""Families of designs for the judges: each gives the design, or the questions, of a seed."""
