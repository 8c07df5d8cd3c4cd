#!/usr/bin/env bash
# Fetches libtorch into DIR/libtorch: headers and the shared objects that torch_cpu needs.
#   libtorch.sh DIR [cpu|cuda [MACHINE]]
#   libtorch.sh DIR VERSION [MACHINE]    another one, of libtorch_wheels.txt, into DIR/libtorch-VERSION
# Linux: the CUDA wheel of torch without its CUDA dependencies, plus the two small CUDA wheels that
# torch_cpu is linked against, with the headers of CUDA's runtime in DIR/libtorch/cuda-include, which
# worker/cuda is compiled with. On x86-64 with "cuda" also libtorch_cuda, and what it needs in
# DIR/nvidia, which is where the wheel's libraries look. macOS: its own torch wheel.
# MACHINE, x86_64 or aarch64: for Linux of that machine, in place of this one.
# What was there stays until everything has arrived.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/checksum.sh"
dir=$1
kind=${2:-cpu}
version=2.11.0
name=libtorch
platform=${3:+Linux-$3}
platform=${platform:-$(uname -s)-$(uname -m)}
case $kind in
  [0-9]*)
    version=$kind kind=cpu
    name=libtorch-$version
    ;;
esac
target=$dir/$name
stamp=$target/.complete-$version-headers
if [ -e "$stamp" ] && { [ "$kind" = cpu ] || [ -e "$stamp-cuda" ]; }; then exit 0; fi

# What torch 2.11.0 needs on a cpu, itself first: NAME==VERSION PLATFORM and SHA256.
x86_64_wheels='torch==2.11.0 manylinux_2_28_x86_64
7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a
nvidia-cuda-runtime==13.0.96 manylinux2014_x86_64
7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548
nvidia-cuda-crt==13.0.88 manylinux2014_x86_64
2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4
nvidia-cuda-cupti==13.0.85 manylinux_2_25_x86_64
4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8'
aarch64_wheels='torch==2.11.0 manylinux_2_28_aarch64
d91aac77f24082809d2c5a93f52a5f085032740a1ebc9252a7b052ef5a4fddc6
nvidia-cuda-runtime==13.0.96 manylinux2014_aarch64
ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55
nvidia-cuda-crt==13.0.88 manylinux2014_aarch64
ee2ea2a97073e02ee62bb27841f437332be2c248e3eac013df07997ada39c003
nvidia-cuda-cupti==13.0.85 manylinux_2_25_aarch64
796bd679890ee55fb14a94629b698b6db54bcfd833d391d5e94017dd9d7d3151'
mac_torch_sha=7b6a60d48062809f58595509c524b88e6ddec3ebe25833d6462eeab81e5f2ce4
# The other libraries that it asks for on Linux x86-64.
cuda_wheels='nvidia-cudnn-cu13==9.19.0.56 manylinux_2_27_x86_64
d20e1734305e9d68889a96e3f35094d733ff1f83932ebe462753973e53a572bf
nvidia-cusparselt-cu13==0.8.0 manylinux2014_x86_64
25e30a8a7323935d4ad0340b95a0b69926eee755767e8e0b1cf8dd85b197d3fd
nvidia-nccl-cu13==2.28.9 manylinux_2_18_x86_64
e4553a30f34195f3fa1da02a6da3d6337d28f2003943aa0a3d247bbc25fefc42
nvidia-nvshmem-cu13==3.4.5 manylinux2014_x86_64
290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80
nvidia-cublas==13.1.0.3 manylinux_2_27_x86_64
ee8722c1f0145ab246bccb9e452153b5e0515fd094c3678df50b2a0888b8b171
nvidia-cuda-nvrtc==13.0.88 manylinux2010_x86_64
ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575
nvidia-cufft==12.0.0.61 manylinux2014_x86_64
6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3
nvidia-cufile==1.15.1.6 manylinux2014_x86_64
08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44
nvidia-curand==10.4.0.35 manylinux_2_27_x86_64
1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc
nvidia-cusolver==12.0.4.66 manylinux_2_27_x86_64
0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112
nvidia-cusparse==12.6.3.3 manylinux2014_x86_64
2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b
nvidia-nvjitlink==13.0.88 manylinux2010_x86_64
13a74f429e23b921c1109976abefacc69835f2f433ebd323d3946e11d804e47b
nvidia-nvtx==13.0.85 manylinux1_x86_64
4936d1d6780fbe68db454f5e72a42ff64d1fd6397df9f363ae786930fd5c1cd4'

