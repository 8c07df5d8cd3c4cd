# Installs mpsd, serves, upgrades, removes and purges it. Runs in a booted root.
set -euo pipefail
. /srv/check/daemon.sh
export DEBIAN_FRONTEND=noninteractive
config=/etc/mpsd/mpsd.json
apt() { # VERB ARGUMENTS...
  apt-get "$1" -y -qq "${@:2}" >/srv/check/apt.log 2>&1 || {
    tail -20 /srv/check/apt.log >&2
    fail "apt-get $*"
  }
}
now_ms() { echo $(($(date +%s%N) / 1000000)); }

start=$(now_ms)
apt install mpsd
wait_for "an answer of a daemon without models" is_ready
echo "installed and ready in $(($(now_ms) - start)) ms"
mpsd --version
mpsd check $config || fail "the config of the package"
[ "$(systemctl show -P User mpsd)" = mpsd ] || fail "the service has another user"
[ "$(stat -c %U /var/lib/mpsd)" = mpsd ] || fail "/var/lib/mpsd is not the user's"

# A first model: the operator names it, the daemon reloads.
start=$(now_ms)
write_config $config
systemctl reload mpsd
wait_for "a first answer" answers mpsd
echo "first answer $(($(now_ms) - start)) ms after its model was named"

# An upgrade under load: the old daemon hands over to the new one.
failed=/srv/check/failed calls=/srv/check/calls
: >$failed
: >$calls
(while [ ! -e /srv/check/enough ]; do
  echo >>$calls
  answers mpsd || echo >>$failed
done) &
load=$!
wait_for "calls" [ -s $calls ]
first=$(systemctl show -P MainPID mpsd)
apt install /srv/check/newer.deb
dpkg-query -W mpsd | grep -q '+check$' || fail "not upgraded"
grep -q 'changed by the operator' $config || fail "the upgrade replaced the config"
wait_for "the upgraded daemon" answers mpsd
[ "$(systemctl show -P MainPID mpsd)" != "$first" ] || fail "the upgrade left the old daemon"
[ "$(systemctl show -P NRestarts mpsd)" = 0 ] || fail "the daemon failed at the upgrade"
touch /srv/check/enough
wait $load || true
echo "upgrade: $(wc -l <$calls) calls, $(wc -l <$failed) of them failed"
[ ! -s $failed ] || fail "calls failed while the package was upgraded"
journalctl -u mpsd -o cat | grep -q '"event":"handed_over"' || fail "no handover"

# The new daemon is systemd's child, so a stop is a drain and no SIGKILL.
systemctl restart mpsd
if journalctl -u mpsd -o cat | grep SIGKILL; then fail "the daemon was killed"; fi
wait_for "the restarted daemon" answers mpsd

apt remove mpsd
[ ! -e /usr/bin/mpsd ] || fail "remove left /usr/bin/mpsd"
! systemctl is-active -q mpsd || fail "remove left the service running"
grep -q 'changed by the operator' $config || fail "remove took the config"
apt purge mpsd mpsd-libtorch-cpu
list_ours | diff /srv/check/before - || fail "purge left files"
if getent passwd mpsd || getent group mpsd; then fail "purge left the user or the group"; fi
if systemctl list-unit-files | grep mpsd; then fail "purge left a unit"; fi
if find / /run /dev/shm -xdev -path /srv -prune -o \( -nouser -o -nogroup \) -print | grep .; then
  fail "purge left files of nobody's"
fi
echo "removed and purged: nothing left"
