"""What tests of clients for Node share: tests/compat/fetch_clients.sh fetches these, where it can."""
import json
import os
import pathlib
import re
import shutil
import subprocess

from text_clients import ROOT, skip

OLDEST_NODE = 20
CLIENTS = pathlib.Path(os.environ.get("MPSD_CLIENTS") or ROOT / ".deps/clients")


def need(package):
    """Goes on only where there are Node and the package."""
    program = shutil.which("node")
    version = program and subprocess.run([program, "--version"], capture_output=True, text=True,
                                         check=False).stdout
    found = re.match(r"v(\d+)\.", version or "")
    if not found or int(found[1]) < OLDEST_NODE:
        skip(f"node of version {OLDEST_NODE} or newer")
    if not _folders(package):
        skip(f"{package} for node: tests/compat/fetch_clients.sh fetches it, where it can")


def _folders(package):
    return sorted(folder for folder in CLIENTS.glob("node_clients-*")
                  if (folder / "node_modules" / package).is_dir())


def run(script, package="openai", **environment):
    """The object of JSON that the script prints, which is one of tests/compat/node."""
    # A module from the standard input finds packages from the folder in which it runs.
    done = subprocess.run(
        ["node", "--input-type=module"], cwd=_folders(package)[-1],
        input=(ROOT / "tests/compat/node" / script).read_text(), env={**os.environ, **environment},
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
