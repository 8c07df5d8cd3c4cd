# The Python environments of the tests: pinned clients of the protocol. Sourced by ./run.

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

# The clients that applications use, for tests/compat; where they cannot be had their tests are
# skipped, and the next time they are tried again. All versions are named, so pip asks for no more;
# what a test imports is compiled when it does.
need_clients_venv() {
  local made_from
  made_from=$(fingerprint tests/compat/requirements.txt)
  if stamped clients-venv "$made_from" && [ -x .deps/clients-venv/bin/python ]; then return 0; fi
  step "applications' clients in .deps/clients-venv" make_clients_venv "$made_from"
}

make_clients_venv() { # FINGERPRINT
  local install=(.deps/clients-venv/bin/python -m pip install -q --disable-pip-version-check
    --only-binary=:all: --no-compile --no-deps)
  rm -rf .deps/clients-venv
  python3 -m venv .deps/clients-venv || return
  # Debian 12's pip takes three times as long for so many packages.
  if "${install[@]}" pip==26.3 && "${install[@]}" -r tests/compat/requirements.txt; then
    stamp clients-venv "$1"
  else
    rm -rf .deps/clients-venv
    say "there are no applications' clients: their tests are skipped"
  fi
}

# A whole torch, of libtorch's version, to export models with and for the tests of .pt2 packages,
# which are compiled code. It is large, and only `./run torch` fetches it.
need_torch_venv() {
  local wanted='torch==2.11.0 numpy==2.4.6'
  if stamped torch-venv "$wanted" && [ -x .deps/torch-venv/bin/python ]; then return 0; fi
  # shellcheck disable=SC2086 # two words
  step "Python environment with torch in .deps/torch-venv" make_torch_venv $wanted
  stamp torch-venv "$wanted"
}

make_torch_venv() { # REQUIREMENTS...
  rm -rf .deps/torch-venv
  python3 -m venv .deps/torch-venv || return
  .deps/torch-venv/bin/python -m pip install -q --disable-pip-version-check "$@"
}

# Libraries of models, whose graphs the worker's census is held against. They take torch from the
# environment above.
need_graphs_venv() {
  local requirements=tests/worker/model/torchscript/census/requirements.txt made_from
  made_from=$(fingerprint $requirements)
  if stamped graphs-venv "$made_from" && [ -x .deps/graphs-venv/bin/python ]; then return 0; fi
  step "Python environment with models in .deps/graphs-venv" make_graphs_venv $requirements
  stamp graphs-venv "$made_from"
}

make_graphs_venv() { # REQUIREMENTS: a file
  local folder=.deps/graphs-venv
  rm -rf $folder
  .deps/torch-venv/bin/python -m venv $folder || return
  $folder/bin/python -m pip install -q --disable-pip-version-check --only-binary=:all: --no-deps \
    -r "$1" || return
  library_of .deps/torch-venv >"$(library_of $folder)/torch.pth"
}

library_of() { # ENVIRONMENT: where its packages lie
  "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
}
