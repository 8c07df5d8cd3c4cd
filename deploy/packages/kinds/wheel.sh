# mpsd-*.whl: the package for Python, with the daemon, and a worker for each minor version of torch.
# It is made on Debian 12, whose glibc names the oldest hosts that it runs on. MPSD_TORCHES names
# other versions of torch than all.

wheel_python() { # a Python with the tools, made once; prints its path
  local venv=$root/.deps/wheel-venv requirements=$here/wheel_requirements.txt
  if ! cmp -s "$requirements" "$venv/.made-from"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary=:all: --no-deps \
      -r "$requirements"
    cp "$requirements" "$venv/.made-from"
  fi
  echo "$venv/bin/python"
}

torch_versions() {
  echo "$libtorch_version"
  awk -v machine="$machine" '$2 == machine {print $1}' "$root/cmake/setup/libtorch_wheels.txt"
}

# mpsd-worker, and where that torch has CUDA what records its runs; prints the folder of the programs.
build_worker() { # VERSION
  local folder=$build-torch$1
  if [ "$1" = "$libtorch_version" ]; then
    echo "$build/bin"
    return 0
  fi
  bash "$root/cmake/setup/libtorch.sh" "$torches" "$1" "$machine" >&2
  cmake -S "$root" --preset package ${configure[@]+"${configure[@]}"} -B "$folder" \
    "-DMPSD_LIBTORCH=$torches/libtorch-$1" -DMPSD_FRONT=OFF --log-level=WARNING >/dev/null
  cmake --build "$folder" -j "${MPSD_JOBS:-$(nproc)}" --target mpsd-worker >&2
  echo "$folder/bin"
}

stage_wheel() { # FOLDER: the package's sources with the programs
  local package=$1/mpsd version programs target stripped=(install -s "--strip-program=$strip")
  cp -r "$root"/python/. "$root/LICENSE" "$1"
  rm -rf "$package/__pycache__"
  "${stripped[@]}" -D -m 755 "$build/bin/mpsd" "$package/bin/mpsd"
  for version in ${MPSD_TORCHES:-$(torch_versions)}; do
    programs=$(build_worker "$version")
    target=$package/torch${version%.*}
    mkdir -p "$target"
    "${stripped[@]}" -m 755 "$programs/mpsd-worker" "$build/bin/mpsd-device-copier" "$target"
    if [ -e "$programs/libmpsd-cuda-graphs.so" ]; then
      "${stripped[@]}" -m 644 "$programs/libmpsd-cuda-graphs.so" "$target"
    fi
  done
}

make_wheel() {
  local python folder platform=auto  # auditwheel finds another machine's platform, but takes no name of one
  if [ "$machine" = "$(uname -m)" ]; then platform=manylinux_2_36_$machine; fi
  python=$(wheel_python)
  build_daemon
  folder=$(fresh_folder wheel)
  stage_wheel "$folder"
  # The tools of the environment find each other by PATH.
  (cd "$folder" && export PATH="${python%/*}:$PATH" MPSD_VERSION="${version/\~dev/.dev0}" &&
    export "_PYTHON_HOST_PLATFORM=linux-$machine" "LD_LIBRARY_PATH=$library_path" &&
    hatchling build -t wheel -d raw &&
    auditwheel -v repair --plat "$platform" --only-plat -w repaired \
      --exclude 'libtorch*' --exclude 'libc10*' --exclude 'libcudart*' raw/*.whl) \
    >"$folder.log" 2>&1 || {
    tail -20 "$folder.log" >&2
    exit 1
  }
  mv "$folder"/repaired/*.whl "$out"
}
