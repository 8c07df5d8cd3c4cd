#!/usr/bin/env bash
# Makes a tap of this commit: FOLDER/Formula/mpsd.rb, and beside it the source and the libtorch that
# it builds from. Fetches libtorch's wheel, once.
#   tap.sh FOLDER [URL]
# URL: the place where both archives will lie for others; without it, it is FOLDER itself.
#   brew tap you/mpsd FOLDER && brew install you/mpsd/mpsd && brew services start mpsd
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/cmake/setup/checksum.sh"
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  sed -n '2,6s/^# //p' "$0" >&2
  exit 2
fi
mkdir -p "$1/Formula"
folder=$(cd "$1" && pwd)
url=${2:-file://$folder}
version=$(sed -n 's/^project(mpsd VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
archive=mpsd-$version.tar.gz

pin() { # NAME: its value in cmake/setup/libtorch.sh
  sed -n "s/^$1=//p" "$root/cmake/setup/libtorch.sh"
}

pinned_wheel() { # the file's name in FOLDER; nothing where it is not there
  local file
  for file in "$folder/torch-$(pin version)"-*.whl; do
    if [ -e "$file" ] && [ "$(sha256 "$file")" = "$(pin mac_torch_sha)" ]; then
      basename "$file"
      return
    fi
  done
}

escaped() { # TEXT: so that sed puts it as it is
  printf '%s' "$1" | sed 's/[&|\\]/\\&/g'
}

wheel=$(pinned_wheel)
if [ -z "$wheel" ]; then
  python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
    --python-version 3.11 --platform macosx_14_0_arm64 -d "$folder" "torch==$(pin version)"
  wheel=$(pinned_wheel)
fi
if [ -z "$wheel" ]; then
  echo "tap.sh: no torch-$(pin version)-*.whl in $folder is the pinned wheel" >&2
  exit 1
fi

git -C "$root" archive --format=tar.gz --prefix="mpsd-$version/" -o "$folder/$archive" HEAD
place=$(escaped "$url")
sed -e "s|@URL@|$place/$archive|" -e "s|@HOMEPAGE@|$place|" -e "s|@VERSION@|$version|" \
  -e "s|@SHA256@|$(sha256 "$folder/$archive")|" -e "s|@LIBTORCH_URL@|$place/$wheel|" \
  -e "s|@STAMP@|$(escaped "$("$root/cmake/version.sh")")|" \
  -e "s|@LIBTORCH_SHA256@|$(pin mac_torch_sha)|" "$here/mpsd.rb.in" >"$folder/Formula/mpsd.rb"
# brew taps what git has.
if [ ! -d "$folder/.git" ]; then git -C "$folder" init -q; fi
git -C "$folder" add Formula/mpsd.rb
git -C "$folder" -c user.name=mpsd -c user.email=mpsd@localhost commit -q --allow-empty \
  -m "mpsd $version"
echo "$folder/Formula/mpsd.rb"
