#!/usr/bin/env bash
# The part of check.sh that runs in the chroot `newest` before the build: the libraries of
# experimental, and every source read against them.
set -euo pipefail
. cmake/setup/packages.sh

apt-get update -qq
export DEBIAN_FRONTEND=noninteractive
apt-get install -qq -y --no-install-recommends -t experimental libgrpc++-dev \
  protobuf-compiler-grpc libprotobuf-dev protobuf-compiler libabsl-dev >/dev/null
apt-get install -qq -y --no-install-recommends "${debian_serve_packages[@]}" libgtest-dev \
  libgmock-dev libbenchmark-dev >/dev/null
dpkg-query -W -f '${Package} ${Version}\n' libgrpc++-dev libprotobuf-dev libabsl-dev libboost-dev

cmake --preset release -B build/syntax -DMPSD_TESTS=ON -DMPSD_WERROR=ON --log-level=WARNING
generated=$(ninja -C build/syntax -t targets all | sed -n 's/^\([^/].*\.\(h\|cc\)\): CUSTOM.*/\1/p')
# shellcheck disable=SC2086 # a list
ninja -C build/syntax $generated >/dev/null
python3 cmake/distros/syntax_only.py build/syntax "$(nproc)"
