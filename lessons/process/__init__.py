"""The processes of the worker: the fork server, the spare process, and a child of either."""
