"""Connect what views ask for with the worker and the progress store."""
