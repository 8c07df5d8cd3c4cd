# mpsd-VERSION-linux-MACHINE.tar.zst: one folder that serves wherever it lies. Beside libtorch it has
# the libraries of the distribution that mpsd was built with, except those that every host has.

# glibc and gcc's libraries are the host's: they must be as new as the build's, and a newer host's
# programs would not bear older ones.
is_of_every_host() { # SONAME
  case $1 in
    ld-linux* | libc.so* | libm.so* | libmvec.so* | libdl.so* | libpthread.so* | librt.so* | \
      libresolv.so* | libutil.so* | libnsl.so* | libstdc++.so* | libgcc_s.so*) return 0 ;;
  esac
  return 1
}

bundle_libraries() { # FOLDER PROGRAMS...
  local folder=$1 name path
  shift
  # A path in libtorch's own folder is there already.
  for path in "$@"; do LD_LIBRARY_PATH=$folder "${ldd[@]}" "$path"; done |
    awk '$1 !~ "/" && $2 == "=>" && $3 ~ "^/" {print $1, $3}' | sort -u | while read -r name path; do
      if is_of_every_host "$name" || [ -e "$folder/$name" ]; then continue; fi
      install -m 644 "$(readlink -f "$sysroot$path")" "$folder/$name"
    done
}

# RPATH, not RUNPATH: it holds for the libraries of libraries too.
look_beside_itself() { # PROGRAMS...
  patchelf --force-rpath --set-rpath "\$ORIGIN/../lib/mpsd" "$@"
}

make_tar() {
  local name=mpsd-$version-linux-$machine folder
  build_daemon
  folder=$(fresh_folder tar)/$name
  install_component mpsd "$folder"
  copy_libtorch "$folder/lib/mpsd"
  bundle_libraries "$folder/lib/mpsd" "$folder"/bin/*
  "$strip" --strip-unneeded "$folder"/bin/* "$folder"/lib/mpsd/*
  look_beside_itself "$folder"/bin/mpsd*
  write_help "$folder"
  install -m 644 "$here/mpsd.json" "$root/LICENSE" "$here/debian/copyright" "$folder"
  tar -C "${folder%/*}" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
    --mtime="@$SOURCE_DATE_EPOCH" -c "$name" | zstd -q -12 --long=27 -T0 -f -o "$out/$name.tar.zst"
}
