#!/usr/bin/env python3
"""Leaves out one edit of patch_libtorch.py after the other, and says which case notices it.

run_mutants.py STOCK PATCHED BUILD [EDIT…]

STOCK and PATCHED are folders with sources, BUILD is the build folder of both. The files of PATCHED
are edited in place, and are as before at the end.
"""
import pathlib
import subprocess
import sys

import run_cases

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "worker/libtorch"))
import patch_libtorch  # pylint: disable=wrong-import-position

SEEDS = 3  # a race needs its luck
EDITS = patch_libtorch.POOL_EDITS + patch_libtorch.EDITS


def texts_without(stock, is_left_out):
    """{path: text} of the files that edits touch, with all edits but some."""
    kept = [edit for edit in EDITS if not is_left_out(edit)]
    texts, _ = patch_libtorch.edited_texts(kept, lambda path: stock / path)
    for edit in EDITS:
        if edit.path not in texts:
            texts[edit.path] = (stock / edit.path).read_text()
    return texts


def write(texts, patched):
    """Writes what differs, so that only such files are compiled again."""
    for path, text in texts.items():
        file = patched / path
        if file.read_text() != text:
            file.write_text(text)


def build(folder):
    return subprocess.run(["nice", "ninja", "-C", folder, "-j1", "torch_mps_patched"], check=False,
                          capture_output=True).returncode == 0


def verdict(folder):
    """The first case that notices the mutant; None if none does."""
    for seed in range(1, SEEDS + 1):
        for case in run_cases.THREADS:
            passed, line = run_cases.run(folder, "patched", case, seed)
            if not passed:
                return f"{case}, seed {seed}: {line}"
    return None


def main():
    stock, patched, folder = (pathlib.Path(path) for path in sys.argv[1:4])
    edits = sys.argv[4:] or patch_libtorch.names_of(EDITS)
    survivors = 0
    for edit in edits:
        write(texts_without(stock, lambda other, name=edit: other.name == name), patched)
        noticed = verdict(folder) if build(folder) else "the compiler"
        survivors += noticed is None
        print(f"without {edit}: {noticed or 'SURVIVES'}", flush=True)
    write(texts_without(stock, lambda edit: False), patched)
    build(folder)
    print(f"{len(edits)} mutants, {survivors} survive")


if __name__ == "__main__":
    main()
