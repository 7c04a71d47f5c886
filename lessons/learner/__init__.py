"""What is kept about a learner: progress, reviews, and the models that they trained."""
