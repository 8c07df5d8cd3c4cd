# apt/: a repository of the debs that lie in OUT, a codename for each distribution. MPSD_APT_KEY is
# the id of a key of gpg that signs it; without one, a host that uses it has to say trusted=yes.

codename_of() { # REVISION: what distribution() of debhelper.sh wrote
  case $1 in
    debian12) echo bookworm ;;
    debian13) echo trixie ;;
    ubuntu24.04) echo noble ;;
    *) return 1 ;;
  esac
}

write_distributions() { # CONF CODENAMES...
  local conf=$1 codename
  shift
  mkdir -p "$conf"
  for codename in "$@"; do
    printf 'Origin: mpsd\nLabel: mpsd\nCodename: %s\nArchitectures: amd64 arm64\nComponents: main\n\n' \
      "$codename"
  done >"$conf/distributions"
}

# reprepro dates its Release by the clock, so it is dated, and signed, here.
end_release() { # FOLDER
  local release=$1/Release
  sed -i "s/^Date: .*/Date: $(date -R -d "@$SOURCE_DATE_EPOCH" | sed 's/+0000/UTC/')/" "$release"
  if [ -z "${MPSD_APT_KEY-}" ]; then return 0; fi
  gpg --batch --yes -u "$MPSD_APT_KEY" --clearsign -o "$1/InRelease" "$release"
  gpg --batch --yes -u "$MPSD_APT_KEY" --armor --detach-sign -o "$release.gpg" "$release"
}

make_apt() {
  local apt=$out/apt work deb revision codename codenames=()
  local -A debs=()
  for deb in "$out"/mpsd_*~*.deb "$out"/libmpsd-client-dev_*~*.deb; do
    if [ ! -e "$deb" ]; then continue; fi
    revision=$(sed -E 's/.*-1~([a-z0-9.]+)_.*/\1/' <<<"$deb")
    codename=$(codename_of "$revision") || continue
    debs[$codename]+=" $deb"
  done
  if [ ${#debs[@]} -eq 0 ]; then
    echo "make.sh: $out has no debs; make the kind deb first" >&2
    exit 1
  fi
  mapfile -t codenames < <(printf '%s\n' "${!debs[@]}" | sort)
  work=$(fresh_folder apt)
  rm -rf "$apt"
  write_distributions "$work/conf" "${codenames[@]}"
  for codename in "${codenames[@]}"; do
    # shellcheck disable=SC2086 # a list
    reprepro -s -b "$work" --outdir "$apt" includedeb "$codename" ${debs[$codename]} \
      "$out/mpsd-libtorch-cpu_${libtorch_version}"_*.deb
    end_release "$apt/dists/$codename"
  done
}
