"""Tensors in files, read without running code that is in the file."""
