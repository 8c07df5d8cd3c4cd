#!/usr/bin/env bash
# README's commands in bare chroots, where nothing is prepared but a clone: `./run test` as root in
# /root, then as a user in a home, and the demo models with a first request.
#   check.sh CACHE [--syntax] [NAME...]
# NAME: bookworm (Debian 12), trixie (Debian 13), noble (Ubuntu 24.04); without one these three.
# CACHE keeps the chroots and what compilers made there, so that a second run takes less.
# sid and newest have the newest libraries: the unit tests run there, and a first request. newest is
# sid with the gRPC, protobuf and Abseil of experimental, which are as new as Homebrew's. Its
# sources are read with warnings as errors before they are built, and --syntax leaves it at that. A
# distribution whose mirror does not answer is skipped by name. Needs root, debootstrap, git, and
# for sid and newest a .deps/libtorch.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/chroot.sh"
mkdir -p "$1"
cache=$(cd "$1" && pwd)
shift
need_debootstrap
built=yes
if [ "${1:-}" = --syntax ]; then
  built=no
  shift
fi
names=("$@")
if [ ${#names[@]} -eq 0 ]; then names=(bookworm trixie noble); fi

# Each clone is made anew. Both use one compiler's cache, so that the second one is built in minutes.
test_in() { # FOLDER
  local user=someone home
  open_chroot "$1"
  for home in root "home/$user"; do
    rm -rf "$1/${home:?}/mpsd"
    mkdir -p "$1/$home"
    git clone -q --no-hardlinks "$root" "$1/$home/mpsd" || return
  done
  in_chroot "$1" 'export CCACHE_DIR=/var/cache/ccache CCACHE_UMASK=000
    cd ~/mpsd && ./run test && bash cmake/distros/first_request.sh' || return
  in_chroot "$1" "id $user >/dev/null 2>&1 || useradd -s /bin/bash $user
    chown -R $user ~$user && chmod -R a+rwX /var/cache/ccache
    exec su --whitelist-environment=PIP_CERT - $user -c 'export CCACHE_DIR=/var/cache/ccache CCACHE_UMASK=000
      cd ~/mpsd && ./run test'"
}

check() { # NAME: 2 where it could not be had
  local folder=$cache/$1
  if [ ! -e "$folder/.complete" ]; then make_chroot "$1" "$folder" "$cache/$1.log" || return; fi
  if [ "$1" != sid ] && [ "$1" != newest ]; then
    test_in "$folder"
    return
  fi
  fill_chroot "$folder" || return
  if [ "$1" = newest ]; then
    in_chroot "$folder" 'cd /mpsd && bash cmake/distros/newest.sh' || return 1
  fi
  if [ $built = no ]; then return 0; fi
  in_chroot "$folder" 'cd /mpsd && bash cmake/distros/inside.sh' || return 1
}

failed=()
for name in "${names[@]}"; do
  start=$SECONDS outcome=passed
  check "$name" || outcome=$?
  case $outcome in
    passed) ;;
    2) outcome='SKIPPED, its mirror does not answer' ;;
    *) outcome=FAILED && failed+=("$name") ;;
  esac
  echo "== $name: $outcome after $((SECONDS - start)) s"
done
[ ${#failed[@]} -eq 0 ]
