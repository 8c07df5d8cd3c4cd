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

# The sources as they are here, the host's names and certificates, and libtorch, which is large.
fill_chroot() { # FOLDER
  mkdir -p "$1/mpsd/.deps"
  # A file that is as it was keeps its time, by which ninja knows what to build.
  git -C "$root" ls-files | while read -r file; do
    cmp -s "$root/$file" "$1/mpsd/$file" && continue
    mkdir -p "$(dirname "$1/mpsd/$file")"
    cp "$root/$file" "$1/mpsd/$file"
  done
  # A file that is gone here goes there too.
  (cd "$1/mpsd" && find . -type f -not -path './.deps/*' -not -path './build/*' -printf '%P\n') |
    sort | comm -23 - <(git -C "$root" ls-files | sort) | while read -r file; do
    rm "$1/mpsd/$file"
  done
  open_chroot "$1"
  cp -ruL "$root/.deps/.stamp-libtorch" "$root/.deps/libtorch" "$1/mpsd/.deps/"
}

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
