#!/usr/bin/env bash
# Uses the packages as a person would, in bare roots; ./run check-packages calls it.
#   check.sh PACKAGES CACHE MODEL [NAME...]
# PACKAGES: the folder that make.sh filled, with its repository. CACHE keeps the bare roots; each
# check runs in a copy. MODEL: a folder of a sentence encoder. NAME: bookworm, trixie, noble; without
# one, those that the repository has. Needs root, debootstrap, umoci,
# crun and a mounted cgroup2.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
. "$root/cmake/distros/chroot.sh"
. "$here/booted_root.sh"
packages=$(cd "$1" && pwd)
mkdir -p "$2"
cache=$(cd "$2" && pwd)
model=$(cd "$3" && pwd)
shift 3
need_debootstrap
names=("$@")
if [ ${#names[@]} -eq 0 ]; then mapfile -t names < <(ls "$packages/apt/dists"); fi

fresh_root() { # NAME: prints the path of a bare root that is this check's own
  local bare=$cache/$1-bare copy=$root/build/packaging/check-$1
  if [ ! -e "$bare/.complete" ]; then make_chroot "$1" "$bare" "$bare.log" || return; fi
  rm -rf "$copy"
  mkdir -p "${copy%/*}"
  cp -a --reflink=auto "$bare" "$copy"
  open_chroot "$copy"
  mkdir -p "$copy/srv/check"
  cp "$here"/*_inside.sh "$here/daemon.sh" "$copy/srv/check"
  cp -rL "$model" "$copy/srv/check/minilm"
  echo "$copy"
}

# The same package with a higher version, for the upgrade.
newer_deb() { # DEB FOLDER
  local tree=$2/newer
  dpkg-deb -R "$1" "$tree"
  sed -i 's/^Version: .*/&+check/' "$tree/DEBIAN/control"
  dpkg-deb --root-owner-group -Zxz -z1 -b "$tree" "$2/newer.deb" >/dev/null
  rm -rf "$tree"
}

check_debs() { # NAME
  local copy
  copy=$(fresh_root "$1")
  cp -rl "$packages/apt" "$copy/srv/check/apt"
  newer_deb "$(find "$copy/srv/check/apt/pool" -name "mpsd_*~$(revision_of "$1")_$(dpkg --print-architecture).deb")" "$copy/srv/check"
  echo "deb [trusted=yes] file:/srv/check/apt $1 main" >"$copy/etc/apt/sources.list.d/mpsd.list"
  in_chroot "$copy" "bash /srv/check/download_inside.sh"
  boot_root "$copy"
  trap halt_root EXIT
  in_booted bash /srv/check/service_inside.sh
  halt_root
  trap - EXIT
  rm -rf "$copy"
}

check_tar() { # NAME
  local copy archive
  archive=$(one_package "mpsd-*-linux-$(uname -m).tar.zst")
  copy=$(fresh_root "$1")
  # A name with a space, and another depth than that of a prefix.
  mkdir -p "$copy/srv/any where"
  local start=$SECONDS
  zstd -q -dc --long=27 "$archive" | tar -x -C "$copy/srv/any where"
  echo "$((SECONDS - start))" >"$copy/srv/check/unpack_seconds"
  in_chroot_alone "$copy" "bash /srv/check/tar_inside.sh"
  rm -rf "$copy"
}

check_client() { # NAME: a program outside this repository, built with the client's package
  local copy
  copy=$(fresh_root "$1")
  cp -rl "$packages/apt" "$copy/srv/check/apt"
  cp -r "$here/client_program" "$copy/srv/check"
  echo "deb [trusted=yes] file:/srv/check/apt $1 main" >"$copy/etc/apt/sources.list.d/mpsd.list"
  in_chroot "$copy" "bash /srv/check/client_inside.sh"
  rm -rf "$copy"
}

check_wheel() { # NAME: for the wheel of this machine, beside torch
  local copy wheel
  wheel=$(one_package "mpsd-*_$(uname -m).whl")
  copy=$(fresh_root "$1")
  cp "$wheel" "$copy/srv/check"
  grep -oE '\b(torch|nvidia-cuda-runtime|nvidia-cuda-cupti)==[0-9.]+' "$root/cmake/setup/libtorch.sh" |
    sort -u >"$copy/srv/check/torch.txt"
  in_chroot "$copy" "bash /srv/check/wheel_inside.sh"
  rm -rf "$copy"
}

# The image is the same on each distribution, and brings its own.
check_image() {
  local image bundle=$root/build/packaging/check-image
  image=$(one_package "mpsd-*-oci-$(uname -m).tar")
  rm -rf "$bundle" "$bundle.layout"
  mkdir -p "$bundle.layout"
  tar -x -C "$bundle.layout" -f "$image"
  umoci unpack --image "$bundle.layout:$(umoci ls --layout "$bundle.layout")" "$bundle"
  python3 "$here/bundle.py" "$bundle/config.json" "$model"
  unshare --mount bash "$here/image_inside.sh" "$bundle"
  rm -rf "$bundle" "$bundle.layout"
}

one_package() { # PATTERN: prints its path
  local found
  found=$(find "$packages" -maxdepth 1 -name "$1" -print -quit)
  if [ -z "$found" ]; then
    echo "check.sh: $packages has no $1" >&2
    return 1
  fi
  echo "$found"
}

revision_of() { # NAME
  case $1 in bookworm) echo debian12 ;; trixie) echo debian13 ;; noble) echo ubuntu24.04 ;; esac
}

for name in "${names[@]}"; do
  for part in debs tar client wheel; do
    echo "== $name: $part"
    check_$part "$name"
  done
done
echo "== image"
check_image
