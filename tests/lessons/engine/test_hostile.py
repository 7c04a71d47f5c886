"""Programs that misbehave: a sentence explains each failure, and the tutor keeps working."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from attn_tutor.lessons.engine.judging import MAX_SOURCE
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.results.result import Judgement
from attn_tutor.lessons.worker import wire
from tests.lessons.lesson_builders import DOUBLED, code_step, doubling_exercise, lesson_of
from tests.lessons.processes import at_work, wait_for_end, with_enough_time

EXERCISE = doubling_exercise()
QUICK = doubling_exercise(cpu=1, wall=1.3)
NORMAL = lesson_of(code_step("one", "print('well')"))


@pytest.fixture(autouse=True)
def check_nothing_is_left(worker: Session) -> Iterator[None]:
    """Check that no process is left after each test."""
    yield
    assert at_work(worker) == []


@pytest.fixture(autouse=True, scope="module")
def check_worker_survives(worker: Session) -> Iterator[None]:
    """Check that a normal program runs after all tests; a worker that one has harmed fails the next one."""
    yield
    run = worker.run(NORMAL)
    run.close()
    assert run.steps[0].stdout == "well\n"


def code(text: str) -> str:
    return dedent(text).lstrip("\n")


def check_judgement(judgement: Judgement, verdict: str, message: str, line: int | None) -> None:
    """Check the verdict, the message and the line of a judgement, and that no check passed."""
    assert (judgement.verdict, judgement.line) == (verdict, line), judgement
    assert re.fullmatch(message, judgement.message), judgement.message
    assert not judgement.passed
    assert [(check.name, check.passed) for check in judgement.checks] == [("twice", False)]


# Programs that do not end --------------------------------------------------------------------------------------------

ENDLESS = {
    "loop when it is called": "def double(x):\n    while True: pass",
    "loop that catches everything": """
        import signal
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while True:
            try:
                raise KeyboardInterrupt
            except BaseException:
                pass
    """,
    "message that is never ready": """
        class Endless(Exception):
            def __str__(self):
                while True: pass
        raise Endless
    """,
}


@pytest.mark.parametrize("source", ENDLESS.values(), ids=ENDLESS)
def test_endless_program_is_stopped(worker: Session, source: str) -> None:
    judgement = worker.check(QUICK, code(source))
    assert judgement.verdict == "timeout"
    assert judgement.message.startswith("Stopped after ")


@pytest.mark.slow
def test_endless_program_that_ignores_its_limit_is_killed(worker: Session) -> None:
    """The kill, some seconds later, is not mistaken for a lack of memory."""
    source = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    exercise = doubling_exercise(cpu=1, wall=60)
    judgement = worker.check(exercise, source)
    assert judgement.verdict == "timeout"
    assert judgement.message.startswith("Stopped after 1 seconds of computing")


def test_line_of_an_endless_loop_is_named(worker: Session) -> None:
    source = code("""
        import traceback
        try:
            1 / 0
        except ZeroDivisionError:
            traceback.print_exc()  # which prints a line too, but not the one that counts
        while True: pass
    """)
    # Its processor time ends it: on a busy machine, a second may pass before it is there.
    assert worker.check(doubling_exercise(cpu=1, wall=60), source).line == 6


WAITS = {
    "sleep when it is called": ("import time\ndef double(x):\n    print('there'); time.sleep(1000)", 3),
    "deadlock": ("import threading\nlock = threading.Lock()\nlock.acquire()\nprint('there'); lock.acquire()", 4),
    "stop itself": ("import os, signal\nprint('there'); os.kill(os.getpid(), signal.SIGSTOP)", None),
}


@pytest.mark.parametrize(("source", "line"), WAITS.values(), ids=WAITS)
def test_program_that_waits_is_stopped(worker: Session, source: str, line: int | None) -> None:
    judgement, wall = with_enough_time(
        lambda wall: worker.check(doubling_exercise(cpu=1, wall=wall), source), lambda found: found.stdout, 0.6
    )
    where = f" It was at line {line}." if line else ""
    check_judgement(judgement, "timeout", re.escape(f"Stopped after {wall:g} seconds.{where}"), line)


# Programs that take too much -----------------------------------------------------------------------------------------

TOO_LARGE = {
    "bytes": ("held = []\nwhile True:\n    held.append(bytearray(10**7))", "the limit was reached", 3),
    "list": ("held = [0]\nwhile True:\n    held = held * 2", "the limit was reached", 3),
    "tensors": (
        "import torch\nheld = []\nwhile True:\n    held.append(torch.ones(10**6))",
        "a tensor of 4 MiB does not fit into the limit",
        4,
    ),
    "one of 40 GB": ("import torch\n\ntorch.ones(10**10)", "a tensor of 37.3 GiB does not fit into the limit", 3),
    "one that no machine holds": ("import torch\ntorch.ones(10**15)", r"a tensor of \d+.\d GiB does not fit .*", 2),
    "scores of a book": (
        "import torch\ndef double(x):\n    q = torch.ones(60_000, 1)\n    return q @ q.T",
        "a tensor of 13.4 GiB does not fit into the limit",
        4,
    ),
}


@pytest.mark.parametrize(("source", "message", "line"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_program_that_takes_too_much_memory_fails(worker: Session, source: str, message: str, line: int) -> None:
    check_judgement(worker.check(EXERCISE, source), "memory", rf"Out of memory: {message}\.", line)


def test_shared_memory_is_limited_too(worker: Session) -> None:
    source = "import torch\nheld = []\nwhile True:\n    held.append(torch.ones(10**6).share_memory_())"
    judgement = worker.check(EXERCISE, source)
    assert judgement.verdict in ("memory", "error")
    assert judgement.line == 4


FLOODS = {
    "print": "while True: print('x' * 1000)",
    "stderr": "import sys\nwhile True: print('x' * 1000, file=sys.stderr)",
    "descriptor": "import os\nwhile True: os.write(1, b'x' * 1000)",
    "file": "file = open('large', 'wb', 0)\nwhile True: file.write(bytes(10**6))",
}


@pytest.mark.parametrize("source", FLOODS.values(), ids=FLOODS)
def test_flood_of_output_is_limited(worker: Session, source: str) -> None:
    check_flood(worker.check(EXERCISE, source, diagnosis="none"), source)


def test_flood_of_output_of_each_edited_copy_is_limited(worker: Session) -> None:
    check_flood(worker.check(EXERCISE, FLOODS["print"]), FLOODS["print"])


def check_flood(judgement: Judgement, source: str) -> None:
    """Check that an answer was stopped when it wrote too much, and that its output is cut."""
    message = re.escape("The code printed or wrote more than 8 MB; the first 64 KB are shown.")
    check_judgement(judgement, "error", message, source.count("\n") + 1)
    assert len(judgement.stdout) < 66_000


def test_flood_of_output_from_another_process_is_limited(worker: Session) -> None:
    judgement = worker.check(EXERCISE, "import subprocess\nsubprocess.run(['yes'])\n" + DOUBLED)
    assert judgement.passed
    assert len(judgement.stdout) < 66_000


def test_files_in_memory_count_as_files(worker: Session) -> None:
    """What is written to them counts neither as memory of the process nor as files of its folder."""
    source = """
