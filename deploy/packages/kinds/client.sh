# libmpsd-client-dev_*.deb: the C++ client.
. "$here/debhelper.sh"

make_client() {
  local folder
  need_debhelper
  build_programs mpsd-client-archive
  folder=$(fresh_folder client)
  begin_debian "$folder"
  install_component client "$folder/debian/libmpsd-client-dev/usr"
  end_debian "$folder" "$version-1~$(distribution)" "-Zxz" libmpsd-client-dev
}
