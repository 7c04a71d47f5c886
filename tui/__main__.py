"""`python -m tui` is the command `attn-tutor`."""

import os
import sys

# Our packages, also if a folder of PYTHONPATH has modules that are called so. With `-m`, Python puts the working
# directory first, where a `tty.py` of the user's would be taken for Python's own; so our folder takes its place.
_here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]
sys.path.insert(0, _here)
from lessons.reading import cut_bytecode  # noqa: E402

del sys.path[0]

# Before all other modules are imported.
cut_bytecode.ignore()


def main() -> int:
    """Run the command and return its exit code."""
    from tui import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
