"""A folder with the real daemon, and a worker that does as the model's parameter `hostile` says."""
import os
import pathlib
import shutil
import sys

from daemon import BIN

ENVIRONMENT = {"MPSD_REAL_WORKER": str(BIN / "mpsd-worker")}


def binaries(folder):
    """Fills the folder; for Daemon(binaries=..., environment=hostile.ENVIRONMENT)."""
    folder = pathlib.Path(folder)
    shutil.copy(BIN / "mpsd", folder)
    text = (pathlib.Path(__file__).parent / "hostile_worker.py").read_text()
    worker = folder / "mpsd-worker"
    worker.write_text(text.replace("/usr/bin/env python3", sys.executable, 1))
    os.chmod(worker, 0o755)
    return folder
