"""What the screen knows: the worker, the progress progress, the results of steps."""