import os, time
held = [os.memfd_create("held") for _ in range(40)]
for file in held: os.write(file, bytes(7 * 10**6))
time.sleep(1000)"""
    check_judgement(worker.check(EXERCISE, source), "error", "The code wrote too many files, or too large ones.*", None)


def test_too_many_files_are_refused(worker: Session) -> None:
    judgement = worker.check(EXERCISE, "held = [open('/dev/null') for _ in range(1000)]")
    check_judgement(judgement, "error", r"OSError: \[Errno 24\] Too many open files: '/dev/null'", 1)


def test_too_many_threads_are_refused(worker: Session) -> None:
    source = (
        "import threading, time\nfor _ in range(1000):\n    threading.Thread(target=time.sleep, args=(1000,)).start()"
    )
    check_judgement(worker.check(EXERCISE, source), "error", "RuntimeError: can't start new thread", 3)


FORK = """
    import os, time
    def child(count=1):
        for _ in range(count):
            if os.fork() == 0:
                {}
                time.sleep(1000)
                os._exit(0)
"""
DAEMON = "os.setsid()\n                if os.fork(): os._exit(0)"


@pytest.mark.parametrize("inside", ["pass", "os.setsid()", DAEMON], ids=["children", "sessions", "daemons"])
def test_too_many_processes_are_refused(worker: Session, inside: str) -> None:
    """A few dozen sleeping processes are enough; root has no limit, so a real fork bomb would do harm."""
    source = code(FORK.format(inside)) + "child(40)\ntime.sleep(1000)\n"
    judgement = worker.check(EXERCISE, source)
    check_judgement(judgement, "error", "The code started too many processes; they were ended.", None)


def test_processes_that_take_too_much_memory_together_are_stopped(worker: Session) -> None:
    source = code(FORK.format("held = b'x' * 150_000_000")) + "child(3)\ntime.sleep(1000)\n"
    judgement = worker.check(EXERCISE, source)
    check_judgement(
        judgement, "memory", "The code and the processes that it started used too much memory together.", None
    )


# Programs that die ---------------------------------------------------------------------------------------------------

SYS_EXIT = re.escape("The code ended the program itself (sys.exit); nothing after that was run.")
OS_EXIT = re.escape("The code ended the program itself (os._exit) before it was done.")
BROKEN = "The code broke Python's own tools, so that its result could not be sent."
UNREADABLE = "The code sent something unreadable in place of its result."
CRASHED = r"The Python interpreter itself crashed at line {} \({}\)."

DEATHS = {
    "sys.exit": ("import sys\nsys.exit(0)", "error", SYS_EXIT, 2),
    "sys.exit when it is called": ("import sys\ndef double(x):\n    sys.exit(0)", "error", SYS_EXIT, 3),
    "quit": ("raise SystemExit", "error", SYS_EXIT, 1),
    "os._exit": ("import os\nos._exit(0)", "crash", OS_EXIT, None),
    "os._exit when it is called": ("import os\ndef double(x):\n    os._exit(0)", "crash", OS_EXIT, None),
    "interrupt": ("raise KeyboardInterrupt", "error", "KeyboardInterrupt", 1),
    "recursion": (
        "def f():\n    f()\nf()",
        "error",
        "The recursion is too deep: a function calls itself again and again, maybe endlessly.",
        2,
    ),
    "recursion in C": (
        "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __repr__(self): return repr(self)\nrepr(A())",
        "crash",
        CRASHED.format(4, "SIGSEGV"),
        4,
    ),
    "segfault": ("import ctypes\n\nctypes.string_at(0)", "crash", CRASHED.format(3, "SIGSEGV"), 3),
    "abort": ("import os\nos.abort()", "crash", CRASHED.format(2, "SIGABRT"), 2),
    "kill itself": (
        "import os\nos.kill(os.getpid(), 9)",
        "crash",
        "The program was killed from outside, perhaps for lack of memory.",
        None,
    ),
    "keyboard": ("x = input('?')", "error", "The code waits for the keyboard, which it cannot read here.", 1),
    "terminal": ("open('/dev/tty')", "error", "OSError: .*'/dev/tty'", 1),
    "message that fails": (
        "class Bad(Exception):\n    def __str__(self): 1 / 0\nraise Bad",
        "error",
        "Bad: its message could not be read",
        3,
    ),
    "name that fails": (
        "class Meta(type):\n    __name__ = property(lambda cls: 1 / 0)\n"
        "class Bad(Exception, metaclass=Meta): pass\nraise Bad",
        "crash",
        BROKEN,
        None,
    ),
    "closed descriptors": (
        "import os\nos.closerange(0, 256)\ndef double(x): return 2 * x",
        "crash",
        "The code closed files that are not its own, so that its result could not be sent.",
        None,
    ),
    "long message": ("raise ValueError('x' * 10**6)", "error", "ValueError: x{1988}", 1),
}


@pytest.mark.parametrize(("source", "verdict", "message", "line"), DEATHS.values(), ids=DEATHS)
def test_failure_of_a_program_that_dies(
    worker: Session, source: str, verdict: str, message: str, line: int | None
) -> None:
    check_judgement(worker.check(EXERCISE, source), verdict, message, line)


REMOVED = {
    "all": "import sys\nsys.modules.clear()\n" + DOUBLED,
    "torch": "import sys\nfor name in [name for name in sys.modules if 'torch' in name]: del sys.modules[name]\n"
    + DOUBLED,
    "in the call": "import sys\ndef double(x):\n    sys.modules.clear()\n    return 2 * x\n",
}


@pytest.mark.parametrize("source", REMOVED.values(), ids=REMOVED)
def test_modules_that_a_program_removes_are_put_back(worker: Session, source: str) -> None:
    judgement = worker.check(EXERCISE, source)
    assert judgement.passed, judgement


# Sources that are not programs ---------------------------------------------------------------------------------------

NO_TEXT = re.escape("This is not Python: there is a byte that is no text (UTF-8).")
SOURCES = {
    "syntax": ("x = 1\n\ndef double(x:\n    return x", "This is not Python: .*", 3),
    "indentation": ("def double(x):\nreturn x", "This is not Python: expected an indented block .*", 2),
    "tabs": ("def double(x):\n    x = 1\n\treturn x", "This is not Python: inconsistent use of tabs .*", 3),
    "end": ("def double(x):\n    return (", "This is not Python: '\\(' was never closed.", 2),
    "prose": ("My answer is two.", "This is not Python: invalid syntax.", 1),
    "NUL": ("x = 1\ny = '\0'\n" + DOUBLED, NO_TEXT, 2),
    "only NUL": ("\0", NO_TEXT, 1),
    "no UTF-8": ("x = 1\n\n# \udcff\n" + DOUBLED, NO_TEXT, 3),
    "deep": ("x = " + "(" * 1000 + ")" * 1000, "This is not Python: too many nested parentheses.", 1),
    "too long": (DOUBLED + "#" * MAX_SOURCE, "The program is longer than 1024 KB.", None),
}


@pytest.mark.parametrize(("source", "message", "line"), SOURCES.values(), ids=SOURCES)
def test_failure_of_source_that_is_not_python(worker: Session, source: str, message: str, line: int | None) -> None:
    check_judgement(worker.check(EXERCISE, source), "error", message, line)


@pytest.mark.parametrize(
    "source", ["", " \n\t\n", "# nothing yet\n", '"""Only a docstring."""\n', "pass\n", "Double = 1\n"]
)
def test_source_that_defines_nothing_fails(worker: Session, source: str) -> None:
    message = ".*Your code does not define `double`. The task says what to write."
    check_judgement(worker.check(EXERCISE, source), "failed", message, None)


@pytest.mark.parametrize(
    "source",
    [
        DOUBLED.replace("\n", "\r\n"),
        DOUBLED.replace("    ", "\t"),
        "# Ω \U0001f600\n" + DOUBLED,
        "# -*- coding: latin-1 -*-\n" + DOUBLED,
        DOUBLED + "#" * (MAX_SOURCE - len(DOUBLED)),
        "double = lambda x: x + x",
        "if __name__ == '__main__':\n    raise SystemExit\n" + DOUBLED,
    ],
)
def test_source_of_an_unusual_form_passes(worker: Session, source: str) -> None:
    assert worker.check(EXERCISE, source).verdict == "passed"


# Programs that cheat or break their tools ----------------------------------------------------------------------------

PATCHES = {
    "allclose": "import torch\ntorch.allclose = lambda *args, **options: {0}",
    "equality": "import torch\ntorch.Tensor.__eq__ = lambda *args: {0}",
    "json": "import json\njson.dumps = json.loads = None",
    "os.write": "import os\nos.write = os.read = None",
    "struct": "import struct\nstruct.pack = struct.unpack = None",
    "print": "import builtins\nbuiltins.print = None",
    "output": "import sys\nsys.stdout.close()\nsys.stderr.close()",
    "no output": "import sys\nsys.stdout = sys.stderr = sys.stdin = None",
    "exit": "import os, sys\nsys.exit = os._exit = None",
    "names of the checker": "close = refill = got = want = context = torch = None\ndef pick(*args): raise SystemExit",
    "main": "import sys\nsys.modules['__main__'] = sys.modules['attn_tutor.lessons.worker.jobs.values'] = None",
    "seed": "import random, torch\ntorch.manual_seed = random.seed = lambda *args: None",
}


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
def test_patch_does_not_change_the_verdict(worker: Session, patch: str) -> None:
    right, wrong = (f"{patch.format(say)}\n" for say in (False, True))
    assert worker.check(EXERCISE, right + DOUBLED).verdict == "passed"
    judgement = worker.check(EXERCISE, wrong + "def double(x):\n    return x\n")
    assert judgement.verdict == "failed"
    assert re.fullmatch(r"twice: The sum is -?\d+\.\d\d, not -?\d+\.\d\d\.", judgement.message)


def test_answer_cannot_draw_a_hidden_input_again(worker: Session) -> None:
    exercise = EXERCISE.model_copy(update={"context": "context = {'x': torch.rand(3)}"})
    assert worker.check(exercise, "import torch\ndef double(x):\n    return 2 * torch.rand(3)\n").verdict == "failed"


BREAKS = {
    "some builtins": "import builtins\nbuiltins.len = builtins.isinstance = builtins.zip = None",
    "all builtins": "import builtins\nfor name in list(vars(builtins)): vars(builtins)[name] = None",
    "all descriptors": "import os\nos.closerange(0, 256)",
    "socket": "import socket\nsocket.socket.sendall = socket.socket.recv = None",
    "dict": "import builtins\nbuiltins.dict = builtins.list = builtins.str = None",
}


@pytest.mark.parametrize("patch", BREAKS.values(), ids=BREAKS)
def test_program_that_breaks_its_tools_does_not_pass(worker: Session, patch: str) -> None:
    judgement = worker.check(EXERCISE, f"{patch}\ndef double(x):\n    return x\n")
    assert judgement.verdict in ("crash", "error", "failed")
    assert judgement.message


RETURNS = {
    "nothing": ("", "failed"),
    "a constant": ("import torch\n    return torch.ones(2, 3)", "failed"),
    "its input": ("return x", "failed"),
    "praise": ("return 'passed'", "failed"),
    "true": ("return True", "failed"),
    "not a number": ("return x * float('nan')", "failed"),
    "another shape": ("return 2 * x.T", "failed"),
    "one row": ("return 2 * x[:1]", "failed"),
    "a list": ("return (2 * x).tolist()", "failed"),
    "a generator": ("yield 2 * x", "error"),
    "an object": ("return object()", "error"),
    "a complex tensor": ("return 2 * x + 0j", "error"),
    "a sparse tensor": ("return (2 * x).to_sparse()", "error"),
    "a tensor without data": ("return x.to('meta')", "error"),
    "a large tensor": ("return x.new_zeros(2000, 2000)", "error"),
    "many values": ("return [0] * 10_000", "error"),
    "a tensor like no other": (
        """import torch
    class Same(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), options=None): return True
    return x.as_subclass(Same)""",
        "error",
    ),
    "a double": ("return 2 * x.double()", "passed"),
    "a view": ("return (2 * x.T).T", "passed"),
    "a parameter": ("import torch\n    return torch.nn.Parameter(2 * x)", "passed"),
    "its input, changed": ("x *= 2\n    return x", "passed"),
}


@pytest.mark.parametrize(("body", "verdict"), RETURNS.values(), ids=RETURNS)
def test_verdict_of_a_cheating_answer(worker: Session, body: str, verdict: str) -> None:
    judgement = worker.check(EXERCISE, f"def double(x):\n    {body or 'pass'}\n")
    assert judgement.verdict == verdict, judgement
    assert judgement.message


FORGER = f"""
import os, struct, time
def send(text, blob=b'', head=None):
    os.write(3, head or struct.pack('<4sIQ', {wire.MAGIC!r}, len(text), len(blob)))
    os.write(3, text + blob)
