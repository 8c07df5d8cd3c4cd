#!/usr/bin/env bash
# The part of check.sh that runs in the bare root: the packages, PyTorch's sources, builds of its mps
# backend, a worker for each kind, the cases, and some of these under the thread sanitizer.
#   inside.sh JOBS [--mutants]
set -euo pipefail
. /mpsd/cmake/distros/chroot.sh
jobs=$1
version=2.6.0+dfsg-7 # Debian 13 has this source and a libtorch that was built from it
metal=/mpsd/tests/metal
export CCACHE_SLOPPINESS=pch_defines,time_macros
export LLVM_PROFILE_FILE=/build/coverage/tests-%p%c.profraw # of each process of a measured program
compilers=(-DCMAKE_CXX_COMPILER=/usr/bin/clang++-19 -DCMAKE_OBJCXX_COMPILER=/usr/bin/clang++-19
  -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_OBJCXX_COMPILER_LAUNCHER=ccache)

packages=(ca-certificates ccache clang-19 cmake dpkg-dev g++ libabsl-dev libblocksruntime-dev
  libclang-rt-19-dev libcli11-dev libfmt-dev libgmock-dev libgtest-dev libobjfwrt1-dev libtorch-dev
  llvm-19 ninja-build nlohmann-json3-dev python3 python3-typing-extensions python3-yaml)

install_packages() {
  local list=/etc/apt/sources.list
  grep -q '^deb-src' $list || sed -n 's/^deb /deb-src /p' $list >>$list
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${packages[@]}" \
    >/dev/null
}

