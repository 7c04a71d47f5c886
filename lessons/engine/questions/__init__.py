"""What an answer to a question, an experiment or a find means, and whether it is right."""
