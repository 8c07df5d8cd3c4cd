#!/usr/bin/env bash
# Installs a build, runs the job as your LaunchAgent, calls it, and removes all of it again but the log.
#   check.sh BUILD
# For a Mac on which no mpsd is installed in /usr/local; asks for sudo. Not yet run on a Mac.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1
label=net.mpsd.mpsd
agent=$HOME/Library/LaunchAgents/$label.plist
limit_s=60

fail() {
  echo "check.sh: $*" >&2
  exit 1
}

installed=(/usr/local/bin/mpsd{,-worker,-worker-synthetic,-device-copier} /usr/local/lib/mpsd
  /usr/local/lib/libmpsd-driver-guard.dylib /usr/local/etc/mpsd)
for place in "${installed[@]}" "$agent"; do
  [ ! -e "$place" ] || fail "$place is there already"
done

# A session without a screen has no domain of its windows.
domain=gui/$UID
launchctl print "$domain" >/dev/null 2>&1 || domain=user/$UID

remove() {
  launchctl bootout "$domain/$label" 2>/dev/null || true
  rm -f "$agent"
  sudo rm -rf "${installed[@]}"
}
trap remove EXIT

sudo cmake --install "$build" --prefix /usr/local >/dev/null
sudo mkdir -p /usr/local/etc/mpsd /usr/local/var/log/mpsd
sudo install -m 644 "$here/../homebrew/mpsd.json" /usr/local/etc/mpsd/mpsd.json
sudo chown "$USER" /usr/local/var/log/mpsd
mkdir -p "${agent%/*}"
cp "$here/$label.plist" "$agent"
launchctl bootstrap "$domain" "$agent"

ready() { curl -sf --max-time 2 http://127.0.0.1:8002/readyz >/dev/null; }
for ((i = 0; i < limit_s; ++i)); do
  if ready; then break; fi
  sleep 1
done
ready || {
  launchctl print "$domain/$label" || true
  tail -50 /usr/local/var/log/mpsd/mpsd.log
  fail "not ready within $limit_s s"
}
echo "ready after $i s, in $domain"
/usr/local/bin/mpsd infer identity --input INPUT0=random >/dev/null
/usr/local/bin/mpsd ps

# The Mac stays awake while requests run, and may sleep after them.
stays_awake() { pmset -g assertions | grep -q 'mpsd serves requests'; }
/usr/local/bin/mpsd bench identity --clients 1 --seconds 5 >/dev/null &
for ((i = 0; i < limit_s; ++i)); do
  if stays_awake; then break; fi
  sleep 1
done
stays_awake || fail "nothing keeps the Mac awake while requests run"
wait $!
for ((i = 0; i < limit_s; ++i)); do
  if ! stays_awake; then break; fi
  sleep 1
done
! stays_awake || fail "the Mac stays awake $limit_s s after the last request"

# launchd starts it again after a crash, at most once in 10 s.
pid=$(launchctl print "$domain/$label" | awk '/^[[:space:]]*pid = / {print $3}')
kill -9 "$pid"
for ((i = 0; i < limit_s; ++i)); do
  now=$(launchctl print "$domain/$label" | awk '/^[[:space:]]*pid = / {print $3}')
  if [ -n "$now" ] && [ "$now" != "$pid" ] && ready; then break; fi
  sleep 1
done
[ -n "$now" ] && [ "$now" != "$pid" ] || fail "launchd has not started it again"
echo "again $i s after kill -9"

SECONDS=0
launchctl bootout "$domain/$label"
echo "ended within $SECONDS s"
