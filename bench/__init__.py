"""Measurements: how fast the tutor is, and how much it sends. `python -m bench` prints them."""
