#!/usr/bin/env bash
# The part of check.sh that runs in the chroot, in a copy of the sources: the build of a user, then
# the unit tests and a first request.
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

bash cmake/distros/first_request.sh
