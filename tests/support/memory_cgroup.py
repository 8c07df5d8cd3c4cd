"""Memory cgroups of our own, where they are ours to make."""
import os
import pathlib
import re

PLACES = ((pathlib.Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
          (pathlib.Path("/sys/fs/cgroup"), "memory.max"))


def make(test, limit_bytes):
    """A cgroup with that much memory, until the test ends; the test is skipped where none can be."""
    for mount, limit_file in PLACES:
        cgroup = mount / f"mpsd-test-{os.getpid()}"
        try:
            cgroup.mkdir()
            test.addCleanup(cgroup.rmdir)
            (cgroup / limit_file).write_text(str(limit_bytes))
        except OSError:
            continue
        return cgroup
    return test.skipTest("memory cgroups cannot be made here")


def kills(cgroup):
    """How many of its processes the kernel has killed for want of memory."""
    for name in ("memory.oom_control", "memory.events"):
        if (cgroup / name).exists():
            return int(re.search(r"^oom_kill (\d+)", (cgroup / name).read_text(), re.MULTILINE)[1])
    return 0
