# The Python environment of the tests: pinned clients of the protocol. Sourced by ./run.

need_venv() {
  local made_from
  made_from=$(fingerprint tests/requirements.txt)
  if stamped venv "$made_from" && [ -x .deps/venv/bin/python ]; then return 0; fi
  step "Python environment in .deps/venv" make_venv
  stamp venv "$made_from"
}

make_venv() {
  rm -rf .deps/venv
  python3 -m venv .deps/venv || return
  .deps/venv/bin/python -m pip install -q --disable-pip-version-check -r tests/requirements.txt
}
