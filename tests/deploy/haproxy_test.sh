#!/usr/bin/env bash
# HAProxy takes the example config, without a warning.
#   haproxy_test.sh
# Needs haproxy and openssl (Debian packages of the same names).
set -euo pipefail
config=$(cd "$(dirname "$0")/../../deploy/haproxy" && pwd)/mpsd.cfg
PATH=$PATH:/usr/sbin

for program in haproxy openssl; do
  if ! command -v $program >/dev/null; then
    echo "haproxy_test.sh: $program is missing; install the Debian package '$program'" >&2
    exit 1
  fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The config names a certificate that this host does not have.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 \
  -subj /CN=localhost -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
cat "$work/cert.pem" "$work/key.pem" > "$work/mpsd.pem"
sed "s#/etc/haproxy/mpsd.pem#$work/mpsd.pem#" "$config" > "$work/mpsd.cfg"

haproxy -c -dW -f "$work/mpsd.cfg"
