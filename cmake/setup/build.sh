# Configures and builds the presets of CMakePresets.json. Sourced by ./run.

build_jobs() { # as many as there are cores, and no more than memory allows
  local cores free_gib
  cores=$(getconf _NPROCESSORS_ONLN)
  free_gib=64
  if [ -r /proc/meminfo ]; then free_gib=$(awk '/MemAvailable/ {print int($2 / 2^20)}' /proc/meminfo); fi
  # A source that includes libtorch's headers takes up to 1.5 GiB to compile.
  echo $((cores * 3 / 2 < free_gib ? cores : (free_gib * 2 / 3 > 0 ? free_gib * 2 / 3 : 1)))
}

have_googletest() { [ -e /usr/include/gtest/gtest.h ] || [ -d "$(brew_prefix)/include/gtest" ]; }

brew_prefix() { if [ -d /opt/homebrew ]; then echo /opt/homebrew; else echo /usr/local; fi; }

is_debian_12() { grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release; }

# Tests are part of a build as soon as their packages are there; serving needs neither. A warning is
# an error with the compiler and the libraries of Debian 12 only: a newer library may call a
# function deprecated.
configure_preset() { # PRESET
  local tests=OFF werror=OFF
  if have_googletest; then tests=ON; fi
  if [ "$tests" = ON ] && is_debian_12; then werror=ON; fi
  if [ -e "build/$1/build.ninja" ] && grep -q "^MPSD_TESTS:BOOL=$tests" "build/$1/CMakeCache.txt" &&
    [ "build/$1/CMakeCache.txt" -nt CMakePresets.json ]; then
    return 0
  fi
  step "configure $1" cmake --preset "$1" "-DMPSD_TESTS=$tests" "-DMPSD_WERROR=$werror" \
    --log-level=WARNING
  touch "build/$1/CMakeCache.txt"
}

build_preset() { # PRESET [TARGETS...]: everything without targets
  local preset=$1
  shift
  configure_preset "$preset"
  if [ $# -gt 0 ]; then set -- --target "$@"; fi
  step "build $preset" cmake --build "build/$preset" -j "$(build_jobs)" "$@"
}
