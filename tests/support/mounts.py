"""File systems that only one daemon of a test sees, where mount namespaces can be made."""
import pathlib
import subprocess
import tempfile

from daemon import BIN

PROGRAM = """#!/bin/sh
exec unshare --mount sh -ec '
  {mounts}
  exec "$@"' {folder} {program} "$@"
"""


def binaries_with(test, mounts, binaries=BIN):
    """A folder with an `mpsd` that runs the lines `mounts` of a shell first, in mounts of its own.

    "$0" is an empty folder. The test is skipped where that cannot be.
    """
    folder = pathlib.Path(test.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-mounts-")))
    (folder / "mount").mkdir()
    program = folder / "mpsd"
    program.write_text(PROGRAM.format(mounts=mounts, folder=folder / "mount",
                                      program=binaries / "mpsd"))
    program.chmod(0o755)
    tried = subprocess.run([program, "version"], capture_output=True, text=True, timeout=60,
                           check=False)
    if tried.returncode != 0:
        test.skipTest(f"no mount namespace here: {tried.stderr}")
    return folder


def run_in(pid, *command):
    """Runs a command in the mounts of a process."""
    subprocess.run(["nsenter", "--target", str(pid), "--mount", *map(str, command)], check=True)


def seen_by(pid, path):
    """Where a path below the root of a process lies for this one."""
    return pathlib.Path("/proc", str(pid), "root") / path