loaded = b'{{"op": "answer_loaded", "error": null, "missing": []}}'
def answer(actual):
    send(loaded)
    send(b'{{"op": "answer_report", "error": null, "actual": ' + actual + b'}}')
    time.sleep(1000)
"""
FORGERIES = {
    "garbage": ("send(b'garbage', head=b'garbage')", "crash"),
    "spaces": ("send(b' ' * 2**20)", "crash"),
    "too large": ("send(b'', head=struct.pack('<4sIQ', b'atn1', 2**32 - 1, 2**63))", "crash"),
    "half a frame": ("send(b'', head=b'atn1')", "crash"),
    "no object": ("send(b'[]')", "crash"),
    "another message": ("send(b'{}')", "crash"),
    "missing of another type": ("""send(loaded.replace(b'[]', b'5'))""", "crash"),
    "error of another type": ("""send(loaded.replace(b'null', b'"none"'))""", "crash"),
    "error without a kind": ("""send(loaded.replace(b'null', b'{"message": "", "line": null}'))""", "crash"),
    "error that says passed": (
        """send(loaded.replace(b'null', b'{"kind": "passed", "message": "", "line": null}'))""",
        "crash",
    ),
    "one field more": ("""send(loaded.replace(b'}', b', "verdict": "passed"}'))""", "crash"),
    "decision": ("""send(loaded); send(b'{"op": "decision", "checks": []}')""", "crash"),
    "nothing": ("answer(b'null')", "error"),
    "text": ("""answer(b'"passed"')""", "error"),
    "NaN": ("answer(b'NaN')", "error"),
    "a number of 4000 digits": ("answer(b'9' * 4000)", "error"),
    "a number of 9000 digits": ("answer(b'9' * 9000)", "crash"),
    "depth": ("answer(b'[' * 900 + b']' * 900)", "error"),
    "more depth": ("answer(b'[' * 100_000 + b']' * 100_000)", "crash"),
    "text that grows": ("""answer(b'["' + 'Ω'.encode() * 300_000 + b'"]')""", "error"),
    "wrong tensors": ("""answer(b'[{"t": "tensor", "dtype": "float32", "shape": [3], "offset": 0}]')""", "error"),
    "attributes": ("""answer(b'[' + b','.join([b'{"t": "dict", "items": [["__class__",1]]}'] * 3) + b']')""", "failed"),
    "no values": ("""answer(b'[' + b','.join([b'{"t": "dict", "items": []}'] * 3) + b']')""", "failed"),
    "one answer of three": ("""answer(b'[{"t": "dict", "items": []}]')""", "error"),
}  # fmt: skip


@pytest.mark.parametrize(("forgery", "verdict"), FORGERIES.values(), ids=FORGERIES)
def test_verdict_of_a_forged_reply(worker: Session, forgery: str, verdict: str) -> None:
    judgement = worker.check(QUICK, f"{FORGER}\n{forgery}\nos._exit(0)\n")
    assert judgement.verdict == verdict, judgement
    assert not judgement.passed


def test_forged_result_of_a_step_is_refused(worker: Session) -> None:
    source = (
        FORGER
        + """send(
        b'{"op": "step_report", "id": "one", "error": null, "stdout": [0, 0], "tensors": [{}], "text": {},'
        b' "shapes": [], "notes": [], "seconds": 0}')"""
    )
    run = worker.run(lesson_of(code_step("one", source, "x"), code_step("two", "x = 2")))
    run.close()
    (one,) = run.steps
    assert one.error is not None
    assert (one.error.kind, one.error.message) == ("crash", UNREADABLE)


# What programs leave behind ------------------------------------------------------------------------------------------

LEFT = {
    "a thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()",
    "an exit handler": "import atexit, time\natexit.register(time.sleep, 1000)",
    "an object that does not die": "import time\nclass Last:\n    def __del__(self): time.sleep(1000)\nlast = Last()",
    "a program": "import subprocess\nprint(subprocess.Popen(['sleep', '1000']).pid)",
    "a session": "import subprocess\nprint(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid)",
    "a daemon": """
        import os, time
        read, write = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork(): os._exit(0)
            os.write(write, str(os.getpid()).encode())
            time.sleep(1000)
        os.wait()
        print(os.read(read, 10).decode())
    """,
    "many daemons": code(FORK.format(DAEMON)) + "child(10)",
}  # fmt: skip


@pytest.mark.parametrize("source", LEFT.values(), ids=LEFT)
def test_processes_that_are_left_behind_end_with_the_verdict(worker: Session, source: str) -> None:
    judgement = worker.check(EXERCISE, code(source) + "\n" + DOUBLED)
    assert judgement.verdict == "passed", judgement
    assert at_work(worker) == []
    for pid in map(int, judgement.stdout.split()):
        wait_for_end(pid, seconds=0)
        assert not Path(f"/proc/{pid}").exists()


def test_program_that_continues_in_another_process_gets_a_verdict(worker: Session) -> None:
    judgement = worker.check(EXERCISE, "import os\nif os.fork(): os._exit(0)\n" + DOUBLED)
    # Either may come first: the answer, which is right, or the end of the process that was started for it.
    assert judgement.verdict in ("crash", "passed")
