# What `./run test` runs, and with --all what CI runs. Sourced by ./run.

# [--all]: the worker with every pinned libtorch, not with the first alone, and everything with the
# libraries that Homebrew has, where `./run check-newest` has fetched them.
check_macos() {
  local version newest=.deps/distros/newest
  cmake/macos/check.sh .deps/macos "$(build_jobs)"
  if [ "${1:-}" != --all ]; then return 0; fi
  for version in $(awk '!/^#/ && seen++ {print $1}' cmake/macos/libtorch_wheels.txt); do
    step "libtorch $version" cmake/macos/check.sh .deps/macos "$(build_jobs)" worker "$version"
  done
  if [ -e $newest/.complete ]; then
    step "the newest libraries" cmake/macos/check.sh .deps/macos "$(build_jobs)" all "" $newest
  else
    say "not with the newest libraries, which ./run check-newest fetches"
  fi
}

have_fuzzer() { [ "$(uname -s)" != Darwin ]; } # Apple's compiler has no libFuzzer

# Each fuzzer reads bytes that any client may send: a connection's and a request's of gRPC, and in the
# long run a body's of HTTP too.
ci_fuzzers=(http_connection request_wire)
ci_fuzz_seconds=30 # each

# One ctest over the tests of all presets and with --all the macOS check and the fuzzers, so that its
# summary is the whole.
write_whole_suite() { # FOLDER TABLE FORMS PRESETS...: TABLE gets "preset<TAB>tests" lines, in ctest's order
  local folder=$1 table=$2 forms=$3 fuzzer preset macos=worker # the part with the sources of a Mac
  shift 3
  if [ "$forms" = Long ]; then macos=all; fi
  : >"$folder/CTestTestfile.cmake"
  : >"$table"
  if [ $# -gt 1 ]; then
    {
      echo "add_test(macos.check \"$PWD/cmake/macos/check.sh\" \"$PWD/.deps/macos\"" \
        "$(build_jobs) $macos)"
      echo "set_tests_properties(macos.check PROPERTIES TIMEOUT 1800 RUN_SERIAL TRUE)"
    } >>"$folder/CTestTestfile.cmake"
    printf 'macos\t1\n' >>"$table"
    if have_fuzzer; then
      for fuzzer in "${ci_fuzzers[@]}"; do
        echo "add_test(fuzz.$fuzzer \"$PWD/tests/fuzz/run_fuzzers.sh\" \"$PWD/build/fuzz\"" \
          "$ci_fuzz_seconds $fuzzer)" >>"$folder/CTestTestfile.cmake"
      done
      printf 'fuzz\t%s\n' "${#ci_fuzzers[@]}" >>"$table"
    fi
  fi
  for preset in "$@"; do
    echo "subdirs(\"$PWD/build/$preset\")" >>"$folder/CTestTestfile.cmake"
    printf '%s\t%s\n' "$preset" \
      "$(ctest --test-dir "build/$preset" -C "$forms" -N -LE "$left_out" |
        awk '/^Total Tests:/ {print $3}')" >>"$table"
  done
}

# The long forms of tests are of the configuration Long, and all others of every one.
run_tests() { # [--all|--long]
  local forms=Usual preset suite=build/whole presets=(release) left_out='^compat$'
  if [ $# -gt 0 ]; then
    presets=(release crash asan tsan)
    left_out='^$'
  fi
  if [ "${1:-}" = --long ]; then
    forms=Long
    ci_fuzzers+=(infer_body)
  fi
  local builds=$suite/builds.tsv table=$suite/presets.tsv
  mkdir -p $suite
  : >$builds
  warnings_are_errors
  for preset in "${presets[@]}"; do
    build_preset "$preset"
    printf '%s\t%s\n' "$preset" "$last_step_seconds" >>$builds
  done
  if [ $# -gt 0 ] && have_fuzzer; then
    build_preset fuzz "${ci_fuzzers[@]/%/_fuzz}"
    printf 'fuzz\t%s\n' "$last_step_seconds" >>$builds
  fi
  need_demo_models
  write_whole_suite $suite $table $forms "${presets[@]}"
  say "tests"
  # The table goes in front of ctest's closing lines, which stay the last of the output.
  ctest --test-dir $suite -C $forms -j "$(build_jobs)" -LE "$left_out" --output-on-failure \
    --no-tests=error --timeout 300 |
    python3 -u cmake/setup/ci_table.py $builds $table
}

# The compiler's cache has the objects of folders without mutants if the options are those of the
# other builds.
mutants() { # FOLDERS, and options of tests/mutants/run_mutants.py
  warnings_are_errors
  local cmake_options=("-DMPSD_WERROR=$werror")
  if [ -n "${MPSD_LIBTORCH-}" ]; then cmake_options+=("-DMPSD_LIBTORCH:PATH=$MPSD_LIBTORCH"); fi
  exec python3 tests/mutants/run_mutants.py "$@" --jobs "$(build_jobs)" -- "${cmake_options[@]}"
}
