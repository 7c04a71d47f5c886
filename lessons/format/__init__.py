"""What a lesson file may contain: lessons, steps, exercises, their fields and templates."""
