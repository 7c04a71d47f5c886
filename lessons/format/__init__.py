"""The format of lesson files: lessons, steps, exercises, knobs, their fields and templates."""
