# mpsd_*.deb and mpsd-libtorch-cpu_*.deb for the distribution that this runs on.
. "$here/debhelper.sh"

# The unit for /usr, with the package's user in place of one of systemd's making.
package_unit() {
  sed -e 's#/usr/local/#/usr/#g' -e '/^DynamicUser=/d' -e '/^# systemd uses the user/d' \
    "$root/deploy/systemd/mpsd.service"
}

stage_daemon() { # FOLDER: its debian/mpsd
  local files=$1/debian/mpsd
  install_component mpsd "$files/usr"
  write_help "$files/usr"
  install -D -m 644 "$here/mpsd.json" "$files/etc/mpsd/mpsd.json"
  install -D -m 644 "$root/deploy/systemd/cuda.conf" "$files/usr/share/doc/mpsd/examples/cuda.conf"
  package_unit >"$1/debian/mpsd.service"
  cp "$here/mpsd.sysusers" "$here/mpsd.tmpfiles" "$1/debian/"
}

make_deb() {
  local folder
  need_debhelper
  build_daemon
  folder=$(fresh_folder deb)
  begin_debian "$folder"
  stage_daemon "$folder"
  end_debian "$folder" "$version-1~$(distribution)" "-Zxz" mpsd
  make_libtorch_deb
}

# Whether the package FILE is of this commit.
is_of_commit() {
  [ -e "$1" ] && dpkg-deb --fsys-tarfile "$1" | tar -xO --wildcards '*/changelog*' | zgrep -qF "$commit"
}

# It has nothing of a distribution's but its tools, so one file serves all.
make_libtorch_deb() {
  local file=$out/mpsd-libtorch-cpu_${libtorch_version}_$architecture.deb folder
  if is_of_commit "$file"; then return 0; fi
  folder=$(fresh_folder libtorch)
  begin_debian "$folder"
  copy_libtorch "$folder/debian/mpsd-libtorch-cpu/usr/lib/mpsd"
  # Level 1 takes 23 s for 80 MB, level 3 takes 107 s for 77 MB.
  end_debian "$folder" "$libtorch_version" "-Zxz -z1" mpsd-libtorch-cpu
}
