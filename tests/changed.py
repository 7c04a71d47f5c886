"""Find the tests of the rooms that changed, for `make check`.

A room is a folder, and `tests/` mirrors the tree: the tests of `lessons/engine/session.py` are those in
`tests/lessons/engine`. `python -m tests.changed` prints their paths, one on each line, for what differs from the main
branch, is not committed, or is not known to git yet.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parent.parent
MAIN = ("main", "origin/main")
"""Branches that a change is compared with; the first that exists counts."""


def select_tests(changed: Iterable[str], tests: Iterable[str]) -> list[str]:
    """Return the tests, of all those that exist, that changed files call for; all paths are relative to the root.

    A changed test calls for itself. Any other file calls for the tests of its room, without those of the rooms inside
    it; where the room has none, for those of the nearest room around it that has some.
    """
    rooms: dict[PurePosixPath, set[str]] = defaultdict(set)
    for test in tests:
        rooms[PurePosixPath(test).parent].add(test)
    called: set[str] = set()
    for path in map(PurePosixPath, changed):
        mirrored = path if path.parts[0] == "tests" else "tests" / path
        room = next((rooms[folder] for folder in mirrored.parents if folder in rooms), set[str]())
        called |= {str(path)} if str(path) in room else room
    return sorted(called)


def changed_paths(root: Path) -> list[str]:
    """Return the files below a folder that differ from where its branch left the main branch, also deleted ones.

    Raises:
        OSError: there is no git.
        subprocess.CalledProcessError: the folder is in no repository, or in one without a commit.
    """

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=root, stdout=subprocess.PIPE, text=True, check=True).stdout

    branches = git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes").splitlines()
    main = next((branch for branch in MAIN if branch in branches), "HEAD")
    base = git("merge-base", "HEAD", main).strip()
    # A moved file is one that is gone and one that is new: both rooms changed.
    differing = git("diff", "--name-only", "--no-renames", "--relative", "-z", base)
    unknown = git("ls-files", "--others", "--exclude-standard", "-z")
    return sorted(filter(None, (differing + unknown).split("\0")))


def main() -> int:
    """Print the tests of what changed here."""
    try:
        changed = changed_paths(ROOT)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"What changed is known only to git, and git fails here: {error}", file=sys.stderr)
        return 1
    tests = select_tests(changed, (path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")))
    print(f"{len(changed)} changed files call for {len(tests)} test files.", file=sys.stderr)
    print(*tests, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
