"""What an author is told about a course: rules of writing, coverage, claims, proofs, recordings."""
