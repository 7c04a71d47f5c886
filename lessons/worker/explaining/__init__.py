"""Explain how one element of a tensor was computed, from the record of a run."""
