"""The views of the tutor: course map, step of a lesson, exercise. They show, and post what the learner wants."""
