#!/usr/bin/env python3
"""The launchd job is well formed, holds what the daemon relies on, and no key that launchd ignores."""
import pathlib
import plistlib
import sys

PLIST = pathlib.Path(__file__).parents[2] / "deploy/launchd/net.mpsd.mpsd.plist"

# Every key of launchd.plist(5), with the types that its value may have.
KEYS = {
    "AbandonProcessGroup": bool, "AssociatedBundleIdentifiers": (str, list),
    "BundleProgram": str, "Debug": bool, "Disabled": bool, "EnableGlobbing": bool,
    "EnablePressuredExit": bool, "EnableTransactions": bool, "EnvironmentVariables": dict,
    "ExitTimeOut": int, "GroupName": str, "HardResourceLimits": dict, "InitGroups": bool,
    "KeepAlive": (bool, dict), "Label": str, "LaunchEvents": dict, "LaunchOnlyOnce": bool,
    "LegacyTimers": bool, "LimitLoadFromHosts": list, "LimitLoadToHardware": dict,
    "LimitLoadToHosts": list, "LimitLoadToSessionType": (str, list),
    "LowPriorityBackgroundIO": bool, "LowPriorityIO": bool, "MachServices": dict,
    "MaterializeDatalessFiles": bool, "Nice": int, "OnDemand": bool, "POSIXSpawnType": str,
    "ProcessType": str, "Program": str, "ProgramArguments": list, "QueueDirectories": list,
    "RootDirectory": str, "RunAtLoad": bool, "SessionCreate": bool, "Sockets": dict,
    "SoftResourceLimits": dict, "StandardErrorPath": str, "StandardInPath": str,
    "StandardOutPath": str, "StartCalendarInterval": (dict, list), "StartInterval": int,
    "StartOnMount": bool, "ThrottleInterval": int, "TimeOut": int, "Umask": (int, str),
    "UserName": str, "WaitForDebugger": bool, "WatchPaths": list, "WorkingDirectory": str,
    "inetdCompatibility": dict,
}
LIMIT_KEYS = {"Core", "CPU", "Data", "FileSize", "MemoryLock", "NumberOfFiles",
              "NumberOfProcesses", "ResidentSetSize", "Stack"}
# launchd's own words; the manual knows no other.
PROCESS_TYPES = {"Background", "Standard", "Adaptive", "Interactive"}


def right_type(value, types):
    """A Python bool is an int; a property list's is not."""
    types = types if isinstance(types, tuple) else (types,)
    return type(value) in types


def faults(job, label):
    for key, value in job.items():
        if key not in KEYS:
            yield f"{key}: launchd.plist(5) has no such key"
        elif not right_type(value, KEYS[key]):
            yield f"{key}: must not be of type {type(value).__name__}"
    arguments = job.get("ProgramArguments", [])
    limits = job.get("SoftResourceLimits", {})
    rules = {
        "Label must be the file's name": job.get("Label") == label,
        "ProgramArguments must be PROGRAM serve --config FILE":
            len(arguments) == 4 and arguments[1:3] == ["serve", "--config"],
        "ProgramArguments must hold absolute paths, since launchd expands nothing":
            all(arguments[i].startswith("/") for i in (0, 3) if i < len(arguments)),
        "RunAtLoad must be true": job.get("RunAtLoad") is True,
        "KeepAlive must be true": job.get("KeepAlive") is True,
        "ExitTimeOut must be 60": job.get("ExitTimeOut") == 60,
        "ProcessType must be Interactive": job.get("ProcessType") == "Interactive",
        "ProcessType must be one that launchd knows": job.get("ProcessType") in PROCESS_TYPES,
        "SoftResourceLimits must hold known limits": set(limits) <= LIMIT_KEYS,
        "NumberOfFiles must be 4096 or more": limits.get("NumberOfFiles", 0) >= 4096,
        "StandardErrorPath must be absolute": job.get("StandardErrorPath", "").startswith("/"),
        "StandardOutPath must be absolute": job.get("StandardOutPath", "").startswith("/"),
        "AbandonProcessGroup must not be set: workers would outlive the daemon":
            not job.get("AbandonProcessGroup", False),
    }
    yield from (text for text, kept in rules.items() if not kept)


def main():
    job = plistlib.loads(PLIST.read_bytes(), fmt=plistlib.FMT_XML)
    found = list(faults(job, PLIST.stem))
    for fault in found:
        print(f"{PLIST.name}: {fault}", file=sys.stderr)
    # The check itself must see a key that launchd would ignore, and a value of the wrong type.
    broken = {**job, "Keepalive": True, "RunAtLoad": 1}
    if len(list(faults(broken, PLIST.stem))) < len(found) + 3:
        sys.exit("plist_test.py: does not see a broken job")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
