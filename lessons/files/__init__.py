"""Files on disk: written whole or not at all, and read only where reading ends."""
