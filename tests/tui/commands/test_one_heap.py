"""The heap that all threads of the screen share, counted by the C library itself in a process of its own."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COUNT = """
import ctypes, threading
from attn_tutor.tui.commands import one_heap

if {shared}:
    one_heap.share()
threads = [threading.Thread(target=lambda: kept.append(bytearray(5000))) for _ in range(2)]
kept = []
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.open_memstream.restype = ctypes.c_void_p
text, size = ctypes.c_char_p(), ctypes.c_size_t()
stream = ctypes.c_void_p(libc.open_memstream(ctypes.byref(text), ctypes.byref(size)))
assert libc.malloc_info(0, stream) == 0
libc.fclose(stream)
print(text.value.count(b"<heap nr="))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc makes heaps for threads")
def test_threads_make_no_heaps_of_their_own() -> None:
    def heaps(shared: bool) -> int:
        code = COUNT.format(shared=shared)
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        return int(done.stdout)

    assert heaps(shared=True) == 1
    assert heaps(shared=False) > 1
