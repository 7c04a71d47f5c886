"""What can be opened: a course, a program, a file of tensors, or what an author is writing."""
