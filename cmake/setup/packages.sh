# The system packages: which, and how they get here. Sourced by ./run.

# Debian 12 and Ubuntu 24.04 carry the same versions of what matters.
debian_serve_packages=(
  g++ cmake ninja-build               # 12.2 / 13.2, 3.25 / 3.28, 1.11
  libgrpc++-dev protobuf-compiler-grpc # 1.51
  libssl-dev                          # 3.0
  libnghttp2-dev                      # 1.52 / 1.59
  zlib1g-dev                          # 1.2.13 / 1.3
  libprotobuf-dev protobuf-compiler   # 3.21
  libabsl-dev                         # 20220623
  nlohmann-json3-dev                  # 3.11
  libsimdjson-dev                     # 3.0 / 3.6
  libcurl4-openssl-dev                # 7.88 / 8.5
  libspdlog-dev                       # 1.10 / 1.12
  libcli11-dev                        # 2.1 / 2.4
  libboost-dev                        # 1.74 / 1.83, headers only
  prometheus-cpp-dev                  # 1.0
  python3-pip ca-certificates         # fetches libtorch
)
debian_test_packages=(
  libgtest-dev libgmock-dev           # 1.12 / 1.14
  libbenchmark-dev                    # 1.7 / 1.8
  ccache                              # 4.8 / 4.9
  git                                 # for the test of the formula, which makes a tap
  curl                                # 7.88 / 8.5: shows trailers, and calls as README does
  mold                                # 1.10 / 2.30: links a test in a third of the time
  python3-venv
  systemd prometheus haproxy openssl  # their checkers of our files in deploy/; no service is used
  mandoc zsh fish                     # read our manual pages and completions
  spin                                # verifies tests/model/*.pml
  libobjc4                            # 12.2 / 14.2: a runtime of Objective-C, for tests/worker/metal
  ruby                                # 3.1 / 3.2: reads the formula of deploy/homebrew
  debhelper                           # 13: for the test of packages
)
# Debian 13 has newer ones only.
debian_clang_packages=(
  clang-14 clang-tidy-14
  libclang-rt-14-dev                  # libFuzzer, for tests/fuzz
)
debian_bench_packages=(
  wrk                                 # 4.1: loads the door of HTTP
  nghttp2-client                      # 1.52 / 1.64: h2load loads the door of gRPC
)
debian_peers_packages=(
  "${debian_bench_packages[@]}"
  default-jre-headless                # 17 / 21: TorchServe
  python3-venv
)
debian_distros_packages=(debootstrap)  # 1.0
debian_package_packages=(
  debhelper                           # 13
  patchelf                            # 0.14 / 0.18
  zstd
  reprepro                            # 5.3
  minisign                            # 0.11
  debootstrap                         # 1.0
  mmdebstrap                          # 1.3
  umoci                               # 0.4.7
  crun                                # 1.8
)
debian_arm64_packages=(g++-aarch64-linux-gnu qemu-user-static)  # 12.2, 7.2
# Homebrew has one version of each, the newest.
brew_serve_packages=(
  cmake ninja grpc openssl@3 protobuf abseil nlohmann-json spdlog cli11 prometheus-cpp boost
  simdjson curl libnghttp2
)
brew_test_packages=(googletest google-benchmark ccache)
brew_bench_packages=(wrk nghttp2)

need_packages() { # serve|test|clang|bench|peers|distros|package|arm64; clang: test's and clang
  local packages
  case $(uname -s) in
    Darwin)
      need_macos
      packages=("${brew_serve_packages[@]}")
      case $1 in
        test | clang) packages+=("${brew_test_packages[@]}") ;;
        bench | peers) packages+=("${brew_bench_packages[@]}") ;;
      esac
      ;;
    *)
      packages=("${debian_serve_packages[@]}")
      case $1 in
        test) packages+=("${debian_test_packages[@]}") ;;
        clang) packages+=("${debian_test_packages[@]}" "${debian_clang_packages[@]}") ;;
        bench) packages+=("${debian_bench_packages[@]}") ;;
        peers) packages+=("${debian_peers_packages[@]}") ;;
        distros) packages+=("${debian_distros_packages[@]}") ;;
        package) packages+=("${debian_package_packages[@]}") ;;
        arm64) packages+=("${debian_arm64_packages[@]}") ;;
      esac
      # A browser for tests/integration/page_test.py, which skips without one. Ubuntu's is a snap.
      if { [ "$1" = test ] || [ "$1" = clang ]; } && grep -qs '^ID=debian$' /etc/os-release; then packages+=(chromium); fi
      ;;
  esac
  # The system is asked each time: .deps may have come from another machine.
  case $(uname -s) in
    Darwin)
      brew_packages "${packages[@]}"
      use_brew_python
      ;;
    *) debian_packages "${packages[@]}" ;;
  esac
}

