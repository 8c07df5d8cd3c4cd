#!/usr/bin/env python3
"""Reads the imports of macOS arm64 binaries and refuses what no library of a Mac would define.

imports.py [--front-end C_NAMES] BINARY...

The link leaves undefined names open because neither libc++ nor Abseil is there to link against. A
name that is bound to a library was found in it; of the others only the C++ runtime's and Abseil's
may stay open. With --front-end so may those of the front end's libraries: names in their
namespaces, and the names in C that the file C_NAMES has, one a line.
"""
import argparse
import re
import struct
import sys

MACH_O_64, ARM64 = 0xFEEDFACF, 0x0100000C
LOAD_SYMBOL_TABLE = 2
FLAT_LOOKUP = (0, 0xFE)  # the library ordinals with which zig and ld64 mark a name as open
WEAK_IMPORT = 0x40

RUNTIME = re.compile(
    r"__Z(N[KVRO]*|T[ISVTC]N?K?|GVN?)?St|__ZT[ISV]N10__cxxabiv1|__ZT[ISV]P?K?[a-z]$"
    r"|__Z(nw|na|dl|da)|___cxa_|___gxx_personality|dyld_stub_binder")
SCOPE = r"__Z(N[KVRO]*|T[ISVTC]N?K?|GVN?|GRN?)?"
ABSEIL = re.compile(SCOPE + "4absl|_AbslInternal")
FRONT_END = re.compile(
    SCOPE + "(4grpc|6google8protobuf|10prometheus|6spdlog|3fmt|8simdjson)")


def open_names(binary):
    """The names that `binary` imports, as (all of them, those bound to no library)."""
    magic, cpu = struct.unpack_from("<II", binary)
    if (magic, cpu) != (MACH_O_64, ARM64):
        raise ValueError("not a macOS arm64 binary")
    everything, unbound = [], []
    offset = 32
    for _ in range(struct.unpack_from("<I", binary, 16)[0]):
        command, size = struct.unpack_from("<II", binary, offset)
        if command == LOAD_SYMBOL_TABLE:
            symbols, count, strings, _ = struct.unpack_from("<IIII", binary, offset + 8)
            for index in range(count):
                at, kind, _, description, _ = struct.unpack_from(
                    "<IBBHQ", binary, symbols + 16 * index)
                undefined = kind & 0xEE == 0 and kind & 1
                if not undefined:
                    continue
                end = binary.index(0, strings + at)
                name = binary[strings + at:end].decode()
                everything.append(name)
                if description >> 8 in FLAT_LOOKUP and not description & WEAK_IMPORT:
                    unbound.append(name)
        offset += size
    return everything, unbound


def report(path, c_names):
    """Prints what the binary leaves open; whether all of it may be."""
    with open(path, "rb") as file:
        everything, unbound = open_names(file.read())
    abseil = [name for name in unbound if ABSEIL.match(name)]
    runtime = [name for name in unbound if RUNTIME.match(name)]
    libraries = [] if c_names is None else [
        name for name in unbound if FRONT_END.match(name) or name[1:] in c_names]
    bad = sorted(set(unbound) - set(abseil) - set(runtime) - set(libraries))
    print(f"{path.rsplit('/', 1)[-1]}: {len(everything)} imports, {len(abseil)} of Abseil, "
          f"{len(runtime)} of libc++, "
          + (f"{len(libraries)} of other libraries, " if c_names is not None else "")
          + f"{len(bad)} undefined")
    for name in bad:
        print(f"  undefined: {name}")
    return not bad


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--front-end", metavar="C_NAMES", type=argparse.FileType())
    parser.add_argument("binaries", nargs="+")
    options = parser.parse_args(arguments)
    c_names = options.front_end and set(re.findall(r"[^\s@]+", options.front_end.read()))
    return 0 if all([report(path, c_names) for path in options.binaries]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
