"""The views of the tutor. They show data, and post messages about what the learner wants."""
