"""Training jobs on a fabric: what they compute, what they send, and what that takes on the wiring."""
