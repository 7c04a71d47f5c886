"""What the screen knows: the worker, the results of steps, drafts, questions, trainings."""
