# Starts what runs for long: the server, load tests, the storm, the fuzzers. Sourced by ./run.

libtorch_kind() { # ARGUMENTS of serve: the libtorch that they ask for
  case " $* " in *' --cuda '*) echo cuda ;; *) echo cpu ;; esac
}

serve() { # ARGUMENTS of `mpsd serve`, and --cuda, which was for libtorch_kind
  local bin=build/release/bin argument own_config=no arguments=()
  build_preset release mpsd mpsd-worker mpsd-device-copier mpsd-make-models
  for argument in "$@"; do
    case $argument in --config | --config=* | --model-repository* | [!-]*) own_config=yes ;; esac
    if [ "$argument" != --cuda ]; then arguments+=("$argument"); fi
  done
  if [ $own_config = no ]; then
    need_demo_models
    arguments=(--config config/demo.json ${arguments[@]+"${arguments[@]}"})
  fi
  say "exec $bin/mpsd serve ${arguments[*]}"
  exec "$bin/mpsd" serve ${arguments[@]+"${arguments[@]}"}
}

# The models of config/demo.json. They depend on what makes them only.
need_demo_models() {
  local made_from
  made_from=$(fingerprint cmake/setup/demo_model.sh worker/tools/*)
  if stamped models "$made_from" && [ -d .deps/models ]; then return 0; fi
  step "make the demo models" make_demo_models
  stamp models "$made_from"
}

need_minilm() { # without the other demo models, which a program of the build makes
  if [ -e .deps/models/minilm/config.json ]; then return 0; fi
  mkdir -p .deps/models
  step "fetch MiniLM" bash cmake/setup/demo_model.sh .deps/models
}

make_demo_models() {
  mkdir -p .deps/models
  build/release/bin/mpsd-make-models .deps/models || return
  bash cmake/setup/demo_model.sh .deps/models
}

bench() { # ARGUMENTS of load_tests/bench/bench.sh, or --mac and those of mpsd-lane-bars, or --lab
  # and those of load_tests/lab/lab.py
  if [ "${1:-}" = --mac ]; then
    shift
    lane_bars "$@"
  fi
  build_preset release
  need_demo_models
  if [ "${1:-}" = --lab ]; then
    shift
    exec python3 load_tests/lab/lab.py "$@"
  fi
  exec load_tests/bench/bench.sh "$@"
}

# The bars that a Mac has to pass. What is given in ARGUMENTS takes the place of what stands here.
lane_bars() { # ARGUMENTS of mpsd-lane-bars
  local program=build/release/bin/mpsd-lane-bars device=mps
  if [ "$(uname -s)" != Darwin ]; then
    device=cpu
    say "this is no Mac: the bars run on the cpu, or on what --device names"
  fi
  build_preset release mpsd-lane-bars
  set -- --device $device --report build/lane-bars.json "$@"
  say "exec $program $*"
  exec "$program" "$@"
}

# With the servers of tensors, or after --texts with those of texts; after --networks with loops in
# the libraries of the latter.
peers() { # [--texts|--networks] ARGUMENTS of peers_bench.py, text_peers.py, networks_bench.py
  local script=peers_bench texts=load_tests/peers/text_requirements.txt
  case ${1:-} in
    --texts) script=text_peers ;;
    --networks) script=networks_bench ;;
  esac
  if [ $script = peers_bench ]; then
    need_peers load_tests/peers/requirements.txt make_peer
    need_peers $texts make_text_peer sentence-transformers # which makes MiniLM's TorchScript
  else
    shift
    need_peers $texts make_text_peer
  fi
  build_preset release
  need_demo_models
  exec python3 "load_tests/peers/$script.py" "$@"
}

fleet() { # ARGUMENTS of deploy/fleet/story.py
  build_preset release mpsd mpsd-worker mpsd-worker-synthetic mpsd-make-models
  need_demo_models
  if [ $# = 0 ]; then set -- --all; fi
  exec .deps/venv/bin/python deploy/fleet/story.py "$@"
}

fuzz() { # SECONDS, OPTIONS of libFuzzer
  build_preset fuzz fuzzers
  exec tests/fuzz/run_fuzzers.sh build/fuzz "${1:-60}" all "${@:2}"
}

storm() { # ARGUMENTS of tests/crash/storm.py, or --all and those of tests/crash/failpoints_test.py
  local script=tests/crash/storm.py
  if [ "${1:-}" = --all ]; then script=tests/crash/failpoints_test.py; fi
  build_preset crash mpsd mpsd-worker mpsd-crash-caller mpsd-lying-worker mpsd-clock-shift
  MPSD_BIN=$PWD/build/crash/bin MPSD_TESTS=$PWD/build/crash/tests exec .deps/venv/bin/python \
    "$script" "$@"
}
