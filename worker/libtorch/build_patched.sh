#!/usr/bin/env bash
# Builds libtorch for this Mac from PyTorch's sources with the edits of patch_libtorch.py.
#   build_patched.sh TARGET v2.9.1|FOLDER
# The sources: a tag, which git fetches, or a folder that stays as it is. TARGET gets include/ and
# lib/. Takes an hour or more, and 20 GB; the last line is TARGET and the kind that `mpsd ps` shows.
# Not yet run on a Mac.
#   MPSD_LIBTORCH=TARGET ./run serve
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -ne 2 ]; then
  sed -n '2,7s/^# //p' "$0" >&2
  exit 2
fi
mkdir -p "$1"
target=$(cd "$1" && pwd)
work=$target/work
rm -rf "$work"
mkdir "$work"

if [ -d "$2" ]; then
  cp -R "$2" "$work/pytorch"
else
  git clone --quiet --depth 1 --branch "$2" --recurse-submodules --shallow-submodules \
    https://github.com/pytorch/pytorch "$work/pytorch"
fi
python3 "$here/patch_libtorch.py" "$work/pytorch"
if [ "$(uname -s)" != Darwin ]; then
  echo "build_patched.sh: the edits apply; only a Mac can build them" >&2
  exit 1
fi

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q -r "$work/pytorch/requirements.txt" cmake ninja
cd "$work/pytorch"
# Without a number of its own it would be called 2.9.1a0, and a worker compares versions.
PYTORCH_BUILD_VERSION=$(sed 's/a0$//' version.txt)
export PYTORCH_BUILD_VERSION PYTORCH_BUILD_NUMBER=1
PATH=$work/venv/bin:$PATH USE_MPS=1 USE_DISTRIBUTED=0 USE_PYTORCH_METAL=0 BUILD_TEST=0 \
  MACOSX_DEPLOYMENT_TARGET=14.0 "$work/venv/bin/python" setup.py develop
rm -rf "$target/include" "$target/lib"
cp -R torch/include torch/lib "$target/"
rm -rf "$work"
kind='not patched: these sources have a pool of their own'
if nm -gU "$target/lib/libtorch_cpu.dylib" | grep MPSStreamPool8instanceEv >/dev/null; then
  kind=patched
fi
echo "$target: $kind"
