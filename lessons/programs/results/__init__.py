"""What is found in programs and files of one's own, as plain data."""
