# mpsd-VERSION-oci-MACHINE.tar: an image, as a layout of OCI in an archive: two layers, a small Debian and the
# folder of the kind tar. umoci writes the layout, because it needs no daemon, no registry and no
# mounts, and takes every date from its arguments; buildah does not take those of the layers. The
# Debian is the build's own. Needs root, mmdebstrap and umoci.
. "$here/kinds/tar.sh"

# What mpsd's folder takes from the system. The rest of a Debian would be unused.
image_packages=base-files,base-passwd,libc6,libgcc-s1,libstdc++6,ca-certificates,tzdata

image_sources() { # those of the host, of its release
  local suite
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite="$suite" '$3 == suite || index($3, suite "-") == 1'
}

# Packages are unpacked and not configured: there is no shell in the image. So what their scripts
# would do is done here.
fill_image() { # ROOT
  local uid=10001
  cp "$1/usr/share/base-passwd/passwd.master" "$1/etc/passwd"
  cp "$1/usr/share/base-passwd/group.master" "$1/etc/group"
  echo "mpsd:x:$uid:$uid:mpsd:/cache:/usr/sbin/nologin" >>"$1/etc/passwd"
  echo "mpsd:x:$uid:" >>"$1/etc/group"
  mkdir -p "$1/etc/ssl/certs" "$1/models" "$1/cache" "$1/tmp"
  find "$1/usr/share/ca-certificates" -name '*.crt' | sort | xargs cat \
    >"$1/etc/ssl/certs/ca-certificates.crt"
  chown $uid:$uid "$1/cache"
  chmod 1777 "$1/tmp"
  install -D -m 644 "$root/deploy/container/mpsd.json" "$1/etc/mpsd/mpsd.json"
  rm -rf "$1"/usr/share/{man,info,locale,lintian,bug} "$1"/var/cache/* "$1"/var/log/* \
    "$1"/var/lib/apt/* "$1"/dev/*
  find "$1/usr/share/doc" -type f ! -name copyright -delete
}

make_layer() { # ROOT TAR
  tar -C "$1" --sort=name --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --clamp-mtime -cf "$2" .
}

image_settings=()  # of umoci, beside those of every image

write_layout() { # LAYOUT LAYERS...
  local image=$1:${version//[~+]/-} date layer  # a tag has neither sign
  local history=(--history.author mpsd)
  date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
  history+=(--history.created "$date")
  umoci init --layout "$1"
  umoci new --image "$image"
  for layer in "${@:2}"; do
    umoci raw add-layer --image "$image" "${history[@]}" --history.created_by "${layer##*/}" "$layer"
  done
  umoci config --image "$image" "${history[@]}" --history.created_by "./run package oci" \
    --created "$date" --author mpsd --os linux --architecture "$architecture" \
    --config.user 10001:10001 --config.workingdir / --config.stopsignal SIGTERM \
    --config.env PATH=/opt/mpsd/bin:/usr/bin:/bin --config.env HF_HOME=/cache \
    --config.exposedports 8000/tcp --config.exposedports 8001/tcp --config.exposedports 8002/tcp \
    --config.volume /cache --config.entrypoint /opt/mpsd/bin/mpsd \
    --config.cmd serve --config.cmd --config=/etc/mpsd/mpsd.json \
    --config.label org.opencontainers.image.version="$version" \
    --config.label org.opencontainers.image.revision="$commit" \
    ${image_settings[@]+"${image_settings[@]}"}
  umoci gc --layout "$1"
}

# The image's layers: base.tar and mpsd.tar in FOLDER.
make_layers() { # FOLDER
  local archive=$out/mpsd-$version-linux-$machine.tar.zst
  if [ ! -e "$archive" ]; then make_tar; fi
  image_sources | mmdebstrap --quiet --variant=extract --architectures="$architecture" \
    --include="$image_packages" --format=directory - "$1/base" - 2>"$1.log" || {
    tail -20 "$1.log" >&2
    exit 1
  }
  fill_image "$1/base"
  mkdir -p "$1/mpsd/opt/mpsd"
  zstd -q -dc --long=27 "$archive" | tar -C "$1/mpsd/opt/mpsd" --strip-components=1 -x
  make_layer "$1/base" "$1/base.tar"
  make_layer "$1/mpsd" "$1/mpsd.tar"
}

write_image() { # FOLDER FILE LAYERS...
  write_layout "$1/layout" "${@:3}"
  tar -C "$1/layout" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
    --mtime="@$SOURCE_DATE_EPOCH" -cf "$2" .
}

make_oci() {
  local folder
  folder=$(fresh_folder oci)
  make_layers "$folder"
  write_image "$folder" "$out/mpsd-$version-oci-$machine.tar" "$folder/base.tar" "$folder/mpsd.tar"
}
