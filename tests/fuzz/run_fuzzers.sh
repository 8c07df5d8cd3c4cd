#!/usr/bin/env bash
# Runs every fuzz target of the preset `fuzz`, beginning with its committed corpus.
#   run_fuzzers.sh BUILD SECONDS [LIBFUZZER-OPTIONS...]
# What is found anew stays in BUILD/found; an input that broke something is in BUILD/broken.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
seconds=$2
shift 2
mkdir -p "$build/broken"
for corpus in "$here"/corpus/*/; do
  name=$(basename "$corpus")
  mkdir -p "$build/found/$name"
  echo "== $name" >&2
  if ! "$build/tests/${name}_fuzz" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -rss_limit_mb=2048 -artifact_prefix="$build/broken/$name-" "$@" "$build/found/$name" \
    "$corpus" >"$build/found/$name.log" 2>&1; then
    tail -40 "$build/found/$name.log" >&2
    exit 1
  fi
  grep -E "^Done|DONE" "$build/found/$name.log" >&2
done
