"""Tools for authors of a course: rules of writing, coverage, claims, proofs of exercises, recordings."""
