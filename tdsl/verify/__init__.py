"""Checks, runner, flows: what a design must hold, proved or refuted with a witness."""
