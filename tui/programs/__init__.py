"""Programs and files of one's own: their verbs, and their pages on the screen and in the dialogue."""
