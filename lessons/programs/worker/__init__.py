"""The worker's side of programs and files of one's own, the only one of them with torch."""
