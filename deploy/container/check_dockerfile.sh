#!/usr/bin/env bash
# Runs the steps of a Dockerfile in a chroot of a fresh Debian, for hosts without Docker.
#   check_dockerfile.sh [--file FILE] [COMMAND ARGUMENTS...]
# FILE is one of this repository; without it Dockerfile.dev.
# COMMAND runs after the steps, in the image's folder and environment; without one the steps are all.
# Needs root, debootstrap (Debian package of that name) and a Debian host, whose mirror is used.
# Everything happens in a temporary folder and in a mount namespace of its own, which ends with it.
set -euo pipefail
source_root=$(cd "$(dirname "$0")/../.." && pwd)
suite=bookworm

fail() {
  echo "check_dockerfile.sh: $*" >&2
  exit 1
}

file=$source_root/Dockerfile.dev
if [ "${1:-}" = --file ]; then
  file=$(realpath "$2")
  shift 2
fi

# ---- outside: the temporary folder, and a namespace in which all mounts are private ----

if [ "${1:-}" != --inside ]; then
  [ "$(id -u)" = 0 ] || fail "a chroot needs root"
  for program in debootstrap unshare apt-get; do
    command -v $program >/dev/null || fail "$program is missing; install the package it is in"
  done
  work=$(mktemp -d "${TMPDIR:-/tmp}/check_dockerfile.XXXXXX")
  trap 'rm -rf --one-file-system "$work"' EXIT
  unshare --mount --pid --fork --kill-child -- "$0" --file "$file" --inside "$work" "$@"
  exit
fi

# ---- inside ----

root=$2/root
shift 2

mirrors() { # "URI CODENAME COMPONENT" lines, as the host's apt knows them
  apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite=$suite '$2 == suite || index($2, suite "-") == 1'
}

make_root() { # what "FROM debian:12" stands for
  local mirror
  mirror=$(mirrors | awk -v suite=$suite '$2 == suite {print $1; exit}')
  [ -n "$mirror" ] || fail "the host's apt sources know no Debian $suite"
  debootstrap --variant=minbase $suite "$root" "$mirror" >"$root.log" 2>&1 ||
    { tail -n 20 "$root.log" >&2; fail "debootstrap failed"; }
  mirrors | sed 's/^/deb /' > "$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::https?::(Proxy|CaInfo)' \
    > "$root/etc/apt/apt.conf.d/99host" || true
  # As in the image: a package that brings a service must not start it, here on the host's ports.
  printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
}

# The way to the network is the host's: names, certificates and pip's settings. The certificates
# get a name of their own, since installing ca-certificates writes the usual one.
join_network() {
  cp --dereference /etc/resolv.conf "$root/etc/resolv.conf"
  if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/host-certificates.crt"
    variables+=(PIP_CERT=/etc/host-certificates.crt SSL_CERT_FILE=/etc/host-certificates.crt)
  fi
  local name
  for name in PIP_INDEX_URL PIP_EXTRA_INDEX_URL http_proxy https_proxy no_proxy; do
    if [ -n "${!name:-}" ]; then variables+=("$name=${!name}"); fi
  done
}

mount_kernel() {
  mount --make-rprivate /
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
}

in_root() { # COMMAND ARGUMENTS...
  env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    "${variables[@]}" "$(type -P chroot)" "$root" /bin/sh -c 'cd "$1" && shift && exec "$@"' sh "$folder" "$@"
}

copy() { # SOURCES... TARGET, as COPY does: a folder's content, without what .dockerignore names
  local target=${*: -1} from
  case $target in /*) ;; *) target=$folder/$target ;; esac
  for from in "${@:1:$#-1}"; do
    if [ -d "$source_root/$from" ]; then
      mkdir -p "$root/$target"
      sed 's#^#./#' "$source_root/.dockerignore" |
        tar -C "$source_root/$from" --anchored --exclude-from=- -cf - . |
        tar -C "$root/$target" -xf - --no-same-owner || return
    else
      mkdir -p "$root/${target%/*}"
      cp -p "$source_root/$from" "$root/$target" || return
    fi
  done
}

run_mounted() { # --mount=type=bind,source=SOURCE,target=TARGET COMMAND
  local mount=${1%% *} source target
  source=${mount#*,source=}
  target=${source#*,target=}
  source=${source%%,*}
  mkdir -p "$root$target"
  mount --bind "$source_root/$source" "$root$target"
  in_root /bin/sh -c "${1#* }" || return
  umount "$root$target"
  rmdir "$root$target"
}

run_step() { # INSTRUCTION REST
  local words
  read -r -a words <<<"$2"
  case $1 in
    FROM) [ "${2%-slim}" = debian:12 ] || fail "knows no image but debian:12" ;;
    ENV) variables+=("${words[@]}") ;;
    WORKDIR)
      folder=$2
      mkdir -p "$root$folder"
      ;;
    COPY) copy "${words[@]}" ;;
    RUN)
      case $2 in
        --mount=type=bind,source=*,target=*) run_mounted "$2" ;;
        *) in_root /bin/sh -c "$2" ;;
      esac
      ;;
    # They are for who starts the image.
    CMD | ENTRYPOINT | EXPOSE | HEALTHCHECK | STOPSIGNAL | USER | VOLUME) ;;
    *) fail "knows no instruction '$1'" ;;
  esac
}

variables=()
folder=/
make_root
join_network
mount_kernel

# One instruction a line: comments go, lines that end in a backslash are joined.
mapfile -t steps < <(sed -e '/^[[:space:]]*#/d' -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' \
  -e '/^[[:space:]]*$/d' "$file")
for step in "${steps[@]}"; do
  echo "== $step"
  run_step "${step%% *}" "${step#* }" </dev/null || fail "the step failed: $step"
done

if [ $# -gt 0 ]; then
  echo "== $*"
  in_root "$@" </dev/null
fi
echo "${file#"$source_root/"}: ok"
