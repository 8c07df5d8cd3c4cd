#!/usr/bin/env bash
# Makes a folder with the arm64 packages of this Debian that mpsd is compiled with, without making
# arm64 an architecture of this machine.
#   sysroot.sh CACHE
# CACHE/sysroot: the files; CACHE/dpkg: what dpkg knows of them, for dpkg-shlibdeps. What is there
# stays, unless it has moved or the list of packages is another. Needs apt; downloads 55 MB.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../setup/packages.sh"
mkdir -p "$1"
cache=$(cd "$1" && pwd -P)
sysroot=$cache/sysroot
dpkg=$cache/dpkg

packages=(libc6-dev libgtest-dev libgmock-dev libbenchmark-dev)
for package in "${debian_serve_packages[@]}"; do
  if [[ $package == *-dev ]]; then packages+=("$package"); fi
done
made_of="$sysroot: ${packages[*]}"
if [ "$(cat "$sysroot/.made-of" 2>/dev/null)" = "$made_of" ]; then exit 0; fi

# A dpkg without any package, so that apt resolves all that the packages need.
download() {
  local apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64
    -o "Dir::State=$cache/apt" -o "Dir::State::status=$cache/apt/status" -o "Dir::Cache=$cache/apt"
    -o APT::Sandbox::User=root)
  mkdir -p "$cache/apt/lists/partial" "$cache/apt/archives/partial"
  : >"$cache/apt/status"
  rm -f "$cache"/apt/archives/*.deb
  "${apt[@]}" update
  "${apt[@]}" install -y --no-install-recommends --download-only "${packages[@]}"
}

# An entry as of an installed package, whose files have the sysroot before their names. dpkg names
# its own files so: by the architecture where several may be installed.
enter() { # DEB
  local name control=$cache/control file
  name=$(dpkg-deb -f "$1" Package)
  if [ "$(dpkg-deb -f "$1" Multi-Arch)" = same ]; then name+=:arm64; fi
  rm -rf "$control"
  dpkg-deb -e "$1" "$control"
  sed '1a Status: install ok installed' "$control/control" >>"$dpkg/status"
  echo >>"$dpkg/status"
  for file in shlibs symbols; do
    if [ -e "$control/$file" ]; then cp "$control/$file" "$dpkg/info/$name.$file"; fi
  done
  dpkg-deb --fsys-tarfile "$1" | tar -t | sed "s#^\.#$sysroot#; s#/\$##" >"$dpkg/info/$name.list"
}

unpack() {
  local deb link target
  rm -rf "$sysroot" "$dpkg"
  mkdir -p "$sysroot" "$dpkg/info" "$dpkg/updates"
  echo 1 >"$dpkg/info/format"
  : >"$dpkg/status"
  for deb in "$cache"/apt/archives/*.deb; do
    dpkg-deb -x "$deb" "$sysroot"
    enter "$deb"
  done
  # Absolute links mean the sysroot's files.
  find "$sysroot" -type l -lname '/*' | while read -r link; do
    target=$sysroot$(readlink "$link")
    if [ -e "$target" ]; then ln -sfnr "$target" "$link"; fi
  done
  # gRPC's CMake package insists on its plugins; those that run are the host's.
  mkdir -p "$sysroot/usr/bin"
  ln -s /usr/bin/grpc_*_plugin "$sysroot/usr/bin"
}

download >"$cache/apt.log" 2>&1 || {
  cat "$cache/apt.log" >&2
  exit 1
}
unpack
rm -rf "$cache/apt" "$cache/control"
echo "$made_of" >"$sysroot/.made-of"
