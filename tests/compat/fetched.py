"""The programs that fetch_clients.sh has fetched; a test of one that is not there is skipped."""
import os
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLIENTS = pathlib.Path(os.environ.get("MPSD_CLIENTS") or ROOT / ".deps/clients")


def fetched(name, path):
    """What lies at `path` in the folder NAME-VERSION, as a path."""
    found = sorted(CLIENTS.glob(f"{name}-*/{path}"))
    if not found:
        raise unittest.SkipTest(f"there is no {name} in {CLIENTS}: tests/compat/fetch_clients.sh "
                                "fetches it, where it can")
    return found[-1]


def client(name):
    """The path of the program, as a string."""
    return str(fetched(name, name))
