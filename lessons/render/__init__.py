"""Plain data to plain text, as pure functions: numbers, matrices, explanations, flows."""
