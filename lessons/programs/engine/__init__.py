"""The screen's side of programs and files of one's own: runs, pages and traces."""
