#!/usr/bin/env bash
# Builds mpsd in bare chroots of other distributions than the one that CI has, and runs the unit
# tests and a first request there.
#   check.sh CACHE [--syntax] [NAME...]
# CACHE keeps the chroots and their builds, so that a second run takes minutes less. NAME: trixie
# (Debian 13), noble (Ubuntu 24.04), sid, newest; without one the first two. newest is sid with the
# gRPC, protobuf and Abseil of experimental, which are as new as Homebrew's; the sources are read
# there with warnings as errors before they are built, and --syntax leaves it at that. A
# distribution whose mirror does not answer is skipped by name. Needs root, debootstrap, and a
# .deps/libtorch.
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
if [ ${#names[@]} -eq 0 ]; then names=(trixie noble); fi

check() { # NAME: 2 where it could not be had
  local folder=$cache/$1
  if [ ! -e "$folder/.complete" ]; then make_chroot "$1" "$folder" "$cache/$1.log" || return; fi
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
