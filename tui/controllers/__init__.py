"""Controllers, which connect the views with the worker and the learner's progress."""
