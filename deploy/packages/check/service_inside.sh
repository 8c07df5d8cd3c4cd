# Serves, upgrades, removes and purges what install_inside.sh installed. Runs in a bare root without
# systemd, so it does by hand what the unit says.
set -euo pipefail
. /srv/check/daemon.sh
export DEBIAN_FRONTEND=noninteractive
config=/etc/mpsd/mpsd.json
unit=$(dpkg -L mpsd | grep '/mpsd.service$')

serve() { # starts the unit's command as the unit's user, with the unit's environment
  local command environment
  command=$(sed -n 's/^ExecStart=//p' "$unit")
  mapfile -t environment < <(sed -n 's/^Environment=//p' "$unit")
  # shellcheck disable=SC2086 # words
  setpriv --reuid=mpsd --regid=mpsd --clear-groups env "${environment[@]}" $command \
    >>/srv/check/serve.log 2>&1 &
  daemon=$!
}
stop() {
  kill "$daemon"
  wait "$daemon" || fail "mpsd ended with $?"
}

getent passwd mpsd >/dev/null || fail "no user mpsd"
[ "$(stat -c %U /var/lib/mpsd)" = mpsd ] || fail "/var/lib/mpsd is not the user's"
mpsd --version
mpsd check $config || fail "the config of the package"
serve
wait_for "an answer of a daemon without models" is_ready

# A first model: the operator names it, the daemon reloads.
start=$(date +%s%N)
write_config $config
kill -HUP $daemon
wait_for "a first answer" answers mpsd
echo "first answer $((($(date +%s%N) - start) / 1000000)) ms after its model was named," \
  "the package installed in $(cat /srv/check/install_seconds) s"

# An upgrade under load: files change below a daemon that goes on.
failed=/srv/check/failed calls=/srv/check/calls
: >$failed
: >$calls
(while [ ! -e /srv/check/enough ]; do
  echo >>$calls
  answers mpsd || echo >>$failed
done) &
load=$!
wait_for "calls" [ -s $calls ]
apt-get install -y -qq /srv/check/newer.deb >/srv/check/upgrade.log 2>&1 || fail "the upgrade"
dpkg-query -W mpsd | grep -q '+check$' || fail "not upgraded"
grep -q 'changed by the operator' $config || fail "the upgrade replaced the config"
before_restart=$(wc -l <$failed)
stop
serve
wait_for "the upgraded daemon" answers mpsd
touch /srv/check/enough
wait $load || true
echo "upgrade: $(wc -l <$calls) calls, $before_restart failed while files changed," \
  "$(wc -l <$failed) with the restart"
[ "$before_restart" -eq 0 ] || fail "calls failed while files changed"

stop
apt-get remove -y -qq mpsd >/srv/check/remove.log 2>&1 || fail "remove"
[ ! -e /usr/bin/mpsd ] || fail "remove left /usr/bin/mpsd"
grep -q 'changed by the operator' $config || fail "remove took the config"
apt-get purge -y -qq mpsd mpsd-libtorch-cpu >/srv/check/purge.log 2>&1 || fail "purge"
find / -xdev \( -path /proc -o -path /srv \) -prune -o -name "*mpsd*" -print | sort |
  diff /srv/check/before - || fail "purge left files"
if getent passwd mpsd || getent group mpsd; then fail "purge left the user or the group"; fi
if find / -xdev \( -path /proc -o -path /srv \) -prune -o \( -nouser -o -nogroup \) -print | grep .; then
  fail "purge left files of nobody's"
fi
echo "removed and purged: nothing left"