# Leaves /src/pytorch, /src/patched, and what torchgen makes of either in /src/gen.
fetch_sources() {
  if [ -e /src/.complete ]; then return 0; fi
  rm -rf /src
  mkdir -p /src/fetched /src/gen
  (cd /src/fetched && apt-get -qq source --download-only "pytorch=$version")
  dpkg-source --no-check --skip-patches -x /src/fetched/*.dsc /src/pytorch >/dev/null
  cp -a /src/pytorch /src/patched
  (cd /src/pytorch && python3 -m torchgen.gen --source-path aten/src/ATen --per-operator-headers \
    --install_dir /src/gen/ATen --mps --backend_whitelist CPU CUDA MPS Meta \
    CompositeImplicitAutograd CompositeExplicitAutograd)
  touch /src/.complete
}

# Files that an edit no longer touches go back, and files that stay as they are keep their time.
patch_sources() {
  rm -rf /src/fresh
  mkdir /src/fresh
  (cd /src/pytorch && cp -a --parents aten/src/ATen /src/fresh/)
  python3 /mpsd/worker/libtorch/patch_libtorch.py /src/fresh
  (cd /src/fresh && find . -type f) | while read -r file; do
    cmp -s "/src/fresh/$file" "/src/patched/$file" || cp "/src/fresh/$file" "/src/patched/$file"
  done
  rm -rf /src/fresh
}

make_targets() { # FOLDER [TARGET…]
  local folder=$1
  shift
  ninja -C "$folder" -j "$jobs" --quiet "$@"
}

configure_backends() { # FOLDER FLAGS
  cmake -S $metal/backend -B "$1" -G Ninja "${compilers[@]}" "-DCMAKE_CXX_FLAGS=$2" \
    "-DCMAKE_OBJCXX_FLAGS=$2" -DSTOCK=/src/pytorch -DPATCHED=/src/patched -DGENERATED=/src/gen \
    >/dev/null
}

build_backends() {
  configure_backends /build/backend -O1
  make_targets /build/backend
}

# With the headers and libraries of the package, which lie where those of other packages lie.
link_libtorch() {
  local name
  mkdir -p /libtorch/include /libtorch/lib
  for name in torch ATen c10 caffe2; do ln -sfn /usr/include/$name /libtorch/include/$name; done
  for name in torch_cpu c10; do
    ln -sfn /usr/lib/x86_64-linux-gnu/lib$name.so /libtorch/lib/lib$name.so
  done
}

sanitizer='' # as -fsanitize takes it
coverage=OFF

build_workers() { # FOLDER SOURCES BACKEND TARGET…
  local folder=$1 sources=$2 backend=$3
  shift 3
  # The headers that an edit changes, and that a worker includes.
  mkdir -p "$backend/include/ATen"
  ln -sfn "$sources/aten/src/ATen/mps" "$backend/include/ATen/mps"
  cmake -S /mpsd -B "$folder" -G Ninja "${compilers[@]}" -DCMAKE_CXX_FLAGS=-O1 \
    -DCMAKE_UNITY_BUILD=ON -DMPSD_FRONT=OFF -DMPSD_TESTS=ON -DMPSD_LIBTORCH=/libtorch \
    -DMPSD_METAL_STANDIN="$backend" -DMPSD_SANITIZE="$sanitizer" \
    -DMPSD_METAL_COVERAGE=$coverage >/dev/null
  make_targets "$folder" "$@"
}

build_patched_worker() {
  local coverage=ON
  build_workers /build/worker /src/patched /build/backend/patched mpsd-worker mpsd-driver-guard \
    mpsd-lane-bars torchscript_model_test
}

build_sanitized() {
  local sanitizer=thread
  configure_backends /build/races '-O1 -fsanitize=thread'
  make_targets /build/races metal_cases torch_mps_patched
  build_workers /build/worker-races /src/patched /build/races/patched torchscript_model_test
}

# The acceptance list of docs/systems.md. Two tests need operators that are not compiled here.
pass_acceptance() { # TESTS BACKENDS [LEFT_OUT]
  local log=/build/acceptance.log
  MPSD_TEST_DEVICE=mps LD_LIBRARY_PATH=$2/patched:$2 \
    "$1" "--gtest_filter=Lanes.*-*Conv2d:*Linalg${3+:$3}" 2>&1 | tee $log |
    grep -E '^\[ +(OK|PASSED|FAILED)|^SUMMARY'
  if grep -q 'metal stand-in: ' $log; then return 1; fi
}

run_acceptance() {
  local tests=/build/worker/tests/torchscript_model_test log=/build/acceptance.log name
  pass_acceptance $tests /build/backend
  for name in ParallelTwoToFour ExtendedStressEightTimesHundred ThirtyOneTimesHundred; do
    fails_on_stock $tests $name $log || {
      echo "Lanes.$name passes on a stock libtorch, which has one stream" >&2
      return 1
    }
    echo "stock: Lanes.$name fails, as it must"
  done
}

# A race needs its luck, so five seeds are tried.
fails_on_stock() { # TESTS NAME LOG
  local seed
  for seed in 1 2 3 4 5; do
    MPSD_STANDIN_SEED=$seed MPSD_TEST_DEVICE=mps LD_LIBRARY_PATH=/build/backend/stock:/build/backend \
      timeout 60 "$1" "--gtest_filter=Lanes.$2" >"$3" 2>&1 || return 0
  done
  return 1
}

# libtorch's own threads are OpenMP's, whose barriers the sanitizer does not see. One test has a race.
run_watched_acceptance() {
  local options=(suppressions=$metal/races.supp exitcode=66 report_thread_leaks=0
    external_symbolizer_path=/usr/bin/llvm-symbolizer-19)
  OMP_NUM_THREADS=1 TSAN_OPTIONS=${options[*]} \
    pass_acceptance /build/worker-races/tests/torchscript_model_test /build/races '*APlantedRace*'
}

# The bars of lanes on mps, in processes of their own. A broken rule is a line of the stand-in.
run_bars() {
  LD_LIBRARY_PATH=/build/backend/patched:/build/backend /build/worker/bin/mpsd-lane-bars \
    --device mps --only rounds,soak --soak 200000 --limit 5m 2>&1 | tee /build/bars.log
  if grep -q 'metal stand-in: ' /build/bars.log; then return 1; fi
}

rm -rf /build/coverage
timed packages install_packages
timed "PyTorch's sources, and what torchgen makes of them" fetch_sources
timed 'the edits' patch_sources
timed 'the mps backend, stock and patched' build_backends
link_libtorch
timed 'a worker, its tests and the bars of lanes, patched' build_patched_worker
timed 'a worker, stock' build_workers /build/worker-stock /src/pytorch /build/backend/stock \
  mpsd-worker
timed 'the cases' python3 $metal/run_cases.py /build/backend /build/worker/bin/libmpsd-driver-guard.so
timed 'the acceptance list' run_acceptance
timed 'the bars of lanes' run_bars
timed 'the patched backend and a worker with the thread sanitizer' build_sanitized
timed 'races of the cases' python3 $metal/run_races.py /src/pytorch /src/patched /build/races
timed 'races of the acceptance list' run_watched_acceptance
if [ "${2-}" = --mutants ]; then
  timed mutants python3 $metal/run_mutants.py /src/pytorch /src/patched /build/backend
fi
