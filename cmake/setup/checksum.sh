# The checksum of files, on systems with GNU's tools and on macOS, which has Perl's. Sourced by
# scripts of this folder and of cmake/macos.

sha256() { # [FILE...]: the hashes alone, a line each; without a file that of the standard input
  if command -v sha256sum >/dev/null; then
    sha256sum "$@" | cut -d' ' -f1
  else
    shasum -a 256 "$@" | cut -d' ' -f1
  fi
}
