"""The flow of a run: from a record to boxes and arrows."""
