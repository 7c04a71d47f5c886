"""Programs of one's own: running one as it is, and what is asked of its record."""
