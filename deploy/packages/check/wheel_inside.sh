# Installs the wheel beside torch, serves, installs it again and removes it. Runs in a bare root.
# torch comes without the libraries of CUDA that its cpu part does not load: 2 GB less to fetch.
set -euo pipefail
. /srv/check/daemon.sh
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends python3-venv >/srv/check/apt.log 2>&1 || {
  tail -20 /srv/check/apt.log >&2
  fail "apt install"
}
list_ours >/srv/check/before
python3 -m venv /srv/check/venv
. /srv/check/venv/bin/activate
install() { pip install -q --disable-pip-version-check --no-cache-dir "$@"; }
install --no-deps -r /srv/check/torch.txt

start=$SECONDS
install /srv/check/mpsd-*.whl
python - <<'PYTHON'
import mpsd
with mpsd.serve("/srv/check/minilm", device="cpu") as server:
    vectors = server.client.embed(["How far is it to the sea?"])
assert vectors.shape == (1, 384), vectors.shape
PYTHON
echo "wheel: first answer $((SECONDS - start)) s after pip install began"

serves() { # the command of the environment, with the worker for its torch
  mpsd serve /srv/check/minilm >/srv/check/serve.log 2>&1 &
  local daemon=$!
  wait_for "an answer of the wheel's command" answers mpsd
  kill $daemon
  wait $daemon || fail "mpsd ended with $?"
}
serves
install --force-reinstall --no-deps /srv/check/mpsd-*.whl
serves
pip uninstall -q -y torch
mpsd serve /srv/check/minilm >/srv/check/serve.log 2>&1 && fail "mpsd served without torch"
grep -q 'pip install torch' /srv/check/serve.log || fail "the text without torch"
pip uninstall -q -y mpsd
find /srv/check/venv -name '*mpsd*' | grep . && fail "pip uninstall left files"
rm -r "/tmp/mpsd-$UID" # the state folder of a daemon without a config
list_ours | diff /srv/check/before - || fail "the daemon left files"
