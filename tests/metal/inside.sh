#!/usr/bin/env bash
# The part of check.sh that runs in the bare root: the packages, PyTorch's sources, two builds of its
# mps backend, a worker for the patched one, and the cases on both.
#   inside.sh JOBS
set -euo pipefail
jobs=$1
version=2.6.0+dfsg-7 # Debian 13 has this source and a libtorch that was built from it
metal=/mpsd/tests/metal
compiler=(-DCMAKE_CXX_COMPILER=/usr/bin/clang++-19 -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
  -DCMAKE_CXX_FLAGS=-O1)
of_objective_c=("${compiler[@]/CXX/OBJCXX}")

packages=(ca-certificates ccache clang-19 cmake dpkg-dev g++ libabsl-dev libblocksruntime-dev
  libfmt-dev libobjfwrt1-dev libtorch-dev ninja-build nlohmann-json3-dev python3
  python3-typing-extensions python3-yaml)

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
  nice ninja -C "$folder" -j "$jobs" --quiet "$@"
}

build_backends() {
  cmake -S $metal/backend -B /build/backend -G Ninja "${compiler[@]}" "${of_objective_c[@]}" \
    -DSTOCK=/src/pytorch -DPATCHED=/src/patched -DGENERATED=/src/gen >/dev/null
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
  # The headers that an edit changes, and that a worker includes.
  mkdir -p /build/backend/patched/include/ATen
  ln -sfn /src/patched/aten/src/ATen/mps /build/backend/patched/include/ATen/mps
}

build_worker() {
  cmake -S /mpsd -B /build/worker -G Ninja "${compiler[@]}" -DCMAKE_UNITY_BUILD=ON \
    -DMPSD_FRONT=OFF -DMPSD_TESTS=OFF -DMPSD_LIBTORCH=/libtorch \
    -DMPSD_METAL_STANDIN=/build/backend/patched >/dev/null
  make_targets /build/worker mpsd-worker mpsd-driver-guard
}

install_packages
fetch_sources
patch_sources
start=$SECONDS
build_backends
echo "== the mps backend, stock and patched: built in $((SECONDS - start)) s"
start=$SECONDS
link_libtorch
build_worker
echo "== worker: built in $((SECONDS - start)) s"
python3 $metal/run_cases.py /build/backend /build/worker/bin/libmpsd-driver-guard.so
