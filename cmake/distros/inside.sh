#!/usr/bin/env bash
# The part of check.sh that runs in the chroot, in a copy of the sources: the build of a user, then
# the unit tests, then the demo models and one request.
set -euo pipefail

# Universe has googletest in Ubuntu; a build has tests where there is one.
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
  libgtest-dev libgmock-dev libbenchmark-dev >/dev/null
./run build release
cmake --build build/release -j "$(nproc)"
# The suites that need other clients or the network's packages stay with CI.
ctest --test-dir build/release -j "$(nproc)" --output-on-failure --timeout 300 \
  -E '^(integration|compat|crash|tidy|model|load|deploy|text)\.' >/tmp/ctest.log || {
  tail -100 /tmp/ctest.log >&2
  exit 1
}
grep 'tests passed' /tmp/ctest.log

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
