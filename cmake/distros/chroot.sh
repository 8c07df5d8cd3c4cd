# Bare roots of distributions: making them, and running commands there. Sourced by scripts of this
# folder, of deploy/packages and of tests/metal, which set `root`, the clone. Needs root and
# debootstrap.

timed() { # TITLE COMMAND…: a command that fails ends the script
  local title=$1 start=$SECONDS
  shift
  "$@"
  echo "== $title: $((SECONDS - start)) s"
}

need_debootstrap() {
  if command -v debootstrap >/dev/null; then return 0; fi
  echo "debootstrap is missing; install it with: apt-get install debootstrap" >&2
  exit 1
}

make_chroot() { # NAME FOLDER LOG: 2 where the mirror does not answer
  local options=(--variant=minbase) script=() suite=$1
  if [ "$1" = newest ]; then suite=sid; fi
  if [ "$1" = noble ]; then
    options+=(--components=main,universe)
    script=(/usr/share/debootstrap/scripts/gutsy) # the one of all Ubuntus
    # Debian has no package with Ubuntu's keys, and nothing of this chroot leaves it.
    if [ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ]; then
      options+=(--keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg)
    else
      options+=(--no-check-gpg)
    fi
  fi
  # A run that was cut short leaves the host's /proc in the folder, which must stay as it is.
  if mountpoint -q "$2/proc"; then umount "$2/proc"; fi
  rm -rf --one-file-system "$2"
  # An empty mirror: debootstrap's own for that distribution.
  if ! debootstrap "${options[@]}" "$suite" "$2" "" "${script[@]}" >"$3" 2>&1; then
    tail -5 "$3" >&2
    if grep -q 'Failed getting release file' "$3"; then return 2; fi
    return 1
  fi
  if [ "$1" = newest ]; then
    sed 's/ sid / experimental /' "$2/etc/apt/sources.list" \
      >"$2/etc/apt/sources.list.d/experimental.list"
  fi
  # A mirror may be a snapshot, older than its index says that it may become.
  echo 'Acquire::Check-Valid-Until "false";' >"$2/etc/apt/apt.conf.d/90mpsd"
  touch "$2/.complete"
}

# The host's names and certificates; no package owns the latter's place.
open_chroot() { # FOLDER
  cp /etc/resolv.conf "$1/etc/resolv.conf"
  if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
    cp /etc/ssl/certs/ca-certificates.crt "$1/etc/mpsd-build-ca.pem"
  fi
}

# The sources as they are here, as /mpsd, and libtorch, which is large.
fill_chroot() { # FOLDER
  fill_sources "$1"
  cp -ruL "$root/.deps/.stamp-libtorch" "$root/.deps/libtorch" "$1/mpsd/.deps/"
}

# The files that git knows of, as they are here.
fill_sources() { # FOLDER
  mkdir -p "$1/mpsd/.deps"
  # A file that is as it was keeps its time, by which ninja knows what to build.
  git -C "$root" ls-files -z | (cd "$root" && xargs -0 cp -u --parents -t "$1/mpsd")
  # A file that is gone here goes there too.
  (cd "$1/mpsd" && find . -type f -not -path './.deps/*' -not -path './build/*' -printf '%P\n') |
    sort | comm -23 - <(git -C "$root" ls-files | sort) | while read -r file; do
    rm "$1/mpsd/$file"
  done
  open_chroot "$1"
}

in_chroot() { # FOLDER COMMAND: its mounts end with it
  unshare --mount --pid --fork sh -c "mount --rbind /dev '$1/dev' && mount -t proc proc '$1/proc' &&
    exec chroot '$1' env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
      PIP_CERT=/etc/mpsd-build-ca.pem bash -c \"\$0\"" "$2"
}

in_chroot_alone() { # FOLDER COMMAND: with a loopback of its own, and no other network
  unshare --net sh -c 'ip link set lo up && exec "$@"' sh bash -c \
    '. "$0" && in_chroot "$1" "$2"' "${BASH_SOURCE[0]}" "$1" "$2"
}
