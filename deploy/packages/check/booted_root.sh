# A bare root with systemd as its first process, in namespaces of its own: no network but a loopback,
# and a cgroup below this host's. Sourced by check.sh. Needs root and a mounted cgroup2.

# `systemd` creates user namespaces for units, which no process in a chroot may: the root is pivoted.
enter_root='
  ip link set lo up
  mount --make-rprivate /
  mount --bind "$0" "$0"
  cd "$0"
  mount -t proc proc proc
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs -o mode=755 tmpfs run
  mount -t tmpfs -o mode=755 tmpfs dev
  for name in null zero full random urandom tty; do
    touch "dev/$name"
    mount --bind "/dev/$name" "dev/$name"
  done
  mkdir -p dev/pts dev/shm .host
  mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  mount -t tmpfs tmpfs dev/shm
  pivot_root . .host
  umount -l /.host
  rmdir /.host
  exec env -i container=mpsd-check PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd \
    --show-status=no'

boot_root() { # FOLDER: returns when its units run
  local folder=$1 group
  group=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/mounts)/mpsd-check-$$
  mkdir -p "$group"
  (
    echo "$BASHPID" >"$group/cgroup.procs"
    exec unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child \
      sh -ec "$enter_root" "$folder"
  ) >"$folder.log" 2>&1 &
  booted=$!
  booted_group=$group
  for _ in $(seq 600); do
    if [ "$(in_booted systemctl is-system-running 2>/dev/null)" = running ]; then return 0; fi
    kill -0 $booted 2>/dev/null || break
    sleep 0.1
  done
  cat "$folder.log" >&2
  in_booted systemctl --failed --no-pager >&2 || true
  echo "check.sh: systemd does not run in $folder" >&2
  return 1
}

in_booted() { # COMMAND...
  local first
  first=$(pgrep -P "$booted") || return
  nsenter -t "$first" -m -p -n -u -i -C --root="/proc/$first/root" --wd="/proc/$first/root" \
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
}

halt_root() {
  kill -9 "$booted" # its child, the root's first process, goes with it, and so do all others there
  wait "$booted" 2>/dev/null || true
  for _ in $(seq 100); do
    find "$booted_group" -depth -type d -exec rmdir {} + 2>/dev/null || true
    if [ ! -d "$booted_group" ]; then return 0; fi
    sleep 0.1
  done
}
