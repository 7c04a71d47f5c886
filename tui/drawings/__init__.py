"""Draw tensors: pure functions from data to lines of text and style."""
