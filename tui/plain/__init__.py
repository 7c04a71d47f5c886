"""The course as a dialogue on standard input and output, without a screen: for screen readers, braille, and logs."""
