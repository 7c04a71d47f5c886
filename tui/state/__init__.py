"""What the screen knows: the worker, the progress store, the results of steps."""
