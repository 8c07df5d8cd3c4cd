# Formatting and static analysis. Sourced by ./run.

our_sources() { # SUFFIXES...
  local suffix
  for suffix in "$@"; do
    find proto server worker client load_tests tests -name "*$suffix" -type f
  done | sort
}

format_sources() {
  our_sources .h .cc | xargs .deps/venv/bin/clang-format -i
  say "formatted"
}

# Sources without libtorch: its headers alone take clang-tidy half a minute a file.
lint_sources() {
  warnings_are_errors
  build_preset release
  local sources jobs
  sources=$(our_sources .cc | grep -vE '_(macos|test)\.cc$|^tests/' |
    xargs grep -LE '#include [<"](torch|ATen|c10)/')
  jobs=$(build_jobs)
  step "thread-safety analysis" thread_safety "$jobs" "$sources"
  step "clang-tidy" clang_tidy "$jobs" "$sources"
}

thread_safety() { # JOBS SOURCES
  echo "$2" | xargs -P "$1" -n 4 clang++-14 -std=c++20 -fsyntax-only -I. -Ibuild/release \
    -isystem .deps/libtorch/include -DMPSD_VERSION='"lint"' -Wthread-safety -Werror=thread-safety
}

clang_tidy() { # JOBS SOURCES
  echo "$2" | xargs -P "$1" -n 2 clang-tidy-14 -p build/release --quiet --warnings-as-errors='*'
}
