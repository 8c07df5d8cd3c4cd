#!/usr/bin/env bash
# The part of check.sh that runs in the chroot `newest` before the build: the libraries of
# experimental, every source read against them, then those of them that can be linked together.
set -euo pipefail
. cmake/setup/packages.sh

version_in_grpc() { # LIBRARY: which one of it gRPC's own library was linked with
  objdump -p /usr/lib/*-linux-gnu/libgrpc.so |
    awk -v name="$1.so." 'index($2, name) == 1 && !found {found = substr($2, length(name) + 1)}
      END {print found}'
}

install_version() { # PACKAGE VERSION: its beginning
  local version
  version=$(apt-cache madison "$1" |
    awk -v wanted="$2" 'index($3, wanted) == 1 && !found {found = $3} END {print found}')
  apt-get install -qq -y --no-install-recommends --allow-downgrades "$1=$version" >/dev/null
}

list_versions() {
  dpkg-query -W -f '${Package} ${Version}\n' libgrpc++-dev libprotobuf-dev libabsl-dev libssl-dev \
    libboost-dev
}

apt-get update -qq
export DEBIAN_FRONTEND=noninteractive
apt-get install -qq -y --no-install-recommends -t experimental libgrpc++-dev \
  protobuf-compiler-grpc libprotobuf-dev protobuf-compiler libabsl-dev >/dev/null
apt-get install -qq -y --no-install-recommends "${debian_serve_packages[@]}" libgtest-dev \
  libgmock-dev libbenchmark-dev >/dev/null
list_versions

cmake --preset release -B build/syntax -DMPSD_TESTS=ON --log-level=WARNING
generated=$(ninja -C build/syntax -t targets all | sed -n 's/^\([^/].*\.\(h\|cc\)\): CUSTOM.*/\1/p')
# shellcheck disable=SC2086 # a list
ninja --quiet -C build/syntax $generated
python3 cmake/distros/syntax_only.py build/syntax "$(nproc)"

# The newest Abseil and OpenSSL may be newer than those of gRPC, and a program has one of each.
install_version libabsl-dev "$(version_in_grpc libabsl_cord)"
install_version libssl-dev "$(version_in_grpc libssl)"
mkdir -p build
list_versions >build/libraries.new
# Headers have the time of their package, so ninja does not see that they are others.
if ! cmp -s build/libraries.new build/libraries; then rm -rf build/release; fi
mv build/libraries.new build/libraries
echo "built with:"
cat build/libraries
