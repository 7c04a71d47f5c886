"""What the door for Python needs: an environment that has PyTorch gets two packages for it, and keeps its PyTorch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import attn_tutor
from attn_tutor.lessons.programs import record

OURS = {"attn_tutor"}
NEEDED = {"pydantic", "rich"}
THEIRS = {"annotated_types", "markdown_it", "mdurl", "pydantic_core", "pygments", "typing_inspection"}
"""What these two bring with them."""

CODE = """
import sys
import torch
before = {name.partition(".")[0] for name in sys.modules}
from attn_tutor import record
with record() as trace:
    x = torch.ones(2) + 1
str(trace.explain("x", 0)), trace._repr_html_(), str(trace.flow()), str(trace.first_nan()), str(trace.compare(trace))
found = {name.partition(".")[0] for name in sys.modules} - before - set(sys.stdlib_module_names)
print(*sorted(name for name in found if not name.startswith("_")))
"""


def test_it_needs_the_packages_that_the_page_says() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", CODE], capture_output=True, text=True, check=True)
    found = set(done.stdout.split())
    assert found - OURS - THEIRS == NEEDED
    page = (Path(__file__).parents[4] / "docs/own-code.md").read_text()
    assert "pip install --no-deps FOLDER_OF_THE_TUTOR\n    pip install rich pydantic\n" in page


def test_the_package_has_all_that_a_program_names() -> None:
    """The classes of what a trace returns are for those who look into the room itself."""
    returned = {name for name in record.__all__ if name.startswith("Traced")}
    assert set(record.__all__) - returned == attn_tutor.DOOR
    assert all(getattr(attn_tutor, name) is getattr(record, name) for name in attn_tutor.DOOR)
