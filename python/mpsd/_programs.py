"""Which programs to start: the daemon of this package, and the worker that fits torch here.

The package has a worker for each minor version of torch, in the folders torch2.8, torch2.9 and so
on. The torch of this environment gives the libraries. It is found without importing it.
"""
from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import shutil
import sys
from typing import NamedTuple, Optional

PACKAGE = pathlib.Path(__file__).parent
# Where Debian keeps the authorities that its libraries trust; the daemon's are Debian's.
_AUTHORITIES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")


class Torch(NamedTuple):
    minor: str            # "2.11"
    folder: pathlib.Path


def daemon() -> pathlib.Path:
    """The program `mpsd`: that of this package, or where it has none, as in a clone, of PATH."""
    own = PACKAGE / "bin" / "mpsd"
    if own.exists():
        return own
    found = shutil.which("mpsd")
    if found is None:
        raise FileNotFoundError("this mpsd has no programs, and there are none in PATH")
    return pathlib.Path(found)


def find_torch() -> Optional[Torch]:
    spec = importlib.util.find_spec("torch")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        version = pathlib.Path(folder, "version.py")
        numbers = version.exists() and re.search(r"__version__ = '(\d+\.\d+)\.", version.read_text())
        if numbers:
            return Torch(numbers[1], pathlib.Path(folder))
    return None


def objection() -> str:
    """Why models cannot be served in this environment; empty where they can."""
    known = sorted((folder.name[5:] for folder in PACKAGE.glob("torch*")),
                   key=lambda minor: [int(number) for number in minor.split(".")])
    if not known or "MPSD_WORKER" in os.environ:
        return ""
    choice = f"this mpsd has workers for torch {', '.join(known)}"
    torch = find_torch()
    if torch is None:
        return f"there is no torch in this environment; {choice}: pip install torch"
    if torch.minor not in known:
        return f"torch here is {torch.minor}; {choice}"
    return ""


def environment() -> dict[str, str]:
    """The environment of the daemon: this one, with the worker and the libraries for it."""
    variables = dict(os.environ)
    if not _AUTHORITIES.exists():
        variables.update(_authorities())
    torch = find_torch()
    worker = PACKAGE / f"torch{torch.minor}" / "mpsd-worker" if torch else None
    if torch is None or worker is None or not worker.exists() or "MPSD_WORKER" in variables:
        return variables
    folders = [torch.folder / "lib", *_nvidia_folders()]
    before = variables.get("LD_LIBRARY_PATH")
    variables["LD_LIBRARY_PATH"] = ":".join([*map(str, folders), *([before] if before else [])])
    variables["MPSD_WORKER"] = str(worker)
    return variables


def _nvidia_folders() -> list[pathlib.Path]:
    return [folder for entry in sys.path if entry
            for folder in sorted(pathlib.Path(entry, "nvidia").glob("*/lib"))]


def _authorities() -> dict[str, str]:
    """On other distributions than Debian's: the authorities that Python trusts."""
    import ssl  # takes 20 ms, which most hosts need not spend
    found = ssl.get_default_verify_paths().cafile
    if found is None or "SSL_CERT_FILE" in os.environ:
        return {}
    return {"SSL_CERT_FILE": found, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": found}
