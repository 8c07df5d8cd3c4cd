# Starts the image by crun, as a container is run: read-only, as its user, without a network. Runs in
# a mount namespace of its own, because crun wants cgroup2 where a host with systemd has it.
#   image_inside.sh BUNDLE
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/daemon.sh"
bundle=$1
name=mpsd-check-$$
mount -t cgroup2 cgroup2 /sys/fs/cgroup
container() { crun --root "$bundle/state" --cgroup-manager=disabled "$@"; }
in_container() { container exec $name /opt/mpsd/bin/mpsd "$@"; }
image_answers() { answers in_container; }

start=$(date +%s%N)
container run --bundle "$bundle" $name >"$bundle.log" 2>&1 &
runtime=$!
trap 'container delete --force $name' EXIT
wait_for "a first answer of the image" image_answers
echo "the image's first answer $((($(date +%s%N) - start) / 1000000)) ms after the start"
in_container list >/dev/null || fail "the health check of the image"
container kill $name TERM
wait $runtime || fail "the image's mpsd ended with $?"
trap - EXIT
