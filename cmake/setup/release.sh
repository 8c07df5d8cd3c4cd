# Makes a release: checks, tags, packages, signs. Sourced by ./run, which has step and package.

release() { # VERSION --tested
  local version=${1:-} said=${2:-}
  release_faults "$version" "$said"
  git tag --annotate "v$version" --message "mpsd $version"
  # package signs with the keys in MPSD_MINISIGN_KEY and MPSD_APT_KEY.
  if ! (package); then
    git tag --delete "v$version" > /dev/null
    refuse_release "the packages could not be made, and the tag is gone again"
  fi
  echo "mpsd $version is tagged and lies in build/packages. Publish it with:"
  echo "  git push origin HEAD v$version"
}

refuse_release() { # TEXT
  echo "run: release: $1" >&2
  exit 1
}

# Ends with the first reason why there can be no release now.
release_faults() { # VERSION SAID
  local version=$1 entry
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || refuse_release "say the version, as 1.2.3"
  if git rev-parse --quiet --verify "refs/tags/v$version" > /dev/null; then
    refuse_release "there is a tag v$version already"
  fi
  [ -z "$(git status --porcelain)" ] || refuse_release "there are changes that no commit has"
  grep -q "^project(mpsd VERSION $version " CMakeLists.txt ||
    refuse_release "CMakeLists.txt has another version than $version"
  entry=$(grep "^## ${version//./\\.} " CHANGELOG.md || true)
  [[ $entry =~ \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$ ]] ||
    refuse_release "CHANGELOG.md needs a line '## $version (YYYY-MM-DD)'"
  [ "$2" = --tested ] ||
    refuse_release "run ./run test --all on this commit; once it has passed, say --tested"
  [ -f "${MPSD_MINISIGN_KEY:-}" ] ||
    refuse_release "MPSD_MINISIGN_KEY must name the file of the key that signs"
}
