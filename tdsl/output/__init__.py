"""The output folder: written as a whole, locked, signed and examined."""
