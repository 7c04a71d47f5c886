"""The verdicts that an answer can get."""

from __future__ import annotations

from typing import Literal

Verdict = Literal["passed", "failed", "error", "timeout", "memory", "crash"]
