"""`python -m tui` is the command `attn-tutor`."""

import sys
from pathlib import Path

# Our package of this name, also if a folder of PYTHONPATH has a module that is called so.
sys.path.insert(0, str(Path(__file__).parents[1]))
from lessons.reading import cut_bytecode

del sys.path[0]

# Before all other modules are imported.
cut_bytecode.ignore()


def main() -> int:
    """Run the command and return its exit code."""
    from tui import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
