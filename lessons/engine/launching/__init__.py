"""The screen's side of the worker: run, judge, explain and train by asking a child process."""