# The CUDA of torch 2.8 to 2.10.
cuda_12_wheels='nvidia-cuda-runtime-cu12==12.8.90 manylinux2014_x86_64
adade8dcbd0edf427b7204d480d6066d33902cab2a4707dcfc48a2d0fd44ab90
nvidia-cuda-nvcc-cu12==12.8.93 manylinux2010_x86_64
2d6dc36fb7cb5ac9c0b8825bc13d193c35487a315664007287d0126531238011
nvidia-cuda-cupti-cu12==12.8.90 manylinux2014_x86_64
ea0cb07ebda26bb9b29ba82cda34849e73c166c18162d3913575b0c9db9a6182'

# Of another version than the one above: its hash, and the CUDA that it is built with.
cuda=13
if [ "$name" != libtorch ]; then
  machine=${platform#Linux-}
  torch_sha=
  read -r torch_sha cuda <<<"$(awk -v version="$version" -v machine="$machine" \
    '$1 == version && $2 == machine {print $3, $4}' "$here/libtorch_wheels.txt")"
  if [ -z "$torch_sha" ]; then
    echo "libtorch.sh: no libtorch $version is known for $platform" >&2
    exit 1
  fi
  torch="torch==$version manylinux_2_28_$machine"$'\n'"$torch_sha"
  case $machine-$cuda in
    x86_64-12) x86_64_wheels=$torch$'\n'$cuda_12_wheels ;;
    x86_64-13) x86_64_wheels=$torch$'\n'$(tail -n +3 <<<"$x86_64_wheels") ;;
    aarch64-13) aarch64_wheels=$torch$'\n'$(tail -n +3 <<<"$aarch64_wheels") ;;
    aarch64-none) aarch64_wheels=$torch ;;
  esac
fi

work=$dir/.libtorch.new
downloads=$work/downloads
rm -rf "$work"
mkdir -p "$downloads"

fetch() { # NAME==VERSION PLATFORM SHA256: download one wheel; it must be the pinned one
  mkdir "$work/one"
  python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
    --python-version 3.11 --platform "$2" -d "$work/one" "$1"
  if [ "$(sha256 "$work"/one/*.whl)" != "$3" ]; then
    echo "libtorch.sh: '$1' is not the pinned wheel" >&2
    exit 1
  fi
  mv "$work"/one/*.whl "$downloads"
  rmdir "$work/one"
}

fetch_all() { # LIST
  local wheel platform sha
  while read -r wheel platform && read -r sha; do
    fetch "$wheel" "$platform" "$sha" </dev/null
  done <<<"$1"
}

case $platform-$kind in
  Linux-x86_64-cpu) fetch_all "$x86_64_wheels" ;;
  Linux-x86_64-cuda) fetch_all "$x86_64_wheels"$'\n'"$cuda_wheels" ;;
  Linux-aarch64-cpu) fetch_all "$aarch64_wheels" ;;
  Darwin-arm64-cpu) fetch "torch==$version" macosx_14_0_arm64 $mac_torch_sha ;;
  *)
    echo "libtorch.sh: no libtorch for $kind is known for $platform;" \
      "unpack one into $target yourself" >&2
    exit 1
    ;;
esac

python3 - "$downloads" "$work" "$kind" "$name" <<'PY'
import pathlib, shutil, sys, zipfile

downloads, work, kind, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), *sys.argv[3:]
skipped = ("libtorch_python",)
if kind == "cpu":
    skipped += ("libtorch_cuda", "libtorch_nvshmem", "libcaffe2_nvrtc")


def targets(wheel, parts):
    """Where in `work` a wheel's file goes: the CUDA libraries of torch_cpu beside it, too."""
    if parts[0] == "torch" and parts[1] in ("include", "lib"):
        yield pathlib.Path(folder, *parts[1:])
    name = wheel.name.replace("-", "_")
    if "include" in parts and (name.startswith(("nvidia_cuda_runtime", "nvidia_cuda_crt"))
                               or name.startswith("nvidia_cuda_nvcc") and "crt" in parts):
        yield pathlib.Path(folder, "cuda-include", *parts[parts.index("include") + 1:])
    # What an aarch64 torch without CUDA needs.
    if parts[0] == "torch.libs" or parts[-1].startswith(("libcudart.so", "libcupti.so")):
        yield pathlib.Path(folder, "lib", parts[-1])
    if kind == "cuda" and parts[0] == "nvidia" and ".so" in parts[-1]:
        yield pathlib.Path(*parts)


for wheel in downloads.glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            parts = name.split("/")
            if name.endswith("/") or parts[-1].startswith(skipped):
                continue
            for target in targets(wheel, parts):
                path = work / target
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as source, open(path, "wb") as sink:
                    shutil.copyfileobj(source, sink, 1 << 20)
PY
rm -rf "$downloads" "$target"
if [ "$name" = libtorch ]; then rm -rf "$dir/nvidia"; fi
mv "$work"/* "$dir"
rmdir "$work"
touch "$stamp"
if [ "$kind" = cuda ]; then touch "$stamp-cuda"; fi
