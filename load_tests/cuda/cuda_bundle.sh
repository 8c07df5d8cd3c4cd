#!/usr/bin/env bash
# Gathers the files that load_tests/cuda/cuda_figures.sh needs on another host of this architecture.
# libtorch and CUDA are left out, because that host's Python brings them:
#   load_tests/cuda/cuda_bundle.sh TARGET [BUILD]
# BUILD (default build/release) is a release build with its tests. Start there, with TARGET carried:
#   TARGET/load_tests/cuda/cuda_figures.sh TARGET [OUT]
#   TARGET/load_tests/cuda/cuda_region_check.sh TARGET [OUT]
# The second needs an unmodified tritonclient: CLIENT_PYTHON=3.12 gathers it, and what it needs and
# that host may lack, for that version of Python, in the versions of tests/requirements.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
target=$(realpath -m "${1:?usage: cuda_bundle.sh TARGET [BUILD]}")
build=${2:-build/release}
mkdir -p "$target"/{bin,lib,load_tests/bench,load_tests/cuda,worker/tools}

programs=("$build"/bin/{mpsd,mpsd-worker,mpsd-device-copier,mpsd-bench,mpsd-lane-bench,mpsd-lane-bars,mpsd-make-models})
for test in torchscript_model_test aoti_model_test encoder_model_test execute_test model_test \
  mpsd-crash-caller; do
  if [ -e "$build/tests/$test" ]; then programs+=("$build/tests/$test"); fi
done
for program in "${programs[@]}"; do
  strip -o "$target/bin/$(basename "$program")" "$program"
done

if [ -e "$build/bin/libmpsd-cuda-graphs.so" ]; then
  strip -o "$target/bin/libmpsd-cuda-graphs.so" "$build/bin/libmpsd-cuda-graphs.so"
fi

# The C library and its parts come from the host.
own='/(ld-linux|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libresolv)[-.]'
ldd "${programs[@]}" | awk '$2 == "=>" && $3 ~ "^/" {print $3}' | sort -u |
  grep -Ev "libtorch|libc10|libcu|libnv|libgomp|$own" | while read -r library; do
  cp -L "$library" "$target/lib/"
done

cp load_tests/bench/bench_{processes,figures,frames}.py "$target/load_tests/bench/"
cp load_tests/cuda/cuda_{figures.sh,figures.py,storm.py,http_texts.py,all.py,rows.py,shares.py,models.py,libraries.py,region_check.sh,region_check.py} \
  "$target/load_tests/cuda/"
cp -r tests/worker/model/encoder/families "$target/"
cp worker/tools/export_model.py "$target/worker/tools/"
mkdir -p "$target/tests/worker/tools"
cp tests/worker/tools/make_packages.py "$target/tests/worker/tools/"
if [ -n "${CLIENT_PYTHON:-}" ]; then
  wheels=$(mktemp -d)
  trap 'rm -rf "$wheels"' EXIT
  pinned=$(sed -nE 's/^(grpcio|protobuf)(==.*)/\1\2/p; s/^(tritonclient)\[grpc\](==.*)/\1\2/p' \
    tests/requirements.txt)
  platforms=()
  for version in 28 17; do platforms+=(--platform "manylinux_2_${version}_$(uname -m)"); done
  # shellcheck disable=SC2086
  python3 -m pip download -q --no-deps --only-binary=:all: --python-version "$CLIENT_PYTHON" \
    "${platforms[@]}" --platform "manylinux2014_$(uname -m)" -d "$wheels" \
    $pinned python-rapidjson
  mkdir -p "$target/python"
  for wheel in "$wheels"/*.whl; do python3 -m zipfile -e "$wheel" "$target/python"; done
fi
du -sh "$target" >&2
