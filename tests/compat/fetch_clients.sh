#!/usr/bin/env bash
# Fetches pinned clients of the protocol that are no Python packages of the tests, into DIR, and the
# programs and schemas with which tests/deploy checks manifests and workflows.
#   fetch_clients.sh DIR
# What is there already is left alone. A client that cannot be had is named and left out: its tests
# are then skipped, and the exit code is 1. perf_analyzer is built for a newer C library than
# Debian 12's, which is laid beside it in a folder of its own; the others are compiled, by Go,
# but those for Node.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mkdir -p "$1" && cd "$1" && pwd)

grpcurl=1.9.3
ghz=0.120.0
probe=0.4.25
h2spec=2.2.1+incompatible # of before modules: it names no version of what it needs
perf_analyzer=2.60.0
helm=3.19.0
actionlint=1.7.11
otel_collector=0.161.0 # of tests/compat/collector/go.mod
oldest_node=20 # for what the lock files pin
newer=trixie # whose C library perf_analyzer runs with
oldest_go=1.24

exit_code=0
left_out() {
  echo "fetch_clients.sh: no $1: its tests are skipped" >&2
  exit_code=1
}

have_go() { # whether a Go is here that is new enough; says once that there is none
  [ -z "${go_is_here:-}" ] || return "$go_is_here"
  local version
  version=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null)
  go_is_here=0
  if [ "$(printf '%s\n' "$oldest_go" "${version#go}" | sort -V | head -1)" != "$oldest_go" ]; then
    echo "fetch_clients.sh: Go $oldest_go or newer is needed, here is ${version:-none}" >&2
    go_is_here=1
  fi
  return "$go_is_here"
}

# Each is compiled in a module of its own, with exactly the dependencies that it names itself.
go_client() { # NAME MODULE VERSION PACKAGE
  local name=$1 target=$dir/$1-$3 module
  if [ -x "$target/$name" ]; then return 0; fi
  module=$(mktemp -d) || return
  printf 'module clients\n\ngo %s\n\nrequire %s v%s\n' "$oldest_go" "$2" "$3" >"$module/go.mod"
  if have_go && (cd "$module" && GOTOOLCHAIN=local go build -mod=mod -o "$name" "$4"); then
    mkdir -p "$target" && mv "$module/$name" "$target/$name"
  else
    left_out "$name $3"
  fi
  rm -rf "$module"
}

# The test builds it again from the .proto files as they are then, with what this has fetched.
go_infer() {
  local target made
  target=$dir/go_infer-$(cat "$here"/go/go.mod "$here"/go/go.sum | cksum | cut -d' ' -f1)
  if [ -x "$target/go_infer" ]; then return 0; fi
  made=$(mktemp -d) || return
  if have_go && "$here/go/build.sh" "$made"; then
    mkdir -p "$target" && mv "$made/go_infer" "$target/go_infer"
  else
    left_out "generated Go client"
  fi
  rm -rf "$made"
}

# grpc-go's interop client. Its go.mod pins all that it is made of.
go_interop() {
  local target made
  target=$dir/grpc_interop-$(cat "$here"/interop/go/go.* | cksum | cut -d' ' -f1)
  if [ -x "$target/grpc_interop" ]; then return 0; fi
  made=$(mktemp -d) || return
  if have_go && (cd "$here/interop/go" &&
    GOTOOLCHAIN=local GOFLAGS=-buildvcs=false GOBIN=$made go install tool); then
    mkdir -p "$target" && mv "$made/client" "$target/grpc_interop"
  else
    left_out "interop client of grpc-go"
  fi
  rm -rf "$made"
}

otel_collector() { # which wants a newer Go than the others
  local target=$dir/otel_collector-$otel_collector made
  if [ -x "$target/otel_collector" ]; then return 0; fi
  made=$(mktemp -d) || return
  cp "$here"/collector/* "$made"
  if (cd "$made" && GOTOOLCHAIN=local go build -o otel_collector .); then
    mkdir -p "$target" && mv "$made/otel_collector" "$target/otel_collector"
  else
    left_out "OpenTelemetry's collector $otel_collector"
  fi
  rm -rf "$made"
}

have_node() {
  local major
  major=$(node --version 2>/dev/null | sed -n 's/^v\([0-9]*\)\..*/\1/p')
  if [ "${major:-0}" -ge $oldest_node ]; then return 0; fi
  echo "fetch_clients.sh: Node $oldest_node or newer is needed, here is ${major:-none}" >&2
  return 1
}

node_client() { # NAME FOLDER PACKAGE: what the lock file in FOLDER pins, PACKAGE among it
  local target
  target=$dir/$1-$(cat "$2"/package*.json | cksum | cut -d' ' -f1)
  if [ -d "$target/node_modules/$3" ]; then return 0; fi
  rm -rf "$dir/$1"-* # the test takes what is there
  have_node && mkdir -p "$target" && cp "$2"/package*.json "$target" &&
    (cd "$target" && npm ci --silent --ignore-scripts --no-audit --no-fund) && return
  rm -rf "$target"
  left_out "$1"
}

newer_libraries() { # the C and C++ libraries of the newer Debian, unpacked and not installed
  local apt=$dir/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$dir/newer"
  local mirror # this host's own, for another release
  mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" { print $2; exit }')
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
  rm -rf "$apt"
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
  rm -rf "$wheel"
  local libraries=$dir/newer/usr/lib/x86_64-linux-gnu
  printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' "$libraries/ld-linux-x86-64.so.2" \
    "$libraries" "$target/program" >"$target/perf_analyzer"
  chmod +x "$target/perf_analyzer"
}

go_client grpcurl github.com/fullstorydev/grpcurl $grpcurl \
  github.com/fullstorydev/grpcurl/cmd/grpcurl
go_client ghz github.com/bojand/ghz $ghz github.com/bojand/ghz/cmd/ghz
go_client grpc_health_probe github.com/grpc-ecosystem/grpc-health-probe $probe \
  github.com/grpc-ecosystem/grpc-health-probe
go_client h2spec github.com/summerwind/h2spec $h2spec github.com/summerwind/h2spec/cmd/h2spec
go_client helm helm.sh/helm/v3 $helm helm.sh/helm/v3/cmd/helm
go_client actionlint github.com/rhysd/actionlint $actionlint github.com/rhysd/actionlint/cmd/actionlint
go_infer
go_interop
otel_collector
node_client node_clients "$here/node" openai
node_client kubernetes_models "$here/../deploy/kubernetes" @kubernetes-models/keda
if [ "$(uname -sm)" != "Linux x86_64" ]; then
  left_out "perf_analyzer $perf_analyzer for $(uname -sm)"
else
  fetch_perf_analyzer || left_out "perf_analyzer $perf_analyzer"
fi
exit "$exit_code"
