#!/usr/bin/env bash
# Makes the tap, installs the formula, runs its service, calls it, and uninstalls it again.
#   check.sh FOLDER
# FOLDER gets the tap. For a Mac on which Homebrew has no mpsd. Not yet run on a Mac.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tap=$USER/mpsd
limit_s=60

fail() {
  echo "check.sh: $*" >&2
  exit 1
}

if brew list mpsd >/dev/null 2>&1; then fail "Homebrew has an mpsd already"; fi

remove() {
  brew services stop mpsd >/dev/null 2>&1 || true
  brew uninstall --force mpsd >/dev/null 2>&1 || true
  brew untap "$tap" >/dev/null 2>&1 || true
}
trap remove EXIT

"$here/tap.sh" "$1"
brew tap "$tap" "$1"
brew install "$tap/mpsd"
brew services start mpsd
for ((i = 0; i < limit_s; ++i)); do
  if curl -sf --max-time 2 http://127.0.0.1:8002/readyz >/dev/null; then break; fi
  sleep 1
done
[ "$i" -lt "$limit_s" ] || {
  tail -50 "$(brew --prefix)/var/log/mpsd.log"
  fail "not ready within $limit_s s"
}
echo "ready after $i s"
"$(brew --prefix)/bin/mpsd" infer identity --input INPUT0=random >/dev/null
"$(brew --prefix)/bin/mpsd" ps
