#!/usr/bin/env bash
# Runs the memory plane's tests as an arm64 program whose pages have 16 KiB, like those of a Mac, on
# an x86 Linux: compiled here, run by qemu.
#   check.sh CACHE [JOBS]
# CACHE keeps Abseil for arm64 and the objects, so that a second run takes seconds. Needs apt, and
# the packages g++-aarch64-linux-gnu, qemu-user-static, libgtest-dev.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$1"
cache=$(cd "$1" && pwd)
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
jobs=${2:-$(nproc)}
page_bytes=16384

for tool in apt-get aarch64-linux-gnu-g++ qemu-aarch64-static ninja; do
  command -v $tool >/dev/null || { echo "check.sh: there is no $tool" >&2 && exit 1; }
done

# Another architecture's package, without making it one of this machine's.
fetch_abseil() {
  if [ -e "$cache/sysroot/usr/include/absl/base/config.h" ]; then return 0; fi
  mkdir -p "$cache/apt/lists/partial" "$cache/apt/archives/partial"
  touch "$cache/apt/status"
  local apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64
    -o "Dir::State=$cache/apt" -o "Dir::State::status=$cache/apt/status" -o "Dir::Cache=$cache/apt"
    -o APT::Sandbox::User=root)
  "${apt[@]}" update >"$cache/apt.log" 2>&1 || cat "$cache/apt.log" >&2
  (cd "$cache/apt" && rm -f ./*.deb && "${apt[@]}" download libabsl-dev >>"$cache/apt.log" 2>&1)
  dpkg -x "$cache"/apt/libabsl-dev_*.deb "$cache/sysroot"
}

write_ninja() { # the sources of every program, one line each
  local object source
  {
    echo "builddir = $cache"
    echo "rule compile"
    echo "  command = ${launcher}aarch64-linux-gnu-g++ -std=c++20 -O1 -g1 -MD -MF \$out.d" \
      "-I$root -isystem $cache/sysroot/usr/include -isystem $cache/include" \
      "-isystem /usr/src/googletest/googletest -isystem /usr/src/googletest/googletest/include" \
      "-DMPSD_FAILPOINTS=0 -DMPSD_RING_PEER='\"$cache/ring_peer.sh\"' -c \$in -o \$out"
    echo "  depfile = \$out.d"
    echo "  deps = gcc"
    echo "rule link"
    echo "  command = aarch64-linux-gnu-g++ -static \$in -Wl,--start-group" \
      "$cache/sysroot/usr/lib/aarch64-linux-gnu/libabsl_*.a -Wl,--end-group -pthread -o \$out"
    for program in "${programs[@]}"; do
      objects=
      for source in ${sources[$program]}; do
        object=$cache/objects/${source//\//_}.o
        objects+=" $object"
        case " $written " in *" $object "*) continue ;; esac
        written+=" $object"
        if [ "${source#/}" = "$source" ]; then source=$root/$source; fi
        echo "build $object: compile $source"
      done
      echo "build $cache/$program: link$objects"
    done
  } >"$cache/build.ninja"
}

launcher=
if command -v ccache >/dev/null; then launcher="ccache "; fi
written=
plane="proto/base/clock.cc proto/base/platform_linux.cc proto/shm/segment.cc"
gtest="/usr/src/googletest/googletest/src/gtest-all.cc"
declare -A sources=(
  [shm_test]="$(cd "$root" && echo tests/shm/{doorbell,extent_allocator,layout,ring,ring_threads,segment}_test.cc)"
  [shm_two_process_test]="tests/shm/ring_two_process_test.cc"
  [platform_test]="tests/base/platform_test.cc"
  [ring_peer]="tests/shm/ring_peer.cc $plane"
)
tests=(shm_test shm_two_process_test platform_test)
for program in "${tests[@]}"; do
  sources[$program]+=" $plane $gtest /usr/src/googletest/googletest/src/gtest_main.cc"
done
programs=(ring_peer "${tests[@]}")

# A minute each, since their ends yield to one another: what they add needs a real processor. And
# what posix_spawn says of a program that is not there, which qemu does not pass on.
left_out=RingThreads.LoseNoWakeWhenTheEndsSleepAtRandom
left_out+=:RingThreads.LoseNoWakeWithABatchQueuedBehindTheRunningOne
left_out+=:Spawn.SaysWhichProgramItCannotStart

emulate=(qemu-aarch64-static -p "$page_bytes")
fetch_abseil
write_ninja
ninja -C "$cache" -j "$jobs" --quiet >"$cache/build.log" 2>&1 || (cat "$cache/build.log" && exit 1)
printf '#!/bin/sh\nexec %s "$@"\n' "${emulate[*]} $cache/ring_peer" >"$cache/ring_peer.sh"
chmod +x "$cache/ring_peer.sh"
for program in "${tests[@]}"; do
  echo "== $program, arm64, pages of $page_bytes bytes"
  "${emulate[@]}" "$cache/$program" --gtest_brief=1 "--gtest_filter=-$left_out" 2>&1 |
    grep -vE '^$|Death tests use fork'
done
