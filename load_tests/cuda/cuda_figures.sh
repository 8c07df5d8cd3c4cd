#!/usr/bin/env bash
# Figures of a host with a CUDA device, in one call of less than nine minutes:
#   load_tests/cuda/cuda_figures.sh FOLDER [OUT]
# FOLDER has bin/ and lib/ as load_tests/cuda/cuda_bundle.sh makes it. libtorch and CUDA's libraries
# come from the host's Python (PYTHON, default python3), whose torch must have libtorch's version.
# OUT (default FOLDER/out) gets figures.jsonl, figures.log (all that is printed) and daemons.log.
#   PARTS="host models minilm …" only these; SECONDS_IN_ALL=530; DEVICE=cuda:0; SECONDS_EACH=1
# Parts that are not in such a call, and are named: packages, mps, scaling, and these:
#   PARTS="models all": a model on one device and on all of the host, which has two or more
#   PARTS="models rows": requests of one row on 1, 2, 4 … devices, where h2load is
#   PARTS="models storm" SECONDS_IN_ALL=590: a storm of five minutes
#   PARTS="models shares": a chat beside a batch job, by weight and without
#   PARTS=bars: the bars of mpsd-lane-bars, with a soak of two million operations
# Each part has its own time limit. One that fails or takes too long loses its own figures alone.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(realpath "${1:?usage: cuda_figures.sh FOLDER [OUT]}")
out=$(realpath -m "${2:-$folder/out}")
python=${PYTHON:-python3}
mkdir -p "$out"
models=$(mktemp -d /tmp/mpsd-figures-models-XXXXXX)
trap 'rm -rf "$models"' EXIT

libraries=$("$python" "$here/cuda_libraries.py") || {
  echo "cuda_figures.sh: $python has no torch" >&2
  exit 2
}
export MPSD_FIGURES_LIBRARIES="$libraries:$folder/lib"  # for our programs, not for Python
export PYTHONPATH="$here:$here/../bench:$here/../../worker/tools" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
export MPSD_FIGURES_BIN=$folder/bin MPSD_FIGURES_OUT=$out MPSD_FIGURES_DEVICE=${DEVICE:-cuda:0}
export MPSD_FIGURES_SECONDS=${SECONDS_EACH:-1} MPSD_FIGURES_MODELS=$models

# NAME:SECONDS, in the order of what is wanted most; `models` makes what the others need.
limits="host:30 models:60 minilm:120 precision:150 graphs:170 encoders:110 lanes:60 batching:60 overload:90 fault:50 slab:40 memory:70"
limits="$limits weights:60 http_texts:80 packages:130 mps:110 scaling:90 shares:60 all:240 rows:200 tests:70 storm:480 bars:480"
wanted=" ${PARTS:-host models minilm precision graphs encoders http_texts lanes batching overload fault slab memory weights tests} "
failed=0
for entry in $limits; do
  part=${entry%:*} limit=${entry#*:}
  [[ $wanted == *" $part "* ]] || continue
  left=$((${SECONDS_IN_ALL:-530} - SECONDS))
  if [ "$left" -lt 15 ]; then
    echo "== $part: left out, the time is over"
    continue
  fi
  echo "== $part (at $SECONDS s, at most $((limit < left ? limit : left)) s)"
  program=(cuda_figures.py "$part")
  if [ -e "$here/cuda_$part.py" ] && [ "$part" != models ]; then program=("cuda_$part.py"); fi
  timeout -k 5 $((limit < left ? limit : left)) "$python" "$here/${program[0]}" "${program[@]:1}" \
    2>&1 | tee -a "$out/figures.log"
  code=${PIPESTATUS[0]}
  if [ "$code" -ne 0 ]; then
    failed=1
    echo "== $part: exit $code"
  fi
done
echo "== done after $SECONDS s; figures in $out/figures.jsonl"
exit $failed
