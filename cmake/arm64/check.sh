#!/usr/bin/env bash
# Runs mpsd as an arm64 program on an x86 Debian, compiled here and run by qemu: unit tests, those of
# the memory plane with pages of 16 KiB too, like those of a Mac, and an answer of MiniLM by a whole
# daemon. `./run check-arm64` calls it once .deps/arm64 has the sysroot and libtorch.
#   check.sh PYTHON [JOBS]
# PYTHON: one with the packages of tests/requirements.txt.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/cmake/arm64/cross.sh"
python=$1
jobs=${2:-$(nproc)}
tests=(base_test confine_test shm_test shm_two_process_test unicode_test tokenizer_test config_test
  minilm_reference_test)

# What takes minutes by qemu: ends that yield to one another, large files, many configs, long texts.
left_out=RingThreads.LoseNoWakeWhenTheEndsSleepAtRandom
left_out+=:RingThreads.LoseNoWakeWithABatchQueuedBehindTheRunningOne
left_out+=:TokenizerBounds.*:ByteTrie.AgreesWithAMapOnManyKeys
left_out+=:TokenizerGrowth.ATextWhoseNormalFormIsLargeIsRefused
left_out+=:ConfigKeys.*:ConfigValues.*:MiniLm.EmbedsEach*:MiniLm.EmbedsPadded*:MiniLm.EmbedsInAnyOrder*
# What posix_spawn says of a program that is not there, which qemu does not pass on. And tests that
# start themselves once more.
left_out+=:Spawn.SaysWhichProgramItCannotStart:ThreadRoleDeathTest.*

# A kernel without binfmt_misc starts no program of another machine.
write_starter() { # SCRIPT COMMAND...
  printf '#!/bin/sh\nexec %s"$@"\n' "$(printf '%q ' "${@:2}")" >"$1"
  chmod +x "$1"
}

run_tests() { # PAGE_BYTES TESTS...
  local test
  write_starter "$build/tests/ring_peer.sh" "${emulate[@]}" -p "$1" "$build/tests/ring_peer"
  for test in "${@:2}"; do
    echo "== $test, arm64, pages of $1 bytes"
    (cd "$build" && "${emulate[@]}" -p "$1" "tests/$test" --gtest_brief=1 \
      "--gtest_filter=-$left_out" 2>&1) | grep -vE '^$|Death tests use fork'
  done
}

cmake -S "$root" --preset package "${configure[@]}" "-DMPSD_LIBTORCH=$libtorch" -DMPSD_TESTS=ON \
  --log-level=WARNING >/dev/null
cmake --build "$build" -j "$jobs" --target mpsd mpsd-worker "${tests[@]}"
run_tests 4096 "${tests[@]}"
run_tests 16384 base_test shm_test shm_two_process_test

echo "== MiniLM, by a daemon of arm64"
mkdir -p "$build/emulated" "$build/lib"
ln -sfn "$libtorch/lib" "$build/lib/mpsd"
for program in mpsd mpsd-worker; do
  write_starter "$build/emulated/$program" "${emulate[@]}" "$build/bin/$program"
done
MPSD_BIN=$build/emulated MPSD_WORKER=$build/emulated/mpsd-worker MPSD_START_LIMIT_S=600 \
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/tests/support "$python" "$root/tests/integration/minilm_test.py" \
  MiniLm.test_the_verb_takes_text
