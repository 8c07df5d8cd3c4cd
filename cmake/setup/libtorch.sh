#!/usr/bin/env bash
# Fetches libtorch into DIR/libtorch: headers and the shared objects that torch_cpu needs.
#   libtorch.sh DIR
# Linux x86-64: the CUDA wheel of torch without its CUDA dependencies, plus the two small CUDA
# wheels that torch_cpu is linked against. Other platforms: their own torch wheel.
set -euo pipefail
dir=$1
version=2.11.0
target=$dir/libtorch
stamp=$target/.complete-$version
[ -e "$stamp" ] && exit 0

torch_sha=7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a
runtime_sha=7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548
cupti_sha=4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8
mac_torch_sha=7b6a60d48062809f58595509c524b88e6ddec3ebe25833d6462eeab81e5f2ce4

downloads=$dir/downloads
mkdir -p "$downloads"

fetch() { # SHA256 PIP-ARGUMENTS...: download one wheel; it must be the pinned one
  local sha=$1
  shift
  python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
    -d "$downloads" "$@"
  for wheel in "$downloads"/*.whl; do
    if [ "$(sha256sum "$wheel" | cut -d' ' -f1)" = "$sha" ]; then return 0; fi
  done
  echo "libtorch.sh: '${*: -1}' is not the pinned wheel" >&2
  exit 1
}

rm -rf "$target"
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64)
    fetch $torch_sha --python-version 3.11 --platform manylinux_2_28_x86_64 "torch==$version"
    fetch $runtime_sha --platform manylinux2014_x86_64 nvidia-cuda-runtime==13.0.96
    fetch $cupti_sha --platform manylinux_2_25_x86_64 nvidia-cuda-cupti==13.0.85
    ;;
  Darwin-arm64)
    fetch $mac_torch_sha --python-version 3.11 --platform macosx_14_0_arm64 "torch==$version"
    ;;
  *)
    echo "libtorch.sh: no libtorch is known for $(uname -s) $(uname -m);" \
      "unpack one into $target yourself" >&2
    exit 1
    ;;
esac

python3 - "$downloads" "$target" <<'PY'
import pathlib, shutil, sys, zipfile

downloads, target = map(pathlib.Path, sys.argv[1:])
skipped = ("libtorch_python", "libtorch_cuda", "libtorch_nvshmem", "libcaffe2_nvrtc")
for wheel in downloads.glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            parts = name.split("/")
            if parts[0] == "torch" and parts[1] in ("include", "lib"):
                path = target / "/".join(parts[1:])
            elif parts[-1].startswith(("libcudart.so", "libcupti.so")):
                path = target / "lib" / parts[-1]
            else:
                continue
            if name.endswith("/") or parts[-1].startswith(skipped):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(name) as source, open(path, "wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
PY
rm -rf "$downloads"
touch "$stamp"
