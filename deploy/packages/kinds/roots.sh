# The debs of other distributions, each built in its own bare root, which stays in .deps/distros with
# its objects: the first time takes a quarter of an hour, later ones a minute. Needs root and
# debootstrap. MPSD_ROOTS names other roots than both.
. "$root/cmake/distros/chroot.sh"
. "$here/kinds/deb.sh"

make_root() { # NAME
  local folder=$root/.deps/distros/$1-packages
  mkdir -p "$root/.deps/distros"
  if [ ! -e "$folder/.complete" ]; then make_chroot "$1" "$folder" "$folder.log" || return; fi
  fill_chroot "$folder"
  rm -rf "$folder/mpsd/build/packages"
  mkdir -p "$folder/mpsd/build/packages"
  # The same file serves all distributions; one that is there is not made.
  cp "$out/mpsd-libtorch-cpu_${libtorch_version}_$architecture.deb" "$folder/mpsd/build/packages"
  in_chroot "$folder" "set -e; apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends ccache >/dev/null
    cd /mpsd
    MPSD_STAMP='$version $commit' SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH ./run package deb client" ||
    return
  cp "$folder"/mpsd/build/packages/*~*.deb "$out"
}

make_roots() {
  local name
  need_debootstrap
  make_libtorch_deb
  for name in ${MPSD_ROOTS:-trixie noble}; do
    make_root "$name" || {
      echo "make.sh: no packages for $name" >&2
      exit 1
    }
  done
}
