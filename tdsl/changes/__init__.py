"""What differs between two designs, and in which order to get from one to the other."""
