"""Run the whole examination of explanations: `python -m tests.exam.explanations --count 500 --seed 0 --course`."""

from __future__ import annotations

import argparse
import itertools
import sys

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.reading.loader import load_course
from tests.exam.explanations.exam import examine_course, examine_programs


def main(arguments: list[str]) -> int:
    """Print what was examined and found; return 1 if something is false."""
    parser = argparse.ArgumentParser(description="Examine explanations of random programs and of the course.")
    parser.add_argument("--count", type=int, default=300, help="programs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--style", action="append", default=[], help="only programs in this style; may be given several times"
    )
    parser.add_argument("--course", action="store_true", help="also a cell of every tensor of the course")
    options = parser.parse_args(arguments)
    session = Session()
    session.start()
    try:
        parts = {"programs": examine_programs(session, itertools.count(options.seed), options.count, options.style)}
        if options.course:
            parts["course"] = examine_course(session, load_course())
    finally:
        session.close()
    for name, totals in parts.items():
        for finding in totals.found:
            print(finding)
        for reason, count in totals.reasons.most_common(12):
            print(f"ended early {count} times: {reason}")
        print(f"{name}: {totals}")
    return int(any(totals.found for totals in parts.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
