"""The terminal itself: what it can do, how it fails, and the editor that borrows it."""