# Workers sleep on words of shared memory by a system call that 14.4 brought.
need_macos() {
  local version major minor
  version=$(sw_vers -productVersion)
  IFS=. read -r major minor _ <<<"$version.0"
  if [ "$major" -lt 14 ] || { [ "$major" -eq 14 ] && [ "$minor" -lt 4 ]; }; then
    fail "macOS 14.4 or newer is needed, and this is $version"
  fi
}

brew_packages() {
  local missing=() package installed
  command -v brew >/dev/null || fail "Homebrew is needed, see https://brew.sh"
  installed=$(brew list --versions "$@" || true) # lines of "NAME VERSION..."
  for package in "$@"; do
    if [[ $'\n'$installed != *$'\n'"$package "* ]]; then missing+=("$package"); fi
  done
  if [ ${#missing[@]} -gt 0 ]; then
    step "install ${missing[*]}" brew install --quiet "${missing[@]}"
  fi
}

# Puts a python3 that has pip first in the PATH. Each of Homebrew's formulas calls its program by
# the version, and has the plain name in a folder of its own.
use_brew_python() {
  local formula folder
  if python3 -m pip --version >/dev/null 2>&1; then return 0; fi
  for formula in python3 python@3.14 python@3.13 python@3.12 python@3.11; do
    folder=$(brew --prefix "$formula" 2>/dev/null)/libexec/bin || continue
    if [ -x "$folder/python3" ]; then
      PATH=$folder:$PATH
      return 0
    fi
  done
  step "install python3" brew install --quiet python3
  PATH=$(brew --prefix python3)/libexec/bin:$PATH
}

debian_packages() {
  local missing=() package installed
  if ! command -v apt-get >/dev/null; then
    say "this is neither Debian, Ubuntu nor macOS: install by your own means what" \
      "cmake/setup/packages.sh lists"
    return 0
  fi
  installed=" $(dpkg-query -W -f '${db:Status-Status}/${Package} ' "$@" 2>/dev/null || true)"
  for package in "$@"; do
    if [[ $installed != *" installed/$package "* ]]; then missing+=("$package"); fi
  done
  if [ ${#missing[@]} -eq 0 ]; then return 0; fi
  step "install ${missing[*]}" apt_install "${missing[@]}"
}

apt_install() {
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    # Ask for a password only where somebody can type one.
    if sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; then
      as_root=(sudo)
    else
      echo "run: packages are missing and this user cannot install them. As root:" >&2
      echo "  apt-get update && apt-get install -y --no-install-recommends $*" >&2
      return 1
    fi
  fi
  local log
  log=$(mktemp)
  if ! ${as_root[@]+"${as_root[@]}"} apt-get update -qq >"$log" 2>&1 ||
    ! ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
      --no-install-recommends "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# Once fetched with CUDA it stays so. Where MPSD_LIBTORCH names one, nothing is fetched.
need_libtorch() { # [cuda]
  local made_from kind=${1:-cpu} what='libtorch'
  if [ -n "${MPSD_LIBTORCH-}" ]; then
    if [ ! -d "$MPSD_LIBTORCH/include/ATen" ] || [ ! -d "$MPSD_LIBTORCH/lib" ]; then
      fail "MPSD_LIBTORCH: $MPSD_LIBTORCH has no include/ATen or no lib"
    fi
    return 0
  fi
  made_from=$(fingerprint cmake/setup/libtorch.sh)
  if compgen -G '.deps/libtorch/.complete-*-cuda' >/dev/null; then kind=cuda; fi
  if stamped libtorch "$made_from $kind" && [ -d .deps/libtorch/lib ]; then return 0; fi
  mkdir -p .deps
  if [ "$kind" = cuda ]; then
    what='libtorch with CUDA: 2.5 GB to download, some 5 GB on the disk'
  fi
  step "fetch $what" bash cmake/setup/libtorch.sh .deps "$kind"
  stamp libtorch "$made_from $kind"
}

# What a cross-build for Linux aarch64 needs, in .deps/arm64. Debian 12 has the packages by the same
# names for both machines.
need_arm64() {
  is_debian_12 || fail "the cross-build for aarch64 needs the compiler and packages of Debian 12"
  need_packages arm64
  step "packages of arm64" cmake/arm64/sysroot.sh .deps/arm64
  step "libtorch for aarch64" bash cmake/setup/libtorch.sh .deps/arm64 cpu aarch64
}
