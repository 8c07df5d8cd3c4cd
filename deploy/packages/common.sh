# What the kinds of packages share. Sourced by make.sh, which sets `here` and `out`.
# A kind is kinds/KIND.sh with the function make_KIND.

all_kinds=(deb client tar oci wheel roots apt)  # apt last: its repository holds the packages of the others
named_kinds=(oci-cuda)  # only made where they are named: 2.5 GB to fetch, of x86-64
root=$(cd "$here/../.." && pwd)
# MPSD_ARCH, as uname says it: the machine that the packages are for.
machine=${MPSD_ARCH:-$(uname -m)}
if [ "$machine" = "$(uname -m)" ]; then
  build=$root/build/package
  torches=$root/.deps
  libtorch=${MPSD_LIBTORCH:-$torches/libtorch}
  architecture=$(dpkg --print-architecture)
  sysroot= strip=strip library_path= emulate=() ldd=(ldd) configure=()
elif [ "$machine" = aarch64 ]; then
  . "$root/cmake/arm64/cross.sh"
  torches=$arm64
  all_kinds=(deb client tar oci wheel)
else
  echo "make.sh: packages for $machine cannot be made on $(uname -m)" >&2
  exit 2
fi
libtorch_version=$(sed -n 's/^version=//p' "$root/cmake/setup/libtorch.sh")
# Sources without git, as those in a bare root, are told their version.
read -r version commit <<<"${MPSD_STAMP:-$("$root/cmake/version.sh")}"
# Every date in a package is that of the commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
umask 022

# What an installed worker loads of libtorch on a cpu. The other libraries of the wheel serve CUDA
# and Python.
libtorch_files=(libtorch_cpu.so libc10.so libgomp.so.1 libcudart.so.13 libcupti.so.13)
if [ "$machine" = aarch64 ]; then
  libtorch_files+=(libarm_compute.so libarm_compute_graph.so libnvpl_blas_core.so.0 libnvpl_blas_lp64_gomp.so.0
    libnvpl_lapack_core.so.0 libnvpl_lapack_lp64_gomp.so.0)
fi

fresh_folder() { # NAME: an empty folder for a kind's work; prints its path
  local folder=$root/build/packaging/$1
  rm -rf "$folder"
  mkdir -p "$folder"
  echo "$folder"
}

build_programs() { # TARGETS...: of the preset `package`
  cmake -S "$root" --preset package ${configure[@]+"${configure[@]}"} "-DMPSD_STAMP=$version $commit" \
    "-DMPSD_LIBTORCH=$libtorch" --log-level=WARNING >/dev/null
  cmake --build "$build" -j "${MPSD_JOBS:-$(nproc)}" --target "$@"
}

# With the programs that mpsd starts.
build_daemon() { build_programs mpsd mpsd-worker mpsd-worker-synthetic mpsd-device-copier mpsd-cuda-graphs; }

install_component() { # COMPONENT PREFIX
  cmake --install "$build" --component "$1" --prefix "$2" >/dev/null
}

copy_libtorch() { # FOLDER
  local file
  mkdir -p "$1"
  for file in "${libtorch_files[@]}"; do cp -L "$libtorch/lib/$file" "$1/$file"; done
}

# Man pages and completions, as the program itself prints them, below PREFIX/share.
write_help() { # PREFIX
  local mpsd=("${emulate[@]}" "$build/bin/mpsd") share=$1/share
  if ! "${mpsd[@]}" man >/dev/null 2>&1; then
    echo "make.sh: this mpsd prints no man pages and no completions" >&2
    return 0
  fi
  mkdir -p "$share/man/man1" "$share/man/man5" "$share/bash-completion/completions" \
    "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
  "${mpsd[@]}" man --into "$share/man/man1"
  mv "$share/man/man1/mpsd.json.5" "$share/man/man5/"
  "${mpsd[@]}" completion bash >"$share/bash-completion/completions/mpsd"
  "${mpsd[@]}" completion zsh >"$share/zsh/vendor-completions/_mpsd"
  "${mpsd[@]}" completion fish >"$share/fish/vendor_completions.d/mpsd.fish"
}

# What the packages are made of, as SPDX. The archive is the one that holds the distribution's part.
write_bill() {
  local libraries=()
  for folder in "$root"/build/packaging/tar/mpsd-*-"$machine"/lib/mpsd; do
    if [ -d "$folder" ]; then libraries=("$folder"); fi
  done
  python3 "$here/sbom.py" "$version" "$commit" "$root/cmake/setup/libtorch.sh" "$machine" \
    ${libraries[@]+"${libraries[@]}"} >"$out/mpsd-$version-$machine.spdx.json"
}

# MPSD_MINISIGN_KEY is a file with a secret key of minisign, without a password. One signature holds
# for every file, by the sums.
write_sums() {
  (cd "$out" && find . -maxdepth 1 -type f ! -name 'SHA256SUMS*' -printf '%P\n' | sort |
    xargs -d '\n' sha256sum >SHA256SUMS)
  rm -f "$out/SHA256SUMS.minisig"
  if [ -n "${MPSD_MINISIGN_KEY-}" ]; then
    minisign -S -s "$MPSD_MINISIGN_KEY" -m "$out/SHA256SUMS" -t "mpsd $version" </dev/null
  fi
  (cd "$out" && find . -maxdepth 1 -type f -printf '%s %P\n' | sort -k 2 |
    awk '{printf "%8.1f MB  %s\n", $1 / 1e6, $2}')
}
