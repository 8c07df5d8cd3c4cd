#!/usr/bin/env bash
# The worker's tests and figures on a CUDA host, with one command:
#   load_tests/cuda_figures.sh [OUT]
# Needs a Python with torch (PYTHON, default python3), CMake, Ninja, a C++20 compiler, and Abseil,
# nlohmann-json and GoogleTest where CMake finds them (CMAKE_PREFIX_PATH). No gRPC: the front end is
# not built. OUT (default build/cuda-figures) gets tests.txt and figures.jsonl.
#   DEVICE=cuda:0  SECONDS_EACH=3  PARTS="tests lanes processes packages memory"
# Environment variables of CUDA's Multi-Process Service, when its daemon runs, are passed on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-build/cuda-figures}")
python=${PYTHON:-python3}
device=${DEVICE:-cuda:0}
seconds=${SECONDS_EACH:-3}
parts=${PARTS:-tests lanes processes packages memory}
build=build/cuda
mkdir -p "$out"

torch=$("$python" -c 'import pathlib, torch; print(pathlib.Path(torch.__file__).parent)')
# The CUDA libraries of the wheels, which libtorch_cuda finds by its own run path; in other layouts
# by this.
nvidia=$("$python" - <<'PY'
import glob, os, site
print(":".join(p for s in site.getsitepackages() for p in glob.glob(os.path.join(s, "nvidia/*/lib"))))
PY
)
export LD_LIBRARY_PATH="$torch/lib${nvidia:+:$nvidia}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMPSD_FRONT=OFF -DMPSD_TORCH=ON \
  -DMPSD_TESTS=ON "-DMPSD_LIBTORCH=$torch" "-DMPSD_TORCH_PYTHON=$(command -v "$python")" \
  --log-level=WARNING
cmake --build $build --target mpsd-worker mpsd-lane-bench mpsd-make-models torchscript_model_test \
  model_test execute_test

has() { [[ " $parts " == *" $1 "* ]]; }

figure() { # PART, then the arguments of mpsd-lane-bench
  local part=$1
  shift
  "$build/bin/mpsd-lane-bench" "$@" | sed "s/^{/{\"part\":\"$part\",/" | tee -a "$out/figures.jsonl"
}

if has tests; then
  "$build/bin/mpsd-worker" --devices | tee "$out/devices.json"
  : >"$out/tests.txt"
  for test in model_test execute_test torchscript_model_test; do
    MPSD_TEST_DEVICE=$device "$build/tests/$test" --gtest_brief=1 2>&1 |
      tee -a "$out/tests.txt" || status=1
  done
fi

models=$build/models
"$build/bin/mpsd-make-models" $models --large >/dev/null
: >>"$out/figures.jsonl"

if has lanes; then
  for rows in 1 16 64; do
    for lanes in 1 2 4 8; do figure lanes $models/mlp_2048x8.pt "$device" $lanes $rows "$seconds"; done
  done
  for rows in 1 32; do
    for lanes in 1 4 8; do figure lanes $models/transformer.pt "$device" $lanes $rows "$seconds"; done
  done
fi

if has processes; then # 1×8, 2×4, 4×2: side by side, each with its own context
  for rows in 1 64; do
    for split in "1 8" "2 4" "4 2"; do
      read -r processes lanes <<<"$split"
      pids=()
      for _ in $(seq "$processes"); do
        figure "processes_$processes" $models/mlp_2048x8.pt "$device" "$lanes" $rows "$seconds" &
        pids+=($!)
      done
      for pid in "${pids[@]}"; do wait "$pid"; done
    done
  done
fi

if has packages; then # the same module as TorchScript and compiled
  cat >"$out/modules.py" <<'PY'
import torch


def mlp():
    torch.manual_seed(20)
    layers = []
    for _ in range(8):
        layers += [torch.nn.Linear(2048, 2048), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers)
PY
  for kind in pt pt2; do
    "$python" worker/tools/export_model.py "$out/modules.py:mlp" "$out/mlp.$kind" \
      --input 'input:FP32[-1,2048]' --device "$device"
    for rows in 1 64; do
      for lanes in 1 4; do figure "package_$kind" "$out/mlp.$kind" "$device" $lanes $rows "$seconds"; done
    done
  done
fi

if has memory; then # what the device says that one worker takes, by lanes
  for lanes in 1 4 8; do
    "$build/bin/mpsd-lane-bench" $models/mlp_2048x8.pt "$device" $lanes 64 8 >"$out/memory.tmp" &
    pid=$!
    sleep 6
    used=$(nvidia-smi --query-compute-apps=used_memory --format=csv,noheader,nounits | sort -n | tail -1)
    wait $pid
    echo "{\"part\":\"memory\",\"lanes\":$lanes,\"device_mib\":${used:-null}}" | tee -a "$out/figures.jsonl"
  done
fi
exit "${status:-0}"
