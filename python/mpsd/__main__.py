"""The command `mpsd`, and `python -m mpsd`: becomes the program, in the environment it needs."""
from __future__ import annotations

import os
import sys

from . import _programs

# Verbs that start workers; the others do without torch.
_STARTS_WORKERS = {"serve", "inspect", "init", "tune"}


def main() -> None:
    arguments = sys.argv[1:]
    if arguments and arguments[0] in _STARTS_WORKERS and "--help" not in arguments:
        objection = _programs.objection()
        if objection:
            print(f"mpsd: {objection}", file=sys.stderr)
            sys.exit(78)  # as the program does if its config is wrong
    program = str(_programs.daemon())
    os.execve(program, [program, *arguments], _programs.environment())


if __name__ == "__main__":
    main()
