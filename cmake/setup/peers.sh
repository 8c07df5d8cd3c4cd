# Other servers of PyTorch models, for load_tests/peers. Sourced by ./run.

need_peers() {
  local name requirements
  while read -r name requirements; do
    case $name in '' | '#'*) continue ;; esac
    if stamped "peer-$name" "$requirements"; then continue; fi
    # What cannot be had here is named, and left out of the figures.
    # shellcheck disable=SC2086 # words
    if (step "$name in .deps/peers" make_peer "$name" $requirements </dev/null); then
      stamp "peer-$name" "$requirements"
    else
      rm -rf ".deps/peers/$name"
    fi
  done <load_tests/peers/requirements.txt
}

# Each has an environment of its own, since they want different versions of the same libraries, and
# all have one torch. The system's python comes first: PyTriton runs in its library's own version.
make_peer() { # NAME REQUIREMENTS...
  local folder=.deps/peers/$1 python=/usr/bin/python3
  shift
  if [ ! -x $python ]; then python=python3; fi
  rm -rf "$folder"
  $python -m venv "$folder" || return
  "$folder/bin/python" -m pip install -q --disable-pip-version-check "$@" || return
  library_of .deps/torch-venv >"$(library_of "$folder")/torch.pth" || return
  "$folder/bin/python" -c 'import torch'
}

library_of() { # ENVIRONMENT: where its packages lie
  "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
}
