# Installs mpsd from the repository. Runs in a bare root.
set -euo pipefail
. /srv/check/daemon.sh
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
find / -xdev \( -path /proc -o -path /srv \) -prune -o -name "*mpsd*" -print | sort >/srv/check/before
start=$SECONDS
apt-get install -y -qq mpsd >/srv/check/apt.log 2>&1 || {
  tail -20 /srv/check/apt.log >&2
  fail "apt install"
}
echo "$((SECONDS - start))" >/srv/check/install_seconds
dpkg-query -W mpsd mpsd-libtorch-cpu
echo "installed in $((SECONDS - start)) s"
