"""Knobs: what a learner may change in the code of a lesson, one class for each kind."""
