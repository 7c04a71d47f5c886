"""Read the files of a course, with the line and column of whatever is wrong in them."""
