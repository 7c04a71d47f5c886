"""Records of a learner: progress, reviews, and the models that they trained."""
