#!/usr/bin/env bash
# Prints the version of these sources and their commit: "VERSION COMMIT". A tag vX.Y.Z makes the
# version X.Y.Z, a commit N commits after the tag X.Y.Z+N.gCOMMIT. Without a tag the version is that
# of CMakeLists.txt with ~dev, and without git the commit is "unknown".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(sed -n 's/^project(mpsd VERSION \([0-9.]*\) .*/\1~dev/p' CMakeLists.txt)
commit=unknown
if [ -e .git ] && commit=$(git rev-parse --short=12 HEAD 2>/dev/null); then
  if described=$(git describe --tags --match 'v[0-9]*' --abbrev=12 2>/dev/null); then
    version=$(sed -E 's/^v//; s/-([0-9]+)-(g[0-9a-f]+)$/+\1.\2/' <<<"$described")
  fi
fi
echo "$version ${commit:-unknown}"
