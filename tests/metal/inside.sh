#!/usr/bin/env bash
# The part of check.sh that runs in the bare root: the packages, PyTorch's sources, two builds of its
# mps backend, and the cases on each.
#   inside.sh JOBS
set -euo pipefail
jobs=$1
version=2.6.0+dfsg-7 # Debian 13 has this source and a libtorch that was built from it
metal=/mpsd/tests/metal

packages=(ca-certificates clang-19 cmake dpkg-dev libblocksruntime-dev libfmt-dev libobjfwrt1-dev
  libtorch-dev ninja-build python3 python3-typing-extensions python3-yaml)

install_packages() {
  local list=/etc/apt/sources.list
  grep -q '^deb-src' $list || sed -n 's/^deb /deb-src /p' $list >>$list
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${packages[@]}" \
    >/dev/null
}

# Leaves /src/stock, /src/patched, and what torchgen makes of either in /src/generated.
fetch_sources() {
  if [ -e /src/.complete ]; then return 0; fi
  rm -rf /src
  mkdir -p /src/fetched /src/generated
  (cd /src/fetched && apt-get -qq source --download-only "pytorch=$version")
  dpkg-source --no-check --skip-patches -x /src/fetched/*.dsc /src/stock >/dev/null
  cp -a /src/stock /src/patched
  (cd /src/stock && python3 -m torchgen.gen --source-path aten/src/ATen --per-operator-headers \
    --install_dir /src/generated/ATen --mps --backend_whitelist CPU CUDA MPS Meta \
    CompositeImplicitAutograd CompositeExplicitAutograd)
  touch /src/.complete
}

# Files that an edit no longer touches go back, and files that stay as they are keep their time.
patch_sources() {
  rm -rf /src/fresh
  mkdir /src/fresh
  (cd /src/stock && cp -a --parents aten/src/ATen /src/fresh/)
  python3 /mpsd/worker/libtorch/patch_libtorch.py /src/fresh
  (cd /src/fresh && find . -type f) | while read -r file; do
    cmp -s "/src/fresh/$file" "/src/patched/$file" || cp "/src/fresh/$file" "/src/patched/$file"
  done
  rm -rf /src/fresh
}

build() { # KIND
  cmake -S $metal/backend -B "/build/$1" -G Ninja -DCMAKE_CXX_COMPILER=/usr/bin/clang++-19 \
    -DCMAKE_OBJCXX_COMPILER=/usr/bin/clang++-19 -DCMAKE_CXX_FLAGS=-O1 -DCMAKE_OBJCXX_FLAGS=-O1 \
    "-DPYTORCH=/src/$1" -DGENERATED=/src/generated >/dev/null
  nice ninja -C "/build/$1" -j "$jobs" --quiet
}

install_packages
fetch_sources
patch_sources
for kind in stock patched; do
  start=$SECONDS
  build $kind
  echo "== $kind: built in $((SECONDS - start)) s"
done
python3 $metal/run_cases.py /build/stock /build/patched
