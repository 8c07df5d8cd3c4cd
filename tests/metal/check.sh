#!/usr/bin/env bash
# Runs libtorch's mps backend on the stand-in of Metal, stock and patched, in a bare Debian 13. Then
# this clone's release build serves with workers on both.
#   check.sh CACHE JOBS [--mutants]
# CACHE keeps the root and its builds. The first run fetches packages of 2 GB and takes an hour
# on two cores. Needs root and debootstrap.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/cmake/distros/chroot.sh"
mkdir -p "$1"
folder=$(cd "$1" && pwd)/root
need_debootstrap
if [ ! -e "$folder/.complete" ]; then
  timed 'the bare Debian 13' make_chroot trixie "$folder" "$folder.log"
fi
timed "the clone's files into it" fill_sources "$folder"
in_chroot "$folder" "bash /mpsd/tests/metal/inside.sh ${*:2}"
export MPSD_METAL_ROOT=$folder
timed 'the daemon with workers on mps' "$root/.deps/venv/bin/python" "$here/worker_test.py"
timed 'the coverage' in_chroot "$folder" \
  'python3 /mpsd/tests/metal/coverage.py /build/coverage /build/worker/bin/mpsd-worker \
    /build/worker/bin/mpsd-lane-bars /build/worker/tests/torchscript_model_test'
