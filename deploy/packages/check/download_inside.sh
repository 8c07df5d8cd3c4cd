# Fetches what mpsd needs of the distribution, into a bare root that gets a systemd.
set -euo pipefail
. /srv/check/daemon.sh
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq systemd >/srv/check/apt.log 2>&1 || fail "apt install systemd"
list_ours >/srv/check/before
start=$SECONDS
apt-get install -y -qq --download-only mpsd >/srv/check/apt.log 2>&1 || {
  tail -20 /srv/check/apt.log >&2
  fail "the download"
}
echo "downloaded in $((SECONDS - start)) s"
