"""One table of everything that a key can do, and what is derived from it: bindings, key lines, help, reference."""
