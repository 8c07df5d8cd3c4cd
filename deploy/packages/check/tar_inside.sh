# Serves from the unpacked archive. Runs in a bare root, without a network.
set -euo pipefail
. /srv/check/daemon.sh
folder=$(echo "/srv/any where"/mpsd-*)
write_config /srv/check/mpsd.json
"$folder/bin/mpsd" --version
"$folder/bin/mpsd" check "$folder/mpsd.json"
start=$(date +%s%N)
cd /
"$folder/bin/mpsd" serve --config /srv/check/mpsd.json >/srv/check/serve.log 2>&1 &
daemon=$!
wait_for "a first answer" answers "$folder/bin/mpsd"
echo "first answer $((($(date +%s%N) - start) / 1000000)) ms after the start, unpacked in" \
  "$(cat /srv/check/unpack_seconds) s"
kill $daemon
wait $daemon || fail "mpsd ended with $?"
