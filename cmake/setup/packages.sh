# The system packages: which, and how they get here. Sourced by ./run.

# Debian 12 and Ubuntu 24.04 carry the same versions of what matters.
debian_serve_packages=(
  g++ cmake ninja-build               # 12.2 / 13.2, 3.25 / 3.28, 1.11
  libgrpc++-dev protobuf-compiler-grpc # 1.51
  libssl-dev                          # 3.0
  zlib1g-dev                          # 1.2.13 / 1.3
  libprotobuf-dev protobuf-compiler   # 3.21
  libabsl-dev                         # 20220623
  nlohmann-json3-dev                  # 3.11
  libspdlog-dev                       # 1.10 / 1.12
  libcli11-dev                        # 2.1 / 2.4
  prometheus-cpp-dev libcivetweb-dev  # 1.0, 1.15 / 1.16
  python3-pip ca-certificates         # fetches libtorch
)
debian_test_packages=(
  libgtest-dev libgmock-dev           # 1.12 / 1.14
  libbenchmark-dev                    # 1.7 / 1.8
  clang-14 clang-format-14 clang-tidy-14
  ccache                              # 4.8 / 4.9
  python3-venv
  systemd prometheus haproxy openssl  # their checkers of our files in deploy/; no service is used
  spin                                # verifies tests/model/slots.pml
  libclang-rt-14-dev                  # libFuzzer, for tests/fuzz
)
# Homebrew has one version of each, the newest.
brew_serve_packages=(
  cmake ninja grpc openssl@3 protobuf abseil nlohmann-json spdlog cli11 prometheus-cpp civetweb python@3.11
)
brew_test_packages=(googletest google-benchmark clang-format@14 ccache)

need_packages() { # serve|test
  local packages
  case $(uname -s) in
    Darwin) packages=("${brew_serve_packages[@]}") ;;
    *) packages=("${debian_serve_packages[@]}") ;;
  esac
  if [ "$1" = test ]; then
    case $(uname -s) in
      Darwin) packages+=("${brew_test_packages[@]}") ;;
      *) packages+=("${debian_test_packages[@]}") ;;
    esac
  fi
  if stamped "packages-$1" "${packages[*]}"; then return 0; fi
  case $(uname -s) in
    Darwin) brew_packages "${packages[@]}" ;;
    *) debian_packages "${packages[@]}" ;;
  esac
  stamp "packages-$1" "${packages[*]}"
}

brew_packages() {
  local missing=() package
  command -v brew >/dev/null || fail "Homebrew is needed, see https://brew.sh"
  for package in "$@"; do
    if ! brew list --versions "$package" >/dev/null; then missing+=("$package"); fi
  done
  if [ ${#missing[@]} -gt 0 ]; then
    step "install ${missing[*]}" brew install --quiet "${missing[@]}"
  fi
}

debian_packages() {
  local missing=() package
  if ! command -v apt-get >/dev/null; then
    say "this is neither Debian, Ubuntu nor macOS: install by your own means what" \
      "cmake/setup/packages.sh lists"
    return 0
  fi
  for package in "$@"; do
    if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
      missing+=("$package")
    fi
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
  if ! "${as_root[@]}" apt-get update -qq >"$log" 2>&1 ||
    ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
      --no-install-recommends "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# Once fetched with CUDA it stays so.
need_libtorch() { # [cuda]
  local made_from kind=${1:-cpu} what='libtorch'
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
