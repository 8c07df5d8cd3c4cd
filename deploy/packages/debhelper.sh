# Steps of debhelper, which the kinds deb and client share. Sourced by them.

need_debhelper() {
  command -v dh_builddeb >/dev/null || {
    echo "make.sh: debhelper is missing; install it with: apt-get install debhelper" >&2
    exit 1
  }
}

# Each distribution has a revision of its own, since a repository has one file of a version:
# 0.2.0-1~debian12.
distribution() { (. /etc/os-release && echo "$ID$VERSION_ID"); }

begin_debian() { # FOLDER: gives it the folder debian/
  cp -r "$here/debian" "$1/debian"
  cat >"$1/debian/changelog" <<TEXT
mpsd ($version-1~$(distribution)) unstable; urgency=medium

  * Built of commit $commit. CHANGELOG.md of the sources says what is new.

 -- $(sed -n 's/^Maintainer: //p' "$here/debian/control")  $(date -R -d "@$SOURCE_DATE_EPOCH")
TEXT
}

# Ends packages whose files lie in debian/PACKAGE, and moves them to `out`.
end_debian() { # FOLDER VERSION COMPRESSION PACKAGES...
  local folder=$1 package_version=$2 compression=$3 packages=()
  shift 3
  packages=("${@/#/-p}")
  rm -f "$folder"/*.deb
  (
    cd "$folder"
    # As dpkg-buildpackage tells of Rules-Requires-Root: any user makes files that root will own.
    export DEB_RULES_REQUIRES_ROOT=no
    eval "$(dpkg-architecture -a"$architecture" -s 2>/dev/null)"
    dh_installdocs "${packages[@]}"
    dh_installchangelogs "${packages[@]}"
    dh_lintian "${packages[@]}"
    dh_installsysusers "${packages[@]}"
    dh_installtmpfiles "${packages[@]}"
    # The daemon serves on while the files change; mpsd.postinst has it hand over then.
    dh_installsystemd "${packages[@]}" --no-stop-on-upgrade
    dh_compress "${packages[@]}"
    dh_fixperms "${packages[@]}"
    # The man pages say it all; debug symbols would be larger than the packages.
    dh_strip "${packages[@]}" --no-automatic-dbgsym
    # libtorch's libraries belong to no package of the distribution; `control` names theirs.
    LD_LIBRARY_PATH=$library_path dh_shlibdeps "${packages[@]}" -- --ignore-missing-info
    dh_installdeb "${packages[@]}"
    dh_gencontrol "${packages[@]}" -- "-v$package_version" "-Vlibtorch:Version=$libtorch_version"
    dh_md5sums "${packages[@]}"
    # dpkg-deb leaves a time before SOURCE_DATE_EPOCH as it is, such as the one of a clone's header.
    find debian -exec touch --no-dereference -d "@$SOURCE_DATE_EPOCH" {} +
    dh_builddeb "${packages[@]}" --destdir="$out" -- $compression
  )
}
