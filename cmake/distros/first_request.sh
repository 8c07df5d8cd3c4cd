#!/usr/bin/env bash
# In a chroot, in a clone that is built: the demo models, and one request.
set -euo pipefail

bin=build/release/bin
# The chroot has the host's network: other ports than the default ones, in this copy of the config.
sed -i 's/:800\([12]\)/:1800\1/' config/demo.json
./run serve >/tmp/serve.log 2>&1 &
daemon=$!
trap 'kill $daemon 2>/dev/null; wait $daemon || true' EXIT
for _ in $(seq 300); do
  if $bin/mpsd infer mlp --input input=random --address 127.0.0.1:18001 >/tmp/infer.log 2>&1; then break; fi
  kill -0 $daemon || { cat /tmp/serve.log >&2 && exit 1; }
  sleep 1
done
cat /tmp/infer.log
$bin/mpsd ps --address 127.0.0.1:18001
