"""The processes of the worker: start them, and hear how they end or why they do not start."""
