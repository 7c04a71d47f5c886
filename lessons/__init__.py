"""The course, and the engine that reads, runs and judges it. Nothing here draws, nothing here imports Textual."""
