# Everything that CI runs. Sourced by ./run.

ci_presets=(release crash asan tsan)

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

# Of what any client may send: by gRPC, and in the long run by HTTP too.
ci_fuzzers=(request_wire)
ci_fuzz_seconds=60 # each

# One ctest over the tests of all presets, the macOS check and the fuzzers, so that its summary is
# the whole.
write_whole_suite() { # FOLDER TABLE FORMS: TABLE gets "preset<TAB>tests" lines, in ctest's order
  local fuzzer preset macos=worker # the part of which sources are a Mac's own
  if [ "$3" = Long ]; then macos=all; fi
  mkdir -p "$1"
  {
    echo "add_test(macos.check \"$PWD/cmake/macos/check.sh\" \"$PWD/.deps/macos\"" \
      "$(build_jobs) $macos)"
    echo "set_tests_properties(macos.check PROPERTIES TIMEOUT 1800 RUN_SERIAL TRUE)"
    if have_fuzzer; then
      for fuzzer in "${ci_fuzzers[@]}"; do
        echo "add_test(fuzz.$fuzzer \"$PWD/tests/fuzz/run_fuzzers.sh\" \"$PWD/build/fuzz\"" \
          "$ci_fuzz_seconds $fuzzer)"
      done
    fi
    for preset in "${ci_presets[@]}"; do echo "subdirs(\"$PWD/build/$preset\")"; done
  } >"$1/CTestTestfile.cmake"
  printf 'macos\t1\n' >"$2"
  if have_fuzzer; then printf 'fuzz\t%s\n' "${#ci_fuzzers[@]}" >>"$2"; fi
  for preset in "${ci_presets[@]}"; do
    printf '%s\t%s\n' "$preset" \
      "$(ctest --test-dir "build/$preset" -C "$3" -N | awk '/^Total Tests:/ {print $3}')" >>"$2"
  done
}

# The long forms of tests are of the configuration Long, and all others of every one.
run_ci() { # [--long]
  local forms=Usual preset suite=build/whole
  if [ "${1:-}" = --long ]; then
    forms=Long
    ci_fuzzers+=(infer_body)
  fi
  local builds=$suite/builds.tsv presets=$suite/presets.tsv
  mkdir -p $suite
  : >$builds
  warnings_are_errors
  for preset in "${ci_presets[@]}"; do
    build_preset "$preset"
    printf '%s\t%s\n' "$preset" "$last_step_seconds" >>$builds
  done
  if have_fuzzer; then
    build_preset fuzz "${ci_fuzzers[@]/%/_fuzz}"
    printf 'fuzz\t%s\n' "$last_step_seconds" >>$builds
  fi
  need_demo_models
  write_whole_suite $suite $presets $forms
  say "tests"
  # The table goes in front of ctest's closing lines, which stay the last of the output.
  ctest --test-dir $suite -C $forms -j "$(build_jobs)" --output-on-failure --no-tests=error \
    --timeout 300 |
    python3 -u cmake/setup/ci_table.py $builds $presets
}
