"""What a process of the worker finds here: the layers around programs, and whether PyTorch loads.

`attn-tutor doctor` runs it in a process of its own. It imports PyTorch last and inside a function, so that it can tell
of an environment where that fails.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from dataclasses import asdict

from attn_tutor.lessons.worker.fence import layers


def main() -> None:
    """Print what was found, as JSON on one line."""
    found: dict[str, object] = asdict(layers.found())
    try:
        found |= _torch()
    except Exception as error:  # whatever a broken installation raises
        found["torch_error"] = f"{type(error).__name__}: {error}"
    json.dump(found, sys.stdout)


def _torch() -> dict[str, object]:
    warnings.simplefilter("ignore")
    began = time.monotonic()
    import torch

    seconds = time.monotonic() - began
    return {
        "torch": torch.__version__,
        "torch_seconds": seconds,
        "torch_computes": (torch.ones(2, 3) @ torch.ones(3, 2)).tolist() == [[3.0, 3.0], [3.0, 3.0]],
        "cuda": torch.version.cuda or "",
    }
