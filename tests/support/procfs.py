"""What /proc says of processes that are not our children."""
import contextlib
import os
import pathlib

PROC = pathlib.Path("/proc")


def pids():
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]


def with_environment(name, prefix):
    """The processes that were started with the variable `name` set to something that starts so."""
    start = f"{name}={prefix}".encode()
    found = []
    for pid in pids():
        try:
            environment = (PROC / str(pid) / "environ").read_bytes()
        except OSError:  # it has ended, or is not ours to look at
            continue
        if any(variable.startswith(start) for variable in environment.split(b"\0")):
            found.append(pid)
    return found


def stat(pid):
    """(name, state, parent) of a process, which everybody may see; None when it has ended."""
    try:
        text = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    name, _, rest = text.partition("(")[2].rpartition(")")
    state, parent = rest.split()[:2]
    return name, state, int(parent)


def name(pid):
    """Of the program that runs, 15 characters at most; None when it has ended."""
    told = stat(pid)
    return told and told[0]


def children(pid):
    """The processes that a process has started, and that run."""
    told = {other: stat(other) for other in pids()}
    return [other for other, found in told.items()
            if found and found[1] != "Z" and found[2] == pid]


def runs(pid):
    """Whether a process is there, and no zombie."""
    told = stat(pid)
    return told is not None and told[1] != "Z"


def threads(pid):
    """The names of a process's threads, one for each that does not end meanwhile."""
    names = []
    for task in (PROC / str(pid) / "task").iterdir():
        with contextlib.suppress(OSError):
            names.append((task / "comm").read_text().strip())
    return sorted(names)


def memory_files(pid):
    """The memfds that a process holds, as what tells one file from all others."""
    found = set()
    try:
        for fd in (PROC / str(pid) / "fd").iterdir():
            try:
                if os.readlink(fd).startswith("/memfd:"):
                    status = os.stat(fd)
                    found.add((status.st_dev, status.st_ino))
            except OSError:
                continue
    except OSError:
        pass
    return found


def all_memory_files():
    return set().union(*(memory_files(pid) for pid in pids()))


def own_bytes(pid):
    """Resident memory that no file and no other process shares."""
    _, resident, shared = (PROC / str(pid) / "statm").read_text().split()[:3]
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def mapped_memory_files(pid):
    """(inode, bytes, modes) of each piece of a memfd that a process has mapped."""
    found = []
    for line in (PROC / str(pid) / "maps").read_text().splitlines():
        addresses, modes, _, _, inode, *path = line.split(maxsplit=5)
        if path and path[0].startswith("/memfd:"):
            begin, end = (int(address, 16) for address in addresses.split("-"))
            found.append((int(inode), end - begin, modes))
    return found


def mapped_files(pid):
    """The paths of the files that a process has mapped."""
    lines = (PROC / str(pid) / "maps").read_text().splitlines()
    return {line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6}
