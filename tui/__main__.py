"""`python -m tui` is the command `attn-tutor`."""

import sys

from lessons.reading import cut_bytecode

# Before all other modules are imported.
cut_bytecode.ignore()


def main() -> int:
    """Run the command and return its exit code."""
    from tui import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
