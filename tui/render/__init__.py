"""Turn plain data into text and styles. Pure functions, without Textual."""
