# Other servers of PyTorch models, for load_tests/peers. Sourced by ./run.

need_peers() { # FILE MAKE [NAME]: an environment of each line or of one, made by that function
  local name requirements
  while read -r name requirements; do
    case $name in '' | '#'*) continue ;; esac
    if [ -n "${3:-}" ] && [ "$name" != "$3" ]; then continue; fi
    if stamped "peer-$name" "$requirements"; then continue; fi
    # What cannot be had here is named, and left out of the figures.
    # shellcheck disable=SC2086 # words
    if (step "$name in .deps/peers" "$2" "$name" $requirements </dev/null); then
      stamp "peer-$name" "$requirements"
    else
      rm -rf ".deps/peers/$name"
    fi
  done <"$1"
}

# Each has an environment of its own, since they want different versions of the same libraries, and
# all have one torch.
make_peer() { # NAME REQUIREMENTS...
  new_peer "$1" && install_peer "$@" && lend_torch "$1"
}

# Those of texts ask pip for a torch, and get one of 5 GB each unless there is one already.
make_text_peer() { # NAME REQUIREMENTS...
  new_peer "$1" && lend_torch "$1" && install_peer "$@"
}

# The system's python comes first: PyTriton runs in its library's own version.
new_peer() { # NAME
  local python=/usr/bin/python3
  if [ ! -x $python ]; then python=python3; fi
  rm -rf ".deps/peers/$1"
  $python -m venv ".deps/peers/$1"
}

install_peer() { # NAME REQUIREMENTS...
  local name=$1
  shift
  ".deps/peers/$name/bin/python" -m pip install -q --disable-pip-version-check "$@"
}

lend_torch() { # NAME
  local folder=.deps/peers/$1
  library_of .deps/torch-venv >"$(library_of "$folder")/torch.pth" || return
  "$folder/bin/python" -c 'import torch'
}
