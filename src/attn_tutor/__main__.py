"""`python -m attn_tutor` is the command `attn-tutor`."""

import sys

# With `-m`, Python puts the working directory first, where a `tty.py` of the user's would be taken for Python's own.
if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]
from attn_tutor.lessons.reading import cut_bytecode

# Before all other modules are imported.
cut_bytecode.ignore()


def main() -> int:
    """Run the command and return its exit code."""
    from attn_tutor.tui import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
