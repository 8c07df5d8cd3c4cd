#!/usr/bin/env python3
"""Reads the imports of macOS arm64 binaries and refuses what no library of a Mac would define.

imports.py BINARY...

The link leaves undefined names open because neither libc++ nor Abseil is there to link against. A
name that is bound to a library was found in it; of the others only the C++ runtime's and Abseil's
may stay open.
"""
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
ABSEIL = re.compile(r"__Z(N[KVRO]*|T[ISVTC]N?K?|GVN?|GRN?)?4absl|_AbslInternal")


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


def main(paths):
    failed = False
    for path in paths:
        with open(path, "rb") as file:
            everything, unbound = open_names(file.read())
        abseil = [name for name in unbound if ABSEIL.match(name)]
        bad = [n for n in unbound if not RUNTIME.match(n) and not ABSEIL.match(n)]
        print(f"{path.rsplit('/', 1)[-1]}: {len(everything)} imports, {len(abseil)} of Abseil, "
              f"{len(unbound) - len(abseil) - len(bad)} of libc++, {len(bad)} undefined")
        for name in bad:
            print(f"  undefined: {name}")
        failed = failed or bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
