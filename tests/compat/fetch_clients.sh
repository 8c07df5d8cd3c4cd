#!/usr/bin/env bash
# Fetches pinned clients of the protocol that are no Python packages of the tests, into DIR.
#   fetch_clients.sh DIR
# A client that cannot be had is named and left out: its tests are then skipped. perf_analyzer is
# built for a newer C library than Debian 12's, which is laid beside it in a folder of its own.
set -uo pipefail
dir=$(mkdir -p "$1" && cd "$1" && pwd)

grpcurl=1.9.3
ghz=0.120.0
probe=0.4.25
perf_analyzer=2.60.0
newer=trixie # whose C library perf_analyzer runs with

left_out() { echo "fetch_clients.sh: no $1: its tests are skipped" >&2; }

go_client() { # NAME PACKAGE VERSION
  if [ -x "$dir/$1-$3/$1" ]; then return 0; fi
  if ! command -v go >/dev/null || ! GOBIN="$dir/$1-$3" go install "$2@v$3"; then
    left_out "$1 $3"
    return 0
  fi
  [ -x "$dir/$1-$3/$1" ] || mv "$dir/$1-$3"/* "$dir/$1-$3/$1"
}

newer_libraries() { # the C and C++ libraries of the newer Debian, unpacked and not installed
  local apt=$dir/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$dir/newer"
  local mirror # this host's own, for another release
  mirror=$(grep -rhoE 'https?://[^ ]+/debian/? *$' /etc/apt | head -1)
  [ -n "$mirror" ] || return
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $newer main" \
    >"$apt/sources.list"
  local options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache")
  apt-get -qq "${options[@]}" update || return
  (cd "$apt" && apt-get -qq "${options[@]}" download "libc6/$newer" "libstdc++6/$newer" \
    "libgcc-s1/$newer" "zlib1g/$newer" "libzstd1/$newer" libssl3t64) 2>/dev/null || return
  local package
  for package in "$apt"/*.deb; do dpkg-deb -x "$package" "$dir/newer" || return; done
}

fetch_perf_analyzer() {
  local target=$dir/perf_analyzer-$perf_analyzer wheel=$dir/wheel
  if [ -x "$target/perf_analyzer" ]; then return 0; fi
  newer_libraries || return
  python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
    --platform manylinux_2_38_x86_64 -d "$wheel" "perf-analyzer==$perf_analyzer" || return
  python3 -m zipfile -e "$wheel"/perf_analyzer-*.whl "$wheel" || return
  mkdir -p "$target"
  cp "$wheel/perf_analyzer/bin/perf_analyzer" "$target/program" && chmod +x "$target/program"
  local libraries=$dir/newer/usr/lib/x86_64-linux-gnu
  printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' "$libraries/ld-linux-x86-64.so.2" \
    "$libraries" "$target/program" >"$target/perf_analyzer"
  chmod +x "$target/perf_analyzer"
}

go_client grpcurl github.com/fullstorydev/grpcurl/cmd/grpcurl $grpcurl
go_client ghz github.com/bojand/ghz/cmd/ghz $ghz
go_client grpc_health_probe github.com/grpc-ecosystem/grpc-health-probe $probe
fetch_perf_analyzer || left_out "perf_analyzer $perf_analyzer"
