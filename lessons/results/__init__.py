"""Plain data that a run returns. Nothing here imports pydantic, torch or Textual."""
