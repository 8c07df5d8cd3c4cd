#!/usr/bin/env bash
# The systemd unit is understood in every line, with and without the drop-in, and stays closed.
#   systemd_test.sh
# Works without a running systemd. Needs systemd-analyze (Debian package: systemd).
set -euo pipefail
exposure_max=12   # tenths, as `systemd-analyze security` takes it: 1.2 of 10
units=$(cd "$(dirname "$0")/../../deploy/systemd" && pwd)

if ! command -v systemd-analyze >/dev/null; then
  echo "systemd_test.sh: systemd-analyze is missing; install the Debian package 'systemd'" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The daemon is not installed where the test runs, so something else stands in for it.
sed 's#/usr/local/bin/mpsd#/bin/true#' "$units/mpsd.service" > "$work/mpsd.service"

verify() { # What: a complaint is a failure, since systemd ignores a line that it does not know
  local complaints
  complaints=$(SYSTEMD_UNIT_PATH="$work:" systemd-analyze verify --man=no \
    "$work/mpsd.service" 2>&1 | grep -F mpsd || true)
  if [ -n "$complaints" ]; then
    printf 'systemd_test.sh: %s:\n%s\n' "$1" "$complaints" >&2
    exit 1
  fi
}

verify "the unit"
systemd-analyze security --offline=true --no-pager --threshold="$exposure_max" \
  "$work/mpsd.service" | tail -n 1

mkdir "$work/mpsd.service.d"
cp "$units/cuda.conf" "$work/mpsd.service.d/"
verify "the unit with cuda.conf"

# A line of the drop-in that systemd does not know must be seen, else the check above is blind.
echo "NoSuchDirective=1" >> "$work/mpsd.service.d/cuda.conf"
if (verify "control") 2>/dev/null; then
  echo "systemd_test.sh: verify does not read the drop-in" >&2
  exit 1
fi

must_have() { # LINE: what the daemon relies on
  grep -qxF "$1" "$units/mpsd.service" && return
  echo "systemd_test.sh: mpsd.service lacks '$1'" >&2
  exit 1
}
must_have "Type=notify"
must_have "User=mpsd"
must_have "NotifyAccess=main"
must_have "KillMode=mixed"
must_have "TimeoutStopSec=60"
must_have "Restart=on-failure"
must_have "RestartPreventExitStatus=78 75"
must_have "OOMPolicy=continue"
must_have 'ExecReload=/bin/kill -HUP $MAINPID'
must_have "StateDirectory=mpsd"
must_have "RuntimeDirectory=mpsd"
must_have "Environment=LD_LIBRARY_PATH=/usr/local/lib/mpsd"

# What the unit names is what the page installs.
installed=$(sed -nE -e '/^install -d/d; s/^install .* (\S+)( +#.*)?$/\1/p' \
  -e 's#^cmake --install .* --prefix (\S+)$#\1/bin/\n\1/lib/mpsd/#p' "$units/../README.md")
for path in /usr/local/bin/ /usr/local/lib/mpsd/ /etc/mpsd/mpsd.json; do
  if ! grep -qF "${path%/}" "$units/mpsd.service" || ! grep -qxF "$path" <<<"$installed"; then
    echo "systemd_test.sh: the unit and the install lines of README.md differ in $path" >&2
    exit 1
  fi
done
echo "systemd units: ok"
