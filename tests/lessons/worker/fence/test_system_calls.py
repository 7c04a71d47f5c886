"""The filter of system calls, run by a small interpreter, for the machines that this one is not too."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from attn_tutor.lessons.worker.fence.system_calls import ABSENT, CALLS, MACHINES, NEWEST, REFUSE, Instruction, program

LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOWED, REFUSED, UNKNOWN = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
TESTS: dict[int, Any] = {EQUAL: lambda a, b: a == b, AT_LEAST: lambda a, b: a >= b, ANY_BIT: lambda a, b: a & b != 0}
ABI = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def verdict(block: list[Instruction], call: int, *arguments: int, abi: int) -> int:
    """Return what a filter answers to a call."""
    data = {0: call, 4: abi} | {16 + 8 * i: value & 0xFFFFFFFF for i, value in enumerate(arguments)}
    at = value = 0
    while True:
        code, if_true, if_false, number = block[at]
        at += 1
        if code == RETURN:
            return number
        if code == LOAD:
            value = data.get(number, 0)
        elif code == AND:
            value &= number
        else:
            at += if_true if TESTS[code](value, number) else if_false


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_the_table_are_refused_and_no_others(machine: str) -> None:
    block, abi = program(machine), ABI[machine]
    present = [call.number(machine) for call in CALLS.values() if call.number(machine) != ABSENT]
    assert len(set(present)) == len(present)
    refused = {call.number(machine) for call in CALLS.values() if call.refuse is REFUSE} - {ABSENT}
    # Without arguments, the rest is a call about the own process, or of no harm, but for clone3 and openat2.
    for number in range(NEWEST + 1):
        expected = REFUSED if number in refused else UNKNOWN if number in (435, 437) else None
        answer = verdict(block, number, abi=abi)
        assert answer == expected if expected else number in present or answer == ALLOWED, number
    assert verdict(block, NEWEST + 1, abi=abi) == verdict(block, 0x40000000, abi=abi) == UNKNOWN
    assert verdict(block, 0, abi=0x40000003) == UNKNOWN


WITH_ARGUMENTS = [
    ("prlimit64", (0, 7, 0, 0), ALLOWED),
    ("prlimit64", (1234, 7, 0, 0), REFUSED),
    # The kernel takes the lower half of a number alone, and so does the filter.
    ("prlimit64", (1 << 32, 7, 0, 0), ALLOWED),
    ("setpriority", (0, 0, 5), ALLOWED),
    ("setpriority", (2, 0, 5), REFUSED),
    ("setpriority", (0, 12, 5), REFUSED),
    ("ioprio_set", (1, 0, 0), ALLOWED),
    ("ioprio_set", (3, 0, 0), REFUSED),
    ("kill", (-1, 9), REFUSED),
    ("kill", (0, 9), ALLOWED),
    ("socket", (1, 1, 0), ALLOWED),
    ("socket", (2, 1, 0), REFUSED),
    ("ioctl", (0, 0x5401), ALLOWED),
    ("ioctl", (0, 0x80086601), ALLOWED),
    ("ioctl", (0, 0x8912), ALLOWED),
    ("ioctl", (0, 0x5412), REFUSED),
    ("ioctl", (0, 0x402C542B), REFUSED),
    ("ioctl", (0, 0x40086602), REFUSED),
    ("ioctl", (0, 0x401C5820), REFUSED),
    # The attributes of a file on other file systems, and a copy of a folder; one of a file, open for writing, is none.
    ("ioctl", (0, 0x40087602), REFUSED),
    ("ioctl", (0, 0x40047211), REFUSED),
    ("ioctl", (0, 0x5000940E), REFUSED),
    ("ioctl", (0, 0x4020BC10), REFUSED),
    ("ioctl", (0, 0x4004F50D), REFUSED),
    ("ioctl", (0, 0xC018CF07), REFUSED),
    ("ioctl", (0, 0x40049409), ALLOWED),
    # Landlock, before its third version, lets a file be emptied that is opened to be read, or for neither.
    ("openat", (-100, 0, 0o1000), REFUSED),
    ("openat", (-100, 0, 0o2001003), REFUSED),
    ("openat", (-100, 0, 0o1001), ALLOWED),
    ("openat", (-100, 0, 0o1102), ALLOWED),
    ("openat", (-100, 0, 0o2000003), ALLOWED),
    ("openat", (-100, 0, 0o2000000), ALLOWED),
    ("clone", (0x01200011, 0), ALLOWED),
    ("clone", (0x003D0F00, 0), ALLOWED),
    ("clone", (0x10000011, 0), REFUSED),
    ("clone", (0x00020011, 0), REFUSED),
    ("mkdirat", (-100, 0, 0o777), ALLOWED),
    ("mkdirat", (-100, 0, 0o300), REFUSED),
    ("umask", (0o077,), ALLOWED),
    ("umask", (0o777,), REFUSED),
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "arguments", "expected"), WITH_ARGUMENTS)
def test_arguments_decide(machine: str, name: str, arguments: tuple[int, ...], expected: int) -> None:
    assert verdict(program(machine), CALLS[name].number(machine), *arguments, abi=ABI[machine]) == expected
