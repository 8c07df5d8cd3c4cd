#!/usr/bin/env bash
# Runs fuzz targets of the preset `fuzz`, each for so long, beginning with its committed corpus.
#   run_fuzzers.sh BUILD SECONDS TARGET|all [LIBFUZZER-OPTIONS...]
# What is found anew stays in BUILD/found; an input that broke something is in BUILD/broken.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
seconds=$2
target=$3
shift 3
mkdir -p "$build/broken"
for corpus in "$here"/corpus/*/; do
  name=$(basename "$corpus")
  if [ "$target" != all ] && [ "$target" != "$name" ]; then continue; fi
  mkdir -p "$build/found/$name"
  echo "== $name" >&2
  if ! "$build/tests/${name}_fuzz" -max_total_time="$seconds" -max_len=4096 -timeout=30 \
    -rss_limit_mb=2048 -artifact_prefix="$build/broken/$name-" "$@" "$build/found/$name" \
    "$corpus" >"$build/found/$name.log" 2>&1; then
    tail -40 "$build/found/$name.log" >&2
    exit 1
  fi
  grep -E "^Done|DONE" "$build/found/$name.log" >&2
done
