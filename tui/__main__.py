"""`python -m tui` is the command `attn-tutor`."""

import sys

from tui.cli import main

sys.exit(main())
