"""The first number of a run that is not finite: find it, tell where it came from and what cures it."""
