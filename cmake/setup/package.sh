# Makes packages, and uses them in bare roots. Sourced by ./run.

package() { # KIND...: files of deploy/packages/kinds
  need_packages package
  need_libtorch
  step "packages" env MPSD_JOBS="$(build_jobs)" deploy/packages/make.sh build/packages "$@"
}
