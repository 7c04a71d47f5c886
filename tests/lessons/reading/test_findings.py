"""Findings as lines of text."""

from __future__ import annotations

import os

from attn_tutor.lessons.reading.findings import Finding


def test_a_finding_is_one_line_that_commands_no_terminal() -> None:
    """A course of somebody else may have files of any names."""
    file = os.fsdecode(b"le\x1b[2Js\xffson\n.yaml")
    found = str(Finding(file, 2, 8, "a text with '\x1b'\nin it", "Take it out."))
    assert found == "le\ufffd[2Js\ufffdson\ufffd.yaml:2:8: a text with '\ufffd' in it. Take it out."
