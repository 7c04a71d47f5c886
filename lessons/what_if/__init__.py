"""Changes that a learner makes in a lesson: knobs and single cells."""
