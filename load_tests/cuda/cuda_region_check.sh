#!/usr/bin/env bash
# CUDA memory of clients on a host with a device, within two minutes:
#   load_tests/cuda/cuda_region_check.sh FOLDER [OUT]
# FOLDER comes from load_tests/cuda/cuda_bundle.sh with CLIENT_PYTHON set to the version of the
# host's Python (PYTHON, default python3). That Python has torch, its CUDA libraries and
# cuda.bindings. OUT (default FOLDER/out) gets regions.log (all that is printed) and the daemon's
# log. The last line and the exit status say whether all checks passed.
#   SANDBOX=strict  the daemon's key `sandbox` (default basic): strict confines the device copier too
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(realpath "${1:?usage: cuda_region_check.sh FOLDER [OUT]}")
out=$(realpath -m "${2:-$folder/out}")
python=${PYTHON:-python3}
mkdir -p "$out"

libraries=$("$python" "$here/cuda_libraries.py") || {
  echo "cuda_region_check.sh: $python has no torch" >&2
  exit 2
}
export MPSD_CHECK_LIBRARIES="$libraries:$folder/lib"  # for our programs, not for Python
export MPSD_CHECK_BIN=$folder/bin MPSD_CHECK_OUT=$out PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH="$folder/python:$here:$here/../bench:$here/../../worker/tools"
timeout -k 5 118 "$python" "$here/cuda_region_check.py" 2>&1 | tee "$out/regions.log"
exit "${PIPESTATUS[0]}"
