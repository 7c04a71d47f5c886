"""What a learner may change in a lesson: knobs, single cells, and words of their own."""
