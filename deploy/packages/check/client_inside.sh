# Builds a program with libmpsd-client-dev, by CMake and by pkg-config. Runs in a bare root.
set -euo pipefail
. /srv/check/daemon.sh
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends libmpsd-client-dev g++ cmake make pkg-config \
  protobuf-compiler-grpc >/srv/check/apt.log 2>&1 || {
  tail -20 /srv/check/apt.log >&2
  fail "apt install"
}
cd /srv/check/client_program
cmake -B /tmp/by-cmake >/dev/null
cmake --build /tmp/by-cmake >/dev/null
# shellcheck disable=SC2046 # words
g++ main.cc -o /tmp/by-pkg-config $(pkg-config --cflags --libs mpsd-client)
for program in /tmp/by-cmake/client-program /tmp/by-pkg-config; do
  said=$($program 127.0.0.1:9 2>&1) && fail "$program found a server where none is"
  grep -q '^UNAVAILABLE' <<<"$said" || fail "$program said: $said"
done
echo "built by CMake and by pkg-config"
