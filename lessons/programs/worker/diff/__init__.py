"""What two programs compute alike, and the first result in which they differ."""
