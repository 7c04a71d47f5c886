"""Pages of a program of one's own, or of a file of tensors: which there are, and what runs for them."""
