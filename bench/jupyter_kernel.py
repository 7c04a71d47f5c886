"""Runs code in Jupyter kernels and prints the seconds it took: a program of its own, for a Python that has Jupyter.

Arguments: how many kernels to start. Standard input: the code. Standard output: JSON with the seconds from a request
for a kernel until its first result is there (`fresh`), and from a further request to the same kernel (`warm`).
"""

from __future__ import annotations

import json
import sys
import time


def main() -> None:
    """Measure, and print the result."""
    from jupyter_client.manager import start_new_kernel

    code = sys.stdin.read()
    seconds: dict[str, list[float]] = {"fresh": [], "warm": []}
    for _ in range(int(sys.argv[1])):
        began = time.monotonic()
        manager, client = start_new_kernel()
        try:
            for kind in ("fresh", "warm", "warm"):
                reply = client.execute_interactive(code, output_hook=lambda message: None, timeout=120)
                if reply["content"]["status"] != "ok":
                    sys.exit(str(reply["content"]))
                seconds[kind].append(time.monotonic() - began)
                began = time.monotonic()
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
