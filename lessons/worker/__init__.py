"""The worker: the only part of `lessons` that imports torch. It runs in processes of its own."""
