#!/usr/bin/env python3
"""Verifies the model of the slot protocol, or shows that the verifier finds a bug in it.

slots_test.py              no error may be found
slots_test.py BUG REQUESTS KILLS ANSWERS
                           an error must be found with -DBUG_<BUG> in a model of this size
slots_test.py --transitions HEADER
                           the model's table of transitions is that of server/pool/lanes/slot_state.h
"""
import pathlib
import sys

from spin_model import SpinModel

# Few enough of each that every state is seen within seconds.
MODEL = SpinModel(pathlib.Path(__file__).with_name("slots.pml"), ("REQUESTS", "KILLS", "ANSWERS"),
                  [(3, 1, 0), (2, 2, 0), (1, 3, 0), (2, 1, 1), (1, 2, 1)])


def main(arguments):
    if arguments[:1] == ["--transitions"]:
        MODEL.compare_transitions("slot_state", "SlotState", arguments[1])
        return 0
    return MODEL.run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
