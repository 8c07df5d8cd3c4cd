# Makes packages, and uses them in bare roots. Sourced by ./run.

package() { # KIND...: files of deploy/packages/kinds; MPSD_ARCH: for that machine
  need_packages package
  if [ "${MPSD_ARCH:-$(uname -m)}" = "$(uname -m)" ]; then need_libtorch; else need_arm64; fi
  step "packages" env MPSD_JOBS="$(build_jobs)" deploy/packages/make.sh build/packages "$@"
}

check_packages() { # [NAME...]: of roots; what ./run package made, made first where nothing is there
  if [ ! -d build/packages/apt ]; then package; fi
  need_packages package
  need_minilm
  deploy/packages/check/check.sh build/packages .deps/distros .deps/models/minilm "$@"
}

check_same() { # KIND...: of what ./run package made, made first where nothing is there
  if [ ! -d build/packages ]; then package "$@"; fi
  step "the same packages once more" deploy/packages/check/same.sh build/packages "$@"
}
