"""What a child can be asked to do, and what these jobs share."""
