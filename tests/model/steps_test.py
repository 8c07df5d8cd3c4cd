#!/usr/bin/env python3
"""Verifies the model of requests of steps, or shows that the verifier finds a bug in it.

steps_test.py              no error may be found
steps_test.py BUG STEPS REQUESTS FAULTS KILLS CHANGES
                           an error must be found with -DBUG_<BUG> in a model of this size
steps_test.py --transitions HEADER
                           the model's table of transitions is that of server/request/request.h
"""
import pathlib
import sys

from spin_model import SpinModel

# Few enough of each that every state is seen within seconds.
MODEL = SpinModel(pathlib.Path(__file__).with_name("steps.pml"),
                  ("STEPS", "REQUESTS", "FAULTS", "KILLS", "CHANGES"),
                  [(3, 1, 1, 0, 0), (4, 1, 0, 0, 0), (2, 1, 1, 1, 1), (2, 2, 0, 0, 0)])


def main(arguments):
    if arguments[:1] == ["--transitions"]:
        # No member is decoupled. A step that is held back for a larger worker is as one that is queued.
        MODEL.compare_transitions("request_state", "RequestState", arguments[1],
                                  ["kAnswering", "kHeld"])
        return 0
    return MODEL.run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
