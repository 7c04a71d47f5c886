"""Courses: which there are, what others have added, and whether their code may run."""
