#!/usr/bin/env python3
"""Leaves out one edit of patch_libtorch.py after the other, and says which case notices it.

run_mutants.py STOCK PATCHED BUILD [EDIT…]

STOCK and PATCHED are folders with sources, BUILD is the build folder of both. The files of PATCHED
are edited in place, and are as before at the end. The exit status is 1 if nothing notices that an
edit is gone, or if the compiler does where a case should.
"""
import os
import pathlib
import subprocess
import sys

import run_cases

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "worker/libtorch"))
import patch_libtorch  # pylint: disable=wrong-import-position

SEEDS = 3  # a race needs its luck
EDITS = patch_libtorch.POOL_EDITS + patch_libtorch.EDITS
COMPILER = "the compiler"
# The case that is tried first. The last ones change headers of all sources, and so take longest. The
# sources of 2.6.0 have no place for `linear-graphs`.
SHOWN_BY = {"commit-and-continue": "continues", "stream-waits": "waits-for-others",
            "block-stream": "kernel-blocks", "task-stream": "forks",
            "buffer-loops": "freed-beside-trims", "layer-norm-lock": "layer-norms",
            "kept-buffer": "kept-buffers", "event-stream": "events",
            "event-timing": "untimed-events", "caller-stream": "own-queues",
            "stream-guard": "guards", "stream-pool": COMPILER, "buffer-stream": "freed-buffers",
            "stream-state": "shared-streams", "thread-caches": "layers",
            "cache-bound": "many-shapes", "shader-maps": "views"}


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
    # clang refuses a precompiled header from the cache where a header is younger.
    return subprocess.run(["ninja", "-C", folder, f"-j{os.cpu_count()}", "torch_mps_patched"],
                          check=False, capture_output=True,
                          env={**os.environ, "CCACHE_DISABLE": "1"}).returncode == 0


def verdict(folder, edit):
    """Who notices the mutant, the compiler or a case; None if nothing does."""
    if not build(folder):
        return COMPILER
    cases = sorted(run_cases.THREADS, key=lambda case: case.name != SHOWN_BY[edit])
    for seed in range(1, SEEDS + 1):
        for case in cases:
            passed, line = run_cases.run(folder, "patched", case, seed)
            if not passed:
                return f"{case}, seed {seed}: {line}"
    return None


def main():
    stock, patched, folder = (pathlib.Path(path) for path in sys.argv[1:4])
    edits = sys.argv[4:] or SHOWN_BY
    survivors = surprises = 0
    for edit in edits:
        write(texts_without(stock, lambda other, name=edit: other.name == name), patched)
        noticed = verdict(folder, edit)
        survivors += noticed is None
        surprises += noticed is None or (noticed == COMPILER) != (SHOWN_BY[edit] == COMPILER)
        print(f"without {edit}: {noticed or 'SURVIVES'}", flush=True)
    write(texts_without(stock, lambda edit: False), patched)
    surprises += not build(folder)
    print(f"{len(edits)} mutants, {survivors} survive, {surprises} surprises")
    sys.exit(1 if surprises else 0)


if __name__ == "__main__":
    main()
