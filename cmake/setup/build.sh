# Configures and builds the presets of CMakePresets.json. Sourced by ./run.

build_jobs() { # as many as there are cores, and no more than memory allows
  local cores free_gib
  cores=$(getconf _NPROCESSORS_ONLN)
  if [ -r /proc/meminfo ]; then
    free_gib=$(awk '/MemAvailable/ {print int($2 / 2^20)}' /proc/meminfo)
  else # all of a Mac's memory: it does not say what is free
    free_gib=$(sysctl -n hw.memsize | awk '{print int($1 / 2^30)}')
  fi
  # A source that includes libtorch's headers takes up to 1.5 GiB to compile.
  echo $((cores * 3 / 2 < free_gib ? cores : (free_gib * 2 / 3 > 0 ? free_gib * 2 / 3 : 1)))
}

# All three, since a machine may have one of them for its own ends.
have_test_libraries() {
  local header prefix=/usr
  if [ "$(uname -s)" = Darwin ]; then prefix=$(brew_prefix); fi
  for header in gtest/gtest.h gmock/gmock.h benchmark/benchmark.h; do
    [ -e "$prefix/include/$header" ] || return 1
  done
}

brew_prefix() { if [ -d /opt/homebrew ]; then echo /opt/homebrew; else echo /usr/local; fi; }

is_debian_12() { grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release; }

# Whether a warning is an error: for the verbs of developers and CI, with the compiler and the
# libraries of Debian 12, since a newer library may call a function deprecated. `serve` asks for it
# never, and neither does `build release`; they leave a folder that was configured with it as it is.
werror=OFF

warnings_are_errors() { if is_debian_12 && have_test_libraries; then werror=ON; fi; }

# MPSD_LIBTORCH as cmake keeps it: absolute, without a slash at its end. A relative one is meant from
# where ./run was called. One that is no folder stays as it is, to be named as it was written.
if [ -n "${MPSD_LIBTORCH-}" ]; then
  MPSD_LIBTORCH=$(cd "$called_from" && CDPATH='' cd "$MPSD_LIBTORCH" 2>/dev/null && pwd ||
    echo "$MPSD_LIBTORCH")
fi

# Whether a configured folder has the libtorch that MPSD_LIBTORCH names; without the variable each
# keeps its own.
has_wanted_libtorch() { # CACHE
  [ -z "${MPSD_LIBTORCH-}" ] || grep -Fqx "MPSD_LIBTORCH:PATH=$MPSD_LIBTORCH" "$1"
}

# Tests are part of a build as soon as their packages are there; serving needs neither.
configure_preset() { # PRESET
  local tests=OFF cache=build/$1/CMakeCache.txt libtorch=()
  if have_test_libraries; then tests=ON; fi
  if [ -n "${MPSD_LIBTORCH-}" ]; then # cmake would remember where it found the last one
    libtorch=("-DMPSD_LIBTORCH:PATH=$MPSD_LIBTORCH" -U MPSD_TORCH_CPU -U MPSD_TORCH_C10)
  fi
  if [ -e "build/$1/build.ninja" ] && grep -q "^MPSD_TESTS:BOOL=$tests" "$cache" &&
    has_wanted_libtorch "$cache" &&
    { [ $werror = OFF ] || grep -q '^MPSD_WERROR:BOOL=ON' "$cache"; } &&
    [ ! CMakePresets.json -nt "$cache" ]; then
    return 0
  fi
  step "configure $1" cmake --preset "$1" "-DMPSD_TESTS=$tests" "-DMPSD_WERROR=$werror" \
    --log-level=WARNING ${libtorch[@]+"${libtorch[@]}"}
  touch "$cache"
}

build_preset() { # PRESET [TARGETS...]: everything without targets
  local preset=$1
  shift
  if [ "$preset" != release ]; then warnings_are_errors; fi
  configure_preset "$preset"
  if [ $# -gt 0 ]; then set -- --target "$@"; fi
  step "build $preset" cmake --build "build/$preset" -j "$(build_jobs)" "$@"
}
