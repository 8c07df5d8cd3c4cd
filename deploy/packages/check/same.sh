#!/usr/bin/env bash
# Makes the packages of a commit once more, from nothing, and compares them with the first ones, byte
# for byte; ./run check-same calls it.
#   same.sh PACKAGES [KIND...]
# PACKAGES: what ./run package has made of this commit. KIND: as of make.sh; without one, all. The
# second clone lies at another depth and has no compiler's cache.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
packages=$(cd "$1" && pwd)
shift
again=$root/build/packaging/same/another/depth

if [ -n "$(git -C "$root" status --porcelain)" ]; then
  echo "same.sh: there are changes that no commit has, so a clone would give other packages" >&2
  exit 1
fi

clone_again() {
  local fetched
  rm -rf "$again"
  mkdir -p "${again%/*}"
  git clone -q "$root" "$again"
  mkdir "$again/.deps"
  # Whole copies cost gigabytes; nothing writes to these files.
  for fetched in "$root"/.deps/libtorch* "$root/.deps/.stamp-libtorch"; do
    if [ -e "$fetched" ]; then cp -al "$fetched" "$again/.deps"; fi
  done
  # Its entries for dpkg know where it lies.
  if [ -d "$root/.deps/arm64" ]; then ln -s "$root/.deps/arm64" "$again/.deps/arm64"; fi
}

# A signature of gpg has a time of its own, and who signs may have no key here. The bill names the
# parts of all packages in its folder, which are others where a KIND is said.
compared() {
  local left_out=(! -name 'SHA256SUMS*' ! -name InRelease ! -name Release.gpg)
  if [ $# -gt 0 ]; then left_out+=(! -name '*.spdx.json'); fi
  find . -type f "${left_out[@]}" -printf '%P\n' | sort
}

clone_again
(cd "$again" && CCACHE_DISABLE=1 ./run package "$@")
cd "$again/build/packages"
compared "$@" | xargs -d '\n' sha256sum >../sums
if ! (cd "$packages" && sha256sum --check --quiet) <../sums; then
  echo "same.sh: the files above differ from those in $PWD; diffoscope shows how" >&2
  exit 1
fi
echo "$(wc -l <../sums) files are the same"
rm -rf "$root/build/packaging/same"
