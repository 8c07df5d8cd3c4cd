#!/usr/bin/env bash
# The alerts are valid, fire where they should, and the example config loads them.
#   promtool_test.sh
# Needs promtool (Debian package: prometheus).
set -euo pipefail
cd "$(dirname "$0")/../../deploy/prometheus"

if ! command -v promtool >/dev/null; then
  echo "promtool_test.sh: promtool is missing; install the Debian package 'prometheus'" >&2
  exit 1
fi

promtool check rules alerts.yml
promtool check config prometheus.yml
promtool test rules alerts_test.yml

# Every alert has a test that names it.
grep -oP '(?<=- alert: )\w+' alerts.yml | while read -r alert; do
  if ! grep -qE "alertname(: |=\")$alert\b" alerts_test.yml; then
    echo "promtool_test.sh: no test names the alert $alert" >&2
    exit 1
  fi
done
